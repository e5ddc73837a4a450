package linediff_test

import (
	"slices"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/linediff"
)

// apply turns a into what the changes make of it, with lines of b.
func apply(a, b []int, changes []linediff.Change) []int {
	var out []int
	at := 0
	for _, c := range changes {
		out = append(out, a[at:c.A]...)
		out = append(out, b[c.B:c.B+c.Ins]...)
		at = c.A + c.Del
	}
	return append(out, a[at:]...)
}

func lines(b []byte) []int {
	out := make([]int, len(b))
	for i, c := range b {
		out[i] = int(c % 8)
	}
	return out
}

// FuzzChanges checks that a script makes the second sequence of the first, and that no
// line is both deleted and inserted in the same place for nothing.
func FuzzChanges(f *testing.F) {
	f.Add([]byte("abcabba"), []byte("cbabac"), false)
	f.Add([]byte(""), []byte("x"), true)
	f.Add([]byte("aaaaaaaaaaaaaaaaaaaaaaaa"), []byte("aaaabaaaaaaaaaaaaaaabaaa"), false)
	f.Fuzz(func(t *testing.T, x, y []byte, minimal bool) {
		a, b := lines(x), lines(y)
		changes, err := linediff.Changes(a, b, linediff.Options{Minimal: minimal})
		if err != nil {
			t.Fatal(err)
		}
		if got := apply(a, b, changes); !slices.Equal(got, b) {
			t.Fatalf("%v and %v give %v, which makes %v", a, b, changes, got)
		}
		for i, c := range changes {
			if c.Del == 0 && c.Ins == 0 {
				t.Fatalf("change %d of %v is empty", i, changes)
			}
		}
	})
}

func Test_A_Comparison_Takes_Fuel(t *testing.T) {
	t.Parallel()
	a, b := make([]int, 3000), make([]int, 3000)
	for i := range a {
		a[i], b[i] = i%7, i*i%7
	}
	spent := 0
	if _, err := linediff.Changes(a, b, linediff.Options{Spend: func(n int) error { spent += n; return nil }}); err != nil {
		t.Fatal(err)
	}
	if spent < 100 {
		t.Errorf("spent %d", spent)
	}
}
