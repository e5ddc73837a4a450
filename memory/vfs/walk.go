package vfs

import (
	"io/fs"
	"os"
	"strings"
	"syscall"
)

const (
	maxPath  = 4095
	maxName  = 255
	maxLinks = 40
)

// final says what the last component of a path is.
type final uint8

const (
	plain final = iota
	dot
	dotdot
	slash // the path is "/", or a link to it
)

// place is where a path leads.
type place struct {
	dir   *inode // the directory of the last component
	name  string // the last component, if it is plain
	node  *inode // what is there, or nil
	tail  bool   // slashes follow, so that it must be a directory
	long  bool   // the name is longer than a name may be
	final final
}

// missing is the error of looking up what is not there.
func (p *place) missing() syscall.Errno {
	switch {
	case p.long:
		return syscall.ENAMETOOLONG
	case p.node == nil:
		return syscall.ENOENT
	}
	return 0
}

// last says what becomes of a link as last component.
type last uint8

const (
	nofollow last = iota
	follow
	followBare // if no slashes come after it
)

func followIf(yes bool) last {
	if yes {
		return follow
	}
	return nofollow
}

// walk resolves a path. Only the last component may be missing. The caller holds mu. The error elsewhere
// says that the path leaves the tree: resolve says where to.
func (f *FS) walk(c *Cred, path string, link last) (place, syscall.Errno) {
	switch {
	case path == "":
		return place{}, syscall.ENOENT
	case len(path) > maxPath:
		return place{}, syscall.ENAMETOOLONG
	case strings.IndexByte(path, 0) >= 0:
		return place{}, syscall.EINVAL
	}
	return f.walkFrom(c, f.inode(rootIno), path, link, &trail{})
}

// trail is what a walk notes beside its place.
type trail struct {
	links int
	inner bool // the tree is mounted: its top has something above
	way   way  // if the path leads elsewhere
	rest  string
}

// way says how a path leaves a tree.
type way uint8

const (
	down way = iota // over a mount point, which is the place
	up              // to above the top
	top             // an absolute link
)

// walkFrom is walk from a directory on. The error elsewhere says that the path leaves the tree.
func (f *FS) walkFrom(c *Cred, dir *inode, path string, link last, t *trail) (place, syscall.Errno) {
	for {
		path = strings.TrimLeft(path, "/")
		if path == "" {
			return place{dir: dir, node: dir, final: slash}, 0
		}
		name, rest := path, ""
		if i := strings.IndexByte(path, '/'); i >= 0 {
			name, rest = path[:i], path[i:]
		}
		if e := c.may(dir, MayExec); e != 0 {
			return place{}, e
		}
		if t.inner && name == ".." && dir.ino == rootIno {
			t.way, t.rest = up, rest
			return place{}, elsewhere
		}
		p, e := f.step(dir, name)
		if e != 0 {
			return place{}, e
		}
		last := strings.TrimLeft(rest, "/") == ""
		through := !last || link == follow || link == followBare && rest == ""
		switch {
		case p.node != nil && p.node.isLink() && through:
			if t.links++; t.links > maxLinks {
				return place{}, syscall.ELOOP
			}
			path = p.node.target + rest
			if path[0] == '/' {
				if t.inner {
					t.way, t.rest = top, path
					return place{}, elsewhere
				}
				dir = f.inode(rootIno)
			}
			continue
		case last:
			p.tail = rest != ""
			return p, 0
		case p.node == nil:
			return place{}, p.missing()
		case !p.node.isDir():
			return place{}, syscall.ENOTDIR
		case f.leads(c, p.node):
			t.way, t.rest = down, rest
			return p, elsewhere
		}
		dir, path = p.node, rest
	}
}

// step looks one component up.
func (f *FS) step(dir *inode, name string) (place, syscall.Errno) {
	switch {
	case name == ".":
		return place{dir: dir, node: dir, final: dot}, 0
	case name == "..":
		return place{dir: dir, node: f.inode(dir.link.dir), final: dotdot}, 0
	case len(name) > maxName:
		return place{dir: dir, name: name, long: true}, 0
	}
	d, e := dir.dir()
	if e != 0 {
		return place{}, e
	}
	p := place{dir: dir, name: name}
	ent, ok := d.lookup(name)
	if !ok {
		return p, 0
	}
	p.node, e = f.tree.current(ent)
	return p, e
}

// find resolves a path to what must exist; slashes at the end follow a link.
func (f *FS) find(c *Cred, path string, follow bool) (*inode, syscall.Errno) {
	p, e := f.walk(c, path, followIf(follow || strings.HasSuffix(path, "/")))
	switch {
	case e != 0:
		return nil, e
	case p.node == nil:
		return nil, p.missing()
	case p.tail && !p.node.isDir():
		return nil, syscall.ENOTDIR
	case p.node.isDir() && f.leads(c, p.node):
		return nil, elsewhere
	}
	return p.node, 0
}

// vacant resolves a path to a name that does not exist yet.
func (f *FS) vacant(c *Cred, path string, dir bool) (place, syscall.Errno) {
	p, e := f.walk(c, path, nofollow)
	switch {
	case e != 0:
		return p, e
	case p.node != nil:
		return p, syscall.EEXIST
	case p.long:
		return p, syscall.ENAMETOOLONG
	case p.tail && !dir:
		return p, syscall.ENOENT
	}
	return p, 0
}

func pathError(op, path string, e syscall.Errno) error {
	if e == 0 {
		return nil
	}
	if e == elsewhere { // of what is never done across trees
		e = syscall.EXDEV
	}
	return &fs.PathError{Op: op, Path: path, Err: e}
}

func linkError(op, from, to string, e syscall.Errno) error {
	if e == 0 {
		return nil
	}
	return &os.LinkError{Op: op, Old: from, New: to, Err: e}
}
