package codex

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/executor"
	"github.com/seed434b0696/agent-sandbox/internal/guest/guestnet"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Agent runs Codex. Its prompt goes through stdin, and its settings into the configuration file in its home, which Run
// writes anew: every process in the sandbox can read arguments, and an argument has at most 128 KiB. The zero value is
// ready.
type Agent struct{}

// Name implements [executor.Executor].
func (Agent) Name() string { return "codex" }

// known are the arguments for Codex in an assistant's sandbox block.
var known = executor.Arguments{
	"effort":    {Kind: executor.Choice, Choices: []string{"minimal", "low", "medium", "high", "xhigh"}},
	"summary":   {Kind: executor.Choice, Choices: []string{"auto", "concise", "detailed", "none"}},
	"verbosity": {Kind: executor.Choice, Choices: []string{"low", "medium", "high"}},
}

// Arguments implements [executor.Executor].
func (Agent) Arguments() executor.Arguments { return known }

// CanUseSockets implements [executor.Executor].
func (Agent) CanUseSockets() bool { return false }

// Run implements [executor.Executor]. The task must name a home.
func (Agent) Run(ctx context.Context, box *sandbox.Sandbox, task executor.Task, emit func(event.Event)) error {
	set, err := known.Read(task.Arguments)
	if err != nil {
		return err
	}
	prompt, err := task.Text()
	if err != nil {
		return err
	}
	if !path.IsAbs(task.Home) {
		return sandbox.Errorf(sandbox.Invalid, "codex: a task needs a home, got %q", task.Home)
	}
	addresses, stop, err := executor.Listen(ctx, box, task.Servers)
	if err != nil {
		return err
	}
	defer stop()
	if err := executor.Write(ctx, box, path.Join(task.Home, "config.toml"), config(task, set, addresses)); err != nil {
		return err
	}
	return executor.Run(ctx, box, executor.Program{
		Cmd:     sandbox.Cmd{Args: arguments(task), Dir: task.Dir, Env: append(environment(task), task.Env...)},
		Decoder: &Decoder{Before: task.Used},
		Input:   [][]byte{[]byte(prompt)},
		Grace:   task.Grace,
	}, emit)
}

func arguments(task executor.Task) []string {
	args := task.Program
	if len(args) == 0 {
		args = []string{"codex"}
	}
	args = append(slices.Clone(args), "exec")
	if task.Resume != "" {
		args = append(args, "resume")
	}
	// Codex runs in our sandbox. Its own sandbox, nested in ours, would fail without a message.
	args = append(args, "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")
	for _, p := range task.Pictures {
		if !strings.Contains(p.Path, ",") { // a comma would separate two paths
			args = append(args, "--image="+p.Path)
		}
	}
	if task.Resume != "" {
		args = append(args, task.Resume)
	}
	return append(args, "-")
}

// keyName is the variable with the placeholder.
const keyName = "AGENT_SANDBOX_MODEL_TOKEN"

func environment(task executor.Task) []string {
	return []string{"CODEX_HOME=" + task.Home, keyName + "=" + task.Model.Token}
}

// config returns the configuration file.
func config(task executor.Task, set executor.Values, addresses map[string]string) string {
	var b strings.Builder
	line := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s = %s\n", key, quote(value))
		}
	}
	line("model", task.Model.Name)
	line("model_reasoning_effort", set.Choice("effort", ""))
	line("model_reasoning_summary", set.Choice("summary", ""))
	line("model_verbosity", set.Choice("verbosity", ""))
	line("developer_instructions", strings.Join(task.System, "\n\n"))
	b.WriteString("check_for_update_on_startup = false\n")
	if task.Model.URL != "" {
		line("model_provider", "broker")
	}
	// Without this, Codex fetches a repository of plug-ins when it starts.
	b.WriteString("\n[features]\nplugins = false\n\n[analytics]\nenabled = false\n")
	if task.Model.URL != "" {
		b.WriteString("\n[model_providers.broker]\n")
		line("name", "broker")
		line("base_url", task.Model.URL+"/v1")
		line("env_key", keyName)
		line("wire_api", "responses")
		b.WriteString("request_max_retries = 4\nstream_max_retries = 2\nsupports_websockets = false\n")
	}
	for _, s := range task.Servers {
		command := guestnet.BridgeArgs(addresses[s.Name])
		fmt.Fprintf(&b, "\n[mcp_servers.%s]\ncommand = %s\nargs = %s\nenabled_tools = %s\n",
			quote(s.Name), quote(command[0]), list(command[1:]), list(s.Tools))
	}
	return b.String()
}

// quote returns a basic string (TOML 1.0): a JSON string in which DEL is escaped too.
func quote(s string) string {
	data, _ := json.Marshal(s) // strings always marshal
	return strings.ReplaceAll(string(data), "\x7f", `\u007f`)
}

func list(all []string) string {
	quoted := make([]string, len(all))
	for i, s := range all {
		quoted[i] = quote(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
