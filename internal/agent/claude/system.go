package claude

import (
	"encoding/json"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/jsonl"
)

// system reads a line about Claude Code itself; it has many subtypes.
func (d *Decoder) system(l *line, data []byte) []event.Event {
	switch l.Subtype {
	case "init":
		return []event.Event{started(l, data)}
	case "api_retry":
		return []event.Event{retry(data)}
	case "hook_started", "hook_response":
		return []event.Event{hook(l, data)}
	case "status", "compact_boundary", "task_started", "task_updated", "task_notification":
		var s struct {
			Status      string `json:"status"`
			Description string `json:"description"`
			Summary     string `json:"summary"`
			Patch       struct {
				Status string `json:"status"`
			} `json:"patch"`
		}
		_, _ = jsonl.Decode(data, &s) // read already
		text := strings.Join(strings.Fields(strings.Join([]string{s.Status, s.Patch.Status, s.Description, s.Summary}, " ")), " ")
		return []event.Event{event.NewNotice(event.NoticeStatus, l.Subtype, text)}
	}
	return []event.Event{event.NewNotice(event.NoticeUnknown, "system/"+l.Subtype, "")}
}

func started(l *line, data []byte) event.Event {
	var s struct {
		Dir        string          `json:"cwd"`
		Model      string          `json:"model"`
		Version    string          `json:"claude_code_version"`
		Permission string          `json:"permissionMode"`
		Tools      json.RawMessage `json:"tools"`
		Servers    json.RawMessage `json:"mcp_servers"`
	}
	_, _ = jsonl.Decode(data, &s) // read already
	return event.Event{Kind: event.SessionStarted, Session: &event.Session{
		ID: l.Session, Executor: "claude", Version: s.Version, Model: s.Model, Dir: s.Dir, Permission: s.Permission,
		Tools: jsonl.Elements[string](s.Tools, 1024), Servers: jsonl.Elements[event.Server](s.Servers, 1024),
	}}
}

func retry(data []byte) event.Event {
	var r struct {
		Attempt float64 `json:"attempt"`
		Max     float64 `json:"max_retries"`
		Delay   float64 `json:"retry_delay_ms"`
		Status  float64 `json:"error_status"`
		Error   string  `json:"error"`
	}
	_, _ = jsonl.Decode(data, &r) // read already
	return event.Event{Kind: event.RetryScheduled, Retry: &event.Retry{
		Attempt: jsonl.Count(r.Attempt), Max: jsonl.Count(r.Max), DelayMS: jsonl.Count(r.Delay), Status: jsonl.Count(r.Status), Error: r.Error,
	}}
}

func hook(l *line, data []byte) event.Event {
	var h struct {
		ID      string `json:"hook_id"`
		Name    string `json:"hook_name"`
		Event   string `json:"hook_event"`
		Output  string `json:"output"`
		Code    *int   `json:"exit_code"`
		Outcome string `json:"outcome"`
	}
	_, _ = jsonl.Decode(data, &h) // read already
	return event.Event{Kind: event.HookRan, Hook: &event.Hook{
		ID: h.ID, Name: h.Name, Event: h.Event, Finished: l.Subtype == "hook_response", Outcome: h.Outcome, Output: h.Output, ExitCode: h.Code,
	}}
}

type modelUsage struct {
	Input      float64  `json:"inputTokens"`
	Output     float64  `json:"outputTokens"`
	CacheRead  float64  `json:"cacheReadInputTokens"`
	CacheWrite float64  `json:"cacheCreationInputTokens"`
	Cost       *float64 `json:"costUSD"`
}

type denial struct {
	Tool  string          `json:"tool_name"`
	ID    string          `json:"tool_use_id"`
	Input json.RawMessage `json:"tool_input"`
}

