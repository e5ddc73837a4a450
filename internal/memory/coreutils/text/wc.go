package text

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/runewidth"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func wcCommand() program.Description {
	return program.Description{
		Name: "wc", Usage: "[OPTION]... [FILE]...\n[OPTION]... --files0-from=F",
		Summary: "count lines, words and bytes of each FILE",
		Help: `With more than one FILE there is a line with the totals. A word is what stands between
space. With no FILE, or when FILE is -, read standard input. What is counted is
always written in this order: lines, words, characters, bytes, longest line.

  -c, --bytes            count bytes
  -m, --chars            count characters
  -l, --lines            count lines
      --files0-from=F    read the names of the files from F, each ended by NUL;
                           - for standard input
  -L, --max-line-length  the columns of the longest line
  -w, --words            count words
      --help             show this help and exit
      --version          show the version and exit`,
		Run: runWc,
	}
}

const files0From = getopt.First + 900

var wcOptions = []getopt.Option{
	{Short: 'c', Long: "bytes"},
	{Short: 'm', Long: "chars"},
	{Short: 'l', Long: "lines"},
	{Short: 'w', Long: "words"},
	{Long: "files0-from", ID: files0From, Arg: getopt.Required},
	{Short: 'L', Long: "max-line-length"},
}

// counts holds the counters of wc.
type counts struct {
	lines, words, chars, bytes, longest int64
}

// wc is a run of wc.
type wc struct {
	p   *shell.Proc
	out *program.Output

	lines, words, chars, bytes, longest bool
	utf8                                bool
	width                               int
	total                               counts
	in                                  *program.LineReader
}

