//go:build linux

package fuzz_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/backend/bwrap"
	"github.com/seed434b0696/agent-sandbox/internal/engine"
	"github.com/seed434b0696/agent-sandbox/sandboxtest"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
	"github.com/seed434b0696/agent-sandbox/test/e2e/fuzz/calls"
)

// kind is a kind of sandbox.
type kind struct {
	name       string
	flags      []string // of agent-sandbox
	env        []string // of agent-sandbox
	groups     []uint32 // of the plain user
	persistent bool     // several programs run in one sandbox, one after the other
	mounts     bool     // programs own a user namespace, in which they mount
	bare       bool     // the control: bubblewrap without the protections of agent-sandbox
	uid        int      // the user
}

// box is a sandbox of a world.
type box struct {
	k *kind
	w *world
}

// boxName is the name of a persistent sandbox.
const boxName = "fuzz"

// limit is the time for a program's calls, patience the time for the whole run on an idle machine.
const (
	limit    = 5 * time.Second
	patience = 60 * time.Second
)

// result is the outcome of a run apart from the world.
type result struct {
	violations []violation
	made, good int // the number of calls, and of successful ones
	stderr     string
}

// command returns the command line that runs the runner in a sandbox.
func (b *box) command(limit time.Duration) []string {
	inner := slices.Concat([]string{fixture.runner, limit.String()}, b.w.variables())
	if b.k.mounts {
		inner = append([]string{"unshare", "-Umr", "--propagation", "unchanged"}, inner...)
	}
	switch {
	case b.k.bare: // the host is read-only, because a control must not harm it
		return slices.Concat([]string{
			"bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--bind", b.w.base, b.w.base,
			"--unshare-pid", "--unshare-net", "--cap-drop", "ALL", "--die-with-parent", "--chdir", b.w.work,
		}, inner)
	case b.k.persistent:
		return slices.Concat([]string{fixture.command, "exec", "--in", boxName, "--"}, inner)
	}
	return slices.Concat([]string{fixture.command, "exec"}, b.k.flags, []string{"--"}, inner)
}

// open creates the sandbox if it is a persistent one.
func (b *box) open() error {
	if !b.k.persistent {
		return nil
	}
	return b.control(b.w.work, slices.Concat([]string{fixture.command, "create"}, b.k.flags, []string{boxName})...)
}

// close destroys a persistent sandbox.
func (b *box) close() error {
	if !b.k.persistent {
		return nil
	}
	return b.control(b.w.home, fixture.command, "destroy", boxName) // a program can remove the permissions of the project
}

func (b *box) control(dir string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.w.t.Context()), deadline.Scale(patience))
	defer cancel()
	cmd := b.prepare(ctx, args)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%q: %w\n%s", args, err, out)
	}
	return nil
}

func (b *box) prepare(ctx context.Context, args []string) *exec.Cmd {
	cmd := b.w.commandLine(ctx, b.w.work, args...)
	cmd.Env = append(cmd.Env, b.k.env...)
	if cmd.SysProcAttr != nil {
		cmd.SysProcAttr.Credential.Groups = b.k.groups
	}
	// On this signal a Go program prints the stacks of its goroutines.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// run runs a program in the sandbox and judges the result.
func (b *box) run(p calls.Program, limit time.Duration) result {
	b.w.t.Helper()
	before := b.w.scanWritable()
	watch := b.w.watch(before)
	ctx, cancel := context.WithTimeout(b.w.t.Context(), deadline.Scale(patience)+limit)
	defer cancel()
	cmd := b.prepare(ctx, b.command(limit))
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(p.String()), &stdout, &stderr
	err := cmd.Run()
	r := result{stderr: stderr.String()}
	for _, v := range watch.stop() {
		if v.kind == missed {
			b.w.t.Log(v)
			continue
		}
		r.violations = append(r.violations, v)
	}
	text := stderr.String()
	switch {
	case ctx.Err() != nil:
		r.violations = append(r.violations, violation{stuck, fmt.Sprintf("it lasted longer than %s\n%.20000s", patience, text)})
	case strings.Contains(text, "panic:") || strings.Contains(text, "fatal error:") || strings.Contains(text, "goroutine 1"):
		r.violations = append(r.violations, violation{crashed, fmt.Sprintf("%v\n%.20000s", err, text)})
	}
	if strings.Contains(stdout.String(), "OPEN") {
		r.violations = append(r.violations, violation{opened, stdout.String()})
	}
	var word string
	for line := range strings.Lines(stdout.String()) {
		if before, rest, ok := strings.Cut(line, ": "); ok {
			word = before
			_, _ = fmt.Sscanf(rest, "%d calls, %d succeeded", &r.made, &r.good)
		}
	}
	if word == "" && len(r.violations) == 0 { // the sandbox ended the program, or it never began
		r.violations = append(r.violations, violation{stopped, fmt.Sprintf("the program did not end: %v\n%.4000s", err, text)})
	}
	r.violations = append(r.violations, b.w.judge(before)...)
	return r
}

// stopped returns the violation of a program that did not end.
const stopped = "stopped"

// isRequired reports whether SANDBOX_REQUIRE contains a word.
func isRequired(word string) bool {
	return slices.Contains(strings.Split(os.Getenv("SANDBOX_REQUIRE"), ","), word)
}

// requireBwrap skips the test if bubblewrap cannot start a sandbox, and fails it if that is required.
func requireBwrap(t *testing.T) {
	t.Helper()
	if err := sandboxtest.Available(t.Context(), bwrap.New(bwrap.Options{})); err != nil {
		if isRequired("bwrap") {
			t.Fatalf("required, and not available: %v", err)
		}
		t.Skipf("not available: %v", err)
	}
}

// requireDocker returns the requirements of a sandbox in a container, or skips the test.
func requireDocker(t *testing.T) (env []string, groups []uint32) {
	t.Helper()
	c, err := engine.Open(t.Context(), os.Environ())
	if err != nil {
		if isRequired("docker") {
			t.Fatalf("required, and not available: %v", err)
		}
		t.Skipf("not available: %v", err)
	}
	host := c.Host
	if err := errors.Join(c.Close()); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(strings.TrimPrefix(host, "unix://")); err == nil {
		groups = []uint32{info.Sys().(*syscall.Stat_t).Gid}
	}
	return []string{"DOCKER_HOST=" + host}, groups
}

// plainUser is the ID of a user who is not root.
func plainUser() int {
	if self := os.Getuid(); self != 0 {
		return self
	}
	return 1000
}

// users returns the users that sandboxes run as: root and a plain user if the tests run as root, otherwise the
// user of the tests.
func users() map[string]int {
	if self := os.Getuid(); self != 0 {
		return map[string]int{"user": self}
	}
	return map[string]int{"root": 0, "user": plainUser()}
}
