package dialect_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker/dialect"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker/sse"
)

// converted is a request of one API as another one's.
func converted(t *testing.T, from, to connector.Protocol, in string) string {
	t.Helper()
	r, err := dialect.For(from).Read([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	return string(dialect.For(to).Write(r, dialect.Target{Model: "m"}))
}

func Test_Translated_Requests_Preserve_Supported_Fields(t *testing.T) {
	t.Parallel()
	const ask = `"messages":[{"role":"user","content":"x"}]`
	failed := `{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"n","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","is_error":true,"content":[{"type":"text","text":"exit 1"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA"}}]}]}]}`
	for name, row := range map[string]struct {
		from, to  connector.Protocol
		in        string
		has, lack []string
	}{
		"a failed result says so in Chat, and its image follows": {
			connector.Anthropic, connector.OpenAI, failed,
			[]string{`{"role":"tool","tool_call_id":"1","content":"Error: exit 1"},{"role":"user","content":[{"type":"text","text":"Of the result of 1:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"}}]}`},
			nil,
		},
		"in Responses the image is a part of the result": {
			connector.Anthropic, connector.Responses, failed,
			[]string{`"output":[{"type":"input_text","text":"Error: exit 1"},{"type":"input_image","image_url":"data:image/png;base64,AA","detail":"auto"}]`},
			nil,
		},
		"effort is kept between OpenAI's": {connector.Responses, connector.OpenAI, `{"reasoning":{"effort":"low"},"input":"x"}`, []string{`"reasoning_effort":"low"`}, nil},
		"effort is a budget for Anthropic": {
			connector.Responses, connector.Anthropic, `{"reasoning":{"effort":"low"},"temperature":0.5,"input":"x"}`,
			[]string{`"thinking":{"type":"enabled","budget_tokens":2048}`, `"max_tokens":8192`},
			[]string{"temperature"},
		},
		"a budget of thinking is dropped for Chat":  {connector.Anthropic, connector.OpenAI, `{"thinking":{"type":"enabled","budget_tokens":9},` + ask + `}`, nil, []string{"thinking", "reasoning"}},
		"a temperature is at most one at Anthropic": {connector.OpenAI, connector.Anthropic, `{"temperature":1.7,` + ask + `}`, []string{`"temperature":1,`}, nil},
		"stop sequences":            {connector.OpenAI, connector.Anthropic, `{"stop":["a","b"],` + ask + `}`, []string{`"stop_sequences":["a","b"]`}, nil},
		"any tool must be used":     {connector.Anthropic, connector.OpenAI, `{"tool_choice":{"type":"any","disable_parallel_tool_use":true},"tools":[{"name":"n"}],` + ask + `}`, []string{`"tool_choice":"required","parallel_tool_calls":false`, `"parameters":{"type":"object","properties":{}}`}, nil},
		"one call at a time":        {connector.OpenAI, connector.Anthropic, `{"parallel_tool_calls":false,"tools":[{"type":"function","function":{"name":"n"}}],` + ask + `}`, []string{`"tool_choice":{"type":"auto","disable_parallel_tool_use":true}`}, nil},
		"an answer in JSON":         {connector.Responses, connector.OpenAI, `{"text":{"format":{"type":"json_schema","name":"a","schema":{"type":"object"},"strict":true}},"input":"x"}`, []string{`"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{"type":"object"},"strict":true}}`}, nil},
		"hosted tools are left out": {connector.Responses, connector.OpenAI, `{"tools":[{"type":"web_search"}],"tool_choice":"auto","input":"x"}`, nil, []string{"web_search", "tool_choice"}},
		"free and grouped tools are functions": {
			connector.Responses, connector.OpenAI, `{"tools":[{"type":"custom","name":"patch"},{"type":"namespace","name":"mcp__a__","tools":[{"type":"function","name":"b"}]}],"input":[{"role":"user","content":"x"},{"type":"custom_tool_call","call_id":"1","name":"patch","input":"+a"},{"type":"function_call","call_id":"2","namespace":"mcp__a__","name":"b","arguments":"{}"}]}`,
			[]string{`"name":"patch"`, `"required":["input"]`, `"name":"mcp__a__b"`, `"arguments":"{\"input\":\"+a\"}"`, `"function":{"name":"mcp__a__b","arguments":"{}"}`},
			nil,
		},
		"thoughts of Chat go back with a call that is current": {
			connector.OpenAI, connector.OpenAI, `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"x","reasoning_content":"old"},{"role":"user","content":"b"},{"role":"assistant","reasoning_content":"new","tool_calls":[{"id":"1","function":{"name":"n","arguments":""}}]},{"role":"tool","tool_call_id":"1","content":"r"}]}`,
			[]string{`"reasoning_content":"new"`, `"arguments":"{}"`},
			[]string{"old"},
		},
		"arguments that are no object are one for Anthropic": {
			connector.OpenAI, connector.Anthropic, `{"messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"n","arguments":"{broken"}}]}]}`,
			[]string{`"input":{"input":"{broken"}`},
			nil,
		},
		"empty texts are refused by Anthropic": {connector.OpenAI, connector.Anthropic, `{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":""}]}`, nil, []string{`"text":""`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := converted(t, row.from, row.to, row.in)
			for _, s := range row.has {
				if !strings.Contains(got, s) {
					t.Errorf("%s\nlacks %s", got, s)
				}
			}
			for _, s := range row.lack {
				if strings.Contains(got, s) {
					t.Errorf("%s\nhas %s", got, s)
				}
			}
		})
	}
}

// Thoughts are sealed by their server. They must return to that server, even through another API, and to
// no other.
func Test_Thoughts_Return_Only_To_Their_Server(t *testing.T) {
	t.Parallel()
	thinking := map[connector.Protocol]dialect.Seal{
		connector.Anthropic: {Origin: connector.Anthropic, Value: "sig"},
		connector.Responses: {Origin: connector.Responses, ID: "rs_1", Value: "enc"},
		connector.OpenAI:    {Origin: connector.OpenAI},
	}
	marks := map[connector.Protocol]string{
		connector.Anthropic: `{"type":"thinking","thinking":"hmm","signature":"sig"}`,
		connector.Responses: `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hmm"}],"encrypted_content":"enc"}`,
		connector.OpenAI:    `"reasoning_content":"hmm"`,
	}
	for origin, seal := range thinking {
		for _, through := range []connector.Protocol{connector.Anthropic, connector.Responses} {
			answer := dialect.Answer{}
			for _, d := range []dialect.Delta{
				{Change: dialect.AddThinking, Text: "hmm"}, {Change: dialect.AddSeal, Seal: seal}, {Change: dialect.BeginCall, Block: 1, ID: "1", Name: "n"}, {Change: dialect.AddCall, Block: 1, Text: "{}"},
			} {
				answer.Add(d)
			}
			whole := dialect.For(through).Whole(dialect.Head{ID: "1"}, answer)
			var said struct{ Content, Output json.RawMessage }
			if err := json.Unmarshal(whole, &said); err != nil {
				t.Fatal(err)
			}
			in := `{"output_config":{"effort":"high"},"messages":[{"role":"user","content":"x"},{"role":"assistant","content":` + string(said.Content) + `},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1"}]}]}`
			if through == connector.Responses {
				in = `{"reasoning":{"effort":"high"},"input":[{"role":"user","content":"x"},` + string(said.Output[1:len(said.Output)-1]) + `,{"type":"function_call_output","call_id":"1","output":"r"}]}`
			}
			for to, mark := range marks {
				if to == through { // is never translated
					continue
				}
				if got := converted(t, through, to, in); strings.Contains(got, mark) != (to == origin) || to != origin && strings.Contains(got, "hmm") {
					t.Errorf("a thought of %s through %s to %s:\n%s", origin, through, to, got)
				}
			}
		}
	}
}

func Test_Free_And_Grouped_Tools_Are_Called_By_Their_Own_Names(t *testing.T) {
	t.Parallel()
	r, err := dialect.For(connector.Responses).Read([]byte(`{"input":"x","tools":[{"type":"custom","name":"patch"},{"type":"namespace","name":"mcp","tools":[{"type":"function","name":"b"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	e := dialect.For(connector.Responses).Encoder(dialect.Head{ID: "1", Tools: r.Tools})
	out := e.Begin()
	for _, d := range []dialect.Delta{
		{Change: dialect.BeginCall, Block: 0, ID: "1", Name: "patch"},
		{Change: dialect.BeginCall, Block: 1, ID: "2", Name: "mcp__b"},
		{Change: dialect.AddCall, Block: 1, Text: `{"x":`},
		{Change: dialect.AddCall, Block: 0, Text: `{"input":"+a`}, // at once
		{Change: dialect.AddCall, Block: 1, Text: `1}`},
		{Change: dialect.AddCall, Block: 0, Text: `\n"}`},
	} {
		out = append(out, e.Encode(d)...)
	}
	got := string(append(out, e.End()...))
	for _, s := range []string{
		`"type":"custom_tool_call","status":"completed","call_id":"1","name":"patch","input":"+a\n"`,
		`"type":"function_call","status":"completed","call_id":"2","name":"b","namespace":"mcp","arguments":"{\"x\":1}"`,
	} {
		if strings.Count(got, s) != 2 { // as an item, and in the response
			t.Errorf("%s\nlacks %s", got, s)
		}
	}
}

func Test_Blocks_Of_Messages_Are_In_Order_When_Calls_Come_At_Once(t *testing.T) {
	t.Parallel()
	d, e := dialect.For(connector.OpenAI).Decoder(), dialect.For(connector.Anthropic).Encoder(dialect.Head{ID: "1", Model: "m"})
	out := e.Begin()
	for _, data := range []string{
		`{"choices":[{"delta":{"content":"a"}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"n","arguments":"{"}},{"index":1,"id":"y","function":{"name":"n","arguments":"{"}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"arguments":"}"}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"z","function":{"name":"n","arguments":"{}"}}]},"finish_reason":"stop"}]}`, // numbered 0 again
	} {
		deltas, err := d.Decode(sse.Event{Data: []byte(data)})
		if err != nil {
			t.Fatal(err)
		}
		for _, delta := range deltas {
			out = append(out, e.Encode(delta)...)
		}
	}
	out = append(out, e.End()...)
	var got []string
	for r := sse.NewReader(bytes.NewReader(out), 1<<20); ; {
		event, err := r.Next()
		if err != nil {
			break
		}
		var v struct {
			Index *int
			Delta struct {
				JSON string `json:"partial_json"`
				Stop string `json:"stop_reason"`
			}
		}
		if err := json.Unmarshal(event.Data, &v); err != nil {
			t.Fatal(err)
		}
		s := strings.TrimPrefix(event.Name, "content_block_") + v.Delta.JSON + v.Delta.Stop
		if v.Index != nil {
			s += string(rune('0' + *v.Index))
		}
		got = append(got, s)
	}
	const want = "message_start start0 delta0 stop0 start1 delta{1 start2 delta{2 delta}1 delta}2 start3 delta{}3 stop1 stop2 stop3 message_deltatool_use message_stop"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got\n%s\nwant\n%s", s, want)
	}
}

func Test_OpenAI_Stores_No_Chat(t *testing.T) {
	t.Parallel()
	r := dialect.Request{Messages: []dialect.Message{{Role: dialect.User, Parts: []dialect.Part{{Kind: dialect.Text, Text: "hi"}}}}}
	for own, want := range map[bool]int{true: 1, false: 0} {
		if body := dialect.For(connector.OpenAI).Write(r, dialect.Target{Model: "m", Completion: own}); strings.Count(string(body), `"store":false`) != want {
			t.Errorf("OpenAI's own server %v: %s", own, body)
		}
	}
}
