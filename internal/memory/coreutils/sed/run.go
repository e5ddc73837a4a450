package sed

import (
	"bufio"
	"bytes"
	"strconv"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// sed is a run of sed.
type sed struct {
	sedSetup
	p      *shell.Proc
	prog   sedProgram
	input  sedInput
	stdout *sedOutput
	main   *sedOutput // standard output, or what becomes of the current file

	line         []byte // the pattern space
	borrowed     bool   // it lies in the input's buffer
	complete     bool   // it ended with a newline
	hold         []byte
	holdComplete bool
	space, spare []byte // buffers of the pattern space
	caps         []int
	replaced     bool // for t
	lastRegex    *sedRegexp
	appends      []sedAppend
	heldLines    int // bytes of their lines of R
	outputs      []*sedOutput
	readers      []*sedLines

	held   int // bytes that the spaces have taken
	status int
	ended  error // the run has ended; status or p.Status says how
	quit   bool
}

func newSed(p *shell.Proc, setup sedSetup) *sed {
	s := &sed{sedSetup: setup, p: p, holdComplete: true}
	s.stdout = &sedOutput{name: "/dev/stdout", Writer: bufio.NewWriterSize(p.Stdout, program.BufferSize)}
	s.main = s.stdout
	return s
}

func newSedFile(f *vfs.File) *sedOutput {
	return &sedOutput{Writer: bufio.NewWriterSize(f, program.BufferSize), closer: f}
}

// run edits the files.
func (s *sed) run(names []string) int {
	if s.quiet = s.quiet || s.prog.quiet; len(names) == 0 {
		if s.inPlace {
			s.p.Warn("no input files")
			return sedPanic
		}
		names = []string{"-"}
	}
	s.input.names = names
	fast := s.newSkimmer()
	for s.ended == nil && !s.quit {
		if fast != nil {
			fast.skim(s)
		}
		if !s.readLine(false) {
			break
		}
		s.cycle()
		if s.hasOutputFailed() {
			break
		}
	}
	return s.finish()
}

func (s *sed) finish() int {
	if s.ended != nil {
		s.dropInPlace()
	}
	s.flushAppends()
	s.closeInput(false)
	s.flushFiles()
	err := s.stdout.Flush()
	switch {
	case s.ended != nil && s.status != sedPanic:
		return s.p.Status(s.ended)
	case err != nil:
		if status := s.p.Status(err); status != 1 {
			return status
		}
		s.p.Warn("couldn't write to stdout: %s", shell.Strerror(err))
		return sedPanic
	}
	return s.status
}

// panic ends the run with a message.
func (s *sed) panic(format string, args ...any) {
	if s.ended == nil {
		s.p.Warn(format, args...)
		s.ended, s.status = syscall.EIO, sedPanic
	}
}

// spend takes fuel; false when the process has to end.
func (s *sed) spend(n int) bool {
	if err := s.p.Spend(n); err != nil && s.ended == nil {
		s.ended = err
	}
	return s.ended == nil
}

// charge accounts for n bytes of a space.
func (s *sed) charge(n int) bool {
	if n >= 64 {
		s.spend(n >> 6)
	}
	return s.ended == nil && s.isWithinBounds(s.space)
}

// sedLargest is the size from which a space counts as memory, in bytes.
const sedLargest = 64 << 10

// isWithinBounds reports whether a space may be as large as it is.
func (s *sed) isWithinBounds(b []byte) bool {
	if len(b) < sedLargest {
		return s.ended == nil
	}
	if total := cap(s.space) + cap(s.spare) + cap(s.hold) + cap(b); total > s.held {
		if s.p.Reserve(total-s.held) != nil {
			s.panic(sedErrMemory)
		}
		s.held = total
	}
	return s.ended == nil
}

// grow returns out, a new pattern space, with room for n more bytes. The run ends when the machine has no memory for it.
func (s *sed) grow(out []byte, n int) []byte {
	need := len(out) + n
	if need <= cap(out) || need < sedLargest {
		return out
	}
	size := max(need, 2*cap(out))
	if total := cap(s.space) + cap(s.spare) + cap(s.hold) + size; total > s.held {
		if s.p.Reserve(total-s.held) != nil {
			s.panic(sedErrMemory)
			return out
		}
		s.held = total
	}
	return append(make([]byte, 0, size), out...)
}

// own takes the pattern space out of the input's buffer, which reading changes.
func (s *sed) own() {
	if s.borrowed {
		s.set(s.line)
	}
}

// set makes a copy of b the pattern space.
func (s *sed) set(b []byte) {
	s.space = append(s.space[:0], b...)
	s.line, s.borrowed = s.space, false
}

// extend adds a line to the pattern space.
func (s *sed) extend(line []byte) {
	s.own()
	s.space = append(append(s.line, s.delim), line...)
	s.line = s.space
}

// adopt makes b, which was built in spare, the pattern space.
func (s *sed) adopt(b []byte) {
	s.spare, s.space = s.space, b
	s.line, s.borrowed = b, false
}

// writeLine writes the pattern space.
func (s *sed) writeLine(to *sedOutput) { to.line(s.line, s.complete, s.delim) }

// regexp returns the expression, or the last one for an empty one.
func (s *sed) regexp(re *sedRegexp) *sedRegexp {
	if !re.empty {
		s.lastRegex = re
		return re
	}
	if s.lastRegex == nil {
		if s.ended == nil {
			s.p.Warn("-e expression #1, char 0: %s", sedErrNoRegex)
			s.ended, s.status = syscall.EINVAL, sedBadUsage
		}
		return nil
	}
	return s.lastRegex
}

// find looks for a match.
func (s *sed) find(re *sedRegexp, b []byte, from int, caps []int) bool {
	if re.Find(b, from, caps) {
		return true
	}
	if err := re.Err(); err != nil && s.ended == nil {
		if s.ended = err; s.p.Context().Err() == nil {
			s.panicRegex(err)
		}
	}
	return false
}

func (s *sed) panicRegex(err error) {
	s.ended = nil
	s.panic("error in regular expression: %s", err)
	s.ended = err
}

// matches reports whether the address means the current line.
func (s *sed) matches(a *sedAddress) bool {
	switch a.kind {
	case sedLine:
		return s.input.number == a.number
	case sedStep:
		return s.input.number >= a.number && (s.input.number-a.number)%a.step == 0
	case sedLast:
		return s.isLast()
	case sedRegex:
		re := s.regexp(a.re)
		return re != nil && s.find(re, s.line, 0, nil)
	case sedPlus, sedMultiple: // These are never the first, and ranges know their end.
	}
	return false
}

// isSelected reports whether the command is for the current line.
func (s *sed) isSelected(c *sedInstruction) bool {
	if c.a1 == nil {
		return true
	}
	if c.a2 == nil {
		return s.matches(c.a1)
	}
	n := s.input.number
	if c.state == sedInside {
		return s.isInside(c, n)
	}
	if c.a1.kind == sedLine {
		if c.state == sedBehind || n < c.a1.number {
			return false
		}
	} else if !s.matches(c.a1) {
		return false
	}
	switch c.a2.kind {
	case sedLine:
		if c.end = c.a2.number; n >= c.end {
			c.state = sedBehind
			return c.a1.kind != sedLine || n == c.a1.number || n == c.end && n >= c.a1.number && c.end > c.a1.number
		}
	case sedPlus:
		if c.end = n + c.a2.number; c.a2.number == 0 {
			c.state = sedBehind
			return true
		}
	case sedMultiple:
		if m := c.a2.number; m > 0 {
			c.end = n - n%m + m
		} else {
			c.state = sedBehind
			return true
		}
	default:
	}
	c.state = sedInside
	return true
}

// isInside reports whether the range that has begun still goes on.
func (s *sed) isInside(c *sedInstruction, n int) bool {
	switch c.a2.kind {
	case sedLine:
		if n >= c.end {
			c.state = sedBehind
		}
		return n <= c.end
	case sedPlus, sedMultiple:
		if n >= c.end {
			c.state = sedBehind
		}
	default:
		if s.matches(c.a2) {
			c.state = sedBehind
		}
	}
	return true
}

// cycle executes the script on the current line, again when D asks for it.
func (s *sed) cycle() {
	for s.ended == nil {
		again, silent := s.execute()
		if !s.quiet && !silent && s.ended == nil {
			s.writeLine(s.main)
		}
		s.flushAppends()
		switch {
		case s.quit && !silent:
			s.main.end(s.delim)
			return
		case !again || s.quit:
			return
		}
	}
}

// execute runs the script once. again: D begins it once more without a new line; silent: the pattern
// space is not written.
func (s *sed) execute() (again, silent bool) {
	list := s.prog.list
	for at := 0; at < len(list); at++ {
		c := &list[at]
		if s.isSelected(c) == c.not {
			if c.name == '{' {
				at = c.target - 1
			}
			if s.ended != nil {
				return false, true
			}
			continue
		}
		switch c.name {
		case '{':
			continue
		case 'b':
			at = c.target - 1
		case 't', 'T':
			if s.replaced == (c.name == 't') {
				at = c.target - 1
			}
			s.replaced = false
		case 'd':
			return false, true
		case 'D':
			if n := bytes.IndexByte(s.line, s.delim); n >= 0 {
				s.line = s.line[n+1:]
				return s.spend(1 + len(s.line)>>6), true
			}
			return false, true
		case 'c':
			if c.a2 == nil || c.state != sedInside {
				s.insert(c.text)
			}
			return false, true
		case 's':
			s.substitute(c.subst)
		case 'n', 'N':
			if !s.advance(c.name == 'N') {
				return false, c.name == 'N' && s.posix
			}
		case 'q', 'Q':
			s.leave(c)
			return false, c.name == 'Q'
		default:
			s.simple(c)
		}
		if !s.spend(1) {
			return false, true
		}
	}
	return false, false
}

// leave is q and Q.
func (s *sed) leave(c *sedInstruction) {
	s.quit, s.status = true, c.number
	if c.name == 'Q' {
		s.appends = s.appends[:0]
	}
}

// advance runs n and N; false at the end of the input.
func (s *sed) advance(more bool) bool {
	if s.isLast() {
		return false
	}
	if !more && !s.quiet {
		s.writeLine(s.main)
	}
	return s.readLine(more)
}

// simple executes commands that do not change the course of the script.
func (s *sed) simple(c *sedInstruction) {
	switch c.name {
	case 'p':
		s.writeLine(s.main)
	case 'P':
		line, _, found := bytes.Cut(s.line, []byte{s.delim})
		s.main.line(line, found || s.complete, s.delim)
	case 'g', 'G', 'h', 'H', 'x', 'z':
		s.spaces(c.name)
	case 'y':
		s.transliterate(c)
	case 'a':
		s.later(sedAppend{text: c.text})
	case 'i':
		s.insert(c.text)
	case '=':
		s.insert(append(strconv.AppendInt(nil, int64(s.input.number), 10), '\n'))
	case 'F':
		name := s.input.name
		s.insert([]byte(name + "\n"))
	case 'l':
		s.list(c.number)
	case 'r':
		s.later(sedAppend{file: c.file})
	case 'R':
		if line, ok := c.lines.next(s); ok {
			s.later(sedAppend{text: bytes.Clone(line), raw: true})
		}
	case 'w':
		s.writeLine(c.out)
	case 'W':
		line, _, found := bytes.Cut(s.line, []byte{s.delim})
		c.out.line(line, found || s.complete, s.delim)
	case 'e':
		s.executeCommand(c)
	}
}

// insert writes a text of lines before the pattern space.
func (s *sed) insert(text []byte) {
	s.main.end(s.delim)
	if n := len(text); s.delim == 0 && n > 0 {
		_, _ = s.main.Write(text[:n-1])
		_ = s.main.WriteByte(0)
		return
	}
	_, _ = s.main.Write(text)
}

// executeCommand is the e command.
func (s *sed) executeCommand(c *sedInstruction) {
	if len(c.text) > 0 {
		out := s.shellOutput(string(c.text))
		s.main.end(s.delim)
		_, _ = s.main.Write(out)
		return
	}
	s.evaluate()
}

// evaluate puts what the pattern space does as a command in its place.
func (s *sed) evaluate() { s.set(program.WithoutEnd(s.shellOutput(string(s.line)), s.delim)) }

// spaces are the commands about the pattern space and the hold space.
func (s *sed) spaces(name byte) {
	switch name {
	case 'g':
		s.set(s.hold)
		s.complete = s.holdComplete
	case 'G':
		s.extend(s.hold)
		s.complete = s.holdComplete
	case 'h':
		s.hold = append(s.hold[:0], s.line...)
		s.holdComplete = s.complete
	case 'H':
		s.hold = append(append(s.hold, s.delim), s.line...)
		s.holdComplete = s.complete
		if !s.isWithinBounds(s.hold) {
			return
		}
	case 'x':
		s.own()
		s.space, s.hold = s.hold, s.line
		s.line = s.space
		s.complete, s.holdComplete = s.holdComplete, s.complete
		return
	case 'z':
		s.line = s.line[:0]
	}
	s.charge(len(s.line))
}

// transliterate is y.
func (s *sed) transliterate(c *sedInstruction) {
	s.own()
	if c.bytes != nil {
		for i, ch := range s.line {
			s.line[i] = c.bytes[ch]
		}
		s.charge(len(s.line))
		return
	}
	out := s.spare[:0]
	for rest := s.line; len(rest) > 0; {
		n := s.width(rest)
		if i, ok := c.runes[string(rest[:n])]; ok {
			out = append(out, c.pairs[i]...)
		} else {
			out = append(out, rest[:n]...)
		}
		rest = rest[n:]
	}
	s.adopt(out)
	s.charge(len(out))
}

// list is l: the pattern space with escapes, in lines of a width.
func (s *sed) list(width int) {
	if width < 0 {
		width = s.lineLength
	}
	width-- // 0 is without end
	s.main.end(s.delim)
	column := 0
	var one [4]byte
	for _, ch := range s.line {
		text := appendListed(one[:0], ch)
		if width >= 0 && column+len(text) > width {
			_, _ = s.main.Write([]byte{'\\', s.delim})
			column = 0
		}
		_, _ = s.main.Write(text)
		column += len(text)
	}
	_, _ = s.main.Write([]byte{'$', s.delim})
	s.charge(len(s.line))
}

// appendListed appends a byte as l shows it.
func appendListed(b []byte, ch byte) []byte {
	switch {
	case ch == '\\':
		return append(b, '\\', '\\')
	case ch >= ' ' && ch < 127:
		return append(b, ch)
	}
	return append(b, quoting.EscapedByte(ch)...)
}
