package coreutils

import (
	"slices"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

func whichCommand() description {
	return description{
		Name: "which", Usage: "[-as] PROGRAM...",
		Summary: "print the paths of programs",
		Help: `  -a  all of that name in PATH, not only the first
  -s  print nothing; the exit status tells`,
		Run: runWhich,
	}
}

var whichOptions = []getopt.Option{{Short: 'a'}, {Short: 's'}}

func runWhich(p *shell.Proc) int {
	o := newOptions(p, whichCommand, whichOptions)
	o.Wrong = 2
	all, silent := false, false
	for o.Next() {
		all = all || o.ID == 'a'
		silent = silent || o.ID == 's'
	}
	if o.Ended() {
		return o.Status
	}
	out, status := newOutput(p), 0
	if len(o.Args()) == 0 {
		status = 1
	}
	for _, name := range o.Args() {
		paths := programPaths(p, nil, name, "")
		if len(paths) == 0 {
			status = 1
			continue
		}
		if !all {
			paths = paths[:1]
		}
		if !silent {
			_, _ = out.WriteString(strings.Join(paths, "\n") + "\n") // The error stays in out.
		}
	}
	return out.Close(status)
}

// ownProgram tells whether dir/name is one of the machine's own programs.
func ownProgram(p *shell.Proc, dir, name string) bool {
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

// programPaths returns the programs that a name stands for, in the order of env's PATH; nil is the
// process's own environment. Names with a slash are relative to dir, or to the working
// directory when that is empty.
func programPaths(p *shell.Proc, env []string, name, dir string) []string {
	if name == "" {
		return nil
	}
	if strings.Contains(name, "/") {
		if !strings.HasPrefix(name, "/") && dir != "" {
			name = joinPath(dir, name)
		}
		if runnable(p, dirName(name), baseName(name), name) {
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
		if full := joinPath(dir, name); runnable(p, dir, name, full) {
			found = append(found, full)
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

func runnable(p *shell.Proc, dir, name, full string) bool {
	if info, err := p.Stat(full); err == nil {
		return info.Mode.IsRegular() && p.Access(full, vfs.MayExec) == nil
	}
	return ownProgram(p, dir, name)
}

// findProgram returns the path of a program, or why it cannot be run.
func findProgram(p *shell.Proc, env []string, name, dir string) (string, error) {
	if paths := programPaths(p, env, name, dir); len(paths) > 0 {
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
