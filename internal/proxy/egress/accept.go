package egress

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"time"
)

// acceptErrors are temporary errors of Accept. A sandbox can cause them, so they must not end a listener.
var acceptErrors = []error{syscall.EMFILE, syscall.ENFILE, syscall.ECONNABORTED, syscall.ENOBUFS, syscall.ENOMEM}

// RetryAccept reports whether the caller should call Accept again after err. It waits for 50 ms before it returns true, and
// returns false when ctx ends meanwhile.
func RetryAccept(ctx context.Context, err error) bool {
	if !slices.ContainsFunc(acceptErrors, func(e error) bool { return errors.Is(err, e) }) {
		return false
	}
	t := time.NewTimer(50 * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
