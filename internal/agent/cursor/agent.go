package cursor

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/executor"
	"github.com/seed434b0696/agent-sandbox/internal/guest/guestnet"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Agent runs Cursor's command line, with its prompt on stdin. It connects only to Cursor's own service: the task's model is
// a model name of that service. The sandbox's policy allows the connection and holds the key, as a secret with its hosts.
// The zero value is ready.
type Agent struct{}

// Name implements [executor.Executor].
func (Agent) Name() string { return "cursor" }

// SettingsDir implements [executor.SettingsOwner].
func (Agent) SettingsDir() string { return ".cursor" }

// known are the arguments for Cursor in an assistant's sandbox block.
var known = executor.Arguments{
	"force": {Kind: executor.Flag},
	"mode":  {Kind: executor.Choice, Choices: []string{"agent", "ask", "plan"}},
}

// Arguments implements [executor.Executor].
func (Agent) Arguments() executor.Arguments { return known }

// CanUseSockets implements [executor.Executor].
func (Agent) CanUseSockets() bool { return false }

// Run implements [executor.Executor]. The task must name a home, which becomes the agent's HOME.
func (Agent) Run(ctx context.Context, box *sandbox.Sandbox, task executor.Task, emit func(event.Event)) error {
	set, err := known.Read(task.Arguments)
	if err != nil {
		return err
	}
	prompt, err := task.Text()
	if err != nil {
		return err
	}
	if len(task.System) > 0 { // cursor has no option for system prompts
		prompt = strings.Join(task.System, "\n\n") + "\n\n" + prompt
	}
	if !path.IsAbs(task.Home) {
		return sandbox.Errorf(sandbox.Invalid, "cursor: a task needs a home, got %q", task.Home)
	}
	addresses, stop, err := executor.Listen(ctx, box, task.Servers)
	if err != nil {
		return err
	}
	defer stop()
	if err := executor.Write(ctx, box, path.Join(task.Home, Agent{}.SettingsDir(), "mcp.json"), encodeServers(addresses)); err != nil {
		return err
	}
	return executor.Run(ctx, box, executor.Program{
		Cmd:     sandbox.Cmd{Args: arguments(task, set), Dir: task.Dir, Env: append([]string{"HOME=" + task.Home}, task.Env...)},
		Decoder: &Decoder{},
		Input:   [][]byte{[]byte(prompt)},
		Grace:   task.Grace,
	}, emit)
}

func arguments(task executor.Task, set executor.Values) []string {
	args := task.Program
	if len(args) == 0 {
		args = []string{"cursor-agent"}
	}
	args = append(slices.Clone(args), "--print", "--output-format", "stream-json", "--stream-partial-output", "--trust", "--approve-mcps")
	if set.Flag("force", true) {
		args = append(args, "--force")
	}
	for _, flag := range [][2]string{{"--model", task.Model.Name}, {"--resume", task.Resume}} {
		if flag[1] != "" {
			args = append(args, flag[0], flag[1])
		}
	}
	if mode := set.Choice("mode", "agent"); mode != "agent" {
		args = append(args, "--mode", mode)
	}
	return args
}

// encodeServers returns the configuration of the MCP servers; each is a child process that connects to ours.
func encodeServers(addresses map[string]string) string {
	type server struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	all := map[string]server{}
	for name, address := range addresses {
		command := guestnet.BridgeArgs(address)
		all[name] = server{command[0], command[1:]}
	}
	data, _ := json.Marshal(map[string]any{"mcpServers": all}) // strings always marshal
	return string(data)
}
