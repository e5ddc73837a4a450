// Package broker_test runs the real coding agents against the model broker. The server behind it speaks only Chat
// Completions and follows a script.
package broker_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// program is a coding agent.
type program struct {
	name, model    string
	tool, argument string // the shell tool that it offers to its model
	file           func(npm, arch string) string
	arch           map[string]string
	command        func(bin, url, dir string) (args, env []string)
	said           func(stdout string) string // the text of its last message
}

// programs are Claude Code and Codex.
func programs() []program {
	return []program{
		{
			name: "claude", model: "claude-sonnet-4-5", tool: "Bash", argument: "command",
			arch: map[string]string{"amd64": "x64", "arm64": "arm64"},
			file: func(npm, arch string) string {
				return filepath.Join(npm, "@anthropic-ai", "claude-code-linux-"+arch, "claude")
			},
			command: func(bin, url, _ string) (args, env []string) {
				return []string{bin, "-p", "--output-format", "stream-json", "--verbose", "--model", "claude-sonnet-4-5", "--dangerously-skip-permissions", "Do your work."},
					[]string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=" + token, "IS_SANDBOX=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
			},
			said: func(stdout string) string { return last(stdout, "result", "result") },
		},
		{
			name: "codex", model: "gpt-5", tool: "exec_command", argument: "cmd",
			arch: map[string]string{"amd64": "x86_64", "arm64": "aarch64"},
			file: func(npm, arch string) string {
				short := map[string]string{"x86_64": "x64", "aarch64": "arm64"}[arch]
				return filepath.Join(npm, "@openai", "codex-linux-"+short, "vendor", arch+"-unknown-linux-musl", "bin", "codex")
			},
			command: func(bin, url, _ string) (args, env []string) {
				provider := `model_providers.broker={name="broker",base_url="` + url + `/v1",env_key="BROKER_TOKEN",wire_api="responses"}`
				return []string{
					bin, "exec", "-c", "model_provider=broker", "-c", provider, "-m", "gpt-5", "--json", "--skip-git-repo-check",
					"--dangerously-bypass-approvals-and-sandbox", "--disable", "plugins", "Do your work.",
				}, []string{"BROKER_TOKEN=" + token}
			},
			said: func(stdout string) string {
				return last(stdout, "item.completed", "text") + last(stdout, "turn.failed", "message")
			},
		},
	}
}

// find returns the program of an npm package, which `make test` installs.
func (p program) find(t *testing.T) string {
	t.Helper()
	bin := p.file(os.Getenv("AGENT_SANDBOX_NPM"), p.arch[runtime.GOARCH])
	if _, err := os.Stat(bin); err != nil {
		if slices.Contains(strings.Split(os.Getenv("SANDBOX_REQUIRE"), ","), p.name) {
			t.Fatalf("%s is not installed; `make test` does it: %v", p.name, err)
		}
		t.Skipf("%s is not installed; `make test` does it", p.name)
	}
	return bin
}

// last returns a text of the last event of a type, from its top level or one level below.
func last(stdout, kind, field string) (found string) {
	for line := range strings.Lines(stdout) {
		var e map[string]any
		if json.Unmarshal([]byte(line), &e) != nil || e["type"] != kind {
			continue
		}
		if s, ok := e[field].(string); ok {
			found = s
		}
		for _, inner := range e {
			if m, ok := inner.(map[string]any); ok {
				if s, ok := m[field].(string); ok {
					found = s
				}
			}
		}
	}
	return found
}

// run is one run of a program.
type run struct {
	*exec.Cmd
	dir, home      string
	stdout, stderr strings.Builder
}

// start starts a program in its own directory, and of this process's environment with only PATH.
func (p program) start(ctx context.Context, t *testing.T, bin, url string) *run {
	t.Helper()
	r := &run{dir: t.TempDir(), home: t.TempDir()}
	args, env := p.command(bin, url, r.dir)
	r.Cmd = exec.CommandContext(ctx, args[0], args[1:]...)
	r.Dir, r.Stdout, r.Stderr = r.dir, &r.stdout, &r.stderr
	r.Env = append(env, "PATH="+os.Getenv("PATH"), "HOME="+r.home)
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	return r
}
