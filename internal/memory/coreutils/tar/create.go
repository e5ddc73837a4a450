package tar

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filemode"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/tarfile"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// tarPacker writes files into an archive.
type tarPacker struct {
	*tarJob
	archive *tarOutput
	links   map[uint64]string    // by inode: what files with several names are called in the archive
	known   map[string]time.Time // with -u: the members that are there
	remove  []string             // with --remove-files
	count   int                  // of patterns that are for the name that is worked on
	flat    bool
}

// create makes a new archive.
func (j *tarJob) create() error {
	a, err := j.newArchive()
	if err != nil {
		return err
	}
	w := &tarPacker{tarJob: j, archive: a}
	if j.label != "" {
		h := &tarfile.Header{Name: j.label, Type: tarfile.Volume, Mtime: j.p.Now()}
		if err := a.Header(h); err != nil {
			return j.writeFailed(err)
		}
	}
	return w.run()
}

// run packs all names and ends the archive.
func (w *tarPacker) run() error {
	for _, name := range w.names.list {
		if name.dir != "" {
			if info, err := w.p.Stat(name.dir); err != nil {
				w.warn("%s: Cannot open: %s", quoteTarName(name.dir), shell.Strerror(err))
				return w.giveUp()
			} else if !info.IsDir() {
				w.warn("%s: Cannot open: Not a directory", quoteTarName(name.dir))
				return w.giveUp()
			}
		}
		w.count, w.flat = name.excludes, name.flat
		clean := name.name
		for len(clean) > 1 && clean[len(clean)-1] == '/' {
			clean = clean[:len(clean)-1]
		}
		if err := w.dump(pathname.Resolve(name.dir, clean), clean); err != nil {
			return err
		}
	}
	w.exclude.late(w.tarJob)
	if err := w.archive.close(w.tarJob); err != nil {
		return err
	}
	for _, path := range slices.Backward(w.remove) {
		if err := w.p.Unlink(path); shell.Errno(err) != 0 {
			if err = w.p.Rmdir(path); err != nil {
				w.failFile(path, "remove", err)
			}
		}
	}
	return nil
}

// dump packs a file with its descendants. An error ends all.
func (w *tarPacker) dump(path, name string) error {
	if err := w.p.Spend(8); err != nil {
		return err
	}
	if w.exclude.has(name, w.count) {
		return nil
	}
	stored := w.safeName(name, false)
	look := w.p.Lstat
	if w.dereference {
		look = w.p.Stat
	}
	info, err := look(path)
	if err != nil {
		if w.ignoreUnreadable {
			w.warn("%s: Warning: Cannot stat: %s", quoteTarName(name), shell.Strerror(err))
			return nil
		}
		w.failFile(name, "stat", err)
		return w.ended
	}
	if !w.newer.IsZero() && !info.IsDir() && info.Mtime.Before(w.newer) {
		if w.verbose > 0 {
			w.warn("%s: file is unchanged; not dumped", quoteTarName(name))
		}
		return nil
	}
	if w.archive.ino != 0 && info.Ino == w.archive.ino {
		w.warn("%s: file is the archive; not dumped", quoteTarName(name))
		return nil
	}
	if info.Mode&fs.ModeSocket != 0 {
		w.warn("%s: socket ignored", quoteTarName(name))
		return nil
	}
	h := w.header(&info, stored)
	if w.format == tarfile.V7 && (h.Type == tarfile.Fifo || h.Type == tarfile.Char || h.Type == tarfile.Block) {
		w.warn("%s: Unknown file type; file ignored", quoteTarName(name))
		return nil
	}
	if info.IsDir() {
		return w.dumpDir(h, path, name)
	}
	return w.dumpFile(h, &info, path, name)
}

