//go:build agent

package assistants

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
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
	s := &served{app: a, flags: f}
	if s.refused, err = host.NewDenials(false, "", nil); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.end(context.WithoutCancel(ctx)), s.refused.Close()) }()
	box, err := s.open(ctx)
	if err != nil {
		return err
	}
	o := mcp.BoxOptions{Version: console.CurrentBuild().Version, Refused: s.takeRefused, Reopen: s.open}
	if f.in != "" {
		o.Dir = f.Cwd
	}
	err = mcp.ServeBox(ctx, streams{a.Stdio.Stdin, a.Stdio.Stdout}, box, o)
	if ctx.Err() != nil {
		return sandbox.Errorf(sandbox.Canceled, "interrupted")
	}
	return err
}

// served is the sandbox of a client. Only one of its methods open and end runs at a time.
type served struct {
	app     *console.App
	flags   *mcpFlags
	refused *host.Denials

	mu  sync.Mutex
	box *sandbox.Sandbox // nil: none
}

// open opens or creates the sandbox, in place of one that has ended.
func (s *served) open(ctx context.Context) (box *sandbox.Sandbox, err error) {
	_ = s.end(context.WithoutCancel(ctx)) // the errors of one that has ended
	if s.flags.in != "" {
		box, err = inventory.Open(ctx, s.app, s.flags.in, inventory.Place{Backend: s.flags.Backend, Cluster: s.flags.Cluster})
	} else {
		box, err = host.Create(ctx, s.app, &s.flags.Options, s.flags.stage, s.refused)
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.box = box
	return box, nil
}

// end releases the sandbox.
func (s *served) end(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	box := s.box
	s.box = nil
	switch {
	case box == nil:
		return nil
	case s.flags.in != "":
		return box.Detach()
	}
	return box.Close(ctx)
}

// takeRefused returns the lines of the denials since the last call.
func (s *served) takeRefused(ctx context.Context) []string {
	s.mu.Lock()
	box := s.box
	s.mu.Unlock()
	if s.flags.in != "" && box != nil {
		for _, one := range inventory.Refused(ctx, box) {
			s.refused.Add(one)
		}
	}
	return s.refused.Take()
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
