// Package event is what a coding agent does, the same for every executor: the events of a run as
// they come, and the [Response] that they fold into.
//
// Decoders of packages claude, codex and cursor make events of what those programs print. As JSON an
// event is one line; fields that are not set are left out. Everything in an event was written by
// the agent or its model and is hostile: escape it before a terminal sees it.
package event

import "encoding/json"

// Kind says what an event tells, and with it which field of [Event] is set.
type Kind string

// The kinds of events. New ones may come; skip those that you do not know.
const (
	SessionStarted   Kind = "session"           // Session; again for each turn of some executors
	TextDelta        Kind = "text_delta"        // Text is a part of what the model is writing
	Text             Kind = "text"              // Text is a complete block
	ThinkingDelta    Kind = "thinking_delta"    // Text is a part of what the model is thinking
	Thinking         Kind = "thinking"          // Text is a complete block
	ToolStarted      Kind = "tool_started"      // Tool, with its input
	ToolFinished     Kind = "tool_finished"     // Tool, with its output
	PermissionDenied Kind = "permission_denied" // Denial
	RetryScheduled   Kind = "retry"             // Retry
	UsageReported    Kind = "usage"             // Usage of one message so far; later ones of the same Message replace it
	HookRan          Kind = "hook"              // Hook
	ControlSent      Kind = "control"           // Control
	NoticeGiven      Kind = "notice"            // Notice
	ProcessExited    Kind = "exit"              // Exit; only when the end of the process was seen
	ResultGiven      Kind = "result"            // Result: the end of a turn. Others may follow it
	MessageShown     Kind = "message"           // Shown: what a hook of the assistant shows the user
	ResponseFolded   Kind = "response"          // Response: the last line of a recording, no part of the run
)

// Event is one thing that happened. Kind says which fields are set.
type Event struct {
	Kind     Kind      `json:"type"`
	Parent   string    `json:"parent,omitempty"`   // the tool use whose subagent this comes from; "": the agent itself
	Message  string    `json:"message,omitempty"`  // the model's message that this is a part of; "": not reported
	Text     string    `json:"text,omitempty"`     //
	Streamed bool      `json:"streamed,omitempty"` // of Text and Thinking: deltas before it had this text already
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
	ID         string   `json:"id"`                   // what resumes it; "": not reported
	Executor   string   `json:"executor"`             // "claude", "codex" or "cursor"; "direct": the model's API, asked by package model
	Version    string   `json:"version,omitempty"`    // of the executor
	Model      string   `json:"model,omitempty"`      // "": not reported
	Dir        string   `json:"dir,omitempty"`        // where it works
	Permission string   `json:"permission,omitempty"` // its permission mode, in its own words
	Tools      []string `json:"tools,omitempty"`      // at most 1024
	Servers    []Server `json:"mcp_servers,omitempty"`
}

// Server is an MCP server of the agent.
type Server struct {
	Name   string `json:"name"`
	Status string `json:"status,omitempty"` // in the executor's words, such as "connected" and "failed"
}

// Tool is one use of a tool.
type Tool struct {
	ID       string          `json:"id"`
	Name     string          `json:"name,omitempty"`      // "": the use was never seen to start
	Input    json.RawMessage `json:"input,omitempty"`     // at the start; any JSON
	Output   string          `json:"output,omitempty"`    // at the end; text, or JSON where the executor has no text
	Failed   bool            `json:"failed,omitempty"`    // at the end
	ExitCode *int            `json:"exit_code,omitempty"` // of a command; nil: not reported, which is not zero
	Files    []string        `json:"files,omitempty"`     // at the end: what it wrote, as the agent named it
}

// Denial is a use of a tool that was not permitted.
type Denial struct {
	ToolID string          `json:"tool_id,omitempty"`
	Tool   string          `json:"tool"`
	Input  json.RawMessage `json:"input,omitempty"`
	Reason string          `json:"reason,omitempty"` // "": not reported
}

// Retry is a request to the model that failed and is made again.
type Retry struct {
	Attempt int64  `json:"attempt"`            // from 1
	Max     int64  `json:"max,omitempty"`      // 0: not reported
	DelayMS int64  `json:"delay_ms,omitempty"` // until the attempt, in milliseconds
	Status  int64  `json:"status,omitempty"`   // of HTTP; 0: there was no answer
	Error   string `json:"error,omitempty"`
}

