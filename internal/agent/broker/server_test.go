package broker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker"
)

const (
	token   = "placeholder-0123456789"
	realKey = "sk-real-7f3a90c1d2e4"
)

// keys has one key.
type keys struct{}

func (keys) Key(_ context.Context, s connector.Secret) (string, error) { return s.Value, nil }

// request is a request that the scripted server received.
type request struct {
	path   string
	header http.Header
	body   []byte
}

// bed has a broker between a test and a scripted server.
type bed struct {
	broker *broker.Broker
	url    string
	to     connector.Connector

	mu      sync.Mutex
	got     []request
	entries []broker.Entry
}

// price is one dollar for each token read or written, so that costs are easy to tell.
func price() *connector.Price { return &connector.Price{Input: 1e6, Output: 1e6} }

// newBed starts a server with the handler, and a broker in front of it.
func newBed(t *testing.T, p connector.Protocol, answer http.HandlerFunc, change ...func(*broker.Options)) *bed {
	t.Helper()
	b := &bed{}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil { // the broker has disconnected
			return
		}
		b.mu.Lock()
		b.got = append(b.got, request{r.URL.RequestURI(), r.Header, body})
		b.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(upstream.Close)
	base := upstream.URL
	if p != connector.Anthropic {
		base += "/v1"
	}
	b.to = connector.Connector{ID: "deepseek.v3", Protocol: p, BaseURL: base, Model: "real-model", Price: price(), Secret: connector.Secret{Value: realKey}}
	o := broker.Options{
		Models: map[string]connector.Connector{"asked-model": b.to}, Keys: keys{}, Token: token,
		Log: func(e broker.Entry) {
			b.mu.Lock()
			b.entries = append(b.entries, e)
			b.mu.Unlock()
		},
	}
	for _, f := range change {
		f(&o)
	}
	var err error
	if b.broker, err = broker.New(o); err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(b.broker)
	b.url = front.URL
	t.Cleanup(func() {
		if err := b.broker.Close(); err != nil {
			t.Error(err)
		}
		front.Close()
	})
	return b
}

// path is where an API takes requests.
func path(api connector.Protocol) string {
	return map[connector.Protocol]string{
		connector.Anthropic: "/v1/messages", connector.Responses: "/v1/responses", connector.OpenAI: "/v1/chat/completions",
	}[api]
}

// post sends a request as an agent does. The caller reads and closes the answer.
func (b *bed) post(ctx context.Context, t *testing.T, path, body string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// read sends a request and returns the text of the answer.
func (b *bed) read(t *testing.T, path, body string) (int, string, http.Header) {
	t.Helper()
	resp := b.post(t.Context(), t, path, body)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data)+fmt.Sprint(resp.Header), realKey) {
		t.Errorf("the key is in the answer: %s", data)
	}
	return resp.StatusCode, string(data), resp.Header
}

// last returns the last request that the server received.
func (b *bed) last(t *testing.T) request {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.got) == 0 {
		t.Fatal("the server was asked nothing")
	}
	return b.got[len(b.got)-1]
}

// entry returns the last log record. It closes the broker first, so that the record is complete.
func (b *bed) entry(t *testing.T) broker.Entry {
	t.Helper()
	if err := b.broker.Close(); err != nil {
		t.Fatal(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.entries) == 0 {
		t.Fatal("nothing was logged")
	}
	return b.entries[len(b.entries)-1]
}

// stream writes the events one by one, and sends each at once.
func stream(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			_, _ = io.WriteString(w, e+"\n\n")
		}
	}
}

// flush sends the bytes that were written.
func flush(t *testing.T, w http.ResponseWriter) {
	t.Helper()
	if err := http.NewResponseController(w).Flush(); err != nil {
		t.Error(err)
	}
}

// answer is an answer of a scripted model.
type answer struct {
	thought, text string
	calls         []toolCall
	stop          string // as in Chat
}

type toolCall struct{ id, name, arguments string }

func quoted(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings always marshal
	}
	return string(data)
}

// halves splits a text, so that it arrives in more than one delta.
func halves(s string) [2]string { return [2]string{s[:len(s)/2], s[len(s)/2:]} }

// events returns the events of an answer as a server of that protocol sends them. The server read 100 tokens, 40 of them
// from a cache, and wrote 20.
func events(p connector.Protocol, a answer) []string {
	switch p {
	case connector.Anthropic:
		return anthropicEvents(a)
	case connector.Responses:
		return responsesEvents(a)
	default:
		return chatEvents(a)
	}
}

func chatEvents(a answer) []string {
	var out []string
	chunk := func(delta string) {
		out = append(out, `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"real-model","choices":[{"index":0,"delta":`+delta+`,"finish_reason":null}]}`)
	}
	chunk(`{"role":"assistant","content":""}`)
	if a.thought != "" {
		chunk(`{"content":null,"reasoning_content":` + quoted(a.thought) + `}`)
	}
	for _, part := range halves(a.text) {
		if part != "" {
			chunk(`{"content":` + quoted(part) + `}`)
		}
	}
	for i, c := range a.calls {
		chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":""}}]}`, i, c.id, c.name))
		for _, part := range halves(c.arguments) {
			chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, i, quoted(part)))
		}
	}
	return append(out, `data: {"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"`+a.stop+`"}]}`,
		`data: {"id":"c1","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":40},"completion_tokens_details":{"reasoning_tokens":5}}}`,
		`data: [DONE]`)
}

