package shell

import (
	"context"
	"io"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/vfs"
)

// stdStream is a standard stream of a process: a view of an open file description.
type stdStream struct {
	file *vfs.File
}

func (s *stdStream) Read(b []byte) (int, error) {
	if s.file == nil {
		return 0, syscall.EBADF
	}
	return s.file.Read(b)
}

func (s *stdStream) Write(b []byte) (int, error) {
	if s.file == nil {
		return 0, syscall.EBADF
	}
	return s.file.Write(b)
}

// open returns the description once more; the caller closes it.
func (s *stdStream) open(ctx context.Context) (*vfs.File, error) {
	if s.file == nil {
		return nil, syscall.EBADF
	}
	return s.file.Dup().WithContext(ctx), nil
}

var _ io.ReadWriter = (*stdStream)(nil)
