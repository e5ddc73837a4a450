package broker_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/event"
)

// question is the first request of an agent, in the words of each API.
func question(api connector.Protocol, streamed bool) string {
	const schema = `{"type":"object","properties":{"command":{"type":"string"}}}`
	body := map[connector.Protocol]string{
		connector.Anthropic: `{"model":"asked-model","max_tokens":500,"temperature":0.5,"stop_sequences":["END"],"system":[{"type":"text","text":"be brief","cache_control":{"type":"ephemeral"}}],` +
			`"thinking":{"type":"enabled","budget_tokens":1024},"metadata":{"user_id":"x"},"messages":[{"role":"user","content":"hi"}],` +
			`"tools":[{"name":"Bash","description":"runs","input_schema":` + schema + `},{"type":"web_search_20250305","name":"web_search"}],"tool_choice":{"type":"auto","disable_parallel_tool_use":false}`,
		connector.Responses: `{"model":"asked-model","max_output_tokens":500,"temperature":0.5,"instructions":"be brief","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}],` +
			`"tools":[{"type":"function","name":"Bash","description":"runs","parameters":` + schema + `,"strict":false},{"type":"web_search"}],"tool_choice":"auto","parallel_tool_calls":true`,
		connector.OpenAI: `{"model":"asked-model","max_tokens":500,"temperature":0.5,"stop":"END","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hi"}],` +
			`"tools":[{"type":"function","function":{"name":"Bash","description":"runs","parameters":` + schema + `}}],"tool_choice":"auto","parallel_tool_calls":true,"stream_options":{"include_usage":true}`,
	}[api]
	return fmt.Sprintf("%s,\"stream\":%v}", body, streamed)
}

// Each API in front of each protocol.
func forPairs(t *testing.T, test func(t *testing.T, api, to connector.Protocol)) {
	t.Helper()
	for _, api := range protocols() {
		for _, to := range protocols() {
			t.Run(fmt.Sprintf("%s in front of %s", api, to), func(t *testing.T) {
				t.Parallel()
				test(t, api, to)
			})
		}
	}
}

func Test_Answers_Of_Every_Kind_Arrive(t *testing.T) {
	t.Parallel()
	one := toolCall{"call_1", "Bash", `{"command":"echo \"ä\""}`}
	two := toolCall{"call_2", "Bash", `{"command":"ls"}`}
	rows := map[string]answer{
		"a text":                        {text: "Hello, Wörld \n", stop: "stop"},
		"a thought and a text":          {thought: "hmm", text: "Yes.", stop: "stop"},
		"a call":                        {calls: []toolCall{one}, stop: "tool_calls"},
		"a text and two calls at once":  {thought: "so", text: "I will.", calls: []toolCall{one, two}, stop: "tool_calls"},
		"a text that is cut at a limit": {text: "Once upon", stop: "length"},
	}
	forPairs(t, func(t *testing.T, api, to connector.Protocol) {
		t.Helper()
		for name, said := range rows {
			for _, streamed := range []bool{true, false} {
				if !streamed && api == to {
					continue // is passed on as it is
				}
				t.Run(fmt.Sprintf("%s, streamed %v", name, streamed), func(t *testing.T) {
					b := newBed(t, to, stream(events(to, said)...))
					resp := b.post(t.Context(), t, path(api), question(api, streamed))
					defer resp.Body.Close()
					h := hear(t, api, resp)
					for i := range h.calls { // a request is JSON, and nobody promises its spaces
						h.calls[i].arguments = strings.ReplaceAll(h.calls[i].arguments, `\u00e4`, "ä")
					}
					if h.err != nil || h.text != said.text || h.thought != said.thought || !reflect.DeepEqual(h.calls, said.calls) || h.stop != said.stop {
						t.Errorf("got %+v\nwant %+v", h, said)
					}
					if h.out != 20 || h.in != 100 || h.cache != 40 {
						t.Errorf("the agent was told %d tokens, %d of them cached, and %d", h.in, h.cache, h.out)
					}
					checkBooked(t, b, to)
				})
			}
		}
	})
}

// checkBooked checks that what the server told is in the books.
func checkBooked(t *testing.T, b *bed, to connector.Protocol) {
	t.Helper()
	want := event.Usage{Input: 60, CacheRead: 40, Output: 20, Reasoning: 5}
	if to == connector.Anthropic {
		want.Reasoning = 0 // is not told
	}
	e := b.entry(t)
	if e.Usage != want || e.Estimated || e.CostUSD == nil || *e.CostUSD != 120 || e.Code != "" || e.Err != nil || e.Status != http.StatusOK ||
		e.Asked != "asked-model" || e.Connector != "deepseek.v3" || e.API == "" || e.Duration <= 0 {
		t.Errorf("the entry is %+v", e)
	}
	if u := b.broker.Usage(); len(u) != 1 || u[0].Model != "real-model" || u[0].Usage != want || u[0].CostUSD == nil || *u[0].CostUSD != 120 || b.broker.CostUSD() != 120 {
		t.Errorf("the books say %+v", u)
	}
}

