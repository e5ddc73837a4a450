//go:build linux

// Package stage_test runs the command as users do, on stages: as root and as a plain
// user, on overlays and on copies, and killed at any moment.
package stage_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/seed434b0696/agent-sandbox/test/programs"
)

// plainUser is the user ID of the plain user's cases when the tests run as root.
const plainUser = 1000

// lab is the directory that all cases share. It is outside /tmp, since a sandbox has its
// own.
var lab struct{ base, command string }

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	parent := "/srv"
	if os.Getuid() != 0 {
		var err error
		if parent, err = os.UserHomeDir(); err != nil {
			panic(err)
		}
	}
	var err error
	if lab.base, err = os.MkdirTemp(parent, "agent-sandbox-stage-"); err != nil {
		panic(err)
	}
	defer func() {
		if err := os.RemoveAll(lab.base); err != nil {
			panic(err)
		}
	}()
	if err := os.Chmod(lab.base, 0o755); err != nil {
		panic(err)
	}
	lab.command = filepath.Join(lab.base, "bin", "agent-sandbox")
	// Both are in one directory, as in a release whose command does not contain the guest.
	if err := errors.Join(
		programs.Install(context.Background(), filepath.Dir(lab.command), programs.CommandAlone, programs.Guest),
		os.Rename(filepath.Join(filepath.Dir(lab.command), programs.CommandAlone), lab.command),
	); err != nil {
		panic(err)
	}
	return m.Run()
}

// place is a user with a home and a workspace.
type place struct {
	*testing.T
	uid        int
	base, home string
	work       string
	command    string
	namespace  int // a process in the mount namespace in which commands run; 0: ours
}

// users runs f as root and as a plain user.
func users(t *testing.T, f func(p *place)) {
	t.Helper()
	for name, uid := range map[string]int{"root": 0, "user": plainUser} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if self := os.Getuid(); self != 0 {
				if uid == 0 {
					t.Skip("the tests do not run as root")
				}
				uid = self
			}
			f(newPlace(t, uid))
		})
	}
}

func newPlace(t *testing.T, uid int) *place {
	t.Helper()
	base, err := os.MkdirTemp(lab.base, "place-") //nolint:usetesting // t.TempDir is in /tmp
	if err != nil {
		t.Fatal(err)
	}
	p := &place{T: t, uid: uid, base: base, home: filepath.Join(base, "home"), work: filepath.Join(base, "home", "work"), command: lab.command}
	for _, dir := range []string{base, p.home, p.work} {
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.Chmod(dir, 0o755), os.Lchown(dir, uid, uid)); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, pid := range p.processes() {
			t.Errorf("process left: %d", pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		mounts, err := os.ReadFile("/proc/self/mountinfo")
		if err != nil || strings.Contains(string(mounts), base) {
			t.Errorf("a mount is left: %v\n%s", err, mounts)
		}
		if out, err := exec.Command("chmod", "-R", "u+rwx", base).CombinedOutput(); err != nil && os.Getuid() != 0 { //nolint:noctx // the test's context has ended
			t.Errorf("%v: %s", err, out)
		}
	})
	return p
}

// prepare returns a command of the place's user, in the workspace.
func (p *place) prepare(args ...string) *exec.Cmd {
	if p.namespace != 0 {
		id := strconv.Itoa(p.uid)
		args = append([]string{
			"nsenter", "--mount", "--target", strconv.Itoa(p.namespace), "env", "-C", p.work,
			"setpriv", "--reuid", id, "--regid", id, "--clear-groups",
		}, args...)
	}
	cmd := exec.CommandContext(p.Context(), args[0], args[1:]...)
	if cmd.Dir = p.work; p.namespace != 0 {
		cmd.Dir = "/" // the workspace may exist only in that namespace
	}
	cmd.Env = []string{
		"HOME=" + p.home, "PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if p.uid != os.Getuid() && p.namespace == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(p.uid), Gid: uint32(p.uid)}
	}
	return cmd
}

// run returns the output of both streams and the exit status.
func (p *place) run(args ...string) (string, int) {
	p.Helper()
	cmd := p.prepare(args...)
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		p.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func (p *place) must(args ...string) string {
	p.Helper()
	out, code := p.run(args...)
	if code != 0 {
		p.Fatalf("%q: exit status %d\n%s", args, code, out)
	}
	return out
}

// sh runs a script in the workspace, on the host.
func (p *place) sh(script string) string {
	p.Helper()
	return p.must("/bin/bash", "-ec", script)
}

// staged runs a script on the stage.
func (p *place) staged(script string, flags ...string) string {
	p.Helper()
	args := append([]string{p.command, "exec", "--stage"}, flags...)
	return p.must(append(args, "--", "/bin/bash", "-ec", script)...)
}

func (p *place) stage(args ...string) (string, int) {
	p.Helper()
	return p.run(append([]string{p.command, "stage"}, args...)...)
}

// listing describes a tree completely: names, types, modes, link counts, targets,
// contents.
const listing = `find . -mindepth 1 -path ./.git/index -prune -o -printf '%P %y %m %l\n' | LC_ALL=C sort
	find . -path ./.git/index -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0r sha256sum`

// processes returns the processes with the place's path in their environment.
func (p *place) processes() (pids []int) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		p.Fatal(err)
	}
	for _, dir := range dirs {
		env, _ := os.ReadFile(dir + "/environ") // a process that has ended has none
		args, _ := os.ReadFile(dir + "/cmdline")
		var pid int
		if _, err := fmt.Sscan(filepath.Base(dir), &pid); err == nil && pid != os.Getpid() && strings.Contains(string(env)+string(args), p.base) {
			pids = append(pids, pid)
		}
	}
	return pids
}