func anthropicEvents(a answer) []string {
	out := []string{`event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"real-model","content":[],"stop_reason":null,"usage":{"input_tokens":60,"cache_read_input_tokens":40,"cache_creation_input_tokens":0,"output_tokens":1}}}`}
	n := 0
	block := func(start string, deltas ...string) {
		out = append(out, fmt.Sprintf("event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":%d,\"content_block\":%s}", n, start))
		for _, d := range deltas {
			out = append(out, fmt.Sprintf("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":%d,\"delta\":%s}", n, d))
		}
		out = append(out, fmt.Sprintf("event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":%d}", n))
		n++
	}
	if a.thought != "" {
		block(`{"type":"thinking","thinking":"","signature":""}`, `{"type":"thinking_delta","thinking":`+quoted(a.thought)+`}`, `{"type":"signature_delta","signature":"c2ln"}`)
	}
	if a.text != "" {
		h := halves(a.text)
		block(`{"type":"text","text":""}`, `{"type":"text_delta","text":`+quoted(h[0])+`}`, `{"type":"text_delta","text":`+quoted(h[1])+`}`)
	}
	for _, c := range a.calls {
		h := halves(c.arguments)
		block(fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":{}}`, c.id, c.name),
			`{"type":"input_json_delta","partial_json":`+quoted(h[0])+`}`, `{"type":"input_json_delta","partial_json":`+quoted(h[1])+`}`)
	}
	stop := map[string]string{"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}[a.stop]
	return append(out, "event: ping\ndata: {\"type\":\"ping\"}",
		`event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"`+stop+`","stop_sequence":null},"usage":{"output_tokens":20}}`,
		"event: message_stop\ndata: {\"type\":\"message_stop\"}")
}

func responsesEvents(a answer) []string {
	out := []string{"event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\"}}"}
	n := 0
	event := func(name, rest string) {
		out = append(out, fmt.Sprintf("event: %s\ndata: {\"type\":%q,\"output_index\":%d,%s}", name, name, n, rest))
	}
	if a.thought != "" {
		event("response.output_item.added", `"item":{"type":"reasoning","id":"rs_1","summary":[]}`)
		event("response.reasoning_summary_text.delta", `"item_id":"rs_1","summary_index":0,"delta":`+quoted(a.thought))
		event("response.output_item.done", `"item":{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":`+quoted(a.thought)+`}],"encrypted_content":"ZW5j"}`)
		n++
	}
	if a.text != "" {
		event("response.output_item.added", `"item":{"type":"message","id":"m1","role":"assistant","content":[]}`)
		for _, part := range halves(a.text) {
			event("response.output_text.delta", `"item_id":"m1","content_index":0,"delta":`+quoted(part))
		}
		event("response.output_item.done", `"item":{"type":"message","id":"m1","role":"assistant","content":[{"type":"output_text","text":`+quoted(a.text)+`}]}`)
		n++
	}
	for _, c := range a.calls {
		item := fmt.Sprintf(`"item":{"type":"function_call","id":"f","call_id":%q,"name":%q,"arguments":`, c.id, c.name)
		event("response.output_item.added", item+`""}`)
		for _, part := range halves(c.arguments) {
			event("response.function_call_arguments.delta", `"delta":`+quoted(part))
		}
		event("response.output_item.done", item+quoted(c.arguments)+"}")
		n++
	}
	status, details := "completed", "null"
	if a.stop == "length" {
		status, details = "incomplete", `{"reason":"max_output_tokens"}`
	}
	return append(out, fmt.Sprintf("event: response.%s\ndata: {\"type\":\"response.%s\",\"response\":{\"id\":\"resp_1\",\"status\":%q,\"incomplete_details\":%s,\"output\":[],\"usage\":"+
		`{"input_tokens":100,"input_tokens_details":{"cached_tokens":40},"output_tokens":20,"output_tokens_details":{"reasoning_tokens":5},"total_tokens":120}}}`, status, status, status, details))
}

// whole returns the answer in that protocol without a stream.
func whole(p connector.Protocol, text string) string {
	switch p {
	case connector.Anthropic:
		return `{"id":"msg_1","type":"message","role":"assistant","model":"real-model","content":[{"type":"text","text":` + quoted(text) + `}],"stop_reason":"end_turn","usage":{"input_tokens":60,"cache_read_input_tokens":40,"output_tokens":20}}`
	case connector.Responses:
		return `{"id":"resp_1","object":"response","status":"completed","output":[{"type":"message","id":"m1","role":"assistant","content":[{"type":"output_text","text":` + quoted(text) + `}]}],"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":40},"output_tokens":20}}`
	default:
		return `{"id":"c1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":` + quoted(text) + `},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":40}}}`
	}
}

func protocols() []connector.Protocol {
	return []connector.Protocol{connector.Anthropic, connector.Responses, connector.OpenAI}
}
