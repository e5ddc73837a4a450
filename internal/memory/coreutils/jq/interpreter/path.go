package interpreter

import (
	"math"
	"slices"
	"sort"
)

// path is the way from a value to a part of it, the last step first; nil is the value itself.
type path struct {
	up   *path
	key  Value
	lost bool // the value is not part of that where the path began
}

func (p *path) to(key Value) *path { return &path{up: p, key: key} }

// leave is the path of a value v that a filter made of in: it is still there only if it
// is the very same.
func (p *path) leave(in, v Value) *path {
	if isIdentical(in, v) {
		return p
	}
	return &path{lost: true, key: v}
}

func isIdentical(a, b Value) bool {
	switch x := a.(type) {
	case *Array:
		y, ok := b.(*Array)
		return ok && x == y
	case *Object:
		y, ok := b.(*Object)
		return ok && x == y
	case *Number:
		y, ok := b.(*Number)
		return ok && x == y
	}
	switch b.(type) {
	case *Array, *Object, *Number:
		return false
	}
	return a == b
}

func (p *path) check(v, key Value) error {
	if p != nil && p.lost {
		return errorf("Invalid path expression near attempt to access element %s of %s", shortJSON(key), cutJSON(v, 29))
	}
	return nil
}

func (p *path) checkEach(v Value) error {
	if p != nil && p.lost {
		return errorf("Invalid path expression near attempt to iterate through %s", cutJSON(v, 29))
	}
	return nil
}

// checkEnd is for the end of a path expression.
func (p *path) checkEnd(v Value) error {
	if p != nil && p.lost {
		return errorf("Invalid path expression with result %s", shortJSON(v))
	}
	return nil
}

// keys returns the steps in order.
func (p *path) keys() []Value {
	n := 0
	for q := p; q != nil; q = q.up {
		n++
	}
	out := make([]Value, n) // bounded: by the steps of a path, each of which is in memory
	for q := p; q != nil; q = q.up {
		n--
		out[n] = q.key
	}
	return out
}

// getIndex is v[key].
func getIndex(v, key Value) (Value, error) {
	switch k := key.(type) {
	case string:
		switch v := v.(type) {
		case *Object:
			w, _ := v.Get(k)
			return w, nil
		case nil:
			return nil, nil //nolint:nilnil // null is a value.
		}
	case float64, *Number:
		switch v := v.(type) {
		case *Array:
			f, _ := number(k)
			return v.get(f), nil
		case nil:
			return nil, nil //nolint:nilnil // null is a value.
		}
	case *Object:
		switch v := v.(type) {
		case *Array, string:
			return getSlice(v, k)
		case nil:
			if _, _, err := sliceBounds(k, 0); err != nil {
				return nil, err
			}
			return nil, nil //nolint:nilnil // null is a value.
		}
	case *Array:
		if a, ok := v.(*Array); ok {
			return indexesOf(&comparison{}, a, k)
		}
	}
	return nil, indexError(v, key)
}

func indexError(v, key Value) error {
	if k, ok := key.(string); ok && len(k) < 30 {
		return errorf("Cannot index %s with string \"%s\"", kind(v), k)
	}
	return errorf("Cannot index %s with %s", kind(v), kind(key))
}

// get returns the element at f, counted from the end when negative; null outside.
func (a *Array) get(f float64) Value {
	if math.IsNaN(f) {
		return nil
	}
	f = math.Floor(f)
	if f < 0 {
		f += float64(len(a.v))
	}
	if f < 0 || f >= float64(len(a.v)) {
		return nil
	}
	return a.v[int(f)]
}

