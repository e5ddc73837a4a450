package vfs

import (
	"context"
	"io/fs"
	pathpkg "path"
	"strings"
	"syscall"
	"time"
)

// Stat describes the file at path; links are followed.
func (f *FS) Stat(c Cred, path string) (Info, error) { return f.stat("stat", c, path, true) }

// Lstat is [FS.Stat], but describes a link as last component itself.
func (f *FS) Lstat(c Cred, path string) (Info, error) { return f.stat("lstat", c, path, false) }

func (f *FS) stat(op string, c Cred, path string, follow bool) (Info, error) {
	f.mu.RLock()
	n, e := f.find(&c, path, follow)
	if e == 0 {
		i := f.infoOf(n, path)
		f.mu.RUnlock()
		return i, nil
	}
	f.mu.RUnlock()
	if e != elsewhere {
		return Info{}, pathError(op, path, e)
	}
	s, e := f.resolve(&c, path, followIf(follow || strings.HasSuffix(path, "/")), true)
	var i Info
	var err error
	switch {
	case e == 0 && s.fs != nil:
		if i, err = s.fs.stat(op, c, s.path, follow); i.Dev == 0 {
			i.Dev = s.on.number()
			i.Ino = inoOn(i.Dev, i.Ino)
		}
	case e == 0:
		if e = s.there(); e == 0 {
			i, e = s.info()
		}
		err = pathError(op, path, e)
	default:
		err = pathError(op, path, e)
	}
	i.Name = pathpkg.Base(path)
	return i, withName(err, path)
}

func (f *FS) infoOf(n *inode, name string) Info {
	l := f.lock(n.ino)
	l.RLock()
	defer l.RUnlock()
	return n.info(name)
}

// Readlink returns the target of a symbolic link; EINVAL if it is none.
func (f *FS) Readlink(c Cred, path string) (string, error) {
	f.mu.RLock()
	n, e := f.find(&c, path, false)
	target := ""
	if e == 0 {
		if n.isLink() {
			target = n.target
		} else {
			e = syscall.EINVAL
		}
	}
	f.mu.RUnlock()
	if e != elsewhere {
		return target, pathError("readlink", path, e)
	}
	return runElsewhere(f, "readlink", &c, path, followIf(strings.HasSuffix(path, "/")),
		func(g *FS, path string) (string, error) { return g.Readlink(c, path) },
		func(s *spot) (string, syscall.Errno) {
			if s.entry.Info.Mode.Type() != modeLink || s.jump {
				return "", syscall.EINVAL
			}
			return s.entry.Target, 0
		})
}

// Realpath returns the path of an existing file without links, dots and repeated slashes.
func (f *FS) Realpath(c Cred, path string) (string, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	n, e := f.find(&c, path, true)
	if e == elsewhere {
		f.mu.RUnlock()
		defer f.mu.RLock()
		return f.realpathElsewhere(&c, path)
	}
	if e != 0 {
		return "", pathError("realpath", path, e)
	}
	if n.isDir() {
		return f.tree.path(n), nil
	}
	// A file may have several names: the one that was asked for counts.
	p, e := f.walk(&c, path, follow)
	if e != 0 {
		return "", pathError("realpath", path, e)
	}
	return join(f.tree.path(p.dir), p.name), nil
}

func (f *FS) realpathElsewhere(c *Cred, path string) (string, error) {
	s, e := f.resolve(c, path, follow, true)
	switch {
	case e != 0:
	case s.fs != nil:
		p, err := s.fs.Realpath(*c, s.path)
		return joinBelow(s.top, p), withName(err, path)
	case s.jump:
		if strings.HasPrefix(s.entry.Target, "/") {
			return s.entry.Target, nil
		}
		return joinBelow(s.top, pathpkg.Join("/", pathpkg.Dir(s.name), s.entry.Target)), nil
	default:
		if e = s.there(); e == 0 {
			return joinBelow(s.top, pathpkg.Join("/", s.name)), nil
		}
	}
	return "", pathError("realpath", path, e)
}

func join(dir, name string) string {
	if dir == "/" {
		return dir + name
	}
	return dir + "/" + name
}

