package jsonc

import (
	"bytes"
	"fmt"

	"github.com/tailscale/hujson"
)

// Kind is the kind of a JSON value.
type Kind byte

// The kinds, each represented by a byte with which such a value begins.
const (
	Object Kind = '{'
	Array  Kind = '['
	String Kind = '"'
	Number Kind = '0'
	True   Kind = 't'
	False  Kind = 'f'
	Null   Kind = 'n'
)

// Value is a value of a file, not yet decoded. A field of this type takes any value, so that a caller can decode it
// later or walk through it with Members and Elements. The zero Value means that the file does not have the value.
type Value struct {
	doc *document
	key string // the key path for problems; empty: the whole file
	at  hujson.Value
}

// Member is a name of an object with its value.
type Member struct {
	Name  string
	Line  int // of the name, from 1
	Value Value
}

// Kind returns the kind of the value; 0: the file does not have it.
func (v Value) Kind() Kind {
	if v.at.Value == nil {
		return 0
	}
	return Kind(v.at.Value.Kind())
}

// Members returns the members of an object in the order of the file; nil: the value is not an object. Check detects
// repeated names.
func (v Value) Members() []Member {
	obj, ok := v.at.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	out := make([]Member, len(obj.Members))
	for i, m := range obj.Members {
		name := literalText(m.Name)
		out[i] = Member{Name: name, Line: v.doc.line(m.Name.StartOffset), Value: Value{doc: v.doc, key: JoinKey(v.key, name), at: m.Value}}
	}
	return out
}

// Elements returns the elements of an array; nil: the value is not an array, or is empty.
func (v Value) Elements() []Value {
	arr, ok := v.at.Value.(*hujson.Array)
	if !ok {
		return nil
	}
	out := make([]Value, len(arr.Elements))
	for i, e := range arr.Elements {
		out[i] = Value{doc: v.doc, key: IndexKey(v.key, i), at: e}
	}
	return out
}

// Check checks every value inside v for two problems that Decode reports but a walk with Members does not: a repeated
// name in an object, for which parsers choose different values, and half of a surrogate pair, which would become
// another character. It returns the first problem, or nil.
func (v Value) Check() *Problem {
	if v.doc == nil {
		return nil
	}
	p := v.doc.check(v.at)
	if p != nil {
		p.Key = clipKey(joinPath(v.key, p.Key))
	}
	return p
}

// check is Value.Check with keys relative to at. It builds a path only for a problem, because a hostile file may have a
// long name with many entries.
func (d *document) check(at hujson.Value) *Problem {
	switch t := at.Value.(type) {
	case *hujson.Object:
		first := map[string]int{}
		for _, m := range t.Members {
			name, line := literalText(m.Name), d.line(m.Name.StartOffset)
			if p := d.check(m.Name); p != nil {
				return p
			}
			if before, ok := first[name]; ok {
				return d.problem(line, name, "found a second time, expected once (first on line %d)", before)
			}
			first[name] = line
			if p := d.check(m.Value); p != nil {
				p.Key = joinPath(name, p.Key)
				return p
			}
		}
	case *hujson.Array:
		for i, e := range t.Elements {
			if p := d.check(e); p != nil {
				p.Key = joinPath(IndexKey("", i), p.Key)
				return p
			}
		}
	case hujson.Literal:
		if t.Kind() == '"' && hasLoneSurrogate(t) {
			return d.surrogate(d.line(at.StartOffset), "", t)
		}
	}
	return nil
}

// literalText returns the text of a string.
func literalText(v hujson.Value) string {
	lit, _ := v.Value.(hujson.Literal)
	return lit.String()
}

// Scalar returns the text of a string, or a number, true or false as the file writes it; empty for any other value.
func (v Value) Scalar() string {
	lit, ok := v.at.Value.(hujson.Literal)
	if !ok || lit.Kind() == 'n' {
		return ""
	}
	return lit.String()
}

// IsPresent reports whether the file has this value.
func (v Value) IsPresent() bool { return v.doc != nil }

// Line returns the line on which the value begins, from 1; 0: the file does not have the value.
func (v Value) Line() int {
	if v.doc == nil {
		return 0
	}
	return v.doc.line(v.at.StartOffset)
}

// IsObject reports whether the value is an object.
func (v Value) IsObject() bool { return v.Kind() == Object }

// Text returns the value if it is a string.
func (v Value) Text() (string, bool) {
	lit, ok := v.at.Value.(hujson.Literal)
	if !ok || lit.Kind() != '"' || hasLoneSurrogate(lit) {
		return "", false
	}
	return lit.String(), true
}

// Problem returns a problem of the value, or of its member key if key is not empty.
func (v Value) Problem(key, format string, args ...any) Problem {
	if v.doc == nil {
		return Problem{Key: clipKey(JoinKey(v.key, key)), Text: fmt.Sprintf(format, args...)}
	}
	return *v.doc.problem(v.Line(), JoinKey(v.key, key), format, args...)
}

// Alone returns the value as a separate file, in which it has the same line as in this file.
func (v Value) Alone() []byte {
	if v.doc == nil {
		return nil
	}
	return append(bytes.Repeat([]byte("\n"), v.Line()-1), bytes.TrimSpace(v.at.Pack())...)
}

// What returns a description of the value.
func (v Value) What() string {
	switch t := v.at.Value.(type) {
	case *hujson.Object:
		return "an object"
	case *hujson.Array:
		return "an array"
	case hujson.Literal:
		if t.Kind() == '"' && v.doc != nil && v.doc.quiet {
			return "a string"
		}
		if t.Kind() == '"' {
			return Clip(t.String())
		}
		return string(t[:min(len(t), maxClip)])
	}
	return "nothing"
}
