package guest

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/guest/arglist"
	"github.com/seed434b0696/agent-sandbox/internal/guest/guestnet"
	"github.com/seed434b0696/agent-sandbox/internal/guest/process"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
)

// becomeCommand is the operation "init": it executes the command after "--" in place of this process. With --tty it
// first gives the signals of the terminal their default action: the process that started the sandbox ignores them
// while the command has the terminal, and ignored signals stay ignored across execve(2).
//
// With --net and --ports, each with the number of an inherited descriptor, it first
// makes the sandbox's network; see [NewProxyLink] and [NewPortLink].
func becomeCommand(p process.Process, args []string) int {
	o, args, ok := parseInit(args)
	if !ok {
		return p.Usage()
	}
	if err := o.network.Prepare(); err != nil {
		return p.Fail(guestnet.ExitNetwork, "network: "+err.Error())
	}
	if o.tty {
		if err := defaultSignals(); err != nil {
			return p.Fail(process.ExitNotExecutable, "signals: "+err.Error())
		}
	}
	return become(p, args)
}

// becomeListed is the operation "arguments": it executes the command that a descriptor contains.
func becomeListed(p process.Process, words []string) int {
	args, err := arglist.Read(words)
	if err != nil {
		return p.Fail(process.ExitUsage, err.Error())
	}
	return become(p, args)
}

// become executes args in place of this process. It returns a status only where it cannot.
func become(p process.Process, args []string) int {
	err := execPath(p, args)
	if errors.Is(err, fs.ErrNotExist) {
		return p.Fail(process.ExitNotFound, args[0]+": not found")
	}
	return p.Fail(process.ExitNotExecutable, args[0]+": "+err.Error())
}

// initOptions are the options of init, before its "--".
type initOptions struct {
	tty     bool
	network guestnet.Network
}

// parseInit returns the options and the command, which is not empty.
func parseInit(args []string) (o initOptions, command []string, ok bool) {
	o.network = guestnet.Network{Net: -1, Ports: -1}
	for len(args) > 0 && args[0] != "--" {
		option := args[0]
		args = args[1:]
		if option == "--tty" {
			o.tty = true
			continue
		}
		if len(args) == 0 {
			return o, nil, false
		}
		fd, err := strconv.Atoi(args[0])
		if err != nil || fd <= 2 {
			return o, nil, false
		}
		args = args[1:]
		switch option {
		case "--net":
			o.network.Net = fd
		case "--ports":
			o.network.Ports = fd
		default:
			return o, nil, false
		}
	}
	if len(args) < 2 || args[1] == "" {
		return o, nil, false
	}
	return o, args[1:], true
}

// execPath executes args with the search of execvp(3). If it finds only files that may not be executed, it reports
// the first of them.
func execPath(p process.Process, args []string) error {
	if strings.Contains(args[0], "/") {
		return process.ExecCandidate(args[0], args, p.Env)
	}
	var found error = syscall.ENOENT
	for _, file := range session.Candidates(args[0], process.Variable(p.Env, "PATH"), ".") {
		err := process.ExecCandidate(file, args, p.Env)
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			found = err
		}
	}
	return found
}
