// Package event describes the work of a coding agent in one form for all executors: the events of a run as they
// arrive, and the [Response] that they fold into.
//
// The decoders of packages claude, codex and cursor convert the output of those programs to events. As JSON an
// event is one line, without the fields that are not set. The agent or its model wrote the texts of an event, so
// they are hostile: escape them before a terminal shows them.
package event

import "encoding/json"

// Kind is the type of an event. It determines which field of [Event] is set.
type Kind string

// The kinds of events. New ones may come; skip those that you do not know.
const (
	SessionStarted   Kind = "session"           // Session; again for each turn of some executors
	TextDelta        Kind = "text_delta"        // Text is a part of the text that the model is writing
	Text             Kind = "text"              // Text is a complete block
	ThinkingDelta    Kind = "thinking_delta"    // Text is a part of the model's thinking
	Thinking         Kind = "thinking"          // Text is a complete block
	ToolStarted      Kind = "tool_started"      // Tool, with its input
	ToolFinished     Kind = "tool_finished"     // Tool, with its output
	PermissionDenied Kind = "permission_denied" // Denial
	RetryScheduled   Kind = "retry"             // Retry
	UsageReported    Kind = "usage"             // Usage of one message so far; a later event with the same Message replaces it
	HookRan          Kind = "hook"              // Hook
	ControlSent      Kind = "control"           // Control
	NoticeGiven      Kind = "notice"            // Notice
	ProcessExited    Kind = "exit"              // Exit; only if the end of the process was seen
	ResultGiven      Kind = "result"            // Result: the end of a turn. Further turns may follow
	MessageShown     Kind = "message"           // Shown: a hook of the assistant shows something to the user
	ResponseFolded   Kind = "response"          // Response: the last line of a recording, not part of the run
)

// Event is one event of a run. Kind says which fields are set.
type Event struct {
	Kind     Kind      `json:"type"`
	Parent   string    `json:"parent,omitempty"`   // the tool use that started the subagent which this event comes from; "": the agent itself
	Message  string    `json:"message,omitempty"`  // the model's message that contains this; "": not reported
	Text     string    `json:"text,omitempty"`     //
	Streamed bool      `json:"streamed,omitempty"` // of Text and Thinking: earlier deltas already had this text
	Session  *Session  `json:"session,omitempty"`
	Tool     *Tool     `json:"tool,omitempty"`
	Denial   *Denial   `json:"denial,omitempty"`
	Retry    *Retry    `json:"retry,omitempty"`
	Usage    *Usage    `json:"usage,omitempty"`
	Hook     *Hook     `json:"hook,omitempty"`
	Control  *Control  `json:"control,omitempty"`
	Notice   *Notice   `json:"notice,omitempty"`
	Exit     *Exit     `json:"exit,omitempty"`
	Result   *Result   `json:"result,omitempty"`
	Shown    *Shown    `json:"message_shown,omitempty"`
	Response *Response `json:"response,omitempty"`
}

// Session describes an agent when it starts.
type Session struct {
	ID         string   `json:"id"`                   // the ID that resumes the session; "": not reported
	Executor   string   `json:"executor"`             // "claude", "codex", "cursor", or "direct" for direct calls of package model
	Version    string   `json:"version,omitempty"`    // of the executor
	Model      string   `json:"model,omitempty"`      // "": not reported
	Dir        string   `json:"dir,omitempty"`        // the working directory
	Permission string   `json:"permission,omitempty"` // its permission mode, in the executor's words
	Tools      []string `json:"tools,omitempty"`      // at most 1024
	Servers    []Server `json:"mcp_servers,omitempty"`
}

// Server is an MCP server of the agent.
type Server struct {
	Name   string `json:"name"`
	Status string `json:"status,omitempty"` // in the executor's words, such as "connected" or "failed"
}

// Tool is one use of a tool.
type Tool struct {
	ID       string          `json:"id"`
	Name     string          `json:"name,omitempty"`      // "": the start of the use was not seen
	Input    json.RawMessage `json:"input,omitempty"`     // at the start; any JSON
	Output   string          `json:"output,omitempty"`    // at the end; text, or JSON where the executor has no text
	Failed   bool            `json:"failed,omitempty"`    // at the end
	ExitCode *int            `json:"exit_code,omitempty"` // of a command; nil: not reported, which differs from zero
	Files    []string        `json:"files,omitempty"`     // at the end: the files that it wrote, as the agent named them
}

// Denial is a use of a tool that was not permitted.
type Denial struct {
	ToolID string          `json:"tool_id,omitempty"`
	Tool   string          `json:"tool"`
	Input  json.RawMessage `json:"input,omitempty"`
	Reason string          `json:"reason,omitempty"` // "": not reported
}

