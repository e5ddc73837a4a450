package sed

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// operands reads what belongs to the command; keep reports whether the command is one to execute.
func (p *sedParser) operands(c *sedInstruction) (keep bool) {
	switch c.name {
	case '#':
		p.comment(c)
		return false
	case 'v':
		p.version()
		return false
	case '{':
		p.open()
	case '}':
		p.close(c)
		return false
	case ':':
		p.label(c)
		return false
	case 'e', 'r', 'R', 'w', 'W':
		p.outside(c)
	case 'a', 'i', 'c':
		p.textCommand(c)
	case '=', 'd', 'D', 'F', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'z', 'x':
		p.endOfCommand()
	case 'l', 'q', 'Q':
		p.numbered(c)
	case 'b', 't', 'T':
		c.label = p.readLabel()
	case 's':
		p.substitution(c)
	case 'y':
		p.transliteration(c)
	case 'L':
		p.numbered(c)
		p.panic(sedErrUnsupported, c.name)
	default:
		p.fail(sedErrUnknown, c.name)
	}
	return true
}

func (p *sedParser) comment(c *sedInstruction) {
	if c.a1 != nil {
		p.fail(sedErrSharpAddr)
	}
	begins := p.pos == 1 && p.first
	ch := p.char()
	if ch == 'n' && begins {
		p.prog.quiet = true
	}
	for ch != sedEOF && ch != '\n' { // bounded: the script ends
		ch = p.char()
	}
}

// version is the v command: a script may ask for a sed that is new enough.
func (p *sedParser) version() {
	if wanted := p.readLabel(); isOlderVersion("4.9", wanted) {
		p.fail(sedErrVersion)
	}
}

func (p *sedParser) open() {
	place := "-e expression #" + strconv.Itoa(p.count) + ", char 0: "
	if p.file != "" {
		place = "file " + p.file + " line " + strconv.Itoa(p.line) + ": "
	}
	p.blocks = append(p.blocks, sedBlock{len(p.prog.list), place})
}

func (p *sedParser) close(c *sedInstruction) {
	if len(p.blocks) == 0 {
		p.fail(sedErrClose)
	}
	if c.a1 != nil {
		p.fail(sedErrCloseAddr)
	}
	p.endOfCommand()
	last := len(p.blocks) - 1
	p.prog.list[p.blocks[last].at].target = len(p.prog.list)
	p.blocks = p.blocks[:last]
}

func (p *sedParser) label(c *sedInstruction) {
	if c.a1 != nil {
		p.fail(sedErrColonAddr)
	}
	var name string
	if p.s.posix {
		name = p.restOfLine()
	} else {
		name = p.readLabel()
	}
	if name == "" {
		p.fail(sedErrLabel)
	}
	p.labels[name] = len(p.prog.list)
}

// readLabel reads up to a blank, a semicolon or a closing brace.
func (p *sedParser) readLabel() string {
	ch := p.nonblank()
	from := p.pos - 1
	if ch == sedEOF {
		return ""
	}
	for ch != sedEOF && ch != ';' && ch != '}' && !isSedSpace(ch) { // bounded: the script ends
		ch = p.char()
	}
	p.back(ch)
	return p.src[from:p.pos]
}

// restOfLine reads up to the end of the line, without blanks before it.
func (p *sedParser) restOfLine() string {
	ch := p.nonblank()
	if ch == sedEOF {
		return ""
	}
	from := p.pos - 1
	for ch != sedEOF && ch != '\n' { // bounded: the script ends
		ch = p.char()
	}
	if ch == '\n' {
		return p.src[from : p.pos-1]
	}
	return p.src[from:p.pos]
}

// outside reads commands that look beyond the stream.
func (p *sedParser) outside(c *sedInstruction) {
	if p.s.sandbox {
		p.fail(sedErrSandbox)
	}
	if c.name == 'e' {
		c.text = []byte(p.restOfLine())
		return
	}
	if c.file = p.restOfLine(); c.file == "" {
		p.fail(sedErrNoFile)
	}
	switch c.name {
	case 'R':
		c.lines = p.s.linesOf(c.file)
	case 'w', 'W':
		c.out = p.outputTo(c.file)
	}
}

// outputTo returns the file that a command writes to. It is made, or emptied, at once.
func (p *sedParser) outputTo(name string) *sedOutput {
	out, err := p.s.outputTo(name)
	if err != nil {
		p.panic("couldn't open file %s: %s", name, shell.Strerror(err))
	}
	return out
}

