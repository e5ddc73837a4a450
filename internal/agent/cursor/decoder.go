// Package cursor decodes the output of the coding agent Cursor with `agent --print --output-format
// stream-json` into events, and runs the agent. It follows Cursor's documentation
// (cursor.com/docs/cli/reference/output-format) and was not measured.
package cursor

import (
	"encoding/json"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/jsonl"
)

// maxBlocks bounds the blocks of one message.
const maxBlocks = 4096

// Decoder decodes Cursor's lines. The zero value is ready. When Cursor fails it prints no result:
// the stream ends without one.
type Decoder struct {
	uses     event.Uses
	streamed bool // deltas were emitted since the last block
}

type line struct {
	Type       string          `json:"type"`
	Subtype    string          `json:"subtype"`
	Session    string          `json:"session_id"`
	Dir        string          `json:"cwd"`
	Model      string          `json:"model"`
	Permission string          `json:"permissionMode"`
	Text       string          `json:"text"`
	Timestamp  *float64        `json:"timestamp_ms"`
	ModelCall  string          `json:"model_call_id"`
	Call       string          `json:"call_id"`
	ToolCall   json.RawMessage `json:"tool_call"`
	Message    struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
	IsError  bool    `json:"is_error"`
	Result   *string `json:"result"`
	Duration float64 `json:"duration_ms"`
	Usage    struct {
		Input      float64 `json:"inputTokens"`
		Output     float64 `json:"outputTokens"`
		CacheRead  float64 `json:"cacheReadTokens"`
		CacheWrite float64 `json:"cacheWriteTokens"`
	} `json:"usage"`
}

// CanDecode reports whether a line is one that Cursor prints. Claude Code could also have printed
// some of them: try package claude first.
func CanDecode(data []byte) bool {
	var l line
	if _, ok := jsonl.Object(data, &l); !ok || l.Session == "" {
		return false
	}
	switch l.Type {
	case "system", "user", "assistant", "thinking", "tool_call", "result":
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
	case "system":
		return append(events, system(&l))
	case "user":
		return append(events, event.NewNotice(event.NoticeUser, "", l.content()))
	case "assistant":
		return append(events, d.assistant(&l))
	case "thinking":
		return append(events, thinking(&l)...)
	case "tool_call":
		return append(events, d.tool(&l)...)
	case "result":
		return append(events, result(&l, malformed))
	}
	return append(events, event.NewNotice(event.NoticeUnknown, l.Type, ""))
}

func system(l *line) event.Event {
	if l.Subtype != "init" {
		return event.NewNotice(event.NoticeUnknown, "system/"+l.Subtype, "")
	}
	return event.Event{Kind: event.SessionStarted, Session: &event.Session{
		ID: l.Session, Executor: "cursor", Model: l.Model, Dir: l.Dir, Permission: l.Permission,
	}}
}

// assistant reads a message, or with --stream-partial-output a part of one: those have a time and
// no model call. A line with both, or neither, has whole text that may have been streamed before.
func (d *Decoder) assistant(l *line) event.Event {
	e := event.Event{Kind: event.Text, Text: l.content(), Streamed: d.streamed}
	d.streamed = false
	if l.Timestamp != nil && l.ModelCall == "" {
		e.Kind, e.Streamed, d.streamed = event.TextDelta, false, true
	}
	return e
}

// thinking reads a part of the model's thinking; the line that ends it has no text.
func thinking(l *line) []event.Event {
	if l.Text == "" {
		return nil
	}
	return []event.Event{{Kind: event.ThinkingDelta, Text: l.Text}}
}

func (l *line) content() string {
	var b strings.Builder
	for _, part := range jsonl.Elements[struct{ Text string }](l.Message.Content, maxBlocks) {
		b.WriteString(part.Text)
	}
	return b.String()
}

// outcome is the end of a tool use; a use ends in one of several ways.
type outcome struct {
	Success  json.RawMessage `json:"success"`
	Failure  json.RawMessage `json:"failure"`
	Error    json.RawMessage `json:"error"`
	Rejected json.RawMessage `json:"rejected"`
}

