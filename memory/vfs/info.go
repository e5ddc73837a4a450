package vfs

import (
	"io/fs"
	"path"
	"time"
)

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

// Info is what stat(2) tells of an inode.
type Info struct {
	Name                string // last component of the path it was asked by; "/" for the root
	Dev                 uint64 // which tree it is in: 0, or another number for each that is mounted; Ino tells them apart as well
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
		Name: path.Base(name), Ino: n.ino, Mode: fileMode(n.mode), Nlink: int(n.nlink), UID: n.uid, GID: n.gid,
		Size: n.size, Rdev: n.rdev, Atime: n.atime.time(), Mtime: n.mtime.time(), Ctime: n.ctime.time(),
	}
	switch n.mode & sIFMT {
	case sIFREG:
		i.Blocks = (n.held + 4095) / 4096 * 8
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
