package tar

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/codec"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/packing"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/tarfile"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// tarInput is an archive that is read.
type tarInput struct {
	*tarfile.Reader
	j      *tarJob
	file   io.Closer
	format codec.Format
	in     io.Reader // unpacked
}

// fuelReader takes fuel for each read.
type fuelReader struct {
	p  *shell.Proc
	in io.Reader
}

func (f fuelReader) Read(b []byte) (int, error) {
	n, err := f.in.Read(b)
	if e := f.p.Spend(1 + n>>6); e != nil {
		return 0, e
	}
	return n, err
}

// openArchive opens an archive for reading; the error is already printed.
func (j *tarJob) openArchive(name string) (*tarInput, error) {
	a := &tarInput{j: j, format: j.packing.format}
	raw := j.p.Stdin
	regular := false
	if name == "-" {
		if program.IsTerminal(j.p.Stdin) {
			return nil, j.fatal("Refusing to read archive contents from terminal (missing -f option?)")
		}
	} else {
		f, err := j.p.Open(name)
		if err != nil {
			j.warn("%s: Cannot open: %s", quoteTarName(name), shell.Strerror(err))
			return nil, j.giveUp()
		}
		a.file, raw = f, f
		info, err := f.Stat()
		if err == nil && info.IsDir() {
			j.warn("%s: Cannot read: Is a directory", quoteTarName(name))
			j.warn("At beginning of tape, quitting now")
			return nil, j.giveUp()
		}
		regular = err == nil && info.Mode.IsRegular()
	}
	in := bufio.NewReaderSize(fuelReader{j.p, raw}, program.BufferSize)
	head, err := in.Peek(tarfile.BlockSize)
	if err != nil && !program.IsEnd(err) {
		return nil, err
	}
	if !j.packing.set {
		switch a.format = codec.Sniff(head); {
		case a.format == codec.None || len(head) == tarfile.BlockSize && tarfile.IsHeader(head):
			a.format = codec.None
		case !regular:
			return nil, j.fatal("Archive is compressed. Use %s option", packOption(a.format))
		}
	}
	if f := codec.Sniff(head); a.format == codec.Xz && f == codec.Lzma || a.format == codec.Lzma && f == codec.Xz {
		a.format = f // xz reads both.
	}
	a.in = in
	if a.format != codec.None {
		a.in = bufio.NewReaderSize(fuelReader{j.p, codec.NewReader(a.format, in, &codec.Memory{Reserve: j.p.Reserve})}, program.BufferSize)
	}
	a.Reader = tarfile.NewReader(a.in)
	a.IgnoreZeros = j.zeros
	return a, nil
}

// packOption is the option for a format.
func packOption(f codec.Format) string {
	return map[codec.Format]string{
		codec.Gzip: "-z", codec.Bzip2: "-j", codec.Xz: "-J", codec.Lzma: "--lzma", codec.Zstd: "--zstd", codec.Compress: "-Z",
	}[f]
}

// close looks at the rest of a compressed archive, which may still be wrong.
func (a *tarInput) close(err error) error {
	if err == nil && a.format != codec.None {
		if _, e := io.Copy(io.Discard, a.in); e != nil {
			err = a.broken(e)
		}
	}
	if a.file != nil {
		_ = a.file.Close()
	}
	return err
}

// broken returns the error of the archive, never nil.
func (a *tarInput) broken(err error) error {
	j := a.j
	if codec.FaultOf(err) != 0 {
		text, status := unpackComplaint(a.format, err)
		_, _ = io.WriteString(j.p.Stderr, text)
		if a.HasData() {
			return j.fatal("Unexpected EOF in archive") // as it looks from behind a pipe
		}
		j.warn("Child returned status %d", status)
		return j.giveUp()
	}
	switch {
	case errors.Is(err, tarfile.ErrTruncated):
		return j.fatal("Unexpected EOF in archive")
	case errors.Is(err, tarfile.ErrLarge):
		return j.fatal("Extended header is too large")
	case errors.Is(err, tarfile.ErrMalformed):
		return j.fatal("Malformed extended header")
	}
	return err
}