// tool reads the start or the end of a use. The tool's name is that of the only member, such as
// "shellToolCall", or of the function that it calls.
func (d *Decoder) tool(l *line) []event.Event {
	names, calls := jsonl.Members[struct {
		Name      string          `json:"name"`
		Args      json.RawMessage `json:"args"`
		Arguments json.RawMessage `json:"arguments"`
		Result    json.RawMessage `json:"result"`
	}](l.ToolCall, 1)
	if len(names) == 0 {
		return []event.Event{event.NewNotice(event.NoticeMalformed, l.Type, string(l.ToolCall))}
	}
	call := calls[0]
	use := event.Tool{ID: l.Call, Name: strings.TrimSuffix(names[0], "ToolCall"), Input: call.Args}
	if names[0] == "function" {
		use.Name, use.Input = call.Name, call.Arguments
	}
	use.Files = writtenFiles(use.Name, call.Args)
	var events []event.Event
	if !d.uses.Started(l.Call) {
		events = append(events, d.uses.Start("", "", use))
	}
	if l.Subtype != "completed" {
		return events
	}
	var end outcome
	_, _ = jsonl.Decode(call.Result, &end) // a success without a field
	t := event.Tool{ID: l.Call}
	switch {
	case end.Rejected != nil:
		t.Output, t.Failed = decodeText(end.Rejected), true
		events = append(events, event.Event{Kind: event.PermissionDenied, Denial: &event.Denial{
			ToolID: l.Call, Tool: use.Name, Input: use.Input, Reason: t.Output,
		}})
	case end.Error != nil:
		t.Output, t.Failed = decodeText(end.Error), true
	case end.Failure != nil:
		t.Output, t.Failed, t.ExitCode = decodeText(end.Failure), true, decodeExitCode(end.Failure)
	default:
		t.Output, t.ExitCode = decodeText(end.Success), decodeExitCode(end.Success)
	}
	return append(events, d.uses.Finish("", t))
}

// writtenFiles returns the files that Cursor's own tools write.
func writtenFiles(tool string, args json.RawMessage) []string {
	if tool != "write" && tool != "edit" && tool != "delete" {
		return nil
	}
	var a struct {
		Path string `json:"path"`
	}
	if _, err := jsonl.Decode(args, &a); err != nil || a.Path == "" {
		return nil
	}
	return []string{a.Path}
}

// decodeText returns the text of a tool's output, or all of its JSON when it has no text.
func decodeText(raw json.RawMessage) string {
	var r struct {
		Content, Stdout, Stderr, Message, Error, Reason string
	}
	_, _ = jsonl.Decode(raw, &r) // without such a text, the JSON is the text
	var parts []string
	for _, s := range []string{r.Content, r.Stdout, r.Stderr, r.Message, r.Error, r.Reason} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if len(parts) == 0 {
		return string(raw)
	}
	return strings.Join(parts, "\n")
}

func decodeExitCode(raw json.RawMessage) *int {
	var r struct {
		Code *int `json:"exitCode"`
	}
	if malformed, err := jsonl.Decode(raw, &r); err != nil || malformed {
		return nil
	}
	return r.Code
}

func result(l *line, malformed bool) event.Event {
	out := &event.Result{
		Outcome: event.Failed, DurationMS: jsonl.Count(l.Duration),
		Usage: event.Usage{
			Input: jsonl.Count(l.Usage.Input), Output: jsonl.Count(l.Usage.Output),
			CacheRead: jsonl.Count(l.Usage.CacheRead), CacheWrite: jsonl.Count(l.Usage.CacheWrite),
		},
	}
	switch {
	case l.Subtype == "success" && !l.IsError && !malformed:
		out.Outcome, out.Text = event.Success, l.Result
	case l.Result != nil:
		out.Errors = []string{*l.Result}
	}
	return event.Event{Kind: event.ResultGiven, Result: out}
}
