package program

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// WaitFor waits, and returns the exit status.
func WaitFor(p *shell.Proc, d time.Duration) int {
	if p.Sleep(d, nil) {
		return 0
	}
	return p.Status(p.Context().Err())
}

// ParseInterval reads a number of seconds, minutes (m), hours (h) or days (d).
func ParseInterval(s string) (time.Duration, bool) {
	unit := time.Second
	number := s
	if n := len(s); n > 1 {
		if u, ok := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}[s[n-1]]; ok {
			unit, number = u, s[:n-1]
		}
	}
	if strings.ContainsAny(number, "_") {
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.TrimPrefix(number, "+"), 64)
	if math.IsInf(f, 1) {
		return math.MaxInt64, true
	}
	if err != nil || f < 0 || math.IsNaN(f) {
		return 0, false
	}
	if f*float64(unit) >= math.MaxInt64 {
		return math.MaxInt64, true
	}
	return time.Duration(math.Ceil(f * float64(unit))), true
}