// unpackComplaint returns the error that a format's program prints about its standard input, and its exit status.
func unpackComplaint(f codec.Format, err error) (text string, status int) {
	kind := codec.FaultOf(err)
	word := func(words map[codec.Fault]string, other string) string {
		if w, ok := words[kind]; ok {
			return w
		}
		return other
	}
	switch f {
	case codec.Bzip2:
		return packing.Bzip2Complaint("bzip2", "(stdin)", "(stdout)", err), 2
	case codec.Xz, codec.Lzma:
		return "xz: (stdin): " + word(packing.XzComplaints, "Compressed data is corrupt") + "\n", 1
	case codec.Zstd:
		return "zstd: /*stdin*\\: " + word(map[codec.Fault]string{
			codec.NotFormat: "unsupported format ", codec.Garbage: "unsupported format ", codec.Truncated: "unexpected end of file ",
		}, "Decoding error (36) : Data corruption detected ") + "\n", 1
	default:
		status = 1
		if kind == codec.Garbage {
			status = 2
		}
		return "\ngzip: stdin: " + word(map[codec.Fault]string{
			codec.NotFormat: "not in gzip format", codec.Truncated: "unexpected end of file", codec.Checksum: "invalid compressed data--crc error",
			codec.Length: "invalid compressed data--length error", codec.Garbage: "decompression OK, trailing garbage ignored",
		}, "invalid compressed data--format violated") + "\n", status
	}
}

// eachMember calls fn for each member that is asked for, of all archives.
func (j *tarJob) eachMember(fn func(a *tarInput, h *tarfile.Header) error) error {
	j.names.index(j)
	files := j.files
	if len(files) == 0 {
		files = []string{j.file}
	}
	total := int64(0)
	for _, name := range files {
		a, err := j.openArchive(name)
		if err != nil {
			return err
		}
		err = a.close(j.readMembers(a, fn))
		if err != nil {
			return err
		}
		total += a.Blocks() * tarfile.BlockSize
	}
	j.names.missing(j)
	if j.totals {
		j.sayTotals("read", (total+j.record-1)/j.record*j.record)
	}
	return nil
}

// readMembers goes through one archive.
func (j *tarJob) readMembers(a *tarInput, fn func(a *tarInput, h *tarfile.Header) error) error {
	first, good := true, true
	for j.ended == nil && !j.out.HasFailed() {
		h, err := a.Next()
		switch {
		case program.IsEnd(err):
			if j.show.blocks {
				j.sayEnd(a)
			}
			if first && a.Zeros == 0 && a.Blocks() == 0 && a.format == codec.None {
				j.fail("This does not look like a tar archive")
			} else if a.Zeros == 1 && !a.IgnoreZeros {
				j.warn("A lone zero block at %d", a.Blocks())
			}
			return nil
		case errors.Is(err, tarfile.ErrHeader):
			if first {
				j.fail("This does not look like a tar archive")
			}
			if good {
				j.fail("Skipping to next header")
			}
			first, good = false, false
			continue
		case err != nil:
			return a.broken(err)
		}
		first, good = false, true
		if err := j.p.Spend(4); err != nil {
			return err
		}
		for _, key := range h.Unknown {
			j.warn("Ignoring unknown extended header keyword '%s'", key)
		}
		if !j.isWanted(h) {
			continue
		}
		if err := fn(a, h); err != nil {
			if codec.FaultOf(err) != 0 || errors.Is(err, tarfile.ErrTruncated) {
				return a.broken(err)
			}
			return err
		}
	}
	return nil
}

// sayEnd prints the position of the archive's end.
func (j *tarJob) sayEnd(a *tarInput) {
	what := "** End of File **"
	if a.Zeros > 0 {
		what = "** Block of NULs **"
	}
	j.put("block " + strconv.FormatInt(a.Blocks()-int64(a.Zeros), 10) + ": " + what + "\n")
}

// isWanted reports whether a member is asked for.
func (j *tarJob) isWanted(h *tarfile.Header) bool {
	if j.startAt != "" {
		if strings.TrimRight(h.Name, "/") != strings.TrimRight(j.startAt, "/") {
			return false
		}
		j.startAt = ""
	}
	name, ok := j.names.wants(h.Name)
	if !ok || j.exclude.has(h.Name, len(j.exclude.patterns)) {
		return false
	}
	if !j.newer.IsZero() && h.Mtime.Before(j.newer) {
		return false
	}
	if name != nil {
		name.found++
		return j.occurrence == 0 || name.found == j.occurrence
	}
	return true
}

