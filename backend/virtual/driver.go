package virtual

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/system"
	"github.com/seed434b0696/agent-sandbox/internal/worker"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Driver is the virtual backend. It is safe for concurrent use.
type Driver struct {
	options Options
	workers *worker.Pool // nil: sandboxes are in this process

	mu    sync.Mutex
	trees map[string]*tree // with Options.Share: those in use
}

// New returns a driver.
func New(o Options) *Driver {
	if o.Trace == nil {
		o.Trace = func(string, string) {}
	}
	if o.Denied == nil {
		o.Denied = func(sandbox.Denial) {}
	}
	return &Driver{options: o, workers: newPool(o), trees: map[string]*tree{}}
}

// Name is "virtual".
func (d *Driver) Name() string { return "virtual" }

// Check reports what a machine in memory enforces, which is the same on every host.
func (d *Driver) Check(context.Context) (sandbox.Report, error) {
	findings := []sandbox.Finding{
		{Rule: "isolation", State: sandbox.Emulated, Needed: true, Detail: "no program of the host runs; commands are our own, in this process"},
		{Rule: "filesystem", State: sandbox.Emulated, Detail: "a tree in memory over the directories of the host, which are written by apply only"},
		{Rule: "network", State: sandbox.Emulated, Detail: "curl alone reaches the network, through the allow-list"},
		{Rule: "limits.memory", State: sandbox.Emulated, Detail: "variables, buffers and captured output are counted"},
		{Rule: "limits.pids", State: sandbox.Emulated, Detail: "the machine's process table"},
		{Rule: "limits.file", State: sandbox.Emulated, Detail: "the file system counts; 256 MiB unless it is set"},
		{Rule: "limits.disk", State: sandbox.Emulated, Detail: "the file system counts; 2 GiB unless it is set"},
		{Rule: "limits.nodes", State: sandbox.Emulated, Detail: "the file system counts; 500000 unless it is set"},
		{Rule: "limits.cpu", State: sandbox.Impossible, Detail: "commands are goroutines of this process"},
		{Rule: "limits.tmp", State: sandbox.Impossible, Detail: "/tmp shares the limit of all files"},
	}
	if d.options.Worker != nil {
		findings[0].Detail = "no program of the host runs; commands are our own, in worker processes"
		findings = append(findings, d.options.Worker.findings()...)
	}
	return sandbox.Report{Backend: d.Name(), Findings: findings}, nil
}

// Create resolves spec and creates its tree. It runs nothing.
func (d *Driver) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Instance, error) {
	if err := policy.CheckHostRoot(spec); err != nil {
		return nil, err
	}
	plan, err := policy.Resolve(spec)
	if err != nil {
		return nil, err
	}
	limits, err := checkPlan(spec, plan)
	if err != nil {
		return nil, err
	}
	if d.workers != nil {
		return d.createInWorker(ctx, spec, plan)
	}
	u := newUser()
	t, err := d.tree(plan, u)
	if err != nil {
		return nil, err
	}
	var id [8]byte
	if _, err := rand.Read(id[:]); err != nil {
		return nil, errors.Join(err, d.release(context.Background(), t))
	}
	saved, err := d.openSaved(spec, t)
	if err != nil {
		return nil, errors.Join(err, d.release(context.Background(), t))
	}
	i := &instance{
		driver: d, id: hex.EncodeToString(id[:]), spec: spec, plan: plan, tree: t, user: u, limits: limits,
		created: time.Now(), running: map[*process]struct{}{}, saved: saved,
	}
	i.programs = append(d.denied(plan), d.options.Commands...)
	return i, nil
}

// openSaved opens the saved files of spec.State, nil for a spec without one, and loads them into the tree.
func (d *Driver) openSaved(spec sandbox.Spec, t *tree) (*savedFiles, error) {
	switch {
	case spec.State == "":
		return nil, nil //nolint:nilnil // a nil savedFiles saves nothing
	case d.options.Share:
		return nil, sandbox.Errorf(sandbox.Unsupported, "files that sandboxes share in memory cannot be saved to a state directory")
	}
	saved, from, err := openSavedFiles(spec.State)
	if err != nil || from == nil {
		return saved, err
	}
	if err := t.load(from); err != nil {
		return nil, errors.Join(err, saved.close())
	}
	return saved, nil
}

