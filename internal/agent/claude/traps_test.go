package claude_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/claude"
	"github.com/seed434b0696/agent-sandbox/internal/agent/eventtest"
)

const (
	start = `{"type":"system","subtype":"init","session_id":"s","uuid":"u","model":"m"}`
	ended = `{"type":"result","subtype":"success","is_error":false,"result":"done","num_turns":1,"usage":{"input_tokens":1,"output_tokens":2}}`
)

func said(id, text string) string {
	return `{"type":"assistant","message":{"id":"` + id + `","content":[{"type":"text","text":"` + text + `"}],"stop_reason":null,` +
		`"usage":{"input_tokens":10,"output_tokens":1,"cache_read_input_tokens":3,"cache_creation_input_tokens":4}},"parent_tool_use_id":null}`
}

// Y2: a success has the subtype success and not is_error; a failed result has its
// errors.
func Test_Results_Have_Their_Outcome(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, line string
		want       event.Outcome
		fault      string
	}{
		{"a result says success", ended, event.Success, ""},
		{"success with is_error is none", `{"type":"result","subtype":"success","is_error":true,"api_error_status":529,"result":"Overloaded"}`, event.APIError, "Overloaded"},
		{"is_error without a status is a failure", `{"type":"result","subtype":"success","is_error":true,"result":"x"}`, event.Failed, "x"},
		{"max turns has errors and no result", `{"type":"result","subtype":"error_max_turns","is_error":true,"errors":["a","b"]}`, event.MaxTurns, "a; b"},
		{"max turns is none of success without is_error", `{"type":"result","subtype":"error_max_turns","is_error":false}`, event.MaxTurns, ""},
		{"an interrupt", `{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_streaming"}`, event.Interrupted, "interrupted"},
		{"an interrupt that it tells in words for its makers", `{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools","errors":["[ede_diagnostic] result_type=user last_content_type=n/a stop_reason=tool_use"]}`, event.Interrupted, "interrupted"},
		{"a failure that it tells in words for its makers", `{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["[ede_diagnostic] result_type=user"]}`, event.Failed, "Claude Code stopped in the middle of its work and did not say why"},
		{"a failure that it tells in both", `{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["[ede_diagnostic] x","disk full"]}`, event.Failed, "disk full"},
		{"an error while it ran", `{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No conversation found"]}`, event.Failed, "No conversation found"},
		{"an unknown subtype", `{"type":"result","subtype":"perfect"}`, event.Failed, ""},
		{"is_error of a wrong type", `{"type":"result","subtype":"success","is_error":"true","result":"x"}`, event.Failed, "x"},
		{"a turn that began and did not end", ended + "\n" + start, event.NoResult, "the stream ended without a result"},
		{"an exit status of 0 is no result", `{"exit":0,"stderr":""}`, event.NoResult, "the stream ended without a result"},
		{"nothing at all", "", event.NoResult, "the stream ended without a result"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, r := eventtest.Read(t, &claude.Decoder{}, lines(start, row.line))
			if r.Outcome != row.want || r.Error != row.fault {
				t.Errorf("outcome %q, error %q; want %q, %q", r.Outcome, r.Error, row.want, row.fault)
			}
		})
	}
}

func Test_Diagnostics_For_Developers_Become_Notices(t *testing.T) {
	t.Parallel()
	const raw = "[ede_diagnostic] result_type=user last_content_type=n/a stop_reason=tool_use"
	events, r := eventtest.Read(t, &claude.Decoder{}, lines(start,
		`{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools","errors":["`+raw+`"]}`))
	told := false
	for _, e := range events {
		told = told || e.Kind == event.NoticeGiven && e.Notice.Kind == event.NoticeStatus && e.Notice.Name == "diagnostic" && e.Notice.Text == raw
	}
	if !told || r.Error != "interrupted" {
		t.Errorf("%+v", r)
	}
}

// Y2: an error may have the subtype success.
func Test_Trap_Y2_An_Error_Is_Not_Success_Though_Its_Subtype_Says_So(t *testing.T) {
	t.Parallel()
	_, r := eventtest.Read(t, &claude.Decoder{}, lines(start, `{"type":"result","subtype":"success","is_error":true,"api_error_status":400,"result":"API Error: 400"}`))
	if r.OK() || r.Content != "" || r.Error != "API Error: 400" {
		t.Errorf("%+v", r)
	}
}

// Y3: no buffer size limits the length of a line.
func Test_Trap_Y3_A_Line_May_Be_Longer_Than_Any_Buffer(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3<<20)
	_, r := eventtest.Read(t, &claude.Decoder{}, lines(start, said("m1", long), `{"type":"result","subtype":"success"}`))
	if !r.OK() || r.Content != long || r.Garbage != 0 {
		t.Errorf("outcome %s, %d bytes of content, %d lines of garbage", r.Outcome, len(r.Content), r.Garbage)
	}
}

