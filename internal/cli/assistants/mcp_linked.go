//go:build agent

package assistants

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/agent/mcp"
	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/cli/inventory"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// serveMCP serves a sandbox until its client ends.
func serveMCP(ctx context.Context, a *console.App, f *mcpFlags) (err error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	box, dir, end, err := boxForMCP(ctx, a, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	err = mcp.ServeBox(ctx, streams{a.Stdio.Stdin, a.Stdio.Stdout}, box, mcp.BoxOptions{Version: console.CurrentBuild().Version, Dir: dir})
	if ctx.Err() != nil {
		return sandbox.Errorf(sandbox.Canceled, "interrupted")
	}
	return err
}

// boxForMCP opens or creates the sandbox, and returns the directory of its commands and a function that releases it.
func boxForMCP(ctx context.Context, a *console.App, f *mcpFlags) (box *sandbox.Sandbox, dir string, end func() error, err error) {
	if f.in != "" {
		box, err = inventory.Open(ctx, a, f.in, inventory.Place{Backend: f.Backend, Cluster: f.Cluster})
		if err != nil {
			return nil, "", nil, err
		}
		return box, f.Cwd, box.Detach, nil
	}
	refused, err := host.NewDenials(false, "", nil)
	if err != nil {
		return nil, "", nil, err
	}
	box, err = host.Create(ctx, a, &f.Options, f.stage, refused)
	if err != nil {
		return nil, "", nil, errors.Join(err, refused.Close())
	}
	return box, "", func() error {
		return errors.Join(box.Close(context.WithoutCancel(ctx)), refused.Close())
	}, nil
}

// streams joins standard input and output.
type streams struct {
	io.Reader
	io.Writer
}

// Close closes standard input, which ends a blocked read; standard output stays open for pending writes.
func (s streams) Close() error {
	if c, ok := s.Reader.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
