package dialect

import (
	"encoding/json"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
)

// responses implements OpenAI's Responses API.
type responses struct{}

type responsesRequest struct {
	Model        string          `json:"model"`
	Instructions json.RawMessage `json:"instructions"`
	Input        json.RawMessage `json:"input"`
	Previous     string          `json:"previous_response_id"`
	Tools        []responsesTool `json:"tools"`
	Choice       json.RawMessage `json:"tool_choice"`
	Parallel     *bool           `json:"parallel_tool_calls"`
	MaxTokens    count           `json:"max_output_tokens"`
	Temp         *float64        `json:"temperature"`
	TopP         *float64        `json:"top_p"`
	Reasoning    struct {
		Effort string `json:"effort"`
	} `json:"reasoning"`
	Text struct {
		Format struct {
			Type string `json:"type"`
			chatFormat
		} `json:"format"`
	} `json:"text"`
	Stream bool `json:"stream"`
}

type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Tools       []responsesTool `json:"tools"`
}

type responsesItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Namespace string          `json:"namespace"`
	Arguments string          `json:"arguments"`
	Input     string          `json:"input"`
	Output    json.RawMessage `json:"output"`
	Summary   json.RawMessage `json:"summary"`
	Encrypted string          `json:"encrypted_content"`
}

type responsesPart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Refusal  string `json:"refusal"`
	ImageURL string `json:"image_url"`
	Name     string `json:"filename"`
	Data     string `json:"file_data"`
}

// Read implements [Dialect].
func (responses) Read(body []byte) (Request, error) {
	var in responsesRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, invalid("the request is not a valid request of the Responses API: %v", err)
	}
	r := Request{
		Model: in.Model, Parallel: in.Parallel, MaxTokens: int64(in.MaxTokens), Temperature: in.Temp, TopP: in.TopP, Effort: in.Reasoning.Effort, Stream: in.Stream,
	}
	if in.Previous != "" {
		return r, invalid("previous_response_id: the broker stores no responses; send the whole conversation as input")
	}
	if s, ok := decodeText(in.Instructions); ok && s != "" {
		r.System = append(r.System, s)
	}
	switch f := in.Text.Format; f.Type {
	case "json_object":
		r.Format = &Format{}
	case "json_schema":
		r.Format = &Format{f.Name, f.Schema, f.Strict}
	}
	if s, ok := decodeText(in.Input); ok {
		r.add(User, Part{Kind: Text, Text: s})
	} else {
		var items []responsesItem
		if err := json.Unmarshal(in.Input, &items); err != nil {
			return r, invalid("input: expected a text or a list of items")
		}
		for i, item := range items {
			if err := r.addItem(item); err != nil {
				return r, invalid("input[%d]: %v", i, err)
			}
		}
	}
	for _, t := range in.Tools {
		r.Tools = append(r.Tools, t.neutral("")...)
	}
	var err error
	if r.Choice, err = openaiChoice(in.Choice); err != nil {
		return r, err
	}
	return r, r.check()
}

// neutral returns the tool, or those of a namespace. It leaves out tools that OpenAI's own servers run.
func (t responsesTool) neutral(namespace string) []Tool {
	out := Tool{Name: inNamespace(namespace, t.Name), Description: t.Description, Schema: t.Parameters, Namespace: namespace}
	if namespace != "" {
		out.Inner = t.Name
	}
	switch t.Type {
	case "function":
		return []Tool{out}
	case "custom":
		out.Free = true
		return []Tool{out}
	case "namespace":
		var all []Tool
		for _, inner := range t.Tools {
			if namespace == "" {
				all = append(all, inner.neutral(t.Name)...)
			}
		}
		return all
	}
	return nil
}

// inNamespace returns the name of a namespace's tool in APIs without namespaces.
func inNamespace(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return strings.TrimSuffix(namespace, "__") + "__" + name
}

// addItem reads one item.
func (r *Request) addItem(item responsesItem) error {
	switch item.Type {
	case "", "message":
		parts, err := responsesParts(item.Content)
		if err != nil {
			return err
		}
		switch item.Role {
		case "user":
			r.add(User, parts...)
		case "assistant":
			r.add(Assistant, parts...)
		case "system", "developer":
			r.instruct(parts)
		default:
			return invalid("role: expected user, assistant, system or developer, got %q", item.Role)
		}
	case "function_call":
		r.add(Assistant, Part{Kind: Call, ID: item.CallID, Name: inNamespace(item.Namespace, item.Name), Text: item.Arguments})
	case "custom_tool_call":
		r.add(Assistant, Part{Kind: Call, ID: item.CallID, Name: inNamespace(item.Namespace, item.Name), Text: string(object("input", item.Input))})
	case "function_call_output", "custom_tool_call_output":
		parts, err := responsesParts(item.Output)
		if err != nil {
			return err
		}
		r.add(User, Part{Kind: Result, ID: item.CallID, Parts: parts})
	case "reasoning":
		r.add(Assistant, item.thought())
	default:
		return invalid("items of type %q cannot be translated for this connector", item.Type)
	}
	return nil
}

func (item responsesItem) thought() Part {
	seal, carried := openThought(item.Encrypted, connector.Responses)
	if seal.Origin == connector.Responses {
		seal.ID = item.ID
	}
	if carried != "" {
		return Part{Kind: Thinking, Text: carried, Seal: seal}
	}
	return Part{Kind: Thinking, Text: item.summary(), Seal: seal}
}

// summary returns the summary of thinking, or the thinking's content when it has no summary.
func (item responsesItem) summary() string {
	for _, raw := range []json.RawMessage{item.Summary, item.Content} {
		var parts []responsesPart
		if json.Unmarshal(raw, &parts) != nil {
			continue
		}
		var texts []string
		for _, p := range parts {
			texts = append(texts, p.Text)
		}
		if s := strings.Join(texts, "\n\n"); s != "" {
			return s
		}
	}
	return ""
}

func responsesParts(raw json.RawMessage) ([]Part, error) {
	if isNull(raw) {
		return nil, nil
	}
	if s, ok := decodeText(raw); ok {
		return []Part{{Kind: Text, Text: s}}, nil
	}
	var in []responsesPart
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, invalid("content: expected a text or a list of parts")
	}
	parts := make([]Part, 0, len(in))
	for i, p := range in {
		switch p.Type {
		case "input_text", "output_text", "text":
			parts = append(parts, Part{Kind: Text, Text: p.Text})
		case "refusal":
			parts = append(parts, Part{Kind: Text, Text: p.Refusal})
		case "input_image":
			if p.ImageURL == "" {
				return nil, invalid("content[%d]: input_image: expected image_url", i)
			}
			parts = append(parts, imageAt(p.ImageURL))
		case "input_file":
			kind, data, ok := dataURL(p.Data)
			if !ok {
				return nil, invalid("content[%d]: input_file: expected file_data with a data URL", i)
			}
			parts = append(parts, Part{Kind: File, Name: p.Name, MediaType: kind, Data: data})
		default:
			return nil, invalid("content[%d]: parts of type %q cannot be translated for this connector", i, p.Type)
		}
	}
	return parts, nil
}
