package dialect

import (
	"encoding/json"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
)

// Write implements [Dialect]. The API has no stop sequences.
func (responses) Write(r Request, t Target) []byte {
	var input, tools []json.RawMessage
	for _, m := range r.Messages {
		input = append(input, responsesItems(m)...)
	}
	for _, tool := range r.Tools {
		tools = append(tools, object("type", "function", "name", tool.Name, "description", tool.Description, "parameters", tool.schema(), "strict", false))
	}
	choice, parallel := openaiChoiceOf(r.Choice, false), r.Parallel
	if len(tools) == 0 {
		choice, parallel = nil, nil
	}
	limit, reasoning, include := any(nil), json.RawMessage(nil), json.RawMessage(nil)
	if n := lowerLimit(r.MaxTokens, t.MaxTokens); n > 0 {
		limit = max(n, 16) // the API rejects a lower limit
	}
	if r.Effort != "" { // models that do not think reject the field
		reasoning, include = object("effort", r.Effort, "summary", "auto"), json.RawMessage(`["reasoning.encrypted_content"]`)
	}
	return object("model", t.Model, "instructions", optional(strings.Join(r.System, "\n\n")), "input", array(input), "tools", arrayOrNil(tools),
		"tool_choice", choice, "parallel_tool_calls", parallel, "max_output_tokens", limit, "temperature", r.Temperature, "top_p", r.TopP,
		"reasoning", reasoning, "include", include, "text", responsesFormat(r.Format), "store", false, "stream", true)
}

func responsesFormat(f *Format) json.RawMessage {
	switch {
	case f == nil:
		return nil
	case len(f.Schema) == 0:
		return object("format", object("type", "json_object"))
	}
	return object("format", object("type", "json_schema", "name", f.Name, "schema", f.Schema, "strict", f.Strict))
}

// responsesItems writes a message's parts as items in their order: text as one item, each call, result and thought as another.
func responsesItems(m Message) []json.RawMessage {
	var out, said []json.RawMessage
	flush := func() {
		if len(said) > 0 {
			out = append(out, object("type", "message", "role", string(m.Role), "content", said))
		}
		said = nil
	}
	for _, p := range m.Parts {
		switch p.Kind {
		case Call:
			flush()
			args := p.Text
			if strings.TrimSpace(args) == "" {
				args = "{}"
			}
			out = append(out, object("type", "function_call", "call_id", p.ID, "name", p.Name, "arguments", args))
		case Result:
			flush()
			out = append(out, object("type", "function_call_output", "call_id", p.ID, "output", responsesOutput(p)))
		case Thinking:
			if p.Seal.Origin != connector.Responses || p.Seal.Value == "" {
				continue
			}
			flush()
			summary := []json.RawMessage{}
			if p.Text != "" {
				summary = append(summary, object("type", "summary_text", "text", p.Text))
			}
			out = append(out, object("type", "reasoning", "id", optional(p.Seal.ID), "summary", summary, "encrypted_content", p.Seal.Value))
		default:
			said = append(said, responsesPartOf(p, m.Role))
		}
	}
	flush()
	return out
}

// responsesOutput returns a result as text, or as a list of parts when it has more than text.
func responsesOutput(p Part) any {
	var parts []json.RawMessage
	for _, inner := range p.Parts {
		if inner.Kind != Text {
			parts = append(parts, responsesPartOf(inner, User))
		}
	}
	if len(parts) == 0 {
		return resultText(p)
	}
	if s := resultText(Part{Parts: p.Parts, Failed: p.Failed}); joinText(p.Parts) != "" || p.Failed {
		parts = append([]json.RawMessage{object("type", "input_text", "text", s)}, parts...)
	}
	return parts
}

func responsesPartOf(p Part, role Role) json.RawMessage {
	switch {
	case p.Kind == Image:
		return object("type", "input_image", "image_url", p.source(), "detail", "auto")
	case p.Kind == File:
		return object("type", "input_file", "filename", p.Name, "file_data", p.source())
	case role == Assistant:
		return object("type", "output_text", "text", p.Text)
	}
	return object("type", "input_text", "text", p.Text)
}
