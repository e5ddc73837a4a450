package virtual

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// memorySnapshot is a snapshot of a sandbox that keeps nothing on the disk.
type memorySnapshot struct {
	state   *state
	created time.Time
}

// Snapshot keeps all that commands did, here and in the host's directories. Files are taken at one moment, and commands
// do not even wait: what a command has written in part is in it in part.
func (i *instance) Snapshot(ctx context.Context, name string) error {
	if err := i.usable(); err != nil {
		return err
	}
	if i.keeping != nil {
		if _, err := os.Lstat(i.keeping.path(name)); err == nil {
			return sandbox.Errorf(sandbox.Exists, "there is a snapshot %s already", name)
		}
	}
	s, err := i.tree.save(i.tree.fs.Snapshot())
	if err != nil {
		return err
	}
	if i.keeping != nil {
		return s.write(ctx, i.keeping.path(name))
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if _, ok := i.saved[name]; ok {
		return sandbox.Errorf(sandbox.Exists, "there is a snapshot %s already", name)
	}
	if i.saved == nil {
		i.saved = map[string]memorySnapshot{}
	}
	i.saved[name] = memorySnapshot{s, time.Now()}
	return nil
}

// find returns the state of a snapshot, or NotFound.
func (i *instance) find(name string) (*state, error) {
	none := sandbox.Errorf(sandbox.NotFound, "no snapshot %s", name).WithHint("'agent-sandbox snapshots NAME' lists them")
	if i.keeping != nil {
		s, err := readFile(i.keeping.path(name))
		if missing(err) {
			return nil, none
		}
		return s, err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if m, ok := i.saved[name]; ok {
		return m.state, nil
	}
	return nil, none
}

// Restore kills what runs and puts the files back. What the host's directories have is seen as it is now, below the
// changes of the snapshot.
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
	if err := i.tree.load(s); err != nil {
		return err
	}
	return i.keeping.commit(i.tree)
}

// Snapshots lists them.
func (i *instance) Snapshots(context.Context) ([]sandbox.SnapshotInfo, error) {
	if i.keeping != nil {
		return i.keeping.list()
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	list := []sandbox.SnapshotInfo{}
	for name, m := range i.saved {
		list = append(list, sandbox.SnapshotInfo{Name: name, Created: m.created})
	}
	slices.SortFunc(list, func(a, b sandbox.SnapshotInfo) int { return a.Created.Compare(b.Created) })
	return list, nil
}

// RemoveSnapshot removes one.
func (i *instance) RemoveSnapshot(_ context.Context, name string) error {
	if i.keeping == nil {
		if _, err := i.find(name); err != nil {
			return err
		}
		i.mu.Lock()
		defer i.mu.Unlock()
		delete(i.saved, name)
		return nil
	}
	err := os.Remove(i.keeping.path(name))
	if missing(err) {
		return sandbox.Errorf(sandbox.NotFound, "no snapshot %s", name)
	}
	return err
}

// SaveState is that of sandbox.StateKeeper.
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

func (i *instance) usable() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return sandbox.Errorf(sandbox.Closed, "the sandbox is closed")
	}
	return nil
}

// kill ends all that runs, and returns when it has.
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