type result struct {
	Subtype  string          `json:"subtype"`
	IsError  bool            `json:"is_error"`
	Status   *float64        `json:"api_error_status"`
	Result   *string         `json:"result"`
	Errors   json.RawMessage `json:"errors"`
	Turns    float64         `json:"num_turns"`
	Duration float64         `json:"duration_ms"`
	Cost     *float64        `json:"total_cost_usd"`
	Usage    usage           `json:"usage"`
	Models   json.RawMessage `json:"modelUsage"`
	Denials  json.RawMessage `json:"permission_denials"`
	Stop     string          `json:"stop_reason"`
	Terminal string          `json:"terminal_reason"`
}

// result ends a turn, after events for the denials. A result with a value of a wrong type is not a
// success, because its other values are not reliable.
func (d *Decoder) result(data []byte, malformed bool) []event.Event {
	var r result
	wrong, err := jsonl.Decode(data, &r)
	if err != nil {
		return []event.Event{event.NewNotice(event.NoticeMalformed, "result", string(data))}
	}
	var events []event.Event
	if wrong && !malformed {
		events = append(events, event.NewNotice(event.NoticeMalformed, "result", string(data)))
	}
	for _, n := range jsonl.Elements[denial](r.Denials, maxBlocks) {
		events = append(events, event.Event{Kind: event.PermissionDenied, Denial: &event.Denial{ToolID: n.ID, Tool: n.Tool, Input: n.Input}})
	}
	out := &event.Result{
		Outcome: r.outcome(), Errors: jsonl.Elements[string](r.Errors, maxBlocks), Usage: r.Usage.event(), CostUSD: r.Cost,
		Turns: jsonl.Count(r.Turns), DurationMS: jsonl.Count(r.Duration), StopReason: r.Stop,
	}
	if r.Status != nil {
		out.Status = jsonl.Count(*r.Status)
	}
	if wrong || malformed {
		out.Outcome = event.Failed
	}
	switch {
	case out.Outcome == event.Success:
		out.Text = r.Result
	case r.Result != nil && len(out.Errors) == 0:
		out.Errors = []string{*r.Result}
	}
	var aside []event.Event
	out.Errors, aside = splitErrors(out.Outcome, out.Errors)
	events = append(events, aside...)
	names, models := jsonl.Members[modelUsage](r.Models, maxModels)
	for i, m := range models {
		out.Models = append(out.Models, event.ModelUsage{
			Model: names[i], CostUSD: m.Cost,
			Usage: usage{Input: m.Input, Output: m.Output, CacheRead: m.CacheRead, CacheWrite: m.CacheWrite}.event(),
		})
	}
	return append(events, event.Event{Kind: event.ResultGiven, Result: out})
}

// diagnostic begins Claude Code's internal messages, which are for its developers.
const diagnostic = "[ede_diagnostic]"

// splitErrors splits the errors of a result into messages for users and internal messages, which become
// notices.
func splitErrors(of event.Outcome, errors []string) (plain []string, aside []event.Event) {
	const most = 16
	for _, text := range errors {
		switch {
		case of != event.Interrupted && !strings.HasPrefix(text, diagnostic):
			plain = append(plain, text)
		case len(aside) < most:
			aside = append(aside, event.NewNotice(event.NoticeStatus, "diagnostic", text))
		}
	}
	switch {
	case of == event.Interrupted:
		return []string{"interrupted"}, aside
	case len(plain) == 0 && len(aside) > 0:
		return []string{"Claude Code stopped in the middle of its work and did not say why"}, aside
	}
	return plain, aside
}

// outcome returns success only if both the subtype and is_error report it: a result with a refused
// API request has the subtype "success" and is_error.
func (r *result) outcome() event.Outcome {
	switch {
	case r.Subtype == "success" && !r.IsError:
		return event.Success
	case r.Subtype == "error_max_turns":
		return event.MaxTurns
	case r.Subtype == "error_max_budget_usd":
		return event.MaxBudget
	case strings.HasPrefix(r.Terminal, "aborted"):
		return event.Interrupted
	case r.Status != nil:
		return event.APIError
	}
	return event.Failed
}
