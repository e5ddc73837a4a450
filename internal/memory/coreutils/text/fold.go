package text

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func foldCommand() program.Description {
	return program.Description{
		Name: "fold", Usage: "[OPTION]... [FILE]...",
		Summary: "break the lines of each FILE that are too long",
		Help: `With no FILE, or when FILE is -, read standard input.

  -b, --bytes        count bytes, not columns
  -s, --spaces       break behind blanks
  -w, --width=WIDTH  columns of a line; 80 by default
      --help         show this help and exit
      --version      show the version and exit`,
		Run: runFold,
	}
}

var foldOptions = getopt.WithDigits(getopt.Optional, []getopt.Option{
	{Short: 'b', Long: "bytes"},
	{Short: 's', Long: "spaces"},
	{Short: 'w', Long: "width", Arg: getopt.Required},
})

// fold is a run of fold.
type fold struct {
	failed error // no memory for the line
	p      *shell.Proc
	out    *program.Output
	bytes  bool
	spaces bool
	width  int
	line   []byte // not written yet
	column int
}

func runFold(p *shell.Proc) int {
	f := &fold{p: p, out: program.NewOutput(p), width: 80}
	o := program.NewOptions(p, foldCommand, foldOptions)
	for o.Next() {
		switch {
		case o.ID == 'b':
			f.bytes = true
		case o.ID == 's':
			f.spaces = true
		case o.ID == 'w':
			f.setWidth(o, o.Value)
		case ascii.IsDigit(o.ID):
			f.setWidth(o, string(rune(o.ID))+o.Value)
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	status := 0
	for _, name := range program.FilesOrStdin(o.Args()) {
		in, err := program.OpenInput(p, name)
		if err != nil {
			p.Error(name, err)
			status = 1
			continue
		}
		l := program.NewLineReader(p, in, '\n')
		f.column, f.line = 0, f.line[:0]
		for !f.out.HasFailed() {
			b, ok := l.Bytes()
			if !ok {
				break
			}
			if f.line, f.failed = program.GrowBuffer(p, f.line, len(b)); f.failed != nil {
				break
			}
			for _, c := range b {
				f.char(c)
			}
		}
		_, _ = f.out.Write(f.line)
		_ = in.Close()
		if l.Spent {
			return p.Status(l.Ended)
		}
		if err := cmp.Or(l.Err(), f.failed); err != nil {
			_ = f.out.Flush()
			p.Error(name, err)
			status = 1
		}
	}
	return f.out.Close(status)
}

func (f *fold) setWidth(o *program.Options, text string) {
	if strings.HasPrefix(text, "-") {
		o.RejectQuietly("invalid number of columns: %s", quoting.Name(text))
		return
	}
	if n, ok := program.UnsignedNumber(o, text, "invalid number of columns", program.NoUnits, 1, math.MaxInt64-9); ok {
		f.width = int(n)
	}
}

func (f *fold) char(c byte) {
	if c == '\n' {
		f.line = append(f.line, c)
		f.flush(len(f.line))
		f.column = 0
		return
	}
	for {
		next := f.after(f.column, c)
		if next <= f.width || len(f.line) == 0 {
			f.column = next
			if f.line = append(f.line, c); len(f.line) > program.BufferSize && !f.spaces {
				f.flush(len(f.line))
				f.column = next
			}
			return
		}
		f.cut()
	}
}

// after returns the column behind c.
func (f *fold) after(column int, c byte) int {
	switch {
	case f.bytes:
		return column + 1
	case c == '\b':
		return max(column-1, 0)
	case c == '\r':
		return 0
	case c == '\t':
		return column + 8 - column%8
	}
	return column + 1
}

// cut writes a line that is full.
func (f *fold) cut() {
	if f.spaces {
		for i, c := range slices.Backward(f.line) {
			if c != ' ' && c != '\t' {
				continue
			}
			_, _ = f.out.Write(f.line[:i+1])
			_ = f.out.WriteByte('\n')
			f.line = f.line[:copy(f.line, f.line[i+1:])]
			f.column = 0
			for _, c := range f.line {
				f.column = f.after(f.column, c)
			}
			return
		}
	}
	_, _ = f.out.Write(f.line)
	_ = f.out.WriteByte('\n')
	f.line, f.column = f.line[:0], 0
}

func (f *fold) flush(n int) {
	_, _ = f.out.Write(f.line[:n])
	f.line = f.line[:0]
}
