package dialect

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/event"
)

// responsesEncoder writes items one after another; calls stay open until the end, for servers that interleave several.
type responsesEncoder struct {
	head   Head
	answer Answer
	number map[int]int // numbers of the items that have begun, by block
	blocks []int       // by number
	done   []json.RawMessage
	open   int // number of the open text or thinking item; -1: none
	events int
}

// Encoder implements [Dialect].
func (responses) Encoder(h Head) Encoder {
	return &responsesEncoder{head: h, number: map[int]int{}, open: -1}
}

// event writes one numbered event.
func (e *responsesEncoder) event(name string, pairs ...any) []byte {
	pairs = append([]any{"type", name, "sequence_number", e.events}, pairs...)
	e.events++
	return encodeEvent(name, object(pairs...))
}

// Begin implements [Encoder].
func (e *responsesEncoder) Begin() []byte {
	r := e.head.response("in_progress", nil, null(), null())
	return append(e.event("response.created", "response", r), e.event("response.in_progress", "response", r)...)
}

// Encode implements [Encoder].
func (e *responsesEncoder) Encode(d Delta) []byte {
	if d.Change == SetUsage || d.Change == SetStop {
		e.answer.Add(d)
		return nil
	}
	n, known := e.number[d.Block]
	if d.Change == AddCall && !known || d.Change == BeginCall && known {
		return nil
	}
	if known && d.Change != AddCall && n != e.open {
		return nil // the item was already reported as complete
	}
	e.answer.Add(d)
	var out []byte
	if !known {
		out = e.close()
		n = len(e.blocks)
		e.number[d.Block] = n
		e.blocks = append(e.blocks, d.Block)
		e.done = append(e.done, nil)
		out = append(out, e.begin(n, d)...)
	}
	id := e.head.item(n, e.answer.index[d.Block].part.Kind)
	switch d.Change {
	case AddText:
		return append(out, e.event("response.output_text.delta", "item_id", id, "output_index", n, "content_index", 0, "delta", d.Text)...)
	case AddThinking:
		return append(out, e.event("response.reasoning_summary_text.delta", "item_id", id, "output_index", n, "summary_index", 0, "delta", d.Text)...)
	case AddCall:
		if e.head.tool(e.answer.index[d.Block].part.Name).Free {
			return out // a fragment of the JSON is not a fragment of the text in it
		}
		return append(out, e.event("response.function_call_arguments.delta", "item_id", id, "output_index", n, "delta", d.Text)...)
	default:
		return out
	}
}

// begin writes the event that adds an item.
func (e *responsesEncoder) begin(n int, d Delta) []byte {
	p := Part{Kind: e.answer.index[d.Block].part.Kind, ID: d.ID, Name: d.Name}
	id := e.head.item(n, p.Kind)
	out := e.event("response.output_item.added", "output_index", n, "item", e.head.outputItem(n, p, "in_progress"))
	switch p.Kind {
	case Text:
		e.open = n
		return append(out, e.event("response.content_part.added", "item_id", id, "output_index", n, "content_index", 0, "part", outputText(""))...)
	case Thinking:
		e.open = n
		return append(out, e.event("response.reasoning_summary_part.added", "item_id", id, "output_index", n, "summary_index", 0, "part", summaryText(""))...)
	default:
		return out
	}
}

// close completes the open text or thinking item.
func (e *responsesEncoder) close() []byte {
	if e.open < 0 {
		return nil
	}
	n := e.open
	e.open = -1
	return e.finish(n)
}

// finish writes the events that complete an item.
func (e *responsesEncoder) finish(n int) []byte {
	b := e.answer.index[e.blocks[n]]
	p := b.part
	p.Text = b.text.String()
	id := e.head.item(n, p.Kind)
	var out []byte
	switch {
	case p.Kind == Text:
		at := []any{"item_id", id, "output_index", n, "content_index", 0}
		out = append(e.event("response.output_text.done", append(at, "text", p.Text)...),
			e.event("response.content_part.done", append(at, "part", outputText(p.Text))...)...)
	case p.Kind == Thinking:
		at := []any{"item_id", id, "output_index", n, "summary_index", 0}
		out = append(e.event("response.reasoning_summary_text.done", append(at, "text", p.Text)...),
			e.event("response.reasoning_summary_part.done", append(at, "part", summaryText(p.Text))...)...)
	case !e.head.tool(p.Name).Free:
		out = e.event("response.function_call_arguments.done", "item_id", id, "output_index", n, "arguments", p.Text)
	}
	e.done[n] = e.head.outputItem(n, p, "completed")
	return append(out, e.event("response.output_item.done", "output_index", n, "item", e.done[n])...)
}

