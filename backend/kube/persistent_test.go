package kube_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/backend/kube"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// newPersistentBed creates a namespace for persistent sandboxes, with the default storage class of the cluster.
func newPersistentBed(t *testing.T) (bed, *kube.PersistentDriver) {
	t.Helper()
	b := newBed(t)
	b.options.StorageSize = 64 << 20
	if testing.Verbose() {
		begin := time.Now()
		b.options.Trace = func(_, line string) { t.Logf("%6.2f %s", time.Since(begin).Seconds(), line) }
	}
	return b, &kube.PersistentDriver{Inner: kube.New(b.options), Env: os.Environ()}
}

// workspace returns a directory of this host with a file.
func workspace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("host\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func persistentSpec(name, dir string) sandbox.Spec {
	return sandbox.Spec{Name: name, Workspace: dir, Policy: sandbox.Policy{Filesystem: sandbox.Filesystem{RW: []string{dir}}}}
}

func create(t *testing.T, d *kube.PersistentDriver, spec sandbox.Spec) *sandbox.Sandbox {
	t.Helper()
	box, err := sandbox.Create(t.Context(), d, spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Destroy(context.Background(), spec.Name) })
	return box
}

func opened(t *testing.T, d *kube.PersistentDriver, name string) *sandbox.Sandbox {
	t.Helper()
	box, err := sandbox.Open(t.Context(), d, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Detach() })
	return box
}

