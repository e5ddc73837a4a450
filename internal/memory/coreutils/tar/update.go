package tar

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/codec"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/packing"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/tarfile"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// openUpdate opens an archive to be changed, and finds where its members end. Each member is
// shown to fn.
func (j *tarJob) openUpdate(fn func(h *tarfile.Header, end int64)) (f *vfs.File, end int64, err error) {
	f, err = j.p.OpenFile(j.file, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		j.warn("%s: Cannot open: %s", quoteTarName(j.file), shell.Strerror(err))
		return nil, 0, j.giveUp()
	}
	end, err = j.scan(f, fn)
	return f, end, err
}

// scan reads the headers of an archive and returns where the last member ends.
func (j *tarJob) scan(f *vfs.File, fn func(h *tarfile.Header, end int64)) (int64, error) {
	in := bufio.NewReaderSize(fuelReader{j.p, f}, program.BufferSize)
	head, _ := in.Peek(tarfile.BlockSize) // Reading the archive reports the error.
	if codec.Sniff(head) != codec.None && !tarfile.IsHeader(head) {
		return 0, j.fatal("Cannot update compressed archives")
	}
	r := tarfile.NewReader(in)
	a := &tarInput{Reader: r, j: j}
	for good := true; ; {
		h, err := r.Next()
		switch {
		case program.IsEnd(err):
			return (r.Blocks() - int64(r.Zeros)) * tarfile.BlockSize, nil
		case errors.Is(err, tarfile.ErrHeader):
			if r.Blocks() == 1 {
				j.fail("This does not look like a tar archive")
				return 0, j.giveUp()
			}
			if good {
				j.fail("Skipping to next header")
			}
			good = false
			continue
		case err != nil:
			return 0, a.broken(err)
		}
		good = true
		if err := j.p.Spend(4); err != nil {
			return 0, err
		}
		if err := r.Skip(); err != nil {
			return 0, a.broken(err)
		}
		if fn != nil {
			fn(h, r.Blocks()*tarfile.BlockSize)
		}
	}
}

// writeFrom goes on writing an archive at an offset.
func (j *tarJob) writeFrom(f *vfs.File, off int64) (*tarOutput, error) {
	if err := f.Truncate(off); err != nil {
		return nil, j.writeFailed(err)
	}
	if _, err := f.Seek(off, io.SeekStart); err != nil {
		return nil, err
	}
	a := &tarOutput{file: f, buffer: bufio.NewWriterSize(f, program.BufferSize)}
	if info, err := f.Stat(); err == nil {
		a.ino = info.Ino
	}
	a.Writer = tarfile.NewWriter(a.buffer, j.format)
	a.Written = off
	return a, nil
}

// appendFiles adds files, or with -u those that are newer than the members of their names.
func (j *tarJob) appendFiles() error {
	w := &tarPacker{tarJob: j}
	var note func(h *tarfile.Header, end int64)
	if j.action == 'u' {
		w.known = make(map[string]time.Time)
		note = func(h *tarfile.Header, _ int64) {
			name := strings.TrimRight(h.Name, "/")
			if j.ended = j.p.Reserve(len(name) + 64); j.ended != nil {
				return
			}
			if t, ok := w.known[name]; !ok || t.Before(h.Mtime) {
				w.known[name] = h.Mtime
			}
		}
	}
	f, end, err := j.openUpdate(note)
	if err != nil {
		return err
	}
	if w.archive, err = j.writeFrom(f, end); err != nil {
		return err
	}
	return w.run()
}

// catenate adds the members of other archives.
func (j *tarJob) catenate() error {
	f, end, err := j.openUpdate(nil)
	if err != nil {
		return err
	}
	a, err := j.writeFrom(f, end)
	if err != nil {
		return err
	}
	for _, name := range j.names.list {
		if err := j.addArchive(a, pathname.Resolve(name.dir, name.name)); err != nil {
			return err
		}
	}
	return a.close(j)
}

func (j *tarJob) addArchive(a *tarOutput, path string) error {
	f, err := j.p.Open(path)
	if err != nil {
		j.failFile(path, "open", err)
		return j.ended
	}
	defer f.Close()
	end, err := j.scan(f, nil)
	if err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	n, err := packing.Copy(j.p, a.buffer, io.LimitReader(f, end))
	a.Written += n
	if packing.IsWriteError(err) {
		return j.writeFailed(err)
	}
	return err
}

// memberSpan is a part of a file.
type memberSpan struct{ from, to int64 }

// deleteMembers takes members out of the archive: what follows them moves up.
func (j *tarJob) deleteMembers() error {
	j.names.index(j)
	var keep []memberSpan
	from := int64(0)
	f, _, err := j.openUpdate(func(h *tarfile.Header, end int64) {
		if gone := j.names.hasNames() && j.isWanted(h); !gone {
			if n := len(keep); n > 0 && keep[n-1].to == from {
				keep[n-1].to = end
			} else if j.ended = j.p.Reserve(32); j.ended == nil {
				keep = append(keep, memberSpan{from, end})
			}
		}
		from = end
	})
	if err != nil {
		return err
	}
	at := int64(0)
	buf := make([]byte, program.BufferSize)
	for _, s := range keep {
		if s.from == at {
			at = s.to
			continue
		}
		for off := s.from; off < s.to; {
			n, err := f.ReadAt(buf[:min(int64(len(buf)), s.to-off)], off)
			if n == 0 && err != nil {
				return err
			}
			if err := j.p.Spend(1 + n>>6); err != nil {
				return err
			}
			if _, err := f.WriteAt(buf[:n], at); err != nil {
				return j.writeFailed(err)
			}
			off += int64(n)
			at += int64(n)
		}
	}
	if info, err := f.Stat(); err != nil || info.Size > 0 {
		a, err := j.writeFrom(f, at)
		if err != nil {
			return err
		}
		if err := a.close(j); err != nil {
			return err
		}
	}
	j.names.missing(j)
	return nil
}
