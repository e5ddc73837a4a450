package model_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/model"
)

var update = flag.Bool("update", false, "write the recordings")

func Test_Each_Protocol_Says_Hello_In_The_Same_Events(t *testing.T) {
	t.Parallel()
	for p, answer := range protocols {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			s := serve(t, answer)
			events, r := run(t.Context(), t, client(t, model.Options{}), hello(s.connector(p)))
			var kinds []string
			for _, e := range events {
				kinds = append(kinds, string(e.Kind))
			}
			if got := strings.Join(kinds, " "); got != "session text_delta text_delta text usage result" {
				t.Errorf("events %s", got)
			}
			if !events[3].Streamed || events[3].Text != "Hello" || events[3].Message == "" {
				t.Errorf("text %+v", events[3])
			}
			if !r.OK() || r.Content != "Hello" || r.Executor != "direct" || r.Turns != 1 || r.Estimated {
				t.Errorf("response %+v", r)
			}
			if want := (event.Usage{Input: 6, CacheRead: 4, Output: 3}); r.Usage != want {
				t.Errorf("usage %+v", r.Usage)
			}
			if r.CostUSD == nil || *r.CostUSD != (6+4+2*3)/1e6 {
				t.Errorf("cost %v", r.CostUSD)
			}
			if len(r.Models) != 1 || r.Models[0].Model != "m1" {
				t.Errorf("models %+v", r.Models)
			}
		})
	}
}

func Test_Requests_Follow_The_Protocols(t *testing.T) {
	t.Parallel()
	warm := 0.5
	for p, want := range map[connector.Protocol]struct {
		path, key, body string
		more            []string
	}{
		connector.OpenAI: {"/v1/chat/completions", "Authorization", `{"max_tokens":99,"messages":[{"content":"be brief","role":"system"},{"content":"hi","role":"user"}],` +
			`"model":"m1","stream":true,"stream_options":{"include_usage":true},"temperature":0.5,` +
			`"tools":[{"function":{"description":"about s__add","name":"s__add","parameters":{"properties":{},"required":["a"],"type":"object"}},"type":"function"}]}`, nil},
		connector.Responses: {"/v1/responses", "Authorization", `{"input":[{"content":"hi","role":"user"}],"instructions":"be brief","max_output_tokens":99,` +
			`"model":"m1","store":false,"stream":true,"temperature":0.5,` +
			`"tools":[{"description":"about s__add","name":"s__add","parameters":{"properties":{},"required":["a"],"type":"object"},"strict":false,"type":"function"}]}`, nil},
		connector.Anthropic: {"/v1/messages", "X-Api-Key", `{"max_tokens":99,"messages":[{"content":[{"cache_control":{"type":"ephemeral"},"text":"hi","type":"text"}],"role":"user"}],` +
			`"model":"m1","stream":true,"system":[{"cache_control":{"type":"ephemeral"},"text":"be brief","type":"text"}],"temperature":0.5,` +
			`"tools":[{"cache_control":{"type":"ephemeral"},"description":"about s__add","input_schema":{"properties":{},"required":["a"],"type":"object"},"name":"s__add"}]}`, []string{"Anthropic-Version"}},
	} {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			s := serve(t, protocols[p])
			req := hello(s.connector(p))
			req.Temperature, req.MaxTokens = &warm, 99
			req.Tools = functions{"s__add": arithmetic["s__add"]}
			req.Connector.Headers = map[string]string{"X-Team": "blue"}
			run(t.Context(), t, client(t, model.Options{}), req)
			if got := s.body(t, 0); got != want.body {
				t.Errorf("request\n%s, want\n%s", got, want.body)
			}
			if key := strings.TrimPrefix(s.headers[0].Get(want.key), "Bearer "); s.paths[0] != want.path || key != secret || s.headers[0].Get("X-Team") != "blue" {
				t.Errorf("path %s, headers %v", s.paths[0], s.headers[0])
			}
			names := slices.Sorted(maps.Keys(s.headers[0]))
			if want := slices.Sorted(slices.Values(append(want.more, want.key, "Accept", "Accept-Encoding", "Content-Length", "Content-Type", "User-Agent", "X-Team"))); !slices.Equal(names, want) {
				t.Errorf("headers %v, want %v", names, want)
			}
		})
	}
}

