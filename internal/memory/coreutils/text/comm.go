package text

import (
	"bytes"
	"strconv"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func commCommand() program.Description {
	return program.Description{
		Name: "comm", Usage: "[OPTION]... FILE1 FILE2",
		Summary: "compare two sorted FILEs line by line",
		Help: `Lines that only FILE1 has stand in the first column, those that only FILE2 has in the
second, those of both in the third. One FILE may be - for standard input.

  -1                      leave out the first column
  -2                      leave out the second one
  -3                      leave out the third one
      --check-order       FILEs that are not sorted are an error
      --nocheck-order     they are none
      --output-delimiter=STRING  STRING stands between columns, not TAB
      --total             write how many lines each column has
  -z, --zero-terminated   lines end in NUL, not in a newline
      --help              show this help and exit
      --version           show the version and exit`,
		Run: runComm,
	}
}

const (
	commCheck = getopt.First + iota
	commNoCheck
	commDelimiter
	commTotal
)

var commOptions = []getopt.Option{
	{Short: '1'},
	{Short: '2'},
	{Short: '3'},
	{Long: "check-order", ID: commCheck},
	{Long: "nocheck-order", ID: commNoCheck},
	{Long: "output-delimiter", ID: commDelimiter, Arg: getopt.Required},
	{Long: "total", ID: commTotal},
	{Short: 'z', Long: "zero-terminated"},
}

// comm is a run of comm.
type comm struct {
	p            *shell.Proc
	out          *program.Output
	hide         [3]bool
	check, never bool
	between      string
	given        bool
	total        bool
	eol          byte
	counts       [3]int
	sides        [2]commSide
	unpaired     bool
}

// commSide is one of the files.
type commSide struct {
	lines    *program.LineReader
	name     string
	line     []byte // without its end; nil at the end of the file
	last     []byte
	hasLast  bool
	more     bool
	disorder bool
}

func runComm(p *shell.Proc) int {
	c := &comm{p: p, out: program.NewOutput(p), between: "\t", eol: '\n'}
	o := program.NewOptions(p, commCommand, commOptions)
	for o.Next() {
		switch o.ID {
		case '1', '2', '3':
			c.hide[o.ID-'1'] = true
		case commCheck:
			c.check, c.never = true, false
		case commNoCheck:
			c.check, c.never = false, true
		case commDelimiter:
			if c.given && c.between != o.Value {
				o.RejectQuietly("multiple output delimiters specified")
				continue
			}
			if c.between, c.given = o.Value, true; o.Value == "" {
				c.between = "\x00"
			}
		case commTotal:
			c.total = true
		case 'z':
			c.eol = 0
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	if !program.CheckOperands(p, commCommand, o.Args(), 2, 2) {
		return 1
	}
	for i, name := range o.Args() {
		in, err := program.OpenInput(p, name)
		if err != nil {
			p.Error(name, err)
			return 1
		}
		defer in.Close()
		c.sides[i] = commSide{lines: program.NewLineReader(p, in, c.eol), name: name}
	}
	return c.run()
}

func (c *comm) run() int {
	a, b := &c.sides[0], &c.sides[1]
	ok := c.advance(0) && c.advance(1)
	for ok && (a.more || b.more) && !c.out.HasFailed() {
		order := 0
		switch {
		case !a.more:
			order = 1
		case !b.more:
			order = -1
		default:
			order = bytes.Compare(a.line, b.line)
		}
		switch {
		case order < 0:
			c.write(0, a.line)
			c.unpaired = true
			ok = c.advance(0)
		case order > 0:
			c.write(1, b.line)
			c.unpaired = true
			ok = c.advance(1)
		default:
			c.write(2, a.line)
			ok = c.advance(0) && c.advance(1)
		}
	}
	for i := range c.sides {
		if l := c.sides[i].lines; l.Spent {
			return c.p.Status(l.Ended)
		}
	}
	status := 0
	if !ok {
		status = 1
	}
	if ok && c.total {
		for _, n := range c.counts {
			_, _ = c.out.WriteString(strconv.Itoa(n) + c.between)
		}
		_, _ = c.out.WriteString("total" + string([]byte{c.eol}))
	}
	if ok && (a.disorder || b.disorder) {
		_ = c.out.Flush()
		c.p.Warn("input is not in sorted order")
		status = 1
	}
	return c.out.Close(status)
}

// advance reads a side's next line; false when the program should stop.
func (c *comm) advance(i int) bool {
	s := &c.sides[i]
	if s.more {
		s.last, s.hasLast = append(s.last[:0], s.line...), true
	}
	line, ok := s.lines.Next()
	if !ok {
		s.more = false
		if s.lines.Spent {
			return false
		}
		if err := s.lines.Err(); err != nil {
			_ = c.out.Flush()
			c.p.Error(s.name, err)
			return false
		}
		return true
	}
	s.line, s.more = program.WithoutEnd(line, c.eol), true
	return c.verify(i)
}

// verify checks the order of a side's last lines.
func (c *comm) verify(i int) bool {
	s := &c.sides[i]
	if c.never || !s.more || !s.hasLast || s.disorder || !c.check && !c.unpaired {
		return true
	}
	if bytes.Compare(s.last, s.line) <= 0 {
		return true
	}
	_ = c.out.Flush()
	c.p.Warn("file %d is not in sorted order", i+1)
	s.disorder = true
	return !c.check
}

func (c *comm) write(column int, line []byte) {
	if c.counts[column]++; c.hide[column] {
		return
	}
	for i := range column {
		if !c.hide[i] {
			_, _ = c.out.WriteString(c.between)
		}
	}
	_, _ = c.out.Write(line)
	_ = c.out.WriteByte(c.eol)
}
