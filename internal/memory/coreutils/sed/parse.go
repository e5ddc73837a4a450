package sed

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// Messages about wrong scripts.
const (
	sedErrBang        = "multiple `!'s"
	sedErrComma       = "unexpected `,'"
	sedErrStep        = "invalid usage of +N or ~N as first address"
	sedErrOpen        = "unmatched `{'"
	sedErrClose       = "unexpected `}'"
	sedErrJunk        = "extra characters after command"
	sedErrSlash       = "expected \\ after `a', `c' or `i'"
	sedErrCloseAddr   = "} doesn't want any addresses"
	sedErrColonAddr   = ": doesn't want any addresses"
	sedErrSharpAddr   = "comments don't accept any addresses"
	sedErrNoCommand   = "missing command"
	sedErrOneAddr     = "command only uses one address"
	sedErrAddrRegex   = "unterminated address regex"
	sedErrS           = "unterminated `s' command"
	sedErrY           = "unterminated `y' command"
	sedErrOption      = "unknown option to `s'"
	sedErrManyP       = "multiple `p' options to `s' command"
	sedErrManyG       = "multiple `g' options to `s' command"
	sedErrManyN       = "multiple number options to `s' command"
	sedErrZero        = "number option to `s' command may not be zero"
	sedErrYLength     = "strings for `y' command are different lengths"
	sedErrDelimiter   = "delimiter character is not a single-byte character"
	sedErrVersion     = "expected newer version of sed"
	sedErrLine0       = "invalid usage of line address 0"
	sedErrLabel       = "\":\" lacks a label"
	sedErrRecursive   = "recursive escaping after \\c not allowed"
	sedErrSandbox     = "e/r/w commands disabled in sandbox mode"
	sedErrNoFile      = "missing filename in r/R/w/W commands"
	sedErrModifiers   = "cannot specify modifiers on empty regexp"
	sedErrNoRegex     = "no previous regular expression"
	sedErrReference   = "invalid reference \\%d on `s' command's RHS"
	sedErrJump        = "can't find label for jump to `%s'"
	sedErrUnknown     = "unknown command: `%c'"
	sedErrMemory      = "couldn't re-allocate memory"
	sedErrUnsupported = "INTERNAL ERROR: Bad cmd %c"
)

// sedFault is an error in a script; the parser panics with it and compile recovers.
type sedFault struct {
	text   string
	status int
}

// sedInstructionSize is what an instruction and its block hold, in bytes, in a list that has grown to twice its length.
const sedInstructionSize = 512

// sedEOF is read at the end of a chunk.
const sedEOF = -1

// sedParser reads chunks of a script.
type sedParser struct {
	s    *sed
	prog *sedProgram

	src   string
	pos   int
	line  int // of a file, from 1
	file  string
	count int // of expressions
	first bool

	blocks  []sedBlock
	labels  map[string]int
	pending int // index of the command whose text goes on; -1 for none
	text    []byte
}

// sedBlock is an open {.
type sedBlock struct {
	at    int
	place string
}

// compile reads the script; it returns false after a message.
func (s *sed) compile(chunks []sedChunk) (ok bool) {
	p := &sedParser{s: s, prog: &s.prog, labels: map[string]int{}, pending: -1, first: true}
	defer func() {
		if f := recover(); f != nil {
			fault, known := f.(*sedFault)
			if !known {
				panic(f)
			}
			s.p.Warn("%s", fault.text)
			s.status, ok = fault.status, false
		}
	}()
	for _, c := range chunks {
		p.chunk(c)
	}
	p.finish()
	return true
}

func (p *sedParser) chunk(c sedChunk) {
	p.pos, p.line = 0, 1
	if c.file {
		b, err := program.ReadInput(p.s.p, c.text)
		if err != nil {
			p.panic("couldn't open file %s: %s", c.text, shell.Strerror(err))
		}
		p.file, p.src = c.text, string(b)
	} else {
		p.file, p.src = "", c.text
		p.count++
	}
	if p.pending >= 0 {
		p.readText()
	}
	for p.command() {
		if err := p.s.p.Spend(1); err != nil {
			panic(&sedFault{"out of work", p.s.p.Status(err)})
		}
		if p.s.p.Reserve(sedInstructionSize) != nil {
			panic(&sedFault{sedErrMemory, sedPanic})
		}
	}
	p.first = false
}

// finish checks what can only be known at the end, and sets jumps.
func (p *sedParser) finish() {
	if p.pending >= 0 {
		p.prog.list[p.pending].text = nil
	}
	if len(p.blocks) > 0 {
		b := p.blocks[0]
		panic(&sedFault{b.place + sedErrOpen, sedBadUsage})
	}
	for i := range p.prog.list {
		c := &p.prog.list[i]
		if c.name != 'b' && c.name != 't' && c.name != 'T' {
			continue
		}
		if c.label == "" {
			c.target = len(p.prog.list)
			continue
		}
		at, ok := p.labels[c.label]
		if !ok {
			p.panic(sedErrJump, c.label)
		}
		c.target = at
	}
}

