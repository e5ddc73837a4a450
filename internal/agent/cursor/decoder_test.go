package cursor_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/cursor"
	"github.com/seed434b0696/agent-sandbox/internal/agent/eventtest"
)

func Test_Documented_Runs_Fold_To_Their_Responses(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]event.Response{
		"happy_path": {
			Outcome: event.Success, Content: "I read it first.Done: wrote summary.txt", Session: "c6b62c6f-7ead-4fd6-9922-e952131177ff",
			Executor: "cursor", Models: []event.ModelUsage{{Model: "Claude 4 Sonnet"}}, DurationMS: 5234, Tools: 2,
			Usage: event.Usage{Input: 120, CacheRead: 30, CacheWrite: 10, Output: 40}, Files: []string{"summary.txt"},
		},
		"partial": {
			Outcome: event.Success, Content: "It failed.", Session: "s1", Executor: "cursor", Models: []event.ModelUsage{{Model: "auto"}},
			DurationMS: 800, Tools: 2,
			Denials: []event.Denial{{ToolID: "c2", Tool: "shell", Input: json.RawMessage(`{"command":"rm -rf /"}`), Reason: "not allowed"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile("testdata/" + name + ".jsonl")
			if err != nil {
				t.Fatal(err)
			}
			_, got := eventtest.Read(t, &cursor.Decoder{}, bytes.NewReader(data))
			if g, w := eventtest.JSON(t, got), eventtest.JSON(t, want); g != w {
				t.Errorf("got  %s\nwant %s", g, w)
			}
		})
	}
}

func Test_Deltas_Are_Emitted_Once(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/partial.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	events, _ := eventtest.Read(t, &cursor.Decoder{}, bytes.NewReader(data))
	var told []string
	for _, e := range events {
		if e.Kind == event.TextDelta || e.Kind == event.Text && !e.Streamed {
			told = append(told, e.Text)
		}
		if e.Kind == event.ToolFinished && e.Tool.ID == "c1" && (!e.Tool.Failed || e.Tool.ExitCode == nil || *e.Tool.ExitCode != 1 || e.Tool.Output != "no") {
			t.Errorf("the command ended as %+v", *e.Tool)
		}
	}
	if got := strings.Join(told, "|"); got != "Let me |look.|It |failed." {
		t.Errorf("told %q", got)
	}
}

func Test_A_Stream_Without_A_Result_Failed(t *testing.T) {
	t.Parallel()
	_, r := eventtest.Read(t, &cursor.Decoder{}, strings.NewReader(`{"type":"system","subtype":"init","session_id":"s"}
Error: no credits
{"type":"assistant","message":{"content":[{"type":"text","text":"hi"}]},"session_id":"s"}`))
	if r.Outcome != event.NoResult || r.Content != "hi" || r.Garbage != 1 || r.CostUSD != nil || r.ExitCode != nil {
		t.Errorf("%+v", r)
	}
	_, r = eventtest.Read(t, &cursor.Decoder{}, strings.NewReader(`{"type":"result","subtype":"success","is_error":true,"result":"bad","session_id":"s"}`))
	if r.OK() || r.Error != "bad" {
		t.Errorf("%+v", r)
	}
}

func FuzzDecoder(f *testing.F) {
	for _, name := range []string{"happy_path", "partial"} {
		data, err := os.ReadFile("testdata/" + name + ".jsonl")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		for line := range bytes.Lines(data) {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, r := eventtest.Read(t, &cursor.Decoder{}, bytes.NewReader(data))
		if r.OK() && !bytes.Contains(data, []byte(`:`)) {
			t.Errorf("success of %q", data)
		}
		cursor.CanDecode(data)
	})
}
