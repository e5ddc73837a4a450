package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/agent/hook"
	"github.com/seed434b0696/agent-sandbox/agent/store"
)

type rawMessage = json.RawMessage

// hookRequest is what hooks see of the request.
func (t *turn) hookRequest() *hook.Request {
	chat := t.chat.Chat().ID
	r := &hook.Request{
		Chat: chat, Assistant: t.assistant.Name, User: t.request.User, Locale: t.request.Locale,
		Send: func(_ context.Context, m hook.Message) error {
			t.emit(event.Event{Kind: event.MessageShown, Shown: &event.Shown{ID: m.ID, Op: string(m.Op), Type: m.Type, Props: m.Props}})
			return nil
		},
		Log: func(e hook.Entry) {
			t.emit(event.NewNotice(event.NoticeLog, string(e.Level), e.Text))
		},
		ChatStore: memory{t.pipeline.o.Store.Memory(store.ChatScope(t.request.User, chat))},
		UserStore: memory{t.pipeline.o.Store.Memory(store.UserScope(t.request.User))},
	}
	if t.box != nil {
		r.Sandbox = hook.In(t.box, t.dir())
	}
	return r
}

// memory is a scope of the store that keeps values for good.
type memory struct{ store.Memory }

// Save implements [hook.Store].
func (m memory) Save(ctx context.Context, key string, value json.RawMessage) error {
	return m.Memory.Save(ctx, key, value, 0)
}

// create runs the Create hook, which may reject the request, and does what it wants of the model step.
func (t *turn) create(ctx context.Context) error {
	if t.script == nil || !t.script.HasCreate() {
		return nil
	}
	created, err := t.script.Create(ctx, t.hooked, t.asked)
	if err != nil {
		return err
	}
	t.created = *created
	if created.Messages != nil {
		t.asked = created.Messages
	}
	if created.Connector == "" || created.Connector == t.connector.ID {
		return nil
	}
	c, err := t.pipeline.o.Assistants.Connector(created.Connector)
	if err == nil {
		t.connector = *c
	}
	return err
}

// next runs the Next hook. What goes wrong in it is told, and the answer stands.
func (t *turn) next(ctx context.Context) *hook.Delegate {
	if t.script == nil || !t.script.HasNext() {
		return nil
	}
	// The hook sees what an interrupted run came to, and tidies up.
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
