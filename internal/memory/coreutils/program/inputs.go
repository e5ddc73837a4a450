package program

import (
	"io"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// inputFiles reads files one after another as if they were one. Those that cannot be
// opened or read are reported and passed over; failed is set then. It is a buffered
// io.Reader and io.ByteReader and takes fuel for each read.
type inputFiles struct {
	proc   *shell.Proc
	names  []string
	in     io.ReadCloser
	name   string
	Failed bool
	Ended  error // of the process

	buf  []byte
	r, w int
}

// NewInputFiles reads names, or standard input when there are none.
func NewInputFiles(p *shell.Proc, names []string) *inputFiles {
	if len(names) == 0 {
		names = []string{"-"}
	}
	return &inputFiles{proc: p, names: names}
}

// open goes on to the next file that can be opened.
func (f *inputFiles) open() bool {
	for f.in == nil {
		if len(f.names) == 0 {
			return false
		}
		f.name = f.names[0]
		f.names = f.names[1:]
		in, err := OpenInput(f.proc, f.name)
		if err != nil {
			f.proc.Error(f.name, err)
			f.Failed = true
			continue
		}
		f.in = in
	}
	return true
}

// fill reads more into the empty buffer; false at the end of all files.
func (f *inputFiles) fill() bool {
	if f.buf == nil {
		f.buf = make([]byte, BufferSize)
	}
	for f.Ended == nil && f.open() {
		n, err := f.in.Read(f.buf)
		f.r, f.w = 0, n
		if e := f.proc.Spend(1 + n>>6); e != nil {
			f.Ended = e
		}
		if err != nil {
			if !IsEnd(err) {
				f.proc.Error(f.name, err)
				f.Failed = true
			}
			_ = f.in.Close()
			f.in = nil
		}
		if n > 0 {
			return true
		}
	}
	return false
}

// Read returns what one file has; at the end of the last one io.EOF, or the error that
// ended the process.
func (f *inputFiles) Read(b []byte) (int, error) {
	if f.r == f.w && !f.fill() {
		return 0, f.end()
	}
	n := copy(b, f.buf[f.r:f.w])
	f.r += n
	return n, nil
}

// ReadByte returns the next byte.
func (f *inputFiles) ReadByte() (byte, error) {
	if f.r == f.w && !f.fill() {
		return 0, f.end()
	}
	f.r++
	return f.buf[f.r-1], nil
}

func (f *inputFiles) end() error {
	if f.Ended != nil {
		return f.Ended
	}
	return io.EOF
}

// None reports that none of the files can be opened.
func (f *inputFiles) None() bool { return !f.open() }

// Skip passes over n bytes; false when there are fewer.
func (f *inputFiles) Skip(n int64) bool {
	for n > 0 {
		if f.r == f.w && !f.fill() {
			return false
		}
		step := min(n, int64(f.w-f.r))
		f.r += int(step)
		n -= step
	}
	return true
}

// Status is the exit status after reading to the end.
func (f *inputFiles) Status() int {
	switch {
	case f.Ended != nil:
		return f.proc.Status(f.Ended)
	case f.Failed:
		return 1
	}
	return 0
}

// Close closes the file that is open.
func (f *inputFiles) Close() error {
	if f.in == nil {
		return nil
	}
	err := f.in.Close()
	f.in = nil
	return err
}
