package dialect_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker/dialect"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker/sse"
)

func protocols() []connector.Protocol {
	return []connector.Protocol{connector.Anthropic, connector.Responses, connector.OpenAI}
}

// FuzzRequest reads hostile requests. A request that it writes for a server must be JSON that the same
// dialect can read.
func FuzzRequest(f *testing.F) {
	for _, s := range []string{
		`{"model":"m","max_tokens":5,"system":"s","messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"x"}}]},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"tool_use","id":"1","name":"n","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"r","is_error":true}]}],"tools":[{"name":"n","input_schema":{}}]}`,
		`{"model":"m","input":[{"role":"developer","content":"d"},{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"agent-sandbox:e30"},{"type":"custom_tool_call","call_id":"1","name":"n","input":"i"},{"type":"custom_tool_call_output","call_id":"1","output":"o"}],"tools":[{"type":"custom","name":"n"},{"type":"namespace","name":"a","tools":[{"type":"function","name":"b"}]}]}`,
		`{"model":"m","messages":[{"role":"system","content":"s"},{"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"n","arguments":"{"}}]},{"role":"tool","tool_call_id":"1","content":"r"}],"stop":["a"],"response_format":{"type":"json_object"}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, from := range protocols() {
			r, err := dialect.For(from).Read(body)
			if err != nil {
				continue
			}
			for _, to := range protocols() {
				out := dialect.For(to).Write(r, dialect.Target{Model: "real", MaxTokens: 100})
				var v struct {
					Model string `json:"model"`
				}
				if err := json.Unmarshal(out, &v); err != nil || v.Model != "real" {
					t.Fatalf("%s to %s: %v: %s", from, to, err, out)
				}
			}
		}
	})
}

// FuzzStream reads hostile streams. The agent must receive well-formed events of JSON.
func FuzzStream(f *testing.F) {
	for _, s := range []string{
		`{"choices":[{"delta":{"content":"a","reasoning_content":"b","tool_calls":[{"index":1,"id":"x","function":{"name":"n","arguments":"{"}},{"index":0,"function":{"arguments":"}"}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1e99,"completion_tokens":-1}}` + "\n[DONE]",
		`{"type":"message_start","message":{"usage":{"input_tokens":1}}}` + "\n" + `{"type":"content_block_start","index":9,"content_block":{"type":"tool_use","id":"1","name":"n","input":{"a":1}}}` + "\n" + `{"type":"content_block_delta","index":9,"delta":{"type":"text_delta","text":"x"}}` + "\n" + `{"type":"message_stop"}`,
		`{"type":"response.output_item.done","output_index":-1,"item":{"type":"reasoning","id":"r","encrypted_content":"e"}}` + "\n" + `{"type":"response.output_text.delta","output_index":2,"delta":"x"}` + "\n" + `{"type":"response.completed","response":{"usage":null}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, from := range protocols() {
			for _, to := range protocols() {
				translate(t, from, to, in)
			}
		}
	})
}

func translate(t *testing.T, from, to connector.Protocol, in []byte) {
	t.Helper()
	head := dialect.Head{ID: "1", Model: "m", Usage: true, Tools: []dialect.Tool{{Name: "n", Free: true}}}
	decoder, encoder := dialect.For(from).Decoder(), dialect.For(to).Encoder(head)
	out := encoder.Begin()
	var answer dialect.Answer
	for line := range bytes.SplitSeq(in, []byte("\n")) {
		deltas, err := decoder.Decode(sse.Event{Data: line})
		for _, d := range deltas {
			if d.Change == dialect.SetUsage && (d.Usage.Input < 0 || d.Usage.Output < 0 || d.Usage.CacheRead < 0 || d.Usage.CacheWrite < 0) {
				t.Fatalf("%s: usage %+v", from, d.Usage)
			}
			answer.Add(d)
			out = append(out, encoder.Encode(d)...)
		}
		if err != nil {
			break
		}
	}
	out = append(out, encoder.End()...)
	for r := sse.NewReader(bytes.NewReader(out), len(out)+1); ; {
		e, err := r.Next()
		if err != nil {
			break
		}
		if string(e.Data) != "[DONE]" && !json.Valid(e.Data) {
			t.Fatalf("%s to %s: %s", from, to, e.Data)
		}
	}
	if data := dialect.For(to).Whole(head, answer); !json.Valid(data) {
		t.Fatalf("%s to %s: %s", from, to, data)
	}
}
