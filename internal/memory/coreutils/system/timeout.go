package system

import (
	"math"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func timeoutCommand() program.Description {
	return program.Description{
		Name: "timeout", Usage: "[OPTION] DURATION COMMAND [ARG]...\n[OPTION]",
		Summary: "run a command, and stop it when it takes longer than DURATION",
		Help: `      --preserve-status    the command's own status also when it was stopped
      --foreground         accepted
  -k, --kill-after=DURATION  KILL it when it still runs that long after the first signal
  -s, --signal=SIGNAL      stop it with SIGNAL, not TERM
  -v, --verbose            say which signal is sent

DURATION is a number of seconds, or with s, m, h or d; 0 is without end.
Exit status: 124 when it was stopped, 125 when timeout fails, 126 when the command cannot be run,
127 when there is none, 137 after KILL, otherwise that of the command.`,
		Run: runTimeout,
	}
}

const (
	timeoutPreserve = getopt.First + iota
	timeoutForeground
)

var timeoutOptions = []getopt.Option{
	{Long: "foreground", ID: timeoutForeground},
	{Short: 'k', Long: "kill-after", Arg: getopt.Required},
	{Long: "preserve-status", ID: timeoutPreserve},
	{Short: 's', Long: "signal", Arg: getopt.Required},
	{Short: 'v', Long: "verbose"},
}

// timeLimit holds the parsed options of timeout.
type timeLimit struct {
	proc     *shell.Proc
	limit    time.Duration
	kill     time.Duration
	signal   syscall.Signal
	preserve bool
	verbose  bool
}

func runTimeout(p *shell.Proc) int {
	o := program.NewOptions(p, timeoutCommand, timeoutOptions)
	o.Order, o.Wrong = getopt.RequireOrder, program.StatusFailed
	t := timeLimit{proc: p, signal: 15}
	for o.Next() {
		switch o.ID {
		case 'k':
			var ok bool
			if t.kill, ok = program.ParseInterval(o.Value); !ok {
				o.Reject("invalid time interval %s", quoting.Name(o.Value))
			}
		case timeoutPreserve:
			t.preserve = true
		case 's':
			var ok bool
			if t.signal, ok = program.SignalNumber(o.Value); !ok {
				o.Reject("%s: invalid signal", quoting.Name(o.Value))
			}
		case 'v':
			t.verbose = true
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	args := o.Args()
	if len(args) < 2 {
		program.TryHelp(p, timeoutCommand())
		return program.StatusFailed
	}
	var ok bool
	if t.limit, ok = program.ParseInterval(args[0]); !ok {
		return program.UsageError(p, timeoutCommand, program.StatusFailed, "invalid time interval %s", quoting.Name(args[0]))
	}
	return t.run(args[1:])
}

func (t *timeLimit) run(args []string) int {
	if _, err := program.Find(t.proc, nil, args[0], ""); err != nil {
		t.proc.Warn("failed to run command %s: %s", shell.Quote(args[0]), shell.Strerror(err))
		return program.LaunchStatus(err)
	}
	child, err := t.proc.Start(shell.Spawn{Args: args})
	if err != nil {
		t.proc.Warn("fork system call failed: %s", shell.Strerror(err))
		return program.StatusFailed
	}
	stopped, ended := t.watch(child, args[0], t.limit, t.signal)
	if !ended && t.kill > 0 {
		_, ended = t.watch(child, args[0], t.kill, 9)
		if !ended {
			t.preserve = true
		}
	}
	status := child.Wait()
	if err := t.proc.Context().Err(); err != nil {
		return t.proc.Status(err)
	}
	if stopped && !t.preserve && status != 128+9 {
		return 124
	}
	return status
}

// watch waits for the child; when that takes too long, it sends a signal.
func (t *timeLimit) watch(child *shell.Child, name string, limit time.Duration, sig syscall.Signal) (stopped, ended bool) {
	if limit == 0 {
		limit = math.MaxInt64
	}
	if !t.proc.Sleep(limit, child.Done()) {
		if t.proc.Context().Err() != nil {
			child.Signal(9)
		}
		return false, true
	}
	if t.verbose {
		t.proc.Warn("sending signal %s to command %s", signalName(sig), quoting.Name(name))
	}
	child.Signal(sig)
	return true, false
}

func signalName(sig syscall.Signal) string {
	if n := int(sig); n > 0 && n <= len(program.SignalNames) {
		return program.SignalNames[n-1]
	}
	return "EXIT"
}
