package stage

import (
	"time"

	"golang.org/x/sys/unix"
)

// passTick waits until the clock of file systems has reached t. It advances in ticks of
// some milliseconds, so a change right after t could get an older time.
func passTick(t int64) error {
	for {
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &now); err != nil {
			return err
		}
		left := t - now.Nano()
		// A longer wait means that the clock was set back.
		if left <= 0 || left > int64(time.Second) {
			return nil
		}
		<-time.After(time.Duration(left) + time.Millisecond)
	}
}
