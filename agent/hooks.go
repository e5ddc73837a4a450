package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/hook"
	"github.com/seed434b0696/agent-sandbox/internal/agent/store"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// hookRequest returns the request in the form that hooks see.
func (t *turn) hookRequest() *hook.Request {
	chat := t.chat.Chat().ID
	r := &hook.Request{
		Chat: chat, Assistant: t.assistant.Name, User: t.request.User, Locale: t.request.Locale, Options: t.request.options,
		Send: func(_ context.Context, m hook.Message) error {
			t.emit(event.Event{Kind: event.MessageShown, Shown: &event.Shown{ID: m.ID, Op: string(m.Op), Type: m.Type, Props: m.Props}})
			return nil
		},
		Log: func(e hook.Entry) {
			t.emit(event.NewNotice(event.NoticeLog, string(e.Level), e.Text))
		},
		Trace: func(e hook.Entry) {
			t.emit(event.NewNotice(event.NoticeStep, string(e.Level), e.Text))
		},
		ChatStore: memory{t.pipeline.store.Memory(store.ChatScope(t.request.User, chat))},
		UserStore: memory{t.pipeline.store.Memory(store.UserScope(t.request.User))},
	}
	if t.box != nil {
		r.Sandbox = hook.In(t.box, t.dir())
	}
	return r
}

// memory is a scope of the store whose values do not expire.
type memory struct{ store.Memory }

// Save implements [hook.Store].
func (m memory) Save(ctx context.Context, key string, value json.RawMessage) error {
	return m.Memory.Save(ctx, key, value, 0)
}

// LoadOrSave implements [hook.Store].
func (m memory) LoadOrSave(ctx context.Context, key string, value json.RawMessage) (json.RawMessage, error) {
	return m.Memory.LoadOrSave(ctx, key, value, 0)
}

// create runs the Create hook, which may reject the request, and applies its result to the model step.
func (t *turn) create(ctx context.Context) error {
	if t.script == nil || !t.script.HasCreate() {
		return nil
	}
	created, err := t.script.Create(ctx, t.hooked, t.asked)
	if err != nil {
		return err
	}
	return t.adopt(created)
}

// adopt applies the result of a Create hook. A value that this assistant cannot apply is an error, since ignoring it
// would hide the mistake.
func (t *turn) adopt(c *hook.Created) error {
	t.created = *c
	if c.Messages != nil {
		t.asked = c.Messages
	}
	if c.Locale != "" {
		t.request.Locale, t.hooked.Locale = c.Locale, c.Locale
	}
	var err error
	if t.prompts, err = t.assistant.Preset(c.PromptPreset); err != nil {
		return wrapCreateError(err)
	}
	for _, s := range c.MCPServers {
		if !t.hasServer(s.ID) && (s.ID != ToolServer || len(t.pipeline.functions.tools) == 0) {
			return wrapCreateError(sandbox.Errorf(sandbox.NotFound, "the assistant %s has no MCP server %.100q", t.assistant.Name, s.ID).
				WithHint("name it in mcp.servers of its package"))
		}
	}
	if c.Temperature != nil && t.executor != nil {
		return wrapCreateError(sandbox.Errorf(sandbox.Invalid, "%s chooses the temperature itself", t.executor.Name()).
			WithHint("leave temperature out where the assistant has a sandbox"))
	}
	if c.Connector == "" || c.Connector == t.connector.ID {
		return nil
	}
	other, err := t.pipeline.assistants.Connector(c.Connector)
	if err != nil {
		return wrapCreateError(err)
	}
	t.connector = *other
	return nil
}

// wrapCreateError wraps an error in the result of a Create hook.
func wrapCreateError(err error) error {
	out := sandbox.Errorf(sandbox.CodeOf(err), "create hook: %w", err)
	out.Hint = sandbox.HintOf(err)
	return out
}

// next runs the Next hook. Its error becomes a notice, and the answer stays.
func (t *turn) next(ctx context.Context) *hook.Delegate {
	if t.script == nil || !t.script.HasNext() {
		return nil
	}
	// The hook sees the result of an interrupted run, too, and can clean up.
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
	}
	r := t.response()
	payload := hook.Payload{Messages: t.asked, Completion: &r, Tools: t.tools}
	if !r.OK() {
		payload.Error = r.Error
		if payload.Error == "" {
			payload.Error = string(r.Outcome)
		}
	}
	replied, err := t.script.Next(ctx, t.hooked, payload)
	if err != nil {
		t.emit(event.NewNotice(event.NoticeError, "next", fmt.Sprintf("the Next hook failed: %v", err)))
		return nil
	}
	t.replied = *replied
	return replied.Delegate
}