// ReadDir lists a directory in the order of the names, without "." and "..".
func (f *FS) ReadDir(c Cred, path string) ([]DirEntry, error) {
	f.mu.RLock()
	n, e := f.find(&c, path, true)
	if e == 0 && !n.isDir() {
		e = syscall.ENOTDIR
	}
	if e == 0 {
		e = c.may(n, MayRead)
	}
	var d *names
	if e == 0 {
		d, e = n.dir()
	}
	if e == elsewhere {
		f.mu.RUnlock()
		return f.readDirElsewhere(c, path)
	}
	if e != 0 {
		f.mu.RUnlock()
		return nil, pathError("open", path, e)
	}
	list := d.list("", 0)
	f.mu.RUnlock()
	f.accessed(n.ino, nil)
	return list, nil
}

func (f *FS) readDirElsewhere(c Cred, path string) ([]DirEntry, error) {
	file, err := f.OpenFile(context.Background(), c, path, syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return file.ReadDir(0)
}

// list returns up to limit entries with names above after; with limit ≤ 0 all.
func (d *names) list(after string, limit int) []DirEntry {
	if limit <= 0 {
		limit = d.n
	}
	list := make([]DirEntry, 0, min(limit, d.n))
	d.each(after, func(e dirent) bool {
		if len(list) == limit {
			return false
		}
		list = append(list, DirEntry{Name: e.name, Mode: fileMode(e.kind()).Type(), Ino: e.ino()})
		return true
	})
	return list
}

// Access checks whether c has the access of mask to the file, as faccessat(2) does.
func (f *FS) Access(c Cred, path string, mask uint32) error {
	f.mu.RLock()
	n, e := f.find(&c, path, true)
	if e == 0 {
		e = c.may(n, mask)
	}
	f.mu.RUnlock()
	if mask&^7 != 0 && (e == 0 || e == elsewhere || e == syscall.EACCES) {
		e = syscall.EINVAL
	}
	if e == elsewhere {
		return f.accessElsewhere(c, path, mask)
	}
	return pathError("access", path, e)
}

func (f *FS) accessElsewhere(c Cred, path string, mask uint32) error {
	s, e := f.resolve(&c, path, follow, true)
	switch {
	case e != 0:
	case s.fs != nil:
		err := s.fs.Access(c, s.path, mask)
		if err != nil || mask&MayWrite == 0 || !s.on.isReadOnly() {
			return withName(err, path)
		}
		e = syscall.EROFS
	default:
		var i Info
		if e = s.there(); e == 0 {
			i, e = s.info()
		}
		if e == 0 {
			e = c.may(inodeOf(&i), mask)
		}
		if e == 0 && mask&MayWrite != 0 && !s.jump {
			e = syscall.EACCES
		}
	}
	return pathError("access", path, e)
}

// Mode bits as in stat(2).
const (
	sIFMT   = 0o170000
	sIFSOCK = 0o140000
	sIFLNK  = 0o120000
	sIFREG  = 0o100000
	sIFBLK  = 0o060000
	sIFDIR  = 0o040000
	sIFCHR  = 0o020000
	sIFIFO  = 0o010000
	sISUID  = 0o4000
	sISGID  = 0o2000
	sISVTX  = 0o1000
	perms   = 0o7777
)

// Info is the result of stat(2) for an inode.
type Info struct {
	Name                string // last component of the path it was asked by; "/" for the root
	Dev                 uint64 // which tree it is in: 0, or another number for each that is mounted; their Inos differ as well
	Ino                 uint64
	Mode                fs.FileMode
	Nlink               int
	UID, GID            uint32
	Size                int64 // bytes; of a link the length of its target
	Blocks              int64 // units of 512 bytes that are held, holes left out
	Rdev                uint64
	Atime, Mtime, Ctime time.Time
}

// FileInfo returns i as an [fs.FileInfo] whose Sys is the Info itself.
func (i Info) FileInfo() fs.FileInfo { return fileInfo{i} }

// IsDir reports whether i is of a directory.
func (i Info) IsDir() bool { return i.Mode.IsDir() }

type fileInfo struct{ info Info }

func (f fileInfo) Name() string       { return f.info.Name }
func (f fileInfo) Size() int64        { return f.info.Size }
func (f fileInfo) Mode() fs.FileMode  { return f.info.Mode }
func (f fileInfo) ModTime() time.Time { return f.info.Mtime }
func (f fileInfo) IsDir() bool        { return f.info.Mode.IsDir() }
func (f fileInfo) Sys() any           { return f.info }
func (f fileInfo) String() string     { return fs.FormatFileInfo(f) }

// DirEntry is one name in a directory. Mode holds only the bits of the type.
type DirEntry struct {
	Name string
	Mode fs.FileMode
	Ino  uint64
}

// IsDir reports whether the entry is a directory.
func (d DirEntry) IsDir() bool { return d.Mode.IsDir() }

// Device returns the number that stands for a device's major and minor numbers in
// [FS.Mknod] and [Info].Rdev, as makedev(3) does.
func Device(major, minor uint32) uint64 {
	return uint64(major)&0xfff<<8 | uint64(major)&^0xfff<<32 | uint64(minor)&0xff | uint64(minor)&^0xff<<12
}

// Major returns a device's major number.
func Major(dev uint64) uint32 { return uint32(dev>>8&0xfff | dev>>32&^0xfff) }

// Minor returns a device's minor number.
func Minor(dev uint64) uint32 { return uint32(dev&0xff | dev>>12&^0xff) }

// info describes n; the caller holds the lock of its content.
func (n *inode) info(name string) Info {
	i := Info{
		Name: pathpkg.Base(name), Ino: n.ino, Mode: fileMode(n.mode), Nlink: int(n.nlink), UID: n.uid, GID: n.gid,
		Size: n.size, Rdev: n.rdev, Atime: n.atime.time(), Mtime: n.mtime.time(), Ctime: n.ctime.time(),
	}
	switch n.mode & sIFMT {
	case sIFREG:
		held := n.held
		if n.lower != nil {
			held = n.size // as if it had no holes: the layer is not read for that
		}
		i.Blocks = (held + 4095) / 4096 * 8
	case sIFDIR:
		i.Size, i.Blocks = 4096, 8
		if n.lazy != nil {
			i.Nlink = 1 // not counted yet; some real file systems never do
		}
	}
	return i
}

const modeLink = fs.ModeSymlink

// modeBits is the mode as stat(2) has it.
func modeBits(m fs.FileMode) uint32 {
	kind := uint32(sIFREG)
	switch {
	case m&fs.ModeDir != 0:
		kind = sIFDIR
	case m&fs.ModeSymlink != 0:
		kind = sIFLNK
	case m&fs.ModeNamedPipe != 0:
		kind = sIFIFO
	case m&fs.ModeSocket != 0:
		kind = sIFSOCK
	case m&fs.ModeCharDevice != 0:
		kind = sIFCHR
	case m&fs.ModeDevice != 0:
		kind = sIFBLK
	}
	return kind | permBits(m)
}

func fileMode(m uint32) fs.FileMode {
	f := fs.FileMode(m & 0o777)
	switch m & sIFMT {
	case sIFDIR:
		f |= fs.ModeDir
	case sIFLNK:
		f |= fs.ModeSymlink
	case sIFIFO:
		f |= fs.ModeNamedPipe
	case sIFCHR:
		f |= fs.ModeDevice | fs.ModeCharDevice
	case sIFBLK:
		f |= fs.ModeDevice
	case sIFSOCK:
		f |= fs.ModeSocket
	}
	if m&sISUID != 0 {
		f |= fs.ModeSetuid
	}
	if m&sISGID != 0 {
		f |= fs.ModeSetgid
	}
	if m&sISVTX != 0 {
		f |= fs.ModeSticky
	}
	return f
}

// permBits returns the twelve bits that chmod(2) sets.
func permBits(f fs.FileMode) uint32 {
	m := uint32(f.Perm())
	if f&fs.ModeSetuid != 0 {
		m |= sISUID
	}
	if f&fs.ModeSetgid != 0 {
		m |= sISGID
	}
	if f&fs.ModeSticky != 0 {
		m |= sISVTX
	}
	return m
}

// stamp is a time as inodes hold it.
type stamp struct {
	sec  int64
	nsec int32
}

func newStamp(t time.Time) stamp    { return stamp{t.Unix(), int32(t.Nanosecond())} }
func (s stamp) time() time.Time     { return time.Unix(s.sec, int64(s.nsec)) }
func (s stamp) before(o stamp) bool { return s.sec < o.sec || s.sec == o.sec && s.nsec < o.nsec }
