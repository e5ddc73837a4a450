//go:build !linux

package guest

import "errors"

func defaultSignals() error { return errors.ErrUnsupported }
