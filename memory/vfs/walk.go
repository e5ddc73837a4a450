package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

const (
	maxPath  = 4095
	maxName  = 255
	maxLinks = 40
)

// final is the kind of a path's last component.
type final uint8

const (
	plain final = iota
	dot
	dotdot
	slash // the path is "/", or a link to it
)

// place is the result of resolving a path.
type place struct {
	dir   *inode // the directory of the last component
	name  string // the last component, if it is plain
	node  *inode // the file at the path, or nil
	tail  bool   // slashes follow, so that it must be a directory
	long  bool   // the name is longer than a name may be
	final final
}

// missing is the error of looking up a missing name.
func (p *place) missing() syscall.Errno {
	switch {
	case p.long:
		return syscall.ENAMETOOLONG
	case p.node == nil:
		return syscall.ENOENT
	}
	return 0
}

// last says whether a link as last component is followed.
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

// trail records the steps of a walk.
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
		case f.hasOtherContent(c, p.node):
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

// find resolves a path to an existing inode; slashes at the end follow a link.
func (f *FS) find(c *Cred, path string, follow bool) (*inode, syscall.Errno) {
	p, e := f.walk(c, path, followIf(follow || strings.HasSuffix(path, "/")))
	switch {
	case e != 0:
		return nil, e
	case p.node == nil:
		return nil, p.missing()
	case p.tail && !p.node.isDir():
		return nil, syscall.ENOTDIR
	case p.node.isDir() && f.hasOtherContent(c, p.node):
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

// elsewhere is the errno of a walk that leaves the tree for one that is mounted in it, or for a
// generated one: it has to be resolved once more, tree by tree. No caller of the package sees it.
const elsewhere = syscall.Errno(0x7fff0001)

// spot is the result of resolving a path that leaves the tree: a path in another tree, or in a generated one.
type spot struct {
	fs   *FS
	path string // in fs, and without links
	on   *mount // of fs; nil: fs is where the walk began

	gen   Generated // if fs is nil
	name  string    // in gen
	entry Entry
	missing, tail,
	jump bool // the link was followed

	top string // path of the top of fs or gen
}

// there checks that a spot of a generated tree exists as the path says.
func (s *spot) there() syscall.Errno {
	switch {
	case s.missing:
		return syscall.ENOENT
	case s.tail && !s.jump && !s.entry.Info.IsDir():
		return syscall.ENOTDIR
	}
	return 0
}

// info describes a spot of a generated tree.
func (s *spot) info() (Info, syscall.Errno) {
	if !s.jump {
		return s.entry.Info, 0
	}
	i, err := s.gen.Stat(s.name)
	if err != nil {
		return i, generatedErrno(err)
	}
	if s.tail && !i.IsDir() {
		return i, syscall.ENOTDIR
	}
	return i, 0
}

// level is a tree that a path passes through.
type level struct {
	fs   *FS
	on   *mount
	dir  uint64 // of fs: from where to go on
	gen  Generated
	name string // of gen, likewise
	top  string
	back uint64 // the directory of the mount point, in the level before
}

// resolver follows a path through trees.
type resolver struct {
	cred   Cred // a copy: the caller's stays where it is, off the heap
	levels []level
	path   string // what is left of it
	links  int
	last   last
	enter  bool // a mount point at the end stands for what is mounted there
}

// resolve follows a path of which walk has said that it leads elsewhere. The caller holds no lock:
// each tree is locked only while the path is in it.
func (f *FS) resolve(c *Cred, path string, l last, enter bool) (spot, syscall.Errno) {
	r := &resolver{cred: *c, levels: []level{{fs: f, dir: rootIno, top: "/"}}, path: path, last: l, enter: enter}
	for {
		var s *spot
		var e syscall.Errno
		if r.here().fs != nil {
			s, e = r.inTree()
		} else {
			s, e = r.inGenerated()
		}
		if e != 0 {
			return spot{}, e
		}
		if s != nil {
			return *s, 0
		}
	}
}

func (r *resolver) here() *level { return &r.levels[len(r.levels)-1] }

// inTree goes as far as the path stays in a tree; a spot is the end.
func (r *resolver) inTree() (*spot, syscall.Errno) {
	l := r.here()
	l.fs.mu.RLock()
	defer l.fs.mu.RUnlock()
	dir := l.fs.inode(l.dir)
	if dir == nil {
		return nil, syscall.ENOENT // removed just now
	}
	t := trail{links: r.links, inner: len(r.levels) > 1}
	p, e := l.fs.walkFrom(&r.cred, dir, r.path, r.last, &t)
	r.links = t.links
	switch {
	case e == 0 && r.enter && p.node != nil && l.fs.hasOtherContent(&r.cred, p.node):
		t.way, t.rest = down, ""
		if p.tail {
			t.rest = "/"
		}
	case e == 0:
		return &spot{fs: l.fs, on: l.on, path: p.path(&l.fs.tree), top: l.top}, 0
	case e != elsewhere:
		return nil, e
	}
	r.path = t.rest
	switch t.way {
	case down:
		r.down(l, p)
	case up:
		r.up()
	case top:
		r.top()
	}
	return nil, 0
}

// path is a path of the place, in which only the last component may be a link.
func (p *place) path(t *tree) string {
	dir := t.path(p.dir)
	switch p.final {
	case plain:
		dir = join(dir, p.name)
	case dot:
		dir = join(dir, ".")
	case dotdot:
		dir = join(dir, "..")
	case slash:
	}
	if p.tail {
		dir += "/"
	}
	return dir
}

// down enters the tree on a mount point.
func (r *resolver) down(l *level, p place) {
	next := level{back: p.dir.ino, top: joinBelow(l.top, l.fs.tree.path(p.node))}
	if m := l.fs.mountOn(p.node); m != nil {
		next.fs, next.on, next.dir = m.fs, m, rootIno
	} else {
		next.gen, next.name = r.cred.Proc, "."
	}
	r.levels = append(r.levels, next)
}

// joinBelow returns the path of p below top; a top of "" means "/" too.
func joinBelow(top, p string) string {
	switch {
	case top == "/" || top == "":
		return p
	case p == "/" || p == "":
		return top
	}
	return top + p
}

// up leaves a tree for the directory that it is mounted in.
func (r *resolver) up() {
	back := r.here().back
	r.levels = r.levels[:len(r.levels)-1]
	r.here().dir = back
}

// top begins again at the very top.
func (r *resolver) top() {
	r.levels = r.levels[:1]
	r.levels[0].dir = rootIno
}

// inGenerated takes one step in a generated tree.
func (r *resolver) inGenerated() (*spot, syscall.Errno) {
	l := r.here()
	at := strings.TrimLeft(r.path, "/")
	name, rest := at, ""
	if i := strings.IndexByte(at, '/'); i >= 0 {
		name, rest = at[:i], at[i:]
	}
	ends := strings.TrimLeft(rest, "/") == ""
	child := path.Join(l.name, name)
	switch {
	case name == "" || name == ".":
		if !ends {
			r.path = rest
			return nil, 0
		}
		child = l.name
	case name == "..":
		r.path = rest
		if l.name == "." {
			r.up()
		} else {
			l.name = path.Dir(l.name)
		}
		return nil, 0
	case len(name) > maxName:
		return nil, syscall.ENAMETOOLONG
	}
	s := &spot{gen: l.gen, name: child, top: l.top, tail: r.path == "/" || rest != ""}
	var e syscall.Errno
	if e = r.search(l); e == 0 {
		s.entry, e = lookUp(l.gen, child)
	}
	if e == syscall.ENOENT && ends {
		s.missing = true
		return s, 0
	}
	if e != 0 {
		return nil, e
	}
	if s.entry.Info.Mode.Type() == modeLink && (!ends || r.last == follow || r.last == followBare && rest == "") {
		return r.through(s, rest, ends)
	}
	switch {
	case ends:
		return s, 0
	case !s.entry.Info.IsDir():
		return nil, syscall.ENOTDIR
	}
	l.name, r.path = child, rest
	return nil, 0
}

// search checks that the directory lets names be looked up.
func (r *resolver) search(l *level) syscall.Errno {
	d, e := lookUp(l.gen, l.name)
	if e == 0 {
		e = r.cred.may(d.inode(), MayExec)
	}
	return e
}

// through follows a link of a generated tree.
func (r *resolver) through(s *spot, rest string, ends bool) (*spot, syscall.Errno) {
	if r.links++; r.links > maxLinks {
		return nil, syscall.ELOOP
	}
	target := s.entry.Target
	switch {
	case s.entry.Jump && ends:
		s.jump = true
		return s, 0
	case strings.HasPrefix(target, "/"):
		r.top()
	case s.entry.Jump:
		return nil, syscall.ENOTDIR
	}
	r.path = target + rest
	return nil, 0
}

// runElsewhere runs op for a path that leads elsewhere: in the tree that it leads to, or with
// the generated file there.
func runElsewhere[T any](f *FS, op string, c *Cred, path string, l last, in func(g *FS, path string) (T, error), of func(s *spot) (T, syscall.Errno)) (T, error) {
	s, e := f.resolve(c, path, l, true)
	if e == 0 && s.fs != nil {
		v, err := in(s.fs, s.path)
		return v, withName(err, path)
	}
	if e == 0 {
		e = s.there()
	}
	var v T
	if e == 0 {
		v, e = of(&s)
	}
	return v, pathError(op, path, e)
}

// across runs an operation with two paths of which one leads elsewhere: both have to lead into one tree.
func (f *FS) across(op string, c *Cred, from, to string, in func(g *FS, from, to string) error) syscall.Errno {
	a, e := f.resolve(c, from, nofollow, op == "link")
	if e != 0 {
		return e
	}
	b, e := f.resolve(c, to, nofollow, false)
	switch {
	case e != 0:
		return e
	case a.fs == nil:
		if e := a.there(); e != 0 {
			return e
		}
	}
	switch {
	case a.fs == nil && b.fs == nil:
		return syscall.EPERM
	case a.fs != b.fs || a.on != b.on:
		return syscall.EXDEV
	case a.on.isReadOnly():
		return syscall.EROFS
	}
	return errnoOf(in(a.fs, a.path, b.path))
}

// errnoOf returns the errno in an error of a tree.
func errnoOf(err error) syscall.Errno {
	e, _ := errors.AsType[syscall.Errno](err)
	return e
}

// alter is visit for a change: in runs unless the place is read-only. enter says
// that a mount point at the end stands for the mounted tree.
func (f *FS) alter(op string, c *Cred, path string, l last, enter bool, in func(g *FS, path string) error) error {
	s, e := f.resolve(c, path, l, enter)
	if e == 0 && s.jump && strings.HasPrefix(s.entry.Target, "/") { // The file has a name, too.
		return withName(in(f, s.entry.Target), path)
	}
	switch {
	case e != 0:
	case s.fs == nil:
		e = s.refusal(op)
	case s.on.isReadOnly():
		e = syscall.EROFS
	default:
		return withName(in(s.fs, s.path), path)
	}
	return pathError(op, path, e)
}
