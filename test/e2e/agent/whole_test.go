//go:build linux

package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed434b0696/agent-sandbox/agent"
	"github.com/seed434b0696/agent-sandbox/agent/assistant"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/backend/bwrap"
	"github.com/seed434b0696/agent-sandbox/backend/docker"
	"github.com/seed434b0696/agent-sandbox/backend/kube"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/e2e/model"
)

// TestMain also runs the MCP server of an assistant: "tools FILE" appends each request to the file.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "tools" {
		if err := tools(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func tools(notes string) error {
	s := mcp.NewServer(&mcp.Implementation{Name: "tools", Version: "1"}, nil)
	tool := func(name string) {
		s.AddTool(&mcp.Tool{Name: name, Description: "tells " + name, InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				err := os.WriteFile(notes, fmt.Appendf(nil, "%s %s", name, r.Params.Arguments), 0o600)
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "SECRET-OF-THE-HOST"}}}, err
			})
	}
	tool("told")
	tool("untold") // a tool that the assistant does not list
	return s.Run(context.Background(), &mcp.StdioTransport{})
}

// isolation returns a pipeline option for one backend, without a network.
func isolation(t *testing.T, backend, data string) func(*assistant.Assistant) (sandbox.Driver, sandbox.Spec, error) {
	t.Helper()
	spec := sandbox.Spec{Home: "/nonexistent-home", Env: []string{"PATH=/usr/bin:/bin", "MODEL_KEY=" + realKey}}
	var driver sandbox.Driver
	switch backend {
	case "docker":
		driver = docker.New(docker.Options{Env: os.Environ(), DataDir: data})
		spec.Image = agentsImage(t, backend)
	case "kube":
		driver = kube.New(kube.Options{Env: os.Environ(), DataDir: data})
		spec.Image = agentsImage(t, backend)
		spec.Home, spec.Env[0] = "", "PATH=/usr/local/bin:/usr/bin:/bin"
		spec.Policy.Limits.Memory, spec.Policy.Limits.Tmp = 3<<30, 1<<30
	default:
		driver = bwrap.New(bwrap.Options{DataDir: data})
	}
	return func(*assistant.Assistant) (sandbox.Driver, sandbox.Spec, error) { return driver, spec, nil }
}

// building is held by the test that builds the image.
var building sync.Mutex

// agentsImage builds the image, and copies it to the node of a cluster.
func agentsImage(t *testing.T, backend string) string {
	t.Helper()
	building.Lock()
	defer building.Unlock()
	// The directory's name has the versions of its content, because a node that has an image with a name does not load another
	// one.
	name := "local/agent-sandbox-agents:" + filepath.Base(filepath.Dir(os.Getenv("AGENT_SANDBOX_NPM")))
	dir := t.TempDir()
	from := "FROM " + image + "\n"
	all := agentPrograms(t)
	for _, agentName := range slices.Sorted(maps.Keys(all)) {
		from += "COPY " + agentName + " /usr/local/bin/" + agentName + "\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte(from), 0o600); err != nil {
		t.Fatal(err)
	}
	lines := [][]string{append(append([]string{"cp"}, slices.Collect(maps.Values(all))...), dir), {"docker", "build", "-q", "-t", name, dir}}
	if backend == "kube" {
		lines = append(lines, []string{filepath.Join("..", "..", "testbed", "up.sh"), "load", name})
	}
	for _, line := range lines {
		if out, err := exec.CommandContext(t.Context(), line[0], line[1:]...).CombinedOutput(); err != nil {
			required(t, backend, fmt.Errorf("the agents' image: %w: %s", err, out))
		}
	}
	return name
}

// way has the tool calls with which one agent uses the parts under test.
type way struct{ bash, command, arguments string }

// Y25: no file, variable or command line inside contains the key.
func Test_An_Assistant_Works_Without_A_Key(t *testing.T) {
	t.Parallel()
	worksWithoutAKey(t, "bwrap")
}

func Test_An_Assistant_Works_Without_A_Key_In_Containers(t *testing.T) {
	t.Parallel()
	worksWithoutAKey(t, "docker")
}

func Test_An_Assistant_Works_Without_A_Key_In_Pods(t *testing.T) {
	t.Parallel()
	worksWithoutAKey(t, "kube")
}

