package coreutils

import (
	"math"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/shell"
	"github.com/seed434b0696/agent-sandbox/shell/getopt"
)

func fmtCommand() shell.Command {
	return shell.Command{
		Name: "fmt", Usage: "[-WIDTH] [OPTION]... [FILE]...",
		Summary: "fill the paragraphs of each FILE anew",
		Help: `With no FILE, or when FILE is -, read standard input. -WIDTH, as the first option, is -w WIDTH.

  -c, --crown-margin      the second line has an indentation of its own, which the others follow
  -g, --goal=WIDTH        columns that lines ought to have; by default 93 percent of the width
  -p, --prefix=STRING     take only lines that begin with STRING, and put it before each new line
  -s, --split-only        break long lines, join none
  -t, --tagged-paragraph  as -c, and the first two lines differ
  -u, --uniform-spacing   one space behind words, two behind sentences
  -w, --width=WIDTH       columns of a line at most; 75 by default
      --help              show this help and exit
      --version           show the version and exit`,
		Run: runFmt,
	}
}

var fmtOptions = []getopt.Option{
	{Short: 'c', Long: "crown-margin"},
	{Short: 'p', Long: "prefix", Arg: getopt.Required},
	{Short: 's', Long: "split-only"},
	{Short: 't', Long: "tagged-paragraph"},
	{Short: 'u', Long: "uniform-spacing"},
	{Short: 'w', Long: "width", Arg: getopt.Required},
	{Short: 'g', Long: "goal", Arg: getopt.Required},
	{Short: '0'},
	{Short: '1'},
	{Short: '2'},
	{Short: '3'},
	{Short: '4'},
	{Short: '5'},
	{Short: '6'},
	{Short: '7'},
	{Short: '8'},
	{Short: '9'},
}

// filler is a run of fmt.
type filler struct {
	p       *shell.Proc
	out     *output
	crown   bool
	tagged  bool
	split   bool
	uniform bool
	prefix  string // without blanks around it
	lead    int    // blanks in front of the prefix
	full    int    // bytes of the prefix with the blanks behind it
	width   int
	goal    int

	in     *byteSource
	tabs   bool // the file has some
	column int  // of what was read last
	at     int  // column of the output

	next       int // the byte that the next line begins with, behind its prefix
	nextIndent int
	paragraph
}

func runFmt(p *shell.Proc) int {
	f := &filler{p: p, out: newOutput(p), width: 75}
	var width, goal *string
	if len(p.Args) > 1 && len(p.Args[1]) > 1 && p.Args[1][0] == '-' && isDigitByte(int(p.Args[1][1])) {
		first := p.Args[1][1:]
		width = &first
		p.Args = slices.Delete(slices.Clone(p.Args), 1, 2)
	}
	o := newOptions(p, fmtCommand, fmtOptions)
	for o.Next() {
		value := o.Value
		switch o.ID {
		case 'c':
			f.crown = true
		case 's':
			f.split = true
		case 't':
			f.tagged = true
		case 'u':
			f.uniform = true
		case 'w':
			width = &value
		case 'g':
			goal = &value
		case 'p':
			f.setPrefix(value)
		default:
			o.Reject("invalid option -- %c; -WIDTH is recognized only when it is the first\noption; use -w N instead", o.ID)
		}
	}
	if o.Ended() || !f.setWidths(o, width, goal) {
		return o.Status
	}
	status := 0
	for _, name := range filesOrStdin(o.Args()) {
		in, err := openInput(p, name)
		if err != nil {
			p.Errorf(err, "cannot open %s for reading", shell.Quote(name))
			status = 1
			continue
		}
		f.in = newByteSource(p, in)
		f.fill()
		_ = in.Close()
		if f.in.lines.spent {
			return p.Status(f.in.lines.ended)
		}
		if f.in.lines.err() != nil {
			p.Warn("read error")
			status = 1
		}
	}
	return f.out.Close(status)
}

// mostFillText is how many bytes of a paragraph are laid out together.
const mostFillText = 5000