// Open fails with NotFound: a sandbox of this driver does not outlive its process.
func (d *Driver) Open(_ context.Context, id string) (sandbox.Instance, error) {
	return nil, sandbox.Errorf(sandbox.NotFound, "no sandbox %q", id)
}

// List is empty: a sandbox of this driver does not outlive its process.
func (d *Driver) List(context.Context) ([]sandbox.Info, error) { return nil, nil }

// tree returns the tree for a plan: a new one, or with Options.Share an existing one.
func (d *Driver) tree(plan *policy.Plan, u system.User) (*tree, error) {
	options := vfs.Options{Now: d.options.Now, Limits: d.treeLimits(plan)}
	if !d.options.Share {
		return newTree(plan, u, options, d.options.Journal)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	key := fmt.Sprintf("%q %v %v %v %v", plan.Workspace, plan.Mounts, plan.Guards, plan.Nested, options.Limits)
	if t := d.trees[key]; t != nil {
		t.refs++
		return t, nil
	}
	t, err := newTree(plan, u, options, d.options.Journal)
	if err == nil {
		t.key = key
		d.trees[key] = t
	}
	return t, err
}

// treeLimits returns the limits of a plan's files, to which newTree adds what the system's own files need.
func (d *Driver) treeLimits(plan *policy.Plan) vfs.Limits {
	l := d.options.Limits
	return vfs.Limits{
		Bytes:     cmp.Or(int64(plan.Limits.Disk), l.Bytes, int64(sandbox.DefaultMemoryDisk)),
		FileBytes: cmp.Or(int64(plan.Limits.File), l.FileBytes, int64(sandbox.DefaultMemoryFile)),
		Nodes:     cmp.Or(plan.Limits.Nodes, l.Nodes, sandbox.DefaultMemoryNodes),
	}
}

// release ends the use of a tree. The last call applies the changes if Options.Apply is set, and closes the tree.
func (d *Driver) release(ctx context.Context, t *tree) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t.refs--; t.refs > 0 {
		return nil
	}
	delete(d.trees, t.key)
	var err error
	if d.options.Apply {
		_, err = t.apply(ctx, ApplyOptions{})
	}
	return errors.Join(err, t.close())
}

// checkPlan returns the limits of the machine, or Unsupported for a rule that it cannot enforce.
func checkPlan(spec sandbox.Spec, plan *policy.Plan) (shell.Limits, error) {
	unsupported := func(what, hint string) error {
		return sandbox.Errorf(sandbox.Unsupported, "%s", what).WithHint("%s", hint)
	}
	const other = "take it out of the policy, or use another backend"
	none := shell.Limits{}
	if err := plan.CheckFreshTmp(); err != nil {
		return none, err
	}
	if err := plan.CheckNoAgents(); err != nil {
		return none, err
	}
	if err := plan.CheckNoRequests(); err != nil {
		return none, err
	}
	switch {
	case spec.Stage != "":
		return none, unsupported("changes stay in memory, and stages on disk are not for them", "leave --stage out, and apply the changes with --apply")
	case plan.Docker:
		return none, unsupported("docker: the engine's socket cannot be reached from memory", other)
	case len(plan.Sockets) > 0:
		return none, unsupported(fmt.Sprintf("filesystem.sockets: %s cannot be reached from memory", plan.Sockets[0]), other)
	case len(plan.Publish) > 0:
		return none, unsupported("network.publish: commands in memory cannot listen on ports", other)
	}
	for name, source := range plan.Limits.Required {
		if name == "cpu" || name == "tmp" {
			return none, unsupported(fmt.Sprintf("limits.%s in %s cannot be held in memory", name, source), other)
		}
	}
	return shell.Limits{Bytes: int64(plan.Limits.Memory), Processes: plan.Limits.Pids}, nil
}

// denied returns programs that replace those that the policy denies.
func (d *Driver) denied(plan *policy.Plan) []shell.Command {
	var list []shell.Command
	for _, c := range plan.Commands {
		if c.Rule != "deny" {
			continue // In memory, no real program exists for a wrapper to call.
		}
		list = append(list, shell.Command{
			Name: c.Name, Replace: true, Summary: "denied by the policy",
			Run: func(p *shell.Proc) int {
				d.options.Denied(plan.DeniedCommand(c.Name, p.Name()))
				p.Warn("the policy of this sandbox does not allow this command")
				return sandbox.ExitNotExecutable
			},
		})
	}
	return list
}
