package git

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"syscall"
)

// Offsets in struct linux_dirent64, getdents(2).
const (
	direntLen  = 16
	direntType = 18
	direntName = 19
)

// list reads a directory. It allocates for directories only: a tree has ten times
// as many files, and os.ReadDir makes three objects of each.
func list(dir string, names *Names, buf []byte) (listing, error) {
	l := listing{wanted: names}
	fd, err := open(dir)
	if err != nil {
		return l, err
	}
	defer syscall.Close(fd)
	for {
		n, err := syscall.Getdents(fd, buf)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return l, err
		}
		l.parse(dir, buf[:n])
	}
}

func open(dir string) (int, error) {
	for {
		fd, err := syscall.Open(dir, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
		if err != syscall.EINTR {
			return fd, err
		}
	}
}

func (l *listing) parse(dir string, buf []byte) {
	for len(buf) > direntName {
		size := int(binary.NativeEndian.Uint16(buf[direntLen:]))
		if size <= direntName || size > len(buf) {
			return
		}
		kind, name := buf[direntType], buf[direntName:size]
		buf = buf[size:]
		if end := bytes.IndexByte(name, 0); end >= 0 {
			name = name[:end]
		}
		if string(name) == "." || string(name) == ".." || kind == syscall.DT_REG && !l.concerns(name) {
			continue
		}
		l.add(string(name), kind == syscall.DT_DIR || kind == syscall.DT_UNKNOWN && isRealDir(dir, string(name)))
	}
}

// concerns reports whether a search needs a file of this name.
func (l *listing) concerns(name []byte) bool {
	return len(name) == len("HEAD") || string(name) == ".git" || l.wanted.has(name)
}

// isRealDir determines the type that some file systems do not report.
func isRealDir(dir, name string) bool {
	info, err := os.Lstat(dir + "/" + name)
	return err == nil && info.Mode()&fs.ModeType == fs.ModeDir
}
