package docker

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
	"sync"

	"github.com/moby/moby/api/types/system"
	"github.com/moby/moby/client"

	"github.com/seed434b0696/agent-sandbox/internal/engine"
	"github.com/seed434b0696/agent-sandbox/internal/guest/program"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Driver is the docker backend. It is safe for concurrent use.
type Driver struct {
	options Options
	guest   func() (string, error) // found once

	mu      sync.Mutex
	clients map[string]*engine.Client // by the host argument of engine
	infos   map[*engine.Client]*about
}

// New returns a driver. It does nothing yet: errors come from Create and Check.
func New(options Options) *Driver {
	if options.DataDir == "" {
		if home, err := os.UserHomeDir(); err == nil {
			options.DataDir = filepath.Join(home, ".local/share/agent-sandbox")
		}
	}
	if options.Image == "" {
		options.Image = DefaultImage
	}
	if options.Trace == nil {
		options.Trace = func(string, string) {}
	}
	if options.Denied == nil {
		options.Denied = func(sandbox.Denial) {}
	}
	return &Driver{options: options, guest: program.Located(options.Guest, options.DataDir), clients: map[string]*engine.Client{}, infos: map[*engine.Client]*about{}}
}

// Name is "docker".
func (d *Driver) Name() string { return "docker" }

// engine returns a connection to the engine at host, or, when host is empty, to the engine of this process's environment. It
// connects to each engine once. It does not cache an error.
func (d *Driver) engine(ctx context.Context, host string) (*engine.Client, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.clients[host]; c != nil {
		return c, nil
	}
	env := d.options.Env
	if host != "" {
		env = append([]string{"DOCKER_HOST=" + host}, env...)
	}
	c, err := engine.Open(ctx, env)
	if err != nil {
		return nil, err
	}
	d.clients[host] = c
	return c, nil
}

// about describes an engine.
type about struct {
	system.Info

	podman bool
}

// about asks the engine about itself. The first call also sweeps.
func (d *Driver) about(ctx context.Context, c *engine.Client) (about, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if info := d.infos[c]; info != nil {
		return *info, nil
	}
	res, err := c.Info(ctx, client.InfoOptions{})
	if err != nil {
		return about{}, c.Wrap(err, "ask the engine about itself")
	}
	told := about{Info: res.Info}
	if told.podman, err = c.Podman(ctx); err != nil {
		return about{}, err
	}
	d.infos[c] = &told
	if err := d.sweep(ctx, c); err != nil {
		d.options.Trace("docker", err.Error())
	}
	return told, nil
}

// Create creates a container and starts the guest in it. NotFound: the engine does not have the spec's image, which Create
// does not fetch.
func (d *Driver) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Instance, error) {
	p, err := d.prepare(ctx, spec)
	if err != nil {
		return nil, err
	}
	return p.start(ctx)
}

// Open fails with NotFound: a sandbox of this driver does not outlive its process. Package persist adds persistent ones.
func (d *Driver) Open(_ context.Context, id string) (sandbox.Instance, error) {
	return nil, sandbox.Errorf(sandbox.NotFound, "no sandbox %q", id)
}

// List is empty: a sandbox of this driver does not outlive its process.
func (d *Driver) List(context.Context) ([]sandbox.Info, error) { return nil, nil }

func newID() (string, error) {
	var id [8]byte
	_, err := rand.Read(id[:])
	return hex.EncodeToString(id[:]), err
}
