package virtual_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/backend/virtual"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// persistentBox creates a sandbox over work that saves its files in state.
func persistentBox(t *testing.T, work, state string) *sandbox.Sandbox {
	t.Helper()
	box, err := sandbox.Create(t.Context(), virtual.New(virtual.Options{}), sandbox.Spec{Workspace: work, Home: "/home/u", State: state})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Close(context.Background()) })
	return box
}

func script(t *testing.T, box *sandbox.Sandbox, text string) string {
	t.Helper()
	res, err := box.Run(t.Context(), sandbox.Cmd{Args: []string{"bash", "-ec", text}})
	if err != nil || res.Code != 0 {
		t.Fatalf("%s: %+v, %v", text, res, err)
	}
	return string(res.Stdout)
}

func peopled(t *testing.T) string {
	t.Helper()
	work := t.TempDir()
	for name, text := range map[string]string{"f": "one\n", "big": strings.Repeat("0123456789abcdef", 20_000), "d/in": "in\n", "gone/x": "x\n", "mode": "m\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(work, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return work
}

const (
	stateWork = `echo two >f; printf X | dd of=big bs=1 seek=100000 conv=notrunc 2>/dev/null; rm -r gone; mkdir -p new/deep empty; echo n >new/deep/n
		ln new/deep/n new/hard; ln -s ../f new/link; chmod 600 mode; mv d moved; echo t >/tmp/t; mkdir /tmp/dir; echo h >~/h; rm -rf /tmp/none`
	stateLook = `pwd; cat f; cmp big <(head -c 100000 big; printf X; tail -c +100002 big); head -c 100001 big | tail -c 1; find . -type f -printf '%P %m %n\n' | sort
		cat new/deep/n new/hard new/link moved/in /tmp/t ~/h; readlink new/link; ls -A . /tmp; test new/deep/n -ef new/hard; test -d empty; ! test -e gone`
)

func Test_Files_In_Memory_Outlive_The_Sandbox(t *testing.T) {
	t.Parallel()
	work, state := peopled(t), filepath.Join(t.TempDir(), "state")
	box := persistentBox(t, work, state)
	script(t, box, stateWork)
	want := script(t, box, stateLook)

	// Copy the files on disk, which is all that a kill would leave.
	copied := filepath.Join(t.TempDir(), "killed")
	if out, err := exec.CommandContext(t.Context(), "cp", "-r", state, copied).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := script(t, persistentBox(t, work, copied), stateLook); got != want {
		t.Errorf("after a kill\n%s\nwant\n%s", got, want)
	}
	if _, err := sandbox.Create(t.Context(), virtual.New(virtual.Options{}), sandbox.Spec{Workspace: work, State: state}); sandbox.CodeOf(err) != sandbox.Exists {
		t.Errorf("two at once: %v", err)
	}
	if err := box.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := persistentBox(t, work, state)
	if got := script(t, again, stateLook); got != want {
		t.Errorf("again\n%s\nwant\n%s", got, want)
	}
	script(t, again, `rm -r new; echo three >f`)
	if err := again.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := script(t, persistentBox(t, work, state), `cat f; test ! -e new`); got != "three\n" {
		t.Errorf("%q", got)
	}
	if text, err := os.ReadFile(filepath.Join(work, "f")); err != nil || string(text) != "one\n" {
		t.Errorf("the workspace was touched: %q, %v", text, err)
	}
}

func Test_A_File_Changed_On_The_Host_After_It_Was_Saved_Is_A_Conflict(t *testing.T) {
	t.Parallel()
	work, state := peopled(t), filepath.Join(t.TempDir(), "state")
	box := persistentBox(t, work, state)
	script(t, box, `echo inside >f; echo inside >d/in; echo new >new`)
	if err := box.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work, "f"), []byte("outside, and longer\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	box = persistentBox(t, work, state)
	w, _ := sandbox.As[virtual.Workspace](box.Unwrap())
	done, err := w.Apply(t.Context(), virtual.ApplyOptions{})
	if err != nil || len(done.Changes) != 2 || len(done.Skipped) != 1 || done.Skipped[0].Path != work+"/f" || done.Skipped[0].Reason != "conflict" {
		t.Errorf("%+v, %v", done, err)
	}
	if got := script(t, box, "cat f d/in new"); got != "inside\ninside\nnew\n" {
		t.Errorf("%q", got)
	}
	if err := box.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	box = persistentBox(t, work, state)
	w, _ = sandbox.As[virtual.Workspace](box.Unwrap())
	if list, err := w.Changes(); err != nil || len(list) != 1 || list[0].Path != work+"/f" {
		t.Errorf("%+v, %v", list, err)
	}
	if done, err := w.Apply(t.Context(), virtual.ApplyOptions{}); err != nil || len(done.Skipped) != 1 {
		t.Errorf("%+v, %v", done, err)
	}
}

func Test_Snapshots_In_Memory_Are_Whole(t *testing.T) {
	t.Parallel()
	for _, persistent := range []bool{false, true} {
		work, state := peopled(t), ""
		if persistent {
			state = filepath.Join(t.TempDir(), "state")
		}
		box := persistentBox(t, work, state)
		script(t, box, stateWork)
		want := script(t, box, stateLook)
		if err := box.Snapshot(t.Context(), "one"); err != nil {
			t.Fatal(err)
		}
		script(t, box, `rm -rf ./* /tmp/t /tmp/dir ~/h; mkdir f; echo other >/tmp/other`)
		for range 2 {
			if err := box.Restore(t.Context(), "one"); err != nil {
				t.Fatal(err)
			}
			if got := script(t, box, stateLook); got != want {
				t.Errorf("persistent %t\n%s\nwant\n%s", persistent, got, want)
			}
			script(t, box, `rm -rf new; echo x >f; mv /tmp/t /tmp/u`)
		}
		keeper, ok := sandbox.As[sandbox.StateKeeper](box.Unwrap())
		fork := t.TempDir()
		if !ok {
			t.Fatal("no state")
		}
		if err := keeper.SaveState(t.Context(), fork, "one"); err != nil {
			t.Fatal(err)
		}
		if got := script(t, persistentBox(t, work, fork), stateLook); got != want {
			t.Errorf("forked\n%s\nwant\n%s", got, want)
		}
	}
}

func Test_Damaged_Files_Are_An_Error(t *testing.T) {
	t.Parallel()
	work, state := peopled(t), t.TempDir()
	if err := os.WriteFile(filepath.Join(state, "begin.pack"), []byte("vfspack 1\nnonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := sandbox.Create(t.Context(), virtual.New(virtual.Options{}), sandbox.Spec{Workspace: work, State: state})
	if sandbox.CodeOf(err) != sandbox.Internal || !strings.Contains(err.Error(), "saved files") {
		t.Errorf("%v", err)
	}
}
