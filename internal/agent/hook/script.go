package hook

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/hook/protocol"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Script is the compiled hooks of an assistant. It is safe for concurrent use: each call has its own globals.
type Script struct {
	engine *Engine
	bundle protocol.Bundle
	seen   map[string]string
}

// HasCreate reports whether the script has a Create hook.
func (s *Script) HasCreate() bool { return slices.Contains(s.bundle.Exists, "Create") }

// HasNext reports whether the script has a Next hook.
func (s *Script) HasNext() bool { return slices.Contains(s.bundle.Exists, "Next") }

// Payload describes the model step to Next.
type Payload struct {
	Messages   []message.Message // the messages that the model received
	Completion *event.Response   // nil: the model step failed before it had a response
	Tools      []event.Tool      // the tool calls, as they ended
	Error      string            // why the model step failed; "": it succeeded
}

// Create calls the Create hook, if there is one, with the messages for the model. An error rejects the
// request. Denied, with a [Thrown] in its chain: the hook threw. Timeout and Exhausted: a limit. Invalid: the hook's
// value is invalid. Canceled or Timeout: ctx ended.
func (s *Script) Create(ctx context.Context, r *Request, messages []message.Message) (*Created, error) {
	if !s.HasCreate() {
		return &Created{}, nil
	}
	in := reader{hook: "Create"}
	argument, err := in.files.hide(messages)
	if err != nil {
		return nil, err
	}
	raw, err := s.run(ctx, r, in.hook, argument)
	if err != nil {
		return nil, err
	}
	return in.created(raw)
}

// Next calls the Next hook, if there is one. Its errors are those of Create; they go to the log and leave the model's answer
// unchanged.
func (s *Script) Next(ctx context.Context, r *Request, p Payload) (*Replied, error) {
	if !s.HasNext() {
		return &Replied{}, nil
	}
	in := reader{hook: "Next"}
	messages, err := in.files.hide(p.Messages)
	if err != nil {
		return nil, err
	}
	wire := struct {
		Messages   json.RawMessage `json:"messages"`
		Completion *event.Response `json:"completion"`
		Tools      []event.Tool    `json:"tools"`
		Error      *string         `json:"error"`
	}{Messages: messages, Completion: p.Completion, Tools: append([]event.Tool{}, p.Tools...)}
	if p.Error != "" {
		wire.Error = &p.Error
	}
	argument, err := json.Marshal(wire)
	if err != nil {
		return nil, sandbox.Errorf(sandbox.Invalid, "invalid payload; expected JSON: %w", err)
	}
	raw, err := s.run(ctx, r, in.hook, argument)
	if err != nil {
		return nil, err
	}
	return in.replied(raw)
}

// run calls one hook.
func (s *Script) run(ctx context.Context, r *Request, function string, argument json.RawMessage) (json.RawMessage, error) {
	op, l := opOf(function), s.engine.limits
	fail := func(code sandbox.Code, format string, args ...any) error {
		err := sandbox.Errorf(code, format, args...)
		err.Op = op
		return err
	}
	if len(argument) > protocol.MaxValue {
		return nil, fail(sandbox.Exhausted, "messages of %d bytes; hooks take at most %d", len(argument), protocol.MaxValue)
	}
	set, err := r.setting()
	if err != nil {
		return nil, fail(sandbox.Invalid, "%w", err)
	}
	options := r.Options
	if len(options) == 0 {
		options = json.RawMessage("{}")
	}
	if !json.Valid(options) {
		return nil, fail(sandbox.Invalid, "invalid options of the request; expected JSON")
	}
	h := &hosted{r: r, calls: l.Calls, wait: l.Wait}
	raw, err := s.engine.machine.Run(ctx, h, protocol.RunOrder{
		ID: s.bundle.ID, Code: s.bundle.Code, Function: function, Setting: set, Argument: argument, Options: options, Limits: l,
	})
	if err != nil {
		if ctx.Err() != nil { // ctx is the cause, even if the worker reported another one
			return nil, &sandbox.Error{Code: sandbox.CodeOf(ctx.Err()), Op: op, Err: ctx.Err()}
		}
		return nil, s.engine.failure(op, err)
	}
	return raw, nil
}

// setting returns the values of ctx that are not functions.
func (r *Request) setting() (protocol.Setting, error) {
	type authorized struct {
		User string `json:"user_id,omitempty"`
		Team string `json:"team_id,omitempty"`
	}
	metadata := r.Metadata
	if metadata == nil {
		metadata = map[string]json.RawMessage{}
	}
	raw, err := json.Marshal(struct {
		Chat       string                     `json:"chat_id"`
		Assistant  string                     `json:"assistant_id"`
		Authorized authorized                 `json:"authorized"`
		Locale     string                     `json:"locale"`
		Metadata   map[string]json.RawMessage `json:"metadata"`
	}{r.Chat, r.Assistant, authorized{r.User, r.Team}, r.Locale, metadata})
	s := protocol.Setting{Context: raw, Sandbox: r.Sandbox != nil}
	if s.Sandbox {
		s.Workdir = r.Sandbox.Workdir()
	}
	return s, err
}
