//go:build linux

package bwrap

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// checkProgram looks for what a command executes, as execvp(3) inside will, so
// that a command that cannot run is told apart from one that fails. The plan maps
// every path to itself, which lets the host answer, but for what is on a stage.
func checkProgram(plan *policy.Plan, cmd sandbox.Cmd, env []string, on *staged) error {
	name := cmd.Args[0]
	if strings.ContainsRune(name, 0) {
		return sandbox.Errorf(sandbox.Invalid, "the command's name holds a NUL byte")
	}
	if strings.Contains(name, "/") {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(startDir(plan, cmd), path)
		}
		if err := executable(plan, path, on); err != nil {
			return execError(name, err)
		}
		return nil
	}
	var denied error
	for _, d := range filepath.SplitList(lookup(env, "PATH")) {
		if !filepath.IsAbs(d) {
			continue
		}
		path := filepath.Join(d, name)
		err := executable(plan, path, on)
		if err == nil {
			return nil
		}
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, errIsDir) { // as execve(2) has EACCES for both
			denied = err
		}
	}
	if denied != nil {
		return execError(name, denied)
	}
	return execError(name, fs.ErrNotExist)
}

// executable reports why path cannot be executed inside, or nil.
func executable(plan *policy.Plan, path string, on *staged) error {
	if path == layout.Program {
		return nil
	}
	resolved, host, err := on.resolve(path)
	if err != nil {
		return err
	}
	for _, p := range []string{path, resolved} {
		if hidden(plan, p) {
			return fs.ErrNotExist
		}
	}
	info, err := os.Stat(host)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return errIsDir
	}
	if unix.Access(host, unix.X_OK) != nil || info.Mode()&0o111 == 0 {
		return fs.ErrPermission
	}
	return nil
}

// errNoExec is the kernel's refusal of a file that looked executable.
var errNoExec error = syscall.ENOEXEC

var errIsDir = &fs.PathError{Op: "exec", Path: "directory", Err: syscall.EISDIR}

func execError(name string, err error) error {
	if e := sandbox.Unexecutable(name, err); e != nil {
		return e
	}
	return sandbox.Unexecutable(name, fs.ErrNotExist)
}

// lookup returns the value of a variable in env, the last one if it is there twice.
func lookup(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}
