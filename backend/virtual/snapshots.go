package virtual

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// memorySnapshot is a snapshot of a sandbox without saved files.
type memorySnapshot struct {
	state   *state
	created time.Time
}

// Snapshot saves all changes of commands, in memory and over the host's directories, as they are at one moment. Commands
// are not paused: a file that a command is writing is saved with what it has so far.
func (i *instance) Snapshot(ctx context.Context, name string) error {
	if err := i.usable(); err != nil {
		return err
	}
	if i.saved != nil {
		if _, err := os.Lstat(i.saved.path(name)); err == nil {
			return sandbox.Errorf(sandbox.Exists, "there is a snapshot %s already", name)
		}
	}
	s, err := i.tree.save(i.tree.fs.Snapshot())
	if err != nil {
		return err
	}
	if i.saved != nil {
		return s.write(ctx, i.saved.path(name))
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if _, ok := i.taken[name]; ok {
		return sandbox.Errorf(sandbox.Exists, "there is a snapshot %s already", name)
	}
	if i.taken == nil {
		i.taken = map[string]memorySnapshot{}
	}
	i.taken[name] = memorySnapshot{s, time.Now()}
	return nil
}

// find returns the state of a snapshot, or NotFound.
func (i *instance) find(name string) (*state, error) {
	none := sandbox.Errorf(sandbox.NotFound, "no snapshot %s", name).WithHint("'agent-sandbox snapshots NAME' lists them")
	if i.saved != nil {
		s, err := readFile(i.saved.path(name))
		if isMissing(err) {
			return nil, none
		}
		return s, err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if m, ok := i.taken[name]; ok {
		return m.state, nil
	}
	return nil, none
}

// Restore kills all commands and replaces all changes with those of the snapshot. The host's directories below them are
// seen as they are now.
func (i *instance) Restore(_ context.Context, name string) error {
	if err := i.usable(); err != nil {
		return err
	}
	s, err := i.find(name)
	if err != nil {
		return err
	}
	i.quiet.Lock()
	defer i.quiet.Unlock()
	i.kill()
	if _, err := i.setFrozen(false); err != nil {
		return err
	}
	if err := i.tree.load(s); err != nil {
		return err
	}
	return i.saved.commit(i.tree)
}

// Snapshots lists the snapshots, oldest first.
func (i *instance) Snapshots(context.Context) ([]sandbox.SnapshotInfo, error) {
	if i.saved != nil {
		return i.saved.list()
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	list := []sandbox.SnapshotInfo{}
	for name, m := range i.taken {
		list = append(list, sandbox.SnapshotInfo{Name: name, Created: m.created})
	}
	slices.SortFunc(list, func(a, b sandbox.SnapshotInfo) int { return a.Created.Compare(b.Created) })
	return list, nil
}

// RemoveSnapshot removes a snapshot.
func (i *instance) RemoveSnapshot(_ context.Context, name string) error {
	if i.saved == nil {
		if _, err := i.find(name); err != nil {
			return err
		}
		i.mu.Lock()
		defer i.mu.Unlock()
		delete(i.taken, name)
		return nil
	}
	err := os.Remove(i.saved.path(name))
	if isMissing(err) {
		return sandbox.Errorf(sandbox.NotFound, "no snapshot %s", name)
	}
	return err
}

// SaveState implements [sandbox.StateKeeper].
func (i *instance) SaveState(ctx context.Context, dir, snapshot string) error {
	if err := i.usable(); err != nil {
		return err
	}
	var s *state
	var err error
	if snapshot != "" {
		s, err = i.find(snapshot)
	} else {
		s, err = i.tree.save(i.tree.fs.Snapshot())
	}
	if err != nil {
		return err
	}
	return s.write(ctx, filepath.Join(dir, beginFile))
}

// usable returns Closed when the sandbox is closed.
func (i *instance) usable() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return sandbox.Errorf(sandbox.Closed, "the sandbox is closed")
	}
	return nil
}

// kill kills all commands and waits for their end.
func (i *instance) kill() {
	i.mu.Lock()
	var all []*process
	for p := range i.running {
		all = append(all, p)
	}
	i.mu.Unlock()
	for _, p := range all {
		p.shell.Close()
		<-p.ended
		i.remove(p)
	}
}
