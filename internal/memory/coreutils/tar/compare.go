package tar

import (
	"bytes"
	"errors"
	"io/fs"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filemode"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/tarfile"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// diffMember compares a member with the file.
func (j *tarJob) diffMember(a *tarInput, h *tarfile.Header) error {
	if h.Type == tarfile.Volume {
		return nil
	}
	name, ok := j.memberPath(h.Name, ofMember)
	if !ok {
		return nil
	}
	if j.verbose > 0 {
		j.say(h, h.Name, j.verbose == 1)
	}
	path := pathname.Resolve(joinDirs(j.names.dirs), name)
	look := j.p.Lstat
	if j.dereference {
		look = j.p.Stat
	}
	info, err := look(path)
	if err != nil {
		j.warn("%s: Warning: Cannot stat: %s", quoteTarName(name), shell.Strerror(err))
		j.status = max(j.status, 1)
		return nil
	}
	d := &tarDiff{tarJob: j, name: name, path: path, h: h, info: &info}
	return d.compare(a)
}

// tarDiff is a member and its file.
type tarDiff struct {
	*tarJob
	name, path string
	h          *tarfile.Header
	info       *vfs.Info
}

func (d *tarDiff) differs(what string) {
	d.put(d.show.name(d.name) + ": " + what + "\n")
	d.status = max(d.status, 1)
}

func (d *tarDiff) compare(a *tarInput) error {
	h, mode := d.h, d.info.Mode
	switch h.Type {
	case tarfile.Dir, tarfile.DumpDir:
		if !mode.IsDir() {
			d.differs("File type differs")
			return nil
		}
		d.compareMode()
	case tarfile.Symlink:
		target, err := d.p.Readlink(d.path)
		if err != nil {
			d.failFile(d.name, "readlink", err)
		} else if target != h.Link {
			d.differs("Symlink differs")
		}
	case tarfile.Link:
		target, _ := d.memberPath(h.Link, ofLink)
		if other, err := d.p.Lstat(pathname.Resolve(joinDirs(d.names.dirs), target)); err != nil {
			d.warn("%s: Warning: Cannot stat: %s", quoteTarName(target), shell.Strerror(err))
			d.status = max(d.status, 1)
		} else if other.Ino != d.info.Ino {
			d.differs("Not linked to " + d.show.name(h.Link))
		}
	case tarfile.Fifo, tarfile.Char, tarfile.Block:
		d.compareSpecial()
	default:
		return d.compareFile(a)
	}
	return nil
}

func (d *tarDiff) compareMode() {
	if d.h.Mode != filemode.Bits(d.info.Mode) {
		d.differs("Mode differs")
	}
}

func (d *tarDiff) compareSpecial() {
	want := map[tarfile.Type]fs.FileMode{tarfile.Fifo: fs.ModeNamedPipe, tarfile.Char: fs.ModeDevice | fs.ModeCharDevice, tarfile.Block: fs.ModeDevice}
	switch {
	case d.info.Mode.Type() != want[d.h.Type]:
		d.differs("File type differs")
	case d.h.Type != tarfile.Fifo && d.info.Rdev != vfs.Device(d.h.Major, d.h.Minor):
		d.differs("Device number differs")
	default:
		d.compareMode()
	}
}

func (d *tarDiff) compareFile(a *tarInput) error {
	h := d.h
	if !d.info.Mode.IsRegular() {
		d.differs("File type differs")
		return nil
	}
	d.compareMode()
	if h.UID != d.info.UID {
		d.differs("Uid differs")
	}
	if h.GID != d.info.GID {
		d.differs("Gid differs")
	}
	if h.Mtime.Unix() != d.info.Mtime.Unix() || h.Mtime.Nanosecond() != 0 && !h.Mtime.Equal(d.info.Mtime) {
		d.differs("Mod time differs")
	}
	if h.Size != d.info.Size {
		d.differs("Size differs")
		return nil
	}
	same, err := d.sameContent(a)
	if err == nil && !same {
		d.differs("Contents differ")
	}
	return err
}

// errDiffers ends a comparison.
var errDiffers = errors.New("tar: contents differ")

func (d *tarDiff) sameContent(a *tarInput) (bool, error) {
	f, err := d.p.Open(d.path)
	if err != nil {
		d.failFile(d.name, "open", err)
		return true, d.ended
	}
	defer f.Close()
	err = d.writeOut(a, d.h, &comparingWriter{f: f})
	if errors.Is(err, errDiffers) {
		return false, nil
	}
	return true, err
}

// comparingWriter compares what is written with a file.
type comparingWriter struct {
	f   *vfs.File
	buf []byte
}

func (c *comparingWriter) Write(b []byte) (int, error) {
	if len(c.buf) < len(b) {
		c.buf = make([]byte, len(b))
	}
	n := 0
	for n < len(b) {
		k, err := c.f.Read(c.buf[n:len(b)])
		n += k
		if err != nil {
			return 0, errDiffers
		}
	}
	if !bytes.Equal(b, c.buf[:n]) {
		return 0, errDiffers
	}
	return n, nil
}
