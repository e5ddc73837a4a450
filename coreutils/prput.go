package coreutils

import (
	"fmt"
	"strings"
)

func isPrintByte(c byte) bool { return c >= ' ' && c < 0x7f }

// convert makes of a byte of the input what is shown for it, and returns how many bytes of the clump
// that is; below 0 it is a number of spaces.
func (r *pr) convert(c byte) int {
	width, n := 1, 1
	r.clump[0] = c
	switch {
	case c == r.tabIn || c == '\t':
		stop := 8
		if c == r.tabIn {
			stop = r.tabInWidth
		}
		if width = stop - r.from%stop; r.expand {
			n = -width
		}
	case isPrintByte(c):
	case r.octal || r.carets && c >= 0x80:
		width, n = 4, 4
		copy(r.clump[:], fmt.Sprintf("\\%03o", c))
	case r.carets:
		width, n = 2, 2
		r.clump[0], r.clump[1] = '^', c^0x40
	case c == '\b':
		if width = -1; r.from == 0 {
			n = 0
		}
	default:
		width = 0
	}
	r.from = max(0, r.from+width)
	return n
}

// putClump prints or stores what convert made.
func (r *pr) putClump(n int) {
	if n < 0 {
		r.emitSpaces(-n)
		return
	}
	for _, c := range r.clump[:n] {
		r.emit(c)
	}
}

// emit prints or stores a character.
func (r *pr) emit(c byte) {
	if !r.storingLine {
		r.putChar(c)
		return
	}
	if len(r.store) == cap(r.store) {
		if r.p.Reserve(max(1024, 2*cap(r.store))) != nil {
			r.fail("memory exhausted")
			return
		}
		r.store = append(make([]byte, 0, max(1024, 2*cap(r.store))), r.store...)
	}
	r.store = append(r.store, c)
}

func (r *pr) emitSpaces(n int) {
	if !r.storingLine && r.tabify {
		r.spaces += n
		return
	}
	for i := 0; i < n && !r.fatal && !r.out.failed(); i++ {
		r.emit(' ')
		if i&1023 == 1023 {
			r.spend(64)
		}
	}
}

// number writes the number of a line.
func (r *pr) number() {
	text := fmt.Sprint(r.line)
	r.line++
	if len(text) > r.digits {
		text = text[len(text)-r.digits:]
	}
	r.emitSpaces(r.digits - len(text))
	for i := range len(text) {
		r.emit(text[i])
	}
	switch {
	case r.numberEnd != '\t':
		r.emit(r.numberEnd)
	case r.columns > 1:
		r.emitSpaces(r.numberWidth - r.digits)
	default:
		r.emit('\t')
		r.at += r.tabOutWidth - r.at%r.tabOutWidth
	}
	if r.cut && !r.parallel {
		r.from += r.numberWidth
	}
}

// putChar prints a character; spaces wait, for they may become tabs.
func (r *pr) putChar(c byte) {
	if r.tabify {
		if c == ' ' {
			r.spaces++
			return
		}
		if r.spaces > 0 {
			r.putSpaces()
		}
		if isPrintByte(c) {
			r.at++
		} else if c == '\b' {
			r.at--
		}
	}
	r.put(c)
}

// putSpaces prints the spaces that wait.
func (r *pr) putSpaces() {
	at, end := r.at, r.at+r.spaces
	for end-at > 1 && !r.fatal && !r.out.failed() {
		next := at + r.tabOutWidth - at%r.tabOutWidth
		if next > end {
			break
		}
		r.put(r.tabOut)
		at = next
		if at&0xffff < r.tabOutWidth {
			r.spend(1 << 6)
		}
	}
	r.repeat(' ', end-at)
	r.at, r.spaces = end, 0
}

func (r *pr) putSeparators() {
	if r.separators <= 0 {
		if r.spaces > 0 {
			r.putSpaces()
		}
		return
	}
	// Of several in a row only the first is written in full.
	for i := range len(r.separator) {
		if c := r.separator[i]; c == ' ' {
			r.spaces++
		} else {
			if r.spaces > 0 {
				r.putSpaces()
			}
			r.put(c)
			r.at++
		}
	}
	if r.spaces > 0 {
		r.putSpaces()
	}
	r.separators = 0
}

// padTo goes to a column of the output.
func (r *pr) padTo(column int) {
	if r.tabify {
		r.spaces = column - r.at
		return
	}
	r.repeat(' ', column-r.at)
	r.at = column
}

// repeat prints a character n times.
func (r *pr) repeat(c byte, n int) {
	const most = 1 << 12
	if n <= 0 {
		return
	}
	some := strings.Repeat(string(rune(c)), min(n, most))
	for n > 0 && !r.fatal && !r.out.failed() {
		part := some[:min(n, most)]
		r.putText(part)
		n -= len(part)
		r.spend(1 + len(part)>>6)
	}
}

func (r *pr) put(c byte) {
	if !r.fatal {
		_ = r.out.WriteByte(c)
	}
}

func (r *pr) putText(s string) {
	if !r.fatal {
		_, _ = r.out.WriteString(s)
	}
}
