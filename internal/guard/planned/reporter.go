package planned

import (
	"sync"

	"github.com/seed434b0696/agent-sandbox/internal/guard"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// maxReported bounds the reported refusals of one command: a hostile command can make any
// number of them, and each costs look-ups on the host.
const maxReported = 200

// Reporter reports refusals as denials with the rule of a policy, each once. It is safe for concurrent use.
type Reporter struct {
	plan   *policy.Plan
	report func(sandbox.Denial)

	mu   sync.Mutex
	seen map[string]bool
}

// NewReporter makes a reporter that calls report, without holding a lock.
func NewReporter(plan *policy.Plan, report func(sandbox.Denial)) *Reporter {
	return &Reporter{plan: plan, report: report, seen: map[string]bool{}}
}

// Refused reports a refusal that is new, up to maxReported of them. Its texts may hold any bytes.
func (r *Reporter) Refused(f guard.Refusal) {
	if !r.first(f.Op, f.Target) {
		return
	}
	switch f.Kind {
	case guard.RefusedPath:
		r.report(r.plan.DeniedPath(f.Op, f.Target))
	case guard.RefusedSocket:
		r.report(r.plan.DeniedSocket(f.Target))
	case guard.RefusedAddress:
		r.report(r.plan.DeniedAddress(f.Target))
	case guard.RefusedCommand:
		r.report(r.plan.DeniedCommand(session.Printable(f.Command), session.Printable(f.Target)))
	}
}

// Again forgets which refusals were reported: the next command of the sandbox gets reports of its own.
func (r *Reporter) Again() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.seen)
}

// first reports whether a refusal is new and below the bound, and remembers it.
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