// header returns the attributes of a file.
func (w *tarPacker) header(info *vfs.Info, stored string) *tarfile.Header {
	h := &tarfile.Header{
		Name: w.rename.apply(w.p, stored, ofMember), Type: tarfile.Regular, Mode: filemode.Bits(info.Mode),
		UID: info.UID, GID: info.GID, Mtime: info.Mtime, User: w.user(info.UID), Group: w.group(info.GID),
	}
	if w.format == tarfile.Pax {
		h.Atime, h.Ctime = info.Atime, info.Ctime
	}
	switch m := info.Mode; {
	case m.IsDir():
		h.Type = tarfile.Dir
		h.Name = strings.TrimRight(h.Name, "/") + "/"
	case m&fs.ModeSymlink != 0:
		h.Type = tarfile.Symlink
	case m&fs.ModeNamedPipe != 0:
		h.Type = tarfile.Fifo
	case m&fs.ModeCharDevice != 0:
		h.Type = tarfile.Char
	case m&fs.ModeDevice != 0:
		h.Type = tarfile.Block
	default:
		h.Size = info.Size
	}
	if h.Type == tarfile.Char || h.Type == tarfile.Block {
		h.Major, h.Minor = vfs.Major(info.Rdev), vfs.Minor(info.Rdev)
	}
	w.change(h)
	return h
}

// isUpToDate reports whether the archive has the file as new as it is.
func (w *tarPacker) isUpToDate(name string, mtime time.Time) bool {
	t, ok := w.known[strings.TrimRight(name, "/")]
	return ok && !mtime.Truncate(time.Second).After(t)
}

// member writes a header and lists the member.
func (w *tarPacker) member(h *tarfile.Header, name string) error {
	err := w.archive.Header(h)
	switch {
	case errors.Is(err, tarfile.ErrName):
		why := "cannot be split"
		if w.format == tarfile.V7 {
			why = "max 99"
		} else if len(h.Name) > 256 {
			why = "max 256"
		}
		w.fail("%s: file name is too long (%s); not dumped", quoteTarName(h.Name), why)
		return errTarSkip
	case errors.Is(err, tarfile.ErrLinkName):
		w.fail("%s: link name is too long; not dumped", quoteTarName(h.Link))
		h.Link = h.Link[:100] // GNU tar goes on all the same.
		return w.member(h, name)
	case errors.Is(err, tarfile.ErrValue):
		w.fail("%s: value out of range; not dumped", quoteTarName(name))
		return errTarSkip
	case err != nil:
		return w.writeFailed(err)
	}
	if w.verbose > 0 {
		shown := name
		if w.show.transformed {
			shown = h.Name
		} else if h.Type == tarfile.Dir {
			shown = strings.TrimRight(name, "/") + "/"
		}
		w.say(h, shown, w.verbose == 1)
	}
	return nil
}

// errTarSkip means that the file is skipped.
var errTarSkip = errors.New("tar: not dumped")

func (w *tarPacker) dumpDir(h *tarfile.Header, path, name string) error {
	tag, tagged := w.tagged(path, strings.TrimRight(name, "/")+"/")
	if tagged && tag.what == tagAll {
		return nil
	}
	entries, err := w.p.ReadDir(path)
	if err != nil {
		w.failFile(name, "open", err)
		return w.ended
	}
	if !w.isUpToDate(h.Name, h.Mtime) {
		if err := w.member(h, name); errors.Is(err, errTarSkip) {
			return nil
		} else if err != nil {
			return err
		}
	}
	if w.removeFiles {
		w.remember(path)
	}
	if w.flat {
		return nil
	}
	if tagged {
		if tag.what == tagContents {
			return w.dump(pathname.Resolve(path, tag.name), pathname.Resolve(name, tag.name))
		}
		return nil
	}
	if w.sortInodes {
		slices.SortFunc(entries, func(a, b vfs.DirEntry) int {
			if a.Ino < b.Ino {
				return -1
			}
			return 1
		})
	}
	for i := range entries {
		if err := w.dump(pathname.Resolve(path, entries[i].Name), pathname.Resolve(name, entries[i].Name)); err != nil {
			return err
		}
	}
	return nil
}

func (w *tarPacker) remember(path string) {
	if w.ended = w.p.Reserve(len(path) + 16); w.ended == nil {
		w.remove = append(w.remove, path)
	}
}

// dumpFile packs what is not a directory.
func (w *tarPacker) dumpFile(h *tarfile.Header, info *vfs.Info, path, name string) error {
	if w.isUpToDate(h.Name, h.Mtime) {
		return nil
	}
	var err error
	if info.Nlink > 1 && !w.hardDereference {
		linked, e := w.hardLink(h, info, name)
		if e != nil {
			return e
		}
		if linked {
			err = w.member(h, name)
			return w.dumped(err, path)
		}
	}
	switch h.Type {
	case tarfile.Regular:
		err = w.content(h, info, path, name)
	case tarfile.Symlink:
		var target string
		if target, err = w.p.Readlink(path); err != nil {
			w.failFile(name, "read link", err)
			return w.ended
		}
		h.Link = w.rename.apply(w.p, target, ofSymlink)
		err = w.member(h, name)
	default:
		err = w.member(h, name)
	}
	return w.dumped(err, path)
}

