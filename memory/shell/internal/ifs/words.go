package ifs

// Words cuts a line into words as the read builtin does.
type Words struct {
	set     *Set
	line    string
	escaped []bool
	pos     int
}

// NewWords returns the words of a line, without the white space before the first. A byte whose element in escaped
// is set separates nothing; nil means no such byte.
func NewWords(set *Set, line string, escaped []bool) *Words {
	w := &Words{set: set, line: line, escaped: escaped}
	w.skipSpace()
	return w
}

// IsEmpty reports whether no word is left.
func (w *Words) IsEmpty() bool { return w.pos >= len(w.line) }

// class returns the class of the character at i and its length in bytes.
func (w *Words) class(i int) (uint8, int) {
	if w.escaped != nil && w.escaped[i] {
		return 0, 1
	}
	return w.set.Class(w.line, i)
}

func (w *Words) skipSpace() {
	for w.pos < len(w.line) {
		k, n := w.class(w.pos)
		if k != Space {
			return
		}
		w.pos += n
	}
}

// Next returns the next word and skips its delimiter.
func (w *Words) Next() string {
	start := w.pos
	for w.pos < len(w.line) {
		k, n := w.class(w.pos)
		if k == 0 {
			w.pos += n
			continue
		}
		word := Cut(w.line, start, w.pos)
		w.skipSpace()
		if w.pos < len(w.line) {
			if k, n := w.class(w.pos); k == Other {
				w.pos += n
				w.skipSpace()
			}
		}
		return word
	}
	return Cut(w.line, start, len(w.line))
}

// Rest returns all that is left: a single word without its delimiter, or several up to the white space at the end.
func (w *Words) Rest() string {
	rest := w.pos
	word := w.Next()
	if w.IsEmpty() {
		return word
	}
	end := len(w.line)
	for end > rest {
		if k, _ := w.class(end - 1); k != Space {
			break
		}
		end--
	}
	w.pos = len(w.line)
	return Cut(w.line, rest, end)
}
