// Package message defines the messages between users and models. Chats, hooks, the history, direct calls and coding
// agents share them.
//
// As JSON a message is {"role": "user", "content": "text"}, or its content is a list of parts.
package message

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Role is the author of a message.
type Role string

// The roles.
const (
	System    Role = "system" // the prompts of an assistant, before the chat and never part of its history
	User      Role = "user"
	Assistant Role = "assistant"
)

// PartType is the type of a Part. It determines which fields are set.
type PartType string

// The types of parts.
const (
	Text  PartType = "text"  // Text
	Image PartType = "image" // MediaType and Data, and Name if known
	File  PartType = "file"  // Name, and MediaType and Data
)

// Part is a piece of a message's content.
type Part struct {
	Type      PartType `json:"type"`
	Text      string   `json:"text,omitempty"`
	Name      string   `json:"name,omitempty"`       // of a file: a single path component
	MediaType string   `json:"media_type,omitempty"` // such as "image/png"; "": unknown
	Data      []byte   `json:"data,omitempty"`       // base64 in JSON
}

// Message is one message. The zero value has no role and is not valid.
type Message struct {
	Role  Role
	Parts []Part // a message of only text has one part
}

// New returns a message with one text part.
func New(role Role, text string) Message {
	return Message{Role: role, Parts: []Part{{Type: Text, Text: text}}}
}

// Text returns the text parts of a message, joined by line breaks.
func (m Message) Text() string {
	var texts []string
	for _, p := range m.Parts {
		if p.Type == Text {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// wire is the JSON form of a message.
type wire struct {
	Role    Role            `json:"role"`
	Content json.RawMessage `json:"content"`
}

// MarshalJSON writes content as a string if the message is a single text.
func (m Message) MarshalJSON() ([]byte, error) {
	var content any = m.Parts
	switch {
	case len(m.Parts) == 0:
		content = ""
	case len(m.Parts) == 1 && m.Parts[0].Type == Text:
		content = m.Parts[0].Text
	}
	raw, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	return json.Marshal(wire{m.Role, raw})
}

// UnmarshalJSON reads the JSON that MarshalJSON writes; null content is empty. Its errors say what was expected.
func (m *Message) UnmarshalJSON(data []byte) error {
	var w wire
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	switch w.Role {
	case System, User, Assistant:
	default:
		return fmt.Errorf("role: expected system, user or assistant, got %q", w.Role)
	}
	out := Message{Role: w.Role}
	var text string
	switch {
	case len(w.Content) == 0:
		return errors.New("content: expected a text or a list of parts, got nothing")
	case string(w.Content) == "null":
	case json.Unmarshal(w.Content, &text) == nil:
		out.Parts = []Part{{Type: Text, Text: text}}
	case json.Unmarshal(w.Content, &out.Parts) != nil:
		return errors.New("content: expected a text or a list of parts")
	}
	for i, p := range out.Parts {
		switch p.Type {
		case Text, Image, File:
		default:
			return fmt.Errorf("content[%d].type: expected text, image or file, got %q", i, p.Type)
		}
	}
	*m = out
	return nil
}
