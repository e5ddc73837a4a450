package interpreter

import (
	"errors"
	"math"
	"sort"
	"strings"
	"unicode/utf8"
)

func constant(v Value) function1 {
	return func(*machine, Value, []Value) (Value, error) { return v, nil }
}

func length(_ *machine, in Value, _ []Value) (Value, error) {
	switch v := in.(type) {
	case nil:
		return 0.0, nil
	case float64, *Number:
		f, _ := number(v)
		return math.Abs(f), nil
	case string:
		return float64(utf8.RuneCountInString(v)), nil
	case *Array:
		return float64(len(v.v)), nil
	case *Object:
		return float64(len(v.keys)), nil
	}
	return nil, errorf("%s (%s) has no length", kind(in), shortJSON(in))
}

func keysOf(ordered bool) function1 {
	return func(vm *machine, in Value, _ []Value) (Value, error) {
		switch v := in.(type) {
		case *Object:
			keys := v.keys
			if ordered {
				keys = v.sorted()
			}
			if err := vm.hold(32 * len(keys)); err != nil {
				return nil, err
			}
			out := &Array{v: make([]Value, len(keys))}
			for i, k := range keys {
				out.v[i] = k
			}
			return out, nil
		case *Array:
			if err := vm.hold(24 * len(v.v)); err != nil {
				return nil, err
			}
			out := &Array{v: make([]Value, len(v.v))}
			for i := range v.v {
				out.v[i] = float64(i)
			}
			return out, nil
		}
		return nil, errorf("%s (%s) has no keys", kind(in), shortJSON(in))
	}
}

func has(_ *machine, in Value, a []Value) (Value, error) {
	switch v := in.(type) {
	case *Object:
		if k, ok := a[0].(string); ok {
			return v.find(k) >= 0, nil
		}
	case *Array:
		if f, ok := number(a[0]); ok {
			return f >= 0 && f < float64(len(v.v)), nil
		}
	}
	return nil, errorf("Cannot check whether %s has a %s key", kind(in), kind(a[0]))
}

func contains(vm *machine, a, b Value, depth int) (Value, error) {
	if err := vm.tick(); err != nil {
		return nil, err
	}
	if kind(a) != kind(b) {
		return nil, errorf("%s (%s) and %s (%s) cannot have their containment checked", kind(a), shortJSON(a), kind(b), shortJSON(b))
	}
	switch x := a.(type) {
	case *Object:
		y, _ := b.(*Object)
		for i, k := range y.keys {
			v, ok := x.Get(k)
			if !ok {
				return false, nil
			}
			if in, err := containsPart(vm, v, y.vals[i], depth); err != nil || !in {
				return false, err
			}
		}
		return true, nil
	case *Array:
		y, _ := b.(*Array)
		for _, w := range y.v {
			found := false
			for _, v := range x.v {
				in, err := containsPart(vm, v, w, depth)
				if err != nil {
					return nil, err
				}
				if in {
					found = true
					break
				}
			}
			if !found {
				return false, nil
			}
		}
		return true, nil
	case string:
		y, _ := b.(string)
		return strings.Contains(x, y), nil
	}
	return vm.equal(a, b)
}

func containsPart(vm *machine, a, b Value, depth int) (bool, error) {
	if err := vm.tick(); err != nil {
		return false, err
	}
	if kind(a) != kind(b) || depth > maxParseDepth {
		return false, nil
	}
	v, err := contains(vm, a, b, depth+1)
	return v == true, err
}

func toNumber(_ *machine, in Value, _ []Value) (Value, error) {
	switch v := in.(type) {
	case float64, *Number:
		return v, nil
	case string:
		if n, ok := parseNumber(v); ok && !strings.HasPrefix(v, "+") {
			return n, nil
		}
		// jq 1.7 reads the text as JSON; this is its error.
		w, err := parseJSON(v)
		if pe, ok := errors.AsType[*ParseError](err); ok {
			return nil, errorf("%s (while parsing '%s')", pe.Text, v)
		}
		if _, ok := number(w); ok && err == nil {
			return w, nil
		}
		return nil, errorf("%s (%s) cannot be parsed as a number", kind(in), shortJSON(in))
	}
	return nil, errorf("%s (%s) cannot be parsed as a number", kind(in), shortJSON(in))
}

