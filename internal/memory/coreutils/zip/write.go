package zip

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/klauspost/compress/flate"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filemode"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/packing"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// zipSource is a file that may become a member.
type zipSource struct {
	path, name string
	info       vfs.Info
	stdin      bool
}

// run runs the selected operation.
func (j *zipJob) run() int {
	stream := j.archive == "-"
	if stream {
		j.tell = j.p.Stderr
	} else if base := pathname.Base(j.archive); !strings.Contains(base, ".") {
		j.archive += ".zip"
	}
	var old *zipArchive
	if !stream {
		var err error
		if old, err = openZip(j.p, j.archive); err != nil && !errors.Is(err, fs.ErrNotExist) {
			if errors.Is(err, errNoZip) {
				return j.fail(3, "Zip file structure invalid (%s)", j.archive)
			}
			return j.broken(err)
		}
		if old != nil {
			defer old.file.Close()
		}
	}
	if err := j.collect(old); err != nil {
		return j.broken(err)
	}
	if j.test && len(j.names) == 0 && old != nil {
		j.say("test of %s OK\n", j.archive)
		return 0
	}
	drop, ok := j.deletions(old)
	if !ok {
		return j.fail(12, "Nothing to do! (%s)", j.archive)
	}
	if j.action != 'd' && len(j.order) == 0 {
		if j.action != 0 && old != nil {
			return 12
		}
		return j.fail(12, "Nothing to do! (%s)", j.archive)
	}
	status := j.write(old, drop)
	if status == 0 && j.move {
		for _, path := range j.packed {
			if j.p.Unlink(path) != nil {
				_ = j.p.Rmdir(path) // A directory that is not empty stays.
			}
		}
	}
	return status
}

// broken returns the status for an error that ends the work.
func (j *zipJob) broken(err error) int {
	if status := j.p.Status(err); status != 1 {
		return status
	}
	return j.fail(15, "%s (%s)", shell.Strerror(err), j.archive)
}

// collect finds the files.
func (j *zipJob) collect(old *zipArchive) error {
	if j.action == 'd' {
		return nil
	}
	names := j.names
	if j.fromStdin {
		lines := program.NewLineReader(j.p, j.p.Stdin, '\n')
		for line, ok := lines.Next(); ok; line, ok = lines.Next() {
			if err := j.p.Reserve(len(line) + 32); err != nil {
				return err
			}
			names = append(names, string(program.WithoutEnd(line, '\n')))
		}
	}
	if len(names) == 0 && j.action == 'f' && old != nil {
		for _, f := range old.File {
			names = append(names, strings.TrimSuffix(f.Name, "/"))
		}
	}
	for _, name := range names {
		if name == "-" {
			if err := j.add(&zipSource{name: "-", stdin: true, info: vfs.Info{Mode: 0o600 | fs.ModeNamedPipe, Mtime: j.p.Now()}}, old); err != nil {
				return err
			}
			continue
		}
		found, err := j.find(strings.TrimRight(name, "/"), old)
		if err != nil {
			return err
		}
		if !found {
			j.warn("name not matched: %s", name)
		}
	}
	return nil
}

func (j *zipJob) find(path string, old *zipArchive) (bool, error) {
	if err := j.p.Spend(4); err != nil {
		return false, err
	}
	if path == "" {
		path = "/"
	}
	look := j.p.Stat
	if j.links {
		look = j.p.Lstat
	}
	info, err := look(path)
	if err != nil {
		return false, nil //nolint:nilerr // The caller reports the name.
	}
	name := path
	for strings.HasPrefix(name, "./") {
		name = strings.TrimLeft(name[2:], "/")
	}
	name = strings.TrimLeft(name, "/")
	if info.IsDir() {
		if name != "." && name != "" && !j.noDirs && !j.junk {
			if err := j.add(&zipSource{path: path, name: name + "/", info: info}, old); err != nil {
				return false, err
			}
		}
		return true, j.below(path, old)
	}
	if j.junk {
		name = pathname.Base(name)
	}
	return true, j.add(&zipSource{path: path, name: name, info: info}, old)
}

func (j *zipJob) below(path string, old *zipArchive) error {
	if !j.recursive {
		return nil
	}
	entries, err := j.p.ReadDir(path)
	if err != nil {
		j.warn("could not open for reading: %s", path)
		return j.p.Spend(1)
	}
	for _, e := range entries {
		if _, err := j.find(pathname.Resolve(path, e.Name), old); err != nil {
			return err
		}
	}
	return nil
}

