package vfs

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Generated is a tree whose content is generated when it is read, such as /proc. A caller passes its own in [Cred] and sees it in
// every directory that [FS.Generate] has marked, so that machines that share a tree see different content there. It cannot be
// changed, and is not part of snapshots.
//
// Names are paths as of io/fs, "." for the top. Errors have a [syscall.Errno] inside. The methods are called
// by users of the file system, also from several goroutines at once, and without its locks.
type Generated interface {
	// Entry describes the entry called name; ENOENT if there is none.
	Entry(name string) (Entry, error)
	// List returns the entries of a directory, in the order of the names.
	List(name string) ([]DirEntry, error)
	// Read returns the present content of a regular file.
	Read(name string) ([]byte, error)
	// Stat describes the target of a link that is a Jump.
	Stat(name string) (Info, error)
	// Open opens the target of a link that is a Jump, with flags as of [FS.OpenFile].
	Open(ctx context.Context, name string, flag int) (*File, error)
}

// Entry is a directory entry of a [Generated] tree.
type Entry struct {
	Info   Info   // without its Name
	Target string // of a symbolic link
	// Jump says of a symbolic link that to follow it does not mean to walk to Target, but to
	// ask Stat and Open: it stands for an open file. If the Target is absolute it leads to the same by other ways.
	Jump bool
}

// Generate marks a directory that shows the content of [Cred].Proc to users that have one. Others see
// the directory itself. It is for the code that prepares a tree; snapshots and forks keep the
// mark, packs do not. The directory is neither removed nor renamed (EBUSY).
func (f *FS) Generate(path string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, e := f.find(&Cred{}, path, false)
	switch {
	case e != 0:
	case !n.isDir():
		e = syscall.ENOTDIR
	case n.ino == rootIno:
		e = syscall.EBUSY
	default:
		f.own(n).generated = true
	}
	return pathError("generate", path, e)
}

// generatedBase is added to the numbers of inodes in generated trees.
const generatedBase = 1 << 50

// inode returns an inode for the entry that does not belong to a tree.
func (e *Entry) inode() *inode { return inodeOf(&e.Info) }

func inodeOf(i *Info) *inode {
	return &inode{
		ino: i.Ino, rdev: i.Rdev, mode: modeBits(i.Mode), nlink: uint32(i.Nlink), uid: i.UID, gid: i.GID,
		atime: newStamp(i.Atime), mtime: newStamp(i.Mtime), ctime: newStamp(i.Ctime),
	}
}

// lookUp asks for an entry.
func lookUp(g Generated, name string) (Entry, syscall.Errno) {
	e, err := g.Entry(name)
	if err != nil {
		return Entry{}, generatedErrno(err)
	}
	e.Info.Ino |= generatedBase
	return e, 0
}

// generatedErrno returns the errno of a generated tree's error.
func generatedErrno(err error) syscall.Errno {
	if e, ok := errors.AsType[syscall.Errno](err); ok {
		return e
	}
	if errors.Is(err, fs.ErrNotExist) {
		return syscall.ENOENT
	}
	return syscall.EIO
}

// openGenerated opens a spot in a generated tree.
func (f *FS) openGenerated(ctx context.Context, c *Cred, s *spot, path string, flag int) (*File, error) {
	fail := func(e syscall.Errno) (*File, error) { return nil, pathError("open", path, e) }
	if e := s.there(); e != 0 {
		return fail(e)
	}
	if flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL {
		return fail(syscall.EEXIST)
	}
	if s.jump {
		file, err := s.gen.Open(ctx, s.name, flag&^os.O_CREATE)
		if err != nil && ctx.Err() == nil {
			return fail(generatedErrno(err))
		}
		return file, err
	}
	n := s.entry.inode()
	write := flag&accessMode != os.O_RDONLY || flag&os.O_TRUNC != 0
	switch {
	case n.isLink():
		return fail(syscall.ELOOP)
	case n.isDir() && (write || flag&os.O_CREATE != 0):
		return fail(syscall.EISDIR)
	case !n.isDir() && flag&syscall.O_DIRECTORY != 0:
		return fail(syscall.ENOTDIR)
	case write:
		return fail(syscall.EACCES)
	}
	if e := c.may(n, MayRead); e != 0 {
		return fail(e)
	}
	if err := s.fill(n); err != nil {
		return fail(generatedErrno(err))
	}
	return f.newUnnamed(n, path, flag), nil
}

// fill gives n the present content of its generated file.
func (s *spot) fill(n *inode) error {
	mark := new(epoch)
	if n.isDir() {
		list, err := s.gen.List(s.name)
		for _, e := range list {
			n.names.set(mark, dirent{e.Name, newRef(e.Ino|generatedBase, modeBits(e.Mode))})
		}
		return err
	}
	data, err := s.gen.Read(s.name)
	if err != nil {
		return err
	}
	for off := 0; off < len(data); off += chunkSize {
		// Its bytes are not accounted: the generator bounds them.
		if e := n.writeChunk(mark, data[off:min(off+chunkSize, len(data))], int64(off), 0); e != 0 {
			return e
		}
	}
	return nil
}

// newUnnamed opens an inode that has no owner and no name in the tree.
func (f *FS) newUnnamed(n *inode, name string, flag int) *File {
	o := &opened{d: description{
		fs: f, v: &vnode{ino: n.ino, refs: 1, orphan: n}, name: name, flag: flag, dir: n.isDir(),
	}}
	return o.file()
}

// refusal returns the error of an operation op that would change a generated tree.
func (s *spot) refusal(op string) syscall.Errno {
	switch op {
	case "mkdir", "mkfifo", "mknod", "symlink", "link":
		if s.missing {
			return syscall.ENOENT
		}
		return syscall.EEXIST
	}
	if e := s.there(); e != 0 {
		return e
	}
	if op == "truncate" {
		return syscall.EACCES
	}
	return syscall.EPERM
}