// End implements [Encoder].
func (e *responsesEncoder) End() []byte {
	out := e.close()
	for n, item := range e.done {
		if item == nil {
			out = append(out, e.finish(n)...)
		}
	}
	status, details := responsesStatus(e.answer.Stop())
	r := e.head.response(status, e.done, usageOfResponses(e.answer.Usage), details)
	return append(out, e.event("response."+status, "response", r)...)
}

func responsesStatus(s Stop) (status string, details json.RawMessage) {
	switch s {
	case StopLength:
		return "incomplete", object("reason", "max_output_tokens")
	case StopRefusal:
		return "incomplete", object("reason", "content_filter")
	default:
		return "completed", null()
	}
}

func (h Head) response(status string, output []json.RawMessage, usage, details json.RawMessage) json.RawMessage {
	return object("id", "resp_"+h.ID, "object", "response", "created_at", h.Created, "status", status, "error", null(),
		"incomplete_details", details, "model", h.Model, "output", array(output), "parallel_tool_calls", true, "store", false, "usage", usage)
}

// item returns the ID of an item.
func (h Head) item(n int, kind Kind) string {
	prefix := map[Kind]string{Text: "msg_", Thinking: "rs_", Call: "fc_"}[kind]
	return prefix + h.ID + "_" + strconv.Itoa(n)
}

// tool returns the tool with that name, or the zero value.
func (h Head) tool(name string) Tool {
	if i := slices.IndexFunc(h.Tools, func(t Tool) bool { return t.Name == name }); i >= 0 {
		return h.Tools[i]
	}
	return Tool{Name: name}
}

// outputItem returns an item as far as it is known.
func (h Head) outputItem(n int, p Part, status string) json.RawMessage {
	id := h.item(n, p.Kind)
	switch p.Kind {
	case Text:
		content := []json.RawMessage{}
		if status == "completed" {
			content = append(content, outputText(p.Text))
		}
		return object("id", id, "type", "message", "status", status, "role", "assistant", "content", content)
	case Thinking:
		summary := []json.RawMessage{}
		if p.Text != "" {
			summary = append(summary, summaryText(p.Text))
		}
		return object("id", id, "type", "reasoning", "summary", summary, "encrypted_content", optional(closeSeal(p.Seal, connector.Responses, p.Text)))
	default:
		return h.callItem(id, p, status)
	}
}

// callItem returns a call under the name by which the agent knows its tool.
func (h Head) callItem(id string, p Part, status string) json.RawMessage {
	t := h.tool(p.Name)
	name := t.Name
	if t.Inner != "" {
		name = t.Inner
	}
	if t.Free {
		return object("id", id, "type", "custom_tool_call", "status", status, "call_id", p.ID, "name", name,
			"namespace", optional(t.Namespace), "input", decodeFreeText(p.Text))
	}
	return object("id", id, "type", "function_call", "status", status, "call_id", p.ID, "name", name,
		"namespace", optional(t.Namespace), "arguments", p.Text)
}

func outputText(s string) json.RawMessage {
	return object("type", "output_text", "text", s, "annotations", json.RawMessage("[]"), "logprobs", json.RawMessage("[]"))
}

func summaryText(s string) json.RawMessage { return object("type", "summary_text", "text", s) }

func usageOfResponses(u event.Usage) json.RawMessage {
	return object("input_tokens", u.Prompt(), "input_tokens_details", object("cached_tokens", u.CacheRead),
		"output_tokens", u.Output, "output_tokens_details", object("reasoning_tokens", u.Reasoning), "total_tokens", u.Prompt()+u.Output)
}

// Whole implements [Dialect].
func (responses) Whole(h Head, a Answer) []byte {
	var output []json.RawMessage
	for n, p := range a.Parts() {
		output = append(output, h.outputItem(n, p, "completed"))
	}
	status, details := responsesStatus(a.Stop())
	return h.response(status, output, usageOfResponses(a.Usage), details)
}

// Errors implements [Dialect].
func (r responses) Errors() Errors { return r }

// Error implements [Errors].
func (responses) Error(f Fault) []byte { return openaiError(f) }

// Event implements [Errors].
func (responses) Event(f Fault) []byte {
	code := f.Code
	if code == "" {
		code = "server_error"
	}
	r := object("object", "response", "status", "failed", "error", object("code", code, "message", f.Message), "output", json.RawMessage("[]"))
	return encodeEvent("response.failed", object("type", "response.failed", "response", r))
}

// Usage implements [Errors].
func (responses) Usage(body []byte) (event.Usage, bool) {
	var in struct {
		Usage *responsesUsage `json:"usage"`
	}
	if json.Unmarshal(body, &in) != nil || in.Usage == nil {
		return event.Usage{}, false
	}
	return in.Usage.neutral(), true
}
