// Package interpreter runs the language of jq 1.7 on values that keep the order of their keys.
//
// A [Program] is compiled once and run for each input. It reaches nothing but what its
// [Options] give it: inputs, variables, modules and the clock.
package interpreter

import (
	"math"
	"slices"
	"sort"
	"strings"
)

// Value is a JSON value: nil, bool, float64, *Number, string, *Array or *Object.
// Values are never changed once they are made.
type Value any

// Number is a number whose text says more than a float64 holds.
type Number struct {
	F    float64
	Text string // canonical, as decNumber writes it
}

// Array is a list of values.
type Array struct {
	v    []Value
	used *int // how many elements of v's memory are taken; the value that ends there may append
}

// NewArray returns an array of v, which belongs to it from now on.
func NewArray(v ...Value) *Array { return &Array{v: v} }

// Len returns the number of elements.
func (a *Array) Len() int { return len(a.v) }

// At returns element i.
func (a *Array) At(i int) Value { return a.v[i] }

// plus returns a with more elements behind. It shares a's memory unless another array has already appended there, so that
// building an array one by one is not quadratic.
func (a *Array) plus(more ...Value) *Array {
	if len(more) == 0 {
		return a
	}
	n := len(a.v) + len(more)
	if a.used != nil && *a.used == len(a.v) && cap(a.v) >= n {
		*a.used = n
		return &Array{append(a.v, more...), a.used}
	}
	v := make([]Value, len(a.v), n+n/2+4)
	copy(v, a.v)
	return &Array{append(v, more...), &n}
}

// with returns a with element i, which exists, changed.
func (a *Array) with(i int, v Value) *Array {
	c := slices.Clone(a.v)
	c[i] = v
	return &Array{v: c}
}

// Object is a set of keys with values that remembers in which order the keys came.
type Object struct {
	keys  []string       // bounded: who makes an object charges for its keys
	vals  []Value        // bounded: as the keys
	index map[string]int // bounded: as the keys; of keys in all objects that share the memory; nil: look through them
	used  *int
}

// smallObject is the number of keys up to which a lookup is linear.
const smallObject = 8

// NewObject returns an object without keys.
func NewObject() *Object { return &Object{} }

// Len returns the number of keys.
func (o *Object) Len() int { return len(o.keys) }

// Keys returns the keys in their order; the slice must not be changed.
func (o *Object) Keys() []string { return o.keys }

// Get returns the value of a key.
func (o *Object) Get(key string) (Value, bool) {
	if i := o.find(key); i >= 0 {
		return o.vals[i], true
	}
	return nil, false
}

func (o *Object) find(key string) int {
	if len(o.keys) <= smallObject {
		return slices.Index(o.keys, key)
	}
	if o.index == nil {
		o.index = make(map[string]int, len(o.keys))
		for i, k := range o.keys {
			o.index[k] = i
		}
	}
	if i, ok := o.index[key]; ok && i < len(o.keys) && o.keys[i] == key {
		return i
	}
	return -1
}

// With returns o with a key set; a new key is the last.
func (o *Object) With(key string, v Value) *Object {
	if i := o.find(key); i >= 0 {
		vals := slices.Clone(o.vals)
		vals[i] = v
		return &Object{o.keys, vals, o.index, o.used}
	}
	n := len(o.keys)
	if o.used != nil && *o.used == n && cap(o.keys) > n && cap(o.vals) > n {
		*o.used = n + 1
		if o.index != nil {
			o.index[key] = n
		}
		return &Object{append(o.keys, key), append(o.vals, v), o.index, o.used}
	}
	used := n + 1
	c := &Object{keys: make([]string, n, used+used/2+2), vals: make([]Value, n, used+used/2+2), used: &used}
	copy(c.keys, o.keys)
	copy(c.vals, o.vals)
	c.keys, c.vals = append(c.keys, key), append(c.vals, v)
	return c
}

// put sets a key of an object that is still being made.
func (o *Object) put(key string, v Value) {
	if i := o.find(key); i >= 0 {
		o.vals[i] = v
		return
	}
	if o.index != nil {
		o.index[key] = len(o.keys)
	}
	o.keys = append(o.keys, key)
	o.vals = append(o.vals, v)
}

// without returns o without a key.
func (o *Object) without(key string) *Object {
	at := o.find(key)
	if at < 0 {
		return o
	}
	c := &Object{}
	for i, k := range o.keys {
		if i != at {
			c.keys = append(c.keys, k)
			c.vals = append(c.vals, o.vals[i])
		}
	}
	return c
}

// sorted returns the keys in order of code points.
func (o *Object) sorted() []string {
	keys := slices.Clone(o.keys)
	sort.Strings(keys)
	return keys
}

// number returns the float64 that a number is.
func number(v Value) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, true
	case *Number:
		return n.F, true
	}
	return 0, false
}

// kind returns what jq calls the type of a value.
func kind(v Value) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64, *Number:
		return "number"
	case string:
		return "string"
	case *Array:
		return "array"
	}
	return "object"
}

// rank is the order of types: null, false, true, numbers, strings, arrays, objects.
func rank(v Value) int {
	switch v := v.(type) {
	case nil:
		return 0
	case bool:
		if v {
			return 2
		}
		return 1
	case float64, *Number:
		return 3
	case string:
		return 4
	case *Array:
		return 5
	}
	return 6
}

// compareNumbers takes NaN as below all numbers, itself too.
func compareNumbers(a, b Value) int {
	x, _ := number(a)
	y, _ := number(b)
	switch {
	case math.IsNaN(x):
		return -1
	case math.IsNaN(y):
		return 1
	case x < y:
		return -1
	case x > y:
		return 1
	}
	nx, okX := a.(*Number)
	ny, okY := b.(*Number)
	if okX && okY {
		return compareTexts(nx.Text, ny.Text)
	}
	return 0
}

// compareTexts orders whole numbers that are equal as float64.
func compareTexts(a, b string) int {
	if strings.ContainsAny(a+b, ".E") {
		return 0
	}
	negative := strings.HasPrefix(a, "-")
	a, b = strings.TrimLeft(a, "-0"), strings.TrimLeft(b, "-0")
	c := len(a) - len(b)
	if c == 0 {
		c = strings.Compare(a, b)
	}
	if negative {
		return -c
	}
	return c
}

// isTrue reports whether a value is neither null nor false.
func isTrue(v Value) bool { return v != nil && v != false }
