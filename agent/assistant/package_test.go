package assistant

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/tool"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// seedPackage is the package of the assistant that this project began with,
// unchanged.
const seedPackage = `// assistants/coder/package.yao
{
  "name": "Coder Assistant",
  "connector": "deepseek.v3",

  // Sandbox configuration
  "sandbox": {
    "command": "claude",                         // claude | cursor (future)
    "image": "yaoapp/sandbox-claude:latest",     // Optional, auto-selected by agent
    "max_memory": "4g",                          // Optional
    "max_cpu": 2.0,                              // Optional
    "timeout": "10m",                            // Optional, execution timeout
    "arguments": {
      // Command-specific arguments (passed to Claude CLI)
      "max_turns": 20,
      "permission_mode": "acceptEdits"
      // Different commands may have different arguments
    }
  },

  // MCP servers
  "mcp": {
    "servers": [
      {
        "server_id": "filesystem",
        "tools": ["read_file", "write_file", "list_directory"]
      }
    ]
  }
}
`

func Test_The_Package_Of_The_Seed_Is_Read_As_It_Stands(t *testing.T) {
	t.Parallel()
	dir := layOut(t, map[string]string{
		"assistants/a/package.yao": seedPackage, "connectors/deepseek/v3.conn.yao": plainConnector,
		"assistants/a/mcps/filesystem.mcp.yao": `{"label": "Files", "command": "server", "arguments": ["-x"], "env": {"TOKEN": "$ENV.T"}, "timeout": "30s"}`,
		"assistants/a/mcps/other.mcp.yao":      `{"url": "https://a.b/mcp"}`,
		"assistants/a/prompts.yml":             "- role: system\n  content: |\n    Be\n    brief.\n- {role: user, content: \"hi\"}\n",
		"assistants/a/skills/s/SKILL.md":       "---\nname: s\ndescription: x\n---\n",
		"assistants/a/src/index.js":            "function Create() {}",
	})
	got, err := open(t, dir).Load("a")
	if err != nil {
		t.Fatal(err)
	}
	if got.Connector.ID != "deepseek.v3" || len(got.Skills.Skills) != 1 || got.Skills.Skills[0].Name != "s" {
		t.Errorf("connector %+v, skills %+v", got.Connector, got.Skills)
	}
	at := dir + "/assistants/a"
	want := &Assistant{
		Name: "a", Label: "Coder Assistant", Dir: at, File: at + "/package.yao", Hooks: "src/index.js",
		Prompts: []message.Message{message.New(message.System, "Be\nbrief.\n"), message.New(message.User, "hi")},
		Servers: []tool.Server{{
			ID: "filesystem", Label: "Files", Command: []string{"server", "-x"}, Env: map[string]string{"TOKEN": "$ENV.T"}, Dir: at,
			Timeout: 30 * time.Second, Tools: []string{"read_file", "write_file", "list_directory"},
		}},
		Sandbox: &Sandbox{
			Command: Claude, Image: "yaoapp/sandbox-claude:latest", Timeout: 10 * time.Minute,
			Claude: ClaudeArguments{MaxTurns: 20, PermissionMode: "acceptEdits"},
			Layer: sandbox.Layer{
				Name: "assistant", File: at + "/package.yao", Policy: sandbox.Policy{Limits: sandbox.Limits{Memory: 4 << 30, CPU: 2}},
				Lines: map[string]int{"limits.memory": 10, "limits.cpu": 11},
			},
		},
	}
	diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Assistant{}), cmpopts.IgnoreFields(Assistant{}, "Connector", "Skills"))
	if diff != "" {
		t.Error(diff)
	}
}

