package dialect

import (
	"encoding/json"
	"slices"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
)

// messages implements Anthropic's Messages API.
type messages struct{}

type messagesRequest struct {
	Model    string          `json:"model"`
	System   json.RawMessage `json:"system"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Type        string          `json:"type"`
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"input_schema"`
	} `json:"tools"`
	Choice *struct {
		Type    string `json:"type"`
		Name    string `json:"name"`
		Disable *bool  `json:"disable_parallel_tool_use"`
	} `json:"tool_choice"`
	MaxTokens   count    `json:"max_tokens"`
	Temperature *float64 `json:"temperature"`
	TopP        *float64 `json:"top_p"`
	Stop        []string `json:"stop_sequences"`
	Output      struct {
		Effort string `json:"effort"`
		Format *struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"output_config"`
	Stream bool `json:"stream"`
}

// messagesBlock is a block of content, of any type.
type messagesBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Title     string          `json:"title"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	Source    struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
		URL       string `json:"url"`
	} `json:"source"`
}

// Read implements [Dialect].
func (messages) Read(body []byte) (Request, error) {
	var in messagesRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, invalid("the request is not a valid request of the Messages API: %v", err)
	}
	r := Request{
		Model: in.Model, MaxTokens: int64(in.MaxTokens), Temperature: in.Temperature, TopP: in.TopP, Stop: in.Stop, Effort: in.Output.Effort, Stream: in.Stream,
	}
	system, err := messagesParts(in.System, "system")
	if err != nil {
		return r, err
	}
	for _, p := range system {
		r.System = append(r.System, p.Text)
	}
	for _, m := range in.Messages {
		role := Role(m.Role)
		if role != User && role != Assistant && role != System {
			return r, invalid("messages: role: expected user or assistant, got %q", m.Role)
		}
		parts, err := messagesParts(m.Content, "messages")
		if err != nil {
			return r, err
		}
		r.Messages = append(r.Messages, Message{role, parts})
	}
	for _, t := range in.Tools {
		if t.Type == "" || t.Type == "custom" { // Anthropic's own servers run tools of other types
			r.Tools = append(r.Tools, Tool{Name: t.Name, Description: t.Description, Schema: t.Schema})
		}
	}
	if c := in.Choice; c != nil {
		r.Choice = Choice{Mode: c.Type, Name: c.Name}
		if c.Disable != nil {
			parallel := !*c.Disable
			r.Parallel = &parallel
		}
	}
	if f := in.Output.Format; f != nil {
		r.Format = &Format{Name: "answer", Schema: f.Schema}
	}
	return r, r.check()
}

// messagesParts reads a text or a list of blocks.
func messagesParts(raw json.RawMessage, where string) ([]Part, error) {
	if isNull(raw) {
		return nil, nil
	}
	if s, ok := decodeText(raw); ok {
		return []Part{{Kind: Text, Text: s}}, nil
	}
	var blocks []messagesBlock
	if err := json.Unmarshal(raw, &blocks); err != nil {
		return nil, invalid("%s: content: expected a text or a list of blocks", where)
	}
	parts := make([]Part, 0, len(blocks))
	for i, b := range blocks {
		p, err := b.part()
		if err != nil {
			return nil, invalid("%s: content.%d: %v", where, i, err)
		}
		parts = append(parts, p)
	}
	return parts, nil
}

func (b messagesBlock) part() (Part, error) {
	switch b.Type {
	case "text":
		return Part{Kind: Text, Text: b.Text}, nil
	case "image":
		if b.Source.Type == "url" {
			return Part{Kind: Image, URL: b.Source.URL}, nil
		}
		if b.Source.Type != "base64" {
			return Part{}, invalid("source.type: expected base64 or url, got %q", b.Source.Type)
		}
		return Part{Kind: Image, MediaType: b.Source.MediaType, Data: b.Source.Data}, nil
	case "document":
		switch b.Source.Type {
		case "text":
			return Part{Kind: Text, Text: b.Source.Data}, nil
		case "base64":
			return Part{Kind: File, Name: b.Title, MediaType: b.Source.MediaType, Data: b.Source.Data}, nil
		}
		return Part{}, invalid("source.type: expected base64 or text, got %q", b.Source.Type)
	case "tool_use":
		return Part{Kind: Call, ID: b.ID, Name: b.Name, Text: string(b.Input)}, nil
	case "tool_result":
		parts, err := messagesParts(b.Content, "tool_result")
		return Part{Kind: Result, ID: b.ToolUseID, Parts: parts, Failed: b.IsError}, err
	case "thinking":
		return Part{Kind: Thinking, Text: b.Thinking, Seal: openSeal(b.Signature, connector.Anthropic)}, nil
	case "redacted_thinking":
		return Part{Kind: Thinking, Seal: Seal{Origin: connector.Anthropic, ID: redacted, Value: b.Data}}, nil
	}
	return Part{}, invalid("blocks of type %q cannot be translated for this connector", b.Type)
}

// redacted is the seal ID of thinking that consists of a seal only.
const redacted = "redacted"

// check rejects requests that no API can express.
func (r Request) check() error {
	if len(r.Messages) == 0 {
		return invalid("messages: at least one message is required")
	}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p.Kind == Result && m.Role != User || p.Kind == Call && m.Role != Assistant {
				return invalid("messages: a call of a tool is the assistant's, and its result the user's")
			}
		}
	}
	named := func(t Tool) bool { return t.Name == r.Choice.Name }
	if r.Choice.Mode == "tool" && !slices.ContainsFunc(r.Tools, named) {
		return invalid("tool_choice: there is no tool %q, or none that can be translated for this connector", r.Choice.Name)
	}
	return nil
}
