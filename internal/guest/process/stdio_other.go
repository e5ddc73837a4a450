//go:build !linux

package process

import (
	"errors"
	"io"
)

// PrivateStdio is Unsupported.
func PrivateStdio() (io.ReadWriteCloser, error) {
	return nil, errors.New("sandboxes of this kind run on Linux")
}
