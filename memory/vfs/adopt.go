package vfs

import "path"

// adopt makes want, of an earlier version of the tree, what is at p; nil: nothing. Of a
// directory only itself is taken over: what is below has paths of its own.
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
