package guest

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
)

// init becomes the command after "--". With --tty it first gives the signals of
// the terminal their default action again: whoever started the sandbox ignores them
// while the terminal is the command's, and what is ignored stays so across execve(2).
//
// With --net and --ports, each with the number of an inherited descriptor, it first
// makes the sandbox's network; see [NewProxyLink] and [NewPortLink].
func (p process) init(args []string) int {
	o, args, ok := parseInit(args)
	if !ok {
		return p.usage()
	}
	if err := o.network.prepare(); err != nil {
		return p.fail(exitNetwork, "network: "+err.Error())
	}
	if o.tty {
		if err := defaultSignals(); err != nil {
			return p.fail(exitNotExecutable, "signals: "+err.Error())
		}
	}
	err := p.execPath(args)
	if errors.Is(err, fs.ErrNotExist) {
		return p.fail(exitNotFound, args[0]+": not found")
	}
	return p.fail(exitNotExecutable, args[0]+": "+err.Error())
}

// initOptions are what stands before the "--" of init.
type initOptions struct {
	tty     bool
	network network
}

// parseInit also returns the command, which is not empty.
func parseInit(args []string) (o initOptions, command []string, ok bool) {
	o.network = network{net: -1, ports: -1}
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
			o.network.net = fd
		case "--ports":
			o.network.ports = fd
		default:
			return o, nil, false
		}
	}
	if len(args) < 2 || args[1] == "" {
		return o, nil, false
	}
	return o, args[1:], true
}

// execPath runs args with the search of execvp(3): an entry that exists but may
// not be executed is remembered and reported when no later one can be.
func (p process) execPath(args []string) error {
	if strings.Contains(args[0], "/") {
		return execCandidate(args[0], args, p.env)
	}
	var found error = syscall.ENOENT
	for _, file := range session.Candidates(args[0], variable(p.env, "PATH"), ".") {
		err := execCandidate(file, args, p.env)
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			found = err
		}
	}
	return found
}

var errNoInterpreter = errors.New("its interpreter does not exist")

// execCandidate tells a file that does not exist from one whose interpreter does
// not, for which execve(2) has the same error.
func execCandidate(file string, args, env []string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err.(*fs.PathError).Err //nolint:errorlint,forcetypeassert // os.Stat documents the type
	}
	if info.IsDir() {
		return syscall.EISDIR
	}
	err = execFile(file, args, env)
	if errors.Is(err, fs.ErrNotExist) {
		return errNoInterpreter
	}
	return err
}
