// Package codex decodes the output of the coding agent Codex with `codex exec --json` into events,
// and runs the agent. Measured with version 0.169.0.
package codex

import (
	"encoding/json"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/jsonl"
)

// maxItems bounds the changes, contents and steps of one item.
const maxItems = 4096

// Decoder decodes Codex's lines. The zero value is ready.
type Decoder struct {
	// Before is the usage of the thread when it was resumed: Codex continues its counts from there.
	// For a new thread it is zero; a resumed thread with zero reports the usage of the whole thread.
	Before event.Usage

	uses event.Uses
	told event.Usage // of all turns so far, with Before
}

type line struct {
	Type   string          `json:"type"`
	Thread string          `json:"thread_id"`
	Item   json.RawMessage `json:"item"`
	Usage  struct {
		Input      float64 `json:"input_tokens"`
		Cached     float64 `json:"cached_input_tokens"`
		CacheWrite float64 `json:"cache_write_input_tokens"`
		Output     float64 `json:"output_tokens"`
		Reasoning  float64 `json:"reasoning_output_tokens"`
	} `json:"usage"`
	Message string `json:"message"`
	Error   struct {
		Message string `json:"message"`
	} `json:"error"`
}

// CanDecode reports whether a line is one that Codex prints and the other agents do not.
func CanDecode(data []byte) bool {
	var l line
	if _, ok := jsonl.Object(data, &l); !ok {
		return false
	}
	switch l.Type {
	case "thread.started", "turn.started", "turn.completed", "turn.failed", "item.started", "item.updated", "item.completed":
		return true
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
	var events []event.Event
	if malformed {
		events = []event.Event{event.NewNotice(event.NoticeMalformed, l.Type, string(data))}
	}
	switch l.Type {
	case "thread.started":
		return append(events, event.Event{Kind: event.SessionStarted, Session: &event.Session{ID: l.Thread, Executor: "codex"}})
	case "turn.started":
		return append(events, event.NewNotice(event.NoticeStatus, l.Type, ""))
	case "turn.completed":
		return append(events, d.completed(&l, malformed))
	case "turn.failed":
		return append(events, failed(l.Error.Message))
	case "error": // Codex also reports requests that it will repeat as errors; turn.failed is the end
		return append(events, event.NewNotice(event.NoticeError, "", unwrapMessage(l.Message)))
	case "item.started", "item.updated", "item.completed":
		return append(events, d.item(l.Type, l.Item)...)
	}
	return append(events, event.NewNotice(event.NoticeUnknown, l.Type, ""))
}

// completed reports the usage of one turn, since Codex reports that of the whole thread.
func (d *Decoder) completed(l *line, malformed bool) event.Event {
	u := event.Usage{
		Output: jsonl.Count(l.Usage.Output), Reasoning: jsonl.Count(l.Usage.Reasoning),
		CacheRead: jsonl.Count(l.Usage.Cached), CacheWrite: jsonl.Count(l.Usage.CacheWrite),
	}
	u.Input = max(0, jsonl.Count(l.Usage.Input)-u.CacheRead-u.CacheWrite)
	before := d.told.Most(d.Before)
	d.told = before.Most(u)
	out := &event.Result{Outcome: event.Success, Usage: u.Minus(before), Turns: 1}
	if malformed {
		out.Outcome = event.Failed
	}
	return event.Event{Kind: event.ResultGiven, Result: out}
}

func failed(message string) event.Event {
	out := &event.Result{Outcome: event.Failed, Errors: []string{unwrapMessage(message)}, Turns: 1}
	if unwrapMessage(message) != message {
		out.Outcome = event.APIError
	}
	return event.Event{Kind: event.ResultGiven, Result: out}
}

// unwrapMessage returns the message of an API's error, which Codex reports as JSON in a string.
func unwrapMessage(message string) string {
	var e struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(message), &e) != nil || e.Error.Message == "" {
		return message
	}
	return e.Error.Message
}

type item struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Message   string          `json:"message"`
	Status    string          `json:"status"`
	Command   string          `json:"command"`
	Output    string          `json:"aggregated_output"`
	ExitCode  *int            `json:"exit_code"`
	Changes   json.RawMessage `json:"changes"`
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Result    json.RawMessage `json:"result"`
	Error     json.RawMessage `json:"error"`
	Query     string          `json:"query"`
	Items     json.RawMessage `json:"items"`
}