func Test_Every_Key_Of_A_Package_Is_Read(t *testing.T) {
	t.Parallel()
	p, s := parsePackage("f", []byte(`{
  "$schema": "x", "name": "A", "description": "two\nlines", "connector": "m",
  "sandbox": {
    "command": "codex", "backend": "docker", "max_memory": "2gb", "timeout": "1h30m",
    "arguments": {"effort": "high", "summary": "none", "verbosity": "low", "append_system_prompt": "x"},
    "policy": {"network": {"allow": ["example.com"]}, "limits": {
      "cpu": 1.5}},
  },
  "options": {"max_tokens": 5},
  "limits": {"concurrent_requests": 1, "tokens_per_request": 2, "cost_per_request_usd": 0.3, "tokens_per_day": 4, "cost_per_day_usd": 5, "workspaces": 6},
}`))
	if len(p.problems) > 0 {
		t.Fatal(p.problems)
	}
	want := &Sandbox{
		Command: Codex, Backend: "docker", Timeout: 90 * time.Minute,
		Codex: CodexArguments{Effort: "high", Summary: "none", Verbosity: "low", AppendSystemPrompt: "x"},
		Layer: sandbox.Layer{
			Name: "assistant", File: "f",
			Policy: sandbox.Policy{
				Network: sandbox.Network{Mode: sandbox.NetworkAllow, Allow: []string{"example.com"}},
				Limits:  sandbox.Limits{Memory: 2 << 30, CPU: 1.5},
			},
			Lines: map[string]int{"network": 6, "network.allow": 6, "network.allow[0]": 6, "limits": 6, "limits.cpu": 7, "limits.memory": 4},
		},
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Limits{1, 2, 0.3, 4, 5, 6}, p.doc.Limits); diff != "" {
		t.Error(diff)
	}
	force := true
	_, s = parsePackage("f", []byte(`{"name": "A", "connector": "m", "sandbox": {"command": "cursor", "arguments": {"force": true, "mode": "plan"}}}`))
	if diff := cmp.Diff(CursorArguments{Force: &force, Mode: "plan"}, s.Cursor); diff != "" {
		t.Error(diff)
	}
}

