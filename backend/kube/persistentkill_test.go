package kube_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/backend/kube"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// TestMain is also the process that a test kills: "operate NAMESPACE DATA OPERATION NAME".
func TestMain(m *testing.M) {
	if len(os.Args) == 6 && os.Args[1] == "operate" {
		os.Exit(victim(os.Args[2], os.Args[3], os.Args[4], os.Args[5]))
	}
	os.Exit(m.Run())
}

func victim(namespace, data, operation, name string) int {
	d := &kube.PersistentDriver{Inner: kube.New(kube.Options{
		Env: os.Environ(), DataDir: data, Image: testImage, Namespace: namespace, StorageSize: 64 << 20,
	})}
	if err := operate(context.Background(), d, operation, name); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// operate runs an operation in whose middle the process is killed.
func operate(ctx context.Context, d *kube.PersistentDriver, operation, name string) error {
	if operation == "create" {
		i, err := d.Create(ctx, persistentSpec(name, os.Getenv("VICTIMS_WORKSPACE")))
		if err != nil {
			return err
		}
		return i.(sandbox.Detacher).Detach() //nolint:forcetypeassert // a persistent sandbox has it
	}
	i, err := d.Reach(ctx, "victim")
	if err != nil {
		return err
	}
	s, snapshots := i.(sandbox.Snapshotter)
	f, forks := i.(sandbox.Forker)
	if !snapshots || !forks {
		return errors.ErrUnsupported
	}
	switch operation {
	case "snapshot":
		return s.Snapshot(ctx, name)
	case "restore":
		return s.Restore(ctx, name)
	}
	_, err = f.Fork(ctx, name, "")
	return err
}

// killed runs an operation in a process of its own, kills it after some time, and returns its standard error.
func (b bed) killed(t *testing.T, after time.Duration, workspace, operation, name string) (said string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "operate", b.namespace, b.options.DataDir, operation, name)
	var out strings.Builder
	cmd.Env, cmd.Stderr = append(os.Environ(), "VICTIMS_WORKSPACE="+workspace), &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() }) // it may have ended
	defer timer.Stop()
	_ = cmd.Wait() // it was killed
	return out.String()
}

// files is the number of files in the workspace of these tests.
const files = 200

// sameFiles prints the content of all files, which is the same, and their number.
const sameFiles = `cat f* | sort -u | tr '\n' ' '; ls | wc -l`

