//go:build linux

package persist_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/sandboxtest"
)

// newDocker is newDriver over the real engine of DOCKER_HOST.
func newDocker(t *testing.T) *persist.Driver {
	t.Helper()
	d := newDriverOver(t, "docker@"+os.Getenv("DOCKER_HOST"))
	if err := sandboxtest.Available(t.Context(), d); err != nil {
		if slices.Contains(strings.Split(os.Getenv("SANDBOX_REQUIRE"), ","), "docker") {
			t.Fatalf("required, and not available: %v", err)
		}
		t.Skipf("not available: %v", err)
	}
	return d
}

// containers is harness without snapshots: those of the contract cover the workspace, which does not belong to the
// container. The tests below cover the container's own files.
type containers struct {
	sandboxtest.Local

	count *atomic.Int64
}

func (h containers) Spec(dir string) sandbox.Spec {
	return harness(h).Spec(dir)
}

func Test_A_Persistent_Container_Keeps_The_Contract(t *testing.T) {
	d := newDocker(t)
	t.Setenv("TMPDIR", t.TempDir())
	h := containers{Local: sandboxtest.Local{Backend: d, Data: []string{d.Store.Dir}}, count: new(atomic.Int64)}
	sandboxtest.Run(t, h, os.Getenv("SANDBOX_REQUIRE"))
}

func sh(t *testing.T, box *sandbox.Sandbox, script, want string) {
	t.Helper()
	res, err := box.Run(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", script}})
	if err != nil || res.Code != 0 || string(res.Stdout) != want {
		t.Errorf("%s: %+v %q, %v; want %q", script, res, res.Stderr, err, want)
	}
}

// opened opens a persistent sandbox until the end of the test.
func opened(t *testing.T, d *persist.Driver, name string) *sandbox.Sandbox {
	t.Helper()
	box, err := sandbox.Open(t.Context(), d, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Detach() })
	return box
}

func Test_A_Containers_Files_Outlive_A_Stop(t *testing.T) {
	d := newDocker(t)
	box := create(t, d, "lasting")
	sh(t, box, "echo root >$HOME/f; echo tmp >/tmp/f; cat $HOME/f", "root\n")
	if err := box.Detach(); err != nil {
		t.Fatal(err)
	}
	if err := d.Store.Stop(t.Context(), "lasting"); err != nil {
		t.Fatal(err)
	}
	if err := d.Start(t.Context(), "lasting", os.Environ()); err != nil {
		t.Fatal(err)
	}
	again := opened(t, d, "lasting")
	sh(t, again, "cat $HOME/f; cat /tmp/f 2>/dev/null || echo none", "root\nnone\n")

	// The protected paths have changed: another container, the same files.
	if err := d.Store.Stop(t.Context(), "lasting"); err != nil {
		t.Fatal(err)
	}
	st, err := d.Store.Load("lasting")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(st.Spec.Workspace+"/.husky", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := d.Start(t.Context(), "lasting", os.Environ()); err != nil {
		t.Fatal(err)
	}
	sh(t, opened(t, d, "lasting"), "cat $HOME/f; touch .husky/x 2>/dev/null || echo protected", "root\nprotected\n")
}

func Test_A_Containers_Files_Can_Be_Restored_And_Forked(t *testing.T) {
	d := newDocker(t)
	box := create(t, d, "snapped")
	ctx := t.Context()
	sh(t, box, "echo one >$HOME/f", "")
	if err := box.Snapshot(ctx, "first"); err != nil {
		t.Fatal(err)
	}
	if err := box.Snapshot(ctx, "first"); sandbox.CodeOf(err) != sandbox.Exists {
		t.Errorf("twice: %v", err)
	}
	sh(t, box, "echo two >$HOME/f", "")
	fork, err := box.Fork(ctx, "forked", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Destroy(context.Background(), "forked") })
	if err := box.Restore(ctx, "first"); err != nil {
		t.Fatal(err)
	}
	sh(t, box, "cat $HOME/f; echo three >$HOME/f", "one\n")
	sh(t, fork, "cat $HOME/f", "two\n")
	list, err := box.Snapshots(ctx)
	if err != nil || len(list) != 1 || list[0].Name != "first" {
		t.Errorf("%v, %v", list, err)
	}
	other, err := box.Fork(ctx, "other", "first")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Destroy(context.Background(), "other") })
	sh(t, other, "cat $HOME/f", "one\n")
	if err := box.RemoveSnapshot(ctx, "first"); err != nil {
		t.Error(err)
	}
	if err := box.Restore(ctx, "first"); sandbox.CodeOf(err) != sandbox.NotFound {
		t.Errorf("removed: %v", err)
	}
	sh(t, box, "cat $HOME/f", "three\n")
}

