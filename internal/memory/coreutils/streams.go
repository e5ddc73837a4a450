package coreutils

import (
	"bufio"
	"io"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// bufferSize is how much is read or written at once.
const bufferSize = 64 << 10

// output is a command's buffered standard output. The first error stays, and ends what
// is written after it.
type output struct {
	*bufio.Writer
	proc *shell.Proc
}

// newOutput returns p's standard output; the command returns Close's status.
func newOutput(p *shell.Proc) *output {
	return &output{Writer: bufio.NewWriterSize(p.Stdout, bufferSize), proc: p}
}

// Close writes what is buffered and returns the exit status: status, or what a failed
// write makes of it.
func (o *output) Close(status int) int {
	if err := o.Flush(); err != nil {
		return o.proc.WriteFailed(err)
	}
	return status
}

// failed tells that a write went wrong, so that there is no use in going on.
func (o *output) failed() bool {
	_, err := o.Write(nil)
	return err != nil
}

// openInput opens a file for reading; "-" is standard input. The reader is to be closed. It
// reads straight from the file: callers buffer.
func openInput(p *shell.Proc, name string) (io.ReadCloser, error) {
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
