package persist

import (
	"context"
	"errors"
	"io"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Lifecycle is what is done to sandboxes that live on, whoever keeps them: processes of this user's ([Driver]), or a
// cluster. Its instances are Detachers whose Close destroys, and those that can be forked are Forkers. All methods are NotFound
// for a name that nobody has, Closed where a sandbox has to run and is stopped, Unavailable where those who keep it do not answer.
type Lifecycle interface { //nolint:interfacebloat // each is one that the commands have; who keeps sandboxes has to have all
	// Create makes a sandbox that lives until Close or Destroy, of the name spec.Name, and Open connects to one that runs.
	// List tells of all, as Records.
	sandbox.Driver

	// Reach is Open, and for a sandbox that is stopped an instance that runs nothing but has its snapshots and files.
	Reach(ctx context.Context, name string) (sandbox.Instance, error)
	// Start starts a sandbox that is stopped; env is the environment of which its policy lets variables through. Exists: it
	// runs already.
	Start(ctx context.Context, name string, env []string) error
	// Stop ends what runs in a sandbox; its files stay. One that is stopped is no error.
	Stop(ctx context.Context, name string) error
	// Destroy ends a sandbox for good, with all its files.
	Destroy(ctx context.Context, name string) error
	// Load tells what a sandbox was made from, as far as whoever keeps it knows.
	Load(ctx context.Context, name string) (Record, error)
	// Records are those of all that are somebody's, in the order of their names. One that cannot be read is an error beside
	// the others.
	Records(ctx context.Context) ([]Record, error)
	// State tells whether a sandbox runs. One that is starting runs.
	State(ctx context.Context, name string) (State, error)
	// Log is what happened in a sandbox, a line each, as far as it is kept. The caller closes it.
	Log(ctx context.Context, name string) (io.ReadCloser, error)
	// Sweep removes what is over, and what killed processes left.
	sandbox.Sweeper

	// Prune destroys those that are stopped or were prepared for nobody, removes what killed processes left, and returns
	// the names of those that were somebody's, also with an error.
	Prune(ctx context.Context) ([]string, error)
}

// State is how a sandbox that lives on is.
type State struct {
	Running  bool
	Commands int // that run in it now
}

// Cluster is where a sandbox is that a cluster keeps, by names of the user's kubeconfig and the cluster. It holds no secret.
type Cluster struct {
	Context   string `json:"context,omitempty"` // empty: the cluster in which this process is a pod
	Namespace string `json:"namespace"`
	UID       string `json:"uid,omitempty"` // the cluster's for what stays when it is stopped; it tells it from a later one of its name
}

// Load reads a record; see [Lifecycle].
func (d *Driver) Load(_ context.Context, name string) (Record, error) { return d.Store.Load(name) }

// Records are those of this backend; see [Lifecycle].
func (d *Driver) Records(context.Context) ([]Record, error) {
	records, err := d.Store.List()
	return d.mine(records), err
}

// State asks the sandbox's keeper, when there is one.
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
	return State{Running: true, Commands: i.first.Running}, i.Detach()
}

// Stop ends what runs in a sandbox and its keeper; see [Lifecycle].
func (d *Driver) Stop(ctx context.Context, name string) error { return d.Store.Stop(ctx, name) }

// Log opens what a sandbox's keeper wrote.
func (d *Driver) Log(_ context.Context, name string) (io.ReadCloser, error) {
	f, err := d.Store.Log(name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Sweep removes what killed processes have left.
func (d *Driver) Sweep(ctx context.Context) error {
	_, err := d.Store.List() // which does so on the way
	return errors.Join(err, sweep(ctx, d.Inner))
}

// Prune destroys those of this backend that are stopped or prepared; see [Lifecycle].
func (d *Driver) Prune(ctx context.Context) (names []string, err error) {
	spares, err := d.Store.Spares()
	for _, r := range d.mine(spares) {
		err = errors.Join(err, d.Destroy(ctx, r.ID))
	}
	records, lerr := d.Records(ctx)
	err = errors.Join(err, lerr)
	for _, r := range records {
		runs, rerr := d.Store.Runs(r.ID)
		if rerr == nil && !runs {
			if rerr = d.Destroy(ctx, r.ID); rerr == nil {
				names = append(names, r.ID)
			}
		}
		err = errors.Join(err, rerr)
	}
	return names, err
}
