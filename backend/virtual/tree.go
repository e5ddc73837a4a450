package virtual

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sync"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/hostdir"
	"github.com/seed434b0696/agent-sandbox/internal/memory/system"
	"github.com/seed434b0696/agent-sandbox/internal/proxy"
	"github.com/seed434b0696/agent-sandbox/memory"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// tree is the file system of one sandbox, or of several that share it: the system, and the
// directories of the host that the plan names.
type tree struct {
	fs      *vfs.FS
	plan    *policy.Plan // that made it
	journal string
	mounts  []*mount
	giving  sync.Mutex
	given   map[string]bool // replacements for files that hold secrets; guarded by giving
	base    *vfs.Snapshot   // before the first command

	refs int    // guarded by Driver.mu
	key  string // in Driver.trees
}

// mount is a directory of the host in a tree, at the same path.
type mount struct {
	*hostdir.Mount
	path string
}

// newTree makes the tree of a plan. It reads only single files of the host.
func newTree(plan *policy.Plan, u system.User, o vfs.Options, journal string) (t *tree, err error) {
	s, err := system.For(u)
	if err != nil {
		return nil, err
	}
	t = &tree{fs: s.NewFS(s.Fixed, o), plan: plan, journal: journal, refs: 1}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.close())
			t = nil
		}
	}()
	if plan.Workspace != "" {
		if err := t.attach(plan.Workspace, u); err != nil {
			return t, err
		}
	}
	if plan.Home != "" && !t.has(plan.Home) {
		if err := system.OwnDir(t.fs, u, plan.Home); err != nil {
			return t, err
		}
	}
	for _, m := range plan.Mounts {
		if err := t.add(plan, m, u); err != nil {
			return t, err
		}
	}
	if err := system.MakeDir(t.fs, plan.Dir); err != nil {
		return t, sandbox.Errorf(sandbox.Invalid, "start directory %q: %w", plan.Dir, err)
	}
	t.base = t.fs.Snapshot()
	return t, nil
}

// add adds a path that a layer names. It skips the presets' paths of the host's system,
// because the machine has its own system files.
func (t *tree) add(plan *policy.Plan, m policy.Mount, u system.User) error {
	rule := &plan.Rules[m.Rule]
	if m.Access != policy.ReadOnly && m.Access != policy.ReadWrite || m.Pin || rule.Preset != "" || rule.Source == "built in" || t.has(m.Path) {
		return nil
	}
	if !m.Dir {
		return t.copyFile(m.Path)
	}
	return t.attach(m.Path, u)
}

// has reports whether a path is at or below a directory that was added before.
func (t *tree) has(p string) bool {
	for _, m := range t.mounts {
		if _, ok := system.Relative(p, m.path); ok {
			return true
		}
	}
	return false
}

func (t *tree) attach(dir string, u system.User) error {
	if err := system.MakeDir(t.fs, dir); err != nil {
		return err
	}
	m, err := hostdir.Attach(t.fs, dir, dir, hostdir.Options{UID: u.UID, GID: u.GID, Protect: newShield(t.plan, dir).protection, Journal: t.journal})
	switch {
	case errors.Is(err, syscall.ENOTEMPTY):
		return sandbox.Errorf(sandbox.Unsupported, "%s: the machine in memory has a system of its own there", dir).
			WithHint("use a directory below it, or another backend")
	case err != nil:
		return err
	}
	t.mounts = append(t.mounts, &mount{m, dir})
	return nil
}

// copyFile copies a file of the host.
func (t *tree) copyFile(name string) error {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // Opening a named pipe must not block.
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err // Sockets and devices have no meaning here.
	}
	if err := system.MakeDir(t.fs, path.Dir(name)); err != nil {
		return err
	}
	before, err := t.fs.Protect(path.Dir(name), vfs.Free)
	if err != nil {
		return err
	}
	err = fill(t.fs, name, info.Mode().Perm(), f)
	return errors.Join(err, system.Protect(t.fs, path.Dir(name), before), system.Protect(t.fs, name, vfs.Fixed))
}