// uses has answers with two parallel tool calls: one of an unknown tool, one with invalid arguments.
var uses = map[connector.Protocol][]string{
	connector.OpenAI: {
		`{"id":"c1","choices":[{"index":0,"delta":{"reasoning_content":"They want "}}]}`,
		`{"id":"c1","choices":[{"index":0,"delta":{"reasoning_content":"sums."}}]}`,
		`{"id":"c1","choices":[{"index":0,"delta":{"content":"Let me add."}}]}`,
		`{"id":"c1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t1","function":{"name":"s__add","arguments":""}}]}}]}`,
		`{"id":"c1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":1,"}}]}}]}`,
		`{"id":"c1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"b\":2}"}}]}}]}`,
		`{"id":"c1","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"t2","function":{"name":"nope","arguments":"{}"}}]}}]}`,
		`{"id":"c1","choices":[{"index":0,"delta":{"tool_calls":[{"index":2,"id":"t3","function":{"name":"s__add","arguments":"{\"a\":"}}]}}]}`,
		`{"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":10,"completion_tokens":20,"completion_tokens_details":{"reasoning_tokens":5}}}`,
		`[DONE]`,
	},
	connector.Responses: {
		`{"type":"response.created","response":{"id":"r1"}}`,
		`{"type":"response.reasoning_summary_text.delta","item_id":"x","delta":"They want sums."}`,
		`{"type":"response.reasoning_summary_text.done","item_id":"x","text":"They want sums."}`,
		`{"type":"response.output_item.done","item":{"type":"reasoning","id":"x","summary":[],"encrypted_content":"opaque"}}`,
		`{"type":"response.output_text.delta","item_id":"m","delta":"Let me add."}`,
		`{"type":"response.output_item.added","item":{"type":"function_call","id":"f1","call_id":"t1","name":"s__add","arguments":""}}`,
		`{"type":"response.function_call_arguments.delta","item_id":"f1","delta":"{\"a\":1,\"b\":2}"}`,
		`{"type":"response.output_item.done","item":{"type":"function_call","id":"f1","call_id":"t1","name":"s__add","arguments":"{\"a\":1,\"b\":2}"}}`,
		`{"type":"response.output_item.done","item":{"type":"function_call","id":"f2","call_id":"t2","name":"nope","arguments":"{}"}}`,
		`{"type":"response.output_item.done","item":{"type":"function_call","id":"f3","call_id":"t3","name":"s__add","arguments":"{\"a\":"}}`,
		`{"type":"response.completed","response":{"id":"r1","usage":{"input_tokens":10,"output_tokens":20,"output_tokens_details":{"reasoning_tokens":5}}}}`,
	},
	connector.Anthropic: {
		`{"type":"message_start","message":{"id":"a1","usage":{"input_tokens":10,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"They want sums."}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"signed"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"opaque"}}`, `{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"text","text":"Let me add."}}`, `{"type":"content_block_stop","index":2}`,
		`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"t1","name":"s__add","input":{}}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1,"}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"\"b\":2}"}}`, `{"type":"content_block_stop","index":3}`,
		`{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"t2","name":"nope","input":{}}}`, `{"type":"content_block_stop","index":4}`,
		`{"type":"content_block_start","index":5,"content_block":{"type":"tool_use","id":"t3","name":"s__add","input":{}}}`,
		`{"type":"content_block_delta","index":5,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}`, `{"type":"content_block_stop","index":5}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":20,"output_tokens_details":{"thinking_tokens":5}}}`, `{"type":"message_stop"}`,
	},
}

