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
)

// question has the first request of an agent for each API.
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

func Test_Requests_In_The_Connectors_Protocol_Are_Forwarded_Unchanged(t *testing.T) {
	t.Parallel()
	for _, p := range protocols() {
		for _, streamed := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s streamed %v", p, streamed), func(t *testing.T) {
				t.Parallel()
				// Comments and line ends are forwarded unchanged.
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

// forwarded is a question as a server of the same API receives it: with the connector's model, without a search that the
// server would run, and without storage.
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

// checkKey checks that the server received the real key, and no part of the placeholder.
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
