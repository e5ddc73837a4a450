//go:build linux

package stage_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/stage"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func wantCode(t *testing.T, err error, code sandbox.Code, text string) {
	t.Helper()
	if sandbox.CodeOf(err) != code || err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("%v, want %s with %q", err, code, text)
	}
}

func Test_A_Store_Rejects_Invalid_Workspaces(t *testing.T) {
	t.Parallel()
	b := newBench(t, `echo 1 >f; mkdir d`)
	for _, name := range []string{"..", "a/b", "-x", ".hidden", strings.Repeat("a", 65), "a\nb"} {
		_, err := b.store.Create(b.work, name)
		wantCode(t, err, sandbox.Invalid, "name")
	}
	_, err := b.store.Create(filepath.Join(b.work, "f"), "")
	wantCode(t, err, sandbox.Invalid, "cannot be staged")
	_, err = b.store.Create("/", "")
	wantCode(t, err, sandbox.Invalid, "cannot be staged")
	_, err = b.store.Create(filepath.Join(b.work, "missing"), "")
	wantCode(t, err, sandbox.NotFound, "missing")
	_, err = b.store.Create("relative", "")
	wantCode(t, err, sandbox.Invalid, "absolute")
	_, err = b.store.Create("/proc", "")
	if err == nil {
		t.Error("/proc was staged")
	}
	_, err = b.store.Open(b.work, "")
	wantCode(t, err, sandbox.NotFound, "no stage")
	for _, dir := range []string{b.work, filepath.Join(b.work, "d", "x", "y")} {
		inner := &stage.Store{Dir: dir, Guest: guestProgram}
		_, err = inner.Create(b.work, "")
		wantCode(t, err, sandbox.Invalid, "contain one another")
	}
	if _, err := os.Lstat(filepath.Join(b.work, "d", "x")); err == nil {
		t.Error("a refused store was made in the workspace")
	}
	_, err = b.store.Create(b.root, "")
	wantCode(t, err, sandbox.Invalid, "contain one another")
	b.create("")
	_, err = b.store.Create(b.work, "")
	wantCode(t, err, sandbox.Exists, "default")
	open := &stage.Store{Dir: b.root, Guest: guestProgram}
	if err := os.Chmod(b.root, 0o777); err != nil {
		t.Fatal(err)
	}
	_, err = open.Create(os.TempDir()+"/..", "")
	wantCode(t, err, sandbox.Invalid, "")
	other := t.TempDir()
	_, err = open.Create(other, "")
	wantCode(t, err, sandbox.Denied, "that only you can access")
}

func Test_The_Error_Of_A_Stage_In_Use_Names_The_Process(t *testing.T) {
	t.Parallel()
	b := newBench(t, `echo 1 >f`)
	s := b.create("")
	b.inside(s, `echo 2 >f`)
	use, err := s.Use([]string{"npm", "install\x1b[2J"})
	if err != nil {
		t.Fatal(err)
	}
	other, err := b.store.Open(b.work, "")
	if err != nil {
		t.Fatal(err)
	}
	if h, ok := other.Holder(); !ok || h.PID != os.Getpid() {
		t.Errorf("holder %+v, %t", h, ok)
	}
	_, err = other.Apply(stage.ApplyOptions{})
	wantCode(t, err, sandbox.Denied, `npm install`)
	wantCode(t, other.Discard(), sandbox.Denied, `npm install\x1b[2J`)
	_, err = other.Use(nil)
	wantCode(t, err, sandbox.Denied, "in use by process")
	if _, err := other.Diff(); err != nil {
		t.Errorf("a look while it is in use: %v", err)
	}
	for range 2 {
		if err := use.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if h, ok := other.Holder(); ok {
		t.Errorf("still held by %+v", h)
	}
	b.applyClean(s)
}

func Test_A_Child_Keeps_A_Stage_In_Use_After_Its_Parent_Ended(t *testing.T) {
	// Not in parallel: a program that another test is starting would hold the lock, too.
	b := newBench(t, ``)
	s := b.create("")
	use, err := s.Use(nil)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", "echo; read x")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.ExtraFiles = []*os.File{use.File()}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := use.File().Close(); err != nil { // like a kill of this process
		t.Fatal(err)
	}
	wantCode(t, s.Discard(), sandbox.Denied, "in use")
	_ = in.Close()
	_ = cmd.Wait()
	if err := s.Discard(); err != nil {
		t.Error(err)
	}
}

