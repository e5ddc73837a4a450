//go:build linux

package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/claude"
	"github.com/seed434b0696/agent-sandbox/internal/agent/executor"
	"github.com/seed434b0696/agent-sandbox/test/e2e/model"
)

// Y1: the real program accepts the command line; it exits at once if a flag is missing.
func Test_Claude_Code_Works_Through_Its_Streams(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	m := p.serve(t, []model.Turn{
		{ID: "call_bash", Tool: "Bash", Input: map[string]any{"command": "printf made >made.txt; cat /proc/[0-9]*/cmdline | tr '\\0' ' '", "description": "x"}},
		{ID: "call_echo", Tool: "mcp__tools__echo", Input: map[string]any{"say": "hello"}},
		{Text: "All done."},
	})
	var calls atomic.Int32
	long := strings.Repeat("word ", 200<<10) // a megabyte
	task := p.task(claude.Agent{}, "Do your work. "+long)
	task.System = []string{"You are SYSTEM-CANARY. " + long}
	task.History = []message.Message{message.New(message.User, "HISTORY-CANARY"), message.New(message.Assistant, "I see.")}
	task.Session = "8f14e45f-ceea-467f-a8d3-2b1c1e5a9d10"
	task.Arguments = map[string]any{"permission_mode": "acceptEdits", "max_turns": 20.0}
	task.Servers = []executor.Server{{Name: "tools", Tools: []string{"echo"}, Handle: echo(&calls)}}
	r := p.run(t.Context(), t, claude.Agent{}, task)
	m.Check(t)
	if !r.OK() || r.Content != "All done." || r.Session != task.Session || r.ExitCode == nil || *r.ExitCode != 0 || len(r.Denials) > 0 {
		t.Fatalf("%+v", r)
	}
	if got, err := os.ReadFile(filepath.Join(p.work, "made.txt")); string(got) != "made" {
		t.Errorf("the file it made: %q, %v", got, err)
	}
	seen := m.Result(t, "call_bash").Text
	if !strings.Contains(seen, "stream-json") || strings.Contains(seen, "CANARY") || strings.Contains(seen, "word word") {
		t.Errorf("the command lines inside: %.2000s", seen)
	}
	if got := m.Result(t, "call_echo"); got.IsError || got.Text != "you said hello" || calls.Load() != 1 {
		t.Errorf("the server's tool: %+v, %d calls", got, calls.Load())
	}
	first := string(m.Asked()[0])
	for _, want := range []string{"SYSTEM-CANARY", "HISTORY-CANARY", "Do your work."} {
		if !strings.Contains(first, want) {
			t.Errorf("the model was not told %s", want)
		}
	}
	if r.Usage.Output == 0 || r.CostUSD == nil || r.Turns == 0 {
		t.Errorf("%+v", r.Usage)
	}
}

// echo is a server with one tool, which returns its argument.
func echo(calls *atomic.Int32) func(context.Context, json.RawMessage) (json.RawMessage, error) {
	return func(_ context.Context, data json.RawMessage) (json.RawMessage, error) {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Protocol  string `json:"protocolVersion"`
				Arguments struct{ Say string }
			}
		}
		if err := json.Unmarshal(data, &m); err != nil {
			return nil, err
		}
		var result string
		switch m.Method {
		case "initialize":
			result = fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"tools","version":"1"}}`, m.Params.Protocol)
		case "tools/list":
			result = `{"tools":[{"name":"echo","description":"says it","inputSchema":{"type":"object","properties":{"say":{"type":"string"}}}}]}`
		case "tools/call":
			calls.Add(1)
			result = fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, "you said "+m.Params.Arguments.Say)
		default:
			return nil, nil
		}
		return json.RawMessage(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)), nil
	}
}

func Test_Claude_Code_Resumes_A_Session(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	m := p.serve(t, []model.Turn{{Text: "I will remember."}})
	task := p.task(claude.Agent{}, "The word is FIRST-CANARY.")
	task.Session = "8f14e45f-ceea-467f-a8d3-2b1c1e5a9d11"
	if r := p.run(t.Context(), t, claude.Agent{}, task); !r.OK() || r.Session != task.Session {
		t.Fatalf("%+v", r)
	}
	again := p.task(claude.Agent{}, "What is the word?")
	again.Resume = task.Session
	again.History = []message.Message{message.New(message.User, "NOT-TOLD-TWICE")}
	if r := p.run(t.Context(), t, claude.Agent{}, again); !r.OK() || r.Session != task.Session {
		t.Fatalf("%+v", r)
	}
	asked := m.Asked()
	last := string(asked[len(asked)-1])
	if !strings.Contains(last, "FIRST-CANARY") || !strings.Contains(last, "I will remember.") || strings.Contains(last, "NOT-TOLD-TWICE") {
		t.Errorf("the model received %s", last)
	}
	again.Resume = "00000000-0000-4000-8000-000000000000"
	if r := p.run(t.Context(), t, claude.Agent{}, again); r.OK() || !strings.Contains(r.Error, "No conversation found") {
		t.Errorf("a session that is not there: %+v", r)
	}
}

func Test_Claude_Code_Is_Interrupted(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve(t, []model.Turn{
		{ID: "call_wait", Tool: "Bash", Input: map[string]any{"command": "echo begun >begun; sleep 1000", "description": "x"}},
		{Text: "never said"},
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p.seen = func(e event.Event) {
		if e.Kind == event.ToolStarted {
			cancel()
		}
	}
	r := p.run(ctx, t, claude.Agent{}, p.task(claude.Agent{}, "Wait."))
	if r.Outcome != event.Interrupted || r.Error != "interrupted" {
		t.Errorf("%+v", r)
	}
}

func Test_Permissions_Of_Claude_Code_Are_Decided_By_Its_Mode(t *testing.T) {
	t.Parallel()
	for mode, allowed := range map[string]bool{"": true, "acceptEdits": true, "default": false, "dontAsk": false} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.serve(t, []model.Turn{
				{ID: "call_test", Tool: "Bash", Input: map[string]any{"command": "python3 -c 'open(\"made.txt\",\"w\").write(\"made\")'", "description": "x"}},
				{Text: "All done."},
			})
			task := p.task(claude.Agent{}, "Do your work.")
			if mode != "" {
				task.Arguments = map[string]any{"permission_mode": mode}
			}
			r := p.run(t.Context(), t, claude.Agent{}, task)
			_, err := os.Stat(filepath.Join(p.work, "made.txt"))
			if !r.OK() || (err == nil) != allowed || (len(r.Denials) == 0) != allowed {
				t.Errorf("%+v, the file: %v", r, err)
			}
		})
	}
}

func Test_An_Agent_That_Cannot_Be_Started_Is_An_Error(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	task := p.task(claude.Agent{}, "Do your work.")
	task.Program = []string{"no-such-agent"}
	err := claude.Agent{}.Run(t.Context(), p.box, task, func(event.Event) {})
	if err == nil || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
