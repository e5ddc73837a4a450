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

// checkProtected refuses a view in which something that the plan protects is not what
// it is in the workspace. An earlier command under another policy can have made it so,
// and what bubblewrap would mount over a link of it lies anywhere.
func (s *staged) checkProtected(plan *policy.Plan) error {
	if s.stage.Kind == stage.Overlay && s.stage.Pristine() {
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
			continue // what else is there is the tree's, or was let in by name
		}
		if err := s.sameAs(filepath.Join(g.Dir, g.Name)); err != nil {
			return err
		}
	}
	return nil
}

// sameAs compares what the view has at an absolute path with what the workspace has.
func (s *staged) sameAs(path string) error {
	if path == s.stage.Workspace || !below(path, s.stage.Workspace) {
		return nil
	}
	seen, err := s.stage.Look(s.relative(path))
	if err != nil {
		return sandbox.Errorf(sandbox.Denied, "%s in stage %s cannot be looked at: %w", path, s.stage.Name, err)
	}
	if sameKind(path, seen) {
		return nil
	}
	return sandbox.Errorf(sandbox.Denied, "the policy protects %s, which is another one in stage %s", path, s.stage.Name).
		WithHint("see 'agent-sandbox explain %s'; run with the flags that the stage was made with, apply it with --protected, or discard it", path)
}

// sameKind reports whether the workspace has at path what was seen of the view, at least
// of the same kind, and a link with the same target.
func sameKind(path string, seen *stage.Seen) bool {
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
