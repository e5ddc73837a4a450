// Package executor runs coding agents in sandboxes: it starts an agent with a task, exchanges messages with it while it
// works, and ends it. Packages claude, codex and cursor know the command lines and protocols. No agent is trusted.
package executor

import (
	"context"
	"encoding/json"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Task is one task for an agent. Run rejects the zero value, which has no prompt.
type Task struct {
	System  []string          // the assistant's prompts
	History []message.Message // the messages before Prompt; nil when Resume names a session
	Prompt  message.Message   // the task

	// Pictures belong to Prompt. They are files of the workspace, too, which Prompt names for agents that take only text.
	Pictures []Picture

	Session string      // the ID of the new session, a UUID, for agents that accept one; "": the agent's choice
	Resume  string      // the session to continue, which must be in the agent's home; "": none
	Used    event.Usage // the usage of Resume until now

	Program   []string       // the agent's command line, looked up inside the sandbox; nil: its name
	Dir       string         // the agent's working directory, absolute inside; "": the sandbox's default
	Home      string         // where the agent keeps its sessions and settings, absolute inside and writable; "": the sandbox's home
	Env       []string       // "K=V", in addition to the agent's own variables
	Arguments map[string]any // of the assistant's sandbox block; unknown ones are an error
	Model     Model
	Servers   []Server
	Grace     time.Duration // how long the agent may run after its result or an interrupt; 0: 10 s
}

// Picture is an image for an agent.
type Picture struct {
	Path      string // absolute, inside
	MediaType string // one of [PictureTypes]
	Data      []byte
}

// PictureTypes are the media types of images that models take.
var PictureTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// MaxPicture is the size of the largest image that models take, in bytes: 5 MB as base64.
const MaxPicture = 3_750_000

// Model is the address of the model inside the sandbox. The agent gets no key: a broker outside adds it.
type Model struct {
	Name   string // the broker's name of the model; "": the agent's own choice
	URL    string // of the broker, without a version, such as "http://127.0.0.1:4000"
	Socket string // a Unix socket to use instead of URL's host, for agents that support one; "": none
	Token  string // the placeholder that the broker expects as the key
}

// Server is an MCP server that the agent reaches over its own streams.
type Server struct {
	Name  string   // letters, digits, '-' and '_'
	Tools []string // its tools that the agent may call
	// Handle answers a JSON-RPC message; nil: no answer, as for a notification. It is called from several goroutines, and
	// returns when its context ends. An error means that the server has failed for good.
	Handle func(ctx context.Context, message json.RawMessage) (json.RawMessage, error)
}

// Executor drives one kind of agent. Implementations are safe for concurrent use.
type Executor interface {
	// Name returns the agent's name in an assistant's sandbox block.
	Name() string
	// Arguments returns the agent's settings in the sandbox block.
	Arguments() Arguments
	// CanUseSockets reports whether the agent can reach its model over a Unix socket, which works without a loopback interface.
	CanUseSockets() bool
	// Run runs a task in a sandbox. It passes events to emit, one at a time, as they arrive; an [event.Fold] collects a
	// response from them. When ctx ends, Run asks the agent to stop, and kills it after the grace period. An error means that the
	// agent could not start or that the sandbox failed; the failure of an agent is in its result.
	Run(ctx context.Context, box *sandbox.Sandbox, task Task, emit func(event.Event)) error
}

// SettingsOwner is an [Executor] whose settings have a name that policies protect in every directory of a project.
type SettingsOwner interface {
	// SettingsDir returns the directory of the settings, relative to [Task.Home]. The sandbox's policy has to allow it.
	SettingsDir() string
}
