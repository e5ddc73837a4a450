package interpreter

import (
	"math"
	"strings"
)

type operator func(vm *machine, a, b Value) (Value, error)

// operators maps binary operators to their functions.
var operators = map[string]operator{
	"+": add, "-": subtract, "*": multiply, "/": divide, "%": modulo,
	"==": compareWith(func(n int) bool { return n == 0 }),
	"!=": compareWith(func(n int) bool { return n != 0 }),
	"<":  compareWith(func(n int) bool { return n < 0 }),
	"<=": compareWith(func(n int) bool { return n <= 0 }),
	">":  compareWith(func(n int) bool { return n > 0 }),
	">=": compareWith(func(n int) bool { return n >= 0 }),
}

func compareWith(test func(n int) bool) operator {
	return func(vm *machine, a, b Value) (Value, error) {
		n, err := vm.compare(a, b)
		return test(n), err
	}
}

// binError says that two values do not go together.
func binError(a, b Value, what string) error {
	return errorf("%s (%s) and %s (%s) cannot be %s", kind(a), shortJSON(a), kind(b), shortJSON(b), what)
}

func add(vm *machine, a, b Value) (Value, error) {
	if a == nil {
		return b, nil
	}
	if b == nil {
		return a, nil
	}
	switch x := a.(type) {
	case float64, *Number:
		if y, ok := number(b); ok {
			f, _ := number(x)
			return f + y, nil
		}
	case string:
		if y, ok := b.(string); ok {
			return vm.concat(x, y)
		}
	case *Array:
		if y, ok := b.(*Array); ok {
			if len(x.v)+len(y.v) > maxArray {
				return nil, errTooBig
			}
			// Half of it may be copied when the memory cannot be shared.
			if err := vm.hold(16 * (len(y.v) + 1)); err != nil {
				return nil, err
			}
			if len(x.v) == 0 {
				return y, nil
			}
			return x.plus(y.v...), nil
		}
	case *Object:
		if y, ok := b.(*Object); ok {
			return vm.merge(x, y)
		}
	}
	return nil, binError(a, b, "added")
}

func (vm *machine) concat(a, b string) (Value, error) {
	if len(a)+len(b) > maxString {
		return nil, errTooBig
	}
	if err := vm.hold(len(a) + len(b)); err != nil {
		return nil, err
	}
	return a + b, nil
}

func (vm *machine) merge(x, y *Object) (Value, error) {
	if len(y.keys) == 0 {
		return x, nil
	}
	if err := vm.hold(32 * len(y.keys)); err != nil {
		return nil, err
	}
	if len(y.keys) == 1 {
		return x.With(y.keys[0], y.vals[0]), nil
	}
	if err := vm.hold(32 * len(x.keys)); err != nil {
		return nil, err
	}
	o := &Object{
		keys: append(make([]string, 0, len(x.keys)+len(y.keys)), x.keys...),
		vals: append(make([]Value, 0, len(x.keys)+len(y.keys)), x.vals...),
	}
	for i, k := range y.keys {
		o.put(k, y.vals[i])
	}
	return o, nil
}

func subtract(vm *machine, a, b Value) (Value, error) {
	if x, ok := number(a); ok {
		if y, ok := number(b); ok {
			return x - y, nil
		}
	}
	x, okX := a.(*Array)
	y, okY := b.(*Array)
	if !okX || !okY {
		return nil, binError(a, b, "subtracted")
	}
	out := &Array{}
	for _, v := range x.v {
		if err := vm.tick(); err != nil {
			return nil, err
		}
		keep := true
		for _, w := range y.v {
			same, err := vm.equal(v, w)
			if err != nil {
				return nil, err
			}
			if same {
				keep = false
				break
			}
		}
		if !keep {
			continue
		}
		var err error
		if out.v, err = vm.collect(out.v, v, 0); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func multiply(vm *machine, a, b Value) (Value, error) {
	x, okX := number(a)
	y, okY := number(b)
	if okX && okY {
		return x * y, nil
	}
	if s, ok := a.(string); ok && okY {
		return vm.repeat(s, y)
	}
	if s, ok := b.(string); ok && okX {
		return vm.repeat(s, x)
	}
	m, okM := a.(*Object)
	n, okN := b.(*Object)
	if okM && okN {
		return vm.deepMerge(m, n, 0)
	}
	return nil, binError(a, b, "multiplied")
}

func (vm *machine) repeat(s string, n float64) (Value, error) {
	if !(n > 0) {
		return nil, nil //nolint:nilnil // null is a value.
	}
	times := math.Ceil(n)
	if times*float64(len(s)) > maxString {
		return nil, &Error{"Repeat string result too long"}
	}
	if err := vm.hold(int(times) * len(s)); err != nil {
		return nil, err
	}
	return strings.Repeat(s, int(times)), nil
}

func (vm *machine) deepMerge(x, y *Object, depth int) (Value, error) {
	if depth > maxDepth {
		return nil, errTooBig
	}
	if err := vm.hold(32 * (len(x.keys) + len(y.keys))); err != nil {
		return nil, err
	}
	o := &Object{
		keys: append([]string(nil), x.keys...),
		vals: append([]Value(nil), x.vals...),
	}
	for i, k := range y.keys {
		v := y.vals[i]
		old, _ := o.Get(k)
		m, okM := old.(*Object)
		n, okN := v.(*Object)
		if okM && okN {
			var err error
			if v, err = vm.deepMerge(m, n, depth+1); err != nil {
				return nil, err
			}
		}
		o.put(k, v)
	}
	return o, nil
}

func divide(vm *machine, a, b Value) (Value, error) {
	x, okX := number(a)
	y, okY := number(b)
	if okX && okY {
		if y == 0 {
			return nil, binError(a, b, "divided because the divisor is zero")
		}
		return x / y, nil
	}
	s, okS := a.(string)
	t, okT := b.(string)
	if okS && okT {
		return vm.split(s, t)
	}
	return nil, binError(a, b, "divided")
}

// split returns the texts between the occurrences of sep; an empty text has no parts.
func (vm *machine) split(s, sep string) (Value, error) {
	if err := vm.hold(len(s) * 2); err != nil {
		return nil, err
	}
	out := &Array{}
	if s == "" {
		return out, nil
	}
	for part := range strings.SplitSeq(s, sep) {
		var err error
		if out.v, err = vm.collect(out.v, part, 16); err != nil {
			return nil, err
		}
		if err := vm.tick(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func modulo(_ *machine, a, b Value) (Value, error) {
	x, okX := number(a)
	y, okY := number(b)
	if !okX || !okY {
		return nil, binError(a, b, "divided")
	}
	if math.IsNaN(x) || math.IsNaN(y) {
		return math.NaN(), nil
	}
	m, n := toInt(x), toInt(y)
	switch n {
	case 0:
		return nil, binError(a, b, "divided (remainder) because the divisor is zero")
	case -1:
		return 0.0, nil
	}
	// The sign is that of the dividend.
	if n < 0 {
		n = -n
	}
	return float64(m % n), nil
}

// toInt cuts a number to what an int64 holds.
func toInt(f float64) int64 {
	switch {
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	}
	return int64(f)
}
