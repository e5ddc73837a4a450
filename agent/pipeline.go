// Package agent runs assistants. A request goes through the Create hook, the model step and the Next hook; the model step is a
// direct call or a coding agent in a sandbox. The pipeline books the usage of each request, and records each decision in the
// audit log.
//
// The keys of models stay in this process: an agent in a sandbox gets a placeholder, and a broker in this process replaces
// it by the key.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/assistant"
	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/claude"
	"github.com/seed434b0696/agent-sandbox/internal/agent/codex"
	"github.com/seed434b0696/agent-sandbox/internal/agent/cursor"
	"github.com/seed434b0696/agent-sandbox/internal/agent/executor"
	"github.com/seed434b0696/agent-sandbox/internal/agent/hook"
	"github.com/seed434b0696/agent-sandbox/internal/agent/mcp"
	"github.com/seed434b0696/agent-sandbox/internal/agent/model"
	"github.com/seed434b0696/agent-sandbox/internal/agent/store"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Options configure a [Pipeline]. Only Assistants is required: without the others a Pipeline runs assistants whose models are
// called directly, and leaves no files after Close.
type Options struct {
	// Assistants finds assistants and connectors. The pipeline runs only the assistants that it reports as trusted.
	Assistants *assistant.Root

	// StateDir is the absolute directory of chats, usage, the audit log, what hooks store, and workspaces. It is created
	// with access for this user only, and any number of pipelines and processes may share it. "": a temporary directory
	// that Close removes.
	StateDir string

	// Env is the environment, "NAME=VALUE", with the variables of connectors and MCP servers. Commands that print keys run in it.
	// nil: empty.
	Env []string

	// Home is the absolute directory that "~/" stands for in the key files of connectors. "": such files are not found.
	Home string

	// Keys fetches the keys of models. nil: a source that uses Env and Home, and reads the variables and files and runs the
	// commands that the connectors name.
	Keys connector.Source

	// HTTP sends the requests of direct calls. The caller closes it. nil: a client without a proxy.
	HTTP *http.Client

	// HooksWorker is the program with its arguments that runs hooks: agent-sandbox-hooks. nil: assistants that have hooks
	// are Unsupported.
	HooksWorker []string

	// Isolation chooses the sandbox of an assistant's coding agent: the driver, and a Spec without a workspace. The pipeline adds
	// the settings of the assistant. An assistant without an image gets that of the Spec, otherwise [DefaultImage]. nil:
	// assistants that have a sandbox are Unsupported.
	Isolation func(a *assistant.Assistant) (sandbox.Driver, sandbox.Spec, error)

	// Program finds a coding agent on this host, for sandboxes that show the host's files. It returns the command line, and the
	// directories that the agent needs. nil: [FindProgram]. Images contain their own agents.
	Program func(agent string) (args, dirs []string, err error)

	// Allow decides whether to accept a request, before any other work on it. Run returns its error and records it in the audit
	// log. nil: every request is accepted.
	Allow func(ctx context.Context, r Request) error

	// Tools are functions of the calling program that the agents and models of all assistants may call. An agent sees them as
	// tools of an MCP server with the name [ToolServer].
	Tools []Tool

	// WorkspaceRetention is the time after which CleanUp removes an unused workspace; 0: a week, negative: never.
	WorkspaceRetention time.Duration

	// CleanupSchedule is the schedule of CleanUp, as in cron: minute, hour, day, month, weekday. "": each day at three o'clock.
	CleanupSchedule string

	// Version is the version of the calling program, which is sent to MCP servers. "": none.
	Version string
}

// Pipeline runs assistants. It is safe for concurrent use.
type Pipeline struct {
	assistants *assistant.Root
	store      *store.Store
	temporary  string // the state directory that Close removes; "": none
	keys       connector.Source
	models     *model.Client
	servers    *mcp.Sessions
	hooks      *hook.Engine // nil: hooks are not supported
	isolation  func(a *assistant.Assistant) (sandbox.Driver, sandbox.Spec, error)
	program    func(agent string) (args, dirs []string, err error)
	allow      func(ctx context.Context, r Request) error
	agents     map[string]executor.Executor
	functions  functions
}

