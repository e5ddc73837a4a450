//go:build !linux

package proxy

import (
	"os"
	"syscall"
)

// openPlain opens a path that was resolved before; not through a link in its place, and
// without waiting for who writes to a FIFO.
func openPlain(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
}
