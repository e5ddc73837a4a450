//go:build linux

package bwrap_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/backend/bwrap"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/require"
)

// openKeeping returns a sandbox whose /tmp lasts, and a function that returns the directory for it.
func openKeeping(t *testing.T, spec sandbox.Spec) (*sandbox.Sandbox, func() string) {
	t.Helper()
	if spec.Home == "" {
		spec.Home, spec.Workspace = t.TempDir(), t.TempDir()
	}
	data := filepath.Join(spec.Home, ".local/share/agent-sandbox")
	d := bwrap.New(bwrap.Options{DataDir: data})
	require.Driver(t, d)
	spec.Env = []string{"PATH=" + os.Getenv("PATH")}
	spec.Policy.Filesystem.Tmp = sandbox.TmpKeep
	s, err := sandbox.Create(t.Context(), d, spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	return s, func() string {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(data, "tmp", "*", "files"))
		if err != nil || len(found) != 1 {
			t.Fatalf("the directories for /tmp are %q, %v", found, err)
		}
		return found[0]
	}
}

// outside returns directories that are not below /tmp, as a /tmp that lasts requires.
func outside(t *testing.T) sandbox.Spec {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	base, err := os.MkdirTemp(cache, "agent-sandbox-test-") //nolint:usetesting // t.TempDir is in /tmp
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(base); err != nil {
			t.Error(err)
		}
	})
	spec := sandbox.Spec{Workspace: filepath.Join(base, "w"), Home: filepath.Join(base, "home")}
	for _, dir := range []string{spec.Workspace, spec.Home} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return spec
}

func sh(t *testing.T, s *sandbox.Sandbox, script string) (string, int) {
	t.Helper()
	res, err := s.Run(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", script + " 2>&1"}})
	if err != nil {
		t.Fatal(err)
	}
	return string(res.Stdout), res.Code
}

func Test_Two_Sandboxes_Of_A_Workspace_Share_A_Tmp_That_Lasts(t *testing.T) {
	spec := outside(t)
	spec.Resident = true
	a, _ := openKeeping(t, spec)
	b, _ := openKeeping(t, spec)
	if out, code := sh(t, a, "echo one >/tmp/f"); code != 0 {
		t.Fatal(out)
	}
	if out, _ := sh(t, b, "cat /tmp/f; echo two >>/tmp/f"); out != "one\n" {
		t.Errorf("the other reads %q", out)
	}
	if out, _ := sh(t, a, "cat /tmp/f"); out != "one\ntwo\n" {
		t.Errorf("it reads %q", out)
	}
}

func Test_No_Repository_Can_Be_Planted_In_A_Tmp_That_Lasts(t *testing.T) {
	for _, userns := range []bool{false, true} {
		spec := outside(t)
		spec.Policy.Userns = &userns
		s, dir := openKeeping(t, spec)
		for _, script := range []string{
			"mkdir /tmp/a && mkdir /tmp/a/.git",
			"mkdir /tmp/b /tmp/b/objects /tmp/b/refs && echo x >/tmp/b/HEAD",
			"mkdir /tmp/c && echo gitdir: /x >/tmp/c/.git",
			"mkdir /var/tmp/d && mkdir /var/tmp/d/.git && mv /var/tmp/d /tmp/d && ! test -e /tmp/d/.git",
		} {
			if out, code := sh(t, s, "("+script+")"); code == 0 {
				t.Errorf("userns %t: %s: succeeded: %s", userns, script, out)
			}
		}
		for _, name := range []string{"a/.git", "b/HEAD", "c/.git", "d/.git"} {
			if _, err := os.Lstat(filepath.Join(dir(), name)); err == nil {
				t.Errorf("userns %t: %s is on the host", userns, name)
			}
		}
		// The control: where /tmp ends with the sandbox, the same works.
		if out, code := sh(t, s, "mkdir /var/tmp/a && mkdir /var/tmp/a/.git"); code != 0 {
			t.Error(out)
		}
	}
}

func Test_A_Socket_Of_The_Host_In_A_Tmp_That_Lasts_Is_Refused(t *testing.T) {
	s, dir := openKeeping(t, outside(t))
	if out, code := sh(t, s, "echo ok >/tmp/f"); code != 0 {
		t.Fatal(out)
	}
	// A program of the host that follows a link of the project can bind its socket there.
	t.Chdir(dir())
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", "host.sock")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if c, err := (&net.Dialer{}).DialContext(t.Context(), "unix", "host.sock"); err != nil { // the control
		t.Error(err)
	} else {
		_ = c.Close()
	}
	const connects = `python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.bind("/tmp/own.sock"); s.listen()
c = socket.socket(socket.AF_UNIX); c.connect("/tmp/own.sock"); print("own"); socket.socket(socket.AF_UNIX).connect("/tmp/host.sock"); print("host")'`
	if out, code := sh(t, s, connects); code == 0 || !strings.Contains(out, "own\n") || strings.Contains(out, "host\n") || !strings.Contains(out, "Permission denied") {
		t.Errorf("exit status %d: %s", code, out)
	}
}

func Test_A_Link_Of_An_Earlier_Run_Redirects_No_Mount(t *testing.T) {
	// Bubblewrap would follow a link in /tmp on the way to a workspace there.
	home := outside(t).Home
	spec := sandbox.Spec{Workspace: t.TempDir(), Home: home, Policy: sandbox.Policy{Filesystem: sandbox.Filesystem{Tmp: sandbox.TmpKeep}}}
	d := bwrap.New(bwrap.Options{DataDir: filepath.Join(home, ".local/share/agent-sandbox")})
	require.Driver(t, d)
	if _, err := sandbox.Create(t.Context(), d, spec); sandbox.CodeOf(err) != sandbox.Unsupported || sandbox.HintOf(err) == "" {
		t.Errorf("a workspace in /tmp: %v", err)
	}
}
