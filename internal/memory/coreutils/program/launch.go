package program

import (
	"slices"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// StatusFailed is the exit status of env when env itself fails.
const StatusFailed = 125

// FindOrWarn returns the path of a program. When there is none, it says why, and returns
// the status for that: 127, or 126 when it cannot be run. A nil env is the process's own.
func FindOrWarn(p *shell.Proc, env []string, name, dir string) (path string, status int) {
	path, err := Find(p, env, name, dir)
	if err == nil {
		return path, 0
	}
	p.Warn("%s: %s", shell.Quote(name), shell.Strerror(err))
	return "", LaunchStatus(err)
}

// LaunchStatus is the status of a command that could not be run.
func LaunchStatus(err error) int {
	if shell.Errno(err) == syscall.ENOENT {
		return 127
	}
	return 126
}

// SetVariable changes a variable in its place, or adds it.
func SetVariable(env []string, name, assignment string) []string {
	for i, v := range env {
		if strings.HasPrefix(v, name+"=") {
			env[i] = assignment
			return env
		}
	}
	return append(env, assignment)
}

// isOwnProgram reports whether dir/name is one of the machine's own programs.
func isOwnProgram(p *shell.Proc, dir, name string) bool {
	if dir != "/usr/bin" && dir != "/bin" {
		return false
	}
	for _, c := range p.Commands() {
		if c.Name == name {
			return true
		}
		if slices.Contains(c.Aliases, name) {
			return true
		}
	}
	return false
}

// FindAll returns the programs that a name stands for, in the order of env's PATH; nil is the
// process's own environment. Names with a slash are relative to dir, or to the working
// directory when that is empty.
func FindAll(p *shell.Proc, env []string, name, dir string) []string {
	if name == "" {
		return nil
	}
	if strings.Contains(name, "/") {
		if !strings.HasPrefix(name, "/") && dir != "" {
			name = pathname.Join(dir, name)
		}
		if isRunnable(p, pathname.Dir(name), pathname.Base(name), name) {
			return []string{name}
		}
		return nil
	}
	path := searchPath(p, env)
	var found []string
	for dir := range strings.SplitSeq(path, ":") {
		if dir == "" {
			dir = "."
		}
		if full := pathname.Join(dir, name); isRunnable(p, dir, name, full) {
			var err error
			if found, err = Append(p, found, full); err != nil {
				return found
			}
		}
	}
	return found
}

func searchPath(p *shell.Proc, env []string) string {
	if env == nil {
		if path, ok := p.LookupEnv("PATH"); ok {
			return path
		}
	}
	for _, v := range env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			return path
		}
	}
	return "/usr/bin:/bin"
}

func isRunnable(p *shell.Proc, dir, name, full string) bool {
	if info, err := p.Stat(full); err == nil {
		return info.Mode.IsRegular() && p.Access(full, vfs.MayExec) == nil
	}
	return isOwnProgram(p, dir, name)
}

// Find returns the path of a program, or why it cannot be run.
func Find(p *shell.Proc, env []string, name, dir string) (string, error) {
	if paths := FindAll(p, env, name, dir); len(paths) > 0 {
		if strings.Contains(name, "/") {
			return name, nil
		}
		return paths[0], nil
	}
	if strings.Contains(name, "/") {
		if info, err := p.Stat(name); err != nil {
			return "", err
		} else if info.IsDir() || p.Access(name, vfs.MayExec) != nil {
			return "", syscall.EACCES
		}
	}
	return "", syscall.ENOENT
}
