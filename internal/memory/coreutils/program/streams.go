package program

import (
	"bufio"
	"io"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// WriteText writes s. An error stays in out, whose Close reports it.
func WriteText(out *Output, s string) { _, _ = out.WriteString(s) } // The error stays in out.

// BufferSize is the size of one read or write, in bytes.
const BufferSize = 64 << 10

// Output is a command's buffered standard output. The first error stays, and ends what
// is written after it.
type Output struct {
	*bufio.Writer
	proc *shell.Proc
}

// NewOutput returns p's standard output; the command returns Close's status.
func NewOutput(p *shell.Proc) *Output {
	return &Output{Writer: bufio.NewWriterSize(p.Stdout, BufferSize), proc: p}
}

// Close writes the buffered output and returns the exit status: status, or what a failed
// write makes of it.
func (o *Output) Close(status int) int {
	if err := o.Flush(); err != nil {
		return o.proc.WriteFailed(err)
	}
	return status
}

// HasFailed reports whether a write failed; the program should then stop.
func (o *Output) HasFailed() bool {
	_, err := o.Write(nil)
	return err != nil
}

// OpenInput opens a file for reading; "-" is standard input. The reader is to be closed. It
// reads straight from the file: callers buffer.
func OpenInput(p *shell.Proc, name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(p.Stdin), nil
	}
	f, err := p.Open(name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

var _ io.ReadCloser = (*vfs.File)(nil)

// PrintLine writes a line and returns the exit status.
func PrintLine(p *shell.Proc, s string) int {
	out := NewOutput(p)
	_, _ = out.WriteString(s + "\n") // The error stays in out.
	return out.Close(0)
}
