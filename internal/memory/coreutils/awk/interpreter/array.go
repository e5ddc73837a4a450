package interpreter

import (
	"math"
	"strconv"
)

// array is an associative array that keeps the order of insertion.
type array struct {
	elems map[string]*element
	order []*element // nil where one was deleted
	live  int

	// Elements whose keys are small whole numbers are stored here and not in elems, as long as most of the slots are in use. Most
	// arrays are used like that, and a lookup here needs no hash.
	dense []*element
	taken int // of dense
}

// element is the entry of an array under a key: a value, or another array.
type element struct {
	value
	sub *array
	key string
	at  int
}

func newArray() *array { return &array{elems: map[string]*element{}} }

// denseKey returns the number that a key spells, if dense can hold that number.
func denseKey[T string | []byte](key T) (int, bool) {
	if len(key) == 0 || len(key) > 9 || key[0] == '0' && len(key) > 1 {
		return 0, false
	}
	n := 0
	for i := range len(key) {
		d := key[i] - '0'
		if d > 9 {
			return 0, false
		}
		n = n*10 + int(d)
	}
	return n, true
}

// findKey returns the element of a key, nil for none.
func findKey[T string | []byte](a *array, key T) *element {
	if n, ok := denseKey(key); ok && n < len(a.dense) {
		if e := a.dense[n]; e != nil {
			return e
		}
	}
	return a.elems[string(key)]
}

// find returns the element of a key, nil for none.
func (a *array) find(key string) *element { return findKey(a, key) }

// at returns the element of a key, which is made when it is missing. key may be a piece of
// something that changes or is long: it is copied then.
func (m *machine) at(a *array, key []byte) *element {
	if e := findKey(a, key); e != nil {
		return e
	}
	return m.insert(a, string(key))
}

// atText is at for a key that is a text already.
func (m *machine) atText(a *array, key string) *element {
	if e := findKey(a, key); e != nil {
		return e
	}
	return m.insert(a, string(append([]byte(nil), key...)))
}

// elementCost is the approximate size of an element without its key, in bytes.
const elementCost = 128

func (m *machine) insert(a *array, key string) *element {
	m.grow(len(key) + elementCost)
	m.spend(2)
	e := &element{key: key, at: len(a.order)}
	a.put(e)
	a.order = append(a.order, e)
	a.live++
	return e
}

// put makes a new element known by its key.
func (a *array) put(e *element) {
	n, ok := denseKey(e.key)
	if !ok || n > 2*a.taken+64 {
		a.elems[e.key] = e
		return
	}
	for len(a.dense) <= n {
		a.dense = append(a.dense, nil)
	}
	a.dense[n] = e
	a.taken++
}

func (a *array) remove(key string) {
	e := a.find(key)
	if e == nil {
		return
	}
	if n, ok := denseKey(key); ok && n < len(a.dense) && a.dense[n] == e {
		a.dense[n] = nil
		a.taken--
	} else {
		delete(a.elems, key)
	}
	a.order[e.at] = nil
	if a.live--; len(a.order) > 32 && a.live < len(a.order)/2 {
		kept := a.order[:0]
		for _, e := range a.order {
			if e != nil {
				e.at = len(kept)
				kept = append(kept, e)
			}
		}
		clear(a.order[len(kept):])
		a.order = kept
	}
}

func (a *array) clear() { *a = array{elems: map[string]*element{}} }

// elements returns the elements in order.
func (m *machine) elements(a *array) []*element {
	m.taken(8 * a.live)
	list := make([]*element, 0, a.live)
	for _, e := range a.order {
		if e != nil {
			list = append(list, e)
		}
	}
	return list
}

// set makes or replaces an element.
func (m *machine) set(a *array, key string, v value) { m.atText(a, key).value = v }

// appendKey writes a value as a key.
func (m *machine) appendKey(b []byte, v *value) []byte {
	if v.k == number {
		return m.appendNumberKey(b, v.n)
	}
	return append(b, v.s...)
}

func (m *machine) appendNumberKey(b []byte, f float64) []byte {
	if i := int64(f); float64(i) == f && math.Abs(f) < 1e15 {
		return strconv.AppendInt(b, i, 10)
	}
	return m.appendNumber(b, f, m.convfmt)
}
