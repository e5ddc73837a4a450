package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/seed434b0696/agent-sandbox/internal/guest/guesttest"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// running is a process on this host. Package files behaves the same in every sandbox that
// can start processes.
type running struct{ cmd *exec.Cmd }

func (r running) Wait() (sandbox.Exit, error) {
	err := r.cmd.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return sandbox.Exit{Code: exit.ExitCode()}, nil
	}
	return sandbox.Exit{}, err
}

func (r running) Signal(s os.Signal) error { return r.cmd.Process.Signal(s) }

// startHere starts program in dir with the arguments that the client gives.
func startHere(program []string, dir string) StartFunc {
	return func(ctx context.Context, c sandbox.Cmd, stdio sandbox.Stdio) (sandbox.Process, error) {
		args := append(append([]string{}, program...), c.Args[1:]...)
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, stdio.Stdin, stdio.Stdout, stdio.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // the whole tree, as Start promises
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		return running{cmd}, nil
	}
}

func newTestFiles(t *testing.T) (sandbox.Files, string) {
	t.Helper()
	dir := t.TempDir()
	return New(startHere([]string{guesttest.Program(t)}, dir)), dir
}

func create(t *testing.T, f sandbox.Files, name, text string) {
	t.Helper()
	if err := f.Create(t.Context(), name, 0o644, strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, f sandbox.Files, name string) string {
	t.Helper()
	r, err := f.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func Test_Files_Keep_Every_Byte(t *testing.T) {
	f, _ := newTestFiles(t)
	big := bytes.Repeat([]byte{0, 1, 2, 0xff, '\n', '\r'}, 700_001)
	for _, name := range []string{"plain", "a b\n\t%", "-rf", "invalid-\xff\xfe-utf8", strings.Repeat("n", 255), "sub/../file"} {
		t.Run(fmt.Sprintf("%.20q", name), func(t *testing.T) {
			if strings.HasPrefix(name, "sub") {
				create(t, f, "other", "x")
				name = "./file"
			}
			if err := f.Create(t.Context(), name, 0o640, bytes.NewReader(big)); err != nil {
				t.Fatal(err)
			}
			if got := read(t, f, name); got != string(big) {
				t.Errorf("%d bytes came back, want %d", len(got), len(big))
			}
			info, err := f.Stat(t.Context(), name)
			if err != nil || info.Name != filepath.Base(name) || info.Size != int64(len(big)) || info.Mode != 0o640 || info.Time.IsZero() {
				t.Errorf("%+v, %v", info, err)
			}
		})
	}
	create(t, f, "empty", "")
	if got := read(t, f, "empty"); got != "" {
		t.Errorf("the empty file has %q", got)
	}
}

func Test_Files_List_Sorted_With_Exact_Names(t *testing.T) {
	f, dir := newTestFiles(t)
	for _, name := range []string{"b", "a", "\xff", "c\nd", `{"name":"x"}`} {
		guesttest.WriteFile(t, dir, name, name)
	}
	if err := os.Symlink("target\xfe", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	infos, err := f.List(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range infos {
		got = append(got, i.Name+"→"+i.Target)
	}
	want := "a→,b→,c\nd→,link→target\xfe,{\"name\":\"x\"}→,\xff→"
	if strings.Join(got, ",") != want {
		t.Errorf("%q, want %q", strings.Join(got, ","), want)
	}
	if infos, err := f.List(t.Context(), mkdir(t, dir, "none")); err != nil || len(infos) != 0 {
		t.Errorf("empty directory: %v, %v", infos, err)
	}
}

func mkdir(t *testing.T, dir, name string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

func Test_Files_Errors_Have_Codes(t *testing.T) {
	f, dir := newTestFiles(t)
	guesttest.WriteFile(t, dir, "file", "x")
	mkdir(t, dir, "full/sub")
	for from, to := range map[string]string{"loop": "loop", "dangling": "nothing"} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	ctx := t.Context()
	open := func(name string) error { _, err := f.Open(ctx, name); return err }
	stat := func(name string) error { _, err := f.Stat(ctx, name); return err }
	list := func(name string) error { _, err := f.List(ctx, name); return err }
	put := func(name string) error { return f.Create(ctx, name, 0o644, strings.NewReader("y")) }
	for _, row := range []struct {
		name string
		err  error
		want sandbox.Code
	}{
		{"open what is missing", open("none"), sandbox.NotFound},
		{"open a directory", open("full"), sandbox.Invalid},
		{"open a loop of links", open("loop"), sandbox.Invalid},
		{"open a dangling link", open("dangling"), sandbox.NotFound},
		{"open a device", open("/dev/null"), sandbox.Invalid},
		{"open below a file", open("file/x"), sandbox.Invalid},
		{"open nothing", open(""), sandbox.Invalid},
		{"open a name with a NUL", open("a\x00b"), sandbox.Invalid},
		{"open a name that is too long", open(strings.Repeat("x", 300)), sandbox.Invalid},
		{"open a path that is too long", open(strings.Repeat("x/", 3000)), sandbox.Invalid},
		{"stat what is missing", stat("none"), sandbox.NotFound},
		{"stat a dangling link", stat("dangling"), ""},
		{"list what is missing", list("none"), sandbox.NotFound},
		{"list a file", list("file"), sandbox.Invalid},
		{"create in what is missing", put("none/x"), sandbox.NotFound},
		{"create over a directory", put("full"), sandbox.Exists},
		{"create in a read-only place", put("/proc/x"), sandbox.NotFound},
		{"remove what is missing", f.Remove(ctx, "none"), sandbox.NotFound},
		{"remove the root", f.Remove(ctx, "/"), sandbox.Invalid},
		{"remove the root with dots", f.Remove(ctx, "/tmp/../.."), sandbox.Invalid},
		{"rename what is missing", f.Rename(ctx, "none", "other"), sandbox.NotFound},
		{"rename over a full directory", f.Rename(ctx, mkdir(t, dir, "dir"), "full"), sandbox.Exists},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := sandbox.CodeOf(row.err); got != row.want {
				t.Errorf("code %q (%v), want %q", got, row.err, row.want)
			}
			if row.want == sandbox.NotFound && !errors.Is(row.err, fs.ErrNotExist) {
				t.Errorf("%v is not fs.ErrNotExist", row.err)
			}
		})
	}
	if got := guesttest.Entries(t, filepath.Join(dir, "full")); got != "sub" {
		t.Errorf("failed operations left %q", got)
	}
}

func Test_Files_Remove_And_Rename(t *testing.T) {
	f, dir := newTestFiles(t)
	guesttest.WriteFile(t, dir, "tree/a/b", "x")
	guesttest.WriteFile(t, dir, "keep/file", "kept")
	if err := os.Symlink(filepath.Join(dir, "keep"), filepath.Join(dir, "tree/link")); err != nil {
		t.Fatal(err)
	}
	if err := f.Rename(t.Context(), "tree", "moved"); err != nil {
		t.Fatal(err)
	}
	if err := f.Remove(t.Context(), "moved"); err != nil {
		t.Fatal(err)
	}
	if got := guesttest.Entries(t, dir); got != "keep" {
		t.Errorf("left are %q", got)
	}
	if got := read(t, f, "keep/file"); got != "kept" {
		t.Errorf("removing a link removed what it leads to: %q", got)
	}
}

func Test_Files_Create_Replaces_A_Link_And_Not_Its_Target(t *testing.T) {
	f, dir := newTestFiles(t)
	guesttest.WriteFile(t, dir, "target", "old")
	if err := os.Symlink("target", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	create(t, f, "link", "new")
	if got := read(t, f, "target") + " " + read(t, f, "link"); got != "old new" {
		t.Errorf("%q", got)
	}
	if info, err := f.Stat(t.Context(), "link"); err != nil || !info.Mode.IsRegular() {
		t.Errorf("%+v, %v", info, err)
	}
}

func Test_Files_Create_Is_All_Or_Nothing(t *testing.T) {
	f, dir := newTestFiles(t)
	guesttest.WriteFile(t, dir, "file", "old")
	failure := errors.New("the source broke")
	half := io.MultiReader(strings.NewReader(strings.Repeat("x", 100_000)), iotest.ErrReader(failure))
	if err := f.Create(t.Context(), "file", 0o644, half); !errors.Is(err, failure) {
		t.Errorf("%v, want the source's error", err)
	}
	// The caller abandons a source, and the guest is killed while it waits.
	ctx, cancel := context.WithCancel(t.Context())
	pr, pw := io.Pipe()
	done := make(chan error)
	go func() { done <- f.Create(ctx, "file", 0o644, pr) }()
	if _, err := pw.Write(make([]byte, 100_000)); err != nil {
		t.Fatal(err)
	}
	cancel()
	_ = pw.CloseWithError(context.Canceled)
	if err := <-done; err == nil {
		t.Error("a canceled Create succeeded")
	}
	if got := read(t, f, "file"); got != "old" {
		t.Errorf("the file has %.20q", got)
	}
	if got := guesttest.Entries(t, dir); got != "file" {
		t.Errorf("left are %q", got)
	}
}

func Test_Files_Open_Is_Closed_Early(t *testing.T) {
	f, dir := newTestFiles(t)
	guesttest.WriteFile(t, dir, "big", strings.Repeat("x", 10<<20))
	r, err := f.Open(t.Context(), "big")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); sandbox.CodeOf(err) != sandbox.Canceled {
		t.Errorf("Close before the end: %v", err)
	}
	if r, err = f.Open(t.Context(), "big"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(r, make([]byte, 10<<20)); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("Close after the last byte: %v", err)
	}
}
