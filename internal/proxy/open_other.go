//go:build !linux

package proxy

import (
	"os"
	"syscall"
)

// openPlain opens a path that was resolved before. It follows no link in its place and
// does not wait for a writer of a FIFO.
func openPlain(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
}
