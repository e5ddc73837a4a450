package hostdir_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/hostdir"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
	"github.com/seed434b0696/agent-sandbox/test/rounds"
)

// applyHelper makes the test's program apply in the directory, with the journal behind it.
const applyHelper = "HOSTDIR_TEST_APPLY"

func TestMain(m *testing.M) {
	if dir, journal, ok := strings.Cut(os.Getenv(applyHelper), "::"); ok {
		if err := applyAll(dir, journal); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const killFiles = 60

// before makes the directory that Apply changes.
func before(t *testing.T, dir string) {
	t.Helper()
	for _, d := range []string{"mod", "del/a/b", "re", "todir"} {
		must(t, os.MkdirAll(filepath.Join(dir, d), 0o755))
	}
	for i := range killFiles {
		must(t,
			os.WriteFile(filepath.Join(dir, fmt.Sprint("mod/", i)), fmt.Appendf(nil, "old%d", i), 0o644),
			os.WriteFile(filepath.Join(dir, fmt.Sprint("del/a/b/", i)), []byte("gone"), 0o644),
			os.WriteFile(filepath.Join(dir, fmt.Sprint("re/", i)), []byte("in"), 0o644),
		)
	}
	must(t,
		os.WriteFile(filepath.Join(dir, "tofile"), []byte("f"), 0o644), os.WriteFile(filepath.Join(dir, "todir/x"), []byte("x"), 0o644),
		os.WriteFile(filepath.Join(dir, "big"), []byte(strings.Repeat("o", 1<<20)), 0o644), os.Symlink("old", filepath.Join(dir, "link")),
		os.WriteFile(filepath.Join(dir, "mode"), []byte("mode"), 0o644),
	)
}

// applyAll changes something of each kind in memory, and applies it.
func applyAll(dir, journal string) error {
	f := vfs.New(unlimited)
	if err := f.Mkdir(root, "/proj", 0o755); err != nil {
		return err
	}
	m, err := hostdir.Attach(f, "/proj", dir, hostdir.Options{Journal: journal})
	if err != nil {
		return err
	}
	defer m.Close()
	file := func(path, text string) error {
		return f.WriteFile(context.Background(), root, "/proj/"+path, []byte(text), 0o644)
	}
	errs := []error{f.RemoveAll(root, "/proj/del"), f.MkdirAll(root, "/proj/new/deep", 0o755)}
	for i := range killFiles {
		errs = append(errs, file(fmt.Sprint("mod/", i), fmt.Sprint("new", i)), f.Unlink(root, fmt.Sprint("/proj/re/", i)), file(fmt.Sprint("new/deep/", i), "n"))
	}
	errs = append(errs,
		f.Unlink(root, "/proj/tofile"), f.Mkdir(root, "/proj/tofile", 0o755), file("tofile/g", "in"), f.RemoveAll(root, "/proj/todir"), file("todir", "file"),
		file("big", strings.Repeat("n", 1<<20)), f.Unlink(root, "/proj/link"), f.Symlink(root, "new", "/proj/link"), f.Chmod(root, "/proj/mode", 0o600),
		f.Chmod(root, "/proj/mod", 0o750), f.Chmod(root, "/proj/new", 0o711),
	)
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	r, err := m.Apply(context.Background(), hostdir.ApplyOptions{})
	if err == nil && len(r.Skipped) > 0 {
		err = fmt.Errorf("skipped %+v", r.Skipped)
	}
	return err
}

// whole wants each file to have its old content or its new one; done wants the new one.
func whole(t *testing.T, dir string, done bool) {
	t.Helper()
	one := func(path, old, now string) {
		t.Helper()
		got := "(none)"
		if data, err := os.ReadFile(filepath.Join(dir, path)); err == nil {
			got = string(data)
		}
		if got != now && (done || got != old) {
			t.Errorf("%s is %.40q (%d bytes)", path, got, len(got))
		}
	}
	for i := range killFiles {
		one(fmt.Sprint("mod/", i), fmt.Sprint("old", i), fmt.Sprint("new", i))
		one(fmt.Sprint("del/a/b/", i), "gone", "(none)")
		one(fmt.Sprint("re/", i), "in", "(none)")
		one(fmt.Sprint("new/deep/", i), "(none)", "n")
	}
	one("big", strings.Repeat("o", 1<<20), strings.Repeat("n", 1<<20))
	if target, err := os.Readlink(filepath.Join(dir, "link")); err != nil || target != "new" && (done || target != "old") {
		t.Errorf("link to %q, %v", target, err)
	}
	if !done {
		return
	}
	one("tofile/g", "", "in")
	one("todir", "", "file")
	for name, mode := range map[string]fs.FileMode{"mode": 0o600, "mod": 0o750 | fs.ModeDir, "new": 0o711 | fs.ModeDir} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	for _, left := range []string{filepath.Join(dir, ".agent-sandbox-apply-*"), filepath.Join(dir, "..", "journal", "*")} {
		if found, _ := filepath.Glob(left); len(found) > 0 {
			t.Errorf("left behind: %q", found)
		}
	}
}

// Test_Apply_Survives_Being_Killed_At_Any_Moment kills Apply at random moments and looks at every file each
// time; then the next Apply, of a tree without changes, has to finish.
func Test_Apply_Survives_Being_Killed_At_Any_Moment(t *testing.T) {
	t.Parallel()
	kills, pending := 0, 0
	_, _, longest := killRound(t, time.Hour) // it ends by itself
	for round := 0; kills < rounds.Of(6) || pending < rounds.Of(2); round++ {
		if round > rounds.Of(200) {
			t.Fatalf("only %d kills, %d in the middle", kills, pending)
		}
		after := time.Duration(rand.Int64N(int64(longest))) //nolint:gosec // a moment, not a secret
		if round%4 != 0 {
			after = (longest + after) / 2 // the process starts first
		}
		k, p, took := killRound(t, after)
		kills, pending = kills+k, pending+p
		if k == 0 && took < longest {
			longest = took
		}
	}
	t.Logf("%d kills, %d of them in the middle", kills, pending)
}

func killRound(t *testing.T, after time.Duration) (kills, pending int, took time.Duration) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "proj")
	journal := filepath.Join(dir, "..", "journal")
	before(t, dir)
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), applyHelper+"="+dir+"::"+journal, "GORACE=atexit_sleep_ms=0")
	begin := time.Now()
	must(t, cmd.Start())
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	timer.Stop()
	if err != nil && cmd.ProcessState.ExitCode() >= 0 {
		t.Fatal("an apply ended with", err)
	}
	whole(t, dir, err == nil)
	if err == nil {
		return 0, 0, time.Since(begin)
	}
	notes, _ := filepath.Glob(filepath.Join(journal, "*.json"))
	for _, n := range notes {
		if data, _ := os.ReadFile(n); strings.Contains(string(data), `"steps"`) {
			pending++
		}
	}
	finished := applyNothing(t, dir, journal)
	if pending > 0 != slices.Contains(finished, "mod/7") {
		t.Errorf("finished %q", finished)
	}
	if pending > 0 {
		whole(t, dir, true)
	}
	for _, pattern := range []string{filepath.Join(dir, ".agent-sandbox-apply-*"), filepath.Join(journal, "*")} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			t.Errorf("left behind: %q", found)
		}
	}
	if again := applyNothing(t, dir, journal); len(again) > 0 {
		t.Errorf("finished again: %q", again)
	}
	return 1, pending, 0
}

// applyNothing applies a tree without changes.
func applyNothing(t *testing.T, dir, journal string) []string {
	t.Helper()
	f := vfs.New(unlimited)
	must(t, f.Mkdir(root, "/proj", 0o755))
	m, err := hostdir.Attach(f, "/proj", dir, hostdir.Options{Journal: journal})
	must(t, err)
	defer m.Close()
	r, err := m.Apply(t.Context(), hostdir.ApplyOptions{})
	must(t, err)
	return r.Finished
}
