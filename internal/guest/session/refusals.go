package session

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/guard"
	"github.com/seed434b0696/agent-sandbox/internal/guest/mux"
)

// Limits of refusals per minute, because commands can cause any number.
const (
	maxTold  = 200         // that the guest sends, all different, for each command that the host starts
	maxHeard = 2 * maxTold // that the host accepts from a guest
	toldTime = time.Minute
)

// fall is the end of a sandbox that its guard has caused.
type fall struct {
	mu    sync.Mutex
	heard chan struct{} // closed when the guard sends no more; nil: the session has no guard
	err   error
}

// Fallen waits until a session with a guard has ended. It returns the reason if the guard has ended the sandbox; nil:
// it has not, or there is no guard.
func (c *Client) Fallen() error {
	c.fall.mu.Lock()
	heard := c.fall.heard
	c.fall.mu.Unlock()
	if heard == nil {
		return nil
	}
	<-heard
	c.fall.mu.Lock()
	defer c.fall.mu.Unlock()
	return c.fall.err
}

// begin is called when there is a guard. The caller closes the result when the guard sends no more.
func (f *fall) begin() (heard chan<- struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := make(chan struct{})
	f.heard = c
	return c
}

// follow reads the guard's frames until the session ends or the guest breaks the protocol.
func (f *fall) follow(s *mux.Stream, heard chan<- struct{}, tell func(guard.Refusal)) {
	defer close(heard)
	defer s.Close()
	frames := &frameReader{r: s}
	allowed := allowance{limit: maxHeard}
	for {
		kind, data, err := frames.next()
		switch {
		case err != nil:
			return
		case kind == frameRefusal:
			if r, ok := readRefusal(data); ok && tell != nil && allowed.take(time.Now()) {
				tell(r)
			}
		case kind == frameFailed:
			f.mu.Lock()
			f.err = refused(data, "")
			f.mu.Unlock()
			return
		default:
			return
		}
	}
}

// once decides which refusals are sent: each once a minute, and again after the start of another command. It is safe
// for concurrent use; the zero value is ready for use.
type once struct {
	mu    sync.Mutex
	seen  map[guard.Refusal]bool
	since time.Time
}

// isNew reports whether r is to be sent.
func (o *once) isNew(r guard.Refusal, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.seen == nil || now.Sub(o.since) >= toldTime {
		o.seen, o.since = map[guard.Refusal]bool{}, now
	}
	if o.seen[r] || len(o.seen) >= maxTold {
		return false
	}
	o.seen[r] = true
	return true
}

// again forgets what was sent.
func (o *once) again() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen = nil
}

// toldRefusal is the wire format of a guard.Refusal.
type toldRefusal struct {
	Kind    guard.Kind `json:"kind"`
	Op      string     `json:"op"`
	Target  guard.Path `json:"target"`
	Command guard.Path `json:"command,omitempty"`
}

// refusedOps are the operations that a guard refuses.
var refusedOps = []string{"create", "link", "symlink", "rename", "remove", "connect", "execute", "read", "write", "run", "call"}

// readRefusal decodes a refusal. It accepts only refusals that a guard can send; a target that is a path must be
// clean.
func readRefusal(data []byte) (guard.Refusal, bool) {
	var r toldRefusal
	if err := json.Unmarshal(data, &r); err != nil || r.Target == "" || !slices.Contains(refusedOps, r.Op) {
		return guard.Refusal{}, false
	}
	out := guard.Refusal{Kind: r.Kind, Op: r.Op, Target: string(r.Target), Command: string(r.Command)}
	if strings.ContainsRune(out.Target, 0) || strings.ContainsRune(out.Command, 0) {
		return out, false
	}
	switch r.Kind {
	case guard.RefusedPath, guard.RefusedSocket, guard.RefusedAddress, guard.RefusedCall:
		return out, true
	case guard.RefusedCommand:
		return out, out.Command != ""
	}
	return out, false
}

// allowance limits the number of events per minute.
type allowance struct {
	limit int
	since time.Time
	n     int
}

func (a *allowance) take(now time.Time) bool {
	if now.Sub(a.since) >= toldTime {
		a.since, a.n = now, 0
	}
	a.n++
	return a.n <= a.limit
}
