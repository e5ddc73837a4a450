package dialect

import (
	"encoding/json"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker/sse"
)

// messagesUsage is the usage in the Messages API; a missing value leaves the previous one.
type messagesUsage struct {
	Input      *count `json:"input_tokens"`
	Output     *count `json:"output_tokens"`
	CacheRead  *count `json:"cache_read_input_tokens"`
	CacheWrite *count `json:"cache_creation_input_tokens"`
}

func (m messagesUsage) onto(u event.Usage) event.Usage {
	for to, from := range map[*int64]*count{&u.Input: m.Input, &u.Output: m.Output, &u.CacheRead: m.CacheRead, &u.CacheWrite: m.CacheWrite} {
		if from != nil {
			*to = int64(*from)
		}
	}
	return u
}

type messagesDecoder struct {
	usage    event.Usage
	complete bool
}

type messagesEvent struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Usage messagesUsage `json:"usage"`
	} `json:"message"`
	Block struct {
		Type  string          `json:"type"`
		Text  string          `json:"text"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Data  string          `json:"data"`
		Input json.RawMessage `json:"input"`
	} `json:"content_block"`
	Delta struct {
		Type      string `json:"type"`
		Text      string `json:"text"`
		Thinking  string `json:"thinking"`
		Signature string `json:"signature"`
		JSON      string `json:"partial_json"`
		Stop      string `json:"stop_reason"`
	} `json:"delta"`
	Usage *messagesUsage `json:"usage"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

// Decoder implements [Dialect].
func (messages) Decoder() Decoder { return &messagesDecoder{} }

// Complete implements [Decoder].
func (d *messagesDecoder) Complete() bool { return d.complete }

// Done implements [Decoder].
func (d *messagesDecoder) Done() bool { return d.complete }

// Decode implements [Decoder].
func (d *messagesDecoder) Decode(e sse.Event) ([]Delta, error) {
	var in messagesEvent
	if err := decodeLenient(e.Data, &in); err != nil {
		return nil, garbage("the server sent an event that does not belong to the Messages API: %v", err)
	}
	switch in.Type {
	case "message_start":
		d.usage = in.Message.Usage.onto(d.usage)
		return []Delta{{Change: SetUsage, Usage: d.usage}}, nil
	case "content_block_start":
		return in.begin(), nil
	case "content_block_delta":
		return in.more(), nil
	case "message_delta":
		var out []Delta
		if in.Usage != nil {
			d.usage = in.Usage.onto(d.usage)
			out = append(out, Delta{Change: SetUsage, Usage: d.usage})
		}
		if in.Delta.Stop != "" {
			out = append(out, Delta{Change: SetStop, Stop: messagesStop(in.Delta.Stop)})
		}
		return out, nil
	case "message_stop":
		d.complete = true
	case "error":
		return nil, &Fault{Type: in.Error.Type, Message: in.Error.Message}
	}
	return nil, nil
}

func (in messagesEvent) begin() []Delta {
	b := in.Block
	switch b.Type {
	case "text":
		if b.Text != "" {
			return []Delta{{Change: AddText, Block: in.Index, Text: b.Text}}
		}
	case "tool_use":
		out := []Delta{{Change: BeginCall, Block: in.Index, ID: b.ID, Name: b.Name}}
		if len(b.Input) > 0 && string(b.Input) != "{}" {
			out = append(out, Delta{Change: AddCall, Block: in.Index, Text: string(b.Input)})
		}
		return out
	case "redacted_thinking":
		return []Delta{{Change: AddSeal, Block: in.Index, Seal: Seal{connector.Anthropic, redacted, b.Data}}}
	}
	return nil
}

func (in messagesEvent) more() []Delta {
	switch in.Delta.Type {
	case "text_delta":
		return []Delta{{Change: AddText, Block: in.Index, Text: in.Delta.Text}}
	case "thinking_delta":
		return []Delta{{Change: AddThinking, Block: in.Index, Text: in.Delta.Thinking}}
	case "signature_delta":
		return []Delta{{Change: AddSeal, Block: in.Index, Seal: Seal{Origin: connector.Anthropic, Value: in.Delta.Signature}}}
	case "input_json_delta":
		return []Delta{{Change: AddCall, Block: in.Index, Text: in.Delta.JSON}}
	}
	return nil
}

func messagesStop(s string) Stop {
	switch s {
	case "tool_use":
		return StopCalls
	case "max_tokens", "model_context_window_exceeded":
		return StopLength
	case "stop_sequence":
		return StopSequence
	case "refusal":
		return StopRefusal
	}
	return StopEnd
}

// messagesEncoder writes blocks one after another; calls stay open until the end, for servers that interleave several.
type messagesEncoder struct {
	head   Head
	answer Answer
	number map[int]int // numbers of the blocks that have begun
	next   int
	calls  []int // numbers of the open calls
	open   int   // number of the open text or thinking block; -1: none
}

// Encoder implements [Dialect].
func (messages) Encoder(h Head) Encoder {
	return &messagesEncoder{head: h, number: map[int]int{}, open: -1}
}

// Begin implements [Encoder].
func (e *messagesEncoder) Begin() []byte {
	usage := object("input_tokens", 0, "cache_creation_input_tokens", 0, "cache_read_input_tokens", 0, "output_tokens", 1)
	message := object("id", "msg_"+e.head.ID, "type", "message", "role", "assistant", "model", e.head.Model, "content", json.RawMessage("[]"),
		"stop_reason", null(), "stop_sequence", null(), "usage", usage)
	return encodeEvent("message_start", object("type", "message_start", "message", message))
}

// Encode implements [Encoder].
func (e *messagesEncoder) Encode(d Delta) []byte {
	var out []byte
	n, known := e.number[d.Block]
	switch d.Change {
	case SetUsage, SetStop:
		e.answer.Add(d)
		return nil
	case BeginCall:
		if known {
			return nil
		}
		e.answer.Add(d)
		n, out = e.begin(d.Block, object("type", "tool_use", "id", d.ID, "name", d.Name, "input", object()))
		e.calls = append(e.calls, n)
		return out
	case AddText, AddThinking, AddSeal:
		if known && n != e.open { // the server continued a block that has ended: start a new one
			known = false
		}
		if !known {
			first := object("type", "text", "text", "")
			if d.Change != AddText {
				first = object("type", "thinking", "thinking", "", "signature", "")
			}
			n, out = e.begin(d.Block, first)
			e.open = n
		}
	case AddCall:
		if !known {
			return nil
		}
	}
	return append(out, encodeEvent("content_block_delta", object("type", "content_block_delta", "index", n, "delta", messagesDelta(d)))...)
}

func messagesDelta(d Delta) json.RawMessage {
	switch d.Change {
	case AddThinking:
		return object("type", "thinking_delta", "thinking", d.Text)
	case AddSeal:
		return object("type", "signature_delta", "signature", closeSeal(d.Seal, connector.Anthropic, ""))
	case AddCall:
		return object("type", "input_json_delta", "partial_json", d.Text)
	default:
		return object("type", "text_delta", "text", d.Text)
	}
}

// begin ends the open text or thinking block and begins a block.
func (e *messagesEncoder) begin(block int, first json.RawMessage) (int, []byte) {
	out := e.close()
	n := e.next
	e.next++
	e.number[block] = n
	return n, append(out, encodeEvent("content_block_start", object("type", "content_block_start", "index", n, "content_block", first))...)
}

func (e *messagesEncoder) close() []byte {
	if e.open < 0 {
		return nil
	}
	out := encodeEvent("content_block_stop", object("type", "content_block_stop", "index", e.open))
	e.open = -1
	return out
}

// End implements [Encoder].
func (e *messagesEncoder) End() []byte {
	out := e.close()
	for _, n := range e.calls {
		out = append(out, encodeEvent("content_block_stop", object("type", "content_block_stop", "index", n))...)
	}
	delta := object("stop_reason", stopOfMessages(e.answer.Stop()), "stop_sequence", null())
	out = append(out, encodeEvent("message_delta", object("type", "message_delta", "delta", delta, "usage", usageOfMessages(e.answer.Usage)))...)
	return append(out, encodeEvent("message_stop", object("type", "message_stop"))...)
}

func stopOfMessages(s Stop) string {
	switch s {
	case StopCalls:
		return "tool_use"
	case StopLength:
		return "max_tokens"
	case StopSequence:
		return "stop_sequence"
	case StopRefusal:
		return "refusal"
	default:
		return "end_turn"
	}
}

func usageOfMessages(u event.Usage) json.RawMessage {
	return object("input_tokens", u.Input, "cache_creation_input_tokens", u.CacheWrite, "cache_read_input_tokens", u.CacheRead, "output_tokens", u.Output)
}

// Whole implements [Dialect].
func (messages) Whole(h Head, a Answer) []byte {
	content := []json.RawMessage{}
	for _, p := range a.Parts() {
		switch p.Kind {
		case Call:
			content = append(content, object("type", "tool_use", "id", p.ID, "name", p.Name, "input", decodeArguments(p.Text)))
		case Thinking:
			content = append(content, object("type", "thinking", "thinking", p.Text, "signature", closeSeal(p.Seal, connector.Anthropic, "")))
		default:
			content = append(content, object("type", "text", "text", p.Text))
		}
	}
	return object("id", "msg_"+h.ID, "type", "message", "role", "assistant", "model", h.Model, "content", content,
		"stop_reason", stopOfMessages(a.Stop()), "stop_sequence", null(), "usage", usageOfMessages(a.Usage))
}

// Errors implements [Dialect].
func (m messages) Errors() Errors { return m }

// Error implements [Errors].
func (messages) Error(f Fault) []byte {
	kind := f.Type
	if kind == "" {
		kind = anthropicType(f.Status)
	}
	var code any
	if f.Code != "" {
		code = f.Code
	}
	return object("type", "error", "error", object("type", kind, "code", code, "message", f.Message))
}

// Event implements [Errors].
func (m messages) Event(f Fault) []byte { return encodeEvent("error", m.Error(f)) }

// Usage implements [Errors].
func (messages) Usage(body []byte) (event.Usage, bool) {
	var in struct {
		Usage *messagesUsage `json:"usage"`
	}
	if json.Unmarshal(body, &in) != nil || in.Usage == nil {
		return event.Usage{}, false
	}
	return in.Usage.onto(event.Usage{}), true
}
