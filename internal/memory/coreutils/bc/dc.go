package bc

import (
	"bufio"
	"io"
	"strconv"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/bc/interpreter"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func dcCommand() program.Description {
	return program.Description{
		Name: "dc", Usage: "[OPTION] [file ...]",
		Summary: "compute with numbers of any length on a stack, as the files or standard input say",
		Help: `  -e, --expression=EXPR  run EXPR
  -f, --file=FILE        run what FILE holds
  -h, --help             show this help and exit
  -V, --version          show the version and exit`,
		Run: runDC,
	}
}

var dcOptions = []getopt.Option{
	{Short: 'e', Long: "expression", Arg: getopt.Required},
	{Short: 'f', Long: "file", Arg: getopt.Required},
	{Short: 'h', Long: "help", ID: getopt.Help},
	{Short: 'V', Long: "version", ID: getopt.Version},
}

// dc is a run of dc.
type dc struct {
	p      *shell.Proc
	out    *program.Output
	desk   *interpreter.Desk
	stdin  *bufio.Reader
	memory program.MemoryGuard
	status int
	ended  bool
}

func runDC(p *shell.Proc) int {
	c := newDC(p)
	defer c.memory.Close()
	o := program.NewOptions(p, dcCommand, dcOptions)
	given := false
	for o.Next() && !c.ended {
		given = true
		if o.ID == 'e' {
			c.end(0)(c.desk.RunText(o.Value))
		} else {
			c.file(o.Value)
		}
	}
	if o.HasEnded() {
		return c.out.Close(o.Status)
	}
	names := o.Args()
	if !given {
		names = program.FilesOrStdin(names)
	}
	for _, name := range names {
		if c.ended {
			break
		}
		c.file(name)
	}
	if c.status > 128 {
		return c.status
	}
	return c.out.Close(c.status)
}

func newDC(p *shell.Proc) *dc {
	c := &dc{p: p, out: program.NewOutput(p), stdin: bufio.NewReaderSize(p.Stdin, program.BufferSize), memory: program.MemoryGuard{P: p}}
	h := &interpreter.Host{Out: c.out.Writer, Spend: p.Spend, Take: c.memory.Take, Width: 71}
	h.Tell = func(text string) { _, _ = io.WriteString(p.Stderr, text+"\n") }
	if n, err := strconv.Atoi(p.Getenv("DC_LINE_LENGTH")); err == nil && (n == 0 || n > 1) {
		h.Width = n
		if n > 0 {
			h.Width++ // The backslash is not counted.
		}
	}
	c.desk = interpreter.NewDesk(h)
	c.desk.Name = p.Name()
	c.desk.Line = c.line
	c.desk.System = func(command string) { p.Run(shell.Spawn{Args: []string{"sh", "-c", command}}) }
	return c
}

// line reads a line of standard input.
func (c *dc) line() (string, bool) {
	var line []byte
	for {
		part, err := c.stdin.ReadSlice('\n')
		if c.p.Spend(1+len(part)>>6) != nil || c.p.Reserve(len(part)) != nil {
			return "", false
		}
		line = append(line, part...)
		if err != bufio.ErrBufferFull { //nolint:errorlint // It is returned as it is.
			return string(line), len(line) > 0
		}
	}
}

// file runs a file.
func (c *dc) file(name string) {
	if name == "-" {
		c.end(1)(c.desk.Run(c.stdin))
		return
	}
	f, err := c.p.Open(name)
	if err == nil {
		if info, e := f.Stat(); e == nil && info.IsDir() {
			_ = f.Close()
			_ = c.out.Flush()
			c.p.Warn("Will not attempt to process directory %s", name)
			return
		}
	}
	if err != nil {
		_ = c.out.Flush()
		c.p.Warn("Could not open file %s", name)
		return
	}
	defer f.Close()
	c.end(1)(c.desk.Run(bufio.NewReaderSize(f, program.BufferSize)))
}

// end handles the end of a program; quit is the exit status when the program asked dc to quit.
func (c *dc) end(quit int) func(ended bool, err error) {
	return func(ended bool, err error) {
		if ended {
			c.ended, c.status = true, quit
		}
		if err != nil {
			c.status = bcFailed(c.p, c.out, err)
		}
	}
}
