package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/agent/hook/protocol"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// hosted serves the calls of one run of a hook.
type hosted struct {
	r     *Request
	calls int           // calls that remain
	wait  time.Duration // waiting time that remains
}

func (h *hosted) Call(ctx context.Context, op string, args json.RawMessage) (json.RawMessage, error) {
	if h.calls--; h.calls < 0 {
		return nil, protocol.Refuse("the hook has called the host too often")
	}
	if h.wait <= 0 {
		return nil, protocol.Refuse("the hook has waited too long for what it called")
	}
	begin := time.Now()
	ctx, cancel := context.WithTimeout(ctx, h.wait)
	defer cancel()
	value, err := h.answer(ctx, op, args)
	h.wait -= time.Since(begin)
	if err != nil {
		return nil, h.refusal(err)
	}
	return value, nil
}

// refusal converts an error to the one that the script sees.
func (h *hosted) refusal(err error) *protocol.Refusal {
	if no := (*protocol.Refusal)(nil); errors.As(err, &no) {
		return no
	}
	no := protocol.Refuse("%v", err)
	if h.wait <= 0 {
		no = protocol.Refuse("the hook has waited too long for what it called: %v", err)
	}
	no.Props = map[string]any{"code": string(sandbox.CodeOf(err))}
	return no
}

func (h *hosted) answer(ctx context.Context, op string, args json.RawMessage) (json.RawMessage, error) {
	switch op {
	case "message":
		return answerCall(args, func(a protocol.MessageArgs) (any, error) { return h.message(ctx, a) })
	case "log":
		return answerCall(args, func(a protocol.LogArgs) (any, error) { return nil, h.log(a) })
	case "memory":
		return answerCall(args, func(a protocol.MemoryArgs) (any, error) { return h.remember(ctx, a) })
	case "sandbox":
		return answerCall(args, func(a protocol.SandboxArgs) (any, error) { return useSandbox(ctx, h.r.Sandbox, a) })
	default:
		return nil, protocol.Refuse("unknown call %q", protocol.Clip(op, 50))
	}
}

// answerCall decodes a call's arguments and encodes its result; nil means no value.
func answerCall[A any](args json.RawMessage, do func(A) (any, error)) (json.RawMessage, error) {
	var a A
	if err := json.Unmarshal(args, &a); err != nil {
		return nil, protocol.Refuse("arguments that cannot be read: %v", err)
	}
	v, err := do(a)
	if err != nil || v == nil {
		return nil, err
	}
	return json.Marshal(v)
}

func (h *hosted) log(a protocol.LogArgs) error {
	switch a.Level {
	case Trace, Debug, Info, Warn, Error:
	default:
		return protocol.Refuse("unknown level %q", protocol.Clip(string(a.Level), 50))
	}
	receive := h.r.Log
	if a.Trace {
		receive = h.r.Trace
	}
	if receive != nil {
		receive(Entry{Level: a.Level, Text: protocol.Clip(a.Text, protocol.MaxLog)})
	}
	return nil
}

// message sends a message to the user and returns its id.
func (h *hosted) message(ctx context.Context, a protocol.MessageArgs) (any, error) {
	function, ok := protocol.MessageFunctions[a.Op]
	if !ok {
		return nil, protocol.Refuse("unknown operation %q", protocol.Clip(string(a.Op), 50))
	}
	m, err := parseMessage("ctx."+function, a)
	if err != nil {
		return nil, err
	}
	if err := h.r.state.admit(&m, "ctx."+function, a.ID); err != nil {
		return nil, err
	}
	if h.r.Send != nil {
		if err := h.r.Send(ctx, m); err != nil {
			return nil, err
		}
	}
	return m.ID, nil
}