func reverse(vm *machine, in Value, _ []Value) (Value, error) {
	switch v := in.(type) {
	case nil:
		return &Array{}, nil
	case string:
		if err := vm.hold(5 * len(v)); err != nil { // characters of four bytes, and the text
			return nil, err
		}
		r := []rune(v)
		for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
			r[i], r[j] = r[j], r[i]
		}
		return string(r), nil
	case *Array:
		if err := vm.hold(16 * len(v.v)); err != nil {
			return nil, err
		}
		out := &Array{v: make([]Value, len(v.v))}
		for i, w := range v.v {
			out.v[len(v.v)-1-i] = w
		}
		return out, nil
	case *Object:
		if len(v.keys) == 0 {
			return &Array{}, nil
		}
		return nil, errorf("Cannot index object with number")
	}
	return nil, errorf("Cannot reverse %s", kind(in))
}

func flattenTo(vm *machine, in Value, a []Value) (Value, error) {
	depth, ok := number(a[0])
	if !ok {
		return nil, errorf("flatten depth must not be negative")
	}
	if depth < 0 {
		return nil, errorf("flatten depth must not be negative")
	}
	return flatten(vm, in, depth)
}

func flatten(vm *machine, in Value, depth float64) (Value, error) {
	var items []Value
	switch v := in.(type) {
	case *Array:
		items = v.v
	case *Object:
		items = v.vals
	default:
		return nil, iterError(in)
	}
	out := &Array{}
	var walk func(items []Value, depth float64) error
	walk = func(items []Value, depth float64) error {
		if err := vm.enter(); err != nil {
			return err
		}
		defer vm.leave()
		for _, v := range items {
			if a, ok := v.(*Array); ok && depth > 0 {
				if err := walk(a.v, depth-1); err != nil {
					return err
				}
				continue
			}
			var err error
			if out.v, err = vm.collect(out.v, v, 0); err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk(items, depth); err != nil {
		return nil, err
	}
	return out, nil
}

// indices returns the positions of part in in; of text counted in bytes by jq 1.6, in
// characters since.
func indices(vm *machine, in, part Value) (Value, error) {
	switch v := in.(type) {
	case nil:
		return nil, nil //nolint:nilnil // null has none.
	case string:
		sub, ok := part.(string)
		if !ok {
			break
		}
		out := &Array{}
		if sub == "" {
			return nil, nil //nolint:nilnil // As in the original.
		}
		chars, last := 0, 0
		for i := 0; ; {
			k := strings.Index(v[i:], sub)
			if k < 0 {
				return out, vm.hold(len(v))
			}
			if err := vm.tick(); err != nil {
				return nil, err
			}
			i += k
			chars += utf8.RuneCountInString(v[last:i])
			last = i
			var err error
			if out.v, err = vm.collect(out.v, float64(chars), floatSize); err != nil {
				return nil, err
			}
			i++
		}
	case *Array:
		if sub, ok := part.(*Array); ok {
			return indexesOf(&comparison{vm: vm}, v, sub)
		}
		out := &Array{}
		for i, w := range v.v {
			same, err := vm.equal(w, part)
			if err != nil {
				return nil, err
			}
			if !same {
				continue
			}
			if out.v, err = vm.collect(out.v, float64(i), floatSize); err != nil {
				return nil, err
			}
		}
		return out, vm.hold(len(v.v))
	}
	return getIndex(in, part)
}

func indexIn(first bool) function1 {
	return func(vm *machine, in Value, a []Value) (Value, error) {
		v, err := indices(vm, in, a[0])
		arr, ok := v.(*Array)
		if err != nil || !ok || len(arr.v) == 0 {
			return nil, err
		}
		if first {
			return arr.v[0], nil
		}
		return arr.v[len(arr.v)-1], nil
	}
}

func setpathValue(vm *machine, in Value, a []Value) (Value, error) {
	keys, ok := a[0].(*Array)
	if !ok {
		return nil, errorf("Path must be specified as an array")
	}
	return vm.setPath(in, keys.v, a[1])
}

func delpathsValue(vm *machine, in Value, a []Value) (Value, error) {
	list, ok := a[0].(*Array)
	if !ok {
		return nil, errorf("Paths must be specified as an array")
	}
	return vm.deletePaths(in, list.v)
}

func fromEntries(vm *machine, in Value, _ []Value) (Value, error) {
	var items []Value
	switch v := in.(type) {
	case *Array:
		items = v.v
	case *Object:
		items = v.vals
	default:
		return nil, iterError(in)
	}
	out := NewObject()
	for _, it := range items {
		o, ok := it.(*Object)
		if !ok && it != nil {
			return nil, indexError(it, "key")
		}
		if o == nil {
			o = NewObject()
		}
		key, _ := o.Get("key")
		for _, name := range []string{"k", "name", "Name", "K", "Key"} {
			if key != nil {
				break
			}
			if v, _ := o.Get(name); isTrue(v) || name == "Key" {
				key = v
			}
		}
		var value Value
		for _, name := range []string{"value", "v", "Value"} {
			if v, ok := o.Get(name); ok {
				value = v
				break
			}
		}
		switch k := key.(type) {
		case string:
			out.put(k, value)
		case nil:
			out.put("null", value)
		case bool, float64, *Number:
			out.put(toJSON(k), value)
		default:
			return nil, errorf("Cannot use %s (%s) as object key", kind(key), shortJSON(key))
		}
	}
	return out, vm.hold(48 * len(out.keys))
}

func ordered(f func(vm *machine, items []keyed) (Value, error)) function1 {
	return func(vm *machine, in Value, _ []Value) (Value, error) {
		items, err := unkeyed(in)
		if err != nil {
			return nil, err
		}
		if err := vm.hold(48 * len(items)); err != nil {
			return nil, err
		}
		return f(vm, items)
	}
}

func transpose(vm *machine, in Value, _ []Value) (Value, error) {
	a, ok := in.(*Array)
	if !ok {
		return nil, iterError(in)
	}
	width := 0
	for _, row := range a.v {
		r, ok := row.(*Array)
		if !ok {
			return nil, errorf("Cannot index %s with number", kind(row))
		}
		width = max(width, len(r.v))
	}
	if err := vm.hold(16 * width * len(a.v)); err != nil {
		return nil, err
	}
	if width*len(a.v) > maxArray {
		return nil, errTooBig
	}
	out := &Array{}
	for i := range width {
		col := &Array{v: make([]Value, len(a.v))}
		for j, row := range a.v {
			r, _ := row.(*Array)
			col.v[j] = r.get(float64(i))
		}
		out.v = append(out.v, col)
	}
	return out, nil
}

func bsearch(vm *machine, in Value, args []Value) (Value, error) {
	a, ok := in.(*Array)
	if !ok {
		return nil, errorf("%s (%s) cannot be searched from", kind(in), shortJSON(in))
	}
	c := comparison{vm: vm}
	i := sort.Search(len(a.v), func(i int) bool { return c.order(a.v[i], args[0]) >= 0 })
	if i < len(a.v) && c.equal(a.v[i], args[0]) {
		return float64(i), nil
	}
	return float64(-1 - i), c.err
}

func inputFilename(vm *machine, _ Value, _ []Value) (Value, error) {
	if vm.o.Inputs == nil || vm.o.Inputs.File() == "" {
		return nil, nil //nolint:nilnil // null is a value.
	}
	return vm.o.Inputs.File(), nil
}

func inputLine(vm *machine, _ Value, _ []Value) (Value, error) {
	if vm.o.Inputs == nil {
		return 0.0, nil
	}
	return float64(vm.o.Inputs.Line()), nil
}

func debug(vm *machine, in Value, _ []Value) (Value, error) {
	if vm.o.Debug != nil {
		vm.o.Debug(NewArray("DEBUG:", in))
	}
	return in, nil
}

func stderr(vm *machine, in Value, _ []Value) (Value, error) {
	if vm.o.Stderr != nil {
		vm.o.Stderr(in)
	}
	return in, nil
}

func haltError(_ *machine, in Value, a []Value) (Value, error) {
	f, ok := number(a[0])
	if !ok {
		return nil, errorf("halt_error/1: number required")
	}
	return nil, &Halt{Status: int(toInt(f)), Value: in}
}

func absolute(_ *machine, in Value, _ []Value) (Value, error) {
	f, ok := number(in)
	if !ok {
		return nil, errorf("%s (%s) has no absolute value", kind(in), shortJSON(in))
	}
	if f < 0 {
		return -f, nil
	}
	return in, nil
}

func numberTest(test func(f float64) bool) function1 {
	return func(_ *machine, in Value, _ []Value) (Value, error) {
		f, ok := number(in)
		if !ok {
			return nil, errorf("%s (%s) number required", kind(in), shortJSON(in))
		}
		return test(f), nil
	}
}

func searchList(vm *machine, _ Value, _ []Value) (Value, error) {
	out := &Array{}
	for _, d := range vm.o.Dirs {
		out.v = append(out.v, d) // bounded: by the directories of -L
	}
	return out, nil
}
