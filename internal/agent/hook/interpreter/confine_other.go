//go:build !linux

package interpreter

import "errors"

// bound does nothing: other systems lack enforceable limits.
func bound(int64) error { return errors.ErrUnsupported }