// worksWithoutAKey runs each agent through the whole pipeline: hooks, a command, a file, a tool of a server on the host, a
// skill, and the booked usage. The agent searches for the key everywhere.
func worksWithoutAKey(t *testing.T, backend string) {
	t.Helper()
	for name, c := range map[string]way{
		"claude": {"Bash", "command", `{"max_turns": 20, "permission_mode": "acceptEdits"}`},
		"codex":  {"exec_command", "cmd", `{"effort": "low"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			look := `printf made >made.txt; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr '\0' '\n'; env; ` +
				`grep -rsl -D skip "canary[-]7f3a" . /tmp /run /etc /home /var/tmp; echo looked`
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			notes := filepath.Join(t.TempDir(), "notes")
			a, m := newAppIn(t, backend, []model.Turn{
				{ID: "call_look", Tool: c.bash, Input: map[string]any{c.command: look, "description": "x"}},
				{ID: "call_tell", Tool: "mcp__tools__told", Input: map[string]any{"say": "hello"}},
				{Text: "All done."},
			}, map[string]string{
				"assistants/coder/package.yao": `{"name": "Coder", "connector": "scripted",
					"sandbox": {"command": "` + name + `", "timeout": "5m", "arguments": ` + c.arguments + `},
					"mcp": {"servers": [{"server_id": "tools", "tools": ["told"]}]}}`,
				"assistants/coder/mcps/tools.mcp.yao":       `{"transport": "stdio", "command": "` + self + `", "arguments": ["tools", "` + notes + `"]}`,
				"assistants/coder/skills/greeting/SKILL.md": "---\nname: greeting\ndescription: SKILL-CANARY, to greet people.\n---\nSay hello.\n",
				"assistants/coder/src/index.ts": `
					function Create(ctx, messages, options) { ctx.sandbox.WriteFile("asked.txt", messages[messages.length - 1].content); return { messages } }
					function Next(ctx, payload, options) { return { data: ctx.sandbox.ReadFile("made.txt") + ctx.sandbox.Exec(["cat", "asked.txt"]) } }`,
			})
			r, _ := a.ask(t.Context(), t, agent.Request{User: "ann", Assistant: "coder", Prompt: message.New(message.User, "Do your work.")})
			m.Check(t)
			if !r.OK() || r.Content != "All done." || string(r.Data) != `"madeDo your work."` {
				t.Fatalf("%+v %s", r, r.Data)
			}
			if got := m.Result(t, "call_look").Text; strings.Contains(got, "canary-7f3a") || !strings.Contains(got, "looked") {
				t.Errorf("the key is inside: %s", got)
			}
			if got := m.Result(t, "call_tell").Text; !strings.Contains(got, "SECRET-OF-THE-HOST") {
				t.Errorf("the tool of the server says %q", got)
			}
			if got, err := os.ReadFile(notes); string(got) != `told {"say":"hello"}` {
				t.Errorf("the server received %q, %v", got, err)
			}
			if keys := m.Keys(); len(keys) != 1 || keys[0] != realKey {
				t.Errorf("the model saw the keys %q", keys)
			}
			first := string(m.Asked()[0])
			if !strings.Contains(first, "SKILL-CANARY") {
				t.Error("the model was not told of the skill")
			}
			if strings.Contains(first, "untold") {
				t.Error("the model received a tool that the assistant does not list")
			}
			a.booked(t, 1)
			a.arrived(t, "made.txt", "made")
			again, _ := a.ask(t.Context(), t, agent.Request{User: "ann", Assistant: "coder", Chat: r.Chat, Prompt: message.New(message.User, "And now?")})
			if !again.OK() || again.Content != "All done." || string(again.Data) != `"madeAnd now?"` {
				t.Fatalf("%+v %s", again, again.Data)
			}
			asked := m.Asked()
			if last := string(asked[len(asked)-1]); !strings.Contains(last, "All done.") || !strings.Contains(last, "And now?") {
				t.Errorf("the model received %.3000s", last)
			}
		})
	}
}

// arrived checks for a file in a workspace, which exists as long as its chat.
func (a *app) arrived(t *testing.T, name, want string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(a.store.Dir(), "workspaces", "*", "*", name))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s is in %d workspaces, %v", name, len(found), err)
	}
	if got, err := os.ReadFile(found[0]); string(got) != want {
		t.Errorf("%s has %q, %v", name, got, err)
	}
}
