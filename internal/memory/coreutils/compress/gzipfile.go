package compress

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/codec"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/packing"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// gzipFile is a file that gzip works on.
type gzipFile struct {
	*gzipJob
	name   string // as in messages
	target string // what is written: a name, or "stdout"
	info   vfs.Info
	in     io.Reader
	header codec.GzipHeader

	packed, plain, overhead int64
	crc                     uint32
}

// gzipSuffixes are the suffixes of compressed files.
var gzipSuffixes = []string{".gz", ".z", ".taz", ".tgz", "-gz", "-z", "_z"}

// suffixOf returns where the suffix of a compressed file begins, 0 when there is none.
func (j *gzipJob) suffixOf(name string) int {
	low := strings.ToLower(name)
	known := func(s string) bool {
		n := len(name) - len(s)
		return s != "" && n > 0 && low[n-1] != '/' && strings.HasSuffix(low, s)
	}
	if known(j.suffix) {
		return len(name) - len(j.suffix)
	}
	for _, s := range gzipSuffixes {
		if known(s) {
			return len(name) - len(s)
		}
	}
	return 0
}

// stdin works from standard input to standard output.
func (j *gzipJob) stdin() {
	if !j.force && !j.list && (j.decompress && program.IsTerminal(j.p.Stdin) || !j.decompress && program.IsTerminal(j.p.Stdout)) {
		to, what := "written to", ""
		if j.decompress {
			to, what = "read from", "de"
		}
		j.p.Warn("compressed data not %s a terminal. Use -f to force %scompression.", to, what)
		_, _ = io.WriteString(j.p.Stderr, "For help, type: gzip -h\n")
		j.status = 1
		return
	}
	f := &gzipFile{gzipJob: j, name: "stdin", target: "stdout", in: j.p.Stdin}
	if info, err := j.p.Stat("/dev/stdin"); err == nil && info.Mode.IsRegular() {
		f.info = info
	}
	f.work(j.out)
}

// file works on one file.
func (j *gzipJob) file(name string) {
	f := &gzipFile{gzipJob: j, name: name}
	in, err := f.open()
	if err != nil {
		j.fail(f.name, err)
		return
	}
	defer in.Close()
	f.in = in
	if f.info, err = in.Stat(); err != nil {
		j.fail(f.name, err)
		return
	}
	switch {
	case f.info.IsDir() && j.recursive:
		j.directory(name)
	case f.info.IsDir():
		j.warn("%s is a directory -- ignored", f.name)
	case f.isAllowed() && f.chooseTarget():
		f.convert()
	}
}

// open finds the file, for decompressing also by its name without the suffix.
func (f *gzipFile) open() (*vfs.File, error) {
	flag := os.O_RDONLY | syscall.O_NONBLOCK
	if !f.stdout && !f.force {
		flag |= syscall.O_NOFOLLOW
	}
	in, err := f.p.OpenFile(f.name, flag, 0)
	if err == nil || !f.decompress || !errors.Is(err, fs.ErrNotExist) {
		return in, err
	}
	if f.suffixOf(f.name) > 0 {
		return nil, err
	}
	given := f.name
	for _, s := range []string{f.suffix, ".gz", ".z", "-z", ".Z"} {
		if in, e := f.p.OpenFile(given+s, flag, 0); !errors.Is(e, fs.ErrNotExist) {
			f.name = given + s
			return in, e
		}
	}
	f.name = given + f.suffix
	return nil, err
}

// directory works on all files below.
func (j *gzipJob) directory(name string) {
	entries, err := j.p.ReadDir(name)
	if err != nil {
		j.fail(name, err)
		return
	}
	for _, e := range entries {
		if j.ended = j.p.Spend(4); j.ended != nil {
			return
		}
		j.file(strings.TrimSuffix(name, "/") + "/" + e.Name)
	}
}

// isAllowed reports whether the file may be replaced.
func (f *gzipFile) isAllowed() bool {
	if f.stdout {
		return true
	}
	switch m := f.info.Mode; {
	case !m.IsRegular():
		f.warn("%s is not a directory or a regular file - ignored", f.name)
	case m&fs.ModeSetuid != 0:
		f.warn("%s is set-user-ID on execution - ignored", f.name)
	case m&fs.ModeSetgid != 0:
		f.warn("%s is set-group-ID on execution - ignored", f.name)
	case f.force:
		return true
	case m&fs.ModeSticky != 0:
		f.warn("%s has the sticky bit set - file ignored", f.name)
	case f.info.Nlink > 1:
		s := "s"
		if f.info.Nlink == 2 {
			s = ""
		}
		f.warn("%s has %d other link%s -- file ignored", f.name, f.info.Nlink-1, s)
	default:
		return true
	}
	return false
}

