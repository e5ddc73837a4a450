// Package array holds the elements of the shell's arrays. A process owns the arrays of its epoch and clones any other array
// before it writes to it.
package array

import (
	"slices"
	"sort"
)

// Indexed is the elements of an indexed array; a nil Indexed is empty and cannot be written to. Without holes keys is nil and
// element i is vals[i]; otherwise vals[j] has the index keys[j], which ascend.
type Indexed struct {
	vals  []string
	keys  []int64
	Epoch uint64 // of the process that owns it
}

// NewIndexed returns an array of the values, which it takes over.
func NewIndexed(vals []string, epoch uint64) *Indexed { return &Indexed{vals: vals, Epoch: epoch} }

// Clone returns a copy that belongs to an epoch.
func (a *Indexed) Clone(epoch uint64) *Indexed {
	return &Indexed{vals: slices.Clone(a.vals), keys: slices.Clone(a.keys), Epoch: epoch}
}

// Find returns the position of index i among the elements, or where it would be.
func (a *Indexed) Find(i int64) (at int, ok bool) {
	if a.keys == nil {
		return int(min(i, int64(len(a.vals)))), i < int64(len(a.vals))
	}
	at = sort.Search(len(a.keys), func(j int) bool { return a.keys[j] >= i })
	return at, at < len(a.keys) && a.keys[at] == i
}

// At returns the element at index i ≥ 0.
func (a *Indexed) At(i int64) (string, bool) {
	if a == nil {
		return "", false
	}
	if at, ok := a.Find(i); ok {
		return a.vals[at], true
	}
	return "", false
}

// Moves is the cost of making or removing element i in units of work: the elements behind it move.
func (a *Indexed) Moves(i int64) int {
	if a.keys == nil && i >= int64(len(a.vals))-1 && i <= int64(len(a.vals)) {
		return 0
	}
	at, _ := a.Find(i)
	return (len(a.vals) - at) >> 4
}

// Set sets the element at index i ≥ 0.
func (a *Indexed) Set(i int64, s string) {
	at, ok := a.Find(i)
	switch {
	case ok:
		a.vals[at] = s
	case a.keys == nil && i == int64(len(a.vals)):
		a.vals = append(a.vals, s)
	default:
		a.makeSparse()
		a.keys = slices.Insert(a.keys, at, i)
		a.vals = slices.Insert(a.vals, at, s)
	}
}

func (a *Indexed) makeSparse() {
	if a.keys != nil {
		return
	}
	a.keys = make([]int64, len(a.vals), len(a.vals)+1)
	for j := range a.keys {
		a.keys[j] = int64(j)
	}
}

// Unset removes the element at index i, if it is there.
func (a *Indexed) Unset(i int64) {
	at, ok := a.Find(i)
	if !ok {
		return
	}
	if a.keys == nil && at == len(a.vals)-1 {
		a.vals = a.vals[:at]
		return
	}
	a.makeSparse()
	a.keys = slices.Delete(a.keys, at, at+1)
	a.vals = slices.Delete(a.vals, at, at+1)
	if len(a.keys) == 0 {
		a.keys, a.vals = nil, nil
	}
}

// Len returns the number of elements.
func (a *Indexed) Len() int {
	if a == nil {
		return 0
	}
	return len(a.vals)
}

// Key returns the index of the j-th element.
func (a *Indexed) Key(j int) int64 {
	if a.keys == nil {
		return int64(j)
	}
	return a.keys[j]
}

// End returns the highest index plus one, 0 for no elements.
func (a *Indexed) End() int64 {
	if n := a.Len(); n > 0 {
		return max(a.Key(n-1), a.Key(n-1)+1) // The highest index of all has none behind it.
	}
	return 0
}

// List returns the elements; they must not be changed.
func (a *Indexed) List() []string {
	if a == nil {
		return nil
	}
	return a.vals
}
