package system

import (
	"strconv"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func killCommand() program.Description {
	return program.Description{
		Name: "kill", Usage: "[options] <pid> [...]",
		Summary: "send signals to processes of the machine",
		Help: `  -SIGNAL, -s SIGNAL, --signal SIGNAL  this signal, not TERM
  -l, --list[=SIGNAL]    print the names of signals, or the name or number of one
  -L, --table            print names and numbers`,
		Run: runKill,
	}
}

// runKill reads its arguments itself: -9 and -KILL are signals.
func runKill(p *shell.Proc) int {
	sig := syscall.Signal(15)
	args := p.Args[1:]
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		a := args[0]
		args = args[1:]
		name := a[1:]
		switch {
		case a == "--":
			return killAll(p, sig, args)
		case a == "--help" || a == "--version":
			o := program.NewOptions(p, killCommand, nil)
			o.Next()
			return o.Status
		case a == "-l" || a == "--list" || strings.HasPrefix(a, "--list="):
			if _, value, ok := strings.Cut(a, "="); ok {
				args = []string{value}
			}
			return listSignals(p, args)
		case a == "-L" || a == "--table":
			return signalTable(p)
		case a == "-s" || a == "--signal":
			if len(args) == 0 {
				return program.UsageError(p, killCommand, 1, "option requires an argument -- 's'")
			}
			name, args = args[0], args[1:]
		case strings.HasPrefix(a, "--signal="):
			name = a[len("--signal="):]
		case strings.HasPrefix(a, "--"):
			return program.UsageError(p, killCommand, 1, "unrecognized option '%s'", a)
		}
		n, ok := program.SignalNumber(name)
		if !ok {
			p.Warn("unknown signal %s", name)
			return 1
		}
		sig = n
	}
	return killAll(p, sig, args)
}

func killAll(p *shell.Proc, sig syscall.Signal, pids []string) int {
	if len(pids) == 0 {
		return program.UsageError(p, killCommand, 1, "not enough arguments")
	}
	status := 0
	for _, s := range pids {
		pid, err := strconv.Atoi(s)
		if err != nil {
			p.Warn("failed to parse argument: '%s'", s)
			status = 1
			continue
		}
		if err := p.Kill(pid, int(sig)); err != nil {
			p.Warn("(%d): %s", pid, shell.Strerror(err))
			status = 1
		}
	}
	return status
}

func listSignals(p *shell.Proc, args []string) int {
	if len(args) == 0 {
		return program.PrintLine(p, strings.Join(program.SignalNames[:16], " ")+"\n"+strings.Join(program.SignalNames[16:], " "))
	}
	status := 0
	var b strings.Builder
	for _, a := range args {
		sig, ok := program.SignalNumber(a)
		switch {
		case !ok || sig == 0:
			p.Warn("unknown signal name %s", a)
			status = 1
		case ascii.IsDigit(a[0]):
			b.WriteString(signalName(sig&127) + "\n")
		default:
			b.WriteString(strconv.Itoa(int(sig)) + "\n")
		}
	}
	out := program.NewOutput(p)
	_, _ = out.WriteString(b.String()) // The error stays in out.
	return out.Close(status)
}

func signalTable(p *shell.Proc) int {
	var b strings.Builder
	for i, name := range program.SignalNames {
		s := program.PadLeft(strconv.Itoa(i+1), 2) + " " + name
		if (i+1)%7 == 0 || i+1 == len(program.SignalNames) {
			b.WriteString(s + "\n")
		} else {
			b.WriteString(s + strings.Repeat(" ", max(1, 12-len(s))))
		}
	}
	out := program.NewOutput(p)
	_, _ = out.WriteString(b.String()) // The error stays in out.
	return out.Close(0)
}
