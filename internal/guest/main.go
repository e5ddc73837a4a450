package guest

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/guest/arglist"
	"github.com/seed434b0696/agent-sandbox/internal/guest/confine"
	"github.com/seed434b0696/agent-sandbox/internal/guest/files"
	"github.com/seed434b0696/agent-sandbox/internal/guest/guestnet"
	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/guest/podinit"
	"github.com/seed434b0696/agent-sandbox/internal/guest/podstore"
	"github.com/seed434b0696/agent-sandbox/internal/guest/process"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/internal/guest/supervisor"
	"github.com/seed434b0696/agent-sandbox/internal/guest/view"
	"github.com/seed434b0696/agent-sandbox/internal/guest/wrapper"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Main runs the guest with the arguments of its process, args[0] included, and its environment,
// and returns the exit status. It does not return if it executes another program.
func Main(args, env []string) int {
	p := process.Process{Env: env}
	if len(args) == 0 {
		return p.Fail(process.ExitUsage, "no arguments, not even a name")
	}
	if !process.IsOwnName(args[0]) {
		return wrapper.Run(p, args)
	}
	if len(args) < 2 {
		return p.Usage()
	}
	switch rest := args[2:]; args[1] {
	case "check":
		return check(p)
	case confine.Command:
		return confine.Run(p, rest)
	case arglist.Command:
		return becomeListed(p, rest)
	case "init":
		return becomeCommand(p, rest)
	case "files":
		// Ignore the signal for a file at its size limit: the write's error is enough, and the
		// signal would end this process.
		signal.Ignore(syscall.SIGXFSZ)
		return files.Serve(rest, os.Stdin, os.Stdout, os.Stderr)
	case "serve":
		return supervisor.Serve(p, rest)
	case supervisor.RunnerCommand:
		return session.Run()
	case "stage":
		return view.Run(rest, env)
	case "connect":
		return guestnet.Connect(p, rest)
	case guestnet.BridgeCommand:
		return guestnet.Bridge(p, rest)
	case "ports":
		return guestnet.ServePorts(p)
	case "pod":
		return podinit.Run(p, rest)
	case "attend":
		return podinit.Attend(p, rest)
	case "join":
		return podinit.Join(p, rest)
	case "install":
		return podinit.Install(p, rest)
	case podstore.Command:
		return podstore.Serve(p, rest)
	case "multicall":
		if len(rest) == 0 || process.IsOwnName(rest[0]) {
			return p.Usage()
		}
		return wrapper.Run(p, rest)
	case "exec", "shell", "--":
		return p.Fail(sandbox.ExitFailed, "this is inside a sandbox already")
	}
	return p.Usage()
}

// IsGuestCall reports whether a program that contains the command and the guest was started as
// the guest: with an operation that only the guest has, or under the name of a wrapped command
// inside a sandbox.
func IsGuestCall(args []string) bool {
	if len(args) == 0 {
		return false
	}
	if process.IsOwnName(args[0]) && len(args) > 1 {
		switch args[1] {
		case confine.Command, arglist.Command, "init", "serve", supervisor.RunnerCommand, "files", "multicall", "connect", guestnet.BridgeCommand, "ports", "pod", "attend", "join", podstore.Command:
			return true
		}
	}
	return !process.IsOwnName(args[0]) && process.IsInside() && isLauncher()
}

// isLauncher reports whether this process was started from a file that hides another program,
// not from the guest's own path.
func isLauncher() bool {
	exe, err := os.Readlink(process.SelfExe)
	return err == nil && exe != layout.Program && !process.IsOwnName(exe)
}

func check(p process.Process) int {
	text, code := "inside sandbox\n", 0
	if !process.IsInside() {
		text, code = "outside sandbox\n", 1
	}
	if _, err := os.Stdout.WriteString(text); err != nil {
		return p.Fail(process.ExitRefused, err.Error())
	}
	return code
}
