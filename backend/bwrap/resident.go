//go:build linux

package bwrap

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/guest"
	"github.com/seed434b0696/agent-sandbox/guest/session"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// resident is the one set of walls that the commands of a resident sandbox share: bubblewrap with the
// guest's supervisor as its command, and the session with that.
type resident struct {
	process *process
	session *session.Connection
	plan    *policy.Plan
	words   tail // what the supervisor said on stderr
}

// startResident starts cmd within the sandbox's walls, and builds these first when cmd is the first.
func (i *instance) startResident(ctx context.Context, cmd sandbox.Cmd, stdio sandbox.Stdio) (sandbox.Process, error) {
	r, err := i.resident(ctx)
	if err != nil {
		return nil, err
	}
	p, err := r.session.Start(ctx, session.Command{
		Args: cmd.Args, Dir: startDir(r.plan, cmd), TTY: cmd.TTY, Env: environment(r.plan, cmd, r.process.network),
	}, stdio)
	if sandbox.CodeOf(err) == sandbox.Closed && ctx.Err() == nil {
		return nil, r.ended()
	}
	if err != nil {
		return nil, err
	}
	i.resides.Add(1)
	go func() {
		<-p.Done()
		i.resides.Add(-1)
	}()
	return p, nil
}

// resident returns the walls, which are built once: when they have fallen the sandbox has ended.
func (i *instance) resident(ctx context.Context) (*resident, error) {
	i.building.Lock()
	defer i.building.Unlock()
	if i.walls != nil {
		return i.walls, nil
	}
	r, err := i.build(ctx)
	if err != nil {
		return nil, err
	}
	i.walls = r
	return r, nil
}

func (i *instance) build(ctx context.Context) (*resident, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	plan, err := i.planFor()
	if err != nil {
		return nil, err
	}
	cmd := sandbox.Cmd{Args: []string{guest.Program, "serve"}}
	staged, err := i.onStage(plan, cmd)
	if err != nil {
		return nil, err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, errors.Join(err, staged.leave())
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "guest"), os.NewFile(uintptr(pair[1]), "host")
	defer ours.Close()
	defer theirs.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		return nil, errors.Join(err, staged.leave())
	}
	r := &resident{plan: staged.adapt(plan)}
	// It outlives the command that it is built for.
	r.process, err = i.launch(context.WithoutCancel(ctx), r.plan, staged, cmd, sandbox.Stdio{Stderr: &r.words}, theirs)
	if err != nil {
		return nil, errors.Join(err, conn.Close(), staged.leave())
	}
	_ = theirs.Close() // so that its end is noticed
	if r.session, err = session.Connect(ctx, conn); err != nil {
		r.process.kill()
		if _, werr := r.process.Wait(); werr != nil {
			err = werr
		}
		return nil, r.told(err)
	}
	go func() {
		<-r.process.ended
		_ = r.session.Close()
	}()
	return r, nil
}

// Ended is closed when the walls of a resident sandbox have fallen; nil before its first command.
func (i *instance) Ended() <-chan struct{} {
	i.building.Lock()
	defer i.building.Unlock()
	if i.walls == nil {
		return nil
	}
	return i.walls.process.ended
}

// ended says how the walls fell.
func (r *resident) ended() error {
	<-r.process.ended
	if _, err := r.process.Wait(); err != nil {
		return r.told(err)
	}
	if reason := r.process.exit.Reason; reason != "" {
		return sandbox.Errorf(sandbox.Closed, "the sandbox has ended: %s", reason)
	}
	return r.told(sandbox.Errorf(sandbox.Closed, "the sandbox has ended: its supervisor was killed from inside"))
}

// told adds the supervisor's own words to an error.
func (r *resident) told(err error) error {
	if text := r.words.text(); text != "" {
		return sandbox.Errorf(sandbox.CodeOf(err), "%w (%s)", err, text)
	}
	return err
}

// tail keeps the first bytes that are written to it.
type tail struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

const maxWords = 2000

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf.Write(p[:min(len(p), maxWords-t.buf.Len())])
	return len(p), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(t.buf.String())
}
