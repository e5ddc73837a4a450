//go:build linux

package network_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/test/e2e/model"
)

// agentDir returns the directory of a coding agent's program, which every user can execute.
func agentDir(t *testing.T, name string) string {
	t.Helper()
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	from := filepath.Join(os.Getenv("AGENT_SANDBOX_NPM"), map[string]string{
		"claude": "@anthropic-ai/claude-code-linux-" + arch,
		"codex":  "@openai/codex-linux-" + arch + "/vendor/" + machine + "-unknown-linux-musl/bin",
	}[name])
	if _, err := os.Stat(filepath.Join(from, name)); err != nil {
		missing(t, name)
	}
	dir, err := internet.Show(from, name)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// The commands claude and codex run the real programs from a fresh home, with the key outside.
func Test_Coding_Agents_Work_With_Their_Keys_Outside(t *testing.T) {
	available(t)
	const key = "sk-ant-api03-canary-0123456789-0123456789-0123456789"
	command := func(id, tool, name, text string) model.Turn {
		return model.Turn{ID: id, Tool: tool, Input: map[string]any{name: text, "description": id}}
	}
	for _, agent := range []struct {
		name, host, variable, inside, tool, input string
		args                                      []string
		settings                                  string // a file of the agent's own settings
		hosts                                     string // the directory in which the agent of the host would have its settings
	}{
		{
			name: "claude", host: "api.anthropic.com", variable: "ANTHROPIC_API_KEY", inside: "AGENT_SANDBOX_MODEL_KEY", tool: "Bash", input: "command",
			args: []string{"-p", "--dangerously-skip-permissions", "Do your work."}, settings: ".claude.json", hosts: ".claude",
		},
		{
			name: "codex", host: "api.openai.com", variable: "OPENAI_API_KEY", inside: "OPENAI_API_KEY", tool: "exec_command", input: "cmd",
			args: []string{"exec", "--skip-git-repo-check", "Do your work."}, settings: "sessions", hosts: ".codex",
		},
	} {
		for name, uid := range users() {
			t.Run(agent.name+" "+name, func(t *testing.T) {
				dir := agentDir(t, agent.name)
				h := newHost(t, uid)
				run := func(args ...string) outcome {
					return h.run(t, "env", append([]string{"PATH=" + dir + ":/usr/local/bin:/usr/bin:/bin", agent.variable + "=" + key, h.command}, args...)...)
				}
				m := model.New([]model.Turn{
					command("call_key", agent.tool, agent.input, "printenv "+agent.inside+"; env | grep -c canary; printf made >made.txt"),
					command("call_host", agent.tool, agent.input, "curl -sS https://allowed.test/ 2>&1"),
					{Text: "All done."},
				})
				defer internet.Handle(agent.host, m)()
				internet.Take()
				got := run(append([]string{agent.name, "--"}, agent.args...)...)
				if got.code != 0 || !strings.Contains(got.stdout, "All done.") {
					t.Fatal(got)
				}
				m.Check(t)
				onlyAt(t, internet.Take(), agent.host)
				if keys := m.Keys(); !slices.Equal(keys, []string{key}) {
					t.Errorf("the model received the keys %q", keys)
				}
				if seen := m.Result(t, "call_key").Text; strings.Contains(seen, "canary") || !strings.Contains(seen, "sk-ant-api03-") || !strings.Contains(seen, "\n0") {
					t.Errorf("the variable inside: %q", seen)
				}
				if seen := m.Result(t, "call_host").Text; strings.Contains(seen, "hello") || !strings.Contains(seen, "refused") && !strings.Contains(seen, "403") {
					t.Errorf("another host: %q", seen)
				}
				if text, err := os.ReadFile(filepath.Join(h.work, "made.txt")); string(text) != "made" {
					t.Errorf("the file that it made: %q, %v", text, err)
				}
				own := filepath.Join(h.home, ".local/share/agent-sandbox/agents", agent.name)
				if _, err := os.Lstat(filepath.Join(own, agent.settings)); err != nil {
					t.Error(err)
				}
				if _, err := os.Lstat(filepath.Join(h.home, agent.hosts)); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("the settings of the host's agent: %v", err)
				}
				if got := run("exec", "--", "ls", "-A", own); got.code == 0 || got.stdout != "" {
					t.Errorf("another sandbox sees the settings: %v", got)
				}
			})
		}
	}
}

func Test_A_Coding_Agent_That_Cannot_Run_Starts_Nothing(t *testing.T) {
	available(t)
	h := newHost(t, internet.PlainUID)
	for name, row := range map[string]struct {
		env, args []string
		want      string
	}{
		"not installed":     {nil, []string{"claude"}, "Claude Code is not installed: no claude in PATH\nhint: install it on this host: npm install -g @anthropic-ai/claude-code\n"},
		"another backend":   {nil, []string{"codex", "--backend", "docker"}, "hint: leave out --backend"},
		"an argument of it": {nil, []string{"claude", "-p", "hello"}, "unknown shorthand flag: 'p' in -p\nhint: see 'agent-sandbox claude --help'; arguments of Claude Code come after '--'\n"},
		"loopback":          {[]string{"ANTHROPIC_BASE_URL=http://127.0.0.1:4000", "PATH=" + agentDir(t, "claude") + ":/usr/bin:/bin"}, []string{"claude"}, "ANTHROPIC_BASE_URL: 127.0.0.1:4000 is loopback, and that of the sandbox is another one"},
		"a login":           {[]string{"ANTHROPIC_BASE_URL=https://user:word@gateway.example", "PATH=" + agentDir(t, "claude") + ":/usr/bin:/bin"}, []string{"claude"}, "expected an address such as https://HOST"},
		"a wrong address":   {[]string{"ANTHROPIC_BASE_URL=model", "PATH=" + agentDir(t, "claude") + ":/usr/bin:/bin"}, []string{"claude"}, `ANTHROPIC_BASE_URL: found "model", expected an address such as https://HOST`},
	} {
		t.Run(name, func(t *testing.T) {
			got := h.run(t, "env", append(append(row.env, h.command), row.args...)...)
			if got.code != 125 || got.stdout != "" || !strings.Contains(got.stderr, row.want) {
				t.Error(got)
			}
			if _, err := os.Lstat(filepath.Join(h.home, ".local/share/agent-sandbox/agents")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a directory of settings: %v", err)
			}
		})
	}
}
