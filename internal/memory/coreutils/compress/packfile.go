package compress

import (
	"bufio"
	"errors"
	"io"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/codec"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/packing"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// packJob holds the parsed command line of bzip2, xz or zstd.
type packJob struct {
	p      *shell.Proc
	out    *program.Output
	memory codec.Memory // of one file after the other

	format                                             codec.Format
	decompress, stdout, force, keep, test, list, quiet bool
	verbose                                            bool
	level                                              int
	suffix                                             string
	target                                             string // of zstd -o

	status int
	ended  error // why the process has to end
}

// packCount counts the bytes read and written.
type packCount struct{ plain, packed int64 }

// fail counts a failure of a status; the worst one is the program's.
func (j *packJob) fail(status int, text string) {
	_, _ = io.WriteString(j.p.Stderr, text)
	j.status = max(j.status, status)
}

// isStopped reports whether an error ends the process rather than the file.
func (j *packJob) isStopped(err error) bool {
	if j.p.Context().Err() != nil || errors.Is(err, shell.ErrFuel) {
		j.ended = err
		return true
	}
	return false
}

// close returns the exit status.
func (j *packJob) close() int {
	if j.ended != nil {
		return j.p.Status(j.ended)
	}
	return j.out.Close(j.status)
}

// pack compresses in to out; size is how much there is, -1 when unknown.
func (j *packJob) pack(in io.Reader, out io.Writer, size int64) (n packCount, err error) {
	counted := &packing.CountingWriter{W: out}
	w, err := codec.NewWriter(j.format, counted, j.level, size, &j.memory)
	if err != nil {
		return n, err
	}
	n.plain, err = packing.Copy(j.p, w, in)
	if err == nil {
		if err = w.Close(); err != nil {
			err = &packing.WriteError{Err: err}
		}
	}
	n.packed = counted.N
	return n, err
}

// unpack decompresses in to out. With pass it copies data of unknown formats.
func (j *packJob) unpack(in io.Reader, out io.Writer, pass bool) (n packCount, err error) {
	counted := &packing.CountingReader{R: in}
	b := bufio.NewReaderSize(counted, program.BufferSize)
	head, err := b.Peek(codec.SniffLength)
	if err != nil && !program.IsEnd(err) {
		return n, err
	}
	format := codec.Sniff(head)
	var r io.Reader
	switch {
	case pass && format != j.format && (j.format != codec.Xz || format != codec.Lzma):
		r = b
	case j.format == codec.Xz && format == codec.Lzma, j.format == codec.Zstd && (format == codec.Gzip || format == codec.Xz || format == codec.Lzma):
		r = codec.NewReader(format, b, &j.memory)
	default:
		r = codec.NewReader(j.format, b, &j.memory)
	}
	n.plain, err = packing.Copy(j.p, out, r)
	n.packed = counted.N - int64(b.Buffered())
	if c, ok := r.(io.Closer); ok {
		_ = c.Close() // It only lets go of memory.
	}
	return n, err
}

// through works on a stream.
func (j *packJob) through(in io.Reader, out io.Writer, size int64) (packCount, error) {
	if j.decompress {
		return j.unpack(in, out, j.force && j.stdout)
	}
	return j.pack(in, out, size)
}

// replace writes target from an open file and removes the file; like through it returns
// an error, and then leaves no target.
func (j *packJob) replace(in *vfs.File, info *vfs.Info, name, target string) (packCount, error) {
	out, err := packing.NewReplacement(j.p, target)
	if err != nil {
		return packCount{}, &packing.WriteError{Err: err}
	}
	w := bufio.NewWriterSize(out.File, program.BufferSize)
	n, err := j.through(in, w, info.Size)
	garbage := codec.FaultOf(err) == codec.Garbage && j.format == codec.Bzip2
	if err != nil && !garbage {
		out.Drop()
		return n, err
	}
	if e := errors.Join(w.Flush(), out.Finish(info, info.Mtime)); e != nil {
		_ = j.p.Unlink(target)
		return n, &packing.WriteError{Err: e}
	}
	if !j.keep {
		if e := j.p.Unlink(name); e != nil {
			return n, e
		}
	}
	return n, err
}