func runWc(p *shell.Proc) int {
	w := &wc{p: p, out: program.NewOutput(p), utf8: !program.IsByteLocale(p), width: 1, in: program.NewLineReader(p, nil, '\n')}
	from := ""
	o := program.NewOptions(p, wcCommand, wcOptions)
	for o.Next() {
		switch o.ID {
		case 'c':
			w.bytes = true
		case 'm':
			w.chars = true
		case 'l':
			w.lines = true
		case 'w':
			w.words = true
		case 'L':
			w.longest = true
		case files0From:
			from = o.Value
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	if !w.lines && !w.words && !w.chars && !w.bytes && !w.longest {
		w.lines, w.words, w.bytes = true, true, true
	}
	names, status := o.Args(), 0
	if from != "" {
		var ok bool
		if names, ok = namesFrom(p, wcCommand, from, names); !ok {
			return 1
		}
	}
	w.measure(names, from == "-")
	for _, name := range w.orStdin(names, from) {
		if err := p.Spend(1); err != nil {
			return p.Status(err)
		}
		if !w.file(name) {
			status = 1
		}
		if w.in.Spent {
			return p.Status(w.in.Ended)
		}
	}
	if len(names) > 1 {
		w.print(w.total, "total")
	}
	return w.out.Close(status)
}

// namesFrom reads names that end with NUL for --files0-from.
func namesFrom(p *shell.Proc, describe func() program.Description, from string, operands []string) (names []string, ok bool) {
	if len(operands) > 0 {
		p.Warn("extra operand %s", quoting.Name(operands[0]))
		p.Stderr.Write([]byte("file operands cannot be combined with --files0-from\n")) //nolint:errcheck // No other stream can report it.
		program.TryHelp(p, describe())
		return nil, false
	}
	names, err := program.ReadListFile(p, from, 0)
	if err != nil {
		p.Errorf(err, "cannot open %s for reading", shell.Quote(from))
		return nil, false
	}
	return names, true
}

func (w *wc) orStdin(names []string, from string) []string {
	if from != "" {
		return names
	}
	if len(names) == 0 {
		return []string{""}
	}
	return names
}

// measure finds how wide the columns are: as wide as the sum of the file sizes, or 7 when an input has no size.
func (w *wc) measure(names []string, streamed bool) {
	if streamed || len(names) == 0 && w.kinds() == 1 || len(names) == 1 && w.kinds() == 1 {
		return
	}
	if len(names) == 0 {
		names = []string{"-"}
	}
	least, sum := 1, int64(0)
	for i, name := range names {
		if w.p.Spend(1) != nil {
			return
		}
		if name == "-" {
			name = "/dev/stdin"
		}
		info, err := w.p.Stat(name)
		switch {
		case err != nil && (i > 0 || name != "/dev/stdin"):
			if i == 0 && len(names) == 1 {
				return
			}
		case err == nil && info.Mode.IsRegular():
			sum += info.Size
		default:
			least = 7
		}
	}
	w.width = max(least, len(strconv.FormatInt(sum, 10)))
}

// kinds returns the number of counters.
func (w *wc) kinds() int {
	n := 0
	for _, on := range []bool{w.lines, w.words, w.chars, w.bytes, w.longest} {
		if on {
			n++
		}
	}
	return n
}

func (w *wc) file(name string) bool {
	if name == "" {
		return w.count("-", "", w.p.Stdin)
	}
	in, err := program.OpenInput(w.p, name)
	if err != nil {
		w.p.Error(name, err)
		return false
	}
	defer in.Close()
	return w.count(name, name, in)
}

// count counts a stream and prints the result under label.
func (w *wc) count(name, label string, in io.Reader) bool {
	w.in.Reset(in)
	var c counts
	switch {
	case !w.words && !w.longest && (!w.chars || !w.utf8):
		w.countLines(&c)
	case w.utf8:
		w.countText(&c)
	default:
		w.countBytes(&c)
	}
	err := w.in.Err()
	if err != nil {
		_ = w.out.Flush()
		w.p.Error(name, err)
	}
	w.total.lines += c.lines
	w.total.words += c.words
	w.total.chars += c.chars
	w.total.bytes += c.bytes
	w.total.longest = max(w.total.longest, c.longest)
	w.print(c, label)
	return err == nil
}

func (w *wc) print(c counts, label string) {
	separate := false
	for _, f := range []struct {
		on bool
		n  int64
	}{{w.lines, c.lines}, {w.words, c.words}, {w.chars, c.chars}, {w.bytes, c.bytes}, {w.longest, c.longest}} {
		if !f.on {
			continue
		}
		if separate {
			_ = w.out.WriteByte(' ')
		}
		separate = true
		var digits [24]byte
		_, _ = w.out.Write(program.AppendPadded(digits[:0], int(f.n), w.width))
	}
	if label != "" {
		if strings.Contains(label, "\n") {
			label = shell.QuoteIfNeeded(label)
		}
		_, _ = w.out.WriteString(" " + label)
	}
	_ = w.out.WriteByte('\n')
}

func (w *wc) countLines(c *counts) {
	for {
		b, ok := w.in.Bytes()
		if !ok {
			c.chars = c.bytes
			return
		}
		c.bytes += int64(len(b))
		if w.lines {
			c.lines += int64(bytes.Count(b, newline))
		}
	}
}

var newline = []byte{'\n'}

// countBytes counts in the C locale, where only ASCII can be shown.
func (w *wc) countBytes(c *counts) {
	var line int64
	inWord := int64(0)
	for {
		b, ok := w.in.Bytes()
		if !ok {
			break
		}
		c.bytes += int64(len(b))
		if !w.longest {
			inWord = countWords(b, inWord, c)
			continue
		}
		for _, ch := range b {
			switch {
			case ch == '\n' || ch == '\r' || ch == '\f':
				if ch == '\n' {
					c.lines++
				}
				c.longest = max(c.longest, line)
				line = 0
				c.words += inWord
				inWord = 0
			case ch == '\t' || ch == ' ' || ch == '\v':
				line = advance(line, ch)
				c.words += inWord
				inWord = 0
			case ch > ' ' && ch < 127:
				line++
				inWord = 1
			}
		}
	}
	c.chars = c.bytes
	c.longest = max(c.longest, line)
	c.words += inWord
}

// advance returns the column behind white space.
func advance(line int64, ch byte) int64 {
	switch ch {
	case '\t':
		return line + 8 - line%8
	case ' ':
		return line + 1
	}
	return line
}

// wordBytes says of bytes in the C locale: 0 neither, 1 part of a word, 2 space.
var wordBytes = func() (table [256]uint8) {
	for c := '!'; c <= '~'; c++ {
		table[c] = 1
	}
	for _, c := range []byte("\t\n\v\f\r ") {
		table[c] = 2
	}
	return table
}()

// countWords counts lines and words of ASCII text; inWord says whether it begins inside one.
func countWords(b []byte, inWord int64, c *counts) int64 {
	c.lines += int64(bytes.Count(b, newline))
	words := int64(0)
	in := uint8(inWord)
	for _, ch := range b {
		kind := wordBytes[ch]
		// A word ends where space follows it.
		words += int64(in & (kind >> 1))
		in = (in | kind) & 1 &^ (kind >> 1)
	}
	c.words += words
	return int64(in)
}

// countText counts characters of UTF-8.
func (w *wc) countText(c *counts) {
	var line int64
	inWord := int64(0)
	var rest []byte
	for {
		b, ok := w.in.Bytes()
		if !ok {
			break
		}
		c.bytes += int64(len(b))
		if len(rest) > 0 {
			b = append(rest, b...)
		}
		rest = nil
		if !w.longest && isASCII(b) {
			c.chars += int64(len(b))
			inWord = countWords(b, inWord, c)
			continue
		}
		for i := 0; i < len(b); {
			r, n := rune(b[i]), 1
			if r >= utf8.RuneSelf {
				if !utf8.FullRune(b[i:]) {
					rest = bytes.Clone(b[i:])
					break
				}
				r, n = utf8.DecodeRune(b[i:])
			}
			i += n
			if r == utf8.RuneError && n == 1 {
				continue
			}
			c.chars++
			line, inWord = c.char(r, line, inWord)
		}
	}
	c.longest = max(c.longest, line)
	c.words += inWord
}

// char counts one character; it returns the column behind it and whether it is in a word.
func (c *counts) char(r rune, line, inWord int64) (column, in int64) {
	switch r {
	case '\n', '\r', '\f':
		if r == '\n' {
			c.lines++
		}
		c.longest = max(c.longest, line)
		c.words += inWord
		return 0, 0
	case '\t', ' ', '\v':
		c.words += inWord
		return advance(line, byte(r)), 0
	}
	if r < utf8.RuneSelf {
		if r > ' ' && r < 127 {
			return line + 1, 1
		}
		return line, inWord
	}
	n := runewidth.Of(r)
	if n < 0 {
		return line, inWord
	}
	if unicode.IsSpace(r) || r == 0x2060 || r == 0x2007 || r == 0x202F {
		c.words += inWord
		return line + int64(n), 0
	}
	return line + int64(n), 1
}

// isASCII reports whether all bytes are below 128.
func isASCII(b []byte) bool {
	var all byte
	for _, c := range b {
		all |= c
	}
	return all < utf8.RuneSelf
}
