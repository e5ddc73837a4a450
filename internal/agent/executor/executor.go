// Package executor runs coding agents in sandboxes: what an agent is asked to do, how it is talked to while it works, and
// when it is over. Packages claude, codex and cursor say how each is started; none of them is trusted.
package executor

import (
	"context"
	"encoding/json"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Task is what an agent is to do, once. The zero value asks for nothing and is refused.
type Task struct {
	System  []string          // the assistant's prompts
	History []message.Message // what was said before, for an agent that does not know; nil when Resume names a session
	Prompt  message.Message   // what it is to do now

	Session string      // the ID of a session that begins, a UUID, for agents that take one; "": the agent's choice
	Resume  string      // the session that goes on; "": none. It has to be in the agent's home
	Used    event.Usage // what Resume had used until now

	Program   []string       // what starts it, looked up inside; nil: its own name
	Dir       string         // where it works, absolute inside; "": where the sandbox starts commands
	Home      string         // where it keeps sessions and settings of its own, absolute inside and writable; "": in the sandbox's home
	Env       []string       // "K=V" beside what it needs itself
	Arguments map[string]any // of the assistant's sandbox block; what the agent does not know is refused
	Model     Model
	Servers   []Server
	Grace     time.Duration // how long it may go on after its result, or after it was interrupted; 0: 10 s
}

// Model is where the agent finds its model, inside. There is no key: a broker outside adds it.
type Model struct {
	Name   string // as the broker knows it; "": the agent's own choice
	URL    string // of the broker, without a version, such as "http://127.0.0.1:4000"
	Socket string // a Unix socket that is used in the place of URL's host, for agents that can; "": none
	Token  string // what the broker wants to see
}

// Server is an MCP server that is offered to the agent over its own streams.
type Server struct {
	Name  string   // letters, digits, '-' and '_'
	Tools []string // the names of its tools, which are allowed
	// Handle answers a JSON-RPC message; nil, of a notification, is no answer. It is called from several goroutines, and
	// ends when its context does. An error is that nobody answers any more.
	Handle func(ctx context.Context, message json.RawMessage) (json.RawMessage, error)
}

// Executor drives one kind of agent. Implementations are safe for concurrent use.
type Executor interface {
	// Name is what an assistant's sandbox block calls it.
	Name() string
	// Arguments are those of the sandbox block that it understands.
	Arguments() Arguments
	// Sockets reports whether it can reach its model over a Unix socket, which there is where there is no loopback.
	Sockets() bool
	// Run does a task in a sandbox. Events go to emit, one at a time, as they come; what they come to, an [event.Fold]
	// tells. When ctx ends the agent is asked to stop, and killed when it does not. An error is that it could not be
	// started or that the sandbox failed: an agent that fails has a result that says so.
	Run(ctx context.Context, box *sandbox.Sandbox, task Task, emit func(event.Event)) error
}