// A killed operation leaves the state before or after it, and no other objects for long.
func Test_A_Killed_Operation_Leaves_All_Or_Nothing(t *testing.T) {
	t.Parallel()
	b, d := newPersistentBed(t)
	ctx := t.Context()
	dir := t.TempDir()
	for n := range files {
		if err := os.WriteFile(filepath.Join(dir, "f"+strconv.Itoa(n)), []byte("a\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	box := create(t, d, persistentSpec("victim", dir))
	if err := errors.Join(box.Snapshot(ctx, "a"), box.Detach()); err != nil {
		t.Fatal(err)
	}
	rounds := 1
	if n, err := strconv.Atoi(os.Getenv("AGENT_SANDBOX_KILLS")); err == nil {
		rounds = n
	}
	for round := range rounds {
		for operation, longest := range map[string]time.Duration{"create": 6 * time.Second, "snapshot": 2 * time.Second, "restore": 12 * time.Second, "fork": 8 * time.Second} {
			after := rand.N(longest) //nolint:gosec // a moment, and no secret
			name := fmt.Sprintf("%s-%d", operation, round)
			if operation == "restore" {
				name = "a"
			}
			b.fresh(t, d)
			said := b.killed(t, after, dir, operation, name)
			t.Logf("%s killed after %s: %s", operation, after, said)
			b.judge(t, d, operation, name)
		}
	}
	b.settled(t, d)
}

// abandoned stops a sandbox and creates its pod again without sending it a guest, as a process does that is killed while it starts
// the sandbox.
func (b bed) abandoned(t *testing.T, d *kube.PersistentDriver, name string) {
	t.Helper()
	box := create(t, d, persistentSpec(name, workspace(t)))
	pod := kubectl(t, "", "get", "pod", "agent-sandbox-"+name, "-n", b.namespace, "-o", "json")
	if err := errors.Join(box.Detach(), d.Stop(t.Context(), name)); err != nil {
		t.Fatal(err)
	}
	var object struct {
		Version  string `json:"apiVersion"`
		Kind     string `json:"kind"`
		Metadata struct {
			Name        string            `json:"name"`
			Labels      map[string]string `json:"labels"`
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
		Spec map[string]any `json:"spec"`
	}
	if err := json.Unmarshal([]byte(pod), &object); err != nil {
		t.Fatal(err)
	}
	delete(object.Spec, "nodeName")
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	kubectl(t, string(text), "create", "-n", b.namespace, "-f", "-")
	b.becomes(t, "pod/agent-sandbox-"+name, "Running")
	kubectl(t, "", "annotate", "-n", b.namespace, "pvc", "agent-sandbox-"+name, "--overwrite", "agent-sandbox.dev/starting="+time.Now().UTC().Format(time.RFC3339))
}

// A process that is killed between the creation of a pod and the transfer of the guest leaves a pod in which no command can run.
func Test_A_Pod_Without_A_Guest_Is_Replaced(t *testing.T) {
	t.Parallel()
	b, d := newPersistentBed(t)
	t.Run("by a start", func(t *testing.T) {
		t.Parallel()
		b.abandoned(t, d, "started")
		if err := d.Start(t.Context(), "started", os.Environ()); err != nil {
			t.Fatal(err)
		}
		prints(t, opened(t, d, "started"), "cat f", "host\n")
		if err := d.Start(t.Context(), "started", os.Environ()); sandbox.CodeOf(err) != sandbox.Exists {
			t.Errorf("started twice: %v", err)
		}
	})
	t.Run("after it was opened", func(t *testing.T) {
		t.Parallel()
		b.abandoned(t, d, "opened")
		if _, err := sandbox.Open(t.Context(), d, "opened"); sandbox.CodeOf(err) != sandbox.Closed {
			t.Errorf("got %v, want Closed", err)
		}
		if state, err := d.State(t.Context(), "opened"); err != nil || state.Running {
			t.Errorf("%+v, %v", state, err)
		}
		if err := d.Start(t.Context(), "opened", os.Environ()); err != nil {
			t.Fatal(err)
		}
		prints(t, opened(t, d, "opened"), "cat f", "host\n")
	})
}

// A process that starts a sandbox may be killed before it reports, and the pod may end then.
func Test_Opening_Ends_With_The_Pod_That_A_Killed_Process_Has_Started(t *testing.T) {
	t.Parallel()
	b, d := newPersistentBed(t)
	ctx := t.Context()
	box := create(t, d, persistentSpec("left", t.TempDir()))
	if err := box.Detach(); err != nil {
		t.Fatal(err)
	}
	kubectl(t, "", "annotate", "-n", b.namespace, "pvc", "agent-sandbox-left", "--overwrite", "agent-sandbox.dev/starting="+time.Now().UTC().Format(time.RFC3339))
	opened := make(chan error, 1)
	go func() {
		_, err := sandbox.Open(ctx, d, "left")
		opened <- err
	}()
	kubectl(t, "", "delete", "-n", b.namespace, "pod", "agent-sandbox-left", "--now")
	select {
	case err := <-opened:
		if sandbox.CodeOf(err) != sandbox.Closed {
			t.Errorf("got %v, want Closed", err)
		}
	case <-time.After(deadline.Scale(time.Minute)):
		t.Error("still waiting for a pod that is gone")
	}
}

// running starts a sandbox unless it runs, and opens it. The killed process may have asked the guest to end. The cluster then
// reports the pod as running for another moment, and running starts the sandbox once the pod has ended.
func running(t *testing.T, d *kube.PersistentDriver, name string) *sandbox.Sandbox {
	t.Helper()
	ctx := t.Context()
	err := d.Start(ctx, name, os.Environ())
	// The pod of a killed operation ends after at most 45 s, and on a busy machine later; each start waits for some of that.
	for end := time.Now().Add(deadline.Scale(2 * time.Minute)); sandbox.CodeOf(err) == sandbox.Unavailable && time.Now().Before(end); {
		err = d.Start(ctx, name, os.Environ())
	}
	if sandbox.CodeOf(err) == sandbox.Exists {
		box, err := sandbox.Open(ctx, d, name)
		if err == nil {
			t.Cleanup(func() { _ = box.Detach() })
			return box
		}
		if sandbox.CodeOf(err) != sandbox.Closed {
			t.Fatal(err)
		}
		if err := d.Start(ctx, name, os.Environ()); err != nil {
			t.Fatal(err)
		}
	} else if err != nil {
		t.Fatal(err)
	}
	return opened(t, d, name)
}

// fresh starts the victim's sandbox with files that differ from its snapshot.
func (b bed) fresh(t *testing.T, d *kube.PersistentDriver) {
	t.Helper()
	box := running(t, d, "victim")
	prints(t, box, "for f in f*; do echo b >$f; done", "")
	if err := box.Detach(); err != nil {
		t.Fatal(err)
	}
}

// judge checks the state after an operation was killed.
func (b bed) judge(t *testing.T, d *kube.PersistentDriver, operation, name string) {
	t.Helper()
	ctx := t.Context()
	if operation == "create" || operation == "fork" {
		box, err := sandbox.Open(ctx, d, name)
		switch sandbox.CodeOf(err) {
		case "":
			want := map[string]string{"create": "a", "fork": "b"}[operation]
			prints(t, box, sameFiles, want+" "+strconv.Itoa(files)+"\n")
			if err := box.Close(ctx); err != nil {
				t.Error(err)
			}
		case sandbox.NotFound:
		default:
			t.Error(err)
		}
		return
	}
	box := running(t, d, "victim")
	if operation == "snapshot" {
		list, err := box.Snapshots(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			if s.Name == name {
				if err := box.Restore(ctx, name); err != nil {
					t.Fatal(err)
				}
			}
		}
		prints(t, box, sameFiles, "b "+strconv.Itoa(files)+"\n")
		return
	}
	res, err := box.Run(ctx, sandbox.Cmd{Args: []string{"sh", "-c", sameFiles}})
	if got := string(res.Stdout); err != nil || got != "a 200\n" && got != "b 200\n" {
		t.Errorf("restored: %q, %v", got, err)
	}
}

// settled checks that two concurrent sweeps remove everything left, with creators that reported long ago.
func (b bed) settled(t *testing.T, d *kube.PersistentDriver) {
	t.Helper()
	ctx := t.Context()
	for claim := range strings.FieldsSeq(kubectl(t, "", "get", "pvc", "-n", b.namespace, "-o", "name")) {
		kubectl(t, "", "annotate", "-n", b.namespace, claim, "--overwrite", "agent-sandbox.dev/making=2020-01-01T00:00:00Z")
	}
	other := &kube.PersistentDriver{Inner: kube.New(b.options)}
	ended := make(chan error, 2)
	for _, reaper := range []*kube.PersistentDriver{d, other} {
		go func() {
			_, err := reaper.List(ctx)
			ended <- err
		}()
	}
	if err := errors.Join(<-ended, <-ended); err != nil {
		t.Error(err)
	}
	if err := d.Destroy(ctx, "victim"); err != nil {
		t.Error(err)
	}
	if left := b.left(t); left != "" {
		t.Errorf("left: %s", left)
	}
}
