// Package claude decodes the output of the coding agent Claude Code with `--print --verbose
// --output-format stream-json` into events, and runs the agent. Measured with version 2.1.197.
package claude

import (
	"encoding/json"
	"slices"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/jsonl"
)

// The bounds on the content of one line, and on stored state.
const (
	maxBlocks  = 4096 // blocks of a message, denials, tools
	maxModels  = 64
	maxInput   = 64 << 10 // bytes, of a tool use that needs permission
	maxThreads = 1024     // subagents whose streams are decoded separately
)

// Decoder decodes Claude Code's lines. The zero value is ready. It also decodes partial messages,
// control messages, and recordings of both directions, in which each line is {"dir": "<" or ">",
// "msg": LINE}; ">" marks a message of the host.
type Decoder struct {
	uses    event.Uses
	threads map[string]*thread      // by the tool use that started the subagent; "": the agent
	asked   map[string]event.Denial // permission requests to the host, by ID
}

// thread is the state of the stream of one agent.
type thread struct {
	message        string // the ID of the last message
	text, thinking bool   // deltas were emitted since the last block
}

// line has the fields of all types of lines.
type line struct {
	Type      string          `json:"type"`
	Subtype   string          `json:"subtype"`
	Parent    string          `json:"parent_tool_use_id"`
	Session   string          `json:"session_id"`
	Message   json.RawMessage `json:"message"`
	Event     json.RawMessage `json:"event"`
	RequestID string          `json:"request_id"`
	Request   json.RawMessage `json:"request"`
	Response  json.RawMessage `json:"response"`
	Dir       string          `json:"dir"`
	Msg       json.RawMessage `json:"msg"`
	Exit      *int            `json:"exit"`
	Stderr    string          `json:"stderr"`
}

// CanDecode reports whether a line is one that Claude Code prints and the other agents do not.
func CanDecode(data []byte) bool {
	var l struct {
		line
		UUID  string          `json:"uuid"`
		Tools json.RawMessage `json:"tools"`
	}
	if _, ok := jsonl.Object(data, &l); !ok {
		return false
	}
	switch l.Type {
	case "system", "assistant", "user", "result", "stream_event":
		return l.UUID != "" || l.Tools != nil || l.Type == "stream_event"
	case "control_request", "control_response":
		return true
	case "":
		return (l.Dir == "<" || l.Dir == ">") && len(l.Msg) > 0
	}
	return false
}

// Decode implements [event.Decoder].
func (d *Decoder) Decode(data []byte) []event.Event {
	var l line
	malformed, ok := jsonl.Object(data, &l)
	if !ok {
		return []event.Event{event.NewNotice(event.NoticeGarbage, "", string(data))}
	}
	switch {
	case l.Type != "":
	case l.Dir == ">" && len(l.Msg) > 0:
		return d.fromHost(l.Msg)
	case l.Dir == "<" && len(l.Msg) > 0:
		data = l.Msg
		l = line{}
		if malformed, ok = jsonl.Object(data, &l); !ok {
			return []event.Event{event.NewNotice(event.NoticeGarbage, "", string(data))}
		}
	case l.Exit != nil:
		return []event.Event{{Kind: event.ProcessExited, Exit: &event.Exit{Code: *l.Exit, Stderr: jsonl.Clip(l.Stderr, 4<<10)}}}
	}
	var events []event.Event
	if malformed {
		events = []event.Event{event.NewNotice(event.NoticeMalformed, l.Type, string(data))}
	}
	return append(events, d.decode(&l, data, malformed)...)
}

func (d *Decoder) decode(l *line, data []byte, malformed bool) []event.Event {
	switch l.Type {
	case "system":
		return d.system(l, data)
	case "assistant":
		return d.assistant(l, data)
	case "user":
		return d.user(l)
	case "stream_event":
		return d.partial(l)
	case "result":
		return d.result(data, malformed)
	case "control_request", "control_response", "control_cancel_request":
		return d.control(l, false)
	}
	return []event.Event{event.NewNotice(event.NoticeUnknown, l.Type, "")}
}