// Y6: tokens of the cache count.
func Test_Trap_Y6_Cache_Tokens_Are_Part_Of_The_Prompt(t *testing.T) {
	t.Parallel()
	_, r := eventtest.Read(t, &claude.Decoder{}, lines(start, `{"type":"result","subtype":"success","usage":{"input_tokens":1,"cache_read_input_tokens":20,"cache_creation_input_tokens":300,"output_tokens":4000}}`))
	if r.Usage != (event.Usage{Input: 1, CacheRead: 20, CacheWrite: 300, Output: 4000}) || r.Usage.Prompt() != 321 {
		t.Errorf("%+v", r.Usage)
	}
}

// Y21: text counts with or without a stop_reason.
func Test_Trap_Y21_Text_Counts_Without_A_Stop_Reason(t *testing.T) {
	t.Parallel()
	events, r := eventtest.Read(t, &claude.Decoder{}, lines(start, said("m1", "hello")))
	if count(events, event.Text) != 1 || r.Content != "hello" || r.Outcome != event.NoResult {
		t.Errorf("%d texts, %+v", count(events, event.Text), r)
	}
}

// Y23: a line that is not an event becomes a notice, and does not end the run.
func Test_Trap_Y23_Stderr_Lines_In_The_Stream_Are_Reported_And_Skipped(t *testing.T) {
	t.Parallel()
	events, r := eventtest.Read(t, &claude.Decoder{}, lines("warning: \x1b[31mold", start, "null", "[]", `{"type":`, "\xff\xfe", said("m1", "hi"), ended))
	if !r.OK() || r.Content != "done" || r.Garbage != 5 {
		t.Errorf("%+v", r)
	}
	if n := events[0].Notice; n == nil || n.Kind != event.NoticeGarbage || n.Text != "warning: \x1b[31mold" {
		t.Errorf("the first event is %+v", events[0])
	}
}

func Test_A_Line_Over_The_Bound_Is_A_Notice_And_The_Next_One_Counts(t *testing.T) {
	t.Parallel()
	var fold event.Fold
	var size int64
	long := said("m1", strings.Repeat("x", 100_000))
	for e, err := range event.Stream(t.Context(), lines(start, long, ended), &claude.Decoder{}, 10_000) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Notice != nil && e.Notice.Kind == event.NoticeTooLong {
			size = e.Notice.Size
		}
		fold.Add(e)
	}
	if r := fold.Response(); size != int64(len(long)) || !r.OK() || r.Garbage != 1 || r.Content != "done" {
		t.Errorf("size %d, %+v", size, r)
	}
}

func Test_Unknown_Types_Are_Counted(t *testing.T) {
	t.Parallel()
	_, r := eventtest.Read(t, &claude.Decoder{}, lines(start, `{"type":"dance"}`, `{"type":"system","subtype":"sing"}`, `{}`, ended))
	if !r.OK() || r.Unknown != 3 {
		t.Errorf("%+v", r)
	}
}

func Test_Usage_Of_A_Message_In_Several_Lines_Counts_Once(t *testing.T) {
	t.Parallel()
	_, r := eventtest.Read(t, &claude.Decoder{}, lines(start, said("m1", "a"), said("m1", "b"), said("m2", "c"), said("m1", "d")))
	if r.Usage != (event.Usage{Input: 20, Output: 2, CacheRead: 6, CacheWrite: 8}) || !r.Estimated {
		t.Errorf("%+v", r)
	}
	if r.Content != "d" {
		t.Errorf("content is %q", r.Content)
	}
}

func Test_Subagents_Are_Not_The_Answer(t *testing.T) {
	t.Parallel()
	sub := strings.Replace(said("m2", "found it"), `"parent_tool_use_id":null`, `"parent_tool_use_id":"toolu_1"`, 1)
	events, r := eventtest.Read(t, &claude.Decoder{}, lines(start, said("m1", "mine"), sub))
	if r.Content != "mine" || events[len(events)-1].Parent != "toolu_1" {
		t.Errorf("content %q, last event %+v", r.Content, events[len(events)-1])
	}
	_, r = eventtest.Read(t, &claude.Decoder{}, lines(start, said("m1", "mine"), ended, sub))
	if !r.OK() {
		t.Errorf("a subagent after the result makes the outcome %s", r.Outcome)
	}
}

