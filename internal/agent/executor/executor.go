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

// Task is one task for an agent. The zero value has no prompt and is refused.
type Task struct {
	System  []string          // the assistant's prompts
	History []message.Message // the messages before Prompt; nil when Resume names a session
	Prompt  message.Message   // the task

	Session string      // the ID of a session that begins, a UUID, for agents that take one; "": the agent's choice
	Resume  string      // the session that goes on; "": none. It has to be in the agent's home
	Used    event.Usage // what Resume had used until now

	Program   []string       // its command line, looked up inside the sandbox; nil: its name
	Dir       string         // where it works, absolute inside; "": where the sandbox starts commands
	Home      string         // where it keeps sessions and settings of its own, absolute inside and writable; "": in the sandbox's home
	Env       []string       // "K=V" beside what it needs itself
	Arguments map[string]any // of the assistant's sandbox block; unknown ones are refused
	Model     Model
	Servers   []Server
	Grace     time.Duration // how long it may go on after its result, or after it was interrupted; 0: 10 s
}

// Model is the address of the model inside the sandbox. It has no key: a broker outside adds it.
type Model struct {
	Name   string // as the broker knows it; "": the agent's own choice
	URL    string // of the broker, without a version, such as "http://127.0.0.1:4000"
	Socket string // a Unix socket that is used in the place of URL's host, for agents that can; "": none
	Token  string // the placeholder that the broker expects as key
}

// Server is an MCP server that is offered to the agent over its own streams.
type Server struct {
	Name  string   // letters, digits, '-' and '_'
	Tools []string // the names of its tools, which are allowed
	// Handle answers a JSON-RPC message; nil: no answer, as for a notification. It is called from several goroutines, and
	// ends when its context does. An error means that the server does not answer any more.
	Handle func(ctx context.Context, message json.RawMessage) (json.RawMessage, error)
}

// Executor drives one kind of agent. Implementations are safe for concurrent use.
type Executor interface {
	// Name returns its name in an assistant's sandbox block.
	Name() string
	// Arguments returns the settings of the sandbox block that it knows.
	Arguments() Arguments
	// Sockets reports whether it can reach its model over a Unix socket, which works without a loopback interface.
	Sockets() bool
	// Run runs a task in a sandbox. It passes events to emit, one at a time, as they arrive; an [event.Fold] makes a
	// response of them. When ctx ends it asks the agent to stop, and kills it when it does not. An error means that the
	// agent could not start or that the sandbox failed; an agent that fails has a result that says so.
	Run(ctx context.Context, box *sandbox.Sandbox, task Task, emit func(event.Event)) error
}
