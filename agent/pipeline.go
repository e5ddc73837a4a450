// Package agent runs assistants: what an assistant's files say, what a user asks, and the model step between its hooks,
// which is a direct call or a coding agent in a sandbox. Each request is booked, and each decision is on record.
//
// The keys of models stay in this process: an agent inside is given a placeholder, and a broker of this process adds the
// key outside.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
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

// Options are what a pipeline works with. All but Allow are required; the caller closes them after the pipeline's last
// request.
type Options struct {
	Assistants *assistant.Root
	Store      *store.Store
	Keys       connector.Source
	Models     *model.Client // of direct calls
	Servers    *mcp.Sessions
	Hooks      *hook.Engine
	// Walls says what an assistant's sandbox is made of: the driver, and a Spec without a workspace. What the assistant
	// itself says of them is added by the pipeline.
	Walls func(a *assistant.Assistant) (sandbox.Driver, sandbox.Spec, error)
	// Program finds an agent where its sandbox has the host's files: what starts it, and the directories that it is in.
	// What a backend with images runs is in its image.
	Program func(agent string) (args, dirs []string, err error)
	// Allow says whether a request may be made at all, before anything is done for it; nil: it may. Its error is the
	// answer, and on record.
	Allow func(ctx context.Context, r Request) error
}

// Pipeline runs assistants. It is safe for concurrent use.
type Pipeline struct {
	o      Options
	agents map[string]executor.Executor
}

// New makes a pipeline.
func New(o Options) *Pipeline {
	p := &Pipeline{o: o, agents: map[string]executor.Executor{}}
	for _, e := range []executor.Executor{claude.Agent{}, codex.Agent{}, cursor.Agent{}} {
		p.agents[e.Name()] = e
	}
	return p
}

// File is something that a user adds to a message.
type File struct {
	Name    string // for the agent; it is made a name of its own
	Content io.Reader
}

// Request is one message to an assistant.
type Request struct {
	User      string
	Chat      string // "": a new one
	Assistant string
	Prompt    message.Message
	Files     []File
	Workspace string // absolute host directory that the agent works in; "": the chat's own
	Locale    string // of the user, such as de-DE, for hooks, which may change it; at most 1000 bytes
	Wait      bool   // for another request on the chat; false: this one is refused

	options json.RawMessage // of who delegates, for the hooks; nil: {}
}

// Answer is what a request came to.
type Answer struct {
	event.Response
	Run      string                     `json:"run"`
	Chat     string                     `json:"chat"`
	Data     json.RawMessage            `json:"data,omitempty"`     // of the Next hook, in the place of the answer
	Metadata map[string]json.RawMessage `json:"metadata,omitempty"` // of hooks
}

// DefaultWorkspaces is how many workspaces a user has at most, where the assistant's limits do not say it: one of each chat
// with a coding agent, until it was not used for as long as they are kept.
const DefaultWorkspaces = 1000

// maxDelegations is how often one request may go on with another assistant.
const maxDelegations = 5

// Run answers a request. Events go to emit, one at a time, as they come. When ctx ends the agent is interrupted, and what
// it used until then is booked.
//
// An error is that the request was refused or nothing could be begun for it; what the model or the agent failed at is in
// the answer.
func (p *Pipeline) Run(ctx context.Context, r Request, emit func(event.Event)) (Answer, error) {
	if err := p.allow(ctx, r); err != nil {
		return Answer{}, err
	}
	chat := r.Chat
	for depth := 0; ; depth++ {
		r.Chat = chat
		answer, next, err := p.once(ctx, &r, emit)
		if err != nil || next == nil {
			return answer, err
		}
		if depth == maxDelegations {
			return answer, sandbox.Errorf(sandbox.Exhausted, "%s delegates to %s, and nobody answered after %d assistants", r.Assistant, next.Agent, depth+1)
		}
		if r, err = delegated(r, next); err != nil {
			return answer, err
		}
		chat = "" // a chat is one assistant's
	}
}

// delegated is the request that a Next hook makes of one.
func delegated(r Request, d *hook.Delegate) (Request, error) {
	r.Assistant, r.Files, r.options = d.Agent, nil, d.Options
	if len(d.Messages) == 0 {
		return r, nil
	}
	_, history, prompt, err := split(d.Messages)
	if err != nil {
		return r, err
	}
	if before := executor.Before(history); before != "" {
		prompt.Parts = append([]message.Part{{Type: message.Text, Text: before}}, prompt.Parts...)
	}
	r.Prompt = prompt
	return r, nil
}

// allow asks who may, and records what was decided.
func (p *Pipeline) allow(ctx context.Context, r Request) error {
	err := p.refused(ctx, r)
	decision := "allowed"
	if err != nil {
		decision = "refused: " + string(sandbox.CodeOf(err))
	}
	record := store.Record{User: clip(r.User), Action: "run", Subject: clip(r.Assistant), Decision: decision}
	if _, audit := p.o.Store.Audit(ctx, record); audit != nil && err == nil {
		return audit // what is not on record does not happen
	}
	return err
}

func (p *Pipeline) refused(ctx context.Context, r Request) error {
	if r.User == "" || len(r.User) > 200 {
		return sandbox.Errorf(sandbox.Invalid, "a request needs a user of at most 200 bytes")
	}
	if len(r.Locale) > 1000 {
		return sandbox.Errorf(sandbox.Invalid, "a locale of %d bytes; such as de-DE is meant", len(r.Locale))
	}
	if r.Prompt.Role != message.User || len(r.Prompt.Parts) == 0 && len(r.Files) == 0 {
		return sandbox.Errorf(sandbox.Invalid, "there is nothing to do: the prompt is empty")
	}
	if p.o.Allow != nil {
		return p.o.Allow(ctx, r)
	}
	return nil
}

func clip(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), 200)], "")
}

// once runs one assistant. Its hooks may change the locale of the request, for who goes on with it.
func (p *Pipeline) once(ctx context.Context, r *Request, emit func(event.Event)) (Answer, *hook.Delegate, error) {
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
		return t.answer(), nil, t.fail(ctx, err)
	}
	r.Locale = t.request.Locale
	if err := t.step(ctx); err != nil {
		return t.answer(), nil, t.fail(ctx, err)
	}
	delegate := t.next(ctx)
	err := errors.Join(t.bring(context.WithoutCancel(ctx)), t.finish(ctx))
	return t.answer(), delegate, err
}

// split takes messages apart: what is told first, what was said before, and what is to be answered.
func split(all []message.Message) (system []string, history []message.Message, prompt message.Message, err error) {
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
	return nil, nil, message.Message{}, sandbox.Errorf(sandbox.Invalid, "the messages do not end with one of the user's")
}

// names are those of the agents, for messages.
func (p *Pipeline) names() string { return strings.Join(slices.Sorted(maps.Keys(p.agents)), ", ") }

// settle is the time in which a run that was canceled is still booked.
const settle = 10 * time.Second