// New opens a pipeline, which the caller closes. ctx bounds only the opening. Invalid: Assistants is nil, StateDir is not
// absolute, or a tool or the schedule is invalid. Other errors are those of opening the state directory.
func New(ctx context.Context, o Options) (*Pipeline, error) {
	p := &Pipeline{
		assistants: o.Assistants, keys: o.Keys, isolation: o.Isolation, program: o.Program, allow: o.Allow,
		agents: map[string]executor.Executor{},
	}
	for _, e := range []executor.Executor{claude.Agent{}, codex.Agent{}, cursor.Agent{}} {
		p.agents[e.Name()] = e
	}
	if p.assistants == nil {
		return nil, sandbox.Errorf(sandbox.Invalid, "Options.Assistants is not set").WithHint("open a directory with assistant.Open")
	}
	if p.keys == nil {
		p.keys = &connector.Keys{Env: o.Env, Home: o.Home}
	}
	if p.program == nil {
		p.program = FindProgram
	}
	if p.isolation == nil {
		p.isolation = func(a *assistant.Assistant) (sandbox.Driver, sandbox.Spec, error) {
			return nil, sandbox.Spec{}, sandbox.Errorf(sandbox.Unsupported, "the assistant %s has a sandbox, and Options.Isolation is not set", a.Name)
		}
	}
	if len(o.HooksWorker) > 0 {
		var err error
		if p.hooks, err = hook.New(hook.Options{Worker: o.HooksWorker}); err != nil {
			return nil, err
		}
	}
	if err := checkTools(o.Tools); err != nil {
		return nil, err
	}
	p.functions.tools = o.Tools
	if err := p.openState(ctx, o.StateDir, store.Options{Retention: o.WorkspaceRetention, Schedule: o.CleanupSchedule}); err != nil {
		return nil, err
	}
	p.models = model.New(model.Options{Keys: p.keys, HTTP: o.HTTP})
	p.servers = mcp.NewSessions(mcp.SessionsOptions{Options: mcp.Options{Env: o.Env, Version: o.Version}})
	return p, nil
}

// openState opens the store in dir, or in a temporary directory.
func (p *Pipeline) openState(ctx context.Context, dir string, o store.Options) (err error) {
	if dir == "" {
		if p.temporary, err = os.MkdirTemp("", "agent-sandbox-"); err != nil {
			return err
		}
		dir = p.temporary
	}
	if p.store, err = store.Open(ctx, dir, o); err != nil && p.temporary != "" {
		err = errors.Join(err, os.RemoveAll(p.temporary))
	}
	return err
}

// Close ends the MCP servers and the workers of hooks, and closes the state directory. All requests must have ended.
func (p *Pipeline) Close() error {
	p.servers.Close()
	errs := []error{p.models.Close()}
	if p.hooks != nil {
		errs = append(errs, p.hooks.Close())
	}
	errs = append(errs, p.store.Close())
	if p.temporary != "" {
		errs = append(errs, os.RemoveAll(p.temporary))
	}
	return errors.Join(errs...)
}

// CleanUp removes workspaces that were not used for Options.WorkspaceRetention, if Options.CleanupSchedule has elapsed. It
// stops after about limit; the next call continues.
func (p *Pipeline) CleanUp(ctx context.Context, limit time.Duration) error {
	_, _, err := p.store.SweepDue(ctx, limit)
	return err
}

// File is a file that a user attaches to a message.
type File struct {
	Name    string // the name that the agent sees; made unique in the workspace
	Content io.Reader
}

// Request is one message to an assistant.
type Request struct {
	User      string
	Chat      string // "": a new chat
	Assistant string
	Connector string // the ID of the connector to use instead of the assistant's, which a Create hook may still change; "": the assistant's
	Prompt    message.Message
	Files     []File
	Workspace string // absolute host directory that the agent works in; "": the chat's own
	Locale    string // of the user, such as de-DE, for hooks, which may change it; at most 1000 bytes
	Wait      bool   // true: wait for another request on the chat; false: refuse this request

	options json.RawMessage // of the delegating assistant, for the hooks; nil: {}
}

// Answer is the outcome of a request.
type Answer struct {
	event.Response
	Run          string                     `json:"run"`
	Assistant    string                     `json:"assistant"`               // the assistant that answered
	Chat         string                     `json:"chat"`                    // the chat with the assistant of the request, which later requests continue
	DelegateChat string                     `json:"delegate_chat,omitempty"` // the chat with the assistant that answered; "": the same
	Data         json.RawMessage            `json:"data,omitempty"`          // from the Next hook, replaces the answer
	Metadata     map[string]json.RawMessage `json:"metadata,omitempty"`      // of hooks
}

// DefaultWorkspaces is the limit on a user's workspaces where the assistant sets none. Each chat with a coding agent has one.
// By default CleanUp removes it after a week without use.
const DefaultWorkspaces = 1000

// maxDelegations bounds how often one request is passed to another assistant.
const maxDelegations = 5

