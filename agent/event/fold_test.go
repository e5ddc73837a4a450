package event_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/event"
)

func fold(events ...event.Event) event.Response {
	var f event.Fold
	for _, e := range events {
		f.Add(e)
	}
	return f.Response()
}

func result(o event.Outcome) event.Event {
	return event.Event{Kind: event.ResultGiven, Result: &event.Result{Outcome: o}}
}

func text(kind event.Kind, message, s string) event.Event {
	return event.Event{Kind: kind, Message: message, Text: s}
}

func Test_The_Answer_Is_The_Last_Message(t *testing.T) {
	t.Parallel()
	final := ""
	for _, row := range []struct {
		name   string
		events []event.Event
		want   string
	}{
		{"of several messages", []event.Event{text(event.Text, "1", "a"), text(event.Text, "2", "b"), result(event.Success)}, "b"},
		{"with all of its blocks", []event.Event{text(event.Text, "1", "a"), text(event.Text, "1", "b"), result(event.Success)}, "a\nb"},
		{"as the result tells it, also empty", []event.Event{
			text(event.Text, "1", "a"),
			{Kind: event.ResultGiven, Result: &event.Result{Outcome: event.Success, Text: &final}},
		}, ""},
		{"cut off in the middle", []event.Event{text(event.Text, "1", "a"), text(event.TextDelta, "2", "b"), text(event.TextDelta, "2", "c")}, "bc"},
		{"once when it was streamed", []event.Event{text(event.TextDelta, "1", "a"), text(event.TextDelta, "1", "b"), text(event.Text, "1", "ab")}, "ab"},
		{"of the turn after the result", []event.Event{text(event.Text, "1", "a"), result(event.Success), text(event.TextDelta, "2", "b")}, "b"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := fold(row.events...).Content; got != row.want {
				t.Errorf("content is %q, want %q", got, row.want)
			}
		})
	}
}

func Test_Success_Needs_A_Result_After_All_That_The_Agent_Did(t *testing.T) {
	t.Parallel()
	code := &event.Exit{Code: 0}
	for name, row := range map[string]struct {
		events []event.Event
		want   event.Outcome
	}{
		"no events":                 {nil, event.NoResult},
		"an exit with 0":            {[]event.Event{{Kind: event.ProcessExited, Exit: code}}, event.NoResult},
		"a result":                  {[]event.Event{result(event.Success)}, event.Success},
		"a result, then a tool":     {[]event.Event{result(event.Success), {Kind: event.ToolStarted, Tool: &event.Tool{}}}, event.NoResult},
		"a result, then its exit":   {[]event.Event{result(event.Success), {Kind: event.ProcessExited, Exit: &event.Exit{Code: 1}}}, event.Success},
		"a result, then a notice":   {[]event.Event{result(event.Success), event.NewNotice(event.NoticeError, "", "x")}, event.Success},
		"two results, one a defeat": {[]event.Event{result(event.Success), text(event.Text, "", "x"), result(event.MaxTurns)}, event.MaxTurns},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := fold(row.events...).Outcome; got != row.want {
				t.Errorf("outcome is %s, want %s", got, row.want)
			}
		})
	}
}

func Test_A_Fold_Bounds_Its_Memory(t *testing.T) {
	t.Parallel()
	var f event.Fold
	big := strings.Repeat("é", 1<<20)
	for i := range 30_000 {
		id := fmt.Sprint(i)
		f.Add(event.Event{Kind: event.ToolFinished, Tool: &event.Tool{Files: []string{id}}})
		f.Add(event.Event{Kind: event.PermissionDenied, Denial: &event.Denial{ToolID: id}})
		f.Add(event.Event{Kind: event.UsageReported, Message: id, Usage: &event.Usage{Input: 1}})
		if i < 20 {
			f.Add(text(event.Text, "same", big))
		}
	}
	r := f.Response()
	if len(r.Files) != 10_000 || len(r.Denials) != 1000 || len(r.Content) > 16<<20 || !r.Truncated || r.Usage.Input != 30_000 {
		t.Errorf("%d files, %d denials, %d bytes, truncated %v, usage %+v", len(r.Files), len(r.Denials), len(r.Content), r.Truncated, r.Usage)
	}
}

func Test_A_Fold_Drops_Very_Long_Values(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	var uses event.Uses
	uses.Start("", "", event.Tool{ID: "a", Name: long})
	r := fold(
		event.Event{Kind: event.ToolFinished, Tool: &event.Tool{Files: []string{long, "short"}}},
		event.Event{Kind: event.PermissionDenied, Denial: &event.Denial{ToolID: "1", Tool: "t", Input: json.RawMessage(`"` + long + `"`)}},
		event.Event{Kind: event.PermissionDenied, Denial: &event.Denial{ToolID: long}},
	)
	if uses.Started("a") || !r.Truncated || len(r.Files) != 1 || len(r.Denials) != 1 || r.Denials[0].Input != nil {
		t.Errorf("%v, %d files, %d denials", r.Truncated, len(r.Files), len(r.Denials))
	}
}

func Test_Counts_Do_Not_Overflow(t *testing.T) {
	t.Parallel()
	const most = 1<<63 - 1
	u := event.Usage{Input: most, Output: -5}.Add(event.Usage{Input: 1, Output: 7})
	if u.Input != most || u.Output != 7 || (event.Usage{Input: 1}).Minus(event.Usage{Input: 2}).Input != 0 {
		t.Errorf("%+v", u)
	}
}

func Test_Events_Are_Stable_JSON(t *testing.T) {
	t.Parallel()
	code, cost := 0, 0.5
	for want, e := range map[string]event.Event{
		`{"type":"text_delta","parent":"p","message":"m","text":"x"}`:                      {Kind: event.TextDelta, Parent: "p", Message: "m", Text: "x"},
		`{"type":"tool_finished","tool":{"id":"1","name":"n","output":"o","exit_code":0}}`: {Kind: event.ToolFinished, Tool: &event.Tool{ID: "1", Name: "n", Output: "o", ExitCode: &code}},
		`{"type":"retry","retry":{"attempt":1,"max":2,"delay_ms":3,"status":429}}`:         {Kind: event.RetryScheduled, Retry: &event.Retry{Attempt: 1, Max: 2, DelayMS: 3, Status: 429}},
		`{"type":"result","result":{"outcome":"success","usage":{"input":0,"output":0,"cache_read":0,"cache_write":0},"cost_usd":0.5}}`: {
			Kind: event.ResultGiven, Result: &event.Result{Outcome: event.Success, CostUSD: &cost},
		},
	} {
		data, err := json.Marshal(e)
		if err != nil || string(data) != want {
			t.Errorf("%v\ngot  %s\nwant %s", err, data, want)
		}
		if !event.IsRecorded(data) || len((event.Recorded{}).Decode(data)) != 1 {
			t.Errorf("not read again: %s", data)
		}
	}
}

func Test_Recorded_Events_Without_Their_Part_Are_Unknown(t *testing.T) {
	t.Parallel()
	for _, line := range []string{`{"type":"tool_started"}`, `{"type":"result"}`, `{"type":"dance"}`, `{}`, `[]`, `{"type":5}`, ``} {
		if event.IsRecorded([]byte(line)) {
			t.Errorf("taken for an event: %s", line)
		}
		for _, e := range (event.Recorded{}).Decode([]byte(line)) {
			if e.Kind != event.NoticeGiven {
				t.Errorf("%s: %+v", line, e)
			}
		}
	}
}