// fail ends the parser with a message about the place it has come to.
func (p *sedParser) fail(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p.file != "" {
		text = fmt.Sprintf("file %s line %d: %s", p.file, p.line, text)
	} else {
		text = fmt.Sprintf("-e expression #%d, char %d: %s", p.count, p.pos, text)
	}
	panic(&sedFault{text, sedBadUsage})
}

func (p *sedParser) panic(format string, args ...any) {
	panic(&sedFault{fmt.Sprintf(format, args...), sedPanic})
}

func (p *sedParser) char() int {
	if p.pos >= len(p.src) {
		return sedEOF
	}
	c := p.src[p.pos]
	p.pos++
	if c == '\n' {
		p.line++
	}
	return int(c)
}

func (p *sedParser) back(ch int) {
	if ch == sedEOF {
		return
	}
	if p.pos--; ch == '\n' {
		p.line--
	}
}

func (p *sedParser) nonblank() int {
	for { // bounded: the script ends
		if ch := p.char(); ch != ' ' && ch != '\t' {
			return ch
		}
	}
}

func isSedSpace(ch int) bool { return ch == ' ' || ch >= '\t' && ch <= '\r' }

// integer reads a number whose first digit may be ch.
func (p *sedParser) integer(ch int) int {
	n := 0
	for ascii.IsDigit(ch) { // bounded: the script ends
		if n < math.MaxInt/10-10 {
			n = n*10 + ch - '0'
		}
		ch = p.char()
	}
	p.back(ch)
	return n
}

func (p *sedParser) endOfCommand() {
	switch ch := p.nonblank(); ch {
	case '}', '#':
		p.back(ch)
	case sedEOF, '\n', ';':
	default:
		p.fail(sedErrJunk)
	}
}

// command reads the next command; false at the end.
func (p *sedParser) command() bool {
	ch := p.char()
	for ch == ';' || isSedSpace(ch) { // bounded: the script ends
		ch = p.char()
	}
	if ch == sedEOF {
		return false
	}
	var c sedInstruction
	ch = p.addresses(&c, ch)
	if ch == '!' {
		c.not = true
		if ch = p.nonblank(); ch == '!' {
			p.fail(sedErrBang)
		}
	}
	if p.s.posix {
		p.checkPosix(&c, ch)
	}
	if ch == sedEOF {
		p.fail(sedErrNoCommand)
	}
	c.name = byte(ch)
	if keep := p.operands(&c); keep {
		p.prog.list = append(p.prog.list, c)
	}
	return true
}

func (p *sedParser) addresses(c *sedInstruction, ch int) int {
	if c.a1 = p.address(ch); c.a1 == nil {
		return ch
	}
	if c.a1.kind == sedPlus || c.a1.kind == sedMultiple {
		p.fail(sedErrStep)
	}
	if ch = p.nonblank(); ch == ',' {
		if c.a2 = p.address(p.nonblank()); c.a2 == nil {
			p.fail(sedErrComma)
		}
		ch = p.nonblank()
	}
	if c.a1.kind == sedLine && c.a1.number == 0 {
		if c.a2 == nil || c.a2.kind != sedRegex || p.s.posix {
			p.fail(sedErrLine0)
		}
		c.state = sedInside
	}
	return ch
}

// checkPosix refuses what POSIX does not have.
func (p *sedParser) checkPosix(c *sedInstruction, ch int) {
	switch {
	case ch != sedEOF && strings.ContainsRune("eFvzLQTRW", rune(ch)):
		p.fail(sedErrUnknown, ch)
	case ch != sedEOF && strings.ContainsRune("aiq=r", rune(ch)) && c.a2 != nil:
		p.fail(sedErrOneAddr)
	}
}

// address reads an address that begins with ch; nil when none does.
func (p *sedParser) address(ch int) *sedAddress {
	switch {
	case ch == '/' || ch == '\\':
		return p.regexAddress(ch)
	case ascii.IsDigit(ch):
		a := &sedAddress{kind: sedLine, number: p.integer(ch)}
		if ch = p.nonblank(); ch != '~' || p.s.posix {
			p.back(ch)
			return a
		}
		if a.step = p.integer(p.nonblank()); a.step > 0 {
			a.kind = sedStep
		}
		return a
	case (ch == '+' || ch == '~') && !p.s.posix:
		a := &sedAddress{kind: sedPlus, number: p.integer(p.nonblank())}
		if ch == '~' {
			a.kind = sedMultiple
		}
		return a
	case ch == '$':
		return &sedAddress{kind: sedLast}
	}
	return nil
}

func (p *sedParser) regexAddress(ch int) *sedAddress {
	if ch == '\\' {
		ch = p.char()
	}
	source, ok := p.delimited(ch, true)
	if !ok {
		p.fail(sedErrAddrRegex)
	}
	var fold, multiline bool
	for {
		ch = p.nonblank()
		switch {
		case ch == 'I' && !p.s.posix:
			fold = true
		case ch == 'M' && !p.s.posix:
			multiline = true
		default:
			p.back(ch)
			return &sedAddress{kind: sedRegex, re: p.regexp(source, fold, multiline, 0)}
		}
	}
}