// Retry announces that a failed request to the model will be repeated.
type Retry struct {
	Attempt int64  `json:"attempt"`            // from 1
	Max     int64  `json:"max,omitempty"`      // 0: not reported
	DelayMS int64  `json:"delay_ms,omitempty"` // until the next attempt, in milliseconds
	Status  int64  `json:"status,omitempty"`   // of HTTP; 0: no response arrived
	Error   string `json:"error,omitempty"`
}

// Shown is something that a hook shows to the user besides the model's text.
type Shown struct {
	ID    string          `json:"id"` // operations on one message have the same ID
	Op    string          `json:"op"` // "send", "start", "replace", "append" or "end"
	Type  string          `json:"type,omitempty"`
	Props json.RawMessage `json:"props,omitempty"` // an object; of a text, it has "content"
}

// Hook reports that a hook of the executor started or ended.
type Hook struct {
	ID       string `json:"id,omitempty"`
	Name     string `json:"name"`
	Event    string `json:"event"`               // such as "PreToolUse"
	Finished bool   `json:"finished"`            // false: it started
	Outcome  string `json:"outcome,omitempty"`   // at the end, in the executor's words
	Output   string `json:"output,omitempty"`    // at the end
	ExitCode *int   `json:"exit_code,omitempty"` // at the end; nil: not reported
}

// Control is a message between an executor and the program that controls it. It is not part of the conversation.
type Control struct {
	Response bool            `json:"response,omitempty"` // true: a response; false: a request, which waits for one
	FromHost bool            `json:"from_host,omitempty"`
	ID       string          `json:"id"`
	Subtype  string          `json:"subtype"`        // such as "can_use_tool"; of a response "success" or "error"
	Body     json.RawMessage `json:"body,omitempty"` // the request, or the response
}

// The kinds of notices.
const (
	NoticeStatus    = "status"    // the executor's report about itself
	NoticeLog       = "log"       // a line of a hook's log; the name is its level
	NoticeStep      = "step"      // a step of the request begins or ends; the name is the step, or the level of a hook's trace
	NoticeUser      = "user"      // text with the user's role that the executor repeats or generates
	NoticePlan      = "plan"      // the agent's to-do list
	NoticeError     = "error"     // an error that need not end the run
	NoticeGarbage   = "garbage"   // a line that is not a JSON object
	NoticeMalformed = "malformed" // a line of a known type with a value of a wrong type; its other values count
	NoticeUnknown   = "unknown"   // a line of an unknown type
	NoticeTooLong   = "too_long"  // a line over the bound, whose content is lost
)

// Notice is information that does not change the outcome of the run.
type Notice struct {
	Kind string `json:"kind"`
	Name string `json:"name,omitempty"` // the type of an unknown line, the kind of a status
	Text string `json:"text,omitempty"` // at most 4 KiB
	Size int64  `json:"size,omitempty"` // of a line over the bound, in bytes
}

// Exit describes how the executor's process ended. It does not decide the outcome of a run: some programs exit
// with 0 after an interrupt, and with 1 after some answers.
type Exit struct {
	Code   int    `json:"code"`
	Stderr string `json:"stderr,omitempty"` // the end of its stderr
}

// Outcome is how a run ended.
type Outcome string

// The outcomes. Success requires a result that reports it.
const (
	Success     Outcome = "success"
	MaxTurns    Outcome = "max_turns"   // the limit on turns
	MaxBudget   Outcome = "max_budget"  // the limit on cost
	APIError    Outcome = "api_error"   // the model's API refused or failed
	Interrupted Outcome = "interrupted" // the user or the caller interrupted it
	Failed      Outcome = "failed"      // any other failure that a result reported
	NoResult    Outcome = "no_result"   // the stream ended without a result
)

// Result is the end of a turn as the executor reports it.
type Result struct {
	Outcome    Outcome      `json:"outcome"`
	Text       *string      `json:"text,omitempty"`      // the answer; nil: not reported, then the last message is the answer
	Errors     []string     `json:"errors,omitempty"`    // the reason of the failure
	Status     int64        `json:"status,omitempty"`    // of HTTP, when the API failed; 0: not reported
	Usage      Usage        `json:"usage"`               // of this turn
	Estimated  bool         `json:"estimated,omitempty"` // a part of Usage was not reported: it is a low estimate
	Models     []ModelUsage `json:"models,omitempty"`    // of all turns of this process so far
	CostUSD    *float64     `json:"cost_usd,omitempty"`
	Turns      int64        `json:"turns,omitempty"`       // of this turn: requests to the model; 0: not reported
	DurationMS int64        `json:"duration_ms,omitempty"` // of this turn, in milliseconds; 0: not reported
	StopReason string       `json:"stop_reason,omitempty"`
}
