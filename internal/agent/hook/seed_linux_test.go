package hook_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/backend/bwrap"
	"github.com/seed434b0696/agent-sandbox/internal/agent/hook"
	"github.com/seed434b0696/agent-sandbox/test/programs"
	"github.com/seed434b0696/agent-sandbox/test/require"
)

// walls is bubblewrap, with the guest that serves files inside.
func walls(t *testing.T) *bwrap.Driver {
	t.Helper()
	guest, err := programs.Path(t.Context(), programs.Guest)
	if err != nil {
		t.Fatal(err)
	}
	driver := bwrap.New(bwrap.Options{DataDir: t.TempDir(), Guest: guest})
	require.Driver(t, driver)
	return driver
}

// Y11: links in the workspace are resolved in the sandbox, never on the host.
func Test_The_Seeds_Hooks_Run_In_Namespaces(t *testing.T) {
	t.Parallel()
	d, e := walls(t), inWorkers(t, hook.Limits{})
	s, in := seed(t, e), []message.Message{message.New(message.User, "go")}

	t.Run("with Node.js and a repository", func(t *testing.T) {
		t.Parallel()
		var out screen
		dir := workspace(t)
		r := &hook.Request{Sandbox: box(t, d, dir, os.Getenv("PATH")), Send: out.send, Log: out.log}
		created, err := s.Create(t.Context(), r, in)
		if err != nil || len(created.Messages) != 1 {
			t.Fatalf("got %+v, %v", created, err)
		}
		if data, err := os.ReadFile(filepath.Join(dir, ".env")); err != nil || string(data) != "DEBUG=true\nNODE_ENV=development" {
			t.Errorf(".env has %q, %v", data, err)
		}
		if _, err := s.Next(t.Context(), r, hook.Payload{Messages: in, Completion: &event.Response{Content: "done"}}); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(out.lines, "info: Changes committed") || !slices.Contains(out.lines, `h1 replace text {"content":"Sandbox ready"}`) {
			t.Errorf("got\n%s", strings.Join(out.lines, "\n"))
		}
		if got := git(t, dir, "log", "--format=%s", "--name-only"); !strings.HasPrefix(got, "auto-commit by sandbox\n") || !strings.Contains(got, "output/result.json\n") {
			t.Errorf("git log has %q", got)
		}
		if _, err := os.Lstat(filepath.Join(dir, "tmp")); err == nil {
			t.Error("tmp was not removed")
		}
	})
	t.Run("without Node.js", func(t *testing.T) {
		t.Parallel()
		r := &hook.Request{Sandbox: box(t, d, workspace(t), "/nonexistent")}
		if _, err := s.Create(t.Context(), r, in); err == nil || err.Error() != "create hook: Node.js is required (src/index.ts:28:11)" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("with nothing to commit", func(t *testing.T) {
		t.Parallel()
		var out screen
		dir := workspace(t)
		git(t, dir, "add", ".")
		git(t, dir, "commit", "-qm", "all")
		r := &hook.Request{Sandbox: box(t, d, dir, os.Getenv("PATH")), Log: out.log}
		if _, err := s.Next(t.Context(), r, hook.Payload{}); err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(out.lines, func(l string) bool {
			return strings.Contains(l, "git commit skipped") && strings.Contains(l, "nothing to commit")
		}) {
			t.Errorf("got\n%s", strings.Join(out.lines, "\n"))
		}
	})
	t.Run("with links out of the workspace", func(t *testing.T) {
		t.Parallel()
		canary := filepath.Join(t.TempDir(), "canary")
		if err := os.WriteFile(canary, []byte("canary"), 0o644); err != nil {
			t.Fatal(err)
		}
		dir := workspace(t)
		for name, target := range map[string]string{"canary": canary, "shadow": "/etc/shadow", "up": "../../../../../../../../" + canary, "dir": filepath.Dir(canary)} {
			if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		r := &hook.Request{Sandbox: box(t, d, dir, os.Getenv("PATH"))}
		for _, name := range []string{"canary", "up", "dir/canary", "shadow"} {
			got, err := next(t, e, r, "return {data: ctx.sandbox.ReadFile('"+name+"')}")
			if name != "shadow" && err == nil {
				t.Errorf("%s was read on the host: %s", name, got)
			}
			// For a system file, a hook gets the same result as a command in the sandbox.
			same, failed := next(t, e, r, "return {data: ctx.sandbox.Exec(['cat', '"+name+"'])}")
			if got != same || (err == nil) != (failed == nil) {
				t.Errorf("%s: a hook reads %.20q, %v, and a command %.20q, %v", name, got, err, same, failed)
			}
		}
		if _, err := next(t, e, r, "ctx.sandbox.WriteFile('canary', 'x')"); err == nil {
			if data, _ := os.ReadFile(canary); string(data) != "canary" {
				t.Error("the host's file was written to")
			}
		}
	})
}