// chooseTarget finds the name of the output.
func (f *gzipFile) chooseTarget() bool {
	if f.stdout && !f.list && !f.test {
		f.target = "stdout"
		return true
	}
	at := f.suffixOf(f.name)
	switch {
	case !f.decompress && at > 0:
		if f.verbose || !f.recursive && !f.quiet {
			f.p.Warn("%s already has %s suffix -- unchanged", f.name, f.name[at:])
		}
		return false
	case !f.decompress:
		f.target = f.name + f.suffix
	case at > 0:
		f.target = f.name[:at]
		if s := strings.ToLower(f.name[at:]); s == ".tgz" || s == ".taz" {
			f.target += ".tar" // bounded: once for a file
		}
	case (f.list || f.test) && !f.recursive:
		f.target = f.name
	default:
		if f.verbose || !f.recursive && !f.quiet {
			f.warn("%s: unknown suffix -- ignored", f.name)
		}
		return false
	}
	return true
}

// convert writes the output and removes the input.
func (f *gzipFile) convert() {
	if f.stdout {
		f.work(f.out)
		return
	}
	if f.decompress && f.named {
		f.peekName()
	}
	if !f.clearTarget() {
		return
	}
	out, err := packing.NewReplacement(f.p, f.target)
	if err != nil {
		f.fail(f.target, err)
		return
	}
	buffered := bufio.NewWriterSize(out.File, program.BufferSize)
	if !f.work(buffered) {
		out.Drop()
		return
	}
	mtime := f.info.Mtime
	if f.decompress && f.named && !f.header.Mtime.IsZero() {
		mtime = f.header.Mtime
	}
	if err := errors.Join(buffered.Flush(), out.Finish(&f.info, mtime)); err != nil {
		f.fail(f.target, err)
		_ = f.p.Unlink(f.target)
		return
	}
	if !f.keep {
		if err := f.p.Unlink(f.name); err != nil {
			f.fail(f.name, err)
		}
	}
}

// peekName takes the name of the target from the file itself. Only its last part counts:
// it says nothing of where to write.
func (f *gzipFile) peekName() {
	in, ok := f.in.(*vfs.File)
	if !ok {
		return
	}
	g := codec.NewGzipReader(bufio.NewReader(in))
	_, _ = g.Read(make([]byte, 1)) // An error shows again when the file is decompressed.
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return
	}
	if base := g.Header.Name[strings.LastIndexByte(g.Header.Name, '/')+1:]; base != "" && base != "." && base != ".." {
		f.target = f.name[:strings.LastIndexByte(f.name, '/')+1] + base
	}
}

// clearTarget asks before something is overwritten.
func (f *gzipFile) clearTarget() bool {
	if _, err := f.p.Lstat(f.target); err != nil {
		return true
	}
	if !f.force {
		_, _ = io.WriteString(f.p.Stderr, f.p.Name()+": "+f.target+" already exists;")
		if program.IsTerminal(f.p.Stdin) {
			_, _ = io.WriteString(f.p.Stderr, " do you wish to overwrite (y or n)? ")
			if line, _ := program.ReadAnswer(f.p.Stdin); line != "" && (line[0] == 'y' || line[0] == 'Y') {
				return f.removeTarget()
			}
		}
		_, _ = io.WriteString(f.p.Stderr, "\tnot overwritten\n")
		if f.status == 0 {
			f.status = 2
		}
		return false
	}
	return f.removeTarget()
}

func (f *gzipFile) removeTarget() bool {
	if err := f.p.Unlink(f.target); err != nil {
		f.fail(f.target, err)
		return false
	}
	return true
}

// work compresses or decompresses to out and reports the result.
func (f *gzipFile) work(out io.Writer) bool {
	if f.verbose && !f.list && f.name != "stdin" {
		_, _ = io.WriteString(f.p.Stderr, f.name+":\t")
	}
	if !f.decompress {
		return f.compress(out) && f.done(f.plain-(f.packed-f.overhead), f.plain)
	}
	if f.list || f.test {
		out = io.Discard
	}
	return f.expand(out) && f.done(f.plain-(f.packed-f.overhead), f.plain)
}

