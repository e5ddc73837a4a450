package model

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/event"
)

// retryAfter returns the wait that a server asks for, in seconds, milliseconds (Azure, OpenAI) or until a date; 0 when it does not.
func retryAfter(h http.Header, now time.Time) time.Duration {
	const most = 24 * time.Hour
	for _, of := range []struct {
		name string
		unit time.Duration
	}{{"Retry-After-Ms", time.Millisecond}, {"Retry-After", time.Second}} {
		if n, err := strconv.ParseFloat(h.Get(of.name), 64); err == nil && n > 0 {
			return time.Duration(min(n*float64(of.unit), float64(most)))
		}
	}
	if t, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		return min(max(t.Sub(now), 0), most)
	}
	return 0
}

// pause announces a retry and waits for it. It returns false without a retry: f is permanent, no tries are left, the
// server asks for too long a wait, or ctx ended, and then f is an interrupt.
func (r *run) pause(ctx context.Context, f *fault, attempt int) bool {
	if !f.again || attempt > r.c.opt.Retries || r.stopped {
		return false
	}
	wait := min(r.c.opt.Backoff<<min(attempt-1, 20), r.c.opt.MaxWait)
	wait -= time.Duration(time.Now().UnixNano()) % (wait/4 + 1) // so that clients that failed together do not retry together
	if f.wait > r.c.opt.MaxWait {
		f.text += "; it asks for a wait of " + f.wait.Round(time.Second).String()
		return false
	}
	wait = max(wait, f.wait)
	r.yield(event.Event{Kind: event.RetryScheduled, Retry: &event.Retry{
		Attempt: int64(attempt), Max: int64(r.c.opt.Retries), DelayMS: wait.Milliseconds(), Status: f.status, Error: r.redacted(f.text),
	}})
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		*f = *interrupted(ctx)
		return false
	}
}