// Shown is something for the user to see, beside what the model says.
type Shown struct {
	ID    string          `json:"id"` // the same for what changes it later
	Op    string          `json:"op"` // "send", "start", "replace", "append" or "end"
	Type  string          `json:"type,omitempty"`
	Props json.RawMessage `json:"props,omitempty"` // an object; a text's has "content"
}

// Hook is a hook of the executor that started or ended.
type Hook struct {
	ID       string `json:"id,omitempty"`
	Name     string `json:"name"`
	Event    string `json:"event"`               // such as "PreToolUse"
	Finished bool   `json:"finished"`            // false: it started
	Outcome  string `json:"outcome,omitempty"`   // at the end, in the executor's words
	Output   string `json:"output,omitempty"`    // at the end
	ExitCode *int   `json:"exit_code,omitempty"` // at the end; nil: not reported
}

// Control is a message between an executor and the program that drives it, which is not part of the conversation.
type Control struct {
	Response bool            `json:"response,omitempty"` // an answer; false: a request, which waits for one
	FromHost bool            `json:"from_host,omitempty"`
	ID       string          `json:"id"`
	Subtype  string          `json:"subtype"`        // such as "can_use_tool"; of an answer "success" or "error"
	Body     json.RawMessage `json:"body,omitempty"` // the request, or the response
}

// The kinds of notices.
const (
	NoticeStatus    = "status"    // what the executor says about itself
	NoticeLog       = "log"       // a line of a hook's log; the name is its level
	NoticeStep      = "step"      // a step of the request that begins or ends; the name is the step, or the level of a hook's trace
	NoticeUser      = "user"      // text in the user's place, which the executor repeats or makes
	NoticePlan      = "plan"      // the agent's list of things to do
	NoticeError     = "error"     // a fault that need not end the run
	NoticeGarbage   = "garbage"   // a line that is not a JSON object
	NoticeMalformed = "malformed" // a line of a known type with values of a wrong one; the rest of it counts
	NoticeUnknown   = "unknown"   // a line of an unknown type
	NoticeTooLong   = "too_long"  // a line over the bound, which is lost
)

// Notice is something to know that changes nothing.
type Notice struct {
	Kind string `json:"kind"`
	Name string `json:"name,omitempty"` // the type of an unknown line, the kind of a status
	Text string `json:"text,omitempty"` // at most 4 KiB
	Size int64  `json:"size,omitempty"` // of a line over the bound, in bytes
}

// Exit is how the executor's process ended. It decides nothing about a run's outcome: programs exit
// with 0 after an interrupt, and with 1 after some answers.
type Exit struct {
	Code   int    `json:"code"`
	Stderr string `json:"stderr,omitempty"` // the end of it
}

// Outcome is how a run ended.
type Outcome string

// The outcomes. Success needs a result that reports it.
const (
	Success     Outcome = "success"
	MaxTurns    Outcome = "max_turns"   // the limit on turns
	MaxBudget   Outcome = "max_budget"  // the limit on cost
	APIError    Outcome = "api_error"   // the model's API refused or failed
	Interrupted Outcome = "interrupted" // the user or the caller interrupted it
	Failed      Outcome = "failed"      // any other failure that a result reported
	NoResult    Outcome = "no_result"   // the stream ended, and no result was seen
)

// Result is the end of a turn as the executor reports it.
type Result struct {
	Outcome    Outcome      `json:"outcome"`
	Text       *string      `json:"text,omitempty"`      // the answer; nil: not reported, the last message is it
	Errors     []string     `json:"errors,omitempty"`    // what went wrong
	Status     int64        `json:"status,omitempty"`    // of HTTP, when the API failed; 0: not reported
	Usage      Usage        `json:"usage"`               // of this turn
	Estimated  bool         `json:"estimated,omitempty"` // a part of Usage was not reported and is a low estimate
	Models     []ModelUsage `json:"models,omitempty"`    // of all turns of this process until now
	CostUSD    *float64     `json:"cost_usd,omitempty"`
	Turns      int64        `json:"turns,omitempty"`       // of this turn: how often the model was asked; 0: not reported
	DurationMS int64        `json:"duration_ms,omitempty"` // of this turn, in milliseconds; 0: not reported
	StopReason string       `json:"stop_reason,omitempty"`
}
