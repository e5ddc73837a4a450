package dialect

import (
	"encoding/json"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
)

// defaultMax is the limit of an answer for requests without one; the API requires it.
const defaultMax = 8192

// cacheControl marks the end of the part that the server should cache.
func cacheControl() json.RawMessage { return object("type", "ephemeral") }

// Write implements [Dialect].
func (messages) Write(r Request, t Target) []byte {
	limit := lowerLimit(r.MaxTokens, t.MaxTokens)
	if limit == 0 {
		limit = defaultMax
	}
	budget := thinkingBudget(r, limit)
	system, turns := r.System, messagesTurns(r, budget > 0)
	var blocks []json.RawMessage
	for i, s := range system {
		if s == "" {
			continue
		}
		var mark json.RawMessage
		if i == len(system)-1 {
			mark = cacheControl()
		}
		blocks = append(blocks, object("type", "text", "text", s, "cache_control", mark))
	}
	var tools []json.RawMessage
	for _, tool := range r.Tools {
		tools = append(tools, object("name", tool.Name, "description", tool.Description, "input_schema", tool.schema()))
	}
	temperature, thinking := r.Temperature, json.RawMessage(nil)
	if budget > 0 {
		temperature, thinking = nil, object("type", "enabled", "budget_tokens", budget)
	} else if temperature != nil && *temperature > 1 {
		temperature = new(1.0) // other APIs allow up to 2
	}
	return object("model", t.Model, "max_tokens", limit, "system", arrayOrNil(blocks), "messages", turns, "tools", arrayOrNil(tools),
		"tool_choice", messagesChoice(r, len(tools) > 0), "temperature", temperature, "top_p", r.TopP, "stop_sequences", list(r.Stop),
		"thinking", thinking, "output_config", messagesOutput(r), "stream", true)
}

// lowerLimit returns the lower of two limits; 0 means no limit.
func lowerLimit(asked, most int64) int64 {
	if most > 0 && (asked == 0 || asked > most) {
		return most
	}
	return asked
}

// thinkingBudget returns the number of tokens for thinking, or 0. A turn with calls must begin with its thoughts; otherwise
// the API rejects it.
func thinkingBudget(r Request, limit int64) int64 {
	budget := map[string]int64{"low": 2048, "medium": 8192, "high": 16384, "xhigh": 24576, "max": 24576}[r.Effort]
	budget = min(budget, limit/2)
	if budget < 1024 || r.Choice.Mode == "any" || r.Choice.Mode == "tool" {
		return 0
	}
	thought := false
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			switch {
			case p.Kind == Thinking:
				thought = p.Seal.Origin == connector.Anthropic
			case p.Kind == Call && !thought:
				return 0
			case m.Role == User && p.Kind != Result:
				thought = false
			}
		}
	}
	return budget
}

func messagesOutput(r Request) json.RawMessage {
	if r.Format == nil || len(r.Format.Schema) == 0 {
		return nil
	}
	return object("format", object("type", "json_schema", "schema", r.Format.Schema))
}

func messagesChoice(r Request, tools bool) json.RawMessage {
	mode := r.Choice.Mode
	if !tools || mode == "" && r.Parallel == nil {
		return nil
	}
	if mode == "" {
		mode = "auto"
	}
	var disable *bool
	if r.Parallel != nil && !*r.Parallel && mode != "none" {
		disable = new(true)
	}
	var name any
	if mode == "tool" {
		name = r.Choice.Name
	}
	return object("type", mode, "name", name, "disable_parallel_tool_use", disable)
}

// messagesTurns writes the messages and merges successive ones of the same role: the API requires alternating roles, with
// results first.
func messagesTurns(r Request, thinking bool) []json.RawMessage {
	var turns []json.RawMessage
	var role Role
	var results, others []json.RawMessage
	flush := func() {
		if len(results)+len(others) > 0 {
			turns = append(turns, object("role", string(role), "content", append(results, others...)))
		}
		results, others = nil, nil
	}
	for i, m := range r.Messages {
		side := m.Role
		if side == System {
			side = User
		}
		if side != role {
			flush()
			role = side
		}
		for j, p := range m.Parts {
			last := i == len(r.Messages)-1 && j == len(m.Parts)-1
			block := messagesBlockOf(p, last, thinking)
			switch {
			case block == nil:
			case p.Kind == Result:
				results = append(results, block)
			default:
				others = append(others, block)
			}
		}
	}
	flush()
	return turns
}

// messagesBlockOf writes a part, or returns nil when the API cannot express it.
func messagesBlockOf(p Part, last, thinking bool) json.RawMessage {
	var mark json.RawMessage
	if last {
		mark = cacheControl()
	}
	switch p.Kind {
	case Text:
		if strings.TrimSpace(p.Text) == "" {
			return nil // the API rejects an empty text
		}
		return object("type", "text", "text", p.Text, "cache_control", mark)
	case Image:
		return object("type", "image", "source", messagesSource(p), "cache_control", mark)
	case File:
		return object("type", "document", "title", p.Name, "source", messagesSource(p), "cache_control", mark)
	case Call:
		return object("type", "tool_use", "id", p.ID, "name", p.Name, "input", decodeArguments(p.Text))
	case Result:
		var content []json.RawMessage
		for _, inner := range p.Parts {
			if block := messagesBlockOf(inner, false, false); block != nil {
				content = append(content, block)
			}
		}
		return object("type", "tool_result", "tool_use_id", p.ID, "content", arrayOrNil(content), "is_error", p.Failed, "cache_control", mark)
	case Thinking:
		if !thinking || p.Seal.Origin != connector.Anthropic {
			return nil
		}
		if p.Seal.ID == redacted {
			return object("type", "redacted_thinking", "data", p.Seal.Value)
		}
		return object("type", "thinking", "thinking", p.Text, "signature", p.Seal.Value)
	}
	return nil
}

func messagesSource(p Part) json.RawMessage {
	if p.URL != "" {
		return object("type", "url", "url", p.URL)
	}
	return object("type", "base64", "media_type", p.MediaType, "data", p.Data)
}

// arrayOrNil returns an array, or nil when it is empty.
func arrayOrNil(values []json.RawMessage) json.RawMessage {
	if len(values) == 0 {
		return nil
	}
	return array(values)
}

func list(values []string) json.RawMessage {
	var out []json.RawMessage
	for _, v := range values {
		out = append(out, appendString(nil, v))
	}
	return arrayOrNil(out)
}

// schema returns a tool's input schema, or a default: every API requires one.
func (t Tool) schema() json.RawMessage {
	if t.Free {
		return json.RawMessage(`{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}`)
	}
	if isNull(t.Schema) {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return t.Schema
}
