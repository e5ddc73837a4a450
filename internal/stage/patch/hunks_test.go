package patch

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
)

// FuzzHunks checks that the edits between two texts turn one into the other, and that no
// edit starts with a line that both sides have.
func FuzzHunks(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nc\nd\n")
	f.Add("", "x")
	f.Add("x\ny", "x\ny\n")
	f.Add("a\na\na\nb\n", "b\na\na\na\n")
	f.Fuzz(func(t *testing.T, before, after string) {
		a, b := splitLines([]byte(before)), splitLines([]byte(after))
		var out [][]byte
		at := 0
		for _, e := range diffLines(a, b) {
			if e.from < at || e.to < e.from || e.newTo < e.newFrom {
				t.Fatalf("edit %+v after line %d", e, at)
			}
			out = append(out, a[at:e.from]...)
			if len(out) != e.newFrom {
				t.Fatalf("edit %+v begins at new line %d", e, len(out))
			}
			out = append(out, b[e.newFrom:e.newTo]...)
			at = e.to
		}
		out = append(out, a[at:]...)
		if got := string(bytes.Join(out, nil)); got != after {
			t.Fatalf("%q becomes %q, not %q", before, got, after)
		}
	})
}

// FuzzQuoteName checks that a quoted name is one printable line, and that it can
// be read back.
func FuzzQuoteName(f *testing.F) {
	f.Add("plain name")
	f.Add("new\nline\x1b[2J\xff\"\\")
	f.Fuzz(func(t *testing.T, name string) {
		q := Quote(name)
		if strings.ContainsFunc(q, func(r rune) bool { return r < ' ' || r >= 0x7f }) {
			t.Fatalf("%q", q)
		}
		if q == name {
			return
		}
		back, err := strconv.Unquote(q)
		if err != nil || back != name {
			t.Fatalf("%q from %q: %v", back, q, err)
		}
	})
}

func Test_A_Long_Difference_Is_Bounded(t *testing.T) {
	t.Parallel()
	var a, b bytes.Buffer
	for i := range 200_000 {
		a.WriteString(strconv.Itoa(i) + "\n")
		b.WriteString(strconv.Itoa(i*7) + "\n")
	}
	edits := diffLines(splitLines(a.Bytes()), splitLines(b.Bytes()))
	if len(edits) != 1 || edits[0].newTo != 200_000 {
		t.Errorf("%d edits", len(edits))
	}
}
