package persist

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Driver makes the sandboxes of another driver persistent. It is safe for concurrent use, also by several processes.
type Driver struct {
	Inner  sandbox.Driver
	Store  Store
	Keeper []string // the command line that calls [Store.Keep]; Driver appends the name
	Idle   time.Duration
	TTL    time.Duration
	Warm   int      // the number of sandboxes that Create prepares for later ones with the same fingerprint; needs a sandbox.Fingerprinter
	Env    []string // the environment of forks of sandboxes that another process created

	// AdaptFork changes the spec of a fork where two sandboxes cannot have the same, such as ports of the host, and reports whether
	// there was such a thing. others are the specs of all sandboxes of the Store, that of the origin included. If another sandbox
	// takes the same before the fork starts (Exists), it is called again. nil: a fork has the spec of its origin.
	AdaptFork func(ctx context.Context, spec *sandbox.Spec, others []sandbox.Spec) (adapted bool, err error)

	keepers sync.Map // ID → channel, closed when a keeper that this process started has ended
}

// Name returns the name of the inner driver.
func (d *Driver) Name() string { return d.Inner.Name() }

// Check calls that of the inner driver.
func (d *Driver) Check(ctx context.Context) (sandbox.Report, error) { return d.Inner.Check(ctx) }

// Create creates a sandbox and starts its keeper with spec.Env as the keeper's environment. The sandbox lives until Close.
// Its ID is spec.Name if that is a valid one (see [CheckName]) and unused; any other name is only a label.
func (d *Driver) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Instance, error) {
	id := spec.Name
	if CheckName(id) != nil {
		var err error
		if id, err = NewID(); err != nil {
			return nil, err
		}
	}
	record := Record{
		ID: id, Name: spec.Name, Backend: d.Name(), Created: time.Now(), Spec: spec,
		Idle: sandbox.Duration(d.Idle), TTL: sandbox.Duration(d.TTL),
	}
	if d.Warm > 0 {
		return d.createWarm(ctx, record)
	}
	return d.create(ctx, record)
}

func (d *Driver) create(ctx context.Context, record Record) (*instance, error) {
	id, spec := record.ID, record.Spec
	held, err := d.Store.add(record, nil)
	if err != nil {
		return nil, err
	}
	if err := d.startLocked(ctx, id, held, spec.Env); err != nil {
		return nil, errors.Join(err, d.destroy(context.WithoutCancel(ctx), id))
	}
	i, err := d.open(ctx, id)
	if err != nil {
		return nil, errors.Join(err, d.destroy(context.WithoutCancel(ctx), id))
	}
	i.env = spec.Env
	return i, nil
}

// Destroy stops a sandbox and removes all its files, also those of its driver. It does not change the workspace.
func (d *Driver) Destroy(ctx context.Context, name string) error {
	err := d.Store.destroy(ctx, name)
	if err == nil {
		err = sweep(ctx, d.Inner)
	}
	return err
}

// sweep removes the driver's resources of destroyed sandboxes.
func sweep(ctx context.Context, d sandbox.Driver) error {
	if s, ok := d.(sandbox.Sweeper); ok {
		return s.Sweep(ctx)
	}
	return nil
}

// destroy is like Destroy, and also waits for the end of a keeper that this process has started.
func (d *Driver) destroy(ctx context.Context, id string) error {
	err := d.Destroy(ctx, id)
	if gone, ok := d.keepers.LoadAndDelete(id); ok && err == nil {
		select {
		case <-gone.(chan struct{}): //nolint:forcetypeassert // only Start stores
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

// NewID returns an unused ID.
func NewID() (string, error) {
	var id [4]byte
	_, err := rand.Read(id[:])
	return "box-" + hex.EncodeToString(id[:]), err
}

// Open connects to a running sandbox. Closed: the sandbox is stopped.
func (d *Driver) Open(ctx context.Context, name string) (sandbox.Instance, error) {
	i, err := d.open(ctx, name)
	if err != nil {
		return nil, err
	}
	return i, nil
}

func (d *Driver) open(ctx context.Context, name string) (*instance, error) {
	conn, err := d.Store.dial(ctx, name)
	if err != nil {
		return nil, err
	}
	ctx, done := awaitKeeper(ctx, name, conn, answerTime)
	defer done()
	c, err := session.Connect(ctx, conn)
	if err != nil {
		return nil, silence(ctx, err)
	}
	i := newInstance(d, name, c)
	if i.first, err = i.status(ctx); err != nil {
		return nil, errors.Join(silence(ctx, err), c.Close())
	}
	return i, nil
}

// List returns all sandboxes of this backend, running or stopped.
func (d *Driver) List(ctx context.Context) ([]sandbox.Info, error) {
	records, err := d.Records(ctx)
	var out []sandbox.Info
	for _, r := range records {
		out = append(out, r.Info())
	}
	return out, err
}

// mine returns the records of this backend.
func (d *Driver) mine(records []Record) []Record {
	return slices.DeleteFunc(records, func(r Record) bool { return r.Backend != d.Name() })
}

// Info returns the description of a sandbox from its record, without a connection to its keeper.
func (r Record) Info() sandbox.Info {
	return sandbox.Info{ID: r.ID, Name: r.Name, Backend: r.Backend, Workspace: r.Spec.Workspace, Created: r.Created}
}