// listMember lists a member.
func (j *tarJob) listMember(_ *tarInput, h *tarfile.Header) error {
	shown := h.Name
	if j.show.transformed {
		shown, _ = j.memberPath(h.Name, ofMember)
	} else if h.Type != tarfile.Volume {
		j.safeName(h.Name, false)
		if h.Type == tarfile.Link {
			j.safeName(h.Link, true)
		}
	}
	if h.Type == tarfile.Dir && !strings.HasSuffix(shown, "/") {
		shown += "/"
	}
	j.say(h, shown, j.verbose == 0)
	return nil
}

// testLabel compares the label of the archive with the names that are given.
func (j *tarJob) testLabel() error {
	a, err := j.openArchive(j.file)
	if err != nil {
		return err
	}
	defer func() { _ = a.file.Close() }()
	label := ""
	if h, err := a.Next(); err == nil && h.Type == tarfile.Volume {
		label = h.Name
	}
	if label != "" && (j.verbose > 0 || !j.names.hasNames()) {
		_, _ = j.out.WriteString(label + "\n")
	}
	for _, n := range j.names.list {
		if n.name == label {
			return nil
		}
	}
	if j.names.hasNames() {
		j.status = 1
	}
	return nil
}

// tarOutput is an archive that is written.
type tarOutput struct {
	*tarfile.Writer
	file   *vfs.File // nil: standard output
	pack   io.WriteCloser
	buffer *bufio.Writer
	ino    uint64
}

// newArchive opens an archive for writing.
func (j *tarJob) newArchive() (*tarOutput, error) {
	a := &tarOutput{}
	out := j.p.Stdout
	if j.file == "-" {
		if program.IsTerminal(j.p.Stdout) {
			return nil, j.fatal("Refusing to write archive contents to terminal (missing -f option?)")
		}
		j.tellElsewhere()
	} else {
		f, err := j.p.Create(j.file)
		if err != nil {
			j.warn("%s: Cannot open: %s", quoteTarName(j.file), shell.Strerror(err))
			return nil, j.giveUp()
		}
		a.file, out = f, f
		if info, err := f.Stat(); err == nil && info.Mode.IsRegular() {
			a.ino = info.Ino
		}
	}
	a.buffer = bufio.NewWriterSize(out, program.BufferSize)
	var to io.Writer = a.buffer
	if j.packing.format != codec.None {
		level := j.packing.level
		if level == 0 {
			level = map[codec.Format]int{codec.Bzip2: 9, codec.Zstd: 3}[j.packing.format]
		}
		if level == 0 {
			level = 6
		}
		pack, err := codec.NewWriter(j.packing.format, a.buffer, level, -1, &codec.Memory{Reserve: j.p.Reserve})
		if err != nil {
			return nil, err
		}
		a.pack, to = pack, pack
	}
	a.Writer = tarfile.NewWriter(to, j.format)
	return a, nil
}

// tellElsewhere lists names on standard error, because the output is something else.
func (j *tarJob) tellElsewhere() {
	if j.show.index == "" {
		j.tell = j.p.Stderr
	}
}

// close ends the archive.
func (a *tarOutput) close(j *tarJob) error {
	err := a.Close(j.record)
	if a.pack != nil {
		err = errors.Join(err, a.pack.Close())
	}
	if err == nil {
		err = a.buffer.Flush()
	}
	if a.file != nil {
		err = errors.Join(err, a.file.Close())
	}
	if err != nil {
		return j.writeFailed(err)
	}
	if j.totals {
		j.sayTotals("written", a.Written)
	}
	return nil
}

// writeFailed says that the archive cannot be written.
func (j *tarJob) writeFailed(err error) error {
	if j.p.Status(err) != 1 {
		return err
	}
	j.warn("%s: Cannot write: %s", quoteTarName(j.file), shell.Strerror(err))
	return j.giveUp()
}