func prints(t *testing.T, box *sandbox.Sandbox, script, want string) {
	t.Helper()
	res, err := box.Run(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", script}})
	if err != nil || res.Code != 0 || string(res.Stdout) != want {
		t.Errorf("%s: %+v, %v; want %q", script, res, err, want)
	}
}

// left returns the objects of sandboxes in the namespace.
func (b bed) left(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(kubectl(t, "", "get", "pods,pvc", "-n", b.namespace, "-l", "app.kubernetes.io/managed-by=agent-sandbox", "-o", "name"))
}

func Test_A_Persistent_Sandbox_Runs_In_The_Cluster(t *testing.T) {
	t.Parallel()
	b, d := newPersistentBed(t)
	box := create(t, d, persistentSpec("one", workspace(t)))
	prints(t, box, "cat f; pwd; echo $HOME; echo more >>f; echo home >~/h; ls -ld . ~ | cut -c1-10; id -u", "host\n/workspace\n/home/sandbox\ndrwxrwsr-x\ndrwxrwsr-x\n1000\n")
	if infos, err := d.List(t.Context()); err != nil || len(infos) != 1 || infos[0].ID != "one" {
		t.Errorf("%+v, %v", infos, err)
	}
	if err := box.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if left := b.left(t); left != "" {
		t.Errorf("left: %s", left)
	}
}

func Test_A_Pods_Files_Outlive_A_Stop(t *testing.T) {
	t.Parallel()
	b, d := newPersistentBed(t)
	box := create(t, d, persistentSpec("lasting", workspace(t)))
	prints(t, box, "echo more >>f; echo home >~/h; echo tmp >/tmp/f", "")
	if err := d.Stop(t.Context(), "lasting"); err != nil {
		t.Fatal(err)
	}
	if err := d.Stop(t.Context(), "lasting"); err != nil {
		t.Errorf("twice: %v", err)
	}
	if st, err := d.State(t.Context(), "lasting"); err != nil || st.Running {
		t.Errorf("%+v, %v", st, err)
	}
	if _, err := sandbox.Open(t.Context(), d, "lasting"); sandbox.CodeOf(err) != sandbox.Closed {
		t.Errorf("opened: %v", err)
	}
	if err := box.Detach(); err != nil {
		t.Error(err)
	}
	if err := d.Start(t.Context(), "lasting", os.Environ()); err != nil {
		t.Fatal(err)
	}
	if err := d.Start(t.Context(), "lasting", os.Environ()); sandbox.CodeOf(err) != sandbox.Exists {
		t.Errorf("started twice: %v", err)
	}
	prints(t, opened(t, d, "lasting"), "cat f ~/h; cat /tmp/f 2>/dev/null || echo none", "host\nmore\nhome\nnone\n")
	if err := d.Destroy(t.Context(), "lasting"); err != nil {
		t.Error(err)
	}
	if left := b.left(t); left != "" {
		t.Errorf("left: %s", left)
	}
	if err := d.Destroy(t.Context(), "lasting"); sandbox.CodeOf(err) != sandbox.NotFound {
		t.Errorf("destroyed twice: %v", err)
	}
}

func Test_A_Persistent_Pod_Has_Snapshots_And_Forks(t *testing.T) {
	t.Parallel()
	b, d := newPersistentBed(t)
	box := create(t, d, persistentSpec("snapped", workspace(t)))
	ctx := t.Context()
	prints(t, box, "echo one >f; echo one >~/h; mkdir -m 500 locked; ln -s f link; ln f twin; truncate -s 1M hole", "")
	if err := box.Snapshot(ctx, "first"); err != nil {
		t.Fatal(err)
	}
	if err := box.Snapshot(ctx, "first"); sandbox.CodeOf(err) != sandbox.Exists {
		t.Errorf("twice: %v", err)
	}
	prints(t, box, "echo two >f; echo two >~/h; rm link; echo new >new", "")
	fork, err := box.Fork(ctx, "forked", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Destroy(context.Background(), "forked") })
	const look = "cat f ~/h; ls; stat -c %a locked | tail -c 4; stat -c %h f"
	if err := box.Restore(ctx, "first"); err != nil {
		t.Fatal(err)
	}
	prints(t, box, look, "one\none\nf\nhole\nlink\nlocked\ntwin\n500\n2\n")
	prints(t, fork, "cat f ~/h; ls; stat -c %a locked | tail -c 4", "two\ntwo\nf\nhole\nlocked\nnew\ntwin\n500\n")
	list, err := box.Snapshots(ctx)
	if err != nil || len(list) != 1 || list[0].Name != "first" {
		t.Errorf("%v, %v", list, err)
	}
	if err := d.Stop(ctx, "snapped"); err != nil {
		t.Fatal(err)
	}
	stopped, err := d.Reach(ctx, "snapped")
	if err != nil {
		t.Fatal(err)
	}
	snapshots := stopped.(sandbox.Snapshotter) //nolint:forcetypeassert // it has them
	other, err := stopped.(sandbox.Forker).Fork(ctx, "other", "first")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Destroy(context.Background(), "other") })
	if res, err := other.Files().Stat(ctx, "/workspace/twin"); err != nil || res.Size != 4 {
		t.Errorf("%+v, %v", res, err)
	}
	if err := snapshots.Restore(ctx, "none"); sandbox.CodeOf(err) != sandbox.NotFound {
		t.Errorf("%v", err)
	}
	if err := snapshots.RemoveSnapshot(ctx, "first"); err != nil {
		t.Error(err)
	}
	if err := snapshots.Restore(ctx, "first"); sandbox.CodeOf(err) != sandbox.NotFound {
		t.Errorf("removed: %v", err)
	}
	for _, name := range []string{"snapped", "forked", "other"} {
		if err := d.Destroy(ctx, name); err != nil {
			t.Error(err)
		}
	}
	if left := b.left(t); left != "" {
		t.Errorf("left: %s", left)
	}
}

func Test_The_Error_Says_Why_A_Claim_Gets_No_Volume(t *testing.T) {
	t.Parallel()
	b, _ := newPersistentBed(t)
	fails := func(class string, code sandbox.Code, text, hint string) {
		t.Helper()
		options := b.options
		options.StorageClass = class
		begin := time.Now()
		_, err := sandbox.Create(t.Context(), &kube.PersistentDriver{Inner: kube.New(options)}, persistentSpec("unbound", workspace(t)))
		if sandbox.CodeOf(err) != code || !strings.Contains(err.Error(), text) || !strings.Contains(sandbox.HintOf(err), hint) {
			t.Errorf("%v; %s", err, sandbox.HintOf(err))
		}
		if took := time.Since(begin); took > deadline.Scale(30*time.Second) {
			t.Errorf("after %s", took)
		}
	}
	fails("no-such-class", sandbox.Unavailable, "no-such-class", "provisioner")
	b.quota(t, "requests.storage", "1Mi")
	fails("", sandbox.Exhausted, "exceeded quota: small", "--storage")
	if left := b.left(t); left != "" {
		t.Errorf("left: %s", left)
	}
}
