//go:build !linux

package interpreter

import "errors"

// limitMemory does nothing: other systems lack enforceable limits.
func limitMemory(int64) error { return errors.ErrUnsupported }