// of returns the thread of a line.
func (d *Decoder) of(parent string) *thread {
	t := d.threads[parent]
	if len(parent) > jsonl.Small {
		return &thread{} // no real ID is that long
	}
	if t == nil {
		if d.threads == nil || len(d.threads) >= maxThreads {
			d.threads = map[string]*thread{}
		}
		t = &thread{}
		d.threads[parent] = t
	}
	return t
}

type message struct {
	ID      string          `json:"id"`
	Model   string          `json:"model"`
	Content json.RawMessage `json:"content"`
	Usage   json.RawMessage `json:"usage"`
}

type block struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

// synthetic is the model of messages that Claude Code itself writes, about errors.
const synthetic = "<synthetic>"

// assistant reads a line with one block of a message; the lines of a message share its ID. Their
// stop_reason is always null, and their usage is the one with which the message began, repeated.
func (d *Decoder) assistant(l *line, data []byte) []event.Event {
	var m message
	if _, err := jsonl.Decode(l.Message, &m); err != nil {
		return []event.Event{event.NewNotice(event.NoticeMalformed, l.Type, string(data))}
	}
	t := d.of(l.Parent)
	var events []event.Event
	if m.ID != "" && m.ID != t.message && m.Model != synthetic {
		events = append(events, usageOf(l.Parent, m.ID, m.Usage))
	}
	t.message = jsonl.Clip(m.ID, jsonl.Small)
	for _, b := range decodeBlocks(m.Content) {
		e := event.Event{Parent: l.Parent, Message: m.ID}
		switch b.Type {
		case "text":
			e.Kind, e.Text, e.Streamed = event.Text, b.Text, t.text
			t.text = false
			if m.Model == synthetic {
				e = event.NewNotice(event.NoticeError, "synthetic", b.Text)
			}
		case "thinking", "redacted_thinking":
			e.Kind, e.Text, e.Streamed = event.Thinking, b.Thinking, t.thinking
			t.thinking = false
		case "tool_use", "server_tool_use", "mcp_tool_use":
			e = d.uses.Start(l.Parent, m.ID, event.Tool{ID: b.ID, Name: b.Name, Input: b.Input, Files: writtenFiles(b.Name, b.Input)})
		default:
			e = event.NewNotice(event.NoticeUnknown, b.Type, "")
		}
		events = append(events, e)
	}
	return events
}

// decodeBlocks returns the blocks of a content, which may also be a plain string.
func decodeBlocks(content json.RawMessage) []block {
	if s := jsonl.Text(content); s != "" {
		return []block{{Type: "text", Text: s}}
	}
	return jsonl.Elements[block](content, maxBlocks)
}

// writers are Claude Code's own tools that write one file, with the input that names it.
var writers = map[string]string{"Write": "file_path", "Edit": "file_path", "MultiEdit": "file_path", "NotebookEdit": "notebook_path"}

func writtenFiles(tool string, input json.RawMessage) []string {
	field, ok := writers[tool]
	if !ok {
		return nil
	}
	names, values := jsonl.Members[json.RawMessage](input, 64)
	if i := slices.Index(names, field); i >= 0 && jsonl.Text(values[i]) != "" {
		return []string{jsonl.Text(values[i])}
	}
	return nil
}

// user reads the results of tools. Other text with the user's role comes from the host, or from
// Claude Code in its place.
func (d *Decoder) user(l *line) []event.Event {
	var m message
	if _, err := jsonl.Decode(l.Message, &m); err != nil {
		return []event.Event{event.NewNotice(event.NoticeMalformed, l.Type, "")}
	}
	var events []event.Event
	for _, b := range decodeBlocks(m.Content) {
		switch b.Type {
		case "tool_result":
			events = append(events, d.uses.Finish(l.Parent, event.Tool{ID: b.ToolUseID, Output: decodeOutput(b.Content), Failed: b.IsError}))
		case "text":
			e := event.NewNotice(event.NoticeUser, "", b.Text)
			e.Parent = l.Parent
			events = append(events, e)
		}
	}
	return events
}

// decodeOutput returns the text of a tool's result, which is a string or an array of blocks.
func decodeOutput(content json.RawMessage) string {
	var out []byte
	for i, b := range decodeBlocks(content) {
		if i > 0 {
			out = append(out, '\n')
		}
		if b.Type == "text" {
			out = append(out, b.Text...)
		} else {
			out = append(out, "["+b.Type+"]"...)
		}
	}
	return string(out)
}
