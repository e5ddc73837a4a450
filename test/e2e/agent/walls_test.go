//go:build linux

package agent_test

import (
	"io"
	"os"
	"sync/atomic"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/agent/claude"
	"github.com/seed434b0696/agent-sandbox/internal/agent/codex"
	"github.com/seed434b0696/agent-sandbox/internal/agent/executor"
	"github.com/seed434b0696/agent-sandbox/test/e2e/model"
)

func Test_Agents_Work_In_Containers(t *testing.T) {
	t.Parallel()
	for _, by := range []executor.Executor{claude.Agent{}, codex.Agent{}} {
		t.Run(by.Name(), func(t *testing.T) {
			t.Parallel()
			works(t, open(t, "docker"), by)
		})
	}
}

// A pod without a network has no Internet sockets: Claude Code uses a Unix socket, and for Codex the guest replaces
// the loopback.
func Test_Agents_Work_In_Pods(t *testing.T) {
	t.Parallel()
	for _, by := range []executor.Executor{claude.Agent{}, codex.Agent{}} {
		t.Run(by.Name(), func(t *testing.T) {
			t.Parallel()
			p := open(t, "kube")
			if by.CanUseSockets() {
				p.socket = "/tmp/model"
			}
			p.put(t, by.Name())
			works(t, p, by)
		})
	}
}

// works runs an agent that creates a file and uses a tool of a server.
func works(t *testing.T, p *place, by executor.Executor) {
	t.Helper()
	write := model.Turn{ID: "call_write", Tool: "Bash", Input: map[string]any{"command": "printf made >made.txt", "description": "x"}}
	use := model.Turn{ID: "call_echo", Tool: "mcp__tools__echo", Input: map[string]any{"say": "hello"}}
	if by.Name() == "codex" {
		write.Tool, write.Input = "exec_command", map[string]any{"cmd": "printf made >made.txt"}
		use.Tool, use.Space = "echo", "mcp__tools"
	}
	m := p.serve(t, []model.Turn{write, use, {Text: "All done."}})
	var calls atomic.Int32
	task := p.task(by, "Do your work.")
	task.Servers = []executor.Server{{Name: "tools", Tools: []string{"echo"}, Handle: echo(&calls)}}
	r := p.run(t.Context(), t, by, task)
	m.Check(t)
	if !r.OK() || r.Content != "All done." || calls.Load() != 1 {
		t.Fatalf("%+v, %d calls", r, calls.Load())
	}
	if got := m.Result(t, "call_write"); got.IsError {
		t.Errorf("writing gave %+v", got)
	}
	f, err := p.box.Files().Open(t.Context(), "made.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if data, err := io.ReadAll(f); string(data) != "made" {
		t.Errorf("the file it made: %q, %v", data, err)
	}
}

// put copies an agent's program into the sandbox.
func (p *place) put(t *testing.T, name string) {
	t.Helper()
	from, err := os.Open(p.programs[name])
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	p.programs[name] = "/tmp/" + name + "-program"
	if err := p.box.Files().Create(t.Context(), p.programs[name], 0o755, from); err != nil {
		t.Fatal(err)
	}
}
