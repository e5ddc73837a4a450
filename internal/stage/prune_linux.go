package stage

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// pruner moves entries of the upper tree out of it, whole directories at once: one
// of which only a part is gone would show the rest of it as deleted.
type pruner struct {
	*differ
	trash  *tree
	needed map[string]bool // what differs, and the directories it is in
	moved  int
}

func (p *pruner) directory(dir string) error {
	names, err := p.up.names(dir)
	if err != nil {
		return err
	}
	for _, n := range names {
		if err := p.entry(join(dir, n)); err != nil {
			return err
		}
	}
	return nil
}

func (p *pruner) entry(path string) error {
	if !p.needed[path] {
		return p.move(path)
	}
	up, err := p.up.lstat(path)
	if err != nil || !up.isDir() || len(path) > maxPath {
		return err
	}
	if value, _, err := p.up.attribute(path, true, "user.overlay.opaque"); err != nil || value == "y" {
		return nil //nolint:nilerr // one that cannot be read differs, and stays
	}
	return p.directory(path)
}

func (p *pruner) move(path string) error {
	move := func() error {
		p.moved++
		return p.up.in(path, func(dir int, name string) error {
			return unix.Renameat2(dir, name, p.trash.fd, strconv.Itoa(p.moved), unix.RENAME_NOREPLACE)
		})
	}
	up, err := p.up.lstat(path)
	if err != nil {
		return err
	}
	// The kernel wants write permission on a directory that moves, and on the one it leaves.
	unlockBoth := func() error {
		if up.isDir() {
			if err := p.up.chmod(path, up.Mode&0o7777|0o700); err != nil {
				return err
			}
		}
		return move()
	}
	parent, err := p.up.lstat(parentOf(path))
	if parentOf(path) == "" || err == nil && parent.Mode&0o300 == 0o300 {
		return unlockBoth()
	}
	return p.up.unlocked(parentOf(path), unlockBoth)
}
