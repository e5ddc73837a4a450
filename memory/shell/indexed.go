package shell

import (
	"slices"
	"sort"
)

// indexed are the elements of an array: without holes while keys is nil, then element i
// is vals[i]; otherwise vals[j] has the index keys[j], which ascend.
type indexed struct {
	vals  []string
	keys  []int64
	epoch uint64
}

func (a *indexed) clone(epoch uint64) *indexed {
	return &indexed{vals: slices.Clone(a.vals), keys: slices.Clone(a.keys), epoch: epoch}
}

// find returns where index i is, or would be.
func (a *indexed) find(i int64) (at int, ok bool) {
	if a.keys == nil {
		return int(min(i, int64(len(a.vals)))), i < int64(len(a.vals))
	}
	at = sort.Search(len(a.keys), func(j int) bool { return a.keys[j] >= i })
	return at, at < len(a.keys) && a.keys[at] == i
}

// at returns the element at index i ≥ 0.
func (a *indexed) at(i int64) (string, bool) {
	if a == nil {
		return "", false
	}
	if at, ok := a.find(i); ok {
		return a.vals[at], true
	}
	return "", false
}

// moves is about what it costs to make or remove element i, in fuel: those behind it move.
func (a *indexed) moves(i int64) int {
	if a.keys == nil && i >= int64(len(a.vals))-1 && i <= int64(len(a.vals)) {
		return 0
	}
	at, _ := a.find(i)
	return (len(a.vals) - at) >> 4
}

func (a *indexed) set(i int64, s string) {
	at, ok := a.find(i)
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

func (a *indexed) makeSparse() {
	if a.keys != nil {
		return
	}
	a.keys = make([]int64, len(a.vals), len(a.vals)+1)
	for j := range a.keys {
		a.keys[j] = int64(j)
	}
}

func (a *indexed) unset(i int64) {
	at, ok := a.find(i)
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

func (a *indexed) len() int {
	if a == nil {
		return 0
	}
	return len(a.vals)
}

// key returns the index of the j-th element.
func (a *indexed) key(j int) int64 {
	if a.keys == nil {
		return int64(j)
	}
	return a.keys[j]
}

// end returns one more than the highest index.
func (a *indexed) end() int64 {
	if n := a.len(); n > 0 {
		return max(a.key(n-1), a.key(n-1)+1) // Behind the last index there is none.
	}
	return 0
}

// list returns the elements; they must not be changed.
func (a *indexed) list() []string {
	if a == nil {
		return nil
	}
	return a.vals
}
