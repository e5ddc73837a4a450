//go:build linux

package docker

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/backend/docker/owner"
	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// containerOf prepares a sandbox for a workspace of the test.
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

// outputOf starts the sandbox, runs a script in it and returns the script's output.
func outputOf(t *testing.T, p *prepared, script string) string {
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
	if left, err := os.ReadDir(p.driver.dir(socketsDir)); len(left) > 0 || err != nil && !os.IsNotExist(err) {
		t.Errorf("the socket is still on the host: %v, %v", left, err)
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

func Test_The_Guests_Socket_Accepts_No_Connection_From_A_Command(t *testing.T) {
	p := containerOf(t)
	const knock = `use Socket; socket(my $s, AF_UNIX, SOCK_STREAM, 0); print connect($s, sockaddr_un($ARGV[0])) ? "open" : "shut: $!"`
	got := outputOf(t, p, "test -S "+layout.SessionSocket+" && echo stands; rm "+layout.SessionSocket+" 2>/dev/null && echo removed; perl -e '"+knock+"' "+layout.SessionSocket)
	if !strings.HasPrefix(got, "stands\nshut: ") {
		t.Errorf("inside: %q", got)
	}
}

func Test_Without_A_Socket_The_Guest_Uses_Its_Standard_Streams(t *testing.T) {
	p := containerOf(t)
	p.sameKernel = false
	if got := outputOf(t, p, "test -S "+layout.SessionSocket+" || echo none"); got != "none\n" {
		t.Errorf("inside: %q", got)
	}
}

func Test_Sockets_Of_Dead_Processes_Are_Removed(t *testing.T) {
	d := New(Options{DataDir: t.TempDir()})
	child := exec.CommandContext(t.Context(), "sleep", "1000")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	dead := owner.Process(child.Process.Pid)
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed
	mine := d.dir(socketsDir, owner.Process(os.Getpid())+" mine")
	for _, dir := range []string{mine, d.dir(socketsDir, dead+" theirs"), d.dir(socketsDir, "something else")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	d.sweepSockets()
	left, err := os.ReadDir(d.dir(socketsDir))
	if err != nil || len(left) != 2 || left[0].Name() != filepath.Base(mine) && left[1].Name() != filepath.Base(mine) {
		t.Errorf("left: %v, %v", left, err)
	}
}
