package interpreter

import (
	"math"
	"sort"
	"strings"
)

// function1 is a function with one result; args are its arguments' values.
type function1 func(vm *machine, in Value, args []Value) (Value, error)

// nativeFunction returns a function with values as arguments by name and number of arguments, nil for none of that name. It is
// not a map: builtins lists all functions, and the initialization of the map would refer to itself.
func nativeFunction(name string) function1 {
	switch name {
	case "not/0":
		return func(_ *machine, in Value, _ []Value) (Value, error) { return !isTrue(in), nil }
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
		return func(vm *machine, in Value, a []Value) (Value, error) { return vm.formatNamed(in, a[0]) }
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

// textFunction is nativeFunction for functions that work on strings.
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

// numberFunction is nativeFunction for functions that work on numbers.
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
		out.v = append(out.v, n) // bounded: by the number of functions of this package
	}
	return out, nil
}