// add takes a file unless the options leave it out.
func (j *zipJob) add(s *zipSource, old *zipArchive) error {
	if len(s.name) > 0xffff || s.path != "" && !j.stdinOrPlain(s) {
		return nil
	}
	if _, ok := matchesZip(j.exclude, s.name, false); ok {
		return nil
	}
	if _, ok := matchesZip(j.include, s.name, false); !ok && len(j.include) > 0 {
		return nil
	}
	if j.archive != "-" && !s.stdin {
		if info, err := j.p.Stat(j.archive); err == nil && info.Ino == s.info.Ino {
			return nil
		}
	}
	if j.action == 'u' || j.action == 'f' {
		was := old.named(s.name)
		if was == nil && j.action == 'f' || was != nil && !s.info.Mtime.Truncate(time.Second).After(old.modified(was)) {
			return nil
		}
	}
	if j.sources[s.name] != nil {
		return nil
	}
	j.sources[s.name] = s
	j.order = append(j.order, s)
	return j.p.Reserve(len(s.name)*2 + 300)
}

func (j *zipJob) stdinOrPlain(s *zipSource) bool {
	m := s.info.Mode
	return m.IsRegular() || m.IsDir() || m&fs.ModeSymlink != 0
}

func (a *zipArchive) named(name string) *zip.File {
	if a == nil {
		return nil
	}
	for _, f := range a.File {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// deletions finds the members to delete; not ok when there are none.
func (j *zipJob) deletions(old *zipArchive) (map[*zip.File]bool, bool) {
	if j.action != 'd' {
		return nil, true
	}
	if old == nil {
		for _, name := range j.names {
			j.warn("name not matched: %s", name)
		}
		j.warn("%s not found or empty", j.archive)
		return nil, false
	}
	drop := make(map[*zip.File]bool)
	hit := make([]bool, len(j.names))
	for _, f := range old.File {
		if i, ok := matchesZip(j.names, f.Name, false); ok {
			drop[f], hit[i] = true, true
			j.say("deleting: %s\n", f.Name)
		}
	}
	for i, ok := range hit {
		if !ok {
			j.warn("name not matched: %s", j.names[i])
		}
	}
	return drop, len(drop) > 0
}

// write makes the new archive and puts it in the place of the old one.
func (j *zipJob) write(old *zipArchive, drop map[*zip.File]bool) int {
	out := j.p.Stdout
	temp := ""
	var f *vfs.File
	if j.archive != "-" {
		temp = fmt.Sprintf("%s%cziXX%06d", pathname.Dir(j.archive), '/', j.p.Rand().IntN(1e6))
		var err error
		if f, err = j.p.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666); err != nil {
			fmt.Fprintf(j.tell, "zip I/O error: %s", shell.Strerror(err))
			return j.fail(15, "Could not create output file (%s)", j.archive)
		}
		out = f
	}
	count, err := j.members(zip.NewWriter(out), old, drop)
	if f == nil {
		if err != nil {
			return j.broken(err)
		}
		return 0
	}
	err = errors.Join(err, f.Close())
	switch {
	case err != nil:
		_ = j.p.Unlink(temp)
		return j.broken(err)
	default:
		if count == 0 {
			j.say("\tzip warning: zip file empty\n")
		}
		if old != nil {
			if info, e := old.file.Stat(); e == nil {
				_ = j.p.Chmod(temp, info.Mode) // The new archive is complete either way.
			}
		}
		err = j.p.Rename(temp, j.archive)
	}
	if err != nil {
		return j.broken(err)
	}
	if j.verbose && j.action != 'd' {
		j.say("total bytes=%d, compressed=%d -> %d%% savings\n", j.plainN, j.packedN, zipPercent(j.plainN, j.packedN))
	}
	if j.test {
		j.say("test of %s OK\n", j.archive)
	}
	return 0
}

// members writes all members.
func (j *zipJob) members(w *zip.Writer, old *zipArchive, drop map[*zip.File]bool) (count int, err error) {
	if old != nil {
		for _, f := range old.File {
			if err := j.p.Spend(1 + int(f.CompressedSize64>>6)); err != nil {
				return count, err
			}
			if drop[f] {
				continue
			}
			count++
			if s := j.sources[f.Name]; s != nil {
				delete(j.sources, f.Name)
				err = j.member(w, s, "updating: ")
			} else {
				err = w.Copy(f)
			}
			if err != nil {
				return count, err
			}
		}
	}
	for _, s := range j.order {
		if j.sources[s.name] == nil {
			continue
		}
		count++
		if err := j.member(w, s, "  adding: "); err != nil {
			return count, err
		}
	}
	return count, w.Close()
}

// content reads what a member is to hold.
func (j *zipJob) content(s *zipSource) (data []byte, err error) {
	switch {
	case s.info.Mode&fs.ModeSymlink != 0:
		target, err := j.p.Readlink(s.path)
		return []byte(target), err
	case s.info.IsDir():
		return nil, nil
	}
	in := j.p.Stdin
	if !s.stdin {
		f, err := j.p.Open(s.path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	b := &reservedBuffer{p: j.p}
	_, err = packing.Copy(j.p, b, in)
	return b.data, err
}

// reservedBuffer counts what it holds as the process's memory.
type reservedBuffer struct {
	p    *shell.Proc
	data []byte
}

func (r *reservedBuffer) Write(b []byte) (int, error) {
	if err := r.p.Reserve(len(b)); err != nil {
		return 0, err
	}
	r.data = append(r.data, b...)
	return len(b), nil
}

// member writes one member, compressed where that is shorter.
func (j *zipJob) member(w *zip.Writer, s *zipSource, verb string) error {
	j.say("%s%s", verb, s.name)
	data, err := j.content(s)
	if err != nil {
		if j.p.Status(err) != 1 || packing.IsWriteError(err) {
			return err
		}
		j.say("\n")
		j.warn("could not open for reading: %s", s.name)
		return nil
	}
	h := &zip.FileHeader{Name: s.name, CreatorVersion: 3<<8 | 30, ReaderVersion: 10, UncompressedSize64: uint64(len(data)), CRC32: crc32.ChecksumIEEE(data)}
	h.ModifiedDate, h.ModifiedTime = zipStamp(s.info.Mtime.In(program.Zone(j.p))) //nolint:staticcheck // CreateRaw writes these, and not Modified.
	h.ExternalAttrs = (filemode.TypeBits(s.info.Mode) | filemode.Bits(s.info.Mode)) << 16
	if s.info.IsDir() {
		h.ExternalAttrs |= 0x10
	}
	h.Extra = zipExtra(&s.info, j.noExtra)
	packed, how := data, "stored"
	if j.level > 0 && len(data) > 0 && s.info.Mode&fs.ModeSymlink == 0 {
		small := &bytes.Buffer{}
		d, err := flate.NewWriter(small, j.level)
		if err != nil {
			return err
		}
		if err := j.p.Reserve(len(data) / 2); err != nil {
			return err
		}
		if _, err := d.Write(data); err != nil {
			return err
		}
		if err := d.Close(); err != nil {
			return err
		}
		if small.Len() < len(data) {
			packed, how, h.Method, h.ReaderVersion = small.Bytes(), "deflated", zip.Deflate, 20
		}
	}
	h.CompressedSize64 = uint64(len(packed))
	to, err := w.CreateRaw(h)
	if err == nil {
		_, err = to.Write(packed)
	}
	if err != nil {
		return err
	}
	j.p.Release(len(data) + len(data)/2)
	j.plainN, j.packedN = j.plainN+h.UncompressedSize64, j.packedN+h.CompressedSize64
	if j.verbose {
		j.say("\t(in=%d) (out=%d)", len(data), len(packed))
	}
	j.say(" (%s %d%%)\n", how, zipPercent(h.UncompressedSize64, h.CompressedSize64))
	if !s.stdin {
		j.packed = append(j.packed, s.path)
	}
	return nil
}

// zipExtra holds the time to the second, and whose the file is.
func zipExtra(info *vfs.Info, none bool) []byte {
	if none {
		return nil
	}
	b := []byte{'U', 'T', 5, 0, 1}
	b = binary.LittleEndian.AppendUint32(b, uint32(info.Mtime.Unix()))
	b = append(b, 'u', 'x', 11, 0, 1, 4)
	b = binary.LittleEndian.AppendUint32(b, info.UID)
	b = append(b, 4)
	return binary.LittleEndian.AppendUint32(b, info.GID)
}
