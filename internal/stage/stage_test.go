//go:build linux

package stage_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/stage"
	"github.com/seed434b0696/agent-sandbox/test/programs"
)

// applyHelper makes the test binary a process that calls Apply and can be killed.
const applyHelper = "STAGE_TEST_APPLY"

var guestProgram string

// TestMain builds the released guest once, in a directory where every user can start it.
func TestMain(m *testing.M) {
	if at := os.Getenv(snapshotHelper); at != "" {
		os.Exit(snapshotAll(at))
	}
	if at := os.Getenv(applyHelper); at != "" {
		os.Exit(applyAll(at))
	}
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "stage-test-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	if err := os.Chmod(dir, 0o755); err != nil {
		panic(err)
	}
	guestProgram = filepath.Join(dir, "sandbox-guest")
	if err := programs.Install(context.Background(), dir, programs.Guest); err != nil {
		panic(err)
	}
	return m.Run()
}

// bench is a workspace, a store outside of it, and a canary that no test may change.
type bench struct {
	*testing.T
	root, work string
	store      *stage.Store
	mechanism  stage.Mechanism
}

// newBench makes a workspace from a script. For copies, the store is on a file system on
// which the kernel mounts no overlay.
func newBench(t *testing.T, script string) *bench {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, root: root, work: filepath.Join(root, "work space"), mechanism: stage.Overlay}
	b.store = &stage.Store{Dir: filepath.Join(root, "state", "stages"), Guest: guestProgram}
	if err := os.Mkdir(b.work, 0o755); err != nil {
		t.Fatal(err)
	}
	b.host(script)
	b.write("../canary", "untouched")
	t.Cleanup(func() {
		if text, err := os.ReadFile(filepath.Join(root, "canary")); err != nil || string(text) != "untouched" {
			t.Errorf("the canary beside the workspace: %q, %v", text, err)
		}
		mounts, err := os.ReadFile("/proc/self/mountinfo")
		if err != nil || strings.Contains(string(mounts), filepath.Base(filepath.Dir(root))) {
			t.Errorf("a mount is left: %v\n%s", err, mounts)
		}
		b.unlock(root)
	})
	return b
}

// unlock makes directories of the kernel removable for t.TempDir of a plain user.
func (b *bench) unlock(root string) {
	stages, err := b.store.List()
	if err != nil {
		b.Error(err)
	}
	for _, s := range stages {
		if err := s.Discard(); err != nil {
			b.Error(err)
		}
	}
	if out, err := exec.Command("chmod", "-R", "u+rwx", root).CombinedOutput(); err != nil { //nolint:noctx // the test's context has ended
		b.Errorf("%v: %s", err, out)
	}
}

// host runs a script in the workspace, outside of any stage.
func (b *bench) host(script string) string {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), "/bin/bash", "-ec", script)
	cmd.Dir = b.work
	cmd.Env = scriptEnv(b.root)
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

func scriptEnv(home string) []string {
	return []string{
		"PATH=/usr/bin:/bin:/usr/sbin", "HOME=" + home, "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}
}

func (b *bench) write(path, text string) {
	b.Helper()
	if err := os.WriteFile(filepath.Join(b.work, path), []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) read(path string) string {
	b.Helper()
	text, err := os.ReadFile(filepath.Join(b.work, path))
	if errors.Is(err, os.ErrNotExist) {
		return "(none)"
	}
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}

func (b *bench) create(name string) *stage.Stage {
	b.Helper()
	s, err := b.store.Create(b.work, name)
	if err != nil {
		b.Fatal(err)
	}
	if s.Kind != b.mechanism && b.mechanism == stage.Overlay {
		b.Fatalf("the stage is a %s (%s), not an overlay", s.Kind, s.Reason)
	}
	return s
}

// inside runs a script on the stage, in a real sandbox like that of the driver.
func (b *bench) inside(s *stage.Stage, script string) string {
	b.Helper()
	use, err := s.Use([]string{"bash", "-c", script})
	if err != nil {
		b.Fatal(err)
	}
	defer use.Close()
	w := use.Command(guestProgram)
	cmd := exec.CommandContext(b.Context(), w.Path)
	cmd.Args = append(w.Args, "/usr/bin/bwrap", "--unshare-user", "--unshare-pid", "--unshare-net", "--disable-userns", "--cap-drop", "ALL",
		"--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", b.work, b.work, "--chdir", b.work,
		"--", "/bin/bash", "-ec", script)
	cmd.SysProcAttr, cmd.Env = w.Attr, scriptEnv("/")
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("inside: %s: %v\n%s", script, err, out)
	}
	return string(out)
}

func (b *bench) diff(s *stage.Stage) []stage.Change {
	b.Helper()
	changes, err := s.Diff()
	if err != nil {
		b.Fatal(err)
	}
	return changes
}

// summary returns one line for each change: "created a", "modified b !conflict".
func summary(changes []stage.Change) []string {
	out := []string{}
	for _, c := range changes {
		line := string(c.Kind) + " " + c.Path
		if c.Conflict != "" {
			line += " !conflict"
		}
		if c.Never != "" {
			line += " !never"
		}
		out = append(out, line)
	}
	return out
}

func (b *bench) wantDiff(s *stage.Stage, want ...string) {
	b.Helper()
	if got := summary(b.diff(s)); !slices.Equal(got, want) {
		b.Errorf("diff %q\nwant %q", got, want)
	}
}

func (b *bench) apply(s *stage.Stage, options stage.ApplyOptions) stage.Result {
	b.Helper()
	r, err := s.Apply(options)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// applyClean applies all changes and checks that none is left.
func (b *bench) applyClean(s *stage.Stage) {
	b.Helper()
	if r := b.apply(s, stage.ApplyOptions{}); len(r.Skipped) > 0 {
		b.Errorf("skipped %+v", r.Skipped)
	}
	b.wantDiff(s)
}

// listing describes a tree in full: names, types, modes, link counts, targets and contents.
const listing = `find . -mindepth 1 -printf '%P %y %m %l\n' | LC_ALL=C sort; find . -type f -print0 | LC_ALL=C sort -z | xargs -0r sha256sum`

// compare runs the script on a stage and on a copy of the workspace, applies the stage, and
// checks that the trees are equal: in the view, in the copy, and after the apply in the
// workspace.
func (b *bench) compare(setup, script string) {
	b.Helper()
	before := b.host(listing)
	twin := b.twin(setup)
	twin.host(script)
	want := twin.host(listing)
	s := b.create("")
	b.inside(s, script)
	if got := b.inside(s, listing); got != want {
		b.Errorf("the view\n%s\nwant\n%s", got, want)
	}
	if got := b.host(listing); got != before {
		b.Errorf("before apply the workspace is\n%s\nwant\n%s", got, before)
	}
	b.applyClean(s)
	if got := b.host(listing); got != want {
		b.Errorf("after apply\n%s\nwant\n%s", got, want)
	}
	if got := b.inside(s, listing); got != want {
		b.Errorf("the view after apply\n%s\nwant\n%s", got, want)
	}
}

func (b *bench) twin(setup string) *bench {
	b.Helper()
	twin := *b
	twin.work = b.root + "/twin"
	if err := os.MkdirAll(twin.work, 0o755); err != nil {
		b.Fatal(err)
	}
	twin.host(setup)
	return &twin
}

func (b *bench) patch(s *stage.Stage) []byte {
	b.Helper()
	var out bytes.Buffer
	if err := s.WritePatch(&out, b.diff(s)); err != nil {
		b.Fatal(err)
	}
	return out.Bytes()
}