func Test_The_Same_Protocol_Passes_As_It_Is(t *testing.T) {
	t.Parallel()
	for _, p := range protocols() {
		for _, streamed := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s streamed %v", p, streamed), func(t *testing.T) {
				t.Parallel()
				// Keep-alives and line ends pass.
				list := append([]string{": keep-alive"}, events(p, answer{thought: "t", text: "Hello.", stop: "stop"})...)
				want := strings.Join(list, "\n\n") + "\n\n"
				if !streamed {
					want = " " + whole(p, "Hello.") + "\n"
				}
				b := newBed(t, p, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Request-Id", "req_1")
					w.Header().Set("Set-Cookie", "a=b")
					if streamed {
						w.Header().Set("Content-Type", "text/event-stream")
					}
					_, _ = io.WriteString(w, want)
				})
				in := ` {"metadata" : {"user_id":"{\"model\":\"x\"}"},` + strings.Replace(question(p, streamed)[1:], `"metadata":{"user_id":"x"},`, "", 1)
				status, got, header := b.read(t, path(p)+"?beta=true", in)
				if status != http.StatusOK || got != want || header.Get("Request-Id") != "req_1" || header.Get("Set-Cookie") != "" {
					t.Errorf("got %d %v\n%q, want\n%q", status, header, got, want)
				}
				sent := b.last(t)
				if want := forwarded(p, in); !sameJSON(t, sent.body, []byte(want)) {
					t.Errorf("the server got\n%s\nwant\n%s", sent.body, want)
				}
				checkKey(t, sent, p)
				if e := b.entry(t); e.Usage.Prompt() != 100 || e.Usage.Output != 20 || e.Usage.CacheRead != 40 || e.Estimated {
					t.Errorf("booked %+v", e)
				}
			})
		}
	}
}

// forwarded is a question as a server of the same API gets it: with its own model, without a search that the server would
// run, and nothing is stored.
func forwarded(p connector.Protocol, in string) string {
	for _, row := range [][2]string{
		{`"model":"asked-model"`, `"model":"real-model"`}, {`,{"type":"web_search_20250305","name":"web_search"}`, ""}, {`,{"type":"web_search"}`, ""},
	} {
		in = strings.Replace(in, row[0], row[1], 1)
	}
	if p == connector.Responses {
		in = strings.TrimSuffix(in, "}") + `,"store":false}`
	}
	return in
}

// checkKey checks that the server got the real key and nothing of the placeholder.
func checkKey(t *testing.T, r request, p connector.Protocol) {
	t.Helper()
	want := map[string]string{"Authorization": "Bearer " + realKey}
	if p == connector.Anthropic {
		want = map[string]string{"X-Api-Key": realKey, "Anthropic-Version": "2023-06-01"}
	}
	for name, value := range want {
		if r.header.Get(name) != value {
			t.Errorf("%s is %q", name, r.header.Get(name))
		}
	}
	if strings.Contains(fmt.Sprint(r.header), token) {
		t.Errorf("the placeholder went out: %v", r.header)
	}
}

func Test_A_Chat_Stream_Ends_With_Usage_Only_On_Request(t *testing.T) {
	t.Parallel()
	for _, to := range []connector.Protocol{connector.OpenAI, connector.Anthropic} {
		b := newBed(t, to, stream(events(to, answer{text: "Hi.", stop: "stop"})...))
		in := `{"model":"asked-model","stream":true,"messages":[{"role":"user","content":"hi"}]}`
		_, got, _ := b.read(t, path(connector.OpenAI), in)
		if strings.Contains(got, `"usage"`) || !strings.HasSuffix(got, "data: [DONE]\n\n") {
			t.Errorf("got %s", got)
		}
		if sent := b.last(t).body; to == connector.OpenAI && !strings.Contains(string(sent), `"stream_options":{"include_usage":true}`) {
			t.Errorf("the server was asked %s", sent)
		}
		if e := b.entry(t); e.Usage.Prompt() != 100 || e.Estimated {
			t.Errorf("booked %+v", e)
		}
	}
}

