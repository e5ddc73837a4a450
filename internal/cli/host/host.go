// Package host describes this host to the commands: its directories, its backends, and the sandboxes that flags and
// configuration describe on it.
package host

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/internal/tmpstore"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Host holds the directories that policy and drivers need.
type Host struct {
	Workspace string // absolute, resolved through symbolic links
	Home      string // absolute; may not exist
	Data      string // the directory of our own files; may not exist
	Env       []string
}

// Locate finds the directories. cwd is the -C flag: relative to the process's
// working directory, or "" for that directory.
func Locate(env []string, cwd string) (Host, error) {
	home, err := HomeDir(env)
	if err != nil {
		return Host{}, err
	}
	workspace, err := WorkDir(cwd)
	if err != nil {
		return Host{}, err
	}
	return Host{Workspace: workspace, Home: home, Data: dataDir(env, home), Env: env}, nil
}

// HomeDir returns the home directory of the user: HOME, or that of the passwd entry.
func HomeDir(env []string) (string, error) {
	home := console.Lookup(env, "HOME")
	if home == "" {
		u, err := user.LookupId(strconv.Itoa(os.Getuid()))
		if err != nil || u.HomeDir == "" {
			return "", sandbox.Errorf(sandbox.Invalid, "no home directory: HOME is not set and uid %d has no passwd entry", os.Getuid()).
				WithHint("set HOME to an absolute path")
		}
		home = u.HomeDir
	}
	// A relative home would protect ~/.ssh of the current directory.
	if !filepath.IsAbs(home) {
		return "", sandbox.Errorf(sandbox.Invalid, "HOME is not an absolute path: %q", home).
			WithHint("set HOME to an absolute path")
	}
	return filepath.Clean(home), nil
}

// dataDir follows the XDG base directory specification, by which a
// relative path is ignored.
func dataDir(env []string, home string) string {
	base := console.Lookup(env, "XDG_DATA_HOME")
	if !filepath.IsAbs(base) {
		base = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(base, "agent-sandbox")
}

// WorkDir returns the working directory that cwd names, absolute and resolved through symbolic links. "" names that of this process.
func WorkDir(cwd string) (string, error) {
	dir := cwd
	if !filepath.IsAbs(dir) {
		wd, err := os.Getwd()
		if errors.Is(err, fs.ErrNotExist) {
			return "", sandbox.Errorf(sandbox.NotFound, "the working directory has been deleted").
				WithHint("cd to a directory that exists, or name one with -C")
		}
		if err != nil {
			return "", sandbox.Errorf(sandbox.NotFound, "cannot determine the working directory: %w", err)
		}
		dir = filepath.Join(wd, cwd)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", sandbox.Errorf(sandbox.NotFound, "working directory %s: %w", dir, Cause(err))
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", sandbox.Errorf(sandbox.NotFound, "working directory %s: %w", dir, Cause(err))
	}
	if !info.IsDir() {
		return "", sandbox.Errorf(sandbox.Invalid, "working directory %s is not a directory", dir)
	}
	return real, nil
}

// Cause removes the operation and path from a file error, since the message already has them.
func Cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// LocateHome finds our directories without a working directory, which persistent sandboxes do not need.
func LocateHome(a *console.App) (Host, error) {
	home, err := HomeDir(a.Env)
	return Host{Home: home, Data: dataDir(a.Env, home), Env: a.Env}, err
}

// Sandboxes returns the store of persistent sandboxes: those of this user's processes, and the local records of pods.
func (h Host) Sandboxes() persist.Store {
	return persist.Store{Dir: filepath.Join(h.Data, "sandboxes")}
}

// IsInside reports whether this process runs in one of our sandboxes.
func IsInside() bool {
	_, err := os.Lstat(layout.Program)
	return !errors.Is(err, fs.ErrNotExist)
}

// TrustDir returns the directory of trusted configurations.
func (h Host) TrustDir() string { return filepath.Join(h.Data, "trust") }

// Tmps returns the store of the /tmp directories that last.
func (h Host) Tmps() tmpstore.Store { return tmpstore.Store{Dir: filepath.Join(h.Data, policy.TmpDir)} }

// LockDir returns the directory of the locks of repositories.
func (h Host) LockDir() string { return filepath.Join(h.Data, "repositories") }
