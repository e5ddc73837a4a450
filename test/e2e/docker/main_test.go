//go:build linux

// Package docker_test runs the command as users do, on a real container engine: images, and the sandboxes of
// repositories.
package docker_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/seed434b0696/agent-sandbox/internal/engine"
	"github.com/seed434b0696/agent-sandbox/internal/repo"
	"github.com/seed434b0696/agent-sandbox/test/programs"
)

// lab holds the fixtures that all cases share.
var lab struct {
	base    string         // a directory outside /tmp, since a sandbox has its own
	command string         // the built program
	engine  *engine.Client // nil: no engine answers
	why     error          // why no engine answers
}

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
	if lab.base, err = os.MkdirTemp(parent, "agent-sandbox-docker-"); err != nil {
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
	if lab.engine, lab.why = engine.Open(context.Background(), os.Environ()); lab.why != nil {
		return m.Run() // each case reports it
	}
	defer lab.engine.Close()
	lab.command = filepath.Join(lab.base, "bin", "agent-sandbox")
	if err := programs.Install(context.Background(), filepath.Dir(lab.command), programs.Command, programs.CommandWithPods, programs.CommandWithAgent, programs.Guest); err != nil {
		panic(err)
	}
	return m.Run()
}

// needEngine skips the test if no engine answers, and fails it if SANDBOX_REQUIRE names docker.
func needEngine(t *testing.T) {
	t.Helper()
	if lab.why == nil {
		return
	}
	if slices.Contains(strings.Split(os.Getenv("SANDBOX_REQUIRE"), ","), "docker") {
		t.Fatal(lab.why)
	}
	t.Skip(lab.why)
}

// baseTag is the tag of the images that these tests build; with the engine's layer cache, all builds except the first
// are fast.
const baseTag = "e2e"

// user is a user with their own home, data directory and repositories.
type user struct {
	t    *testing.T
	home string
	env  []string // variables in addition to those of the tests
}

func newUser(t *testing.T) user {
	t.Helper()
	needEngine(t)
	home, err := os.MkdirTemp(lab.base, "home-") //nolint:usetesting // not below /tmp
	if err != nil {
		t.Fatal(err)
	}
	return user{t: t, home: home}
}

// result is the outcome of a command.
type result struct {
	stdout, stderr string
	code           int
}

// try runs agent-sandbox in a directory.
func (u user) try(dir, stdin string, args ...string) result {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(u.t.Context()), 20*time.Minute) // cleanups also run commands
	defer cancel()
	cmd := exec.CommandContext(ctx, lab.command, args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "HOME="+u.home, "XDG_DATA_HOME=", "XDG_CONFIG_HOME=", "CODEX_HOME=", "NO_COLOR=1",
		"GIT_CONFIG_GLOBAL="+filepath.Join(u.home, ".gitconfig"))
	cmd.Env = append(cmd.Env, u.env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		u.t.Fatalf("%v: %v", args, err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// run runs a command that must succeed; it returns its output.
func (u user) run(dir string, args ...string) string {
	u.t.Helper()
	r := u.try(dir, "", args...)
	if r.code != 0 {
		u.t.Fatalf("%v: status %d\n%s%s", args, r.code, r.stdout, r.stderr)
	}
	return r.stdout
}

// fail runs a command that must fail with these words.
func (u user) fail(dir, words string, args ...string) {
	u.t.Helper()
	r := u.try(dir, "", args...)
	if r.code == 0 || !strings.Contains(r.stderr, words) {
		u.t.Errorf("%v: status %d, want %q in\n%s%s", args, r.code, words, r.stdout, r.stderr)
	}
}

// inside runs a script in a persistent sandbox.
func (u user) inside(name, script string) result {
	u.t.Helper()
	return u.try(u.home, "", "exec", "--in", name, "--", "sh", "-c", script)
}

// git runs the host's git.
func (u user) git(dir string, args ...string) string {
	u.t.Helper()
	cmd := exec.CommandContext(u.t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+u.home, "GIT_CONFIG_GLOBAL="+filepath.Join(u.home, ".gitconfig"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		u.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// repository creates a repository with a commit on main.
func (u user) repository(name string) string {
	u.t.Helper()
	dir := filepath.Join(u.home, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		u.t.Fatal(err)
	}
	u.git(dir, "init", "-q", "-b", "main")
	u.git(dir, "config", "--global", "user.name", "A User")
	u.git(dir, "config", "--global", "user.email", "user@example.com")
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte("one\n"), 0o644); err != nil {
		u.t.Fatal(err)
	}
	u.git(dir, "add", "-A")
	u.git(dir, "commit", "-q", "-m", "one")
	return dir
}

// forget destroys all sandboxes of the user, and the engine's objects for the repository.
func (u user) forget(dir string) {
	for name := range strings.FieldsSeq(u.try(u.home, "", "list", "--json").names()) {
		u.try(u.home, "", "destroy", name)
	}
	ctx := context.Background()
	_, _ = lab.engine.ImageRemove(ctx, repo.Repo{Path: dir}.Image(), client.ImageRemoveOptions{Force: true})
	for line := range strings.SplitSeq(strings.TrimSpace(u.try(dir, "", "volume", "--all").stdout), "\n") {
		name, _, _ := strings.Cut(line, "\t")
		if !strings.HasSuffix(name, "-config") { // objects that all repositories share
			_, _ = lab.engine.VolumeRemove(ctx, name, client.VolumeRemoveOptions{Force: true})
		}
	}
}

// names returns the names in a list of sandboxes as JSON.
func (r result) names() string {
	var out []string
	for line := range strings.SplitSeq(r.stdout, "\n") {
		if id, ok := strings.CutPrefix(line, `    "id": "`); ok {
			out = append(out, strings.TrimSuffix(id, `",`))
		}
	}
	return strings.Join(out, " ")
}
