//go:build linux

package bwrap

import (
	"sync"

	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// maxReported is how many different refusals of one command are told: what is inside
// decides how many there are, and each costs us some look-ups.
const maxReported = 200

// reporter tells of refusals, each once. It is safe for concurrent use.
type reporter struct {
	plan *policy.Plan
	to   func(sandbox.Denial)

	mu   sync.Mutex
	seen map[string]bool
}

func newReporter(plan *policy.Plan, to func(sandbox.Denial)) *reporter {
	return &reporter{plan: plan, to: to, seen: map[string]bool{}}
}

// first reports whether something is to be told: it is new, and not one too many.
func (r *reporter) first(op, target string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := op + " " + target
	if r.seen[key] || len(r.seen) >= maxReported {
		return false
	}
	r.seen[key] = true
	return true
}

func (r *reporter) path(op, path string) {
	if r.first(op, path) {
		r.to(r.plan.DeniedPath(op, path))
	}
}

func (r *reporter) socket(name string) {
	if r.first("connect", name) {
		r.to(r.plan.DeniedSocket(name))
	}
}

func (r *reporter) address(address string) {
	if r.first("connect", address) {
		r.to(r.plan.DeniedAddress(address))
	}
}

func (r *reporter) command(name, what string) {
	if r.first("run", what) {
		r.to(r.plan.DeniedCommand(name, what))
	}
}
