package split

import (
	"fmt"
	"math"
	"os"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

func csplitCommand() program.Description {
	return program.Description{
		Name: "csplit", Usage: "[OPTION]... FILE PATTERN...",
		Summary: "divide FILE at PATTERNs into xx00, xx01 and so on",
		Help: `Write the length of each piece. FILE - is standard input.

  -b, --suffix-format=FORMAT  the end of names, as printf writes a number; %02d by default
  -f, --prefix=PREFIX      the start of names; xx by default
  -k, --keep-files         leave the pieces after an error
      --suppress-matched   leave out the lines that PATTERNs name
  -n, --digits=DIGITS      digits of names; 2 by default
  -s, -q, --quiet, --silent  write no lengths
  -z, --elide-empty-files  no empty pieces
      --help               show this help and exit
      --version            show the version and exit

A PATTERN may be:
  INTEGER           a piece up to the line in front of that number
  /REGEXP/[OFFSET]  a piece up to the line in front of the next that matches
  %REGEXP%[OFFSET]  pass over these lines
  {INTEGER}         the PATTERN in front so many times more
  {*}               the PATTERN in front as often as there are lines for it
OFFSET is a number of lines with + or - before it.`,
		Run: runCsplit,
	}
}

const csplitSuppressMatched = getopt.First

var csplitOptions = []getopt.Option{
	{Long: "silent", ID: 's'},
	{Short: 'b', Long: "suffix-format", Arg: getopt.Required},
	{Short: 'f', Long: "prefix", Arg: getopt.Required},
	{Short: 'k', Long: "keep-files"},
	{Short: 'n', Long: "digits", Arg: getopt.Required},
	{Short: 'q', Long: "quiet"},
	{Short: 's'},
	{Short: 'z', Long: "elide-empty-files"},
	{Long: "suppress-matched", ID: csplitSuppressMatched},
}

// csplit is a run of csplit.
type csplit struct {
	p         *shell.Proc
	out       *program.Output
	prefix    string
	suffix    csplitSuffix
	keep      bool
	quiet     bool
	elide     bool
	suppress  bool
	divisions []csplitDivision

	text    []byte
	starts  []int // of the lines, and the end of the last one
	err     error // the error that ended the text
	next    int   // the first line that is not written, from 1
	current int   // the last line that was looked at

	file    *vfs.File
	name    string
	written int
	made    int // files
	status  int
}

func runCsplit(p *shell.Proc) int {
	c := &csplit{p: p, out: program.NewOutput(p), prefix: "xx", next: 1}
	digits, format, formatted := int64(2), "", false
	o := program.NewOptions(p, csplitCommand, csplitOptions)
	for o.Next() {
		switch o.ID {
		case 'b':
			format, formatted = o.Value, true
		case 'f':
			c.prefix = o.Value
		case 'k':
			c.keep = true
		case 'n':
			digits, _ = program.LimitedNumber(o, o.Value, "invalid number", program.NoUnits, 0, math.MaxInt32)
		case 'q', 's':
			c.quiet = true
		case 'z':
			c.elide = true
		case csplitSuppressMatched:
			c.suppress = true
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	args := o.Args()
	if !program.CheckOperands(p, csplitCommand, args, 2, -1) {
		return 1
	}
	c.suffix = csplitSuffix{verb: 'd', zero: true, precision: -1, width: int(min(digits, csplitMost))}
	if formatted {
		var fault string
		if c.suffix, fault = parseCsplitSuffix(format); fault != "" {
			p.Warn("%s", fault)
			return 1
		}
	}
	if !c.canOpen(args[0]) || !c.parse(args[1:]) {
		return 1
	}
	c.read(args[0])
	if c.divide() && c.create() {
		c.write(len(c.starts))
		c.close()
	}
	return c.out.Close(c.status)
}

// canOpen reports whether the file can be opened, before the patterns are looked at.
func (c *csplit) canOpen(name string) bool {
	in, err := program.OpenInput(c.p, name)
	if err != nil {
		c.p.Errorf(err, "cannot open %s for reading", shell.Quote(name))
		return false
	}
	_ = in.Close()
	return true
}

// read reads the text, and notes where its lines begin.
func (c *csplit) read(name string) {
	if c.text, c.err = program.ReadInput(c.p, name); c.err != nil {
		return
	}
	c.starts = append(c.starts, 0)
	for i, b := range c.text {
		if b != '\n' && i < len(c.text)-1 {
			continue
		}
		if c.err = c.p.Reserve(8); c.err != nil {
			return
		}
		c.starts = append(c.starts, i+1)
	}
}

// line returns a line, from 1 on, without its end.
func (c *csplit) line(n int) (line []byte, ok bool) {
	if n >= len(c.starts) {
		return nil, false
	}
	return program.WithoutEnd(c.text[c.starts[n-1]:c.starts[n]], '\n'), true
}

// isReadable reports whether the text could be read, with a message when not.
func (c *csplit) isReadable() bool {
	if c.err == nil {
		return true
	}
	if c.status = c.p.Status(c.err); c.status == 1 {
		c.p.Errorf(c.err, "read error")
	}
	return c.fail()
}

// create begins the next file.
func (c *csplit) create() bool {
	c.name, c.written = c.prefix+c.suffix.of(c.made), 0
	if err := c.p.Spend(1); err != nil {
		c.status = c.p.Status(err)
		return c.fail()
	}
	var err error
	if c.file, err = c.p.OpenFile(c.name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666); err != nil {
		c.p.Error(c.name, err)
		return c.fail()
	}
	c.made++
	return true
}

// write writes the lines up to end to the current file, or drops them if there is none. It returns
// false when that failed.
func (c *csplit) write(end int) bool {
	if end <= c.next {
		return true
	}
	b := c.text[c.starts[c.next-1]:c.starts[end-1]]
	c.next, c.current = end, max(c.current, end-1)
	if c.file == nil {
		return true
	}
	c.written += len(b)
	err := c.p.Spend(len(b) >> 6)
	if err == nil {
		_, err = c.file.Write(b)
	}
	return err == nil || c.writeFailed(err)
}

func (c *csplit) writeFailed(err error) bool {
	_ = c.file.Close()
	c.file = nil
	if c.status = c.p.Status(err); c.status == 1 {
		c.p.Warn("write error for %s: %s", shell.Quote(c.name), shell.Strerror(err))
	}
	return c.fail()
}

// close ends the current file, and prints its length.
func (c *csplit) close() bool {
	if c.file == nil {
		return true
	}
	if err := c.file.Close(); err != nil {
		return c.writeFailed(err)
	}
	c.file = nil
	switch {
	case c.written == 0 && c.elide:
		if err := c.p.Unlink(c.name); err != nil {
			c.p.Error(c.name, err)
		} else {
			c.made--
		}
	case !c.quiet:
		fmt.Fprintf(c.out, "%d\n", c.written)
	}
	return true
}

// fail ends the run: it removes the files, unless -k is given. It returns false.
func (c *csplit) fail() bool {
	c.status = max(c.status, 1)
	c.close()
	if !c.keep {
		for i := range c.made {
			_ = c.p.Unlink(c.prefix + c.suffix.of(i))
		}
		c.made = 0
	}
	return false
}
