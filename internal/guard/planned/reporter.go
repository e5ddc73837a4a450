package planned

import (
	"sync"

	"github.com/seed434b0696/agent-sandbox/internal/guard"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// maxReported is how many different refusals of one command are told: what is inside
// decides how many there are, and each costs us some look-ups.
const maxReported = 200

// Reporter tells of refusals in the words of a policy, each once. It is safe for concurrent use.
type Reporter struct {
	plan *policy.Plan
	to   func(sandbox.Denial)

	mu   sync.Mutex
	seen map[string]bool
}

// NewReporter makes a reporter that tells to, under the lock of nobody.
func NewReporter(plan *policy.Plan, to func(sandbox.Denial)) *Reporter {
	return &Reporter{plan: plan, to: to, seen: map[string]bool{}}
}

// Refused tells of a refusal that is new, and not one too many. Its texts may be anything.
func (r *Reporter) Refused(f guard.Refusal) {
	if !r.first(f.Op, f.Target) {
		return
	}
	switch f.Kind {
	case guard.RefusedPath:
		r.to(r.plan.DeniedPath(f.Op, f.Target))
	case guard.RefusedSocket:
		r.to(r.plan.DeniedSocket(f.Target))
	case guard.RefusedAddress:
		r.to(r.plan.DeniedAddress(f.Target))
	case guard.RefusedCommand:
		r.to(r.plan.DeniedCommand(session.Printable(f.Command), session.Printable(f.Target)))
	}
}

// Again lets what was told be told again: another command begins, and whoever runs it has heard nothing yet.
func (r *Reporter) Again() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.seen)
}

// first reports whether something is to be told.
func (r *Reporter) first(op, target string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := op + " " + target
	if r.seen[key] || len(r.seen) >= maxReported {
		return false
	}
	r.seen[key] = true
	return true
}