// badPackages are invalid members of a package with the expected problems.
var badPackages = []struct{ name, text, want string }{
	{"an unknown key", `"sandbx": {}`, `f:2: sandbx: found an unknown key, expected one of $schema, name, description, connector, sandbox, mcp, options, limits (did you mean "sandbox"?)`},
	{"a key twice", `"name": "B"`, `f:2: name: found a second time, expected once (first on line 1)`},
	{"no command", `"sandbox": {}`, "f:2: sandbox.command: found nothing, expected one of claude, codex, cursor"},
	{"another command", `"sandbox": {"command": "cluade"}`, `f:2: sandbox.command: found "cluade", expected one of claude, codex, cursor (did you mean "claude"?)`},
	{"virtual", `"sandbox": {"command": "claude", "backend": "virtual"}`, "f:2: sandbox.backend: found virtual, in which no program of the host runs, expected one of bwrap, docker, kube"},
	{"another backend", `"sandbox": {"command": "claude", "backend": "podman"}`, `f:2: sandbox.backend: found "podman", expected one of bwrap, docker, kube`},
	{"memory that is no size", `"sandbox": {"command": "claude", "max_memory": "4xyz"}`, `f:2: sandbox.max_memory: found "4xyz", expected a positive size such as "4g" or "512MiB"`},
	{"no memory", `"sandbox": {"command": "claude", "max_memory": 0}`, `f:2: sandbox.max_memory: found 0, expected a positive size such as "4g" or "512MiB"`},
	{"no processor", `"sandbox": {"command": "claude", "max_cpu": 0}`, "f:2: sandbox.max_cpu: found 0, expected a number from 0.01 to 65536"},
	{"too many processors", `"sandbox": {"command": "claude", "max_cpu": 1e9}`, "f:2: sandbox.max_cpu: found 1e+09, expected a number from 0.01 to 65536"},
	{"a timeout without a unit", `"sandbox": {"command": "claude", "timeout": "10"}`, `f:2: sandbox.timeout: found "10", expected a positive duration such as "90s" or "10m"`},
	{"a timeout without end", `"sandbox": {"command": "claude", "timeout": "9999h"}`, "f:2: sandbox.timeout: found 9999h0m0s, expected at most 168h0m0s"},
	{"an image that is a flag", `"sandbox": {"command": "claude", "image": "--privileged"}`, `f:2: sandbox.image: found "--privileged", expected an image such as "registry.example/agent:1"`},
	{"an image of two words", `"sandbox": {"command": "claude", "image": "a b"}`, `f:2: sandbox.image: found "a b", expected an image such as "registry.example/agent:1"`},
	{"an image for bwrap", `"sandbox": {"command": "claude", "image": "a", "backend": "bwrap"}`, `f:2: sandbox.image: found an image, which bwrap has none of (leave it out, or write "backend": "docker")`},
	{"an unknown argument", `"sandbox": {"command": "claude", "arguments": {"max_turn": 3}}`, `f:2: sandbox.arguments.max_turn: found an unknown key, expected one of max_turns, permission_mode, tools, allowed_tools, disallowed_tools, max_budget_usd, effort, append_system_prompt (did you mean "max_turns"?)`},
	{"an argument of another command", `"sandbox": {"command": "codex", "arguments": {"max_turns": 3}}`, "f:2: sandbox.arguments.max_turns: found an unknown key, expected one of effort, summary, verbosity, append_system_prompt"},
	{"arguments as a list", `"sandbox": {"command": "cursor", "arguments": ["--force"]}`, "f:2: sandbox.arguments: found an array, expected an object"},
	{"no turns", `"sandbox": {"command": "claude", "arguments": {"max_turns": 0}}`, "f:2: sandbox.arguments.max_turns: found 0, expected a whole number from 1 to 100000"},
	{"turns as a text", `"sandbox": {"command": "claude", "arguments": {"max_turns": "3"}}`, `f:2: sandbox.arguments.max_turns: found "3", expected a whole number of at least 1`},
	{"another mode", `"sandbox": {"command": "claude", "arguments": {"permission_mode": "acceptedits"}}`, `f:2: sandbox.arguments.permission_mode: found "acceptedits", expected one of default, acceptEdits, dontAsk, plan, bypassPermissions (did you mean "acceptEdits"?)`},
	{"a tool that is a flag", `"sandbox": {"command": "claude", "arguments": {"allowed_tools": ["Read", "--dangerously-skip-permissions"]}}`, `f:2: sandbox.arguments.allowed_tools[1]: found "--dangerously-skip-permissions", expected one line that does not begin with '-'`},
	{"no budget", `"sandbox": {"command": "claude", "arguments": {"max_budget_usd": 0}}`, "f:2: sandbox.arguments.max_budget_usd: found 0, expected US dollars above 0 and up to 1000000"},
	{"no prompt", `"sandbox": {"command": "codex", "arguments": {"append_system_prompt": " "}}`, "f:2: sandbox.arguments.append_system_prompt: found no text, or more than 128KiB, expected a prompt"},
	{"a policy with an unknown key", "\"sandbox\": {\"command\": \"claude\", \"policy\": {\n\"netwrok\": \"none\"}}", `f:3: sandbox.policy.netwrok: found an unknown key, expected one of $schema, backend, network, docker, userns, debuggers, filesystem, commands, secrets, env, limits, requests, assistants (did you mean "network"?)`},
	{"a policy with a wrong value", "\"sandbox\": {\"command\": \"claude\", \"policy\": {\n\"filesystem\": {\n\"presets\": [\"x\"]}}}", `f:4: sandbox.policy.filesystem.presets[0]: found "x", expected "@name" or "!@name"`},
	{"a policy that is a text", `"sandbox": {"command": "claude", "policy": "none"}`, `f:2: sandbox.policy: found "none", expected an object`},
	{"a policy with a backend", `"sandbox": {"command": "claude", "policy": {"backend": "bwrap"}}`, "f:2: sandbox.policy: found a backend in it, expected it as sandbox.backend"},
	{"memory twice", "\"sandbox\": {\"command\": \"claude\", \"policy\": {\"limits\": {\"memory\": \"1g\"}},\n\"max_memory\": \"2g\"}", "f:3: sandbox.max_memory: found policy.limits.memory beside it, expected one of them"},
	{"a temperature in a sandbox", `"sandbox": {"command": "claude"}, "options": {"temperature": 1}`, "f:2: options.temperature: found beside a sandbox, whose coding agent chooses it, expected none"},
	{"thinking in a sandbox", `"sandbox": {"command": "claude"}, "options": {"thinking": {"type": "adaptive"}}`, "f:2: options.thinking: found beside a sandbox, whose coding agent chooses it, expected none"},
	{"an effort in a sandbox", `"sandbox": {"command": "claude"}, "options": {"reasoning_effort": "high"}`, "f:2: options.reasoning_effort: found beside a sandbox, whose coding agent chooses it, expected none"},
	{"an unknown effort", `"options": {"reasoning_effort": "hgh"}`, `f:2: options.reasoning_effort: found "hgh", expected one of none, minimal, low, medium, high, xhigh, max (did you mean "high"?)`},
	{"too warm", `"options": {"temperature": 3}`, "f:2: options.temperature: found 3, expected a number from 0 to 2"},
	{"no server", `"mcp": {"servers": [{"tools": ["a"]}]}`, "f:2: mcp.servers[0]: found no server_id, expected the name of a file in mcps/"},
	{"a server twice", "\"mcp\": {\"servers\": [{\"server_id\": \"s\"},\n{\"server_id\": \"s\"}]}", `f:3: mcp.servers[1].server_id: found "s" a second time, expected once`},
	{"no tool", `"mcp": {"servers": [{"server_id": "s", "tools": []}]}`, "f:2: mcp.servers[0].tools: found no tool, expected at least one (without the key all tools of the server are used)"},
	{"servers as texts", `"mcp": {"servers": ["s"]}`, `f:2: mcp.servers[0]: found "s", expected an object`},
	{"no workspace", `"limits": {"workspaces": 0}`, "f:2: limits.workspaces: found 0, expected a whole number from 1 to 100000"},
	{"no requests", `"limits": {"concurrent_requests": 0}`, "f:2: limits.concurrent_requests: found 0, expected a whole number from 1 to 100000"},
	{"half a token", `"limits": {"tokens_per_day": 0.5}`, "f:2: limits.tokens_per_day: found 0.5, expected a whole number of at least 1"},
	{"a debt", `"limits": {"cost_per_day_usd": -1}`, "f:2: limits.cost_per_day_usd: found -1, expected US dollars above 0 and up to 1000000"},
	{"a long description", `"description": "` + strings.Repeat("x", maxDescription+1) + `"`, "f:2: description: found 16385 bytes, expected at most 16384"},
}

// Y13: a max_memory that is no size is an error with its line.
func Test_A_Wrong_Package_Is_Refused_Where_It_Is_Wrong(t *testing.T) {
	t.Parallel()
	for _, c := range badPackages {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, _ := parsePackage("f", []byte("{\"name\": \"A\", \"connector\": \"m\",\n"+c.text+"}"))
			var told reported
			told.add(p.problems...)
			if diff := cmp.Diff([]string{c.want}, lines("/no root", told.problems)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func Test_A_Package_Without_A_Name_Or_A_Connector_Is_Refused(t *testing.T) {
	t.Parallel()
	p, _ := parsePackage("f", []byte("{}"))
	var told reported
	told.add(p.problems...)
	want := []string{"f:1: name: found nothing, expected a name for people", `f:1: connector: found nothing, expected a connector such as "deepseek.v3"`}
	if diff := cmp.Diff(want, lines("/no root", told.problems)); diff != "" {
		t.Error(diff)
	}
}