func Test_Tools_Run_And_Their_Results_Go_Back(t *testing.T) {
	t.Parallel()
	for p, want := range map[connector.Protocol]string{
		connector.OpenAI: `{"content":"Let me add.","reasoning_content":"They want sums.","role":"assistant","tool_calls":[` +
			`{"function":{"arguments":"{\"a\":1,\"b\":2}","name":"s__add"},"id":"t1","type":"function"},` +
			`{"function":{"arguments":"{}","name":"nope"},"id":"t2","type":"function"},{"function":{"arguments":"{}","name":"s__add"},"id":"t3","type":"function"}]},` +
			`{"content":"3","role":"tool","tool_call_id":"t1"},` +
			`{"content":"error: unknown tool \"nope\"; the tools are: s__add","role":"tool","tool_call_id":"t2"},` +
			`{"content":"error: the arguments are not one JSON object: {\"a\":","role":"tool","tool_call_id":"t3"}]`,
		connector.Responses: `{"encrypted_content":"opaque","id":"x","summary":[],"type":"reasoning"},{"content":"Let me add.","role":"assistant"},` +
			`{"arguments":"{\"a\":1,\"b\":2}","call_id":"t1","name":"s__add","type":"function_call"},` +
			`{"arguments":"{}","call_id":"t2","name":"nope","type":"function_call"},{"arguments":"{}","call_id":"t3","name":"s__add","type":"function_call"},` +
			`{"call_id":"t1","output":"3","type":"function_call_output"},` +
			`{"call_id":"t2","output":"error: unknown tool \"nope\"; the tools are: s__add","type":"function_call_output"},` +
			`{"call_id":"t3","output":"error: the arguments are not one JSON object: {\"a\":","type":"function_call_output"}]`,
		connector.Anthropic: `{"content":[{"signature":"signed","thinking":"They want sums.","type":"thinking"},{"data":"opaque","type":"redacted_thinking"},` +
			`{"text":"Let me add.","type":"text"},{"id":"t1","input":{"a":1,"b":2},"name":"s__add","type":"tool_use"},` +
			`{"id":"t2","input":{},"name":"nope","type":"tool_use"},{"id":"t3","input":{},"name":"s__add","type":"tool_use"}],"role":"assistant"},` +
			`{"content":[{"content":[{"text":"3","type":"text"}],"is_error":false,"tool_use_id":"t1","type":"tool_result"},` +
			`{"content":[{"text":"unknown tool \"nope\"; the tools are: s__add","type":"text"}],"is_error":true,"tool_use_id":"t2","type":"tool_result"},` +
			`{"cache_control":{"type":"ephemeral"},"content":[{"text":"the arguments are not one JSON object: {\"a\":","type":"text"}],"is_error":true,"tool_use_id":"t3","type":"tool_result"}],"role":"user"}]`,
	} {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			s := serve(t, stream(uses[p]...), protocols[p])
			req := hello(s.connector(p))
			req.Tools = functions{"s__add": arithmetic["s__add"]}
			events, r := run(t.Context(), t, client(t, model.Options{Parallel: 1}), req)
			if got := s.body(t, 1); !strings.Contains(got, want) {
				t.Errorf("the second request is\n%s, and lacks\n%s", got, want)
			}
			if !r.OK() || r.Content != "Hello" || r.Turns != 2 || r.Tools != 3 {
				t.Errorf("response %+v", r)
			}
			if want := (event.Usage{Input: 16, CacheRead: 4, Output: 23, Reasoning: 5}); r.Usage != want {
				t.Errorf("usage %+v", r.Usage)
			}
			recorded(t, string(p), events)
		})
	}
}

