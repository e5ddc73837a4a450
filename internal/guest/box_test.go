package guest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed434b0696/agent-sandbox/test/programs"
)

var built struct {
	dir    string
	once   sync.Once
	attack sync.Once
	err    error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// guestProgram returns the guest as it is released, where every user can execute it.
func guestProgram(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "guest-test-"); built.err != nil { //nolint:usetesting // outlives one test
			return
		}
		// A plain user inside a box starts it too.
		if built.err = os.Chmod(built.dir, 0o755); built.err != nil {
			return
		}
		built.err = programs.Install(context.Background(), built.dir, programs.Guest)
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(built.dir, "sandbox-guest")
}

// box is a bubblewrap sandbox with the layout of this package, made by hand:
// the tests of a driver are elsewhere. Its work directory is /home/w.
type box struct {
	work string
	args []string
	env  []string
}

func newBox(t *testing.T) *box {
	t.Helper()
	guest := guestProgram(t)
	b := &box{work: t.TempDir(), env: []string{
		"PATH=/usr/bin:/bin", "HOME=/home/h", "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}}
	b.args = []string{
		"--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
		"--tmpfs", "/tmp", "--tmpfs", "/run", "--tmpfs", "/home", "--dir", "/home/h",
		"--perms", "0111", "--dir", Root, "--ro-bind", guest, Program,
	}
	for _, dir := range []string{BinDir, WrapperDir, PresetDir, DenyDir, TargetDir, AliasDir} {
		b.add("--perms", "0755", "--dir", dir)
	}
	b.add("--bind", b.work, "/home/w", "--chdir", "/home/w")
	return b
}

func (b *box) add(args ...string) { b.args = append(b.args, args...) }

// wrapGit makes git wrapped as a driver does.
func (b *box) wrapGit(t *testing.T) {
	t.Helper()
	b.add("--dir", PresetDir+"/git", "--ro-bind", "/usr/bin/git", BinDir+"/git")
	core := strings.TrimSpace(mustGit(t, b.work, "--exec-path"))
	for _, target := range []string{"/usr/bin/git", core + "/git"} {
		resolved, err := filepath.EvalSymlinks(target)
		if err != nil {
			t.Fatal(err)
		}
		b.cover(t, resolved)
	}
}

// cover puts the launcher over target.
func (b *box) cover(t *testing.T, target string) {
	t.Helper()
	b.add("--ro-bind", guestProgram(t), target)
}

// script makes text the wrapper of command.
func (b *box) script(t *testing.T, command, text string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), command)
	if err := os.WriteFile(file, []byte(text), 0o555); err != nil {
		t.Fatal(err)
	}
	b.add("--ro-bind", file, WrapperDir+"/"+command)
}

type outcome struct {
	stdout, stderr string
	code           int
}

// run runs argv inside.
func (b *box) run(t *testing.T, argv ...string) outcome {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bwrap", append(append([]string{}, b.args...), append([]string{"--"}, argv...)...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Env = &stdout, &stderr, b.env
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// shell runs a script of commands that must all succeed.
func (b *box) shell(t *testing.T, script string) outcome {
	t.Helper()
	return b.run(t, "/bin/bash", "-ec", script)
}

func (o outcome) check(t *testing.T, code int, stdout, stderr string) {
	t.Helper()
	if o.code != code || !strings.Contains(o.stdout, stdout) || !strings.Contains(o.stderr, stderr) {
		t.Errorf("status %d\nstdout %q\nstderr %q\nwant status %d, stdout with %q, stderr with %q",
			o.code, o.stdout, o.stderr, code, stdout, stderr)
	}
}