func Test_Turns_Of_One_Process_Add_Up_And_Their_Cost_Already_Does(t *testing.T) {
	t.Parallel()
	turn := func(cost, out string) string {
		return `{"type":"result","subtype":"success","result":"` + out + `","num_turns":2,"duration_ms":5,"total_cost_usd":` + cost + `,"usage":{"input_tokens":10,"output_tokens":1},` +
			`"modelUsage":{"a":{"inputTokens":` + out + `,"outputTokens":2,"costUSD":` + cost + `}}}`
	}
	_, r := eventtest.Read(t, &claude.Decoder{}, lines(start, turn("0.5", "10"), start, said("m", "x"), turn("0.75", "20")))
	if *r.CostUSD != 0.75 || r.Turns != 4 || r.DurationMS != 10 || r.Usage.Input != 20 || r.Content != "20" {
		t.Errorf("%+v cost %v", r, *r.CostUSD)
	}
}

func Test_Files_Are_Those_Of_Successful_Writing_Tools(t *testing.T) {
	t.Parallel()
	use := func(id, name, field, path string) string {
		return `{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"` + id + `","name":"` + name + `","input":{"` + field + `":"` + path + `"}}]}}`
	}
	end := func(id, failed string) string {
		return `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"ok","is_error":` + failed + `}]}}`
	}
	_, r := eventtest.Read(t, &claude.Decoder{}, lines(start,
		use("1", "Write", "file_path", "a"), end("1", "false"), use("2", "Edit", "file_path", "b"), end("2", "true"),
		use("3", "NotebookEdit", "notebook_path", "c"), end("3", "false"), use("4", "Read", "file_path", "d"), end("4", "false"),
		use("5", "Edit", "file_path", "a"), end("5", "false"), use("6", "Write", "file_path", "never ended"), ended))
	if got := strings.Join(r.Files, " "); got != "a c" || r.Tools != 6 {
		t.Errorf("files %q, %d tools", got, r.Tools)
	}
}

func Test_A_Denial_By_The_Host_Counts_Once(t *testing.T) {
	t.Parallel()
	_, r := eventtest.Read(t, &claude.Decoder{}, lines(
		`{"dir":"<","msg":{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"t","input":{}}}}`,
		`{"dir":">","msg":{"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"behavior":"deny","message":"no"}}}}`,
		`{"dir":"<","msg":{"type":"result","subtype":"success","permission_denials":[{"tool_name":"Bash","tool_use_id":"t","tool_input":{}}]}}`))
	if len(r.Denials) != 1 || r.Denials[0].Reason != "no" || r.Denials[0].Tool != "Bash" {
		t.Errorf("%+v", r.Denials)
	}
}

func Test_Messages_Of_The_Host_Are_Not_Attributed_To_The_Agent(t *testing.T) {
	t.Parallel()
	_, r := eventtest.Read(t, &claude.Decoder{}, lines(`{"dir":">","msg":`+ended+`}`, `{"dir":"<","msg":{"dir":"<","msg":`+ended+`}}`))
	if r.OK() {
		t.Errorf("%+v", r)
	}
}

func Test_Hostile_Numbers_Stay_In_Their_Range(t *testing.T) {
	t.Parallel()
	_, r := eventtest.Read(t, &claude.Decoder{}, lines(start, `{"type":"result","subtype":"success","num_turns":1e300,"duration_ms":-5,"usage":{"input_tokens":-1,"output_tokens":1e30}}`,
		`{"type":"result","subtype":"success","num_turns":1e300}`))
	if r.Turns < 1<<53 || r.DurationMS != 0 || r.Usage.Input != 0 || r.Usage.Output != 1<<53 {
		t.Errorf("%+v", r)
	}
}

func Test_A_Stream_Ends_With_Its_Context_And_With_Its_Reader(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for _, err := range event.Stream(ctx, lines(start, said("m", "a"), ended), &claude.Decoder{}, 0) {
		cancel()
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("canceled: %v", last)
	}
	broken := io.MultiReader(lines(start+"\n"), failing{})
	for _, err := range event.Stream(t.Context(), broken, &claude.Decoder{}, 0) {
		last = err
	}
	if !errors.Is(last, io.ErrUnexpectedEOF) {
		t.Errorf("broken: %v", last)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func FuzzDecoder(f *testing.F) {
	for _, seed := range []string{start, ended, said("m", "x"), `{"dir":"<","msg":` + ended + `}`, `{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"x"}}}`} {
		f.Add([]byte(seed))
		f.Add([]byte(seed + "\n" + start + "\n" + seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, r := eventtest.Read(t, &claude.Decoder{}, strings.NewReader(string(data)))
		if r.OK() && !strings.Contains(strings.ToLower(string(data)), "type") {
			t.Errorf("success of %q", data)
		}
		claude.CanDecode(data)
	})
}