// fill creates a file with the content of r.
func fill(f *vfs.FS, name string, perm fs.FileMode, r io.Reader) error {
	w, err := f.OpenFile(context.Background(), vfs.Cred{}, name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	if err = errors.Join(err, w.Close()); err != nil {
		return fmt.Errorf("copy %s: %w", name, err)
	}
	return nil
}

// give replaces files that hold secrets. Commands cannot change the replacements, which do not count as
// changes.
func (t *tree) give(files []proxy.File) error {
	for _, g := range files {
		if err := system.MakeDir(t.fs, path.Dir(g.Path)); err != nil {
			return err
		}
		before, err := t.fs.Protect(path.Dir(g.Path), vfs.Free)
		if err != nil {
			return err
		}
		_ = system.Protect(t.fs, g.Path, vfs.Free) // The file need not exist.
		err = t.fs.WriteFile(context.Background(), vfs.Cred{}, g.Path, g.Data, 0o444)
		if err = errors.Join(err, system.Protect(t.fs, path.Dir(g.Path), before), system.Protect(t.fs, g.Path, vfs.Fixed)); err != nil {
			return err
		}
		t.giving.Lock()
		if t.given == nil {
			t.given = map[string]bool{}
		}
		t.given[g.Path] = true
		t.giving.Unlock()
	}
	return nil
}

// isGiven reports whether the file at a path replaces one that holds a secret.
func (t *tree) isGiven(p string) bool {
	t.giving.Lock()
	defer t.giving.Unlock()
	return t.given[p]
}

// close releases the host's directories.
func (t *tree) close() error {
	var errs []error
	for _, m := range t.mounts {
		errs = append(errs, m.Close())
	}
	return errors.Join(errs...)
}

// changes lists what commands changed in the directories of the host, by path.
func (t *tree) changes() ([]vfs.Change, error) {
	var all []vfs.Change
	for _, m := range t.mounts {
		list, err := m.Diff()
		if err != nil {
			return nil, err
		}
		for _, c := range list {
			if c.Path = path.Join(m.path, c.Path); !t.isGiven(c.Path) {
				all = append(all, c)
			}
		}
	}
	return all, nil
}

// apply makes the changes in the host's directories, as far as the plan allows; see Workspace.Apply.
func (t *tree) apply(ctx context.Context, o ApplyOptions) (Applied, error) {
	changes, err := t.changes()
	if err != nil {
		return Applied{}, err
	}
	list := make([]policy.Changed, len(changes))
	for i, c := range changes {
		list[i] = changed(c)
	}
	review := policy.NewReview(t.plan, list, nil)
	var done Applied
	for _, m := range t.mounts {
		paths, any := m.named(o.Paths)
		if !any {
			continue
		}
		res, err := m.Apply(ctx, hostdir.ApplyOptions{Paths: paths, Force: o.Force, DryRun: o.DryRun, Refuse: func(c vfs.Change) string {
			c.Path = path.Join(m.path, c.Path)
			return review.Refuse(changed(c))
		}})
		for _, p := range res.Finished {
			done.Finished = append(done.Finished, path.Join(m.path, p))
		}
		for _, c := range res.Applied {
			c.Path = path.Join(m.path, c.Path)
			done.Changes = append(done.Changes, memory.NewChange(c))
		}
		for _, s := range res.Skipped {
			done.Skipped = append(done.Skipped, Skipped{Path: path.Join(m.path, s.Path), Reason: string(s.Reason), Detail: s.Detail})
		}
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// named returns the absolute paths that are in the mount, relative to it; false: some were given, and none is in it.
func (m *mount) named(paths []string) (names []string, any bool) {
	for _, p := range paths {
		if name, ok := system.Relative(path.Clean(p), m.path); ok {
			names = append(names, name)
		} else if _, ok := system.Relative(m.path, path.Clean(p)); ok {
			return nil, true // all of it
		}
	}
	return names, len(names) > 0 || len(paths) == 0
}

func changed(c vfs.Change) policy.Changed {
	return policy.Changed{
		Path: c.Path, Exists: c.Kind != vfs.Deleted, Link: c.Kind != vfs.Deleted && c.New.Mode&fs.ModeSymlink != 0,
		Replaced: c.Kind == vfs.Deleted || c.Kind == vfs.Retyped,
	}
}
