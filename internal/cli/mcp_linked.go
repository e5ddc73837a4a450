//go:build agent

package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/agent/mcp"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// serveMCP serves a sandbox until its client ends.
func (a *app) serveMCP(ctx context.Context, f *mcpFlags) (err error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	box, dir, end, err := a.boxForMCP(ctx, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	err = mcp.ServeBox(ctx, streams{a.stdio.Stdin, a.stdio.Stdout}, box, mcp.BoxOptions{Version: currentBuild().Version, Dir: dir})
	if ctx.Err() != nil {
		return sandbox.Errorf(sandbox.Canceled, "interrupted")
	}
	return err
}

// boxForMCP opens or makes the sandbox, and says where its commands start and what ends it for us.
func (a *app) boxForMCP(ctx context.Context, f *mcpFlags) (box *sandbox.Sandbox, dir string, end func() error, err error) {
	if f.in != "" {
		box, err = a.openKept(ctx, f.in, keptAt{f.backend, f.cluster})
		if err != nil {
			return nil, "", nil, err
		}
		return box, f.cwd, box.Detach, nil
	}
	refused, err := newDenials(false, "")
	if err != nil {
		return nil, "", nil, err
	}
	box, err = a.open(ctx, &f.options, f.stage, refused)
	if err != nil {
		return nil, "", nil, errors.Join(err, refused.close())
	}
	return box, "", func() error {
		return errors.Join(box.Close(context.WithoutCancel(ctx)), refused.close())
	}, nil
}

// streams are standard input and output as one.
type streams struct {
	io.Reader
	io.Writer
}

// Close closes standard input, so that nobody waits for it; what else is written has a reader.
func (s streams) Close() error {
	if c, ok := s.Reader.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
