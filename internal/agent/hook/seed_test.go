package hook_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/backend/virtual"
	"github.com/seed434b0696/agent-sandbox/internal/agent/hook"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// seed is an assistant whose hooks are the two examples, unchanged.
func seed(t *testing.T, e *hook.Engine) *hook.Script {
	t.Helper()
	s, err := e.Compile(t.Context(), os.DirFS("testdata/seed"), "src/index.ts")
	if err != nil {
		t.Fatal(err)
	}
	if !s.HasCreate() || !s.HasNext() {
		t.Fatal("hooks are missing")
	}
	return s
}

// box creates a sandbox over a directory.
func box(t *testing.T, d sandbox.Driver, dir, path string) hook.Sandbox {
	t.Helper()
	s, err := sandbox.Create(t.Context(), d, sandbox.Spec{Workspace: dir, Home: "/home/somebody", Env: []string{"PATH=" + path, "LANG=C"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return hook.In(s, dir)
}

// workspace makes a git repository with the work of an agent.
func workspace(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"src/main.go": "package main\n", "output/result.json": `{"ok": [1, 2]}`, "tmp/scratch": "x"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"config", "user.name", "somebody"}, {"config", "user.email", "a@example.com"}} {
		git(t, dir, args...)
	}
	return dir
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func Test_The_Seeds_Hooks_Run_On_A_Machine_In_Memory(t *testing.T) {
	t.Parallel()
	for place, e := range engines(t) {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			var out screen
			dir := workspace(t)
			r := &hook.Request{Sandbox: box(t, virtual.New(virtual.Options{}), dir, "/usr/bin:/bin"), Send: out.send, Log: out.log}
			s := seed(t, e)
			_, err := s.Create(t.Context(), r, []message.Message{message.New(message.User, "go")})
			thrown, ok := errors.AsType[*hook.Thrown](err)
			if !ok || thrown.Message != "Node.js is required" || sandbox.CodeOf(err) != sandbox.Denied || err.Error() != "create hook: Node.js is required (src/index.ts:28:11)" {
				t.Errorf("a machine without Node.js: %v", err)
			}
			if _, err := s.Next(t.Context(), r, hook.Payload{Completion: &event.Response{Content: "done"}}); err != nil {
				t.Error(err)
			}
			want := []string{
				`h1 start loading {"message":"Preparing sandbox environment..."}`, "error: Node.js not available", "h1 end",
				`info: Generated output: {"ok": [1, 2]}`, "debug: Generated: main.go (13 bytes)",
			}
			if len(out.lines) != 6 || !slices.Equal(out.lines[:5], want) || !strings.HasPrefix(out.lines[5], `debug: git commit skipped: ctx.sandbox.Exec("git"): exit status 127`) {
				t.Errorf("got\n%s", strings.Join(out.lines, "\n"))
			}
			if _, err := os.Lstat(filepath.Join(dir, ".env")); err == nil {
				t.Error("what is in memory was written to the host")
			}
		})
	}
}

func Test_The_Seeds_Hooks_Do_Nothing_Without_A_Sandbox(t *testing.T) {
	t.Parallel()
	s, r := seed(t, newEngine(t, inProcess())), &hook.Request{}
	in := []message.Message{message.New(message.User, "go")}
	created, err := s.Create(t.Context(), r, in)
	if err != nil || len(created.Messages) != 1 || created.Messages[0].Text() != "go" {
		t.Errorf("got %+v, %v", created, err)
	}
	replied, err := s.Next(t.Context(), r, hook.Payload{Messages: in, Error: "the model failed"})
	if err != nil || replied.Data != nil || replied.Delegate != nil {
		t.Errorf("got %+v, %v", replied, err)
	}
}

