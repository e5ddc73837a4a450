package claude

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/executor"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Agent runs Claude Code over its streams: prompts, permissions and MCP messages go through stdin and stdout, and not
// through arguments, files or sockets. The zero value is ready.
type Agent struct{}

// Name implements [executor.Executor].
func (Agent) Name() string { return "claude" }

// The permission modes, and whether the host grants the agent's requests in each. The sandbox isolates the agent in every
// mode, and no user answers requests.
var permissionModes = map[string]bool{
	"acceptEdits": true, "auto": true, "bypassPermissions": true, "default": false, "dontAsk": false, "plan": false,
}

// known are the arguments for Claude Code in an assistant's sandbox block.
var known = executor.Arguments{
	"max_turns":        {Kind: executor.Count},
	"max_budget_usd":   {Kind: executor.Amount},
	"permission_mode":  {Kind: executor.Choice, Choices: slices.Sorted(maps.Keys(permissionModes))},
	"allowed_tools":    {Kind: executor.Words},
	"disallowed_tools": {Kind: executor.Words},
	"effort":           {Kind: executor.Choice, Choices: []string{"low", "medium", "high", "xhigh", "max"}},
	"tools":            {Kind: executor.Words},
}

// Arguments implements [executor.Executor].
func (Agent) Arguments() executor.Arguments { return known }

// CanUseSockets implements [executor.Executor].
func (Agent) CanUseSockets() bool { return true }

// Run implements [executor.Executor].
func (a Agent) Run(ctx context.Context, box *sandbox.Sandbox, task executor.Task, emit func(event.Event)) error {
	set, err := known.Read(task.Arguments)
	if err != nil {
		return err
	}
	mode := set.Choice("permission_mode", "bypassPermissions")
	talk := &talk{servers: map[string]executor.Server{}, allow: permissionModes[mode], mode: mode}
	for _, s := range task.Servers {
		talk.servers[s.Name] = s
	}
	input, err := encodeBegin(task)
	if err != nil {
		return err
	}
	return executor.Run(ctx, box, executor.Program{
		Cmd:     sandbox.Cmd{Args: arguments(task, set, mode), Dir: task.Dir, Env: append(environment(task), task.Env...)},
		Decoder: &Decoder{},
		Input:   input,
		Open:    true,
		Control: talk.control,
		Interrupt: func() []byte {
			return []byte(`{"type":"control_request","request_id":"interrupt","request":{"subtype":"interrupt"}}`)
		},
		Grace: task.Grace,
	}, emit)
}

// arguments returns the command line. The format stream-json requires --verbose. The prompts are not arguments: an
// argument has at most 128 KiB, and every process in the sandbox can read it.
func arguments(task executor.Task, set executor.Values, mode string) []string {
	args := task.Program
	if len(args) == 0 {
		args = []string{"claude"}
	}
	args = append(slices.Clone(args), "--print", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json",
		"--include-partial-messages", "--permission-prompt-tool", "stdio", "--permission-mode", mode, "--strict-mcp-config")
	one := func(flag, value string) {
		if value != "" {
			args = append(args, flag, value)
		}
	}
	one("--resume", task.Resume)
	if task.Resume == "" {
		one("--session-id", task.Session)
	}
	one("--model", task.Model.Name)
	one("--effort", set.Choice("effort", ""))
	if n := set.Count("max_turns"); n > 0 {
		one("--max-turns", strconv.FormatInt(n, 10))
	}
	if usd := set.Amount("max_budget_usd"); usd > 0 {
		one("--max-budget-usd", strconv.FormatFloat(usd, 'f', -1, 64))
	}
	if set.Has("tools") { // none of the built-in ones, or these
		args = append(args, "--tools", strings.Join(set.Words("tools"), ","))
	}
	one("--mcp-config", encodeServers(task.Servers))
	allowed := set.Words("allowed_tools")
	for _, s := range task.Servers {
		for _, tool := range s.Tools {
			allowed = append(allowed, "mcp__"+s.Name+"__"+tool)
		}
	}
	// Each of these flags takes all words up to the next flag, so they are last.
	if len(allowed) > 0 {
		args = append(append(args, "--allowedTools"), allowed...)
	}
	if denied := set.Words("disallowed_tools"); len(denied) > 0 {
		args = append(append(args, "--disallowedTools"), denied...)
	}
	return args
}

// encodeServers returns the configuration of MCP servers that communicate over the agent's own streams.
func encodeServers(all []executor.Server) string {
	if len(all) == 0 {
		return ""
	}
	type server struct {
		Type string `json:"type"`
		Name string `json:"name"`
	}
	named := map[string]server{}
	for _, s := range all {
		named[s.Name] = server{"sdk", s.Name}
	}
	data, _ := json.Marshal(map[string]any{"mcpServers": named}) // strings always marshal
	return string(data)
}

// environment returns the variables that connect the agent to its model, and that disable its other requests.
func environment(task executor.Task) []string {
	env := []string{
		"DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"IS_SANDBOX=1", // without it Claude Code refuses to run as root
		"CLAUDE_CODE_MAX_RETRIES=4",
	}
	set := func(name, value string) {
		if value != "" {
			env = append(env, name+"="+value)
		}
	}
	set("CLAUDE_CONFIG_DIR", task.Home)
	m := task.Model
	set("ANTHROPIC_BASE_URL", m.URL)
	set("ANTHROPIC_UNIX_SOCKET", m.Socket)
	set("ANTHROPIC_API_KEY", m.Token)
	for _, name := range []string{
		"ANTHROPIC_MODEL", "ANTHROPIC_DEFAULT_OPUS_MODEL", "ANTHROPIC_DEFAULT_SONNET_MODEL", "ANTHROPIC_DEFAULT_HAIKU_MODEL",
		"ANTHROPIC_SMALL_FAST_MODEL", "CLAUDE_CODE_SUBAGENT_MODEL",
	} {
		set(name, m.Name)
	}
	return env
}

// encodeBegin returns the first lines of input: the initialization and the prompt.
func encodeBegin(task executor.Task) ([][]byte, error) {
	type request struct {
		Subtype string   `json:"subtype"`
		Hooks   struct{} `json:"hooks"`
		Servers []string `json:"sdkMcpServers,omitempty"`
		Append  string   `json:"appendSystemPrompt,omitempty"`
	}
	r := request{Subtype: "initialize"}
	for _, s := range task.Servers {
		r.Servers = append(r.Servers, s.Name)
	}
	r.Append = strings.Join(task.System, "\n\n")
	first, err := json.Marshal(map[string]any{"type": "control_request", "request_id": "initialize", "request": r})
	if err != nil {
		return nil, err
	}
	content, err := buildContent(task)
	if err != nil {
		return nil, err
	}
	second, err := json.Marshal(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": content}})
	return [][]byte{first, second}, err
}
