package vfs

import (
	"path"
	"slices"
	"strings"
	"syscall"
)

// Reset drops the changes in the layer in f: the directory it is attached
// to shows the layer's present content again, except for the paths of keep and changes since the
// snapshot, which may be nil; a directory in the list stays itself, its content does not. What was moved or
// linked to elsewhere in the tree stays there, and open files continue without a name.
// It returns the tree without the kept paths.
func (l *Layer) Reset(f *FS, since *Snapshot, keep []string) (*Snapshot, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.inode(l.ino)
	if n == nil || n.origin == nil || n.origin.dir.layer != l {
		return nil, pathError("reset", "/", syscall.ENOENT)
	}
	was := &Snapshot{f.freeze()}
	top := was.tree.path(n)
	if since != nil {
		for _, c := range Diff(since, was) {
			// Load changes what Diff sees, but is not a change.
			loaded := c.Kind == Modified && c.Old.Ino == c.New.Ino && c.Old.Ctime.Equal(c.New.Ctime)
			if !loaded && strings.HasPrefix(c.Path, strings.TrimSuffix(top, "/")+"/") {
				keep = append(keep, c.Path)
			}
		}
	}
	l.empty(f, n)
	base := &Snapshot{f.freeze()}
	for _, p := range slices.Backward(keep) { // what is gone, from below
		if was.tree.lookup(path.Clean("/"+p)) == nil {
			f.adopt(nil, path.Clean("/"+p))
		}
	}
	for _, p := range keep {
		if n := was.tree.lookup(path.Clean("/" + p)); n != nil {
			f.adopt(n, path.Clean("/"+p))
		}
	}
	return base, nil
}

// empty removes all changes below n, which then has the layer's content.
func (l *Layer) empty(f *FS, n *inode) {
	changed := []*inode{n}
	f.tree.changed.each(0, func(_ uint64, n *inode) bool {
		if n != &gone && n.origin.dir.layer == l {
			changed = append(changed, n)
		}
		return true
	})
	for _, c := range changed {
		f.removeNew(c, n)
	}
	for _, c := range changed[1:] {
		f.drop(f.inode(c.ino), n)
	}
	n = f.own(f.inode(n.ino))
	now := f.stamp()
	n.mtime, n.ctime, n.nlink, n.names = now, now, 2, names{}
	n.lazy = &lazyDir{layer: l, name: ".", ino: n.ino}
	l.gen.Add(1)
}

// removeNew removes entries that are not of a layer from a changed directory at or below top.
func (f *FS) removeNew(c, top *inode) {
	if !c.isDir() || c.lazy != nil || !f.isWithin(c, top) {
		return
	}
	for _, e := range c.names.list("", 0) {
		if e.Ino < lowerBase {
			_, _ = f.removeTree(&Cred{}, f.inode(c.ino), e.Name, f.inode(e.Ino), "")
		}
	}
}

// drop takes away the names below top of a changed inode of a layer.
func (f *FS) drop(n, top *inode) {
	if n == nil || n == &gone {
		return
	}
	var inside []link
	outside := 0
	n.eachLink(func(l link) bool {
		if dir := f.inode(l.dir); dir == nil || f.isWithin(dir, top) {
			inside = append(inside, l)
		} else {
			outside++
		}
		return true
	})
	if outside > 0 && len(inside) == 0 {
		return
	}
	n = f.own(n)
	if outside > 0 {
		for _, l := range inside {
			n.dropLink(f.owner, l)
			n.nlink--
			f.nodes.Add(-1)
		}
		return
	}
	f.nodes.Add(1 - int64(n.countLinks()))
	f.tree.changed.set(f.owner, n.ino-lowerBase, nil)
	f.openMu.Lock()
	v := f.open[n.ino]
	if v != nil {
		n.nlink, n.link, n.links = 0, link{}, nil
		f.addOrphan(v, n)
	}
	f.openMu.Unlock()
	if v == nil {
		f.forget(n)
	}
}

// adopt puts want, of an earlier version of the tree, at p; nil removes p. Of a
// directory only itself is taken over: its entries have paths of their own.
func (f *FS) adopt(want *inode, p string) {
	dir, name := f.tree.lookup(path.Dir(p)), path.Base(p)
	if p == "/" || dir == nil || !dir.isDir() {
		return
	}
	have := f.tree.child(dir, name)
	if have != nil && want != nil && have.isDir() && want.isDir() {
		// The names below are adopted one by one.
		n := f.own(have)
		n.mode, n.uid, n.gid = want.mode, want.uid, want.gid
		n.atime, n.mtime, n.ctime = want.atime, want.mtime, want.ctime
		return
	}
	if have != nil {
		if have.isDir() {
			_, _ = f.removeTree(&Cred{}, dir, name, have, p)
		} else {
			f.unbind(f.own(dir), name, f.own(have), f.stamp())
		}
	}
	if want == nil {
		return
	}
	dir = f.own(f.inode(dir.ino))
	n := *want
	n.owner, n.link, n.links, n.nlink, n.origin = f.owner, link{}, nil, 1, nil
	if n.isDir() {
		n.names, n.lazy, n.nlink = names{}, nil, 2
		dir.nlink++
	}
	// A number that something else has here already is not taken again: each path
	// then has an inode of its own, with the same content.
	if f.tree.inode(n.ino) != nil {
		n.ino = f.tree.next
		f.tree.next++
	}
	if n.ino < lowerBase {
		f.nodes.Add(1)
	}
	f.bytes.Add(n.cost())
	f.tree.set(f.owner, &n)
	f.bind(dir, name, &n, dir.mtime)
}