func (p *sedParser) numbered(c *sedInstruction) {
	if c.name != 'l' && c.name != 'L' && c.a2 != nil {
		p.fail(sedErrOneAddr)
	}
	if c.name == 'l' {
		c.number = -1
	}
	ch := p.nonblank()
	if ascii.IsDigit(ch) && !p.s.posix {
		c.number = p.integer(ch)
	} else {
		p.back(ch)
	}
	p.endOfCommand()
}

// textCommand reads a, i and c: "a\", a newline and text, or the text on the same line.
func (p *sedParser) textCommand(c *sedInstruction) {
	ch := p.nonblank()
	if ch == sedEOF {
		p.fail(sedErrSlash)
	}
	if ch == '\\' {
		if ch = p.char(); ch != '\n' {
			p.back(ch)
		}
	} else {
		if p.s.posix {
			p.fail(sedErrSlash)
		}
		p.back(ch)
	}
	p.pending, p.text = len(p.prog.list), nil
	p.prog.list = append(p.prog.list, *c)
	if ch != sedEOF {
		p.readText()
	}
	*c = p.prog.list[len(p.prog.list)-1]
	p.prog.list = p.prog.list[:len(p.prog.list)-1]
}

// readText reads the text of the pending command. A character behind a backslash stays; a text that
// ends with one keeps all of its backslashes, as in GNU's.
func (p *sedParser) readText() {
	raw := p.text
	ch := p.char()
	for ch != sedEOF && ch != '\n' {
		if ch == '\\' {
			if ch = p.char(); ch == sedEOF {
				p.setText(append(p.escapes(raw, sedForText, true), '\n'))
				return
			}
			raw = append(raw, '\\') // bounded: a part of the script, which is charged
		}
		raw = append(raw, byte(ch)) // bounded: a part of the script, which is charged
		ch = p.char()
	}
	p.setText(append(p.escapes(raw, sedForText, false), '\n'))
}

func (p *sedParser) setText(text []byte) {
	p.prog.list[p.pending].text = text
	p.pending = -1
}

// transliteration reads y/abc/xyz/.
func (p *sedParser) transliteration(c *sedInstruction) {
	delim := p.char()
	first, ok := p.delimited(delim, false)
	if !ok {
		p.fail(sedErrY)
	}
	second, ok := p.delimited(delim, false)
	if !ok {
		p.fail(sedErrY)
	}
	// Two strings, and an element of the map, for each character.
	if p.s.p.Reserve(96*(len(first)+len(second))) != nil {
		panic(&sedFault{sedErrMemory, sedPanic})
	}
	from, to := p.charsOf(first), p.charsOf(second)
	if len(from) != len(to) {
		p.fail(sedErrYLength)
	}
	wide := false
	for i := range from {
		wide = wide || len(from[i]) > 1 || len(to[i]) > 1
	}
	if wide {
		c.runes, c.pairs = map[string]int{}, to
		for i, r := range from {
			if _, ok := c.runes[r]; !ok {
				c.runes[r] = i
			}
		}
	} else {
		c.bytes = new([256]byte)
		for i := range c.bytes {
			c.bytes[i] = byte(i)
		}
		for i := range from {
			c.bytes[from[i][0]] = to[i][0]
		}
	}
	p.endOfCommand()
}

// charsOf divides a string of y into characters.
func (p *sedParser) charsOf(text string) []string {
	b := p.escapes([]byte(text), sedForY, false)
	var list []string
	for i := 0; i < len(b); {
		n := 1
		if b[i] == '\\' && i+1 < len(b) {
			i++
			if b[i] == 'n' {
				list = append(list, "\n")
				i++
				continue
			}
		}
		if !p.s.bytes {
			if _, n = utf8.DecodeRune(b[i:]); n == 0 {
				n = 1
			}
		}
		list = append(list, string(b[i:i+n]))
		i += n
	}
	return list
}

// isOlderVersion compares versions as strverscmp(3) does those of sed.
func isOlderVersion(a, b string) bool {
	for a != "" && b != "" {
		if ascii.IsDigit(int(a[0])) && ascii.IsDigit(int(b[0])) {
			x, y := leadingDigits(a), leadingDigits(b)
			a, b = a[len(x):], b[len(y):]
			x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
			if len(x) != len(y) {
				return len(x) < len(y)
			}
			if x != y {
				return x < y
			}
			continue
		}
		if a[0] != b[0] {
			return a[0] < b[0]
		}
		a, b = a[1:], b[1:]
	}
	return a == "" && b != ""
}

func leadingDigits(s string) string {
	n := 0
	for n < len(s) && ascii.IsDigit(int(s[n])) {
		n++
	}
	return s[:n]
}