func (f *filler) setWidths(o *options, width, goal *string) bool {
	read := func(text string, most int) (int, bool) {
		if strings.HasPrefix(strings.TrimLeft(text, " \t\n\v\f\r"), "-") {
			o.RejectQuietly("invalid width: %s", quoteLocaleName(text))
			return 0, false
		}
		n, ok := limitedNumber(o, text, "invalid width", noUnits, 0, int64(most))
		return int(n), ok
	}
	var ok bool
	if width != nil {
		if f.width, ok = read(*width, mostFillText/2); !ok {
			return false
		}
	}
	if goal == nil {
		f.goal = f.width * 187 / 200
		return true
	}
	if f.goal, ok = read(*goal, f.width); ok && width == nil {
		f.width = f.goal + 10
	}
	return ok
}

func (f *filler) setPrefix(text string) {
	trimmed := strings.TrimLeft(text, " ")
	f.lead, f.full = len(text)-len(trimmed), len(trimmed)
	f.prefix = strings.TrimRight(trimmed, " ")
}

// skipBlanks goes to what is neither a space nor a tab, from c on, and returns that.
func (f *filler) skipBlanks(c int) int {
	for {
		switch c {
		case ' ':
			f.column++
		case '\t':
			f.tabs = true
			f.column += 8 - f.column%8
		default:
			return c
		}
		c = f.in.read()
	}
}

// beginLine reads the indentation and the prefix of a line, and notes what follows.
func (f *filler) beginLine() {
	f.column = 0
	f.next = f.skipBlanks(f.in.read())
	if f.prefix == "" {
		f.nextIndent = min(f.lead, f.column)
		return
	}
	f.nextIndent = f.column
	for i := range len(f.prefix) {
		if f.next != int(f.prefix[i]) {
			return
		}
		f.column++
		f.next = f.in.read()
	}
	f.next = f.skipBlanks(f.next)
}

func atLineEnd(c int) bool { return c == '\n' || c < 0 }

// fill copies a file, its paragraphs filled.
func (f *filler) fill() {
	f.tabs, f.otherIndent = false, 0
	f.beginLine()
	for !f.out.failed() && f.readParagraph() {
		f.layOut()
		f.putLines(f.count)
	}
}

// copyLine copies the rest of a line that is in no paragraph. It returns false at the end.
func (f *filler) copyLine() bool {
	f.at = 0
	c := f.next
	if f.column > f.nextIndent || !atLineEnd(c) {
		f.putBlanks(f.nextIndent)
		n := max(0, min(f.column-f.at, len(f.prefix)))
		_, _ = f.out.WriteString(f.prefix[:n])
		f.at += n
		if !atLineEnd(c) {
			f.putBlanks(f.column - f.at)
		}
		if c < 0 && f.column >= f.nextIndent+len(f.prefix) {
			_ = f.out.WriteByte('\n')
		}
	}
	for ; !atLineEnd(c); c = f.in.read() {
		_ = f.out.WriteByte(byte(c))
	}
	if c < 0 {
		return false
	}
	return f.out.WriteByte('\n') == nil
}

// continues tells whether the line that begins may belong to the paragraph.
func (f *filler) continues() bool {
	return f.nextIndent == f.indent && f.column >= f.nextIndent+f.full && !atLineEnd(f.next)
}

// readParagraph copies what is in front of a paragraph and reads that; false at the end.
func (f *filler) readParagraph() bool {
	f.lastLength = 0
	for atLineEnd(f.next) || f.nextIndent < f.lead || f.column < f.nextIndent+f.full {
		if !f.copyLine() {
			return false
		}
		f.beginLine()
	}
	f.indent, f.firstIndent = f.nextIndent, f.column
	f.text, f.count = f.text[:0], 0
	f.readWords()
	f.setOtherIndent(f.continues())
	goOn := f.continues() && !f.split
	switch {
	case f.crown:
	case f.tagged:
		goOn = goOn && f.column != f.firstIndent
	default:
		goOn = goOn && f.column == f.otherIndent
	}
	for goOn {
		f.readWords()
		goOn = f.continues() && f.column == f.otherIndent
	}
	last := &f.words[f.count-1]
	last.period, last.final = true, true
	return true
}