// Run answers a request. It calls emit with each event, one at a time, as they arrive. When ctx ends, Run interrupts the agent
// and books its usage.
//
// An error means that the request was refused or could not start; the answer has its run, and a workspace that was made for
// it is removed. A failure of the model or the agent is in the answer.
func (p *Pipeline) Run(ctx context.Context, r Request, emit func(event.Event)) (Answer, error) {
	if err := p.admit(ctx, r); err != nil {
		return Answer{}, err
	}
	first := ""
	for depth := 0; ; depth++ {
		answer, next, err := p.runOnce(ctx, &r, emit)
		answer.Assistant = r.Assistant
		if depth == 0 {
			first = answer.Chat
		} else if answer.Chat != "" {
			answer.Chat, answer.DelegateChat = first, answer.Chat
		}
		if err != nil || next == nil {
			return answer, err
		}
		if depth == maxDelegations {
			return answer, sandbox.Errorf(sandbox.Exhausted, "%s delegates to %s after %d assistants; a request may pass through no more", r.Assistant, next.Agent, depth+1)
		}
		if r, err = delegateRequest(r, next); err != nil {
			return answer, err
		}
		r.Chat = "" // a chat belongs to one assistant
	}
}

// delegateRequest returns the request that a Next hook makes from r.
func delegateRequest(r Request, d *hook.Delegate) (Request, error) {
	r.Assistant, r.Connector, r.Files, r.options = d.Agent, "", nil, d.Options
	if len(d.Messages) == 0 {
		return r, nil
	}
	_, history, prompt, err := splitMessages(d.Messages)
	if err != nil {
		return r, err
	}
	if before := executor.Before(history); before != "" {
		prompt.Parts = append([]message.Part{{Type: message.Text, Text: before}}, prompt.Parts...)
	}
	r.Prompt = prompt
	return r, nil
}

// admit decides whether to accept a request, and records the decision.
func (p *Pipeline) admit(ctx context.Context, r Request) error {
	err := p.check(ctx, r)
	decision := "allowed"
	if err != nil {
		decision = "refused: " + string(sandbox.CodeOf(err))
	}
	record := store.Record{User: clipText(r.User), Action: "run", Subject: clipText(r.Assistant), Decision: decision}
	if _, audit := p.store.Audit(ctx, record); audit != nil && err == nil {
		return audit // a request that cannot be recorded is refused
	}
	return err
}

func (p *Pipeline) check(ctx context.Context, r Request) error {
	if r.User == "" || len(r.User) > 200 {
		return sandbox.Errorf(sandbox.Invalid, "a request needs a user of at most 200 bytes")
	}
	if len(r.Locale) > 1000 {
		return sandbox.Errorf(sandbox.Invalid, "invalid locale (%d bytes); expected a tag such as de-DE", len(r.Locale))
	}
	if r.Prompt.Role != message.User || len(r.Prompt.Parts) == 0 && len(r.Files) == 0 {
		return sandbox.Errorf(sandbox.Invalid, "there is nothing to do: the prompt is empty")
	}
	if p.allow != nil {
		return p.allow(ctx, r)
	}
	return nil
}

func clipText(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), 200)], "")
}

// runOnce runs one assistant. Its hooks may change the locale of the request, also for a later delegate.
func (p *Pipeline) runOnce(ctx context.Context, r *Request, emit func(event.Event)) (Answer, *hook.Delegate, error) {
	t := &turn{pipeline: p, request: *r, emit: emit}
	defer t.close()
	if err := t.open(ctx); err != nil {
		return Answer{}, nil, err
	}
	if t.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.limit)
		defer cancel()
	}
	if err := t.create(ctx); err != nil {
		err = t.fail(ctx, err)
		return t.refusal(ctx, err), nil, err
	}
	r.Locale = t.request.Locale
	if err := t.step(ctx); err != nil {
		err = t.fail(ctx, err)
		return t.refusal(ctx, err), nil, err
	}
	delegate := t.next(ctx)
	err := errors.Join(t.collect(context.WithoutCancel(ctx)), t.finish(ctx))
	return t.answer(), delegate, err
}

// splitMessages divides messages into the system prompts, the history, and the prompt to answer.
func splitMessages(all []message.Message) (system []string, history []message.Message, prompt message.Message, err error) {
	for _, m := range all {
		if m.Role == message.System {
			system = append(system, m.Text())
			continue
		}
		history = append(history, m)
	}
	if n := len(history); n > 0 && history[n-1].Role == message.User {
		return system, history[:n-1], history[n-1], nil
	}
	return nil, nil, message.Message{}, sandbox.Errorf(sandbox.Invalid, "the last message is not from the user")
}

// names lists the agents, for messages.
func (p *Pipeline) names() string { return strings.Join(slices.Sorted(maps.Keys(p.agents)), ", ") }

// bookingTime bounds the booking of a run that was canceled.
const bookingTime = 10 * time.Second
