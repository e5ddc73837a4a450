package array

import (
	"maps"
	"slices"
)

// Assoc is the elements of an associative array; a nil Assoc is empty and cannot be written to. They are listed in the order of
// bash's hash table, because scripts and their tests show it.
type Assoc struct {
	m     map[string]assocValue
	seq   int      // counts insertions
	order []string // keys as listed; nil: not known
	Epoch uint64   // of the process that owns it
}

type assocValue struct {
	s   string
	seq int
}

// NewAssoc returns an array without elements.
func NewAssoc(epoch uint64) *Assoc { return &Assoc{m: map[string]assocValue{}, Epoch: epoch} }

// Clone returns a copy that belongs to an epoch.
func (a *Assoc) Clone(epoch uint64) *Assoc {
	return &Assoc{m: maps.Clone(a.m), seq: a.seq, order: a.order, Epoch: epoch}
}

// At returns the element of a key.
func (a *Assoc) At(key string) (string, bool) {
	if a == nil {
		return "", false
	}
	v, ok := a.m[key]
	return v.s, ok
}

// Set sets the element of a key.
func (a *Assoc) Set(key, s string) {
	v, ok := a.m[key]
	if !ok {
		a.seq++
		v.seq = a.seq
		a.order = nil
	}
	v.s = s
	a.m[key] = v
}

// Unset removes a key, if it is there.
func (a *Assoc) Unset(key string) {
	if _, ok := a.m[key]; ok {
		delete(a.m, key)
		a.order = nil
	}
}

// Len returns the number of elements.
func (a *Assoc) Len() int {
	if a == nil {
		return 0
	}
	return len(a.m)
}

// Keys returns the keys in bash's order; they must not be changed. Only the owner, whose epoch it is, stores the
// list for the next call.
func (a *Assoc) Keys(epoch uint64) []string {
	if a == nil || len(a.m) == 0 {
		return nil
	}
	if a.order != nil {
		return a.order
	}
	type item struct {
		key    string
		bucket uint32
		seq    int
	}
	// bash begins with 1024 buckets and takes four times as many when there are twice as
	// many entries; the newest entry of a bucket comes first.
	buckets := uint32(1024)
	for uint32(len(a.m)) >= buckets*2 {
		buckets *= 4
	}
	items := make([]item, 0, len(a.m))
	for k, v := range a.m {
		items = append(items, item{k, hashString(k) & (buckets - 1), v.seq})
	}
	slices.SortFunc(items, func(x, y item) int {
		if x.bucket != y.bucket {
			return int(x.bucket) - int(y.bucket)
		}
		return y.seq - x.seq
	})
	keys := make([]string, len(items))
	for i, it := range items {
		keys[i] = it.key
	}
	if a.Epoch == epoch {
		a.order = keys
	}
	return keys
}

// hashString is the FNV-1 hash that bash uses.
func hashString(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h *= 16777619
		h ^= uint32(s[i])
	}
	return h
}

// Bytes returns the sum of lengths of keys and values.
func (a *Assoc) Bytes() int {
	n := 0
	for k, v := range a.m {
		n += len(k) + len(v.s)
	}
	return n
}