// recorded compares events with the recording in testdata, which agent replay prints.
func recorded(t *testing.T, name string, events []event.Event) {
	t.Helper()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	for _, e := range order(events) {
		if e.Result != nil {
			r := *e.Result
			r.DurationMS, e.Result = 0, &r
		}
		if err := enc.Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	file := "testdata/" + name + ".jsonl"
	if *update {
		if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(want, out.Bytes()) {
		t.Errorf("%v: the events are\n%s, recorded are\n%s", err, out.Bytes(), want)
	}
}

// order sorts the ends of tools, which arrive in any order, by their starts.
func order(events []event.Event) []event.Event {
	ends := map[string]event.Event{}
	var ids []string
	for _, e := range events {
		switch e.Kind {
		case event.ToolStarted:
			ids = append(ids, e.Tool.ID)
		case event.ToolFinished:
			ends[e.Tool.ID] = e
		default:
		}
	}
	var out []event.Event
	for _, e := range events {
		if e.Kind == event.ToolFinished {
			e, ids = ends[ids[0]], ids[1:]
		}
		out = append(out, e)
	}
	return out
}

func Test_Messages_Of_All_Kinds_Are_Sent(t *testing.T) {
	t.Parallel()
	png := []byte("\x89PNG\r\n\x1a\n")
	messages := []message.Message{
		message.New(message.System, "from a hook"), message.New(message.User, "first"), message.New(message.Assistant, "ok"), message.New(message.Assistant, " "),
		{Role: message.User, Parts: []message.Part{
			{Type: message.Text, Text: "look"},
			{Type: message.Image, Data: png},
			{Type: message.File, Name: "a.md", MediaType: "text/markdown", Data: []byte("# A")},
			{Type: message.File, Name: "b.pdf", Data: []byte("%PDF-1.7")},
		}},
	}
	for p, want := range map[connector.Protocol]string{
		connector.OpenAI: `[{"content":"be brief\n\nfrom a hook","role":"system"},{"content":"first","role":"user"},{"content":"ok","role":"assistant"},` +
			`{"content":[{"text":"look","type":"text"},{"image_url":{"url":"data:image/png;base64,iVBORw0KGgo="},"type":"image_url"},` +
			`{"text":"\u003cfile name=\"a.md\"\u003e\n# A\n\u003c/file\u003e","type":"text"},` +
			`{"file":{"file_data":"data:application/pdf;base64,JVBERi0xLjc=","filename":"b.pdf"},"type":"file"}],"role":"user"}]`,
		connector.Responses: `[{"content":"first","role":"user"},{"content":"ok","role":"assistant"},` +
			`{"content":[{"text":"look","type":"input_text"},{"detail":"auto","image_url":"data:image/png;base64,iVBORw0KGgo=","type":"input_image"},` +
			`{"text":"\u003cfile name=\"a.md\"\u003e\n# A\n\u003c/file\u003e","type":"input_text"},` +
			`{"file_data":"data:application/pdf;base64,JVBERi0xLjc=","filename":"b.pdf","type":"input_file"}],"role":"user"}]`,
		connector.Anthropic: `[{"content":[{"text":"first","type":"text"}],"role":"user"},{"content":[{"text":"ok","type":"text"}],"role":"assistant"},` +
			`{"content":[{"text":"look","type":"text"},{"source":{"data":"iVBORw0KGgo=","media_type":"image/png","type":"base64"},"type":"image"},` +
			`{"text":"\u003cfile name=\"a.md\"\u003e\n# A\n\u003c/file\u003e","type":"text"},` +
			`{"cache_control":{"type":"ephemeral"},"source":{"data":"JVBERi0xLjc=","media_type":"application/pdf","type":"base64"},"title":"b.pdf","type":"document"}],"role":"user"}]`,
	} {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			s := serve(t, protocols[p])
			req := hello(s.connector(p))
			req.Messages = messages
			if _, r := run(t.Context(), t, client(t, model.Options{}), req); !r.OK() {
				t.Error(r.Error)
			}
			if got := s.body(t, 0); !strings.Contains(got, want) {
				t.Errorf("request\n%s, want in it\n%s", got, want)
			}
		})
	}
}

func Test_A_History_Of_Five_Megabytes_Passes(t *testing.T) {
	t.Parallel()
	for p, answer := range protocols {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			s := serve(t, answer)
			req := hello(s.connector(p))
			for range 50 {
				req.Messages = append(req.Messages, message.New(message.Assistant, "yes"), message.New(message.User, strings.Repeat("word <& ", 100<<10/8)))
			}
			if _, r := run(t.Context(), t, client(t, model.Options{}), req); !r.OK() || len(s.body(t, 0)) < 5<<20 {
				t.Errorf("%s, %d bytes", r.Error, len(s.body(t, 0)))
			}
		})
	}
}

func Test_Connections_Are_Reused_Without_A_Proxy(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("OPENAI_API_KEY", "another")
	t.Setenv("ANTHROPIC_API_KEY", "another")
	for p, answer := range protocols {
		peers := map[string]bool{}
		s := serve(t, answer)
		inner := s.answers[0]
		c := client(t, model.Options{})
		for range 5 {
			s.answers[0] = func(w http.ResponseWriter, r *http.Request) { peers[r.RemoteAddr] = true; inner(w, r) }
			if _, r := run(context.Background(), t, c, hello(s.connector(p))); !r.OK() {
				t.Error(p, r.Error)
			}
		}
		if len(peers) != 1 {
			t.Errorf("%s: %d connections", p, len(peers))
		}
		for _, h := range s.headers {
			if strings.Contains(jsonOf(t, h), "another") {
				t.Errorf("%s: a key of the environment was sent: %v", p, h)
			}
		}
	}
}
