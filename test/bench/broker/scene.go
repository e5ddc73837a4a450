package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker"
	"github.com/seed434b0696/agent-sandbox/test/bench/internal/rounds"
)

const token = "placeholder-0123456789"

// keys returns no key for any model.
type keys struct{}

func (keys) Key(context.Context, connector.Secret) (string, error) { return "", nil }

// scene is a server that speaks Chat, and a broker in front of it.
type scene struct {
	server, front *httptest.Server
	broker        *broker.Broker
	said          string
}

func newScene(size int) (*scene, error) {
	s := &scene{said: strings.Repeat("words ", size/6)}
	s.server = httptest.NewServer(http.HandlerFunc(answer))
	model := func(events int) connector.Connector {
		return connector.Connector{ID: "bench.chat", Protocol: connector.OpenAI, BaseURL: s.server.URL, Model: fmt.Sprint(events), Price: &connector.Price{Input: 1, Output: 1}}
	}
	var err error
	s.broker, err = broker.New(broker.Options{
		Models: map[string]connector.Connector{"1": model(1), "1000": model(1000)}, Keys: keys{}, Token: token,
		Limits: broker.Limits{Tokens: 1 << 60, CostUSD: 1e12},
	})
	if err != nil {
		s.server.Close()
		return nil, err
	}
	s.front = httptest.NewServer(s.broker)
	return s, nil
}

func (s *scene) close() error {
	err := s.broker.Close()
	s.front.Close()
	s.server.Close()
	return err
}

// answer sends as many events as the model's name says, each in its own write.
func answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	n := 1
	if strings.Contains(string(body), `"model":"1000"`) {
		n = 1000
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	for range n {
		_, _ = io.WriteString(w, `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"some words "},"finish_reason":null}]}`+"\n\n")
		if out.Flush() != nil {
			return
		}
	}
	_, _ = io.WriteString(w, `data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":20}}`+"\n\ndata: [DONE]\n\n")
}

func (s *scene) contenders(events int) []*rounds.Contender {
	chat := fmt.Sprintf(`{"model":"%d","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":%q}]}`, events, s.said)
	messages := fmt.Sprintf(`{"model":"%d","stream":true,"max_tokens":100,"messages":[{"role":"user","content":%q}]}`, events, s.said)
	responses := fmt.Sprintf(`{"model":"%d","stream":true,"input":%q}`, events, s.said)
	post := func(url, body, end string) func(context.Context) error {
		return func(ctx context.Context) error { return ask(ctx, url, body, end) }
	}
	return []*rounds.Contender{
		{Name: "directly", Do: post(s.server.URL+"/chat/completions", chat, "[DONE]"), InRow: 10},
		{Name: "Chat through the broker", Against: "directly", Do: post(s.front.URL+"/v1/chat/completions", chat, "[DONE]"), InRow: 10},
		{Name: "Messages, translated", Against: "directly", Do: post(s.front.URL+"/v1/messages", messages, "message_stop"), InRow: 10},
		{Name: "Responses, translated", Against: "directly", Do: post(s.front.URL+"/v1/responses", responses, "response.completed"), InRow: 10},
	}
}

func ask(ctx context.Context, url, body, end string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("X-Api-Key", token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	data, err := io.ReadAll(resp.Body)
	err = errors.Join(err, resp.Body.Close())
	if err == nil && !strings.Contains(string(data), end) {
		err = fmt.Errorf("status %d, and no end: %.500s", resp.StatusCode, data)
	}
	return err
}
