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

// checkProgram searches the program of a command as execvp(3) inside will, so that a command that
// cannot be executed is distinguished from one that fails. It uses the host's files, because the
// plan mounts every path at itself, except those on a stage.
func (i *instance) checkProgram(plan *policy.Plan, cmd sandbox.Cmd, env []string, on *staged) error {
	name := cmd.Args[0]
	if strings.ContainsRune(name, 0) {
		return sandbox.Errorf(sandbox.Invalid, "the command's name contains a NUL byte")
	}
	if strings.Contains(name, "/") {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(startDir(plan, cmd), path)
		}
		if err := i.executable(plan, path, on); err != nil {
			return execError(name, err)
		}
		return nil
	}
	var denied error
	for _, d := range filepath.SplitList(searchPath(env)) {
		if !filepath.IsAbs(d) {
			continue
		}
		path := filepath.Join(d, name)
		err := i.executable(plan, path, on)
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

// executable returns the error with which executing path inside would fail, or nil.
func (i *instance) executable(plan *policy.Plan, path string, on *staged) error {
	if path == layout.Program {
		return nil
	}
	if rest, ok := strings.CutPrefix(filepath.Clean(path), tmpPath+"/"); ok && plan.KeepTmp {
		return i.executableInTmp(plan, rest)
	}
	resolved, host, err := on.resolve(path)
	if err != nil {
		return err
	}
	for _, p := range []string{path, resolved} {
		if isHidden(plan, p) {
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

// errNoExec is the kernel's error for a file that checkProgram accepted.
var errNoExec error = syscall.ENOEXEC

var errIsDir = &fs.PathError{Op: "exec", Path: "directory", Err: syscall.EISDIR}

func execError(name string, err error) error {
	if e := sandbox.Unexecutable(name, err); e != nil {
		return e
	}
	return sandbox.Unexecutable(name, fs.ErrNotExist)
}

// searchPath returns the value of PATH in env, the last one if it occurs twice.
func searchPath(env []string) string {
	for _, kv := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			return v
		}
	}
	return ""
}
