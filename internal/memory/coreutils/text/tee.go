package text

import (
	"io"
	"os"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/choice"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func teeCommand() program.Description {
	return program.Description{
		Name: "tee", Usage: "[OPTION]... [FILE]...",
		Summary: "write standard input to each FILE and to standard output",
		Help: `  -a, --append             add to the FILEs instead of replacing what they hold
  -i, --ignore-interrupts  does nothing: there is no terminal to interrupt from
  -p                       go on when a pipe is closed; --output-error=warn-nopipe
      --output-error[=MODE]  what happens when a write fails: warn, warn-nopipe, exit,
                             exit-nopipe
      --help               show this help and exit
      --version            show the version and exit`,
		Run: runTee,
	}
}

const teeOutputError = getopt.First

var teeOptions = []getopt.Option{
	{Short: 'a', Long: "append"},
	{Short: 'i', Long: "ignore-interrupts"},
	{Short: 'p'},
	{Long: "output-error", ID: teeOutputError, Arg: getopt.Optional},
}

// teeFailure says what happens when a write fails.
type teeFailure uint8

const (
	teeDefault teeFailure = iota // ends with SIGPIPE, warns of all else
	teeWarn
	teeWarnNoPipe
	teeExit
	teeExitNoPipe
)

// teeTarget is one of the outputs.
type teeTarget struct {
	name string
	w    io.Writer
}

func runTee(p *shell.Proc) int {
	mode, flag := teeDefault, os.O_WRONLY|os.O_CREATE|os.O_TRUNC
	o := program.NewOptions(p, teeCommand, teeOptions)
	for o.Next() {
		switch o.ID {
		case 'a':
			flag = os.O_WRONLY | os.O_CREATE | os.O_APPEND
		case 'p':
			mode = teeWarnNoPipe
		case teeOutputError:
			if mode = teeWarnNoPipe; o.HasValue {
				mode = program.Choose(o, "--output-error", o.Value, []choice.Choice[teeFailure]{
					{Name: "warn", Value: teeWarn}, {Name: "warn-nopipe", Value: teeWarnNoPipe}, {Name: "exit", Value: teeExit}, {Name: "exit-nopipe", Value: teeExitNoPipe},
				})
			}
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	targets := []teeTarget{{"standard output", p.Stdout}}
	status := 0
	for _, name := range o.Args() {
		f, err := p.OpenFile(name, flag, 0o666)
		if err != nil {
			p.Error(name, err)
			if status = 1; mode == teeExit || mode == teeExitNoPipe {
				return 1
			}
			continue
		}
		defer f.Close()
		targets = append(targets, teeTarget{name, f})
	}
	return teeCopy(p, targets, mode, status)
}

func teeCopy(p *shell.Proc, targets []teeTarget, mode teeFailure, status int) int {
	buf := make([]byte, program.BufferSize)
	for len(targets) > 0 {
		n, err := p.Stdin.Read(buf)
		if e := p.Spend(1 + n>>6); e != nil {
			return p.Status(e)
		}
		left := targets[:0]
		for _, t := range targets {
			if _, e := t.w.Write(buf[:n]); e != nil {
				s := p.Status(e)
				closed := s == 128+13
				if s != 1 && !closed || closed && mode == teeDefault {
					return s
				}
				if !closed || mode == teeWarn || mode == teeExit {
					p.Error(t.name, e)
					status = 1
				}
				if mode == teeExit || mode == teeExitNoPipe && !closed {
					return 1
				}
				continue
			}
			left = append(left, t)
		}
		if targets = left; err != nil {
			if !program.IsEnd(err) {
				p.Errorf(err, "read error")
				status = 1
			}
			break
		}
	}
	return status
}
