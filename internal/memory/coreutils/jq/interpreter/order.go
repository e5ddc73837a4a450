package interpreter

import "slices"

// keyed is an element with its sort key.
type keyed struct {
	key, val Value
}

// byFilter makes a filter of a function of elements with keys.
func byFilter(f func(vm *machine, items []keyed) (Value, error)) func(c *compiler, a []filter) filter {
	return func(c *compiler, a []filter) filter {
		return c.simple(func(e *env, in Value) (Value, error) {
			arr, ok := in.(*Array)
			if !ok {
				if o, isObject := in.(*Object); isObject {
					return nil, errorf("Cannot index object with number%s", map[bool]string{true: ""}[o != nil])
				}
				return nil, iterError(in)
			}
			items := make([]keyed, len(arr.v))
			for i, v := range arr.v {
				var keys []Value
				err := a[0].run(e, v, func(k Value) (err error) {
					keys, err = c.vm.gather(keys, k)
					return err
				})
				if err != nil {
					return nil, err
				}
				items[i] = keyed{&Array{v: keys}, v}
				if len(keys) == 1 {
					items[i].key = keys[0]
				}
			}
			if err := c.vm.hold(48 * len(items)); err != nil {
				return nil, err
			}
			return f(c.vm, items)
		})
	}
}

// unkeyed is the elements themselves as their keys.
func unkeyed(in Value) ([]keyed, error) {
	arr, ok := in.(*Array)
	if !ok {
		return nil, errorf("%s (%s) cannot be sorted, as it is not an array", kind(in), shortJSON(in))
	}
	items := make([]keyed, len(arr.v))
	for i, v := range arr.v {
		items[i] = keyed{v, v}
	}
	return items, nil
}

func (vm *machine) sort(items []keyed) error {
	n := len(items)
	cost := 1
	for m := n; m > 1; m >>= 1 {
		cost++
	}
	vm.gas -= n * cost >> 2
	if err := vm.tick(); err != nil {
		return err
	}
	c := comparison{vm: vm}
	slices.SortStableFunc(items, func(a, b keyed) int { return c.order(a.key, b.key) })
	return c.err
}

func sortBy(vm *machine, items []keyed) (Value, error) {
	if err := vm.sort(items); err != nil {
		return nil, err
	}
	out := &Array{v: make([]Value, len(items))}
	for i, it := range items {
		out.v[i] = it.val
	}
	return out, nil
}

// groupSize is about how many bytes a group of one element takes: two lists that grow, and an array.
const groupSize = 128

// groups are runs of elements with equal keys.
func (vm *machine) groups(items []keyed) ([][]Value, error) {
	if err := vm.sort(items); err != nil {
		return nil, err
	}
	if err := vm.hold(groupSize * len(items)); err != nil {
		return nil, err
	}
	var all [][]Value
	c := comparison{vm: vm}
	for i, it := range items {
		if i == 0 || !c.equal(items[i-1].key, it.key) {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], it.val)
	}
	return all, c.err
}

func groupBy(vm *machine, items []keyed) (Value, error) {
	all, err := vm.groups(items)
	out := &Array{}
	for _, g := range all {
		out.v = append(out.v, &Array{v: g}) // bounded: by the elements, for which groups has charged
	}
	return out, err
}

func uniqueBy(vm *machine, items []keyed) (Value, error) {
	all, err := vm.groups(items)
	out := &Array{}
	for _, g := range all {
		out.v = append(out.v, g[0]) // bounded: by the elements, for which groups has charged
	}
	return out, err
}

func minBy(vm *machine, items []keyed) (Value, error) {
	var best *keyed
	c := comparison{vm: vm}
	for i := range items {
		if best == nil || c.order(items[i].key, best.key) < 0 {
			best = &items[i]
		}
	}
	if best == nil || c.err != nil {
		return nil, c.err
	}
	return best.val, nil
}

func maxBy(vm *machine, items []keyed) (Value, error) {
	var best *keyed
	c := comparison{vm: vm}
	for i := range items {
		if best == nil || c.order(items[i].key, best.key) >= 0 {
			best = &items[i]
		}
	}
	if best == nil || c.err != nil {
		return nil, c.err
	}
	return best.val, nil
}
