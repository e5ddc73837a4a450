package zip

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/klauspost/compress/flate"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/codec"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/fnmatch"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// zipArchive is a zip archive that is read.
type zipArchive struct {
	*zip.Reader
	file *vfs.File
	size int64
	text []bool // by member: it is said to be text
	zone *time.Location
}

// zipMemberCost is about what a member takes while its archive is open.
const zipMemberCost = 512

// errNoZip means that a file is not an archive.
var errNoZip = errors.New("not a zip archive")

// openZip opens an archive.
func openZip(p *shell.Proc, path string) (*zipArchive, error) {
	f, err := p.Open(path)
	if err != nil {
		return nil, err
	}
	a := &zipArchive{file: f, zone: program.Zone(p)}
	info, err := f.Stat()
	if err == nil && !info.Mode.IsRegular() {
		err = errNoZip
	}
	if err == nil {
		a.size = info.Size
		err = a.read(p)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return a, nil
}

func (a *zipArchive) read(p *shell.Proc) error {
	if err := p.Spend(1 + int(a.size>>10)); err != nil {
		return err
	}
	at, count, ok := a.end()
	if !ok {
		return errNoZip
	}
	// A directory cannot have more entries than fit into the file.
	if err := p.Reserve(zipMemberCost * min(count, int(a.size/46))); err != nil {
		return err
	}
	r, err := zip.NewReader(a.file, a.size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return errNoZip
	}
	if extra := len(r.File) - count; extra > 0 {
		if err := p.Reserve(zipMemberCost * extra); err != nil {
			return err
		}
	}
	a.Reader = r
	memory := &codec.Memory{Reserve: p.Reserve}
	for method, format := range map[uint16]codec.Format{12: codec.Bzip2, 93: codec.Zstd, 95: codec.Xz} {
		r.RegisterDecompressor(method, func(in io.Reader) io.ReadCloser {
			return io.NopCloser(codec.NewReader(format, bufio.NewReader(in), memory))
		})
	}
	r.RegisterDecompressor(zip.Deflate, func(in io.Reader) io.ReadCloser { return flate.NewReader(in) })
	a.text = make([]bool, len(r.File))
	a.readText(at)
	return nil
}

// end finds the record at the end of the archive: where the directory is, and how many entries it has.
func (a *zipArchive) end() (at int64, count int, ok bool) {
	tail := make([]byte, min(a.size, 22+1<<16))
	if _, err := a.file.ReadAt(tail, a.size-int64(len(tail))); err != nil && !program.IsEnd(err) {
		return 0, 0, false
	}
	i := strings.LastIndex(string(tail), "PK\x05\x06")
	if i < 0 || len(tail)-i < 22 {
		return 0, 0, false
	}
	return int64(binary.LittleEndian.Uint32(tail[i+16:])), int(binary.LittleEndian.Uint16(tail[i+10:])), true
}

// readText reads the bits of the directory that package zip passes over.
func (a *zipArchive) readText(at int64) {
	var h [46]byte
	for i := range a.text {
		if _, err := a.file.ReadAt(h[:], at); err != nil || string(h[:4]) != "PK\x01\x02" {
			return
		}
		a.text[i] = h[36]&1 != 0
		at += 46 + int64(binary.LittleEndian.Uint16(h[28:])) + int64(binary.LittleEndian.Uint16(h[30:])) + int64(binary.LittleEndian.Uint16(h[32:]))
	}
}

// modified is a member's time; without its zone it is the machine's.
func (a *zipArchive) modified(f *zip.File) time.Time {
	for extra := f.Extra; len(extra) >= 4; {
		id, size := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		if size > len(extra)-4 {
			break
		}
		if id == 0x5455 && size >= 5 && extra[4]&1 != 0 {
			return time.Unix(int64(int32(binary.LittleEndian.Uint32(extra[5:]))), 0).In(a.zone)
		}
		extra = extra[4+size:]
	}
	d, t := int(f.ModifiedDate), int(f.ModifiedTime)
	return time.Date(d>>9+1980, time.Month(d>>5&15), d&31, t>>11, t>>5&63, t&31*2, 0, a.zone)
}

// zipStamp is a time as members have it: two seconds exact, in the machine's zone.
func zipStamp(t time.Time) (date, clock uint16) {
	if t.Year() < 1980 {
		return 1<<5 | 1, 0
	}
	return uint16((t.Year()-1980)<<9 | int(t.Month())<<5 | t.Day()), uint16(t.Hour()<<11 | t.Minute()<<5 | t.Second()/2)
}

// zipPercent returns the saved space in percent, rounded.
func zipPercent(plain, packed uint64) int {
	switch {
	case plain == 0:
		return 0
	case plain >= packed:
		return int((1 + 200*(plain-packed)/plain) / 2)
	}
	return -int((1 + 200*(packed-plain)/plain) / 2)
}

// matchesZip reports whether a member's name is what a pattern says; * takes slashes, too.
func matchesZip(patterns []string, name string, fold bool) (int, bool) {
	flags := fnmatch.Flags(0)
	if fold {
		flags = fnmatch.Fold
	}
	for i, p := range patterns {
		if fnmatch.Match(p, name, flags) {
			return i, true
		}
	}
	return 0, false
}
