package pr

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
)

// prLine writes the lines of a page. It holds back blanks, for which it may write tabs.
type prLine struct {
	pr      *printer
	mute    bool // nothing is written: the page is passed over
	tabs    bool
	tab     prTab
	column  int // that has been reached
	pending int // blanks behind it; below 0 when the line is too far already
}

// blanks adds n blanks.
func (l *prLine) blanks(n int) {
	if l.tabs {
		l.pending += n
		return
	}
	l.column += max(n, 0)
	l.repeat(' ', n)
}

// flush writes the blanks that were held back. A single one is never a tab.
func (l *prLine) flush() {
	if l.pending <= 0 {
		return
	}
	to := l.column + l.pending
	l.pending = 0
	if last := to - to%l.tab.n; l.tab.n > 1 && last > l.column && to-l.column > 1 {
		l.repeat(l.tab.char, last/l.tab.n-l.column/l.tab.n)
		l.column = last
	} else if l.tab.n == 1 {
		l.repeat(l.tab.char, to-1-l.column)
		l.column = to - 1
	}
	l.repeat(' ', to-l.column)
	l.column = to
}

// put writes text that takes width columns.
func (l *prLine) put(text []byte, width int) {
	l.flush()
	l.column += width
	if !l.mute {
		_, _ = l.pr.out.Write(text)
	}
}

// repeat writes c n times.
func (l *prLine) repeat(c byte, n int) {
	if !l.mute && n > 0 {
		program.WriteRepeated(l.pr.out, c, n)
	}
}

// end ends the line.
func (l *prLine) end() {
	l.repeat('\n', 1)
	l.column, l.pending = 0, 0
}

// prText shows the text of a line in a column of the page.
type prText struct {
	line        *prLine
	in          prTab // the tabs of the input
	expand      bool
	hats, octal bool
	limit       int // columns; below 0: as many as there are
	column      int
	before      int  // columns in use before the second character
	cut         bool // what does not fit has begun
}

// write shows a piece of a line.
func (t *prText) write(piece []byte) {
	for len(piece) > 0 && !t.cut {
		n := 1
		if run := t.run(piece); run > 1 && t.before == 0 {
			n = run
			t.column += n
			t.line.put(piece[:n], n)
		} else {
			t.char(piece[0])
			t.column += t.before
			t.before = 0
		}
		piece = piece[n:]
	}
}

// run returns how many bytes at the beginning of a piece are a column each, and have room.
func (t *prText) run(piece []byte) (n int) {
	if t.limit >= 0 {
		piece = piece[:min(len(piece), max(t.limit-t.column, 0))]
	}
	least := byte(' ')
	if t.line.tabs {
		least = '!'
	}
	for n < len(piece) && piece[n] >= least && piece[n] < 0x7f && (piece[n] != t.in.char || !t.expand) {
		n++
	}
	return n
}

func (t *prText) char(c byte) {
	switch {
	case c == t.in.char && t.expand:
		if width := t.in.n - t.column%t.in.n; t.fits(width) {
			t.line.blanks(width)
		}
	case c == ' ':
		if t.fits(1) {
			t.line.blanks(1)
		}
	case c == '\t' && t.expand:
		if width := 8 - t.column%8; t.fits(width) {
			t.line.blanks(width)
		}
	case c == '\t':
		if width := 8 - t.column%8; t.fits(width) {
			t.line.put([]byte{c}, 0)
		}
	case c > ' ' && c < 0x7f:
		if t.fits(1) {
			t.line.put([]byte{c}, 1)
		}
	case t.hats || t.octal:
		text := t.visible(c)
		if t.fits(len(text)) {
			t.line.put([]byte(text), len(text))
		}
	case c == '\b':
		if t.column > 0 && t.fits(-1) {
			t.line.put([]byte{c}, -1)
		}
	case t.fits(0):
		t.line.put([]byte{c}, 0)
	}
}

// fits takes width columns if there are as many.
func (t *prText) fits(width int) bool {
	if t.limit >= 0 && t.column+width > t.limit {
		t.cut = true
		return false
	}
	t.column += width
	return true
}

func (t *prText) visible(c byte) string {
	if t.octal || c > 0x7f {
		return string([]byte{'\\', '0' + c>>6, '0' + c>>3&7, '0' + c&7})
	}
	return string([]byte{'^', c ^ 0x40})
}
