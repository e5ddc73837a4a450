//go:build linux

package bwrap

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed434b0696/agent-sandbox/internal/stage"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Names below sandbox.Spec.State.
const (
	snapshotsDir = "snapshots"
	beginDir     = "stage" // the initial content of the stage
)

// snapshots returns the snapshots of this sandbox's stage. Unsupported: it has no stage or no State.
func (i *instance) snapshots() (stage.Snapshots, error) {
	switch {
	case i.spec.Stage == "":
		return stage.Snapshots{}, sandbox.Errorf(sandbox.Unsupported, "no snapshots: its commands write to the workspace itself").
			WithHint("create it with --stage")
	case i.spec.State == "":
		return stage.Snapshots{}, sandbox.Errorf(sandbox.Unsupported, "only a persistent sandbox has snapshots").
			WithHint("'agent-sandbox create --stage' creates one")
	}
	return stage.Snapshots{Dir: filepath.Join(i.spec.State, snapshotsDir)}, nil
}

// Snapshot saves the stage while its processes are stopped. Private directories such as /tmp are not part of it.
func (i *instance) Snapshot(ctx context.Context, name string) error {
	s, err := i.snapshots()
	if err != nil {
		return err
	}
	if _, err := s.Find(name); err == nil {
		return sandbox.Errorf(sandbox.Exists, "there is a snapshot %s already", name)
	}
	return i.resting(ctx, func(u *stage.Use) error { return s.Snapshot(ctx, u, name) })
}

// Restore kills all commands and replaces the stage with the snapshot. The next command builds the isolation anew.
func (i *instance) Restore(ctx context.Context, name string) error {
	s, err := i.snapshots()
	if err != nil {
		return err
	}
	from, err := s.FindUsable(name)
	if err != nil {
		return err
	}
	i.quiet.Lock()
	defer i.quiet.Unlock()
	return i.stages().Restore(ctx, i.Plan().Workspace, i.spec.Stage, from, i.endRunning)
}

// Snapshots lists the snapshots, oldest first.
func (i *instance) Snapshots(context.Context) ([]sandbox.SnapshotInfo, error) {
	s, err := i.snapshots()
	if err != nil {
		return nil, err
	}
	return s.List()
}

// RemoveSnapshot removes a snapshot.
func (i *instance) RemoveSnapshot(_ context.Context, name string) error {
	s, err := i.snapshots()
	if err != nil {
		return err
	}
	return s.Remove(name)
}

// SaveState implements [sandbox.StateKeeper].
func (i *instance) SaveState(ctx context.Context, dir, snapshot string) error {
	s, err := i.snapshots()
	if err != nil {
		return sandbox.Errorf(sandbox.Unsupported, "%w", err).WithHint("%s", sandbox.HintOf(err))
	}
	to := filepath.Join(dir, beginDir)
	if snapshot != "" {
		return s.Copy(ctx, snapshot, to)
	}
	return i.resting(ctx, func(u *stage.Use) error { return u.Save(ctx, to) })
}

// Rest ends the processes that commands have left running, with the isolation, which the next command builds anew.
func (i *instance) Rest(context.Context) (release func(), err error) {
	i.quiet.Lock()
	i.mu.Lock()
	running, frozen := i.count(), i.isFrozen()
	i.mu.Unlock()
	switch {
	case frozen: // another isolation would not be
		i.quiet.Unlock()
		return nil, sandbox.Frozen()
	case running > 0:
		i.quiet.Unlock()
		return nil, sandbox.Errorf(sandbox.Denied, "commands run in the sandbox").WithHint("wait until they have ended, or stop the sandbox")
	}
	if err := i.endRunning(); err != nil {
		i.quiet.Unlock()
		return nil, err
	}
	return i.quiet.Unlock, nil
}

func (i *instance) stages() *stage.Store {
	return &stage.Store{Dir: i.driver.options.Stages, Guest: i.guest}
}

// resting calls f with the stage while nothing writes to it: no command starts, and those that run are stopped.
func (i *instance) resting(ctx context.Context, f func(u *stage.Use) error) (err error) {
	i.quiet.Lock()
	defer i.quiet.Unlock()
	i.building.Lock()
	shared := i.shared
	i.building.Unlock()
	if shared != nil {
		resume, err := shared.session.Pause(ctx)
		if sandbox.CodeOf(err) == sandbox.Closed && ctx.Err() == nil {
			return shared.ended()
		}
		if err != nil {
			return err
		}
		defer resume()
		return f(shared.process.staged.use)
	}
	st, err := i.ownStage(ctx)
	if err != nil {
		return err
	}
	use, err := st.Use([]string{"snapshot"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, use.Close()) }()
	return f(use)
}

// Revert removes the stage of a fork whose start has failed, if it was moved out of its Spec's State.
func (d *Driver) Revert(ctx context.Context, spec sandbox.Spec) error {
	if spec.Stage == "" || spec.State == "" {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(spec.State, beginDir)); !errors.Is(err, fs.ErrNotExist) {
		return err // the files are still in the State, so a stage of that name belongs to another sandbox
	}
	st, err := (&stage.Store{Dir: d.options.Stages}).Open(spec.Workspace, spec.Stage)
	if sandbox.CodeOf(err) == sandbox.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	return st.Drop(ctx)
}

// ownStage is the stage of the instance, which is made when it is missing.
func (i *instance) ownStage(ctx context.Context) (*stage.Stage, error) {
	workspace := i.Plan().Workspace
	if i.spec.State != "" {
		if err := i.stages().Adopt(ctx, workspace, i.spec.Stage, filepath.Join(i.spec.State, beginDir)); err != nil {
			return nil, err
		}
	}
	return i.stages().Ensure(workspace, i.spec.Stage)
}

// endRunning kills all processes of the sandbox and waits for their end. A resident sandbox does not end with them: the
// next command builds its isolation anew. The caller holds quiet, so that no command starts meanwhile.
func (i *instance) endRunning() error {
	i.building.Lock()
	defer i.building.Unlock()
	if i.shared != nil {
		i.shared.replaced.Store(true)
	}
	i.mu.Lock()
	closed := i.closed
	var running []*process
	for p := range i.running {
		running = append(running, p)
	}
	i.mu.Unlock()
	if closed {
		return sandbox.Errorf(sandbox.Closed, "the sandbox is closed")
	}
	for _, p := range running {
		p.kill()
	}
	for _, p := range running {
		<-p.ended
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.shared = nil
	return nil
}
