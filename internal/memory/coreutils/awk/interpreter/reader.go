package interpreter

import (
	"errors"
	"io"
	"strings"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// reader cuts a stream into records, which are pieces of the text that was read.
type reader struct {
	m     *machine
	in    io.Reader
	close func() int // ends the stream and what writes it

	buf  []byte
	text string
	pos  int
	end  error // the error that ended the input
}

// readSize is the size of one read, in bytes.
const readSize = 64 << 10

// fill appends more input to the rest; false at the end.
func (r *reader) fill() bool {
	if r.end != nil {
		return false
	}
	rest := r.text[r.pos:]
	// With records that are longer than one read, reading grows with them, so that
	// the time to join stays in proportion.
	size := max(readSize, len(rest))
	if len(r.buf) < size {
		r.buf = make([]byte, size)
	}
	n, err := r.in.Read(r.buf[:size])
	r.m.spend(1 + n>>6)
	r.m.grow(n + len(rest))
	if rest == "" {
		r.text = string(r.buf[:n])
	} else {
		var b strings.Builder
		b.Grow(len(rest) + n)
		b.WriteString(rest)
		b.Write(r.buf[:n])
		r.text = b.String()
	}
	r.pos = 0
	if err != nil {
		r.end = err
	}
	return n > 0 || err == nil
}

// failed returns why reading failed; nil for the end of the stream.
func (r *reader) failed() error {
	if r.end == nil || errors.Is(r.end, io.EOF) {
		return nil
	}
	if r.m.p.Context().Err() != nil || errors.Is(r.end, shell.ErrFuel) {
		panic(&stop{r.end})
	}
	return r.end
}

// next returns the next record and its terminator; not ok at the end.
func (r *reader) next() (rec, end string, ok bool) {
	m := r.m
	switch {
	case m.o.CSV:
		return r.nextCSV()
	case m.rsMode == rsByte:
		return r.nextByte(m.rsByte)
	case m.rsMode == rsParagraph:
		return r.nextParagraph()
	default:
		return r.nextMatch()
	}
}

func (r *reader) nextByte(sep byte) (rec, end string, ok bool) {
	seen := 0
	for {
		if n := strings.IndexByte(r.text[r.pos+seen:], sep); n >= 0 {
			at := r.pos + seen + n
			rec, end = r.text[r.pos:at], r.text[at:at+1]
			r.pos = at + 1
			return rec, end, true
		}
		seen = len(r.text) - r.pos
		if !r.fill() && r.end != nil {
			return r.last()
		}
	}
}

// last returns the rest at the end.
func (r *reader) last() (rec, end string, ok bool) {
	rec = r.text[r.pos:]
	r.pos = len(r.text)
	return rec, "", rec != ""
}

// nextParagraph reads up to empty lines; those before and behind do not count.
func (r *reader) nextParagraph() (rec, end string, ok bool) {
	for {
		for r.pos < len(r.text) && r.text[r.pos] == '\n' {
			r.pos++
		}
		if r.pos < len(r.text) || !r.fill() && r.end != nil {
			break
		}
	}
	for {
		if n := strings.Index(r.text[r.pos:], "\n\n"); n >= 0 {
			stop := r.pos + n
			for stop < len(r.text) && r.text[stop] == '\n' {
				stop++
			}
			if stop < len(r.text) || r.end != nil {
				rec, end = r.text[r.pos:r.pos+n], r.text[r.pos+n:stop]
				r.pos = stop
				return rec, end, true
			}
		}
		if !r.fill() && r.end != nil {
			rec = r.text[r.pos:]
			r.pos = len(r.text)
			trimmed := strings.TrimRight(rec, "\n")
			return trimmed, rec[len(trimmed):], rec != ""
		}
	}
}

// nextMatch reads up to a match of RS, which must not touch the end of the buffer.
func (r *reader) nextMatch() (rec, end string, ok bool) {
	var caps [2]int
	for {
		rest := r.text[r.pos:]
		if rest != "" {
			for from := 0; from <= len(rest) && r.m.find(r.m.rsRegex, rest, from, caps[:]); {
				if caps[1] == caps[0] { // An empty match separates nothing.
					from = caps[1] + 1
					continue
				}
				if caps[1] == len(rest) && r.end == nil {
					break
				}
				r.pos += caps[1]
				return rest[:caps[0]], rest[caps[0]:caps[1]], true
			}
		}
		if !r.fill() && r.end != nil {
			rec, end, ok = r.lastMatch()
			return rec, end, ok
		}
	}
}

// lastMatch returns the rest at the end of the stream, up to a separator.
func (r *reader) lastMatch() (rec, end string, ok bool) {
	rest := r.text[r.pos:]
	var caps [2]int
	if rest != "" && r.m.find(r.m.rsRegex, rest, 0, caps[:]) && caps[1] > caps[0] {
		r.pos += caps[1]
		return rest[:caps[0]], rest[caps[0]:caps[1]], true
	}
	r.pos = len(r.text)
	// As the last line of a file, the last record may have a newline that belongs to neither.
	return rest, "", rest != ""
}

// nextCSV reads up to a newline that is outside of quotes.
func (r *reader) nextCSV() (rec, end string, ok bool) {
	seen, quoted := 0, false
	for {
		for i := r.pos + seen; i < len(r.text); i++ {
			switch r.text[i] {
			case '"':
				quoted = !quoted
			case '\n':
				if !quoted {
					rec = r.text[r.pos:i]
					r.pos = i + 1
					return strings.TrimSuffix(rec, "\r"), "\n", true
				}
			}
		}
		seen = len(r.text) - r.pos
		if !r.fill() && r.end != nil {
			return r.last()
		}
	}
}
