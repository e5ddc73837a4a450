package hook

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/hook/protocol"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Created holds a Create hook's changes to the model step. The zero value changes nothing.
type Created struct {
	Messages     []message.Message          // the messages for the model; nil: unchanged
	Connector    string                     // another connector; "": the assistant's
	Temperature  *float64                   // from 0 to 2; nil: the assistant's
	MaxTokens    int64                      // 0: the assistant's
	MCPServers   []Server                   // the assistant's MCP servers to use; nil: all
	PromptPreset string                     // a preset of the assistant's prompts; "": the default prompts
	Locale       string                     // the ctx.locale of Next and of a delegate; "": the request's
	Metadata     map[string]json.RawMessage // for the record
}

// Server is an MCP server that a Create hook chose.
type Server struct {
	ID    string   `json:"server_id"`
	Tools []string `json:"tools,omitempty"` // nil: all
}

// Replied holds a Next hook's changes to the model step. The zero value changes nothing.
type Replied struct {
	Delegate *Delegate                  // another assistant continues; nil: none
	Data     json.RawMessage            // for the user, with the answer; nil: none
	Metadata map[string]json.RawMessage // for the record
}

// Delegate is a request to another assistant.
type Delegate struct {
	Agent    string
	Messages []message.Message
	Options  json.RawMessage // an object; nil: none
}

// reader decodes the value that a hook returned.
type reader struct {
	hook  string
	files files
}

// wrong records an error about one key, such as "messages[2].role".
func (r reader) wrong(key, format string, args ...any) error {
	err := sandbox.Errorf(sandbox.Invalid, r.hook+" returned "+key+": "+format, args...)
	err.Op = opOf(r.hook)
	return err
}

func opOf(hook string) string { return strings.ToLower(hook) + " hook" }

// created decodes the value of Create.
func (r reader) created(raw json.RawMessage) (*Created, error) {
	keys, err := r.object("a value", raw)
	if keys == nil || err != nil {
		return &Created{}, err
	}
	c := &Created{}
	for _, key := range sortedKeys(keys) {
		v := keys[key]
		if string(v) == "null" {
			continue
		}
		switch key {
		case "messages":
			c.Messages, err = r.messages(key, v)
		case "connector":
			err = r.text(key, v, &c.Connector)
		case "prompt_preset":
			err = r.text(key, v, &c.PromptPreset)
		case "locale":
			err = r.text(key, v, &c.Locale)
		case "temperature":
			c.Temperature = new(float64)
			if json.Unmarshal(v, c.Temperature) != nil || *c.Temperature < 0 || *c.Temperature > 2 {
				err = r.wrong(key, "expected a number from 0 to 2, got %s", clipValue(v))
			}
		case "max_tokens":
			var n float64
			if json.Unmarshal(v, &n) != nil || n < 1 || n > 1<<40 || n != math.Trunc(n) {
				err = r.wrong(key, "expected a whole number over 0, got %s", clipValue(v))
			}
			c.MaxTokens = int64(n)
		case "mcp_servers":
			c.MCPServers, err = r.servers(key, v)
		case "metadata":
			c.Metadata, err = r.object(key, v)
		default:
			err = r.unknown(key, "messages, connector, temperature, max_tokens, mcp_servers, prompt_preset, locale and metadata")
		}
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// replied decodes the value of Next. Any other value than such an object is the data.
func (r reader) replied(raw json.RawMessage) (*Replied, error) {
	out := &Replied{}
	if string(raw) == "null" {
		return out, nil
	}
	var keys map[string]json.RawMessage
	object := json.Unmarshal(raw, &keys) == nil
	if !object || !hasAny(keys, "delegate", "data", "metadata") {
		out.Data = raw
		return out, nil
	}
	var err error
	for _, key := range sortedKeys(keys) {
		v := keys[key]
		switch {
		case key != "delegate" && key != "data" && key != "metadata":
			err = r.unknown(key, "delegate, data and metadata")
		case string(v) == "null":
		case key == "delegate":
			out.Delegate, err = r.delegate(key, v)
		case key == "data":
			out.Data = v
		default:
			out.Metadata, err = r.object(key, v)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func hasAny(keys map[string]json.RawMessage, names ...string) bool {
	for _, n := range names {
		if _, ok := keys[n]; ok {
			return true
		}
	}
	return false
}

func (r reader) unknown(key, known string) error {
	err := sandbox.Errorf(sandbox.Invalid, "%s returned %q, which means nothing", r.hook, protocol.Clip(key, 100)).
		WithHint("it may return %s; put other values into metadata", known)
	err.Op = opOf(r.hook)
	return err
}

// object decodes an object; null is nil.
func (r reader) object(key string, raw json.RawMessage) (map[string]json.RawMessage, error) {
	var keys map[string]json.RawMessage
	if json.Unmarshal(raw, &keys) != nil {
		return nil, r.wrong(key, "expected an object, got %s", clipValue(raw))
	}
	return keys, nil
}

// text decodes a name.
func (r reader) text(key string, raw json.RawMessage, to *string) error {
	if json.Unmarshal(raw, to) != nil || len(*to) > 1000 {
		return r.wrong(key, "expected a string of at most 1000 bytes, got %s", clipValue(raw))
	}
	return nil
}

func (r reader) list(key string, raw json.RawMessage, most int) ([]json.RawMessage, error) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil, r.wrong(key, "expected an array, got %s", clipValue(raw))
	}
	if len(list) > most {
		return nil, r.wrong(key, "expected at most %d elements, got %d", most, len(list))
	}
	return list, nil
}

// servers decodes names of MCP servers, or objects with the chosen tools.
func (r reader) servers(key string, raw json.RawMessage) ([]Server, error) {
	list, err := r.list(key, raw, 1000)
	if err != nil {
		return nil, err
	}
	out := make([]Server, len(list))
	for i, v := range list {
		if json.Unmarshal(v, &out[i].ID) == nil && out[i].ID != "" {
			continue
		}
		d := json.NewDecoder(bytes.NewReader(v))
		d.DisallowUnknownFields()
		if err := d.Decode(&out[i]); err != nil || out[i].ID == "" {
			return nil, r.wrong(elementKey(key, i), "expected the name of a server, or {server_id, tools}, got %s", clipValue(v))
		}
	}
	return out, nil
}

func (r reader) delegate(key string, raw json.RawMessage) (*Delegate, error) {
	keys, err := r.object(key, raw)
	if err != nil {
		return nil, err
	}
	d := &Delegate{}
	for _, k := range sortedKeys(keys) {
		v, full := keys[k], key+"."+k
		switch {
		case k == "agent_id":
			err = r.text(full, v, &d.Agent)
		case k == "messages":
			d.Messages, err = r.messages(full, v)
		case k != "options":
			err = r.unknown(full, "agent_id, messages and options in delegate")
		case string(v) != "null":
			d.Options = v
			_, err = r.object(full, v)
		}
		if err != nil {
			return nil, err
		}
	}
	if d.Agent == "" {
		return nil, r.wrong(key+".agent_id", "expected the name of an assistant")
	}
	return d, nil
}

// clipValue formats a value for an error.
func clipValue(raw json.RawMessage) string { return protocol.Clip(string(raw), 60) }