// sliceBounds reads {"start": ..., "end": ...} for something of length n.
func sliceBounds(k *Object, n int) (from, to int, err error) {
	s, okS := k.Get("start")
	e, okE := k.Get("end")
	if !okS || !okE || len(k.keys) != 2 {
		return 0, 0, errorf("Start and end indices of an array slice must be numbers")
	}
	bound := func(v Value, def float64, round func(float64) float64) (int, bool) {
		f := def
		if v != nil {
			x, ok := number(v)
			if !ok {
				return 0, false
			}
			if f = x; math.IsNaN(f) {
				f = def
			}
		}
		if f < 0 {
			f += float64(n)
		}
		return int(max(0, min(round(f), float64(n)))), true
	}
	from, ok := bound(s, 0, math.Floor)
	if !ok {
		return 0, 0, errorf("Start and end indices of an array slice must be numbers")
	}
	if to, ok = bound(e, float64(n), math.Ceil); !ok {
		return 0, 0, errorf("Start and end indices of an array slice must be numbers")
	}
	return from, max(from, to), nil
}

func getSlice(v Value, k *Object) (Value, error) {
	if a, ok := v.(*Array); ok {
		from, to, err := sliceBounds(k, len(a.v))
		if err != nil {
			return nil, err
		}
		return &Array{v: a.v[from:to:to]}, nil
	}
	s, _ := v.(string)
	r := []rune(s)
	from, to, err := sliceBounds(k, len(r))
	if err != nil {
		return nil, err
	}
	return string(r[from:to]), nil
}

// indexesOf returns where sub begins in a.
func indexesOf(c *comparison, a, sub *Array) (Value, error) {
	if len(sub.v) == 0 {
		return nil, nil //nolint:nilnil // null is a value.
	}
	out := &Array{}
	for i := 0; i+len(sub.v) <= len(a.v); i++ {
		same := true
		for j, w := range sub.v {
			if !c.equal(a.v[i+j], w) {
				same = false
				break
			}
		}
		if c.err != nil {
			return nil, c.err
		}
		if same {
			if err := c.vm.hold(2*16 + floatSize); err != nil {
				return nil, err
			}
			out.v = append(out.v, float64(i))
		}
	}
	return out, nil
}

// setIndex is v with v[key] = w.
func (vm *machine) setIndex(v, key, w Value) (Value, error) {
	switch k := key.(type) {
	case string:
		switch v := v.(type) {
		case *Object:
			if err := vm.hold(len(v.keys)); err != nil {
				return nil, err
			}
			return v.With(k, w), nil
		case nil:
			return NewObject().With(k, w), nil
		}
	case float64, *Number:
		f, _ := number(k)
		switch v := v.(type) {
		case *Array:
			return vm.setElement(v, f, w)
		case nil:
			return vm.setElement(&Array{}, f, w)
		}
	case *Object:
		switch v := v.(type) {
		case *Array:
			return vm.setSlice(v, k, w)
		case nil:
			return vm.setSlice(&Array{}, k, w)
		case string:
			return nil, errorf("Cannot update string slices")
		}
		return nil, errorf("Cannot update field at object index of %s", kind(v))
	case *Array:
		if _, ok := v.(*Array); ok {
			return nil, errorf("Cannot update field at array index of array")
		}
	}
	return nil, indexError(v, key)
}

func (vm *machine) setElement(a *Array, f float64, w Value) (Value, error) {
	if math.IsNaN(f) {
		return nil, errorf("Cannot set array element at NaN index")
	}
	f = math.Floor(f)
	if f < 0 {
		if f += float64(len(a.v)); f < 0 {
			return nil, errorf("Out of bounds negative array index")
		}
	}
	if f > maxArray {
		return nil, errorf("Array index too large")
	}
	i := int(f)
	if err := vm.hold(16 * max(i-len(a.v), 1)); err != nil {
		return nil, err
	}
	if i < len(a.v) {
		if err := vm.hold(len(a.v)); err != nil {
			return nil, err
		}
		return a.with(i, w), nil
	}
	if i == len(a.v) {
		return a.plus(w), nil
	}
	pad := make([]Value, i-len(a.v)+1)
	pad[len(pad)-1] = w
	return a.plus(pad...), nil
}

