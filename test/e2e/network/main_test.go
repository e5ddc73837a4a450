//go:build linux

package network_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/test/deadline"
	"github.com/seed434b0696/agent-sandbox/test/e2e/network"
	"github.com/seed434b0696/agent-sandbox/test/programs"
)

var (
	internet    *network.Internet // nil: it cannot be built
	unavailable error
)

func TestMain(m *testing.M) {
	os.Exit(network.Run(os.Args, os.Environ(), func(n *network.Internet, err error) int {
		internet, unavailable = n, err
		return m.Run()
	}))
}

// required reports whether SANDBOX_REQUIRE contains one of the words.
func required(words ...string) bool {
	return slices.ContainsFunc(strings.Split(os.Getenv("SANDBOX_REQUIRE"), ","), func(w string) bool { return slices.Contains(words, w) })
}

// available skips the test without a test network, and fails it if a network is required.
func available(t *testing.T) {
	t.Helper()
	if unavailable == nil {
		return
	}
	if required("network") {
		t.Fatalf("required, and not available: %v", unavailable)
	}
	t.Skipf("not available: %v", unavailable)
}

// host is one user's machine on the test network.
type host struct {
	uid                 int
	home, work, command string
	env                 []string // more variables
}

// users returns the users that the cases run as, by name.
func users() map[string]int {
	if os.Getuid() == 0 {
		return map[string]int{"as root": 0, "as a plain user": internet.PlainUID}
	}
	return map[string]int{"as a plain user": os.Getuid()}
}

func newHost(t *testing.T, uid int) *host {
	t.Helper()
	base, err := os.MkdirTemp(internet.Dir, "host-") //nolint:usetesting // below /tmp a sandbox has its own
	if err != nil {
		t.Fatal(err)
	}
	h := &host{uid: uid, home: filepath.Join(base, "home"), work: filepath.Join(base, "home", "work"), command: command(t)}
	if err := errors.Join(os.Chmod(base, 0o755), os.MkdirAll(h.work, 0o755), os.Chown(h.home, uid, uid), os.Chown(h.work, uid, uid)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{network.ClientKey, network.KnownHosts} {
		data, err := os.ReadFile(filepath.Join(internet.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(h.work, name)
		if err := errors.Join(os.WriteFile(to, data, 0o600), os.Chown(to, uid, uid)); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// command returns the program, which every user of the test network can execute.
func command(t *testing.T) string {
	t.Helper()
	out := filepath.Join(internet.Dir, "agent-sandbox")
	if _, err := os.Stat(out); err == nil {
		return out
	}
	if err := programs.Install(t.Context(), internet.Dir, programs.Command, programs.CommandWithPods); err != nil {
		t.Fatal(err)
	}
	return out
}

// outcome is the exit status of a command, with the output of the command and of agent-sandbox.
type outcome struct {
	code           int
	stdout, stderr string
}

func (o outcome) String() string {
	return fmt.Sprintf("status %d\nstdout: %s\nstderr: %s", o.code, o.stdout, o.stderr)
}

// exec runs a bash script in a sandbox, with options of exec and arguments for the script.
func (h *host) exec(t *testing.T, options []string, script string, args ...string) outcome {
	t.Helper()
	line := append(append([]string{"exec"}, options...), "--", "/bin/bash", "-euc", script, "bash")
	return h.run(t, h.command, append(line, args...)...)
}

func (h *host) run(t *testing.T, name string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline.Scale(2*time.Minute))
	defer cancel()
	cmd := h.prepare(ctx, name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if ctx.Err() != nil {
		t.Fatalf("%q did not end in time\n%s%s", args, &stdout, &stderr)
	}
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

func (h *host) prepare(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = h.work
	cmd.Env = []string{
		"HOME=" + h.home, "LANG=C.UTF-8", "CA=" + internet.CAFile,
		"PATH=/usr/local/bin:/usr/bin:/bin",
	}
	cmd.Env = append(cmd.Env, h.env...)
	internet.Prepare(cmd, h.uid)
	// A command that was interrupted gets time to end.
	cmd.WaitDelay = 10 * time.Second
	return cmd
}
