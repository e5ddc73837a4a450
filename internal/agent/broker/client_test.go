//go:build sdk

// The tests decode answers as the providers' SDKs do. The SDKs themselves take minutes to compile.

package broker_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicstream "github.com/anthropics/anthropic-sdk-go/packages/ssestream"
	"github.com/openai/openai-go/v3"
	openaistream "github.com/openai/openai-go/v3/packages/ssestream"
	openairesponses "github.com/openai/openai-go/v3/responses"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/event"
)

// heard is an answer as the provider's SDK decodes it.
type heard struct {
	thought, text  string
	calls          []toolCall
	stop           string // as in Chat
	in, cache, out int64  // tokens: read, the part of them from a cache, and written
	err            error
}

// hear decodes an answer.
func hear(t *testing.T, api connector.Protocol, resp *http.Response) (h heard) {
	t.Helper()
	if resp.StatusCode != http.StatusOK {
		data, err := io.ReadAll(resp.Body)
		t.Fatalf("status %d: %s (%v)", resp.StatusCode, data, err)
	}
	isStream := strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")
	switch api {
	case connector.Anthropic:
		return hearMessages(t, resp, isStream)
	case connector.Responses:
		return hearResponses(t, resp, isStream)
	default:
		return hearChat(t, resp, isStream)
	}
}

func decode(t *testing.T, resp *http.Response, v any) {
	t.Helper()
	if err := json.NewDecoder(resp.Body).Decode(v); err != nil {
		t.Fatal(err)
	}
}

func hearMessages(t *testing.T, resp *http.Response, isStream bool) (h heard) {
	t.Helper()
	var m anthropic.Message
	if !isStream {
		decode(t, resp, &m)
	} else {
		s := anthropicstream.NewStream[anthropic.MessageStreamEventUnion](anthropicstream.NewDecoder(resp), nil)
		last := ""
		for s.Next() {
			if err := m.Accumulate(s.Current()); err != nil {
				t.Fatal(err)
			}
			last = s.Current().Type
		}
		if h.err = s.Err(); h.err == nil && last != "message_stop" {
			h.err = fmt.Errorf("the stream ends with %q", last)
		}
	}
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			h.text += b.Text
		case "thinking":
			h.thought += b.Thinking
		case "tool_use":
			h.calls = append(h.calls, toolCall{b.ID, b.Name, string(b.Input)})
		}
	}
	h.stop = map[anthropic.StopReason]string{"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length"}[m.StopReason]
	u := m.Usage
	h.in, h.cache, h.out = u.InputTokens+u.CacheReadInputTokens+u.CacheCreationInputTokens, u.CacheReadInputTokens, u.OutputTokens
	return h
}

func hearChat(t *testing.T, resp *http.Response, isStream bool) (h heard) {
	t.Helper()
	var whole openai.ChatCompletion
	if !isStream {
		decode(t, resp, &whole)
		h.thought, _ = extra(whole.Choices[0].Message.RawJSON())
	} else {
		var acc openai.ChatCompletionAccumulator
		s := openaistream.NewStream[openai.ChatCompletionChunk](openaistream.NewDecoder(resp), nil)
		for s.Next() {
			if !acc.AddChunk(s.Current()) {
				t.Fatalf("a chunk that does not follow: %s", s.Current().RawJSON())
			}
			for _, c := range s.Current().Choices {
				thought, _ := extra(c.Delta.RawJSON())
				h.thought += thought
			}
		}
		h.err = s.Err()
		whole = acc.ChatCompletion
	}
	if len(whole.Choices) == 0 {
		return h
	}
	c := whole.Choices[0]
	h.text, h.stop = c.Message.Content, c.FinishReason
	for _, call := range c.Message.ToolCalls {
		h.calls = append(h.calls, toolCall{call.ID, call.Function.Name, call.Function.Arguments})
	}
	h.in, h.cache, h.out = whole.Usage.PromptTokens, whole.Usage.PromptTokensDetails.CachedTokens, whole.Usage.CompletionTokens
	return h
}

