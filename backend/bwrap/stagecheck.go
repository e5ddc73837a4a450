//go:build linux

package bwrap

import (
	"os"
	"path/filepath"

	"github.com/seed434b0696/agent-sandbox/internal/stage"
	"github.com/seed434b0696/agent-sandbox/internal/stage/patch"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// checkProtected returns Denied for a view in which a path that the plan protects differs from the
// workspace. An earlier command under another policy may have changed it, and bubblewrap would
// follow a link there and mount over an arbitrary path.
func (s *staged) checkProtected(plan *policy.Plan) error {
	if s.stage.Kind == stage.Overlay && s.stage.IsPristine() {
		return nil
	}
	for _, m := range plan.Mounts {
		if err := s.sameAs(m.Path); err != nil {
			return err
		}
	}
	for _, c := range plan.Commands {
		for _, target := range c.Targets {
			if err := s.sameAs(target); err != nil {
				return err
			}
		}
	}
	for _, g := range plan.Guards {
		if g.Name == "*" {
			continue // other entries are unprotected
		}
		if err := s.sameAs(filepath.Join(g.Dir, g.Name)); err != nil {
			return err
		}
	}
	return nil
}

// sameAs returns Denied unless the view has the same entry as the workspace at an absolute path.
func (s *staged) sameAs(path string) error {
	if path == s.stage.Workspace || !isBelow(path, s.stage.Workspace) {
		return nil
	}
	seen, err := s.stage.Look(s.relative(path))
	if err != nil {
		return sandbox.Errorf(sandbox.Denied, "%s in stage %s cannot be read: %w", path, s.stage.Name, err)
	}
	if isSameKind(path, seen) {
		return nil
	}
	return sandbox.Errorf(sandbox.Denied, "the policy protects %s, which differs in stage %s", path, s.stage.Name).
		WithHint("see 'agent-sandbox explain %s'; run with the flags that the stage was made with, apply it with --protected, or discard it", path)
}

// isSameKind reports whether the workspace's entry at path has the type of the view's, and the same
// target if it is a link.
func isSameKind(path string, seen *stage.Seen) bool {
	info, err := os.Lstat(path)
	if err != nil || seen == nil {
		return err != nil && seen == nil
	}
	if kindOf(info) != seen.Type || seen.Type != patch.Symlink {
		return kindOf(info) == seen.Type
	}
	mine, err1 := os.Readlink(path)
	theirs, err2 := os.Readlink(seen.Host)
	return err1 == nil && err2 == nil && mine == theirs
}

func kindOf(info os.FileInfo) patch.Type {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return patch.Directory
	case mode.IsRegular():
		return patch.File
	case mode&os.ModeSymlink != 0:
		return patch.Symlink
	case mode&os.ModeNamedPipe != 0:
		return patch.FIFO
	case mode&os.ModeSocket != 0:
		return patch.Socket
	}
	return patch.Device
}
