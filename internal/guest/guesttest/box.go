// Package guesttest builds the guest and runs it in bubblewrap, for the tests of the guest's packages.
package guesttest

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

	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/test/programs"
	"github.com/seed434b0696/agent-sandbox/test/require"
)

var built struct {
	dir  string
	once sync.Once
	err  error
}

// Run runs the tests of a package that calls [Program], removes the program, and returns the exit status. It is for TestMain.
func Run(m *testing.M) int {
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	return code
}

// Program returns the path of the released guest, which every user can execute. TestMain must call [Run].
func Program(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "guest-test-"); built.err != nil { //nolint:usetesting // outlives one test
			return
		}
		// A plain user inside a box must be able to execute it.
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

// Box is a bubblewrap sandbox with the layout of package layout, without a driver. Its work directory is /home/w.
type Box struct {
	work string
	Args []string
	Env  []string
}

// NewBox makes a box that has an empty work directory and wraps no command.
func NewBox(t *testing.T) *Box {
	t.Helper()
	guest := Program(t)
	b := &Box{work: t.TempDir(), Env: []string{
		"PATH=/usr/bin:/bin", "HOME=/home/h", "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}}
	b.Args = []string{
		"--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
		"--tmpfs", "/tmp", "--tmpfs", "/run", "--tmpfs", "/home", "--dir", "/home/h",
		"--perms", "0111", "--dir", layout.Root, "--ro-bind", guest, layout.Program,
	}
	for _, dir := range []string{layout.BinDir, layout.WrapperDir, layout.PresetDir, layout.DenyDir, layout.TargetDir, layout.AliasDir, layout.PrivateDir} {
		b.Add("--perms", "0755", "--dir", dir)
	}
	b.Add("--bind", b.work, "/home/w", "--chdir", "/home/w")
	return b
}

// Work returns the host's path of the work directory.
func (b *Box) Work() string { return b.work }

// Add appends arguments of bubblewrap.
func (b *Box) Add(args ...string) { b.Args = append(b.Args, args...) }

// WrapGit wraps git as a driver does.
func (b *Box) WrapGit(t *testing.T) {
	t.Helper()
	b.Add("--symlink", "/tmp", layout.PrivateDir+"/0", "--symlink", "/var/tmp", layout.PrivateDir+"/1", "--tmpfs", "/var/tmp")
	b.Add("--dir", layout.PresetDir+"/git", "--ro-bind", "/usr/bin/git", layout.BinDir+"/git")
	core, err := exec.CommandContext(t.Context(), "git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"/usr/bin/git", strings.TrimSpace(string(core)) + "/git"} {
		resolved, err := filepath.EvalSymlinks(target)
		if err != nil {
			t.Fatal(err)
		}
		b.Cover(t, resolved)
	}
}

// Cover mounts the launcher over target.
func (b *Box) Cover(t *testing.T, target string) {
	t.Helper()
	b.Add("--ro-bind", Program(t), target)
}

// Script makes text the wrapper script of command.
func (b *Box) Script(t *testing.T, command, text string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), command)
	if err := os.WriteFile(file, []byte(text), 0o555); err != nil {
		t.Fatal(err)
	}
	b.Add("--ro-bind", file, layout.WrapperDir+"/"+command)
}

// Outcome is the result of a command in a box.
type Outcome struct {
	Stdout, Stderr string
	Code           int
}

// Run runs argv inside.
func (b *Box) Run(t *testing.T, argv ...string) Outcome {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), require.Command(t, "bwrap", "bwrap"), append(append([]string{}, b.Args...), append([]string{"--"}, argv...)...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Env = &stdout, &stderr, b.Env
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return Outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// Shell runs a script of commands that must all succeed.
func (b *Box) Shell(t *testing.T, script string) Outcome {
	t.Helper()
	return b.Run(t, "/bin/bash", "-ec", script)
}

// Check fails the test unless the command ended with code and both outputs contain the expected texts.
func (o Outcome) Check(t *testing.T, code int, stdout, stderr string) {
	t.Helper()
	if o.Code != code || !strings.Contains(o.Stdout, stdout) || !strings.Contains(o.Stderr, stderr) {
		t.Errorf("status %d\nstdout %q\nstderr %q\nwant status %d, stdout with %q, stderr with %q",
			o.Code, o.Stdout, o.Stderr, code, stdout, stderr)
	}
}

// Entries returns the names in a directory, sorted, with a blank between them.
func Entries(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// WriteFile writes a file below dir, and the directories that it needs, and returns its path.
func WriteFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// WriteProgram writes a program below dir.
func WriteProgram(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.Chmod(WriteFile(t, dir, name, text), 0o755); err != nil {
		t.Fatal(err)
	}
}