func (f *gzipFile) compress(out io.Writer) bool {
	var h codec.GzipHeader
	if !f.unnamed {
		h.Mtime = f.info.Mtime
		if f.name != "stdin" {
			h.Name = f.name[strings.LastIndexByte(f.name, '/')+1:]
		}
	}
	counted := &packing.CountingWriter{W: out}
	w, err := codec.NewGzipWriter(counted, f.level, h, &f.memory)
	if err == nil {
		f.plain, err = packing.Copy(f.p, w, f.in)
		if err == nil {
			if err = w.Close(); err != nil {
				err = &packing.WriteError{Err: err}
			}
		}
	}
	if err != nil {
		f.broken(err)
		return false
	}
	f.packed, f.overhead = counted.N, w.Overhead
	return true
}

func (f *gzipFile) expand(out io.Writer) bool {
	counted := &packing.CountingReader{R: f.in}
	in := bufio.NewReaderSize(counted, program.BufferSize)
	var r io.Reader
	var g *codec.GzipReader
	head, _ := in.Peek(codec.SniffLength)
	switch format := codec.Sniff(head); {
	case format == codec.Compress:
		r = codec.NewReader(format, in, nil)
	case format != codec.Gzip && f.force && f.stdout && !f.list:
		r = in
	default:
		g = codec.NewGzipReader(in)
		r = g
	}
	var err error
	f.plain, err = packing.Copy(f.p, out, r)
	f.packed = counted.N - int64(in.Buffered())
	if g != nil {
		f.header, f.overhead, f.crc, f.plain = g.Header, g.Overhead, g.CRC, int64(g.Size)
	}
	if err != nil {
		return f.broken(err)
	}
	return true
}

// broken prints why the work ended early; true for an error that may be ignored.
func (f *gzipFile) broken(err error) bool {
	text := ""
	switch codec.FaultOf(err) {
	case codec.NotFormat:
		text = "not in gzip format"
	case codec.Truncated:
		text = "unexpected end of file"
	case codec.Checksum:
		text = "invalid compressed data--crc error"
		if err.Error() == (&codec.Error{Fault: codec.Checksum, Detail: "length differs"}).Error() {
			text += "\n\n" + f.p.Name() + ": " + f.name + ": invalid compressed data--length error"
		}
	case codec.Length:
		text = "invalid compressed data--length error"
	case codec.Corrupt, codec.TooLarge:
		text = "invalid compressed data--format violated"
	case codec.Unsupported:
		e, _ := errors.AsType[*codec.Error](err)
		f.p.Warn("%s%s", f.name, e.Detail)
		f.status = 1
		return false
	case codec.Garbage:
		if !f.quiet {
			_, _ = io.WriteString(f.p.Stderr, "\n"+f.p.Name()+": "+f.name+": decompression OK, trailing garbage ignored\n")
		}
		if f.status == 0 {
			f.status = 2
		}
		return true
	default:
		f.stop(err)
		return false
	}
	_, _ = io.WriteString(f.p.Stderr, "\n"+f.p.Name()+": "+f.name+": "+text+"\n")
	f.status = 1
	return false
}

// stop ends the work for an error that is not the file's.
func (f *gzipFile) stop(err error) {
	switch {
	case f.p.Context().Err() != nil || errors.Is(err, shell.ErrFuel):
		f.ended = err
	case packing.IsWriteError(err) && f.target != "stdout":
		_, _ = io.WriteString(f.p.Stderr, "\n"+f.p.Name()+": "+f.target+": "+shell.Strerror(err)+"\n")
		f.status = 1
	case packing.IsWriteError(err): // Closing the output reports the error.
	default:
		_, _ = io.WriteString(f.p.Stderr, "\n"+f.p.Name()+": "+f.name+": "+shell.Strerror(err)+"\n")
		f.status = 1
	}
}

// done prints the saved space.
func (f *gzipFile) done(saved, of int64) bool {
	switch {
	case f.list:
		f.rows.add(f)
	case !f.verbose:
	case f.test:
		_, _ = io.WriteString(f.p.Stderr, " OK\n")
	case f.name == "stdin" && f.decompress:
	case f.name == "stdin":
		_, _ = io.WriteString(f.p.Stderr, ratio(saved, of)+"\n")
	default:
		verb := "replaced with "
		if f.keep {
			verb = "created "
		}
		_, _ = io.WriteString(f.p.Stderr, ratio(saved, of)+" -- "+verb+f.target+"\n")
	}
	return true
}

// stampOf is the time that a listing shows.
func (f *gzipFile) stampOf() time.Time {
	if f.named && !f.header.Mtime.IsZero() {
		return f.header.Mtime
	}
	return f.info.Mtime
}
