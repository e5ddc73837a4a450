//go:build linux

package agent_test

import (
	"context"
	"crypto/rand"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/claude"
	"github.com/seed434b0696/agent-sandbox/internal/agent/codex"
	"github.com/seed434b0696/agent-sandbox/internal/agent/cursor"
	"github.com/seed434b0696/agent-sandbox/internal/agent/executor"
)

// success is the last line of a successful run.
const success = `{"type":"result","subtype":"success","is_error":false,"result":"fine","uuid":"u","session_id":"s","usage":{"input_tokens":1,"output_tokens":2}}`

// Y2, Y3, Y23: success requires a result, a line may have 40 MiB, and stderr is separate and appears in the
// error.
func Test_A_Run_Without_A_Result_Never_Succeeds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		want   event.Outcome
		code   int // -1: its end was not seen
		says   string
	}{
		"it dies":                             {`echo boom >&2; exit 3`, event.NoResult, 3, "boom"},
		"it ends with 0 and no result":        {`exit 0`, event.NoResult, 0, "without a result"},
		"it kills itself":                     {`kill -9 $$`, event.NoResult, 137, "without a result"},
		"a result and a status":               {`cat <<'E'` + "\n" + success + "\nE\nexit 1", event.Success, 1, ""},
		"garbage around the result":           {`head -c 100000 /dev/urandom; echo; echo '{"type":'; cat <<'E'` + "\n" + success + "\nE\n", event.Success, 0, ""},
		"a line of 40 MiB":                    {`head -c 41943040 /dev/zero | tr '\0' x; echo; cat <<'E'` + "\n" + success + "\nE\n", event.Success, 0, ""},
		"it hangs after its result":           {`cat <<'E'` + "\n" + success + "\nE\nexec sleep 1000", event.Success, -1, ""},
		"what it left holds its output":       {`cat <<'E'` + "\n" + success + "\nE\nsleep 1000 &", event.Success, -1, ""},
		"words on stderr between the lines":   {`echo warn >&2; cat <<'E'` + "\n" + success + "\nE\necho warn >&2", event.Success, 0, ""},
		"it asks without reading the answers": {`exec yes "$(cat ask)"`, event.Failed, -1, "does not read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			ask := `{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"` + strings.Repeat("x", 64<<10) + `"}}}`
			for file, text := range map[string]string{"script": c.script, "ask": ask} {
				if err := os.WriteFile(filepath.Join(p.work, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			task := p.task(claude.Agent{}, "Do your work.")
			task.Program, task.Grace = []string{"sh", "script"}, time.Second
			if c.code == 0 {
				task.Grace = time.Minute // it ends by itself
			}
			r := p.run(t.Context(), t, claude.Agent{}, task)
			if r.Outcome != c.want || !strings.Contains(r.Error, c.says) {
				t.Errorf("%+v", r)
			}
			if r.ExitCode == nil != (c.code < 0) || r.ExitCode != nil && *r.ExitCode != c.code {
				t.Errorf("the status: %v, want %d", r.ExitCode, c.code)
			}
			if c.want == event.Success && r.Content != "fine" {
				t.Errorf("%q", r.Content)
			}
			p.nothingRuns(t)
		})
	}
}

// Y14: an agent's time limit leaves no process of the agent, even in a session of its own.
func Test_An_Agent_That_Does_Not_Stop_Is_Stopped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit bool
		want  event.Outcome
		says  string
	}{
		"interrupted":             {false, event.Interrupted, "interrupted"},
		"the time limit of a run": {true, event.Failed, "time limit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			ctx, cancel := context.WithCancel(t.Context())
			if c.limit {
				ctx, cancel = context.WithTimeout(t.Context(), 2*time.Second)
			}
			defer cancel()
			p.seen = func(e event.Event) {
				if e.Kind == event.TextDelta || e.Kind == event.Text {
					if !c.limit {
						cancel()
					}
				}
			}
			task := p.task(claude.Agent{}, "Do your work.")
			task.Program = []string{"sh", "-c", `trap '' INT TERM; (setsid sleep 1000 &); echo '{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"working"}]},"session_id":"s","uuid":"u"}'; while :; do sleep 1000; done`, "sh"}
			task.Grace = time.Second
			r := p.run(ctx, t, claude.Agent{}, task)
			if r.Outcome != c.want || !strings.Contains(r.Error, c.says) || r.Content != "working" {
				t.Errorf("%+v", r)
			}
			p.nothingRuns(t)
		})
	}
}

