package configimport

import (
	"fmt"
	"slices"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
)

// maxItems bounds the entries in all lists of one import, because they are compared with each other.
const maxItems = 4096

// parse reads a file that holds an object, with or without comments. The error has code Invalid and is one line,
// "FILE:LINE: KEY: text".
func parse(file string, data []byte) (jsonc.Value, error) {
	v, problem := jsonc.Reader{}.Parse(file, data)
	if problem == nil {
		problem = v.Check()
	}
	if problem == nil && !v.IsObject() {
		p := v.Problem("", "found %s, expected an object", v.What())
		problem = &p
	}
	if problem != nil {
		return jsonc.Value{}, problem.Err()
	}
	return v, nil
}

// object reads the keys of one JSON object. The first value of a wrong type ends the import with draft.err,
// because a list of another type would silently restrict nothing. A nil object has no keys, and null counts as a
// missing key.
type object struct {
	d       *draft
	file    string
	path    string // key path of the object; empty at the top
	value   jsonc.Value
	members []jsonc.Member
	seen    []string
}

func (d *draft) top(file string, v jsonc.Value) *object { return d.object(file, "", v) }

func (d *draft) object(file, path string, v jsonc.Value) *object {
	return &object{d: d, file: file, path: path, value: v, members: v.Members()}
}

func (o *object) join(key string) string { return jsonc.JoinKey(o.path, key) }

// find returns the value at key, of one of the kinds, or nil.
func (o *object) find(key, expected string, kinds ...jsonc.Kind) *jsonc.Value {
	if o == nil {
		return nil
	}
	o.seen = append(o.seen, key)
	for _, m := range o.members {
		if m.Name != key || m.Value.Kind() == jsonc.Null {
			continue
		}
		if !slices.Contains(kinds, m.Value.Kind()) {
			o.fail(m.Value, o.join(key), expected)
			return nil
		}
		return &m.Value
	}
	return nil
}

func (o *object) fail(v jsonc.Value, key, expected string) {
	o.d.fail(source{file: o.file, line: v.Line(), key: key}, "found %s, expected %s", v.What(), expected)
}

// fail ends the import with a problem of a file. The first problem stays.
func (d *draft) fail(at source, format string, args ...any) {
	if d.err == nil {
		d.err = at.problem(format, args...).Err()
	}
}

func (s source) problem(format string, args ...any) jsonc.Problem {
	return jsonc.Problem{File: s.file, Line: s.line, Key: s.key, Text: fmt.Sprintf(format, args...)}
}

func (o *object) source(v *jsonc.Value, key string) source {
	return source{file: o.file, line: v.Line(), key: o.join(key)}
}

func (o *object) object(key string) *object {
	n := o.find(key, "an object", jsonc.Object)
	if n == nil {
		return nil
	}
	return o.d.object(o.file, o.join(key), *n)
}

// list returns the strings at key.
func (o *object) list(key string) []item {
	return o.entries(key, "an array of strings", jsonc.String)
}

// numbers returns the numbers at key, as they are written.
func (o *object) numbers(key string) []item {
	return o.entries(key, "an array of numbers", jsonc.Number)
}

func (o *object) entries(key, expected string, kind jsonc.Kind) []item {
	n := o.find(key, expected, jsonc.Array)
	if n == nil {
		return nil
	}
	var out []item
	for i, e := range n.Elements() {
		at := jsonc.IndexKey(o.join(key), i)
		if e.Kind() != kind {
			o.fail(e, at, expected)
			return nil
		}
		out = append(out, item{value: e.Scalar(), from: source{file: o.file, line: e.Line(), key: at}})
	}
	o.d.count(o.source(n, key), len(out))
	return out
}

// objects returns the objects in the array at key.
func (o *object) objects(key string) []*object {
	n := o.find(key, "an array of objects", jsonc.Array)
	if n == nil {
		return nil
	}
	var out []*object
	for i, e := range n.Elements() {
		at := jsonc.IndexKey(o.join(key), i)
		if !e.IsObject() {
			o.fail(e, at, "an object")
			return nil
		}
		out = append(out, o.d.object(o.file, at, e))
	}
	o.d.count(o.source(n, key), len(out))
	return out
}

// scalar returns the string, number or boolean at key as text, or nil.
func (o *object) scalar(key, expected string, kinds ...jsonc.Kind) *item {
	n := o.find(key, expected, kinds...)
	if n == nil {
		return nil
	}
	return &item{value: n.Scalar(), from: o.source(n, key)}
}

func (o *object) text(key string) *item   { return o.scalar(key, "a string", jsonc.String) }
func (o *object) number(key string) *item { return o.scalar(key, "a number", jsonc.Number) }
func (o *object) bool(key string) *item {
	return o.scalar(key, "true or false", jsonc.True, jsonc.False)
}

// is reports whether the item exists and has this value, such as "true" for a boolean.
func (it *item) is(value string) bool { return it != nil && it.value == value }

// note reports the same lack for each of keys whose value is neither missing, false nor an empty list.
func (o *object) note(kind Kind, why, nearest string, keys ...string) {
	for _, key := range keys {
		n := o.find(key, "a value", jsonc.Object, jsonc.Array, jsonc.String, jsonc.Number, jsonc.True, jsonc.False)
		if n == nil || n.Kind() == jsonc.False || (n.Kind() == jsonc.Array && len(n.Elements()) == 0) {
			continue
		}
		it := item{value: n.Scalar(), from: o.source(n, key)}
		o.d.say(it.lack(kind, why, nearest))
	}
}

// done reports the keys that no reader has requested as unknown.
func (o *object) done() {
	if o == nil {
		return
	}
	for _, m := range o.members {
		if !slices.Contains(o.seen, m.Name) {
			it := item{from: source{file: o.file, line: m.Line, key: o.join(m.Name)}}
			o.d.say(it.lack(Unknown, "unknown key, ignored", ""))
		}
	}
}
