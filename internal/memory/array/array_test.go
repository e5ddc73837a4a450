package array_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/array"
)

func Test_An_Indexed_Array_May_Have_Holes(t *testing.T) {
	t.Parallel()
	a := array.NewIndexed([]string{"a", "b"}, 1)
	a.Set(2, "c")
	a.Set(100, "far")
	a.Set(50, "between")
	a.Unset(1)
	a.Unset(99)
	var keys []int64
	for j := range a.Len() {
		keys = append(keys, a.Key(j))
	}
	if !slices.Equal(keys, []int64{0, 2, 50, 100}) || !slices.Equal(a.List(), []string{"a", "c", "between", "far"}) || a.End() != 101 {
		t.Errorf("keys %v, values %q, end %d", keys, a.List(), a.End())
	}
	if s, ok := a.At(1); ok || s != "" {
		t.Errorf("element 1: %q, %v", s, ok)
	}
	if s, ok := a.At(50); !ok || s != "between" {
		t.Errorf("element 50: %q, %v", s, ok)
	}
	for _, i := range []int64{0, 2, 50, 100} {
		a.Unset(i)
	}
	a.Set(0, "again")
	if a.Key(0) != 0 || a.Len() != 1 {
		t.Errorf("after the last element: key %d of %d", a.Key(0), a.Len())
	}
}

func Test_The_Highest_Index_Is_The_End(t *testing.T) {
	t.Parallel()
	a := array.NewIndexed(nil, 1)
	a.Set(math.MaxInt64, "last")
	if a.End() != math.MaxInt64 {
		t.Errorf("end %d", a.End())
	}
}

func Test_A_Clone_Has_Its_Own_Elements(t *testing.T) {
	t.Parallel()
	a, b := array.NewIndexed([]string{"a"}, 1), array.NewAssoc(1)
	b.Set("k", "v")
	c, d := a.Clone(2), b.Clone(2)
	c.Set(0, "changed")
	d.Set("k", "changed")
	d.Set("more", "x")
	if s, _ := a.At(0); s != "a" || c.Epoch != 2 {
		t.Errorf("the indexed array has %q", s)
	}
	if s, _ := b.At("k"); s != "v" || b.Len() != 1 || d.Epoch != 2 {
		t.Errorf("the associative array has %q of %d", s, b.Len())
	}
}

func Test_A_Nil_Array_Has_No_Elements(t *testing.T) {
	t.Parallel()
	var a *array.Indexed
	var b *array.Assoc
	_, ok := a.At(0)
	_, found := b.At("k")
	if ok || found || a.Len()+b.Len() != 0 || a.List() != nil || b.Keys(1) != nil || a.End() != 0 {
		t.Error("there are elements")
	}
}

func Test_Keys_Have_The_Order_Of_Bash(t *testing.T) {
	t.Parallel()
	a := array.NewAssoc(1)
	for _, k := range []string{"one", "two", "three", "four", "five"} {
		a.Set(k, k)
	}
	a.Unset("two")
	// bash -c 'declare -A a; for k in one two three four five; do a[$k]=$k; done; unset a[two]; echo ${!a[@]}'
	if got, want := a.Keys(1), []string{"four", "three", "one", "five"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if a.Bytes() != 2*(4+4+5+3) {
		t.Errorf("%d bytes", a.Bytes())
	}
}
