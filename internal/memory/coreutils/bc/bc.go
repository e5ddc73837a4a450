// Package bc holds the calculators bc and dc.
package bc

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/bc/interpreter"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func bcCommand() program.Description {
	return program.Description{
		Name: "bc", Usage: "[OPTION]... [FILE]...",
		Summary: "compute with numbers of any length, as the FILEs and then standard input say",
		Help: `  -h, --help         show this help and exit
  -i, --interactive  does nothing
  -l, --mathlib      scale=20, and s c a l e j: sine, cosine, arctangent, logarithm,
                     exponential and Bessel function
  -q, --quiet        does nothing
  -s, --standard     does nothing
  -w, --warn         does nothing
  -v, --version      show the version and exit`,
		Run: runBC,
	}
}

var bcOptions = []getopt.Option{
	{Short: 'h', Long: "help", ID: getopt.Help},
	{Short: 'i', Long: "interactive"},
	{Short: 'l', Long: "mathlib"},
	{Short: 'q', Long: "quiet"},
	{Short: 's', Long: "standard"},
	{Short: 'w', Long: "warn"},
	{Short: 'v', Long: "version", ID: getopt.Version},
}

func runBC(p *shell.Proc) int {
	o := program.NewOptions(p, bcCommand, bcOptions)
	out := program.NewOutput(p)
	memory := program.MemoryGuard{P: p}
	defer memory.Close()
	h := &interpreter.Host{Out: out.Writer, Spend: p.Spend, Take: memory.Take, Width: 70}
	h.Tell = func(text string) { _, _ = io.WriteString(p.Stderr, text+"\n") }
	for o.Next() {
		if o.ID == 'l' {
			h.Library = true
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	if n, err := strconv.Atoi(p.Getenv("BC_LINE_LENGTH")); err == nil && (n == 0 || n > 2) {
		h.Width = n
	}
	m := interpreter.New(h)
	for i, name := range append(o.Args(), "(standard_in)") {
		in := io.NopCloser(p.Stdin)
		if i < len(o.Args()) {
			f, err := p.Open(name)
			if err != nil {
				_ = out.Flush()
				_, _ = io.WriteString(p.Stderr, "File "+name+" is unavailable.\n")
				return out.Close(1)
			}
			in = f
		}
		ended, err := m.Run(name, bufio.NewReaderSize(in, program.BufferSize))
		_ = in.Close()
		if err != nil {
			return bcFailed(p, out, err)
		}
		if ended {
			break
		}
	}
	return out.Close(0)
}

func bcFailed(p *shell.Proc, out *program.Output, err error) int {
	_ = out.Flush()
	if strings.Contains(err.Error(), "cannot allocate") {
		_, _ = io.WriteString(p.Stderr, p.Name()+": Out of memory for malloc.\n")
		return 1
	}
	if errors.Is(err, shell.ErrFuel) || p.Context().Err() != nil {
		return p.Status(err)
	}
	return p.WriteFailed(err)
}