func Test_A_Warm_Container_Is_Taken_Once(t *testing.T) {
	d := newDocker(t)
	d.Warm = 2
	ctx := t.Context()
	t.Cleanup(func() {
		spares, _ := d.Store.Spares()
		for _, s := range spares {
			_ = d.Destroy(context.Background(), s.ID)
		}
	})
	want := spec(t, "first")
	first, err := sandbox.Create(ctx, d, want)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Destroy(context.Background(), "first") })
	sh(t, first, "hostname >$HOME/used; cat /proc/sys/kernel/hostname", "sandbox\n")
	spares, err := d.Store.Spares()
	if err != nil || len(spares) != 2 {
		t.Fatalf("%v, %v", spares, err)
	}
	for _, s := range spares { // they are ready when they answer
		for i, err := d.Open(ctx, s.ID); ; i, err = d.Open(ctx, s.ID) {
			if err == nil {
				_ = i.(sandbox.Detacher).Detach()
				break
			}
			if ctx.Err() != nil || sandbox.CodeOf(err) != sandbox.Closed {
				t.Fatal(err)
			}
		}
	}
	if infos, err := d.List(ctx); err != nil || len(infos) != 1 {
		t.Errorf("listed: %v, %v", infos, err)
	}
	want.Name = "first"
	if _, err := sandbox.Create(ctx, d, want); sandbox.CodeOf(err) != sandbox.Exists {
		t.Errorf("a name twice: %v", err)
	}
	want.Name = "second"
	second, err := sandbox.Create(ctx, d, want)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Destroy(context.Background(), "second") })
	record, err := d.Store.Load("second")
	if err != nil || record.State == "" || record.Spare != "" {
		t.Errorf("it was not one that was prepared: %+v, %v", record, err)
	}
	sh(t, second, "cat $HOME/used 2>/dev/null || echo unused; echo mine >$HOME/used", "unused\n")
	now, err := d.Store.Spares()
	if err != nil || len(now) != 2 {
		t.Errorf("%v, %v", now, err)
	}
	// Another policy: another fingerprint.
	want.Name, want.Policy.Limits.Memory = "third", 64<<20
	third, err := sandbox.Create(ctx, d, want)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Destroy(context.Background(), "third") })
	if record, err := d.Store.Load("third"); err != nil || record.State != "" {
		t.Errorf("%+v, %v", record, err)
	}
	if err := third.Close(ctx); err != nil {
		t.Error(err)
	}
	// The fork continues like any other sandbox.
	if err := d.Store.Stop(ctx, "second"); err != nil {
		t.Fatal(err)
	}
	if err := d.Start(ctx, "second", os.Environ()); err != nil {
		t.Fatal(err)
	}
	sh(t, opened(t, d, "second"), "cat $HOME/used", "mine\n")
}

// containersOf returns the IDs of the containers of a workspace.
func containersOf(t *testing.T, workspace string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "docker", "-H", os.Getenv("DOCKER_HOST"), "ps", "-aq", "--no-trunc", "--filter",
		"label=agent-sandbox.workspace="+workspace).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// A container that began with the files of another one keeps them: it continues with its files after a restart, and it
// supports snapshots.
func Test_A_Containers_Fork_Goes_On(t *testing.T) {
	d := newDocker(t)
	ctx := t.Context()
	box := create(t, d, "parent")
	sh(t, box, "echo one >$HOME/f", "")
	if err := box.Snapshot(ctx, "first"); err != nil {
		t.Fatal(err)
	}
	fork, err := box.Fork(ctx, "child", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Destroy(context.Background(), "child") })
	if err := errors.Join(box.Restore(ctx, "first"), box.Detach(), fork.Detach()); err != nil {
		t.Fatal(err)
	}
	record, err := d.Store.Load("child")
	if err != nil {
		t.Fatal(err)
	}
	before := containersOf(t, record.Spec.Workspace)
	for _, name := range []string{"parent", "child"} {
		if err := d.Store.Stop(ctx, name); err != nil {
			t.Fatal(err)
		}
	}
	stopped, err := d.Reach(ctx, "parent")
	if err != nil {
		t.Fatal(err)
	}
	snapshots, ok := sandbox.As[sandbox.Snapshotter](stopped)
	if !ok {
		t.Fatal("no snapshots")
	}
	if err := errors.Join(snapshots.RemoveSnapshot(ctx, "first"), stopped.(sandbox.Detacher).Detach()); err != nil { //nolint:forcetypeassert // what a stopped sandbox is opened as has Detach
		t.Fatal(err)
	}
	for _, name := range []string{"parent", "child"} {
		if err := d.Start(ctx, name, os.Environ()); err != nil {
			t.Fatal(err)
		}
		box := opened(t, d, name)
		if err := box.Snapshot(ctx, "later"); err != nil {
			t.Errorf("a snapshot of %s: %v", name, err)
		}
		sh(t, box, "cat $HOME/f", "one\n")
	}
	if after := containersOf(t, record.Spec.Workspace); after != before {
		t.Errorf("other containers than before:\n%s%s", before, after)
	}
}

func Test_A_Container_Whose_Record_Is_Deleted_Is_Removed(t *testing.T) {
	for what, do := range deletions {
		t.Run(what, func(t *testing.T) {
			d := newDocker(t)
			box := create(t, d, "deleted")
			record, err := d.Store.Load("deleted")
			if err != nil {
				t.Fatal(err)
			}
			deleted(t, d, box, do)
			if left := containersOf(t, record.Spec.Workspace); left != "" {
				t.Errorf("left: %s", left)
			}
		})
	}
}
