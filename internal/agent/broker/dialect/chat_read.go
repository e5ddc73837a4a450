package dialect

import (
	"encoding/json"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
)

// chat implements OpenAI's Chat Completions API.
type chat struct{}

type chatRequest struct {
	Model     string          `json:"model"`
	Messages  []chatMessage   `json:"messages"`
	Tools     []chatTool      `json:"tools"`
	Choice    json.RawMessage `json:"tool_choice"`
	Parallel  *bool           `json:"parallel_tool_calls"`
	MaxTokens count           `json:"max_tokens"`
	MaxCompl  count           `json:"max_completion_tokens"`
	N         count           `json:"n"`
	Temp      *float64        `json:"temperature"`
	TopP      *float64        `json:"top_p"`
	Stop      json.RawMessage `json:"stop"`
	Effort    string          `json:"reasoning_effort"`
	Format    struct {
		Type   string     `json:"type"`
		Schema chatFormat `json:"json_schema"`
	} `json:"response_format"`
	Stream  bool `json:"stream"`
	Options struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type chatFormat struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict *bool           `json:"strict"`
}

type chatTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

type chatMessage struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Reasoning string          `json:"reasoning_content"`
	ToolID    string          `json:"tool_call_id"`
	Calls     []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

type chatPart struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
	Image   struct {
		URL string `json:"url"`
	} `json:"image_url"`
	File struct {
		Name string `json:"filename"`
		Data string `json:"file_data"`
	} `json:"file"`
}

// Read implements [Dialect].
func (chat) Read(body []byte) (Request, error) {
	var in chatRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, invalid("the request is not a valid request of the Chat Completions API: %v", err)
	}
	r := Request{
		Model: in.Model, Parallel: in.Parallel, MaxTokens: max(int64(in.MaxTokens), int64(in.MaxCompl)), Temperature: in.Temp, TopP: in.TopP,
		Effort: in.Effort, Stream: in.Stream, StreamUsage: in.Options.Usage,
	}
	if in.N > 1 {
		return r, invalid("n: more than one answer cannot be translated for this connector")
	}
	if s, ok := decodeText(in.Stop); ok {
		r.Stop = []string{s}
	} else if !isNull(in.Stop) && json.Unmarshal(in.Stop, &r.Stop) != nil {
		return r, invalid("stop: expected a text or a list of texts")
	}
	for i, m := range in.Messages {
		if err := r.addChat(m); err != nil {
			return r, invalid("messages[%d]: %v", i, err)
		}
	}
	for _, t := range in.Tools {
		if t.Type != "function" && t.Type != "" {
			return r, invalid("tools: type: expected function, got %q", t.Type)
		}
		r.Tools = append(r.Tools, Tool{Name: t.Function.Name, Description: t.Function.Description, Schema: t.Function.Parameters})
	}
	switch in.Format.Type {
	case "json_object":
		r.Format = &Format{}
	case "json_schema":
		r.Format = &Format{in.Format.Schema.Name, in.Format.Schema.Schema, in.Format.Schema.Strict}
	}
	var err error
	if r.Choice, err = openaiChoice(in.Choice); err != nil {
		return r, err
	}
	return r, r.check()
}

// openaiChoice reads the tool choice of both of OpenAI's APIs.
func openaiChoice(raw json.RawMessage) (Choice, error) {
	if isNull(raw) {
		return Choice{}, nil
	}
	if s, ok := decodeText(raw); ok {
		switch s {
		case "required":
			return Choice{Mode: "any"}, nil
		case "auto", "none":
			return Choice{Mode: s}, nil
		}
		return Choice{}, invalid("tool_choice: expected auto, none, required or a tool, got %q", s)
	}
	var in struct {
		Type     string `json:"type"`
		Name     string `json:"name"`
		Mode     string `json:"mode"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return Choice{}, invalid("tool_choice: expected a text or an object")
	}
	switch in.Type {
	case "function", "custom":
		if in.Name == "" {
			in.Name = in.Function.Name
		}
		return Choice{Mode: "tool", Name: in.Name}, nil
	case "allowed_tools": // must call one of several tools
		if in.Mode == "required" {
			return Choice{Mode: "any"}, nil
		}
		return Choice{Mode: "auto"}, nil
	}
	return Choice{}, invalid("tool_choice: type %q cannot be translated for this connector", in.Type)
}

// addChat reads one message.
func (r *Request) addChat(m chatMessage) error {
	parts, err := chatParts(m.Content)
	if err != nil {
		return err
	}
	switch m.Role {
	case "system", "developer":
		r.instruct(parts)
	case "user":
		r.add(User, parts...)
	case "tool":
		r.add(User, Part{Kind: Result, ID: m.ToolID, Parts: parts})
	case "assistant":
		if m.Reasoning != "" {
			parts = append([]Part{{Kind: Thinking, Text: m.Reasoning, Seal: Seal{Origin: connector.OpenAI}}}, parts...)
		}
		for _, c := range m.Calls {
			if c.Type != "" && c.Type != "function" {
				return invalid("tool_calls: type %q cannot be translated for this connector", c.Type)
			}
			parts = append(parts, Part{Kind: Call, ID: c.ID, Name: c.Function.Name, Text: c.Function.Arguments})
		}
		r.add(Assistant, parts...)
	default:
		return invalid("role: expected system, developer, user, assistant or tool, got %q", m.Role)
	}
	return nil
}

func chatParts(raw json.RawMessage) ([]Part, error) {
	if isNull(raw) {
		return nil, nil
	}
	if s, ok := decodeText(raw); ok {
		return []Part{{Kind: Text, Text: s}}, nil
	}
	var in []chatPart
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, invalid("content: expected a text or a list of parts")
	}
	parts := make([]Part, 0, len(in))
	for i, p := range in {
		switch p.Type {
		case "text":
			parts = append(parts, Part{Kind: Text, Text: p.Text})
		case "refusal":
			parts = append(parts, Part{Kind: Text, Text: p.Refusal})
		case "image_url":
			parts = append(parts, imageAt(p.Image.URL))
		case "file":
			kind, data, ok := dataURL(p.File.Data)
			if !ok {
				return nil, invalid("content[%d]: file: expected file_data with a data URL", i)
			}
			parts = append(parts, Part{Kind: File, Name: p.File.Name, MediaType: kind, Data: data})
		default:
			return nil, invalid("content[%d]: parts of type %q cannot be translated for this connector", i, p.Type)
		}
	}
	return parts, nil
}

func imageAt(url string) Part {
	if kind, data, ok := dataURL(url); ok {
		return Part{Kind: Image, MediaType: kind, Data: data}
	}
	return Part{Kind: Image, URL: url}
}
