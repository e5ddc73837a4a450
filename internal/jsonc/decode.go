package jsonc

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// The bounds of decoding.
const (
	MaxProblems = 50      // problems of one value; decoding ends at this number
	MaxEntries  = 1 << 16 // entries of one list
	maxPaths    = 1 << 25 // bytes of all key paths: a long name with many entries has many long paths
)

// Reader puts values into structs. The zero Reader is ready for use.
type Reader struct {
	// Expect describes the valid values of a type; "" or a nil func: a description by its kind.
	Expect func(reflect.Type) string
	// Hint returns the fix for an unknown key; keys are the valid keys of the object. Nil: the key with the most
	// similar spelling.
	Hint func(name string, keys []string) string
	// Open is called with each field whose value is an object and reports whether to decode the object into it, also when
	// its type is a [json.Unmarshaler] for a string or a boolean. Nil: the rules of package json decide.
	Open func(reflect.Value) bool
	// Quiet omits strings from problems, because a string may be a secret in the wrong place.
	Quiet bool
}

// Decode decodes v into the variable to which into points, and returns the line of each key and list entry: "network",
// "filesystem.ro[0]", relative to v. The json tags name the fields; Decode ignores a field with the tag "-". It calls
// UnmarshalJSON of types that have it, and a [Value] accepts any value. It returns the problems in the order of the
// file, at most MaxProblems, and decodes the values without a problem.
func (r Reader) Decode(v Value, into any) (lines map[string]int, problems []Problem) {
	d := &decoder{Reader: r, doc: v.doc, prefix: v.key, lines: map[string]int{}}
	if v.doc != nil {
		d.value(reflect.ValueOf(into).Elem(), v.at, "")
	}
	return d.lines, d.problems
}

type decoder struct {
	Reader

	doc      *document
	prefix   string
	lines    map[string]int // key path → line
	paths    int            // bytes of the key paths so far
	problems []Problem
}

// countPath counts the bytes of a key path towards maxPaths. It returns false above that limit, and reports the first
// such path as a problem.
func (d *decoder) countPath(line int, path string) bool {
	before := d.paths
	d.paths += len(path)
	if before <= maxPaths && d.paths > maxPaths {
		d.fail(line, path, "found more than %s of key paths, expected shorter names", sandbox.Bytes(maxPaths))
	}
	return d.paths <= maxPaths
}

func (d *decoder) fail(line int, key, format string, args ...any) {
	d.add(d.doc.problem(line, JoinKey(d.prefix, key), format, args...))
}

func (d *decoder) add(p *Problem) {
	if len(d.problems) < MaxProblems {
		d.problems = append(d.problems, *p)
	}
}

var valueType = reflect.TypeFor[Value]()

// value stores jv, the value at key, into v.
func (d *decoder) value(v reflect.Value, jv hujson.Value, key string) {
	if len(d.problems) >= MaxProblems {
		return
	}
	line := d.doc.line(jv.StartOffset)
	if _, ok := d.lines[key]; !ok && key != "" {
		d.lines[key] = line
	}
	if v.Type() == valueType {
		v.Set(reflect.ValueOf(Value{doc: d.doc, key: JoinKey(d.prefix, key), at: jv}))
		return
	}
	obj, isObject := jv.Value.(*hujson.Object)
	lit, isLiteral := jv.Value.(hujson.Literal)
	if isLiteral && lit.Kind() == '"' && hasLoneSurrogate(lit) {
		d.add(d.doc.surrogate(line, JoinKey(d.prefix, key), lit))
		return
	}
	if isObject && d.Open != nil && d.Open(v) {
		d.object(v, obj, key)
		return
	}
	if u, ok := reflect.TypeAssert[json.Unmarshaler](v.Addr()); ok {
		if !isLiteral || u.UnmarshalJSON(lit) != nil {
			d.mismatch(v, jv, key)
		}
		return
	}
	arr, isArray := jv.Value.(*hujson.Array)
	switch kind := v.Kind(); {
	case kind == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(v.Elem(), jv, key)
	case (kind == reflect.Struct || kind == reflect.Map) && isObject:
		d.object(v, obj, key)
	case kind == reflect.Slice && isArray:
		d.array(v, arr, key)
	case kind == reflect.Struct, kind == reflect.Map, kind == reflect.Slice:
		d.mismatch(v, jv, key)
	// null would silently leave the zero value.
	case !isLiteral || lit.Kind() == 'n' || json.Unmarshal(lit, v.Addr().Interface()) != nil:
		d.mismatch(v, jv, key)
	}
}

