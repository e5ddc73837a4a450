package jq

import (
	"errors"
	"io"
	"math"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// function1 is a function with one result; args are its arguments' values.
type function1 func(vm *machine, in Value, args []Value) (Value, error)

// nativeFunction returns a function with values as arguments by name and number of
// arguments, nil for none of that name. It is no map: those that list all functions would be
// part of what they list.
func nativeFunction(name string) function1 {
	switch name {
	case "not/0":
		return func(_ *machine, in Value, _ []Value) (Value, error) { return !truth(in), nil }
	case "length/0":
		return length
	case "keys/0":
		return keysOf(true)
	case "keys_unsorted/0":
		return keysOf(false)
	case "has/1":
		return has
	case "contains/1":
		return func(vm *machine, in Value, a []Value) (Value, error) { return contains(vm, in, a[0], 0) }
	case "type/0":
		return func(_ *machine, in Value, _ []Value) (Value, error) { return kind(in), nil }
	case "tostring/0":
		return toString
	case "tonumber/0":
		return toNumber
	case "reverse/0":
		return reverse
	case "flatten/0":
		return func(vm *machine, in Value, _ []Value) (Value, error) { return flatten(vm, in, math.Inf(1)) }
	case "flatten/1":
		return flattenTo
	case "index/1":
		return indexIn(true)
	case "rindex/1":
		return indexIn(false)
	case "indices/1":
		return func(vm *machine, in Value, a []Value) (Value, error) { return indices(vm, in, a[0]) }
	case "setpath/2":
		return setpathValue
	case "delpaths/1":
		return delpathsValue
	case "from_entries/0":
		return fromEntries
	case "sort/0":
		return ordered(sortBy)
	case "unique/0":
		return ordered(uniqueBy)
	case "min/0":
		return ordered(minBy)
	case "max/0":
		return ordered(maxBy)
	case "transpose/0":
		return transpose
	case "bsearch/1":
		return bsearch
	case "input_filename/0":
		return inputFilename
	case "debug/0":
		return debug
	case "stderr/0":
		return stderr
	case "halt/0":
		return func(*machine, Value, []Value) (Value, error) { return nil, &Halt{Quiet: true} }
	case "halt_error/1":
		return haltError
	case "null/0":
		return constant(nil)
	case "true/0":
		return constant(true)
	case "false/0":
		return constant(false)
	case "builtins/0":
		return builtins
	case "modulemeta/0":
		return moduleMeta
	case "get_search_list/0":
		return searchList
	case "format/1":
		return func(_ *machine, in Value, a []Value) (Value, error) { return formatNamed(in, a[0]) }
	case "input_line_number/0":
		return inputLine
	}
	if f := textFunction(name); f != nil {
		return f
	}
	if f := numberFunction(name); f != nil {
		return f
	}
	return timeFunctions[name]
}

// textFunction is nativeFunction for what works on strings.
func textFunction(name string) function1 {
	switch name {
	case "utf8bytelength/0":
		return byteLength
	case "tojson/0":
		return toJSONValue
	case "fromjson/0":
		return fromJSON
	case "join/1":
		return join
	case "explode/0":
		return explode
	case "implode/0":
		return implode
	case "startswith/1":
		return affix("startswith", strings.HasPrefix)
	case "endswith/1":
		return affix("endswith", strings.HasSuffix)
	case "ltrimstr/1":
		return trimAffix(strings.TrimPrefix)
	case "rtrimstr/1":
		return trimAffix(strings.TrimSuffix)
	case "trim/0":
		return trimSpace(func(s string) string { return strings.TrimFunc(s, isSpace) })
	case "ltrim/0":
		return trimSpace(func(s string) string { return strings.TrimLeftFunc(s, isSpace) })
	case "rtrim/0":
		return trimSpace(func(s string) string { return strings.TrimRightFunc(s, isSpace) })
	case "ascii_downcase/0":
		return changeCase('A', 'Z', 32)
	case "ascii_upcase/0":
		return changeCase('a', 'z', -32)
	case "split/1":
		return splitString
	}
	return nil
}

// numberFunction is nativeFunction for what works on numbers.
func numberFunction(name string) function1 {
	switch name {
	case "abs/0":
		return absolute
	case "infinite/0":
		return constant(math.Inf(1))
	case "nan/0":
		return constant(math.NaN())
	case "isinfinite/0":
		return numberTest(func(f float64) bool { return math.IsInf(f, 0) })
	case "isnan/0":
		return numberTest(math.IsNaN)
	case "isnormal/0":
		return numberTest(func(f float64) bool { return f != 0 && !math.IsInf(f, 0) && !math.IsNaN(f) && math.Abs(f) >= 0x1p-1022 })
	}
	if f, ok := mathSpecial[name]; ok {
		return f
	}
	base, arity, _ := strings.Cut(name, "/")
	if f, ok := mathFunctions[base]; ok && arity == "0" {
		return math1(f)
	}
	if f, ok := mathFunctions2[base]; ok && arity == "2" {
		return math2(f)
	}
	return nil
}

// nativeNames are the names of all functions but those of the prelude and of mathematics.
const nativeNames = "abs/0 add/0 add/1 all/0 all/1 all/2 any/0 any/1 any/2 ascii_downcase/0 ascii_upcase/0 bsearch/1 builtins/0 capture/1 capture/2 contains/1 debug/0 delpaths/1 empty/0 endswith/1 error/0 error/1 explode/0 false/0 first/1 flatten/0 flatten/1 format/1 from_entries/0 fromjson/0 get_search_list/0 getpath/1 group_by/1 gsub/2 gsub/3 halt/0 halt_error/1 has/1 implode/0 index/1 indices/1 infinite/0 input/0 input_filename/0 input_line_number/0 inputs/0 isempty/1 isinfinite/0 isnan/0 isnormal/0 join/1 keys/0 keys_unsorted/0 last/1 length/0 limit/2 ltrim/0 ltrimstr/1 map/1 match/1 match/2 max/0 max_by/1 min/0 min_by/1 modulemeta/0 nan/0 not/0 null/0 path/1 range/1 range/2 range/3 recurse/0 recurse/1 repeat/1 reverse/0 rindex/1 rtrim/0 rtrimstr/1 scan/1 scan/2 select/1 setpath/2 skip/2 sort/0 sort_by/1 split/1 split/2 splits/1 splits/2 startswith/1 stderr/0 sub/2 sub/3 test/1 test/2 tojson/0 tonumber/0 tostring/0 transpose/0 trim/0 true/0 type/0 unique/0 unique_by/1 until/2 utf8bytelength/0 while/2"

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

func byteLength(_ *machine, in Value, _ []Value) (Value, error) {
	s, ok := in.(string)
	if !ok {
		return nil, errorf("%s (%s) only strings have UTF-8 byte length", kind(in), shortJSON(in))
	}
	return float64(len(s)), nil
}

func keysOf(ordered bool) function1 {
	return func(vm *machine, in Value, _ []Value) (Value, error) {
		switch v := in.(type) {
		case *Object:
			keys := v.keys
			if ordered {
				keys = v.sorted()
			}
			out := &Array{v: make([]Value, len(keys))}
			for i, k := range keys {
				out.v[i] = k
			}
			return out, vm.hold(32 * len(keys))
		case *Array:
			out := &Array{v: make([]Value, len(v.v))}
			for i := range v.v {
				out.v[i] = float64(i)
			}
			return out, vm.hold(24 * len(v.v))
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
			if !ok || !containsPart(vm, v, y.vals[i], depth) {
				return false, nil
			}
		}
		return true, nil
	case *Array:
		y, _ := b.(*Array)
		for _, w := range y.v {
			found := false
			for _, v := range x.v {
				if containsPart(vm, v, w, depth) {
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
	return equal(a, b), nil
}

func containsPart(vm *machine, a, b Value, depth int) bool {
	if kind(a) != kind(b) || depth > maxParseDepth {
		return false
	}
	v, err := contains(vm, a, b, depth+1)
	return err == nil && v == true
}

func toString(vm *machine, in Value, _ []Value) (Value, error) {
	if s, ok := in.(string); ok {
		return s, nil
	}
	return toJSONValue(vm, in, nil)
}

func toJSONValue(vm *machine, in Value, _ []Value) (Value, error) {
	s := toJSON(in)
	return s, vm.hold(len(s))
}

func toNumber(_ *machine, in Value, _ []Value) (Value, error) {
	switch v := in.(type) {
	case float64, *Number:
		return v, nil
	case string:
		if n, ok := parseNumber(v); ok && !strings.HasPrefix(v, "+") {
			return n, nil
		}
		// The words of 1.7, which reads it as JSON.
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

func fromJSON(_ *machine, in Value, _ []Value) (Value, error) {
	s, ok := in.(string)
	if !ok {
		return nil, errorf("%s (%s) only strings can be parsed", kind(in), shortJSON(in))
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

func reverse(vm *machine, in Value, _ []Value) (Value, error) {
	switch v := in.(type) {
	case nil:
		return &Array{}, nil
	case string:
		r := []rune(v)
		for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
			r[i], r[j] = r[j], r[i]
		}
		return string(r), vm.hold(len(v))
	case *Array:
		out := &Array{v: make([]Value, len(v.v))}
		for i, w := range v.v {
			out.v[len(v.v)-1-i] = w
		}
		return out, vm.hold(16 * len(v.v))
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
			if len(out.v) >= maxArray {
				return errTooBig
			}
			out.v = append(out.v, v)
			vm.gas--
		}
		return nil
	}
	if err := walk(items, depth); err != nil {
		return nil, err
	}
	return out, vm.hold(16 * len(out.v))
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
		out.v = append(out.v, float64(r))
	}
	return out, vm.hold(24 * len(out.v))
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

// indices are the places where part stands in in; of text counted in bytes by jq 1.6, in
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
			i += k
			chars += utf8.RuneCountInString(v[last:i])
			last = i
			out.v = append(out.v, float64(chars))
			i++
		}
	case *Array:
		if sub, ok := part.(*Array); ok {
			vm.gas -= len(v.v)
			return indexesOf(v, sub), vm.tick()
		}
		out := &Array{}
		for i, w := range v.v {
			if equal(w, part) {
				out.v = append(out.v, float64(i))
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
			if v, _ := o.Get(name); truth(v) || name == "Key" {
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

func bsearch(_ *machine, in Value, args []Value) (Value, error) {
	a, ok := in.(*Array)
	if !ok {
		return nil, errorf("%s (%s) cannot be searched from", kind(in), shortJSON(in))
	}
	i := sort.Search(len(a.v), func(i int) bool { return Compare(a.v[i], args[0]) >= 0 })
	if i < len(a.v) && equal(a.v[i], args[0]) {
		return float64(i), nil
	}
	return float64(-1 - i), nil
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

func builtins(*machine, Value, []Value) (Value, error) {
	names := strings.Fields(nativeNames)
	for n := range preludeDefs {
		names = append(names, n)
	}
	for n := range timeFunctions {
		names = append(names, n)
	}
	for n := range mathSpecial {
		names = append(names, n)
	}
	for n := range mathFunctions {
		names = append(names, n+"/0")
	}
	for n := range mathFunctions2 {
		names = append(names, n+"/2")
	}
	sort.Strings(names)
	out := &Array{}
	for _, n := range names {
		out.v = append(out.v, n)
	}
	return out, nil
}

func searchList(vm *machine, _ Value, _ []Value) (Value, error) {
	out := &Array{}
	for _, d := range vm.o.Dirs {
		out.v = append(out.v, d)
	}
	return out, nil
}
