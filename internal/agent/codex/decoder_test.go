package codex_test

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/codex"
	"github.com/seed434b0696/agent-sandbox/internal/agent/eventtest"
)

// The numbers were read from the recordings by hand: 200 tokens in, 60 of them from a
// cache.
func Test_Recorded_Runs_Come_To_Their_Responses(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]event.Response{
		"happy_path": {
			Outcome: event.Success, Content: "Done: wrote out.txt", Session: "01a1f840-4509-7bf3-b628-ead1fb683c29", Executor: "codex",
			Usage: event.Usage{Input: 140, CacheRead: 60, Output: 50, Reasoning: 10}, Turns: 1, Tools: 1,
		},
		"turn_failed": {
			Outcome: event.APIError, Error: "fake bad request", Session: "01a1f846-9520-75d3-b546-7efe8a57563e", Executor: "codex", Turns: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile("testdata/" + name + ".jsonl")
			if err != nil {
				t.Fatal(err)
			}
			events, got := eventtest.Read(t, &codex.Decoder{}, bytes.NewReader(data))
			if g, w := eventtest.JSON(t, got), eventtest.JSON(t, want); g != w {
				t.Errorf("got  %s\nwant %s", g, w)
			}
			for _, e := range events {
				if e.Kind == event.ToolFinished && (e.Tool.ExitCode == nil || *e.Tool.ExitCode != 0 || e.Tool.Name != "command_execution") {
					t.Errorf("the command ended as %+v", *e.Tool)
				}
			}
		})
	}
}

func lines(s ...string) io.Reader { return strings.NewReader(strings.Join(s, "\n")) }

const (
	start = `{"type":"thread.started","thread_id":"t"}`
	usage = `{"type":"turn.completed","usage":{"input_tokens":300,"cached_input_tokens":60,"cache_write_input_tokens":40,"output_tokens":75}}`
)

func Test_Usage_Of_A_Resumed_Thread_Excludes_Earlier_Runs(t *testing.T) {
	t.Parallel()
	before := event.Usage{Input: 150, CacheRead: 50, CacheWrite: 0, Output: 50}
	_, r := eventtest.Read(t, &codex.Decoder{Before: before}, lines(start, usage))
	if r.Usage != (event.Usage{Input: 50, CacheRead: 10, CacheWrite: 40, Output: 25}) {
		t.Errorf("%+v", r.Usage)
	}
	_, r = eventtest.Read(t, &codex.Decoder{}, lines(start, usage, usage))
	if r.Usage != (event.Usage{Input: 200, CacheRead: 60, CacheWrite: 40, Output: 75}) || r.Turns != 2 {
		t.Errorf("told twice: %+v", r)
	}
}

func Test_Errors_Within_A_Turn_Are_Not_A_Failure(t *testing.T) {
	t.Parallel()
	_, r := eventtest.Read(t, &codex.Decoder{}, lines(start, `{"type":"error","message":"reconnecting 1/5"}`, `{"type":"item.completed","item":{"type":"error","message":"x"}}`, usage))
	if !r.OK() || r.Error != "" {
		t.Errorf("%+v", r)
	}
	_, r = eventtest.Read(t, &codex.Decoder{}, lines(start, `{"type":"error","message":"reconnecting 5/5"}`))
	if r.Outcome != event.NoResult || r.Error != "the stream ended without a result; reconnecting 5/5" {
		t.Errorf("%+v", r)
	}
}

func Test_Items_Are_Tools_Files_Denials_And_Notices(t *testing.T) {
	t.Parallel()
	events, r := eventtest.Read(t, &codex.Decoder{}, lines(start,
		`{"type":"item.completed","item":{"id":"1","type":"file_change","status":"completed","changes":[{"path":"a.go","kind":"add"},{"path":"b.go","kind":"update"}]}}`,
		`{"type":"item.completed","item":{"id":"2","type":"file_change","status":"failed","changes":[{"path":"c.go","kind":"add"}]}}`,
		`{"type":"item.completed","item":{"id":"3","type":"command_execution","command":"curl x","status":"declined","exit_code":null}}`,
		`{"type":"item.started","item":{"id":"4","type":"mcp_tool_call","server":"s","tool":"t","arguments":{"a":1},"status":"in_progress"}}`,
		`{"type":"item.completed","item":{"id":"4","type":"mcp_tool_call","server":"s","tool":"t","result":{"content":[{"type":"text","text":"hey"}]},"error":null,"status":"completed"}}`,
		`{"type":"item.updated","item":{"id":"5","type":"todo_list","items":[{"text":"one","completed":true},{"text":"two","completed":false}]}}`,
		`{"type":"item.completed","item":{"id":"6","type":"reasoning","text":"hm"}}`,
		`{"type":"item.completed","item":{"id":"7","type":"poem"}}`, "not json",
		`{"type":"item.completed","item":{"id":"8","type":"agent_message","text":"first"}}`,
		`{"type":"item.completed","item":{"id":"9","type":"agent_message","text":"last"}}`, usage))
	if got := strings.Join(r.Files, " "); got != "a.go b.go" || r.Tools != 4 || r.Content != "last" || r.Unknown != 1 || r.Garbage != 1 {
		t.Errorf("%+v", r)
	}
	if len(r.Denials) != 1 || r.Denials[0].ToolID != "3" || string(r.Denials[0].Input) != `{"command":"curl x"}` {
		t.Errorf("denials %+v", r.Denials)
	}
	text := eventtest.JSON(t, events)
	for _, want := range []string{`"name":"mcp__s__t","output":"hey"`, `[x] one\n[ ] two`, `{"type":"thinking","message":"6","text":"hm"}`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}

func FuzzDecoder(f *testing.F) {
	for _, seed := range []string{start, usage, `{"type":"turn.failed","error":{"message":"x"}}`, `{"type":"item.completed","item":{"id":"1","type":"file_change","changes":[{"path":"a"}]}}`} {
		f.Add([]byte(seed))
		f.Add([]byte(seed + "\n" + start + "\n" + seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, r := eventtest.Read(t, &codex.Decoder{}, bytes.NewReader(data))
		if r.OK() && !bytes.Contains(data, []byte(`:`)) {
			t.Errorf("success of %q", data)
		}
		codex.CanDecode(data)
	})
}