// setOtherIndent decides where lines begin that are not the first; more tells that one follows.
func (f *filler) setOtherIndent(more bool) {
	switch {
	case f.split, f.crown && !more:
		f.otherIndent = f.firstIndent
	case f.crown:
		f.otherIndent = f.column
	case f.tagged && more && f.column != f.firstIndent:
		f.otherIndent = f.column
	case f.tagged:
		// Of a single line: what the last paragraph had, if that differs.
		if f.otherIndent == f.firstIndent {
			f.otherIndent = 0
			if f.firstIndent == 0 {
				f.otherIndent = 3
			}
		}
	default:
		f.otherIndent = f.firstIndent
	}
}

// readWords reads the words of a line, and the beginning of the next one.
func (f *filler) readWords() {
	c := f.next
	for {
		if f.words == nil {
			f.words = make([]fillWord, mostFillWords)
		}
		f.words[f.count] = fillWord{start: len(f.text)}
		for {
			if len(f.text) == mostFillText {
				f.setOtherIndent(true)
				f.flush()
			}
			f.text = append(f.text, byte(c))
			if c = f.in.read(); c < 0 || c == ' ' || c >= '\t' && c <= '\r' {
				break
			}
		}
		w := &f.words[f.count]
		w.length = len(f.text) - w.start
		w.look(f.text[w.start:])
		f.column += w.length
		before := f.column
		c = f.skipBlanks(c)
		w.space = f.column - before
		w.final = c < 0 || w.period && (c == '\n' || w.space > 1)
		if atLineEnd(c) || f.uniform {
			w.space = 1
			if w.final {
				w.space = 2
			}
		}
		if f.count == mostFillWords-2 {
			f.setOtherIndent(true)
			f.flush()
		}
		f.count++
		if atLineEnd(c) {
			break
		}
	}
	f.beginLine()
}

// flush writes the first lines of a paragraph that is too long.
func (f *filler) flush() {
	if f.count == 0 {
		_, _ = f.out.Write(f.text)
		f.text = f.text[:0]
		return
	}
	f.layOut()
	at, best := f.count, int64(math.MaxInt64)
	for i := f.words[0].next; i != f.count; i = f.words[i].next {
		if cost := f.words[i].cost - f.words[f.words[i].next].cost; cost < best {
			at, best = i, cost
		}
		if best <= math.MaxInt64-9 {
			best += 9 // later is better
		}
	}
	f.putLines(at)
	gone := f.words[at].start
	f.text = f.text[:copy(f.text, f.text[gone:])]
	copy(f.words, f.words[at:f.count+1])
	f.count -= at
	for i := range f.count + 1 {
		f.words[i].start -= gone
	}
}

// putLines writes the lines in front of word number end, where one ends.
func (f *filler) putLines(end int) {
	indent := f.firstIndent
	for i := 0; i != end; i = f.words[i].next {
		f.putLine(f.words[i:f.words[i].next], indent)
		indent = f.otherIndent
	}
}

func (f *filler) putLine(words []fillWord, indent int) {
	f.at = 0
	f.putBlanks(f.indent)
	_, _ = f.out.WriteString(f.prefix)
	f.at += len(f.prefix)
	f.putBlanks(indent - f.at)
	for i, w := range words {
		_, _ = f.out.Write(f.text[w.start : w.start+w.length])
		if f.at += w.length; i < len(words)-1 {
			f.putBlanks(w.space)
		}
	}
	f.lastLength = f.at
	_ = f.out.WriteByte('\n')
}

// putBlanks writes n columns of blanks.
func (f *filler) putBlanks(n int) {
	end := f.at + n
	if stop := end - end%8; f.tabs && f.at+1 < stop {
		for ; f.at < stop; f.at += 8 - f.at%8 {
			_ = f.out.WriteByte('\t')
		}
	}
	for ; f.at < end; f.at++ {
		_ = f.out.WriteByte(' ')
	}
}