// history is a chat with two calls at once, their results, and an image, in the words of each API.
func history(api connector.Protocol) string {
	body := map[connector.Protocol]string{
		connector.Anthropic: `"max_tokens":500,"system":"be brief","messages":[
{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBO"}}]},
{"role":"assistant","content":[{"type":"text","text":"I will."},{"type":"tool_use","id":"call_1","name":"Bash","input":{"command":"ls"}},{"type":"tool_use","id":"call_2","name":"Bash","input":{}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":[{"type":"text","text":"a.txt"}]},{"type":"tool_result","tool_use_id":"call_2","content":"b.txt"},{"type":"text","text":"go on"}]}],
"tools":[{"name":"Bash","input_schema":{"type":"object"}}],"tool_choice":{"type":"tool","name":"Bash"}`,
		connector.Responses: `"max_output_tokens":500,"input":[{"role":"developer","content":"be brief"},
{"role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image","image_url":"data:image/png;base64,iVBO"}]},
{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I will."}]},
{"type":"function_call","call_id":"call_1","name":"Bash","arguments":"{\"command\":\"ls\"}"},{"type":"function_call","call_id":"call_2","name":"Bash","arguments":"{}"},
{"type":"function_call_output","call_id":"call_1","output":[{"type":"input_text","text":"a.txt"}]},{"type":"function_call_output","call_id":"call_2","output":"b.txt"},
{"role":"user","content":[{"type":"input_text","text":"go on"}]}],
"tools":[{"type":"function","name":"Bash","parameters":{"type":"object"}}],"tool_choice":{"type":"function","name":"Bash"}`,
		connector.OpenAI: `"max_completion_tokens":500,"messages":[{"role":"developer","content":"be brief"},
{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBO"}}]},
{"role":"assistant","content":"I will.","tool_calls":[{"id":"call_1","type":"function","function":{"name":"Bash","arguments":"{\"command\":\"ls\"}"}},{"id":"call_2","type":"function","function":{"name":"Bash","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"call_1","content":[{"type":"text","text":"a.txt"}]},{"role":"tool","tool_call_id":"call_2","content":"b.txt"},
{"role":"user","content":"go on"}],"tools":[{"type":"function","function":{"name":"Bash","parameters":{"type":"object"}}}],"tool_choice":{"type":"function","function":{"name":"Bash"}}`,
	}[api]
	return `{"model":"asked-model","stream":true,` + body + "}"
}

// written is that chat as a server of each protocol must get it, whoever asks.
func written(to connector.Protocol) string {
	return map[connector.Protocol]string{
		connector.Anthropic: `{"model":"real-model","max_tokens":500,"stream":true,"system":[{"type":"text","text":"be brief","cache_control":{"type":"ephemeral"}}],"messages":[
{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBO"}}]},
{"role":"assistant","content":[{"type":"text","text":"I will."},{"type":"tool_use","id":"call_1","name":"Bash","input":{"command":"ls"}},{"type":"tool_use","id":"call_2","name":"Bash","input":{}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":[{"type":"text","text":"a.txt"}],"is_error":false},{"type":"tool_result","tool_use_id":"call_2","content":[{"type":"text","text":"b.txt"}],"is_error":false},
{"type":"text","text":"go on","cache_control":{"type":"ephemeral"}}]}],"tools":[{"name":"Bash","description":"","input_schema":{"type":"object"}}],"tool_choice":{"type":"tool","name":"Bash"}}`,
		connector.Responses: `{"model":"real-model","max_output_tokens":500,"stream":true,"store":false,"instructions":"be brief","input":[
{"type":"message","role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image","image_url":"data:image/png;base64,iVBO","detail":"auto"}]},
{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I will."}]},
{"type":"function_call","call_id":"call_1","name":"Bash","arguments":"{\"command\":\"ls\"}"},{"type":"function_call","call_id":"call_2","name":"Bash","arguments":"{}"},
{"type":"function_call_output","call_id":"call_1","output":"a.txt"},{"type":"function_call_output","call_id":"call_2","output":"b.txt"},
{"type":"message","role":"user","content":[{"type":"input_text","text":"go on"}]}],
"tools":[{"type":"function","name":"Bash","description":"","parameters":{"type":"object"},"strict":false}],"tool_choice":{"type":"function","name":"Bash"}}`,
		connector.OpenAI: `{"model":"real-model","max_tokens":500,"stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"system","content":"be brief"},
{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBO"}}]},
{"role":"assistant","content":"I will.","tool_calls":[{"id":"call_1","type":"function","function":{"name":"Bash","arguments":"{\"command\":\"ls\"}"}},{"id":"call_2","type":"function","function":{"name":"Bash","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"call_1","content":"a.txt"},{"role":"tool","tool_call_id":"call_2","content":"b.txt"},{"role":"user","content":"go on"}],
"tools":[{"type":"function","function":{"name":"Bash","description":"","parameters":{"type":"object"}}}],"tool_choice":{"type":"function","function":{"name":"Bash"}}}`,
	}[to]
}

func Test_A_Chat_With_Results_And_Images_Is_Translated(t *testing.T) {
	t.Parallel()
	forPairs(t, func(t *testing.T, api, to connector.Protocol) {
		t.Helper()
		b := newBed(t, to, stream(events(to, answer{text: "Done.", stop: "stop"})...))
		resp := b.post(t.Context(), t, path(api), history(api))
		defer resp.Body.Close()
		if h := hear(t, api, resp); h.text != "Done." || h.err != nil {
			t.Errorf("got %+v", h)
		}
		sent := b.last(t)
		checkKey(t, sent, to)
		if want := map[connector.Protocol]string{connector.Anthropic: "/v1/messages", connector.Responses: "/v1/responses", connector.OpenAI: "/v1/chat/completions"}[to]; sent.path != want {
			t.Errorf("it went to %s", sent.path)
		}
		if api != to && !sameJSON(t, sent.body, []byte(written(to))) {
			t.Errorf("the server got\n%s\nwant\n%s", sent.body, written(to))
		}
	})
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	for data, v := range map[*[]byte]*any{&a: &x, &b: &y} {
		if err := json.NewDecoder(bytes.NewReader(*data)).Decode(v); err != nil {
			t.Fatalf("%v: %s", err, *data)
		}
	}
	return reflect.DeepEqual(x, y)
}
