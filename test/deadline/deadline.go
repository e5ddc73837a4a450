// Package deadline scales the time limits of tests with the current speed of the machine: a limit is the time on an idle
// machine, and a busy or slow machine does not fail the test.
package deadline

import (
	"crypto/sha256"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// reference is the time of a fixed amount of work on the idle machine that limits are written for.
	reference = 3 * time.Millisecond
	// most is the largest factor, since a test that hangs must fail in the end.
	most = 20
	// fresh is the time for which a measurement is valid.
	fresh = 5 * time.Second
)

var measured struct {
	sync.Mutex
	at     time.Time
	factor float64
}

// Scale returns a limit for something that takes at most d on an idle machine; it is never less than d.
func Scale(d time.Duration) time.Duration { return time.Duration(float64(d) * Factor()) }

// Factor returns how many times slower than an idle machine this one is now, at least 1 and at most 20. It is the larger of
// two measurements: the time of some computation, and the number of runnable processes per processor. A program with the
// race detector is slower by a further factor.
func Factor() float64 {
	measured.Lock()
	defer measured.Unlock()
	if now := time.Now(); measured.factor == 0 || now.Sub(measured.at) > fresh {
		measured.factor, measured.at = min(most, max(1, computing(), waiting())*raceFactor), now
	}
	return measured.factor
}

// computing returns the elapsed time of a fixed amount of work, relative to the reference.
func computing() float64 {
	begin, block := time.Now(), make([]byte, 64<<10)
	for range 64 {
		sum := sha256.Sum256(block)
		copy(block, sum[:])
	}
	return float64(time.Since(begin)) / float64(reference)
}

// waiting returns the number of runnable processes per processor; 0: unknown.
func waiting() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	f := strings.Fields(string(text)) // "0.20 0.18 0.12 1/80 11206": averages, and running processes of all
	if len(f) < 4 {
		return 0
	}
	average, _ := strconv.ParseFloat(f[0], 64)
	running, _, _ := strings.Cut(f[3], "/")
	now, _ := strconv.ParseFloat(running, 64)
	return max(average, now) / float64(runtime.NumCPU())
}
