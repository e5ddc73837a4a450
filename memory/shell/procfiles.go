package shell

import (
	"io/fs"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/fd"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// Abs returns the path as seen from the root. It is not cleaned: ".." after a link
// leads where the link does. "" stays "", which names nothing.
func (p *Proc) Abs(path string) string { return p.sh.abs(path) }

// Open opens a file for reading.
func (p *Proc) Open(path string) (*vfs.File, error) { return p.OpenFile(path, os.O_RDONLY, 0) }

// Create opens a file for writing, made or emptied, with mode 0666 before umask.
func (p *Proc) Create(path string) (*vfs.File, error) {
	return p.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
}

// OpenFile opens a file with the flags of package os, relative to Dir, with the process's
// rights; perm is before umask. "/dev/stdin", "/dev/stdout", "/dev/stderr" and "/dev/fd/N"
// are what the process has open, as on Linux: a regular file is opened afresh, a pipe is the same
// pipe. The caller closes it.
func (p *Proc) OpenFile(path string, flag int, perm fs.FileMode) (*vfs.File, error) {
	if fd, ok := ownStream(path); ok {
		s := p.streamOf(fd)
		if s == nil || s.Description == nil {
			return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ENOENT}
		}
		d, err := p.sh.reopen(p.ctx, s.Description, flag)
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		defer d.Unref()
		return d.Open(p.ctx)
	}
	f, err := p.sh.m.fs.OpenFile(p.ctx, p.Cred(), p.Abs(path), flag, perm&^p.sh.umask)
	if err != nil {
		return nil, err
	}
	return f.WithContext(p.ctx), nil
}

// Stream returns a descriptor of the process as a file that shares its offset, unlike what Open
// makes of "/dev/stdin". The caller closes it.
func (p *Proc) Stream(fd int) (*vfs.File, error) {
	if s := p.streamOf(fd); s != nil {
		return s.Open(p.ctx)
	}
	return nil, &fs.PathError{Op: "open", Path: "/dev/fd/" + strconv.Itoa(fd), Err: syscall.ENXIO}
}

// streamOf returns the stream of a descriptor; nil for one that is a test's.
func (p *Proc) streamOf(n int) *fd.Stream {
	var stream any
	switch n {
	case 0:
		stream = p.Stdin
	case 1:
		stream = p.Stdout
	case 2:
		stream = p.Stderr
	default:
		stream = p.sh.stream(p.ctx, n)
	}
	s, _ := stream.(*fd.Stream)
	return s
}

// Stat returns what is known of a file; a link is followed. The standard streams answer too,
// and nothing of them is read.
func (p *Proc) Stat(path string) (vfs.Info, error) {
	if fd, ok := ownStream(path); ok {
		s := p.streamOf(fd)
		if s == nil || s.Description == nil {
			return vfs.Info{}, &fs.PathError{Op: "stat", Path: path, Err: syscall.ENOENT}
		}
		return p.sh.statOpen(s.Description)
	}
	return p.sh.m.fs.Stat(p.Cred(), p.Abs(path))
}

// Lstat is Stat of a link itself.
func (p *Proc) Lstat(path string) (vfs.Info, error) { return p.sh.m.fs.Lstat(p.Cred(), p.Abs(path)) }

// Readlink returns what a link says.
func (p *Proc) Readlink(path string) (string, error) {
	return p.sh.m.fs.Readlink(p.Cred(), p.Abs(path))
}

// Realpath returns the absolute path without links, "." and "..".
func (p *Proc) Realpath(path string) (string, error) {
	return p.sh.m.fs.Realpath(p.Cred(), p.Abs(path))
}

// ReadDir returns a directory's entries sorted by name, without "." and "..".
func (p *Proc) ReadDir(path string) ([]vfs.DirEntry, error) {
	return p.sh.m.fs.ReadDir(p.Cred(), p.Abs(path))
}

// Mkdir makes a directory; perm is before umask.
func (p *Proc) Mkdir(path string, perm fs.FileMode) error {
	return p.sh.m.fs.Mkdir(p.Cred(), p.Abs(path), perm&^p.sh.umask)
}

// Mkfifo makes a named pipe; perm is before umask.
func (p *Proc) Mkfifo(path string, perm fs.FileMode) error {
	return p.sh.m.fs.Mkfifo(p.Cred(), p.Abs(path), perm&^p.sh.umask)
}

// Symlink makes path a link that says target.
func (p *Proc) Symlink(target, path string) error {
	return p.sh.m.fs.Symlink(p.Cred(), target, p.Abs(path))
}

// Link gives the file old the further name path.
func (p *Proc) Link(old, path string) error {
	return p.sh.m.fs.Link(p.Cred(), p.Abs(old), p.Abs(path))
}

// Rename moves old to path, in the place of what is there, as rename(2).
func (p *Proc) Rename(old, path string) error {
	return p.sh.m.fs.Rename(p.Cred(), p.Abs(old), p.Abs(path))
}

// Unlink removes a name that is no directory.
func (p *Proc) Unlink(path string) error { return p.sh.m.fs.Unlink(p.Cred(), p.Abs(path)) }

// Rmdir removes an empty directory.
func (p *Proc) Rmdir(path string) error { return p.sh.m.fs.Rmdir(p.Cred(), p.Abs(path)) }

// RemoveAll removes path and all below it; nothing there is no error.
func (p *Proc) RemoveAll(path string) error { return p.sh.m.fs.RemoveAll(p.Cred(), p.Abs(path)) }

// Chmod changes permissions; links are followed.
func (p *Proc) Chmod(path string, mode fs.FileMode) error {
	return p.sh.m.fs.Chmod(p.Cred(), p.Abs(path), mode)
}

// Chown changes the owner and group; follow says whether a link is followed.
func (p *Proc) Chown(path string, uid, gid uint32, follow bool) error {
	return p.sh.m.fs.Chown(p.Cred(), p.Abs(path), uid, gid, follow)
}

// Chtimes changes the times of access and modification.
func (p *Proc) Chtimes(path string, atime, mtime time.Time, follow bool) error {
	return p.sh.m.fs.Chtimes(p.Cred(), p.Abs(path), atime, mtime, follow)
}

// Truncate cuts or extends a file to size bytes.
func (p *Proc) Truncate(path string, size int64) error {
	return p.sh.m.fs.Truncate(p.Cred(), p.Abs(path), size)
}

// Access tells as access(2) whether the process may read (4), write (2), execute (1) the file.
func (p *Proc) Access(path string, mask int) error {
	return p.sh.m.fs.Access(p.Cred(), p.Abs(path), uint32(mask))
}
