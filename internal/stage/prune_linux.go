package stage

import (
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/stage/tree"
)

// pruner moves entries out of the upper tree, each directory in one step: if a directory
// were only partly removed, the view would show its other entries as deleted.
type pruner struct {
	*differ
	trash  *tree.Tree
	needed map[string]bool // the paths that differ, and their directories
	moved  int
}

func (p *pruner) directory(dir string) error {
	names, err := p.up.Names(dir)
	if err != nil {
		return err
	}
	for _, n := range names {
		if err := p.entry(tree.Join(dir, n)); err != nil {
			return err
		}
	}
	return nil
}

func (p *pruner) entry(path string) error {
	if !p.needed[path] {
		return p.move(path)
	}
	up, err := p.up.Lstat(path)
	if err != nil || !up.IsDir() || len(path) > maxPath {
		return err
	}
	if value, _, err := p.up.Attribute(path, true, "user.overlay.opaque"); err != nil || value == "y" {
		return nil //nolint:nilerr // an unreadable one differs, and stays
	}
	return p.directory(path)
}

func (p *pruner) move(path string) error {
	move := func() error {
		p.moved++
		return p.up.In(path, func(dir int, name string) error {
			return unix.Renameat2(dir, name, p.trash.FD(), strconv.Itoa(p.moved), unix.RENAME_NOREPLACE)
		})
	}
	up, err := p.up.Lstat(path)
	if err != nil {
		return err
	}
	// The kernel requires write permission on a directory that moves, and on its old parent.
	unlockBoth := func() error {
		if up.IsDir() {
			if err := p.up.Chmod(path, up.Mode&0o7777|0o700); err != nil {
				return err
			}
		}
		return move()
	}
	parent, err := p.up.Lstat(tree.Parent(path))
	if tree.Parent(path) == "" || err == nil && parent.Mode&0o300 == 0o300 {
		return unlockBoth()
	}
	return p.up.Unlocked(tree.Parent(path), unlockBoth)
}