// parseMessage decodes a hook's message: an object or a text.
func parseMessage(function string, a protocol.MessageArgs) (Message, error) {
	m := Message{Op: a.Op}
	if len(a.Message) > protocol.MaxProps {
		return m, protocol.Refuse("%s: a message of %d bytes; at most %d", function, len(a.Message), protocol.MaxProps)
	}
	var text string
	var object struct {
		Type  *string         `json:"type"`
		Props json.RawMessage `json:"props"`
	}
	switch {
	case len(a.Message) == 0 && a.Op == End:
		return m, nil
	case len(a.Message) == 0:
		return m, protocol.Refuse("%s: expected a message: {type, props} or a text", function)
	case json.Unmarshal(a.Message, &text) == nil && a.Message[0] == '"':
		props, err := json.Marshal(map[string]string{"content": text})
		m.Type, m.Props = "text", props
		return m, err
	case a.Message[0] != '{' || json.Unmarshal(a.Message, &object) != nil || object.Type == nil || *object.Type == "" || len(*object.Type) > protocol.MaxKey:
		return m, protocol.Refuse("%s: expected a message: an object whose type is a string, or a text", function)
	case len(object.Props) > 0 && object.Props[0] != '{' && string(object.Props) != "null":
		return m, protocol.Refuse("%s: props: expected an object", function)
	}
	m.Type = *object.Type
	if len(object.Props) > 0 && object.Props[0] == '{' {
		m.Props = object.Props
	}
	return m, nil
}

// admit gives a message its id, or checks that the message it refers to can be changed.
func (s *state) admit(m *Message, function, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.Op != Send && m.Op != Start {
		if !s.open[id] {
			return protocol.Refuse("%s: no message %q can be changed; ctx.SendStream begins one, ctx.End ends it", function, protocol.Clip(id, 50))
		}
		if m.Op == End {
			delete(s.open, id)
		}
		m.ID = id
		return nil
	}
	if m.Op == Start {
		if len(s.open) >= protocol.MaxOpen {
			return protocol.Refuse("%s: there are %d messages that were not ended", function, protocol.MaxOpen)
		}
		if s.open == nil {
			s.open = map[string]bool{}
		}
	}
	s.lastID++
	m.ID = "h" + strconv.Itoa(s.lastID)
	if m.Op == Start {
		s.open[m.ID] = true
	}
	return nil
}

// remember performs one operation of ctx.memory.
func (h *hosted) remember(ctx context.Context, a protocol.MemoryArgs) (any, error) {
	var s Store
	switch a.Space {
	case "context":
		s = memory{&h.r.state}
	case "chat":
		s = h.r.ChatStore
	case "user":
		s = h.r.UserStore
	case "team":
		s = h.r.TeamStore
	}
	where := fmt.Sprintf("ctx.memory.%s.%s", protocol.Clip(a.Space, 50), protocol.Clip(a.Function, 50))
	switch {
	case s == nil:
		return nil, protocol.Refuse("%s: this request has no memory of that kind", where)
	case a.Function == "Keys":
		keys, err := s.Keys(ctx)
		return append([]string{}, keys...), err
	case a.Key == "" || len(a.Key) > protocol.MaxKey:
		return nil, protocol.Refuse("%s: expected a key of 1 to %d bytes", where, protocol.MaxKey)
	case len(a.Value) > protocol.MaxStored:
		return nil, protocol.Refuse("%s: a value of %d bytes as JSON; at most %d", where, len(a.Value), protocol.MaxStored)
	}
	switch a.Function {
	case "Get":
		v, err := s.Load(ctx, a.Key)
		if v == nil {
			v = json.RawMessage("null")
		}
		return v, err
	case "Has":
		v, err := s.Load(ctx, a.Key)
		return v != nil, err
	case "Set":
		if !json.Valid(a.Value) {
			return nil, protocol.Refuse("%s: expected a value that JSON has", where)
		}
		return nil, s.Save(ctx, a.Key, slices.Clone(a.Value))
	case "GetSet":
		if !json.Valid(a.Value) {
			return nil, protocol.Refuse("%s: expected a value that JSON has", where)
		}
		return s.LoadOrSave(ctx, a.Key, slices.Clone(a.Value))
	case "Del":
		return nil, s.Delete(ctx, a.Key)
	default:
		return nil, protocol.Refuse("there is no %s", where)
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
