package text

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// formatter is a run of fmt.
type formatter struct {
	fmtStyle

	p     *shell.Proc
	in    *program.ByteFeed
	out   *program.Output
	ended error // of the process

	tabs   bool // a tab was seen in this file: the output gets some too
	column int  // in the line that is read
	head   lineHead
	para   paragraph
}

// lineHead is the start of the next line. The rest of the line has not been read.
type lineHead struct {
	kind   lineKind
	prefix int // the column of the prefix
	body   int // the column of the text behind it
	match  int // bytes of the prefix that are there
}

type lineKind uint8

const (
	lineAbsent lineKind = iota // the text has ended
	lineText                   // belongs to a paragraph
	lineOther                  // stays as it is: one without words, or without the prefix
)

// tagIndent is the indentation of the lines after the first one in a tagged paragraph that has no
// second line to tell it, and whose first line is not indented.
const tagIndent = 3

func newFormatter(p *shell.Proc, style fmtStyle) *formatter {
	return &formatter{fmtStyle: style, p: p, in: program.NewByteFeed(p), out: program.NewOutput(p)}
}

// text fills a whole stream.
func (f *formatter) text() {
	f.tabs = false
	f.readHead()
	for f.ended == nil && !f.out.HasFailed() {
		switch f.head.kind {
		case lineAbsent:
			return
		case lineText:
			f.paragraph()
		case lineOther:
			f.copyLine()
			f.readHead()
		}
	}
}

// readHead reads the beginning of the next line.
func (f *formatter) readHead() {
	f.column = 0
	f.blanks()
	h := lineHead{kind: lineOther, prefix: f.column}
	belongs := f.column >= f.lead
	if f.prefix == "" {
		h.prefix = min(f.column, f.lead)
	} else {
		h.match = f.matchPrefix()
		body := f.column + f.trail
		if h.match == len(f.prefix) {
			f.blanks()
		}
		belongs = belongs && h.match == len(f.prefix) && f.column >= body
	}
	h.body = f.column
	switch {
	case !f.in.More():
		if h.body == h.prefix {
			h.kind = lineAbsent
		}
	case belongs && f.in.Ahead[0] != '\n':
		h.kind = lineText
	}
	f.head = h
}

// blanks passes over blanks and tabs.
func (f *formatter) blanks() {
	for f.in.More() {
		for i, c := range f.in.Ahead {
			switch c {
			case ' ':
				f.column++
			case '\t':
				f.tabs = true
				f.column += 8 - f.column%8
			default:
				f.in.Ahead = f.in.Ahead[i:]
				return
			}
		}
		f.in.Ahead = nil
	}
}

// matchPrefix passes over as much of the prefix as there is, and returns how much that is.
func (f *formatter) matchPrefix() (n int) {
	for n < len(f.prefix) && f.in.At(f.prefix[n]) {
		f.in.Ahead = f.in.Ahead[1:]
		f.column++
		n++
	}
	return n
}

// copyLine writes the line that has begun as it is, but for blanks: those before the text are
// written anew, and those of a line without text go.
func (f *formatter) copyLine() {
	h := f.head
	empty := !f.in.More() || f.in.Ahead[0] == '\n'
	if !empty || h.body > h.prefix {
		f.pad(0, h.prefix)
		_, _ = f.out.WriteString(f.prefix[:h.match])
	}
	if empty {
		_ = f.out.WriteByte('\n')
		f.in.RestOfLine(func([]byte) {})
		return
	}
	f.pad(h.prefix+h.match, h.body)
	f.in.RestOfLine(func(piece []byte) { _, _ = f.out.Write(piece) })
}

// pad writes blanks or tabs from one column to another.
func (f *formatter) pad(from, to int) {
	if last := to &^ 7; f.tabs && last > from+1 {
		program.WriteRepeated(f.out, '\t', last>>3-from>>3)
		from = last
	}
	program.WriteRepeated(f.out, ' ', max(to-from, 0))
}

// paragraph reads and fills the paragraph that begins with the line whose head was read.
func (f *formatter) paragraph() {
	first := f.head
	f.para.begin(first, f.restIndent())
	f.words()
	f.readHead()
	if f.followsFirst(first) {
		second := f.head
		f.para.rest = second.body
		for f.ended == nil && f.follows(second) {
			f.words()
			f.readHead()
		}
	}
	f.fill(true)
}

// restIndent returns where the lines behind the first one of a paragraph begin, unless its
// second line tells. In a tagged one it is where those of the paragraph before did, if that
// differs from the first line.
func (f *formatter) restIndent() int {
	body := f.head.body
	switch {
	case !f.tagged || f.crown || f.split:
		return body
	case f.para.rest != body:
		return f.para.rest
	case body == 0:
		return tagIndent
	}
	return 0
}

// followsFirst reports whether the next line is the second one of a paragraph.
func (f *formatter) followsFirst(first lineHead) bool {
	switch {
	case f.split || f.head.kind != lineText || f.head.prefix != first.prefix:
		return false
	case f.crown:
		return true
	}
	return (f.head.body == first.body) != f.tagged
}

// follows reports whether the next line is the second line of a paragraph, or one behind it.
func (f *formatter) follows(second lineHead) bool {
	return f.head.kind == lineText && f.head.prefix == second.prefix && f.head.body == second.body
}

// words reads the words of a line.
func (f *formatter) words() {
	for f.ended == nil && f.in.More() {
		if f.in.Ahead[0] == '\n' {
			f.in.Ahead = f.in.Ahead[1:]
			return
		}
		f.word()
	}
}

// word reads a word and the blanks behind it.
func (f *formatter) word() {
	if len(f.para.words) == partWords {
		f.fill(false)
	}
	g := &f.para
	start := len(g.text)
	for f.ended == nil && f.in.More() {
		n := 0
		for n < len(f.in.Ahead) && !isWordEnd(f.in.Ahead[n]) {
			n++
		}
		if n == 0 {
			break
		}
		if len(g.text) == partBytes {
			start = f.makeRoom(start)
		}
		n = min(n, partBytes-len(g.text))
		g.text = append(g.text, f.in.Ahead[:n]...) // bounded: partBytes
		f.column += n
		f.in.Ahead = f.in.Ahead[n:]
	}
	if f.ended != nil {
		return
	}
	from := f.column
	f.blanks()
	g.add(start, f.column-from, !f.in.More() || f.in.Ahead[0] == '\n', f.uniform)
}

func isWordEnd(c byte) bool { return c == ' ' || c == '\n' || c == '\t' }

// makeRoom writes some of the text, which is as long as it may be, though a word that begins at
// start has not ended. It returns where the word begins then. A word that is longer than all of
// a part goes out in pieces.
func (f *formatter) makeRoom(start int) int {
	g := &f.para
	if len(g.words) == 0 {
		_, _ = f.out.Write(g.text)
		g.text = g.text[:0]
		return 0
	}
	length := len(g.text) - start
	f.fill(false)
	return len(g.text) - length
}
