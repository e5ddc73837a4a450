package claude_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/claude"
	"github.com/seed434b0696/agent-sandbox/internal/agent/eventtest"
)

func lines(s ...string) io.Reader { return strings.NewReader(strings.Join(s, "\n")) }

func count(events []event.Event, kind event.Kind) (n int) {
	for _, e := range events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// The numbers were read from the recordings by hand.
func Test_Recorded_Runs_Come_To_Their_Responses(t *testing.T) {
	t.Parallel()
	const opus, done = "claude-opus-4-8[1m]", "Done: wrote out.txt"
	two := event.Usage{Input: 200, CacheWrite: 40, CacheRead: 60, Output: 50}
	zero, nought := 0.0, 0
	run := func(model string, cost float64, session string, ms int64, more func(*event.Response)) event.Response {
		r := event.Response{
			Outcome: event.Success, Content: done, Session: session, Executor: "claude", Usage: two, CostUSD: &cost,
			Models: []event.ModelUsage{{Model: model, Usage: two, CostUSD: &cost}}, Turns: 2, DurationMS: ms, Tools: 1,
		}
		if more != nil {
			more(&r)
		}
		return r
	}
	for name, want := range map[string]event.Response{
		"happy_path":                 run(opus, 0.00253, "2d758095-de42-4442-bcd0-000a5e55fff1", 385, nil),
		"partial":                    run("claude-sonnet-4-5", 0.001518, "ece92d64-d759-47f6-9ead-d35778f72359", 311, nil),
		"mcp_stdio":                  run(opus, 0.00253, "070f92af-42f8-41c6-b091-15897afb56af", 678, nil),
		"hook_events":                run(opus, 0.00253, "6c4a4ecc-4232-4ca5-bc2e-dd74a6676b56", 1691, nil),
		"events_after_result":        run(opus, 0.00253, "ec752884-8d56-4fb5-834e-cfcf96f6fbf3", 303, nil),
		"control_duplex":             run(opus, 0.00253, "93e6a6a4-b76d-4d69-9c6c-96ccef0028d8", 193, func(r *event.Response) { r.ExitCode = &nought }),
		"control_duplex_bwrap_nonet": run(opus, 0.00253, "b56cba73-8fd7-4447-8f4a-db32573303fe", 117, func(r *event.Response) { r.ExitCode = &nought }),
		"permission_denied": run(opus, 0.00253, "233ee661-14a7-4975-89b8-5861658fc557", 146, func(r *event.Response) {
			r.Denials = []event.Denial{{
				ToolID: "toolu_0d3e6b7c4ab64cc7862f", Tool: "Bash",
				Input: json.RawMessage(`{"command":"echo hi > out.txt","description":"Write hi to out.txt"}`),
			}}
		}),
		"error_max_turns": run(opus, 0.001265, "0fa2a695-50ea-45f3-a44c-26f25c904ebe", 314, func(r *event.Response) {
			r.Outcome, r.Error, r.Content = event.MaxTurns, "Reached maximum number of turns (1)", "I will run a command."
			r.Usage = event.Usage{Input: 100, CacheWrite: 20, CacheRead: 30, Output: 25}
			r.Models[0].Usage = r.Usage
		}),
		// The result's own usage (700 in) lacks the last message; cost and modelUsage include it.
		"error_max_budget": run(opus, 0.010120000000000002, "0adb029a-f70a-4b8e-b429-f1c4d586b05d", 883, func(r *event.Response) {
			r.Outcome, r.Error, r.Content = event.MaxBudget, "Reached maximum budget ($0.01)", ""
			r.Usage = event.Usage{Input: 800, CacheWrite: 160, CacheRead: 240, Output: 200}
			r.Models[0].Usage = r.Usage
			r.Turns, r.Tools = 8, 8
		}),
		"api_error_400": {
			Outcome: event.APIError, Error: "API Error: 400 fake bad request", Session: "f7ad35b0-120f-4e3c-ac3e-5bf199f54851",
			Executor: "claude", Models: []event.ModelUsage{{Model: opus}}, CostUSD: &zero, Turns: 1, DurationMS: 349,
		},
		"api_retry_429_killed": {
			Outcome: event.NoResult, Error: "the stream ended without a result; the last request was tried again after rate_limit",
			Session: "1fe566de-16d5-4665-bdab-74fa57dd94ad", Executor: "claude", Models: []event.ModelUsage{{Model: opus}}, Estimated: true, Retries: 6,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(filepath.Join("testdata", name+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			_, got := eventtest.Read(t, &claude.Decoder{}, bytes.NewReader(data))
			if g, w := eventtest.JSON(t, got), eventtest.JSON(t, want); g != w {
				t.Errorf("got  %s\nwant %s", g, w)
			}
		})
	}
}

func recorded(t *testing.T, name string) []event.Event {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	events, _ := eventtest.Read(t, &claude.Decoder{}, f)
	return events
}

func Test_Every_Line_Of_A_Recording_Is_Recognized(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(names) != 12 {
		t.Fatalf("%d recordings, %v", len(names), err)
	}
	for _, name := range names {
		for _, e := range recorded(t, filepath.Base(name)) {
			if e.Notice != nil && e.Notice.Kind != event.NoticeStatus && e.Notice.Kind != event.NoticeUser && e.Notice.Kind != event.NoticeError {
				t.Errorf("%s: %+v", name, *e.Notice)
			}
		}
	}
}

func Test_A_Session_Reports_Its_Model_Tools_And_Servers(t *testing.T) {
	t.Parallel()
	s := recorded(t, "mcp_stdio.jsonl")[0].Session
	if s == nil || s.Model != "claude-opus-4-8[1m]" || s.Version != "2.1.197" || s.Dir != "/workspace/w10" || s.Permission != "default" {
		t.Fatalf("%+v", s)
	}
	if len(s.Servers) != 1 || s.Servers[0] != (event.Server{Name: "demo", Status: "connected"}) {
		t.Errorf("servers are %+v", s.Servers)
	}
	if len(s.Tools) < 20 || s.Tools[0] != "Task" {
		t.Errorf("tools are %q", s.Tools)
	}
}

func Test_A_Block_After_Deltas_Is_Marked_As_Streamed(t *testing.T) {
	t.Parallel()
	var deltas, blocks []string
	for _, e := range recorded(t, "partial.jsonl") {
		if e.Kind == event.TextDelta {
			deltas = append(deltas, e.Text)
		}
		if e.Kind == event.Text {
			blocks = append(blocks, fmt.Sprintf("%s %v", e.Text, e.Streamed))
		}
	}
	if got, want := strings.Join(deltas, "|"), "I wil|l run a command.|Done:| wrote out.txt"; got != want {
		t.Errorf("deltas are %q", got)
	}
	if got, want := strings.Join(blocks, "|"), "I will run a command. true|Done: wrote out.txt true"; got != want {
		t.Errorf("blocks are %q", got)
	}
}

func Test_Hooks_Tools_And_Control_Messages_Are_Events(t *testing.T) {
	t.Parallel()
	hooks := recorded(t, "hook_events.jsonl")
	if n := count(hooks, event.HookRan); n != 8 {
		t.Errorf("%d hook events, want 8", n)
	}
	if h := hooks[1].Hook; h == nil || !h.Finished || h.Event != "SessionStart" || h.Outcome != "success" || h.ExitCode == nil || *h.ExitCode != 0 {
		t.Errorf("the first hook ended as %+v", h)
	}
	duplex := recorded(t, "control_duplex.jsonl")
	if n := count(duplex, event.ControlSent); n != 22 {
		t.Errorf("%d control messages, want 22", n)
	}
	for _, e := range duplex {
		if e.Kind == event.ToolFinished && (e.Tool.Output != "BRIDGED" || e.Tool.Name != "mcp__bridge__echo") {
			t.Errorf("the tool ended as %+v", *e.Tool)
		}
	}
}

func Test_Events_After_The_Result_Do_Not_Change_The_Outcome(t *testing.T) {
	t.Parallel()
	events := recorded(t, "events_after_result.jsonl")
	last := events[len(events)-1]
	if last.Notice == nil || last.Notice.Name != "task_notification" || last.Notice.Text != "stopped bg" {
		t.Errorf("the last event is %+v", last)
	}
}
