package shell

import (
	"maps"
	"slices"
)

// assoc are the elements of an associative array. They are listed in the order in which
// bash's table of hashes has them, because scripts and their tests show it.
type assoc struct {
	m     map[string]assocValue
	seq   int      // counts insertions
	order []string // keys as listed; nil: to be made
	epoch uint64
}

type assocValue struct {
	s   string
	seq int
}

func newAssoc(epoch uint64) *assoc { return &assoc{m: map[string]assocValue{}, epoch: epoch} }

func (a *assoc) clone(epoch uint64) *assoc {
	return &assoc{m: maps.Clone(a.m), seq: a.seq, order: a.order, epoch: epoch}
}

func (a *assoc) at(key string) (string, bool) {
	if a == nil {
		return "", false
	}
	v, ok := a.m[key]
	return v.s, ok
}

func (a *assoc) set(key, s string) {
	v, ok := a.m[key]
	if !ok {
		a.seq++
		v.seq = a.seq
		a.order = nil
	}
	v.s = s
	a.m[key] = v
}

func (a *assoc) unset(key string) {
	if _, ok := a.m[key]; ok {
		delete(a.m, key)
		a.order = nil
	}
}

func (a *assoc) len() int {
	if a == nil {
		return 0
	}
	return len(a.m)
}

// keys returns the keys in bash's order; they must not be changed. Only the owner
// keeps the list for the next time.
func (a *assoc) keys(epoch uint64) []string {
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
	if a.epoch == epoch {
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