func (w *tarPacker) dumped(err error, path string) error {
	if errors.Is(err, errTarSkip) {
		return w.ended
	}
	if err == nil && w.removeFiles {
		w.remember(path)
	}
	return errors.Join(err, w.ended)
}

// hardLink reports whether the file is in the archive by another name, which it then takes.
func (w *tarPacker) hardLink(h *tarfile.Header, info *vfs.Info, name string) (bool, error) {
	if first, ok := w.links[info.Ino]; ok {
		h.Type, h.Link, h.Size = tarfile.Link, first, 0
		return true, nil
	}
	if w.links == nil {
		w.links = make(map[uint64]string)
	}
	first := w.rename.apply(w.p, w.safeName(name, true), ofLink)
	w.links[info.Ino] = first
	return false, w.p.Reserve(len(first) + 64)
}

// content packs a regular file.
func (w *tarPacker) content(h *tarfile.Header, info *vfs.Info, path, name string) error {
	f, err := w.p.Open(path)
	if err != nil {
		w.failFile(name, "open", err)
		return errTarSkip
	}
	defer f.Close()
	if w.sparse && info.Blocks*tarfile.BlockSize < info.Size && w.format != tarfile.Ustar && w.format != tarfile.V7 {
		if err := w.findRuns(h, f); err != nil {
			return err
		}
	}
	if err := w.member(h, name); err != nil {
		return err
	}
	if h.Holes {
		for _, r := range h.Runs {
			if err := w.copyRun(f, r.Off, r.Size, name); err != nil {
				return err
			}
		}
		return nil
	}
	return w.copyRun(f, 0, h.Size, name)
}

// copyRun packs a part of a file. What has gone in between is zeros.
func (w *tarPacker) copyRun(f *vfs.File, off, size int64, name string) error {
	if _, err := f.Seek(off, 0); err != nil {
		return err
	}
	for size > 0 {
		b, err := f.Next(int(min(size, program.BufferSize)))
		if len(b) == 0 {
			if err != nil && !program.IsEnd(err) {
				w.failFile(name, "read", err)
			} else {
				w.warn("%s: File shrank by %d bytes; padding with zeros", quoteTarName(name), size)
				w.status = max(w.status, 1)
			}
			b = make([]byte, min(size, program.BufferSize))
		}
		if err := w.p.Spend(1 + len(b)>>6); err != nil {
			return err
		}
		if _, err := w.archive.Write(b); err != nil {
			return w.writeFailed(err)
		}
		size -= int64(len(b))
	}
	return nil
}

// sparseUnit is the smallest hole that is stored as one.
const sparseUnit = 4096

// findRuns looks for what is not a hole.
func (w *tarPacker) findRuns(h *tarfile.Header, f *vfs.File) error {
	off := int64(0)
	for off < h.Size {
		b, err := f.Next(program.BufferSize)
		if len(b) == 0 {
			break
		}
		if err != nil {
			return err
		}
		if err := w.p.Spend(1 + len(b)>>6); err != nil {
			return err
		}
		for len(b) > 0 {
			part := b[:min(len(b), sparseUnit-int(off%sparseUnit))]
			if !isAllZero(part) {
				if last := len(h.Runs) - 1; last >= 0 && h.Runs[last].Off+h.Runs[last].Size == off {
					h.Runs[last].Size += int64(len(part))
				} else {
					h.Runs = append(h.Runs, tarfile.Run{Off: off, Size: int64(len(part))}) // bounded: 16 bytes for two units of the file
				}
				h.Stored += int64(len(part))
			}
			off += int64(len(part))
			b = b[len(part):]
		}
	}
	h.Holes = true
	if n := len(h.Runs); n == 0 || h.Runs[n-1].Off+h.Runs[n-1].Size < h.Size {
		h.Runs = append(h.Runs, tarfile.Run{Off: h.Size}) // GNU tar marks the end so.
	}
	return nil
}

func isAllZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
