package interpreter

import (
	"errors"
	"io"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

func byteLength(_ *machine, in Value, _ []Value) (Value, error) {
	s, ok := in.(string)
	if !ok {
		return nil, errorf("%s (%s) only strings have UTF-8 byte length", kind(in), shortJSON(in))
	}
	return float64(len(s)), nil
}

func toString(vm *machine, in Value, _ []Value) (Value, error) {
	if s, ok := in.(string); ok {
		return s, nil
	}
	return toJSONValue(vm, in, nil)
}

func toJSONValue(vm *machine, in Value, _ []Value) (Value, error) {
	return vm.json(in)
}

// parsedWeight is what a byte of JSON becomes at most: a number takes 24, and two bytes with its comma.
const parsedWeight = 12

func fromJSON(vm *machine, in Value, _ []Value) (Value, error) {
	s, ok := in.(string)
	if !ok {
		return nil, errorf("%s (%s) only strings can be parsed", kind(in), shortJSON(in))
	}
	if err := vm.hold(parsedWeight * len(s)); err != nil {
		return nil, err
	}
	v, err := parseJSON(s)
	if errors.Is(err, io.EOF) {
		return nil, nil //nolint:nilnil // No text gives null.
	}
	if err != nil {
		return nil, errorf("%s (while parsing '%s')", err.Error(), s)
	}
	return v, nil
}

func join(vm *machine, in Value, a []Value) (Value, error) {
	var items []Value
	switch v := in.(type) {
	case *Array:
		items = v.v
	case *Object:
		items = v.vals
	default:
		return nil, iterError(in)
	}
	if len(items) == 0 {
		return "", nil
	}
	var b strings.Builder
	for i, v := range items {
		if i > 0 {
			sep, ok := a[0].(string)
			if !ok && a[0] != nil {
				return nil, binError(b.String(), a[0], "added")
			}
			b.WriteString(sep)
		}
		switch v := v.(type) {
		case nil:
		case string:
			b.WriteString(v)
		case bool, float64, *Number:
			b.WriteString(toJSON(v))
		default:
			return nil, binError(b.String(), v, "added")
		}
		if b.Len() > maxString {
			return nil, errTooBig
		}
	}
	return b.String(), vm.hold(b.Len())
}

func explode(vm *machine, in Value, _ []Value) (Value, error) {
	s, ok := in.(string)
	if !ok {
		return nil, errorf("explode input must be a string")
	}
	out := &Array{}
	for _, r := range s {
		if err := vm.tick(); err != nil {
			return nil, err
		}
		var err error
		if out.v, err = vm.collect(out.v, float64(r), floatSize); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func implode(vm *machine, in Value, _ []Value) (Value, error) {
	a, ok := in.(*Array)
	if !ok {
		return nil, errorf("implode input must be an array")
	}
	var b strings.Builder
	for _, v := range a.v {
		f, ok := number(v)
		if !ok {
			return nil, errorf("Unicode codepoint must be numeric")
		}
		if math.IsNaN(f) || f < 0 || f > unicode.MaxRune || f >= 0xd800 && f < 0xe000 {
			f = utf8.RuneError
		}
		b.WriteRune(rune(f))
	}
	return b.String(), vm.hold(b.Len())
}

func affix(name string, test func(s, part string) bool) function1 {
	return func(_ *machine, in Value, a []Value) (Value, error) {
		s, okS := in.(string)
		part, okP := a[0].(string)
		if !okS || !okP {
			return nil, errorf("%s() requires string inputs", name)
		}
		return test(s, part), nil
	}
}

func trimAffix(trim func(s, part string) string) function1 {
	return func(_ *machine, in Value, a []Value) (Value, error) {
		s, okS := in.(string)
		part, okP := a[0].(string)
		if !okS || !okP {
			return in, nil
		}
		return trim(s, part), nil
	}
}

func isSpace(r rune) bool { return unicode.IsSpace(r) }

func trimSpace(trim func(s string) string) function1 {
	return func(_ *machine, in Value, _ []Value) (Value, error) {
		s, ok := in.(string)
		if !ok {
			return nil, errorf("%s (%s) cannot be trimmed", kind(in), shortJSON(in))
		}
		return trim(s), nil
	}
}

func changeCase(from, to byte, by int) function1 {
	return func(vm *machine, in Value, _ []Value) (Value, error) {
		s, ok := in.(string)
		if !ok {
			return nil, errorf("explode input must be a string")
		}
		b := []byte(s)
		for i, c := range b {
			if c >= from && c <= to {
				b[i] = byte(int(c) + by)
			}
		}
		return string(b), vm.hold(len(b))
	}
}

func splitString(vm *machine, in Value, a []Value) (Value, error) {
	s, okS := in.(string)
	sep, okP := a[0].(string)
	if !okS || !okP {
		return nil, errorf("split input and separator must be strings")
	}
	return vm.split(s, sep)
}
