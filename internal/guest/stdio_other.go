//go:build !linux

package guest

import (
	"errors"
	"io"
)

func privateStdio() (io.ReadWriteCloser, error) {
	return nil, errors.New("sandboxes of this kind run on Linux")
}
