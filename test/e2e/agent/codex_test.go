//go:build linux

package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/codex"
	"github.com/seed434b0696/agent-sandbox/internal/agent/executor"
	"github.com/seed434b0696/agent-sandbox/test/e2e/model"
)

// Y8: the real program finds the server at the address in its configuration.
func Test_Codex_Works_Without_A_Network(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	m := p.serve(t, []model.Turn{
		{ID: "call_bash", Tool: "exec_command", Input: map[string]any{"cmd": "printf made >made.txt; cat /proc/[0-9]*/cmdline | tr '\\0' ' '"}},
		{ID: "call_echo", Tool: "echo", Space: "mcp__tools", Input: map[string]any{"say": "hello"}},
		{Text: "All done."},
	})
	var calls atomic.Int32
	long := strings.Repeat("word ", 40<<10) // more than fits into an argument
	task := p.task(codex.Agent{}, "Do your work. "+long)
	task.System = []string{"You are SYSTEM-CANARY \"\x7f\\. " + long}
	task.History = []message.Message{message.New(message.User, "HISTORY-CANARY")}
	task.Servers = []executor.Server{{Name: "tools", Tools: []string{"echo"}, Handle: echo(&calls)}}
	r := p.run(t.Context(), t, codex.Agent{}, task)
	m.Check(t)
	if !r.OK() || r.Content != "All done." || r.Session == "" || r.ExitCode == nil || *r.ExitCode != 0 {
		t.Fatalf("%+v", r)
	}
	if got, err := os.ReadFile(filepath.Join(p.work, "made.txt")); string(got) != "made" {
		t.Errorf("the file it made: %q, %v", got, err)
	}
	if seen := m.Result(t, "call_bash").Text; !strings.Contains(seen, "--json") || strings.Contains(seen, "CANARY") || strings.Contains(seen, "word word") {
		t.Errorf("the command lines inside: %.2000s", seen)
	}
	if got := m.Result(t, "call_echo").Text; !strings.Contains(got, "you said hello") || calls.Load() != 1 {
		t.Errorf("the server's tool: %q, %d calls", got, calls.Load())
	}
	first := string(m.Asked()[0])
	for _, want := range []string{"SYSTEM-CANARY", "HISTORY-CANARY", "Do your work.", "echo"} {
		if !strings.Contains(first, want) {
			t.Errorf("the model was not told %s", want)
		}
	}
	again := p.task(codex.Agent{}, "And now?")
	again.Resume, again.Used = r.Session, r.Usage
	s := p.run(t.Context(), t, codex.Agent{}, again)
	if !s.OK() || s.Session != r.Session || s.Usage.Output >= r.Usage.Output+1000 {
		t.Errorf("%+v", s)
	}
	asked := m.Asked()
	if last := string(asked[len(asked)-1]); !strings.Contains(last, "And now?") || !strings.Contains(last, "HISTORY-CANARY") {
		t.Errorf("the model received %.3000s", last)
	}
}
