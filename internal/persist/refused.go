package persist

import (
	"encoding/json"
	"io"
	"sync"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// maxRefused is the number of stored denials; programs inside can cause any number.
const maxRefused = 256

// Refused stores the latest denials of a sandbox for the clients that run commands in it. The zero value is empty. It is safe
// for concurrent use.
type Refused struct {
	mu   sync.Mutex
	next uint64 // the number of the next
	list []sandbox.Denial
}

// Add adds a denial.
func (r *Refused) Add(d sandbox.Denial) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next++
	if len(r.list) == maxRefused {
		r.list = append(r.list[:0], r.list[1:]...)
	}
	r.list = append(r.list, d)
}

// count returns the number of all denials so far; 0 for nil.
func (r *Refused) count() uint64 {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next
}

// since is the argument of opRefused.
type since struct {
	After uint64 `json:"after"` // the count of the denials that the client has received
}

// answer writes the stored denials that are newer than the count in arg.
func (r *Refused) answer(arg json.RawMessage, w io.Writer) error {
	var s since
	if err := json.Unmarshal(arg, &s); err != nil {
		return sandbox.Errorf(sandbox.Invalid, "the argument of %s: %w", opRefused, err)
	}
	list := []sandbox.Denial{}
	if r != nil {
		r.mu.Lock()
		if n := min(r.next-min(s.After, r.next), uint64(len(r.list))); n > 0 {
			list = append(list, r.list[len(r.list)-int(n):]...)
		}
		r.mu.Unlock()
	}
	return json.NewEncoder(w).Encode(list)
}
