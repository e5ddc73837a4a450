//go:build !linux

package hook

import (
	"errors"
	"syscall"
)

func attributes() *syscall.SysProcAttr { return nil }

// bound has nothing that holds.
func bound(int64) error { return errors.ErrUnsupported }