func Test_A_Discarded_Stage_Does_Not_Exist_For_Any_Process(t *testing.T) {
	t.Parallel()
	b := newBench(t, `mkdir d; echo 1 >d/f`)
	s := b.create("")
	other, err := b.store.Open(b.work, "")
	if err != nil {
		t.Fatal(err)
	}
	b.inside(s, `mkdir -p a/b; echo x >a/b/c; chmod 000 a/b; rm -r d; mkdir d; chmod 555 d`)
	if err := s.Discard(); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Diff(); sandbox.CodeOf(err) != sandbox.NotFound {
		t.Errorf("diff: %v", err)
	}
	if _, err := other.Apply(stage.ApplyOptions{}); sandbox.CodeOf(err) != sandbox.NotFound {
		t.Errorf("apply: %v", err)
	}
	if entries, err := os.ReadDir(b.store.Dir); err != nil || len(entries) > 0 {
		t.Errorf("left in the store: %v %v", entries, err)
	}
	if b.read("d/f") != "1\n" {
		t.Error("the workspace was touched")
	}
	b.create("")
}

func Test_A_Sweep_Removes_Remains_Of_A_Killed_Create_Or_Discard(t *testing.T) {
	t.Parallel()
	b := newBench(t, ``)
	left := filepath.Join(b.store.Dir, ".gone-x")
	if err := os.MkdirAll(filepath.Join(left, "upper", "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(left, "lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.create("")
	if _, err := os.Lstat(left); err == nil {
		t.Error("it is still there")
	}
}

func Test_An_Exchanged_Workspace_Is_Left_Alone(t *testing.T) {
	t.Parallel()
	b := newBench(t, `echo 1 >f`)
	s := b.create("")
	b.inside(s, `echo 2 >f`)
	b.host(`mv "$PWD" "$PWD.old"; mkdir "$PWD"; echo 3 >"$PWD/f"`)
	_, err := s.Apply(stage.ApplyOptions{Force: true})
	wantCode(t, err, sandbox.Denied, "another directory")
	_, err = s.Use(nil)
	wantCode(t, err, sandbox.Denied, "another directory")
	if b.read("f") != "3\n" {
		t.Error("it was changed")
	}
}

func Test_An_Interrupted_Apply_Has_To_End_First(t *testing.T) {
	t.Parallel()
	b := newBench(t, `echo 1 >f`)
	s := b.create("")
	b.inside(s, `echo 2 >f`)
	dirs, err := filepath.Glob(b.store.Dir + "/*-default")
	if err != nil || len(dirs) != 1 {
		t.Fatal(dirs, err)
	}
	journal := filepath.Join(dirs[0], "journal.json")
	if err := os.WriteFile(journal, []byte(`{"operations":[{"step":"put","path":"\"f\"","pre":{"i":1}}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = s.Use(nil)
	wantCode(t, err, sandbox.Denied, "interrupted")
	// The entries in the workspace differ from those in the journal: a conflict, not an
	// overwrite.
	r := b.apply(s, stage.ApplyOptions{Paths: []string{"f"}})
	if len(r.Finished) > 0 || b.read("f") != "2\n" {
		t.Errorf("%+v", r)
	}
	if _, err := os.Lstat(journal); err == nil {
		t.Error("the journal is still there")
	}
}

func Test_Stages_Are_Listed_In_Order(t *testing.T) {
	t.Parallel()
	b := newBench(t, ``)
	for _, name := range []string{"b", "a", "c"} {
		b.create(name)
	}
	stages, err := b.store.List()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range stages {
		names = append(names, s.Name)
	}
	if strings.Join(names, "") != "abc" || stages[0].Workspace != b.work {
		t.Errorf("%q in %s", names, stages[0].Workspace)
	}
}
