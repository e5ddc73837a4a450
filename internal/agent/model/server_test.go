package model_test

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
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/model"
	"github.com/seed434b0696/agent-sandbox/internal/agent/tool"
)

const secret = "sk-test-0123456789/abc"

// keys is a source with one key for every secret that is not zero.
type keys struct{}

func (keys) Key(_ context.Context, s connector.Secret) (string, error) {
	if s.Env == "" {
		return "", nil
	}
	return secret, nil
}

// script is a server that answers the nth request with its nth answer, and later requests with the last one.
type script struct {
	*httptest.Server
	mu      sync.Mutex
	answers []http.HandlerFunc
	bodies  []map[string]any
	headers []http.Header
	paths   []string
}

func serve(tb testing.TB, answers ...http.HandlerFunc) *script {
	tb.Helper()
	s := &script{answers: answers}
	s.Server = httptest.NewServer(s)
	tb.Cleanup(s.Close)
	return s
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, _ := io.ReadAll(r.Body)
	var body map[string]any
	_ = json.Unmarshal(data, &body)
	s.mu.Lock()
	n := len(s.bodies)
	s.bodies, s.headers, s.paths = append(s.bodies, body), append(s.headers, r.Header), append(s.paths, r.URL.Path)
	s.mu.Unlock()
	s.answers[min(n, len(s.answers)-1)](w, r)
}

func (s *script) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.bodies)
}

// body returns the nth request as JSON.
func (s *script) body(tb testing.TB, n int) string {
	tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if n >= len(s.bodies) {
		tb.Fatalf("there were %d requests", len(s.bodies))
	}
	data, err := json.Marshal(s.bodies[n])
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}

func (s *script) connector(p connector.Protocol) connector.Connector {
	return connector.Connector{
		ID: "test.model", Protocol: p, BaseURL: s.URL + "/v1", Model: "m1", Secret: connector.Secret{Env: "TEST_KEY"},
		Price: &connector.Price{Input: 1, Output: 2},
	}
}

// stream returns an answer with events. Each has its data, and the name that its type has.
func stream(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			var m struct {
				Type string `json:"type"`
			}
			if json.Unmarshal([]byte(e), &m) == nil && m.Type != "" {
				fmt.Fprintf(w, "event: %s\n", m.Type)
			}
			fmt.Fprintf(w, "data: %s\n\n", e)
		}
	}
}

func status(code int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}
}

// Complete answers of the three APIs.
var (
	chatHello = stream(
		`{"id":"c1","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"}}]}`,
		`{"id":"c1","choices":[{"index":0,"delta":{"content":"lo"}}]}`,
		`{"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
		`{"id":"c1","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":4}}}`, `[DONE]`)
	responsesHello = stream(
		`{"type":"response.created","response":{"id":"r1"}}`,
		`{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m1","role":"assistant","content":[]}}`,
		`{"type":"response.output_text.delta","item_id":"m1","delta":"Hel"}`, `{"type":"response.output_text.delta","item_id":"m1","delta":"lo"}`,
		`{"type":"response.output_text.done","item_id":"m1","text":"Hello"}`,
		`{"type":"response.completed","response":{"id":"r1","status":"completed","error":null,"usage":{"input_tokens":10,"output_tokens":3,"input_tokens_details":{"cached_tokens":4}}}}`)
	messagesHello = stream(
		`{"type":"message_start","message":{"id":"a1","usage":{"input_tokens":6,"cache_read_input_tokens":4,"output_tokens":1}}}`, `{"type":"ping"}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo"}}`, `{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}`, `{"type":"message_stop"}`)
)

// protocols has each protocol with an answer that says Hello.
var protocols = map[connector.Protocol]http.HandlerFunc{
	connector.OpenAI: chatHello, connector.Responses: responsesHello, connector.Anthropic: messagesHello,
}

func client(tb testing.TB, opt model.Options) *model.Client {
	tb.Helper()
	opt.Keys = keys{}
	if opt.Backoff == 0 {
		opt.Backoff = time.Millisecond
	}
	c := model.New(opt)
	tb.Cleanup(func() { _ = c.Close() })
	return c
}

func hello(c connector.Connector) model.Request {
	return model.Request{Connector: c, System: []string{"be brief"}, Messages: []message.Message{message.New(message.User, "hi")}}
}

// run returns the events of a request and their response. It checks that the last event is a result, and that
// no event contains the key.
func run(ctx context.Context, tb testing.TB, c *model.Client, req model.Request) ([]event.Event, event.Response) {
	tb.Helper()
	var fold event.Fold
	var events []event.Event
	for e, err := range c.Stream(ctx, req) {
		if err != nil {
			tb.Fatal(err)
		}
		events = append(events, e)
		fold.Add(e)
	}
	if n := len(events); n == 0 || events[n-1].Kind != event.ResultGiven || events[0].Kind != event.SessionStarted {
		tb.Fatalf("%d events, which do not begin with a session and end with a result", n)
	}
	if text := jsonOf(tb, events); strings.Contains(text, secret) {
		tb.Errorf("the key was shown: %.2000s", text)
	}
	return events, fold.Response()
}

func jsonOf(tb testing.TB, v any) string {
	tb.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}

// functions has tools by name.
type functions map[string]func(ctx context.Context, arguments json.RawMessage) (tool.Result, error)

func (f functions) List(context.Context) ([]tool.Tool, error) {
	var list []tool.Tool
	for _, name := range []string{"s__add", "s__fail", "s.dotted", "s__wait", "s__long"} {
		if f[name] != nil {
			list = append(list, tool.Tool{Name: name, Description: "about " + name, Schema: json.RawMessage(`{"type":"object","required":["a"]}`)})
		}
	}
	return list, nil
}

func (f functions) Call(ctx context.Context, name string, arguments json.RawMessage) (tool.Result, error) {
	return f[name](ctx, arguments)
}

func says(text string) tool.Result {
	block, _ := json.Marshal([]map[string]string{{"type": "text", "text": text}})
	return tool.Result{Content: block}
}

var arithmetic = functions{
	"s__add": func(_ context.Context, arguments json.RawMessage) (tool.Result, error) {
		var in struct{ A, B int }
		if err := json.Unmarshal(arguments, &in); err != nil {
			return tool.Result{}, err
		}
		return says(fmt.Sprint(in.A + in.B)), nil
	},
	"s__fail": func(context.Context, json.RawMessage) (tool.Result, error) {
		r := says("out of order")
		r.Failed = true
		return r, nil
	},
	"s.dotted": func(context.Context, json.RawMessage) (tool.Result, error) { return says("dots"), nil },
}
