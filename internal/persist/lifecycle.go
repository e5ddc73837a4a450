package persist

import (
	"context"
	"errors"
	"io"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Lifecycle manages persistent sandboxes, which processes of this user ([Driver]) or a cluster hold. Its instances are
// Detachers, and Close destroys their sandbox. Instances that can be forked are Forkers. Errors of all methods:
// NotFound for an unknown name, Closed for a stopped sandbox that has to run, Unavailable when the keeper or cluster
// does not answer.
type Lifecycle interface { //nolint:interfacebloat // one method per command; an implementation needs all of them
	// Create creates a sandbox called spec.Name, which lives until Close or Destroy, and Open connects to a running one.
	// List returns all, like Records.
	sandbox.Driver

	// Reach is like Open. For a stopped sandbox it returns an instance that runs no commands but has the sandbox's
	// snapshots and files.
	Reach(ctx context.Context, name string) (sandbox.Instance, error)
	// Start starts a stopped sandbox; the sandbox's policy filters env. Exists: it runs already.
	Start(ctx context.Context, name string, env []string) error
	// Stop ends the processes of a sandbox and keeps its files. It succeeds for a stopped sandbox.
	Stop(ctx context.Context, name string) error
	// Destroy ends a sandbox for good, with all its files.
	Destroy(ctx context.Context, name string) error
	// Load returns the record of a sandbox.
	Load(ctx context.Context, name string) (Record, error)
	// Records returns the records of all sandboxes except spares, ordered by name. If a record cannot be read, it
	// returns an error with the other records.
	Records(ctx context.Context) ([]Record, error)
	// State reports whether a sandbox runs. A starting one runs.
	State(ctx context.Context, name string) (State, error)
	// Log returns the stored events of a sandbox, one per line. The caller closes it.
	Log(ctx context.Context, name string) (io.ReadCloser, error)
	// Sweep removes expired sandboxes, and files that killed processes have left.
	sandbox.Sweeper

	// Prune destroys stopped sandboxes and spares, removes files that killed processes have left, and returns the names
	// of the destroyed sandboxes that were not spares, also with an error.
	Prune(ctx context.Context) ([]string, error)
}

// State is the state of a persistent sandbox.
type State struct {
	Running  bool
	Commands int  // number of running commands
	Frozen   bool // they are stopped; see [sandbox.Freezer]
}

// Cluster locates a sandbox in a cluster, by names of the user's kubeconfig and of the cluster. It contains no secret.
type Cluster struct {
	Context   string `json:"context,omitempty"` // empty: the cluster in which this process is a pod
	Namespace string `json:"namespace"`
	UID       string `json:"uid,omitempty"` // the cluster's UID of the object that a stop keeps; a later sandbox of the same name has another one
}

// Load reads a record; see [Lifecycle].
func (d *Driver) Load(_ context.Context, name string) (Record, error) { return d.Store.Load(name) }

// Records returns the records of this backend; see [Lifecycle].
func (d *Driver) Records(context.Context) ([]Record, error) {
	records, err := d.Store.List()
	return d.mine(records), err
}

// State reports whether the sandbox runs; see [Lifecycle].
func (d *Driver) State(ctx context.Context, name string) (State, error) {
	runs, err := d.Store.Runs(name)
	if err != nil || !runs {
		return State{}, err
	}
	i, err := d.open(ctx, name)
	if sandbox.CodeOf(err) == sandbox.Closed {
		return State{}, nil // it has ended just now
	}
	if err != nil {
		return State{Running: true}, err
	}
	return State{Running: true, Commands: i.first.Running, Frozen: i.first.Frozen}, i.Detach()
}

// Stop ends the processes of a sandbox and its keeper; see [Lifecycle].
func (d *Driver) Stop(ctx context.Context, name string) error { return d.Store.Stop(ctx, name) }

// Log opens the log of a sandbox's keeper.
func (d *Driver) Log(_ context.Context, name string) (io.ReadCloser, error) {
	f, err := d.Store.Log(name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Sweep removes files that killed processes have left.
func (d *Driver) Sweep(ctx context.Context) error {
	_, err := d.Store.List() // which does so on the way
	return errors.Join(err, sweep(ctx, d.Inner))
}

// Prune destroys the stopped and spare sandboxes of this backend; see [Lifecycle].
func (d *Driver) Prune(ctx context.Context) (names []string, err error) {
	spares, err := d.Store.Spares()
	for _, r := range d.mine(spares) {
		if derr := d.Destroy(ctx, r.ID); sandbox.CodeOf(derr) != sandbox.NotFound { // another process destroyed it
			err = errors.Join(err, derr)
		}
	}
	records, lerr := d.Records(ctx)
	err = errors.Join(err, lerr)
	for _, r := range records {
		removed, rerr := d.Store.removeStopped(r.ID)
		if removed {
			names = append(names, r.ID)
		}
		err = errors.Join(err, rerr)
	}
	return names, errors.Join(err, sweep(ctx, d.Inner))
}