// Y4, Y5: no prompt is an argument, and no shell reads one.
func Test_Prompts_Are_Not_Interpreted_By_A_Shell(t *testing.T) {
	t.Parallel()
	const evil = "one\nPROMPTEOF\nE\nEOF\ntouch pwned\n$(touch pwned) `touch pwned` '; touch pwned; '\"; touch pwned; \""
	for name, c := range map[string]struct {
		by        executor.Executor
		arguments map[string]any
	}{
		"claude": {claude.Agent{}, map[string]any{"allowed_tools": []any{"Bash($(touch pwned))", "`touch pwned`"}}},
		"codex":  {codex.Agent{}, nil},
		"cursor": {cursor.Agent{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			// Claude's input stays open, so the script reads it line by line.
			const script = `printf '%s\n' "$@" >arguments; case " $* " in *" --input-format "*) head -n 2 >said;; *) cat >said;; esac`
			if err := os.WriteFile(filepath.Join(p.work, "script"), []byte(script), 0o600); err != nil {
				t.Fatal(err)
			}
			task := p.task(c.by, evil+" PROMPT-CANARY "+strings.Repeat("word ", 100<<10))
			task.Program, task.Arguments, task.Grace = []string{"sh", "script"}, c.arguments, time.Second
			task.System, task.Model.Name = []string{evil}, "m$(touch pwned)"
			task.History = []message.Message{message.New(message.User, evil+" HISTORY-CANARY"), message.New(message.Assistant, evil)}
			_ = p.run(t.Context(), t, c.by, task) // there is no result
			said, err := os.ReadFile(filepath.Join(p.work, "said"))
			for _, want := range []string{"PROMPT-CANARY", "HISTORY-CANARY", "$(touch pwned)", "`touch pwned`"} {
				if err != nil || !strings.Contains(string(said), want) {
					t.Errorf("it was not told %q: %v", want, err)
				}
			}
			arguments, err := os.ReadFile(filepath.Join(p.work, "arguments"))
			if err != nil || len(arguments) == 0 || strings.Contains(string(arguments), "CANARY") || strings.Contains(string(arguments), "PROMPTEOF") {
				t.Errorf("its arguments: %.1000q, %v", arguments, err)
			}
			for _, list := range c.arguments {
				for _, word := range list.([]any) {
					if !strings.Contains(string(arguments), "\n"+word.(string)+"\n") {
						t.Errorf("%q is not an argument: %q", word, arguments)
					}
				}
			}
			for _, dir := range []string{p.work, p.home, task.Home} {
				if _, err := os.Lstat(filepath.Join(dir, "pwned")); err == nil {
					t.Errorf("a shell read what was said, in %s", dir)
				}
			}
		})
	}
}

// Y24: the output of an agent goes to the caller and into no file.
func Test_Agent_Output_Is_Not_Written_To_Files(t *testing.T) {
	home, temp := t.TempDir(), t.TempDir()
	for _, name := range []string{"HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(name, home)
	}
	t.Setenv("TMPDIR", temp) // including its place
	p := newPlace(t)
	canary := "LOG-" + rand.Text()
	task := p.task(claude.Agent{}, "Do your work.")
	line := strings.Replace(success, "fine", canary, 1)
	task.Program = []string{"sh", "-c", "echo '" + line + "'; echo '{\"type\":\"" + canary + "\"}'; echo " + canary + "; echo " + canary + " >&2; exit 3", "sh"}
	task.Env = []string{"DEBUG=1", "ANTHROPIC_LOG=debug"}
	began := time.Now()
	if r := p.run(t.Context(), t, claude.Agent{}, task); !r.OK() || r.Content != canary || r.Garbage != 1 || r.Unknown != 1 {
		t.Fatalf("%+v", r)
	}
	for _, dir := range []string{home, temp, "/tmp"} {
		for _, name := range holders(t, dir, canary, began) {
			t.Errorf("%s has what the agent printed", name)
		}
	}
}

// holders returns the files below a directory that were written since then and contain a text.
func holders(t *testing.T, dir, text string, since time.Time) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err == nil && dir == "/tmp" && e.IsDir() && name != dir {
			return fs.SkipDir
		}
		if err == nil && recent(e, since) { // otherwise it is gone: other processes use /tmp, too
			if data, err := os.ReadFile(name); err == nil && strings.Contains(string(data), text) {
				names = append(names, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// recent reports whether an entry is a file that was written since then.
func recent(e fs.DirEntry, since time.Time) bool {
	info, err := e.Info()
	return err == nil && info.Mode().IsRegular() && !info.ModTime().Before(since.Add(-time.Second)) && info.Size() < 64<<20
}

// Two agents run in one sandbox, and the end of one does not affect the other.
//
// Y16: ending an agent ends only its own processes, and not others with the same name.
func Test_Agents_Beside_Each_Other_End_Apart(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	first, stop := context.WithCancel(t.Context())
	defer stop()
	task := p.task(claude.Agent{}, "Do your work.")
	task.Grace = time.Second
	task.Program = []string{"sh", "-c", `mkfifo door; echo '{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"waiting"}]},"session_id":"s","uuid":"u"}'; cat door; cat <<'E'` + "\n" + success + "\nE\n", "sh"}
	other := p.task(claude.Agent{}, "Do your work.")
	other.Grace = time.Second
	other.Program = []string{"sh", "-c", "exec sleep 1000", "sh"}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = claude.Agent{}.Run(first, p.box, other, func(event.Event) {}) // it is interrupted
	}()
	p.seen = func(e event.Event) {
		if e.Kind != event.Text {
			return
		}
		stop()
		<-ended
		door, err := os.OpenFile(filepath.Join(p.work, "door"), os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		_ = door.Close()
	}
	if r := p.run(t.Context(), t, claude.Agent{}, task); !r.OK() {
		t.Errorf("%+v", r)
	}
}

// nothingRuns checks that no process has the place's workspace as its directory, except those of the sandbox
// itself.
func (p *place) nothingRuns(t *testing.T) {
	t.Helper()
	for _, process := range p.running(t) {
		if !slices.Contains(p.walls, process) {
			t.Errorf("a process is left: %s", process)
		}
	}
}

// running returns these processes, as the host sees them.
func (p *place) running(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(cwd string) bool {
		dir, err := os.Readlink(cwd)
		return err != nil || dir != p.work
	})
}