func (vm *machine) setSlice(a *Array, k *Object, w Value) (Value, error) {
	from, to, err := sliceBounds(k, len(a.v))
	if err != nil {
		return nil, err
	}
	in, ok := w.(*Array)
	if !ok {
		return nil, errorf("A slice of an array can only be assigned another array")
	}
	n := len(a.v) - (to - from) + len(in.v)
	if err := vm.hold(16 * n); err != nil {
		return nil, err
	}
	out := make([]Value, 0, n)
	out = append(append(append(out, a.v[:from]...), in.v...), a.v[to:]...)
	return &Array{v: out}, nil
}

// getPath is getpath: null from where there is nothing on.
func getPath(v Value, keys []Value) (Value, error) {
	for _, k := range keys {
		if v == nil {
			return nil, nil //nolint:nilnil // null is a value.
		}
		var err error
		if v, err = getIndex(v, k); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// setPath is setpath.
func (vm *machine) setPath(v Value, keys []Value, w Value) (Value, error) {
	if len(keys) == 0 {
		return w, nil
	}
	if err := vm.tick(); err != nil {
		return nil, err
	}
	sub, err := getIndex(v, keys[0])
	if err != nil {
		return nil, err
	}
	if len(keys) > maxDepth {
		return nil, errTooBig
	}
	if sub, err = vm.setPath(sub, keys[1:], w); err != nil {
		return nil, err
	}
	return vm.setIndex(v, keys[0], sub)
}

// deletePaths is delpaths: the last ones first, so that the others stay right.
func (vm *machine) deletePaths(v Value, paths []Value) (Value, error) {
	sorted := append([]Value(nil), paths...)
	c := comparison{vm: vm}
	sort.SliceStable(sorted, func(i, j int) bool { return c.order(sorted[i], sorted[j]) < 0 })
	if c.err != nil {
		return nil, c.err
	}
	for _, s := range slices.Backward(sorted) {
		keys, ok := s.(*Array)
		if !ok {
			return nil, errorf("Path must be specified as an array")
		}
		if len(keys.v) == 0 {
			return nil, nil //nolint:nilnil // null is a value.
		}
		var err error
		if v, err = vm.deletePath(v, keys.v); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (vm *machine) deletePath(v Value, keys []Value) (Value, error) {
	if err := vm.tick(); err != nil {
		return nil, err
	}
	if v == nil {
		return nil, nil //nolint:nilnil // null is a value.
	}
	if len(keys) == 1 {
		return vm.deleteKey(v, keys[0])
	}
	sub, err := getIndex(v, keys[0])
	if err != nil {
		return nil, err
	}
	if sub == nil {
		return v, nil
	}
	fresh, err := vm.deletePath(sub, keys[1:])
	if err != nil {
		return nil, err
	}
	return vm.setIndex(v, keys[0], fresh)
}

func (vm *machine) deleteKey(v, key Value) (Value, error) {
	switch v := v.(type) {
	case *Object:
		k, ok := key.(string)
		if !ok {
			return nil, errorf("Cannot delete field at object index of %s", map[bool]string{true: "array", false: "object"}[kind(key) == "x"])
		}
		if err := vm.hold(len(v.keys)); err != nil {
			return nil, err
		}
		return v.without(k), nil
	case *Array:
		if err := vm.hold(len(v.v)); err != nil {
			return nil, err
		}
		from, to := 0, 0
		switch k := key.(type) {
		case float64, *Number:
			f, _ := number(k)
			f = math.Floor(f)
			if f < 0 {
				f += float64(len(v.v))
			}
			if !(f >= 0 && f < float64(len(v.v))) {
				return v, nil
			}
			from, to = int(f), int(f)+1
		case *Object:
			var err error
			if from, to, err = sliceBounds(k, len(v.v)); err != nil {
				return nil, err
			}
		default:
			return nil, errorf("Cannot delete field at array index of array")
		}
		out := make([]Value, 0, len(v.v))
		return &Array{v: append(append(out, v.v[:from]...), v.v[to:]...)}, nil
	}
	if _, ok := key.(string); ok {
		return nil, errorf("Cannot delete field at object index of %s", kind(v))
	}
	return nil, errorf("Cannot delete field at array index of %s", kind(v))
}
