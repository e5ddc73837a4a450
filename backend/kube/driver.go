package kube

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"sync"
	"time"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/cluster"
	"github.com/seed434b0696/agent-sandbox/internal/guest/program"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Driver is the kube backend. It is safe for concurrent use.
type Driver struct {
	options Options
	program func() (guestProgram, error) // read once
	swept   sync.Once
	pool    *pool

	mu      sync.Mutex
	cluster *cluster.Cluster // nil: not connected yet
}

// New returns a driver. It does no work: Create and Check return its errors.
func New(options Options) *Driver {
	if options.Image == "" {
		options.Image = DefaultImage
	}
	if options.Linger == 0 {
		options.Linger = DefaultLinger
	}
	if options.Lifetime == 0 {
		options.Lifetime = 10 * time.Hour
	}
	if options.Trace == nil {
		options.Trace = func(string, string) {}
	}
	if options.Notice == nil {
		options.Notice = func(string) {}
	}
	located := program.Located(options.Guest, options.DataDir)
	return &Driver{options: options, pool: newPool(), program: sync.OnceValues(func() (guestProgram, error) { return readProgram(located) })}
}

// Name is "kube".
func (d *Driver) Name() string { return "kube" }

// connect returns the client of the cluster. It reads the configuration until that succeeds once.
func (d *Driver) connect() (*cluster.Cluster, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cluster != nil {
		return d.cluster, nil
	}
	c, err := cluster.Open(cluster.Options{Config: d.options.Config, Env: d.options.Env, Context: d.options.Context, Namespace: d.options.Namespace})
	if err != nil {
		return nil, err
	}
	d.cluster = c
	return c, nil
}

// Create creates a pod, sends the guest and the workspace, and waits until the pod can run commands.
func (d *Driver) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Instance, error) {
	p, err := d.prepare(ctx, spec)
	if err != nil {
		return nil, err
	}
	if d.options.Warm > 0 {
		return d.createWarm(ctx, p)
	}
	return p.start(ctx)
}

// Open fails with NotFound: a sandbox of this driver does not outlive its process.
func (d *Driver) Open(_ context.Context, id string) (sandbox.Instance, error) {
	return nil, sandbox.Errorf(sandbox.NotFound, "no sandbox %q", id)
}

// List returns nothing, for the reason of Open.
func (d *Driver) List(context.Context) ([]sandbox.Info, error) { return nil, nil }

func newID() (string, error) {
	var id [8]byte
	_, err := rand.Read(id[:])
	return hex.EncodeToString(id[:]), err
}
