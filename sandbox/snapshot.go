package sandbox

import (
	"context"
	"strings"
	"time"
)

// Snapshotter is implemented by instances whose files can be saved and restored. What counts is what
// belongs to the sandbox: a stage's changes, a container's root file system, a tree in memory; never a directory of
// the host that commands write to. Names are checked by [CheckSnapshot].
type Snapshotter interface {
	// Snapshot saves the files as they are now under a name. Commands continue afterwards; while the files are copied, drivers that
	// can do so stop them. When it fails, or is killed, it leaves no snapshot. Exists: there is one. Unsupported: nothing here
	// belongs to the sandbox alone; the hint says what would.
	Snapshot(ctx context.Context, name string) error
	// Restore kills everything that runs and puts the files back to a snapshot, whole or, when it fails or is
	// killed, not at all. The snapshot stays. NotFound: there is none of that name. Invalid: it is damaged.
	Restore(ctx context.Context, name string) error
	// Snapshots lists them, oldest first.
	Snapshots(ctx context.Context) ([]SnapshotInfo, error)
	// RemoveSnapshot removes a snapshot. NotFound: there is none of that name. Files that were restored or forked from it stay.
	RemoveSnapshot(ctx context.Context, name string) error
}

// Forker is implemented by persistent instances that can be copied.
type Forker interface {
	// Fork makes another sandbox with the same policy, whose files begin as those of a snapshot, or, when that is empty, as they are
	// now, as Snapshot takes them. From then on a change in one is not visible in the other. Exists: the name is taken.
	Fork(ctx context.Context, name, snapshot string) (Instance, error)
}

// StateKeeper is implemented by instances whose files a new sandbox can begin with; a [Forker] is made from it.
type StateKeeper interface {
	// SaveState writes the files, or those of a snapshot when its name is not empty, to dir, an empty directory:
	// a sandbox that is created with it as Spec.State, and else the same Spec but for Name and Stage, begins with them.
	SaveState(ctx context.Context, dir, snapshot string) error
}

// SnapshotInfo describes a snapshot.
type SnapshotInfo struct {
	Name    string    `json:"name"`
	Created time.Time `json:"created"`
	Size    int64     `json:"size,omitempty"`    // bytes that it takes on the disk, if it shares nothing; 0: unknown
	Problem string    `json:"problem,omitempty"` // why it cannot be restored, only removed; empty: it can be restored
}

// maxSnapshotName is the maximum length of a snapshot's name, which becomes the name of a file or a tag.
const maxSnapshotName = 63

// CheckSnapshot reports why a name cannot be a snapshot's, or nil.
func CheckSnapshot(name string) error {
	const alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	odd := func(r rune) bool { return !strings.ContainsRune(alphanumeric+"_.-", r) }
	if name == "" || len(name) > maxSnapshotName || !strings.Contains(alphanumeric, name[:1]) || strings.ContainsFunc(name, odd) {
		return Errorf(Invalid, "%.100q cannot be a snapshot's name", name).
			WithHint("up to %d letters, digits, '_', '.' and '-', the first a letter or digit", maxSnapshotName)
	}
	return nil
}

// Snapshot keeps the sandbox's files under a name; see [Snapshotter].
func (s *Sandbox) Snapshot(ctx context.Context, name string) error {
	return s.snapshotter(name, "snapshot", func(k Snapshotter) error { return k.Snapshot(ctx, name) })
}

// Restore kills what runs and puts the files back to a snapshot; see [Snapshotter].
func (s *Sandbox) Restore(ctx context.Context, name string) error {
	return s.snapshotter(name, "restore", func(k Snapshotter) error { return k.Restore(ctx, name) })
}

// RemoveSnapshot removes a snapshot; see [Snapshotter].
func (s *Sandbox) RemoveSnapshot(ctx context.Context, name string) error {
	return s.snapshotter(name, "remove snapshot", func(k Snapshotter) error { return k.RemoveSnapshot(ctx, name) })
}

// Snapshots lists the snapshots; see [Snapshotter].
func (s *Sandbox) Snapshots(ctx context.Context) ([]SnapshotInfo, error) {
	var list []SnapshotInfo
	err := s.snapshotter("x", "snapshots", func(k Snapshotter) (err error) {
		list, err = k.Snapshots(ctx)
		return err
	})
	return list, err
}

func (s *Sandbox) snapshotter(name, op string, do func(Snapshotter) error) error {
	if err := s.usable(op); err != nil {
		return err
	}
	k, ok := As[Snapshotter](s.instance)
	if !ok {
		return s.wrap(Errorf(Unsupported, "sandboxes of %s have no snapshots", s.driver), op)
	}
	if err := CheckSnapshot(name); err != nil {
		return s.wrap(err, op)
	}
	return s.wrap(do(k), op)
}

// Fork makes another sandbox from this one, or from a snapshot of it when its name is not empty; see [Forker]. The
// caller closes or detaches it.
func (s *Sandbox) Fork(ctx context.Context, name, snapshot string) (*Sandbox, error) {
	if err := s.usable("fork"); err != nil {
		return nil, err
	}
	f, ok := As[Forker](s.instance)
	if !ok {
		return nil, s.wrap(Errorf(Unsupported, "only persistent sandboxes can be forked"), "fork")
	}
	if snapshot != "" {
		if err := CheckSnapshot(snapshot); err != nil {
			return nil, s.wrap(err, "fork")
		}
	}
	i, err := f.Fork(ctx, name, snapshot)
	if err != nil {
		return nil, s.wrap(err, "fork")
	}
	return &Sandbox{driver: s.driver, instance: i, limits: s.limits}, nil
}
