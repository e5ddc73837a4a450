//go:build linux

package bwrap

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/guest/files"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// instance is a sandbox: a checked policy with the commands that run under it.
type instance struct {
	driver  *Driver
	id      string
	spec    sandbox.Spec
	tool    tool
	guest   string
	created time.Time

	mu      sync.Mutex
	plan    *policy.Plan // of the last command
	fresh   *policy.Plan // of Create, until the first command uses it
	closed  bool
	running map[*process]struct{}

	quiet    sync.RWMutex  // held for reading while a command of a resident sandbox is started
	over     chan struct{} // closed when a resident sandbox has ended for good
	building sync.Mutex    // held while the shared isolation of a resident sandbox is built
	shared   *resident     // written under building and mu; nil: not built
	resides  atomic.Int64  // commands that run in it
}

func (i *instance) ID() string { return i.id }

// Plan returns the plan of the last command, or of Create before the first.
func (i *instance) Plan() *policy.Plan {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.plan
}

// Limits returns the limits of the policy.
func (i *instance) Limits() (sandbox.Limits, error) { return i.Plan().Limits.Limits, nil }

// Files runs the guest inside for each operation, so that it is isolated like any command.
func (i *instance) Files() sandbox.Files {
	if i.spec.Resident {
		return files.New(i.Start)
	}
	return files.New(i.startOffline)
}

// Status counts the running commands.
func (i *instance) Status(context.Context) (sandbox.Status, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return sandbox.Status{
		Info: sandbox.Info{
			ID: i.id, Name: i.spec.Name, Backend: "bwrap",
			Workspace: i.plan.Workspace, Created: i.created,
		},
		Running: i.count(), Frozen: i.isFrozen(),
	}, nil
}

// count returns the number of running commands, without the supervisor of a resident sandbox.
func (i *instance) count() int {
	if i.spec.Resident {
		return int(i.resides.Load())
	}
	return len(i.running)
}

// Close kills all processes and waits for their end.
func (i *instance) Close(context.Context) error {
	i.mu.Lock()
	i.closed = true
	var running []*process
	for p := range i.running {
		running = append(running, p)
	}
	i.mu.Unlock()
	for _, p := range running {
		p.kill()
	}
	for _, p := range running {
		<-p.ended
	}
	return nil
}

// nextPlan returns the plan for the next command. It resolves the policy again, because the
// protected paths depend on the host's files, which may have changed.
func (i *instance) nextPlan() (*policy.Plan, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return nil, sandbox.Errorf(sandbox.Closed, "the sandbox is closed")
	}
	plan := i.fresh
	i.fresh = nil
	var err error
	if plan == nil {
		if plan, err = policy.ResolveToRun(i.spec); err != nil {
			return nil, err
		}
	}
	if plan.KeepTmp {
		if err = i.prepareTmps(plan); err != nil {
			return nil, err
		}
	}
	i.plan = plan
	return plan, nil
}

func (i *instance) add(p *process) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return sandbox.Errorf(sandbox.Closed, "the sandbox is closed")
	}
	i.running[p] = struct{}{}
	return nil
}

func (i *instance) remove(p *process) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.running, p)
}
