package dialect

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/event"
)

type chatEncoder struct {
	head   Head
	answer Answer
	calls  map[int]int // index by block
}

// Encoder implements [Dialect].
func (chat) Encoder(h Head) Encoder { return &chatEncoder{head: h, calls: map[int]int{}} }

// chunk encodes one event.
func (e *chatEncoder) chunk(choices []json.RawMessage, usage json.RawMessage) []byte {
	return encodeEvent("", object("id", "chatcmpl-"+e.head.ID, "object", "chat.completion.chunk", "created", e.head.Created, "model", e.head.Model,
		"choices", array(choices), "usage", usage))
}

func (e *chatEncoder) delta(delta json.RawMessage, finish any) []byte {
	return e.chunk([]json.RawMessage{object("index", 0, "delta", delta, "finish_reason", finish)}, nil)
}

// Begin implements [Encoder].
func (e *chatEncoder) Begin() []byte {
	return e.delta(object("role", "assistant", "content", ""), null())
}

// Encode implements [Encoder].
func (e *chatEncoder) Encode(d Delta) []byte {
	switch d.Change {
	case AddText:
		return e.delta(object("content", d.Text), null())
	case AddThinking:
		return e.delta(object("reasoning_content", d.Text), null())
	case BeginCall:
		if _, known := e.calls[d.Block]; known {
			return nil
		}
		e.answer.Add(d)
		e.calls[d.Block] = len(e.calls)
		function := object("name", d.Name, "arguments", "")
		return e.call(object("index", e.calls[d.Block], "id", d.ID, "type", "function", "function", function))
	case AddCall:
		if i, known := e.calls[d.Block]; known {
			return e.call(object("index", i, "function", object("arguments", d.Text)))
		}
	case SetUsage, SetStop:
		e.answer.Add(d)
	default: // Chat has no seals
	}
	return nil
}

func (e *chatEncoder) call(call json.RawMessage) []byte {
	return e.delta(object("tool_calls", []json.RawMessage{call}), null())
}

// End implements [Encoder].
func (e *chatEncoder) End() []byte {
	out := e.delta(object(), chatFinish(e.answer.Stop()))
	if e.head.Usage {
		out = append(out, e.chunk(nil, usageOfChat(e.answer.Usage))...)
	}
	return append(out, "data: [DONE]\n\n"...)
}

func chatFinish(s Stop) string {
	switch s {
	case StopCalls:
		return "tool_calls"
	case StopLength:
		return "length"
	case StopRefusal:
		return "content_filter"
	default:
		return "stop"
	}
}

func usageOfChat(u event.Usage) json.RawMessage {
	return object("prompt_tokens", u.Prompt(), "completion_tokens", u.Output, "total_tokens", u.Prompt()+u.Output,
		"prompt_tokens_details", object("cached_tokens", u.CacheRead), "completion_tokens_details", object("reasoning_tokens", u.Reasoning))
}

// Whole implements [Dialect].
func (chat) Whole(h Head, a Answer) []byte {
	message := chatAssistant(Message{Assistant, a.Parts()}, false)
	var thought strings.Builder
	for _, p := range a.Parts() {
		if p.Kind == Thinking {
			thought.WriteString(p.Text)
		}
	}
	if thought.Len() > 0 {
		message = slices.Concat(message[:len(message)-1], []byte(`,"reasoning_content":`), appendString(nil, thought.String()), []byte("}"))
	}
	return object("id", "chatcmpl-"+h.ID, "object", "chat.completion", "created", h.Created, "model", h.Model,
		"choices", []json.RawMessage{object("index", 0, "message", message, "finish_reason", chatFinish(a.Stop()))}, "usage", usageOfChat(a.Usage))
}

// Errors implements [Dialect].
func (c chat) Errors() Errors { return c }

// Error implements [Errors].
func (chat) Error(f Fault) []byte { return openaiError(f) }

// openaiError encodes the body of an error for both of OpenAI's APIs.
func openaiError(f Fault) []byte {
	kind, code := f.Type, any(null())
	if kind == "" {
		kind = openaiType(f.Status)
	}
	if f.Code != "" {
		code = f.Code
	}
	return object("error", object("message", f.Message, "type", kind, "param", null(), "code", code))
}

// Event implements [Errors].
func (chat) Event(f Fault) []byte { return encodeEvent("", openaiError(f)) }

// Usage implements [Errors].
func (chat) Usage(body []byte) (event.Usage, bool) {
	var in struct {
		Usage *chatUsage `json:"usage"`
	}
	if json.Unmarshal(body, &in) != nil || in.Usage == nil {
		return event.Usage{}, false
	}
	return in.Usage.neutral(), true
}
