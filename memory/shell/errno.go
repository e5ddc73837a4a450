package shell

import (
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/errno"
)

// Errno returns the error number inside err: that of a syscall.Errno, or of the
// io/fs sentinel that err is. It is 0 when there is none.
func Errno(err error) syscall.Errno { return errno.Of(err) }

// Strerror returns what the GNU C library calls the error inside err, without the
// operation and path that Go puts around it. An error without a number is its own text.
func Strerror(err error) string { return errno.Text(err) }
