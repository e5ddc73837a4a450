//go:build !linux

package interpreter

import "errors"

// bound has nothing that holds.
func bound(int64) error { return errors.ErrUnsupported }