// Y11: a directory beside the workspace is not in it, even if their names begin alike, and .. does not
// lead out.
func Test_A_Hook_Has_The_Files_And_Commands_Of_Its_Sandbox(t *testing.T) {
	t.Parallel()
	dir := workspace(t)
	e := newEngine(t, inProcess())
	r := &hook.Request{Sandbox: box(t, virtual.New(virtual.Options{}), dir, "/usr/bin:/bin")}
	for _, c := range []struct{ name, body, want string }{
		{"where it is", "return ctx.sandbox.workdir", `"` + dir + `"`},
		{"files are written and read", "ctx.sandbox.WriteFile('a/b/c.txt', 'é\\n'); return [ctx.sandbox.ReadFile('./a/../a/b/c.txt'), ctx.sandbox.ReadFile(ctx.sandbox.workdir + '/a/b/c.txt')]", `["é\n","é\n"]`},
		{"bytes that are no text are replaced", `ctx.sandbox.Exec(['sh', '-c', "printf '\\377x' >bytes"]); return ctx.sandbox.ReadFile('bytes')`, `"` + "\uFFFD" + `x"`},
		{"a directory", "return ctx.sandbox.ListDir('.').filter(f => !f.name.startsWith('.') && ['src', 'tmp'].includes(f.name)).map(f => [f.name, f.is_dir, typeof f.size, /^\\d{4}-\\d\\d-\\d\\dT.*Z$/.test(f.mod_time)])", `[["src",true,"number",true],["tmp",true,"number",true]]`},
		{"commands run in the workspace without a shell", "return ctx.sandbox.Exec(['printf', '%s|', '$HOME', 'a b', '`id`']) + ctx.sandbox.Exec(['pwd'])", `"$HOME|a b|` + "`id`" + `|` + dir + `\n"`},
		{"one that fails has its words and its status", "try { ctx.sandbox.Exec(['sh', '-c', 'echo out; echo bad >&2; exit 3']) } catch (e) { return [e.message, e.exit_code, e.stdout, e.stderr] }", `["ctx.sandbox.Exec(\"sh\"): exit status 3: bad",3,"out\n","bad\n"]`},
		{"one that fails on stdout has those words", "try { ctx.sandbox.Exec(['sh', '-c', 'echo nothing to commit; exit 1']) } catch (e) { return e.message }", `"ctx.sandbox.Exec(\"sh\"): exit status 1: nothing to commit"`},
		{"a file that is not there", "try { ctx.sandbox.ReadFile('none') } catch (e) { return e.code }", `"not_found"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := next(t, e, r, "return {data: (() => { "+c.body+" })()}")
			if err != nil || got != c.want {
				t.Errorf("got %s, %v\nwant %s", got, err, c.want)
			}
		})
	}
	for _, c := range []struct{ body, want string }{
		{"ReadFile('../x')", "it leads out of the workspace"},
		{"ReadFile('/etc/passwd')", "it is not in the workspace; paths are relative to it"},
		{"ReadFile(ctx.sandbox.workdir + '2/x')", "it is not in the workspace"},
		{"ReadFile(ctx.sandbox.workdir + '/../x')", "it is not in the workspace"},
		{"ReadFile('a\\0b')", "invalid path; expected"},
		{"ReadFile(1)", "ctx.sandbox.ReadFile: argument 1: expected a string"},
		{"ReadFile()", "argument 1: expected a string"},
		{"ReadFile('src')", "ctx.sandbox.ReadFile(\"src\")"},
		{"WriteFile('x')", "ctx.sandbox.WriteFile: argument 2: expected a string"},
		{"WriteFile('x', 'y'.repeat(9e6))", "a file of 9000000 bytes; at most 8388608"},
		{"WriteFile('../x', 'y')", "leads out"},
		{"ListDir('none')", "ctx.sandbox.ListDir(\"none\")"},
		{"Exec('ls')", "ctx.sandbox.Exec: argument 1: expected an array of strings"},
		{"Exec([])", "expected a program"},
		{"Exec(['ls', 1])", "expected an array of strings"},
		{"Exec(['ls', 'x'.repeat(2e5)])", "argument 1: at most 131072 bytes"},
		{"Exec(Array(2000).fill('ls'))", "at most 1000 arguments"},
		{"Exec(['no-such-command'])", "exit status 127"},
		{"Exec(['sh', '-c', 'yes | head -c 5000000'])", "it wrote more than 4194304 bytes"},
		{"Exec(['sh', '-c', 'head -c 9000000 /dev/zero >big']) || ctx.sandbox.ReadFile('big')", "big has more than 8388608 bytes"},
	} {
		t.Run(c.body, func(t *testing.T) {
			_, err := next(t, e, r, "ctx.sandbox."+c.body)
			checkFailure(t, "", err, sandbox.Denied, c.want)
			if _, ok := errors.AsType[*hook.Thrown](err); !ok {
				t.Errorf("%v was not thrown in the hook", err)
			}
		})
	}
}
