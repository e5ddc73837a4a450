package dialect

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
)

// Write implements [Dialect].
func (chat) Write(r Request, t Target) []byte {
	var messages, tools []json.RawMessage
	if len(r.System) > 0 {
		messages = append(messages, object("role", "system", "content", strings.Join(r.System, "\n\n")))
	}
	last := lastQuestion(r.Messages)
	for i, m := range r.Messages {
		switch m.Role {
		case Assistant:
			messages = append(messages, chatAssistant(m, i > last))
		case System:
			messages = append(messages, object("role", "system", "content", joinText(m.Parts)))
		default:
			messages = append(messages, chatUser(m)...)
		}
	}
	for _, tool := range r.Tools {
		function := object("name", tool.Name, "description", tool.Description, "parameters", tool.schema())
		tools = append(tools, object("type", "function", "function", function))
	}
	limit, completion := any(nil), any(nil)
	if n := lowerLimit(r.MaxTokens, t.MaxTokens); n > 0 && t.Completion {
		completion = n
	} else if n > 0 {
		limit = n
	}
	store := any(nil)
	if t.Completion { // OpenAI's own server stores answers unless the request says otherwise; others may not know the member
		store = false
	}
	choice, parallel := openaiChoiceOf(r.Choice, true), r.Parallel
	if len(tools) == 0 {
		choice, parallel = nil, nil
	}
	return object("model", t.Model, "messages", messages, "tools", arrayOrNil(tools), "tool_choice", choice, "parallel_tool_calls", parallel,
		"max_tokens", limit, "max_completion_tokens", completion, "temperature", r.Temperature, "top_p", r.TopP, "stop", list(r.Stop),
		"reasoning_effort", optional(r.Effort), "response_format", chatFormatOf(r.Format),
		"store", store, "stream", true, "stream_options", object("include_usage", true))
}

// optional returns nil for an empty text.
func optional(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func chatFormatOf(f *Format) json.RawMessage {
	switch {
	case f == nil:
		return nil
	case len(f.Schema) == 0:
		return object("type", "json_object")
	}
	return object("type", "json_schema", "json_schema", object("name", f.Name, "schema", f.Schema, "strict", f.Strict))
}

func openaiChoiceOf(c Choice, nested bool) any {
	switch {
	case c.Mode == "any":
		return "required"
	case c.Mode == "tool" && nested:
		return object("type", "function", "function", object("name", c.Name))
	case c.Mode == "tool":
		return object("type", "function", "name", c.Name)
	}
	return optional(c.Mode)
}

// lastQuestion returns the index of the last message that is not only results, or -1.
func lastQuestion(messages []Message) int {
	for i, m := range slices.Backward(messages) {
		if m.Role != User {
			continue
		}
		for _, p := range m.Parts {
			if p.Kind != Result {
				return i
			}
		}
	}
	return -1
}

// chatAssistant writes a message of the model. Servers of thinking models require the thoughts that led to a call until
// the next question, and reject older ones.
func chatAssistant(m Message, current bool) json.RawMessage {
	var said, thought strings.Builder
	var calls []json.RawMessage
	for _, p := range m.Parts {
		switch p.Kind {
		case Text:
			said.WriteString(p.Text)
		case Thinking:
			if p.Seal.Origin == connector.OpenAI {
				thought.WriteString(p.Text)
			}
		case Call:
			args := p.Text
			if strings.TrimSpace(args) == "" {
				args = "{}"
			}
			calls = append(calls, object("id", p.ID, "type", "function", "function", object("name", p.Name, "arguments", args)))
		default: // a model's message has no such part
		}
	}
	content, reasoning := any(said.String()), any(nil)
	if said.Len() == 0 && len(calls) > 0 {
		content = null()
	}
	if thought.Len() > 0 && current && len(calls) > 0 {
		reasoning = thought.String()
	}
	return object("role", "assistant", "content", content, "reasoning_content", reasoning, "tool_calls", arrayOrNil(calls))
}

// chatUser writes each result as a message of its own, then the other parts. A result is text there; a note stands for each image.
func chatUser(m Message) []json.RawMessage {
	var out []json.RawMessage
	var rest []Part
	for _, p := range m.Parts {
		if p.Kind != Result {
			rest = append(rest, p)
			continue
		}
		out = append(out, object("role", "tool", "tool_call_id", p.ID, "content", resultText(p)))
		for _, inner := range p.Parts {
			if inner.Kind != Text {
				rest = append(rest, Part{Kind: Text, Text: "Of the result of " + p.ID + ":"}, inner)
			}
		}
	}
	if len(rest) == 0 {
		return out
	}
	plain := true
	var parts []json.RawMessage
	for _, p := range rest {
		switch p.Kind {
		case Image:
			plain = false
			parts = append(parts, object("type", "image_url", "image_url", object("url", p.source())))
		case File:
			plain = false
			parts = append(parts, object("type", "file", "file", object("filename", p.Name, "file_data", p.source())))
		default:
			parts = append(parts, object("type", "text", "text", p.Text))
		}
	}
	if plain {
		return append(out, object("role", "user", "content", joinText(rest)))
	}
	return append(out, object("role", "user", "content", parts))
}

// resultText returns a result's text, with its failure for an API that has no field for it.
func resultText(p Part) string {
	s := joinText(p.Parts)
	if s == "" && len(p.Parts) > 0 {
		s = "(see below)"
	}
	if p.Failed && !strings.Contains(strings.ToLower(clip(s, 80)), "error") {
		return "Error: " + s
	}
	return s
}

// joinText joins the parts that have text with line breaks.
func joinText(parts []Part) string {
	var texts []string
	for _, p := range parts {
		if p.Kind == Text {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}
