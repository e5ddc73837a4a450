package interpreter

import "unsafe"

// bytesOf returns the bytes of a text for reading only.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// tail is the last text that was made by appending to a long one. It grows in place while the program appends to it: no other
// value uses the bytes behind a text.
type tail struct{ b []byte }

// tailLength is the length in bytes from which a text is copied to the tail.
const tailLength = 256

// appendText returns s+more.
func (m *machine) appendText(s, more string) string {
	if len(s) < tailLength {
		m.taken(len(s) + len(more))
		return s + more
	}
	t := &m.tail
	if len(t.b) != len(s) || unsafe.SliceData(t.b) != unsafe.StringData(s) {
		m.grow(2*len(s) + len(more))
		m.spend(len(s) >> 6)
		t.b = append(make([]byte, 0, 2*len(s)+len(more)), s...)
	} else if len(s)+len(more) > cap(t.b) {
		m.grow(2*len(s) + len(more))
		m.spend(len(s) >> 6)
		t.b = append(make([]byte, 0, 2*len(s)+len(more)), s...)
	}
	t.b = append(t.b, more...)
	return unsafe.String(unsafe.SliceData(t.b), len(t.b))
}

// taken counts a new text of n bytes.
func (m *machine) taken(n int) {
	if n >= 64 {
		m.grow(n)
		m.spend(n >> 6)
	}
}
