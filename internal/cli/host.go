package cli

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"

	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// host is where we run: the directories that policy and drivers are told.
type host struct {
	workspace string // absolute, resolved through symbolic links
	home      string // absolute; may not exist
	data      string // where our own files are kept; may not exist
	env       []string
}

// locate finds the directories. cwd is the -C flag: relative to the process's own
// working directory, or "" for that one.
func locate(env []string, cwd string) (host, error) {
	home, err := homeDir(env)
	if err != nil {
		return host{}, err
	}
	workspace, err := workDir(cwd)
	if err != nil {
		return host{}, err
	}
	return host{workspace: workspace, home: home, data: dataDir(env, home), env: env}, nil
}

func homeDir(env []string) (string, error) {
	home := lookup(env, "HOME")
	if home == "" {
		u, err := user.LookupId(strconv.Itoa(os.Getuid()))
		if err != nil || u.HomeDir == "" {
			return "", sandbox.Errorf(sandbox.Invalid, "no home directory: HOME is not set and uid %d has no passwd entry", os.Getuid()).
				WithHint("set HOME to an absolute path")
		}
		home = u.HomeDir
	}
	// A relative home would protect ~/.ssh of whatever directory we stand in.
	if !filepath.IsAbs(home) {
		return "", sandbox.Errorf(sandbox.Invalid, "HOME is not an absolute path: %q", home).
			WithHint("set HOME to an absolute path")
	}
	return filepath.Clean(home), nil
}

// dataDir follows the XDG base directory specification, which says that a
// relative path is to be ignored.
func dataDir(env []string, home string) string {
	base := lookup(env, "XDG_DATA_HOME")
	if !filepath.IsAbs(base) {
		base = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(base, "agent-sandbox")
}

func workDir(cwd string) (string, error) {
	dir := cwd
	if !filepath.IsAbs(dir) {
		wd, err := os.Getwd()
		if errors.Is(err, fs.ErrNotExist) {
			return "", sandbox.Errorf(sandbox.NotFound, "the working directory has been deleted").
				WithHint("cd to a directory that exists, or name one with -C")
		}
		if err != nil {
			return "", sandbox.Errorf(sandbox.NotFound, "cannot tell the working directory: %w", err)
		}
		dir = filepath.Join(wd, cwd)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", sandbox.Errorf(sandbox.NotFound, "working directory %s: %w", dir, cause(err))
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", sandbox.Errorf(sandbox.NotFound, "working directory %s: %w", dir, cause(err))
	}
	if !info.IsDir() {
		return "", sandbox.Errorf(sandbox.Invalid, "working directory %s is not a directory", dir)
	}
	return real, nil
}

// cause takes the operation and path off a file error, where the message has named them.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// keptHere finds our directories, of which a kept sandbox needs no working directory.
func (a *app) keptHere() (host, error) {
	home, err := homeDir(a.env)
	return host{home: home, data: dataDir(a.env, home), env: a.env}, err
}

// kept is where sandboxes live on: those of this user's processes, and what is known here of pods.
func (h host) kept() persist.Store { return persist.Store{Dir: filepath.Join(h.data, "sandboxes")} }

// inside reports whether this process runs in one of our sandboxes.
func inside() bool {
	_, err := os.Lstat(layout.Program)
	return !errors.Is(err, fs.ErrNotExist)
}

func (h host) trustDir() string { return filepath.Join(h.data, "trust") }

// lockDir is where the locks of repositories are.
func (h host) lockDir() string { return filepath.Join(h.data, "repositories") }
