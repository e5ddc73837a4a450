// Package text holds the programs that work on lines of text, such as cat, cut, sort and uniq.
package text

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func catCommand() program.Description {
	return program.Description{
		Name: "cat", Usage: "[OPTION]... [FILE]...",
		Summary: "write the FILEs one after another to standard output",
		Help: `With no FILE, or when FILE is -, read standard input.

  -A, --show-all           the same as -vET
  -b, --number-nonblank    number the lines that are not empty; overrides -n
  -e                       the same as -vE
  -E, --show-ends          put $ at the end of each line
  -n, --number             number all lines
  -s, --squeeze-blank      write one of several empty lines
  -t                       the same as -vT
  -T, --show-tabs          write TAB as ^I
  -u                       does nothing
  -v, --show-nonprinting   write control characters as ^X, and M-X above 127
      --help               show this help and exit
      --version            show the version and exit`,
		Run: runCat,
	}
}

var catOptions = []getopt.Option{
	{Short: 'A', Long: "show-all"},
	{Short: 'b', Long: "number-nonblank"},
	{Short: 'e'},
	{Short: 'E', Long: "show-ends"},
	{Short: 'n', Long: "number"},
	{Short: 's', Long: "squeeze-blank"},
	{Short: 't'},
	{Short: 'T', Long: "show-tabs"},
	{Short: 'u'},
	{Short: 'v', Long: "show-nonprinting"},
}

// catStyle holds the options by which cat changes its output.
type catStyle struct {
	number, nonblank, squeeze, ends, tabs, visible bool
}

func (s *catStyle) set(id int) {
	switch id {
	case 'A':
		s.visible, s.ends, s.tabs = true, true, true
	case 'b':
		s.nonblank = true
	case 'e':
		s.visible, s.ends = true, true
	case 'E':
		s.ends = true
	case 'n':
		s.number = true
	case 's':
		s.squeeze = true
	case 't':
		s.visible, s.tabs = true, true
	case 'T':
		s.tabs = true
	case 'v':
		s.visible = true
	}
}

func runCat(p *shell.Proc) int {
	var style catStyle
	o := program.NewOptions(p, catCommand, catOptions)
	for o.Next() {
		style.set(o.ID)
	}
	if o.HasEnded() {
		return o.Status
	}
	names := o.Args()
	if len(names) == 0 {
		names = []string{"-"}
	}
	c := &catWriter{p: p, style: style, plain: style == catStyle{}}
	c.fresh = true
	status := 0
	for _, name := range names {
		if !c.file(name) {
			status = 1
		}
		if c.err != nil {
			return p.WriteFailed(c.err)
		}
	}
	return status
}

// catWriter copies files; line numbers and empty lines are counted across them.
type catWriter struct {
	p     *shell.Proc
	style catStyle
	plain bool

	line  int
	fresh bool // at the beginning of a line
	blank int  // empty lines in a row
	cr    bool // a carriage return is held back until it is known what follows
	in    []byte
	out   []byte // bounded: five bytes, and a number, for each byte of one read
	err   error  // of writing
}

// file copies one file and reports errors in it.
func (c *catWriter) file(name string) bool {
	in, err := program.OpenInput(c.p, name)
	if err != nil {
		c.p.Error(name, err)
		return false
	}
	defer in.Close()
	if c.isOwnOutput(name) {
		c.p.Warn("%s: input file is output file", shell.QuoteIfNeeded(name))
		return false
	}
	if c.in == nil {
		c.in = make([]byte, program.BufferSize)
	}
	for c.err == nil {
		n, err := in.Read(c.in)
		if e := c.p.Spend(1 + n>>10); e != nil {
			c.err = e
			return false
		}
		c.write(c.in[:n])
		if program.IsEnd(err) {
			break
		}
		if err != nil {
			c.flush()
			c.p.Error(name, err)
			return false
		}
	}
	if c.cr && c.err == nil {
		c.out = append(c.out[:0], c.carriageReturn()...)
		c.cr = false
		c.flush()
	}
	return true
}

// isOwnOutput reports whether the file is also the output: a copy would never end.
func (c *catWriter) isOwnOutput(name string) bool {
	out, err := c.p.Stat("/dev/stdout")
	if err != nil || !out.Mode.IsRegular() || out.Size == 0 {
		return false
	}
	if name == "-" {
		name = "/dev/stdin"
	}
	in, err := c.p.Stat(name)
	return err == nil && in.Ino == out.Ino && in.Mode.IsRegular()
}

func (c *catWriter) write(b []byte) {
	if c.plain {
		_, c.err = c.p.Stdout.Write(b)
		return
	}
	c.out = c.out[:0]
	for _, ch := range b {
		c.char(ch)
	}
	c.flush()
}

func (c *catWriter) flush() {
	if len(c.out) > 0 && c.err == nil {
		_, c.err = c.p.Stdout.Write(c.out)
	}
	c.out = c.out[:0]
}

func (c *catWriter) char(ch byte) {
	if c.cr && ch != '\n' {
		c.out = append(c.out, c.carriageReturn()...)
	}
	if ch == '\n' {
		c.newline()
		return
	}
	c.blank = 0
	if c.fresh {
		c.fresh = false
		if c.style.number || c.style.nonblank {
			c.numberLine()
		}
	}
	c.cr = ch == '\r' && c.style.ends
	if !c.cr {
		c.out = c.appendVisible(c.out, ch)
	}
}

func (c *catWriter) newline() {
	if c.fresh {
		if c.blank++; c.style.squeeze && c.blank > 1 {
			return
		}
		if c.style.number && !c.style.nonblank {
			c.numberLine()
		}
	}
	c.fresh = true
	if c.cr {
		// A carriage return before the end of a line would hide the line on a terminal.
		c.out = append(c.out, "^M"...)
		c.cr = false
	}
	if c.style.ends {
		c.out = append(c.out, '$')
	}
	c.out = append(c.out, '\n')
}

func (c *catWriter) carriageReturn() []byte {
	return c.appendVisible(nil, '\r')
}

func (c *catWriter) numberLine() {
	c.line++
	c.out = program.AppendPadded(c.out, c.line, 6)
	c.out = append(c.out, '\t')
}

func (c *catWriter) appendVisible(b []byte, ch byte) []byte {
	if ch == '\t' {
		if c.style.tabs {
			return append(b, "^I"...)
		}
		return append(b, ch)
	}
	if !c.style.visible {
		return append(b, ch)
	}
	if ch >= 128 {
		b = append(b, "M-"...)
		ch -= 128
	}
	switch {
	case ch < ' ':
		return append(b, '^', ch+64)
	case ch == 127:
		return append(b, "^?"...)
	}
	return append(b, ch)
}