// item reads an item of a turn. An item of type error is not a failure of the turn: some come
// before it begins.
func (d *Decoder) item(kind string, raw json.RawMessage) []event.Event {
	var i item
	malformed, err := jsonl.Decode(raw, &i)
	var events []event.Event
	if malformed || err != nil {
		events = []event.Event{event.NewNotice(event.NoticeMalformed, kind, string(raw))}
	}
	switch i.Type {
	case "agent_message", "reasoning":
		e := event.Event{Kind: event.Text, Message: i.ID, Text: i.Text}
		if i.Type == "reasoning" {
			e.Kind = event.Thinking
		}
		if kind == "item.completed" {
			events = append(events, e)
		}
		return events
	case "error":
		return append(events, event.NewNotice(event.NoticeStatus, "error", i.Message))
	case "todo_list", "plan":
		return append(events, event.NewNotice(event.NoticePlan, i.Type, i.plan()))
	case "command_execution", "file_change", "mcp_tool_call", "collab_tool_call", "web_search":
		return append(events, d.tool(kind, &i, raw)...)
	}
	return append(events, event.NewNotice(event.NoticeUnknown, kind+"/"+i.Type, ""))
}

// tool reads the start or the end of a tool use; of some items Codex prints only the end.
func (d *Decoder) tool(kind string, i *item, raw json.RawMessage) []event.Event {
	var events []event.Event
	if !d.uses.Started(i.ID) {
		events = append(events, d.uses.Start("", "", event.Tool{ID: i.ID, Name: i.name(), Input: i.input(raw)}))
	}
	if kind != "item.completed" {
		return events
	}
	t := event.Tool{ID: i.ID, Output: i.Output, ExitCode: i.ExitCode, Failed: i.Status == "failed" || i.Status == "declined"}
	if i.Type == "file_change" {
		for _, c := range jsonl.Elements[struct{ Path string }](i.Changes, maxItems) {
			t.Files = append(t.Files, c.Path)
		}
	}
	if i.Type == "mcp_tool_call" {
		t.Output = i.content()
	}
	if i.Status == "declined" {
		events = append(events, event.Event{Kind: event.PermissionDenied, Denial: &event.Denial{ToolID: i.ID, Tool: i.name(), Input: i.input(raw)}})
	}
	return append(events, d.uses.Finish("", t))
}

func (i *item) name() string {
	if i.Type == "mcp_tool_call" {
		return "mcp__" + i.Server + "__" + i.Tool
	}
	return i.Type
}

// input returns the fields of an item that describe the tool call, without ID and outcome.
func (i *item) input(raw json.RawMessage) json.RawMessage {
	var v any
	switch i.Type {
	case "command_execution":
		v = map[string]string{"command": i.Command}
	case "web_search":
		v = map[string]string{"query": i.Query}
	case "file_change":
		return i.Changes
	case "mcp_tool_call":
		return i.Arguments
	default:
		return raw
	}
	data, err := json.Marshal(v)
	if err != nil {
		return nil // strings always marshal
	}
	return data
}

// content returns the text of an MCP server's answer.
func (i *item) content() string {
	var r struct {
		Content json.RawMessage `json:"content"`
		Message string          `json:"message"`
	}
	for _, raw := range []json.RawMessage{i.Error, i.Result} {
		_, _ = jsonl.Decode(raw, &r) // one of them is null
	}
	if r.Message != "" {
		return r.Message
	}
	var lines []string
	for _, b := range jsonl.Elements[struct{ Text string }](r.Content, maxItems) {
		lines = append(lines, b.Text)
	}
	return strings.Join(lines, "\n")
}

func (i *item) plan() string {
	if i.Text != "" {
		return i.Text
	}
	var lines []string
	for _, s := range jsonl.Elements[struct {
		Text      string
		Completed bool
	}](i.Items, maxItems) {
		mark := "[ ] "
		if s.Completed {
			mark = "[x] "
		}
		lines = append(lines, mark+s.Text)
	}
	return strings.Join(lines, "\n")
}
