//go:build linux

package docker

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/moby/moby/client"

	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// containerOf decides about a sandbox for a workspace of the test's.
func containerOf(t *testing.T) *prepared {
	t.Helper()
	d := New(Options{Env: os.Environ(), DataDir: filepath.Join(t.TempDir(), strings.Repeat("deep/", 20)), Image: "debian:bookworm-slim"})
	p, err := d.prepare(t.Context(), sandbox.Spec{Workspace: t.TempDir(), Env: os.Environ()})
	if sandbox.CodeOf(err) == sandbox.Unavailable && !slices.Contains(strings.Split(os.Getenv("SANDBOX_REQUIRE"), ","), "docker") {
		t.Skipf("not available: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// said starts the sandbox, runs a script in it, and returns what that writes.
func said(t *testing.T, p *prepared, script string) string {
	t.Helper()
	i, err := p.start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := i.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	if left, err := os.ReadDir(p.driver.dir(doors)); len(left) > 0 || err != nil && !os.IsNotExist(err) {
		t.Errorf("the host's end of the door is still there: %v, %v", left, err)
	}
	var out bytes.Buffer
	run, err := i.Start(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", script}}, sandbox.Stdio{Stdout: &out, Stderr: &out})
	if err != nil {
		t.Fatal(err)
	}
	if exit, err := run.Wait(); err != nil || exit.Code != 0 {
		t.Errorf("%v, %v: %s", exit, err, out.String())
	}
	return out.String()
}

func Test_A_Door_Is_Shut_When_Commands_Run(t *testing.T) {
	p := containerOf(t)
	const knock = `use Socket; socket(my $s, AF_UNIX, SOCK_STREAM, 0); print connect($s, sockaddr_un($ARGV[0])) ? "open" : "shut: $!"`
	got := said(t, p, "test -S "+layout.SessionSocket+" && echo stands; rm "+layout.SessionSocket+" 2>/dev/null && echo removed; perl -e '"+knock+"' "+layout.SessionSocket)
	if !strings.HasPrefix(got, "stands\nshut: ") {
		t.Errorf("inside: %q", got)
	}
}

func Test_Without_A_Door_The_Guest_Speaks_Over_Its_Standard_Streams(t *testing.T) {
	p := containerOf(t)
	p.sameKernel = false
	if got := said(t, p, "test -S "+layout.SessionSocket+" || echo none"); got != "none\n" {
		t.Errorf("inside: %q", got)
	}
}

func Test_Who_Comes_Through_The_Door_Is_Met(t *testing.T) {
	p := &prepared{driver: New(Options{DataDir: t.TempDir()}), id: "box", sameKernel: true}
	d, err := p.openDoor()
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	far, near := net.Pipe()
	defer far.Close()
	var came net.Conn
	err = session.Within(filepath.Dir(d.path), doorFile, func(path string) (err error) {
		came, err = (&net.Dialer{}).DialContext(t.Context(), "unix", path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	conn := d.meet(t.Context(), newStream(client.NewHijackedResponse(near, "")))
	if _, err := io.WriteString(came, "hello"); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 5)
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "hello" {
		t.Errorf("%q, %v", got, err)
	}
	// The engine's end is that of the session.
	if err := far.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(got); err == nil {
		t.Error("the session goes on without the engine")
	}
}

func Test_What_Comes_Through_The_Door_Takes_The_Attached_Stream_Along(t *testing.T) {
	far, near := net.Pipe()
	defer far.Close()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	came, err := (&net.Dialer{}).DialContext(t.Context(), "unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := (through{came.(*net.UnixConn), newStream(client.NewHijackedResponse(near, ""))}).Close(); err != nil {
		t.Error(err)
	}
	if _, err := far.Read(make([]byte, 1)); err == nil {
		t.Error("the attached stream is still open")
	}
}

func Test_Doors_Of_Dead_Processes_Are_Swept(t *testing.T) {
	d := New(Options{DataDir: t.TempDir()})
	child := exec.CommandContext(t.Context(), "sleep", "1000")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	dead := owner(child.Process.Pid)
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed
	mine := d.dir(doors, owner(os.Getpid())+" mine")
	for _, dir := range []string{mine, d.dir(doors, dead+" theirs"), d.dir(doors, "something else")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	d.sweepDoors()
	left, err := os.ReadDir(d.dir(doors))
	if err != nil || len(left) != 2 || left[0].Name() != filepath.Base(mine) && left[1].Name() != filepath.Base(mine) {
		t.Errorf("left: %v, %v", left, err)
	}
}
