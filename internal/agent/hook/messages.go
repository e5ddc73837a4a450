package hook

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/hook/protocol"
)

// files holds the contents of a request's attachments. Scripts see "attachment:N" in their place, which they may return
// and which uses none of their memory.
type files [][]byte

const attachment = "attachment:"

// part is the JSON form of a message part that scripts see.
type part struct {
	Type      message.PartType `json:"type"`
	Text      string           `json:"text,omitempty"`
	Name      string           `json:"name,omitempty"`
	MediaType string           `json:"media_type,omitempty"`
	Size      int              `json:"size,omitempty"` // of the data, in bytes
	Data      string           `json:"data,omitempty"` // "attachment:N", or base64
}

type wireMessage struct {
	Role    message.Role    `json:"role"`
	Content json.RawMessage `json:"content"`
}

// hide encodes messages as JSON, without the attached contents.
func (f *files) hide(messages []message.Message) (json.RawMessage, error) {
	out := make([]wireMessage, len(messages))
	for i, m := range messages {
		var content any = ""
		if len(m.Parts) == 1 && m.Parts[0].Type == message.Text {
			content = m.Parts[0].Text
		} else if len(m.Parts) > 0 {
			parts := make([]part, len(m.Parts))
			for j, p := range m.Parts {
				parts[j] = part{Type: p.Type, Text: p.Text, Name: p.Name, MediaType: p.MediaType, Size: len(p.Data)}
				if len(p.Data) > 0 {
					parts[j].Data = attachment + strconv.Itoa(len(*f))
					*f = append(*f, p.Data)
				}
			}
			content = parts
		}
		raw, err := json.Marshal(content)
		if err != nil {
			return nil, err
		}
		out[i] = wireMessage{m.Role, raw}
	}
	return json.Marshal(out)
}

func elementKey(key string, i int) string { return key + "[" + strconv.Itoa(i) + "]" }

// messages decodes messages that a script returned.
func (r reader) messages(key string, raw json.RawMessage) ([]message.Message, error) {
	list, err := r.list(key, raw, protocol.MaxMessages)
	if err != nil {
		return nil, err
	}
	out := make([]message.Message, len(list))
	for i, v := range list {
		if out[i], err = r.message(elementKey(key, i), v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r reader) message(key string, raw json.RawMessage) (message.Message, error) {
	keys, err := r.object(key, raw)
	if err != nil {
		return message.Message{}, err
	}
	var role string
	_ = json.Unmarshal(keys["role"], &role)
	m := message.Message{Role: message.Role(role)}
	switch m.Role {
	case message.System, message.User, message.Assistant:
	default:
		return m, r.wrong(key+".role", "expected system, user or assistant, got %s", clipValue(keys["role"]))
	}
	var text string
	content := keys["content"]
	switch {
	case len(content) == 0 || string(content) == "null":
		return m, nil
	case json.Unmarshal(content, &text) == nil:
		return message.New(m.Role, text), nil
	case content[0] != '[':
		return m, r.wrong(key+".content", "expected a string or an array of parts, got %s", clipValue(content))
	}
	parts, err := r.list(key+".content", content, protocol.MaxMessages)
	if err != nil {
		return m, err
	}
	for i, v := range parts {
		p, err := r.part(elementKey(key+".content", i), v)
		if err != nil {
			return m, err
		}
		m.Parts = append(m.Parts, p)
	}
	return m, nil
}

func (r reader) part(key string, raw json.RawMessage) (message.Part, error) {
	var p part
	if err := json.Unmarshal(raw, &p); err != nil {
		return message.Part{}, r.wrong(key, "expected {type, text, name, media_type, data}, got %s", clipValue(raw))
	}
	out := message.Part{Type: p.Type, Text: p.Text, Name: p.Name, MediaType: p.MediaType}
	switch p.Type {
	case message.Text, message.Image, message.File:
	default:
		return out, r.wrong(key+".type", "expected text, image or file, got %q", protocol.Clip(string(p.Type), 60))
	}
	if n, ok := strings.CutPrefix(p.Data, attachment); ok {
		i, err := strconv.Atoi(n)
		if err != nil || i < 0 || i >= len(r.files) {
			return out, r.wrong(key+".data", "there is no %s", protocol.Clip(p.Data, 60))
		}
		out.Data = r.files[i]
		return out, nil
	}
	data, err := base64.StdEncoding.DecodeString(p.Data)
	if err != nil {
		return out, r.wrong(key+".data", "expected base64, or what the hook was given")
	}
	if len(data) > 0 {
		out.Data = data
	}
	return out, nil
}
