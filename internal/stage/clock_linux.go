package stage

import (
	"time"

	"golang.org/x/sys/unix"
)

// passTick waits until the clock that file systems stamp with has reached t: it
// advances in ticks of some milliseconds, so that a change made right after t could
// carry an older time.
func passTick(t int64) error {
	for {
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &now); err != nil {
			return err
		}
		left := t - now.Nano()
		// Far ahead means that the clock was set back, not that a tick is missing.
		if left <= 0 || left > int64(time.Second) {
			return nil
		}
		<-time.After(time.Duration(left) + time.Millisecond)
	}
}