// extra is thinking, which the SDK does not know.
func extra(raw string) (string, error) {
	var v struct {
		Thought string `json:"reasoning_content"`
	}
	err := json.Unmarshal([]byte(raw), &v)
	return v.Thought, err
}

func hearResponses(t *testing.T, resp *http.Response, isStream bool) (h heard) {
	t.Helper()
	var r openairesponses.Response
	if !isStream {
		decode(t, resp, &r)
	} else {
		var items, deltas strings.Builder
		s := openaistream.NewStream[openairesponses.ResponseStreamEventUnion](openaistream.NewDecoder(resp), nil)
		last := ""
		for s.Next() {
			e := s.Current()
			last = e.Type
			switch e.Type {
			case "response.output_text.delta":
				deltas.WriteString(e.Delta)
			case "response.output_item.done":
				items.WriteString("," + e.Item.RawJSON())
			case "response.completed", "response.incomplete":
				r = e.Response
			case "response.failed":
				h.err = fmt.Errorf("%s: %s", e.Response.Error.Code, e.Response.Error.Message)
			}
		}
		if h.err == nil {
			h.err = s.Err()
		}
		if h.err == nil && last != "response.completed" && last != "response.incomplete" {
			h.err = fmt.Errorf("the stream ends with %q", last)
		}
		// Codex uses items as they arrive; the event at the end of a stream may omit them.
		if err := json.Unmarshal([]byte("["+strings.TrimPrefix(items.String(), ",")+"]"), &r.Output); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if h.err == nil && deltas.String() != h.text {
				t.Errorf("the deltas are %q, the items %q", deltas.String(), h.text)
			}
		}()
	}
	h.stop = map[openairesponses.ResponseStatus]string{"completed": "stop", "incomplete": "length"}[r.Status]
	for _, item := range r.Output {
		switch item.Type {
		case "message":
			for _, c := range item.Content {
				h.text += c.Text
			}
		case "reasoning":
			for _, s := range item.Summary {
				h.thought += s.Text
			}
		case "function_call":
			h.calls = append(h.calls, toolCall{item.CallID, item.Name, item.Arguments.OfString})
			h.stop = "tool_calls"
		}
	}
	h.in, h.cache, h.out = r.Usage.InputTokens, r.Usage.InputTokensDetails.CachedTokens, r.Usage.OutputTokens
	return h
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
					continue // forwarded unchanged
				}
				t.Run(fmt.Sprintf("%s, streamed %v", name, streamed), func(t *testing.T) {
					b := newBed(t, to, stream(events(to, said)...))
					resp := b.post(t.Context(), t, path(api), question(api, streamed))
					defer resp.Body.Close()
					h := hear(t, api, resp)
					for i := range h.calls { // a request is JSON, whose spaces and escapes may differ
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

// checkBooked checks that the broker booked the usage that the server reported.
func checkBooked(t *testing.T, b *bed, to connector.Protocol) {
	t.Helper()
	want := event.Usage{Input: 60, CacheRead: 40, Output: 20, Reasoning: 5}
	if to == connector.Anthropic {
		want.Reasoning = 0 // not reported
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

func Test_Unreported_Usage_Is_Estimated(t *testing.T) {
	t.Parallel()
	for _, api := range protocols() {
		list := events(connector.OpenAI, answer{text: strings.Repeat("x", 400), stop: "stop"})
		b := newBed(t, connector.OpenAI, stream(append(list[:len(list)-2], "data: [DONE]")...))
		resp := b.post(t.Context(), t, path(api), question(api, true))
		h := hear(t, api, resp)
		_ = resp.Body.Close()
		if e := b.entry(t); h.err != nil || h.stop != "stop" || !e.Estimated || e.Usage.Output != 100 || e.Usage.Input < 5 || e.Usage.Input > 100 || e.Code != "" {
			t.Errorf("%s: %+v, booked %+v", api, h, e)
		}
	}
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

// history has, for each API, a chat with two parallel calls, their results and an image.
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

// written has that chat as a server of each protocol must receive it, whatever the agent's API is.
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
