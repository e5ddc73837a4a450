package configimport

import (
	"slices"
	"strconv"
)

// object reads the keys of one JSON object. The first value of a wrong type ends the
// import, in draft.err: a list that is no list would silently restrict nothing. A nil
// object has no keys, and null is a key that is not there.
type object struct {
	d    *draft
	file string
	path string // key path of the object; empty at the top
	node node
	seen []string
}

func (d *draft) top(file string, n node) *object { return &object{d: d, file: file, node: n} }

func (o *object) join(key string) string {
	if o.path == "" {
		return key
	}
	return o.path + "." + key
}

// find returns the value at key, of one of the kinds, or nil.
func (o *object) find(key, expected string, kinds ...byte) *node {
	if o == nil {
		return nil
	}
	o.seen = append(o.seen, key)
	for i := range o.node.members {
		m := &o.node.members[i]
		if m.name != key || m.value.kind == 'n' {
			continue
		}
		if !slices.Contains(kinds, m.value.kind) {
			o.fail(m.value, o.join(key), expected)
			return nil
		}
		return &m.value
	}
	return nil
}

func (o *object) fail(n node, key, expected string) {
	if o.d.err == nil {
		o.d.err = fileErrorf(o.file, n.line, "%s: found %s, expected %s", oneLine(key), n, expected)
	}
}

func (o *object) source(n *node, key string) source {
	return source{file: o.file, line: n.line, key: o.join(key)}
}

func (o *object) object(key string) *object {
	n := o.find(key, "an object", '{')
	if n == nil {
		return nil
	}
	return &object{d: o.d, file: o.file, path: o.join(key), node: *n}
}

// list returns the strings at key.
func (o *object) list(key string) []item {
	return o.entries(key, "an array of strings", '"')
}

// numbers returns the numbers at key, as they are written.
func (o *object) numbers(key string) []item {
	return o.entries(key, "an array of numbers", '0')
}

func (o *object) entries(key, expected string, kind byte) []item {
	n := o.find(key, expected, '[')
	if n == nil {
		return nil
	}
	var out []item
	for i, e := range n.items {
		at := o.join(key) + "[" + strconv.Itoa(i) + "]"
		if e.kind != kind {
			o.fail(e, at, expected)
			return nil
		}
		out = append(out, item{value: e.text, from: source{file: o.file, line: e.line, key: at}})
	}
	o.d.count(o.file, n.line, len(out))
	return out
}

// objects returns the objects in the array at key.
func (o *object) objects(key string) []*object {
	n := o.find(key, "an array of objects", '[')
	if n == nil {
		return nil
	}
	var out []*object
	for i, e := range n.items {
		at := o.join(key) + "[" + strconv.Itoa(i) + "]"
		if e.kind != '{' {
			o.fail(e, at, "an object")
			return nil
		}
		out = append(out, &object{d: o.d, file: o.file, path: at, node: e})
	}
	o.d.count(o.file, n.line, len(out))
	return out
}

// scalar returns the string, number or boolean at key as text, or nil.
func (o *object) scalar(key, expected string, kinds ...byte) *item {
	n := o.find(key, expected, kinds...)
	if n == nil {
		return nil
	}
	return &item{value: n.text, from: o.source(n, key)}
}

func (o *object) text(key string) *item   { return o.scalar(key, "a string", '"') }
func (o *object) number(key string) *item { return o.scalar(key, "a number", '0') }
func (o *object) bool(key string) *item   { return o.scalar(key, "true or false", 't', 'f') }

// is reports whether it is a boolean that is true.
func (it *item) is(value string) bool { return it != nil && it.value == value }

// note says the same about each of keys that is there, whatever its value.
func (o *object) note(kind Kind, why, nearest string, keys ...string) {
	for _, key := range keys {
		n := o.find(key, "a value", '{', '[', '"', '0', 't', 'f')
		if n == nil || n.kind == 'f' || (n.kind == '[' && len(n.items) == 0) {
			continue
		}
		it := item{value: n.text, from: o.source(n, key)}
		o.d.say(it.lack(kind, why, nearest))
	}
}

// done names the keys that nobody has asked for.
func (o *object) done() {
	if o == nil {
		return
	}
	for _, m := range o.node.members {
		if !slices.Contains(o.seen, m.name) {
			it := item{from: source{file: o.file, line: m.line, key: o.join(m.name)}}
			o.d.say(it.lack(Unknown, "unknown key, ignored", ""))
		}
	}
}
