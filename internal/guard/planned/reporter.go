package planned

import (
	"sync"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/guard"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// maxReported bounds the reported refusals of one command: a hostile command can make any
// number of them, and each costs look-ups on the host.
const maxReported = 200

// Reporter reports refusals as denials with the rule of a policy, each denial once. It is safe for concurrent use.
type Reporter struct {
	plan   *policy.Plan
	report func(sandbox.Denial)

	mu     sync.Mutex
	seen   map[string]bool
	missed int // number of refusals beyond the bound
}

// NewReporter makes a reporter that calls report, without holding a lock.
func NewReporter(plan *policy.Plan, report func(sandbox.Denial)) *Reporter {
	return &Reporter{plan: plan, report: report, seen: map[string]bool{}}
}

// Refused reports a new refusal, up to maxReported of them. Its texts may contain any bytes.
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
	case guard.RefusedCall:
		r.report(r.plan.DeniedCall(f.Target))
	case guard.RefusedCommand:
		r.report(r.plan.DeniedCommand(session.Printable(f.Command), session.Printable(f.Target)))
	}
}

// RefusedSSHAgent reports a new request that the served SSH agent has refused.
func (r *Reporter) RefusedSSHAgent(what string) {
	if r.first("ssh-agent", what) {
		r.report(r.plan.DeniedSSHAgent(what))
	}
}

// RefusedGPGAgent reports a new request that the served GnuPG agent has refused.
func (r *Reporter) RefusedGPGAgent(what string) {
	if r.first("gpg-agent", what) {
		r.report(r.plan.DeniedGPGAgent(what))
	}
}

// Again reports the number of refusals beyond the bound, and then forgets all refusals, so that the next command of the
// sandbox gets its own reports.
func (r *Reporter) Again() {
	r.mu.Lock()
	missed := r.missed
	r.missed = 0
	clear(r.seen)
	r.mu.Unlock()
	if missed > 0 {
		r.report(sandbox.Denial{Time: time.Now(), Missed: missed})
	}
}

// first reports whether a refusal is new and below the bound, and records it.
func (r *Reporter) first(op, target string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := op + " " + target
	switch {
	case r.seen[key]:
		return false
	case len(r.seen) >= maxReported:
		r.missed++
		return false
	}
	r.seen[key] = true
	return true
}