func (d *decoder) mismatch(v reflect.Value, jv hujson.Value, key string) {
	d.fail(d.doc.line(jv.StartOffset), key, "found %s, expected %s", Value{doc: d.doc, at: jv}.What(), d.expectation(v.Type()))
}

func (d *decoder) array(v reflect.Value, arr *hujson.Array, key string) {
	if len(arr.Elements) > MaxEntries {
		d.fail(d.lines[key], key, "found %d entries, expected at most %d", len(arr.Elements), MaxEntries)
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, 0)) // an empty list differs from a missing one
	for i, e := range arr.Elements {
		path := IndexKey(key, i)
		if !d.countPath(d.doc.line(e.StartOffset), path) {
			return
		}
		item := reflect.New(v.Type().Elem()).Elem()
		d.value(item, e, path)
		v.Set(reflect.Append(v, item))
	}
}

func (d *decoder) object(v reflect.Value, obj *hujson.Object, key string) {
	first := map[string]int{}
	for _, m := range obj.Members {
		lit, _ := m.Name.Value.(hujson.Literal)
		name, line := lit.String(), d.doc.line(m.Name.StartOffset)
		path := JoinKey(key, name)
		if key != "" && name == "" {
			path = key + "."
		}
		if !d.countPath(line, path) {
			return
		}
		if at, ok := first[name]; ok {
			d.fail(line, path, "found a second time, expected once (first on line %d)", at)
			continue
		}
		first[name] = line
		d.lines[path] = line
		if hasLoneSurrogate(lit) {
			d.add(d.doc.surrogate(line, JoinKey(d.prefix, path), lit))
			continue
		}
		d.member(v, m.Value, name, path)
	}
}

func (d *decoder) member(v reflect.Value, jv hujson.Value, name, path string) {
	if v.Kind() == reflect.Map {
		item := reflect.New(v.Type().Elem()).Elem()
		d.value(item, jv, path)
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		v.SetMapIndex(reflect.ValueOf(name), item)
		return
	}
	for i := range v.NumField() {
		if key := Key(v.Type().Field(i)); key == name && key != NoKey {
			d.value(v.Field(i), jv, path)
			return
		}
	}
	keys := Keys(v.Type())
	before := len(d.problems)
	d.fail(d.lines[path], path, "found an unknown key, expected one of %s", strings.Join(keys, ", "))
	if len(d.problems) > before {
		d.problems[before].Hint = d.hint(name, keys)
	}
}

func (d *decoder) hint(name string, keys []string) string {
	if d.Hint != nil {
		return d.Hint(name, keys)
	}
	if near := Nearest(name, keys); near != "" {
		return `did you mean "` + near + `"?`
	}
	return ""
}

// expectation returns a description of the valid values of type t.
func (d *decoder) expectation(t reflect.Type) string {
	if d.Expect != nil {
		if text := d.Expect(t); text != "" {
			return text
		}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return d.expectation(t.Elem())
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Struct {
			return "an array of objects"
		}
		return "an array of strings"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number of at least 1"
	case reflect.Float64:
		return "a positive number"
	default:
		return "a string"
	}
}

// NoKey is the Key of a field that files do not contain.
const NoKey = "-"

// Key returns the name of a struct's field in a file.
func Key(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// Keys returns the keys of a struct, in the order of its fields.
func Keys(t reflect.Type) []string {
	keys := make([]string, 0, t.NumField())
	for f := range t.Fields() {
		if key := Key(f); key != NoKey {
			keys = append(keys, key)
		}
	}
	return keys
}
