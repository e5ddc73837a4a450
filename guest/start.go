package guest

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// defaultPath is what execvp(3) searches when PATH is not set.
const defaultPath = "/bin:/usr/bin"

// init becomes the command after "--". With --tty it first gives the signals of
// the terminal their default action again: whoever started the sandbox ignores them
// while the terminal is the command's, and what is ignored stays so across execve(2).
func (p process) init(args []string) int {
	tty := false
	if len(args) > 0 && args[0] == "--tty" {
		tty, args = true, args[1:]
	}
	if len(args) < 2 || args[0] != "--" || args[1] == "" {
		return p.usage()
	}
	args = args[1:]
	if tty {
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

// execPath runs args with the search of execvp(3): an entry that exists but may
// not be executed is remembered and reported when no later one can be.
func (p process) execPath(args []string) error {
	if strings.Contains(args[0], "/") {
		return execCandidate(args[0], args, p.env)
	}
	list := variable(p.env, "PATH")
	if list == "" {
		list = defaultPath
	}
	var found error = syscall.ENOENT
	for dir := range strings.SplitSeq(list, ":") {
		if dir == "" {
			dir = "."
		}
		err := execCandidate(dir+"/"+args[0], args, p.env)
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
