//go:build !linux

package session

import (
	"errors"
	"io"
)

var errNotLinux = errors.New("sandboxes of this kind run on Linux")

// Serve needs Linux.
func Serve(io.ReadWriteCloser, Options) error { return errNotLinux }

// Run needs Linux.
func Run() int { return 1 }
