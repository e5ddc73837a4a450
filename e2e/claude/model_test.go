package claude_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"
)

// turn is one answer of the scripted model: a tool call, or text when Tool is empty.
type turn struct {
	ID    string // of the tool call; results are found under it
	Tool  string
	Input map[string]any
	Text  string
}

// model is a scripted Anthropic Messages API on a Unix socket. It answers with the
// turn that comes after the tool results it has been sent, so a repeated request
// gets the same answer.
type model struct {
	turns []turn

	mu      sync.Mutex
	results map[string]toolResult // by tool call
	calls   int
	faults  []string
}

// toolResult is what the tool gave back to the model.
type toolResult struct {
	Text    string
	IsError bool
}

// newModel serves turns on the socket until the test ends.
func newModel(t *testing.T, socket string, turns []turn) *model {
	t.Helper()
	m := &model{turns: turns, results: map[string]toolResult{}}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	// The plain user connects too.
	if err := os.Chmod(socket, 0o666); err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: m, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return m
}

// result returns what a tool call gave back.
func (m *model) result(t *testing.T, id string) toolResult {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.results[id]
	if !ok {
		t.Fatalf("the model never saw a result of tool call %q", id)
	}
	return r
}

// check fails the test for requests that the script does not know.
func (m *model) check(t *testing.T) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range m.faults {
		t.Error(f)
	}
	if m.calls == 0 {
		t.Error("nobody asked the model anything")
	}
}

func (m *model) fault(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.faults = append(m.faults, fmt.Sprintf(format, args...))
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodHead:
		return
	case r.Method != http.MethodPost || r.URL.Path != "/v1/messages":
		m.fault("unexpected request: %s %s", r.Method, r.URL)
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 32<<20))
	if err != nil {
		m.fault("reading a request: %v", err)
		return
	}
	var req request
	if err := json.Unmarshal(body, &req); err != nil || !req.Stream {
		m.fault("a request that is no streaming message: %v", err)
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	if len(req.Tools) == 0 {
		// A side question (a title, a summary) is not a turn of the script.
		stream(w, req.Model, turn{Text: "ok"})
		return
	}
	n := m.record(req)
	if n >= len(m.turns) {
		m.fault("the script ended after %d turns", len(m.turns))
		http.Error(w, "script ended", http.StatusBadRequest)
		return
	}
	stream(w, req.Model, m.turns[n])
}

// record keeps the tool results of a request and returns which turn is next.
func (m *model) record(req request) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	n := 0
	for _, msg := range req.Messages {
		for _, block := range msg.blocks() {
			if block.Type == "tool_result" {
				n++
				m.results[block.ToolUseID] = toolResult{Text: block.text(), IsError: block.IsError}
			}
		}
	}
	return n
}

// request is the part of a Messages request that a script needs.
type request struct {
	Model    string
	Stream   bool
	Tools    []json.RawMessage
	Messages []message
}

type message struct {
	Role    string
	Content json.RawMessage // a string, or blocks
}

type block struct {
	Type      string
	Text      string
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Content   json.RawMessage // of a tool result: a string, or blocks
}

func (m message) blocks() []block { return blocks(m.Content) }

func blocks(raw json.RawMessage) []block {
	var list []block
	if json.Unmarshal(raw, &list) == nil {
		return list
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []block{{Type: "text", Text: text}}
	}
	return nil
}

func (b block) text() string {
	var all string
	for _, part := range blocks(b.Content) {
		all += part.Text
	}
	return all
}

// stream answers with one turn as server-sent events, the way the API does.
func stream(w http.ResponseWriter, name string, t turn) {
	w.Header().Set("Content-Type", "text/event-stream")
	content, delta, stop := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": t.Text}, "end_turn"
	if t.Tool != "" {
		input, err := json.Marshal(t.Input)
		if err != nil {
			panic(err) // a script holds only plain values
		}
		content = map[string]any{"type": "tool_use", "id": t.ID, "name": t.Tool, "input": map[string]any{}}
		delta = map[string]any{"type": "input_json_delta", "partial_json": string(input)}
		stop = "tool_use"
	}
	usage := map[string]any{"input_tokens": 100, "output_tokens": 1}
	event(w, "message_start", map[string]any{"message": map[string]any{
		"id": "msg_" + t.ID, "type": "message", "role": "assistant", "model": name,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage,
	}})
	event(w, "content_block_start", map[string]any{"index": 0, "content_block": content})
	event(w, "content_block_delta", map[string]any{"index": 0, "delta": delta})
	event(w, "content_block_stop", map[string]any{"index": 0})
	event(w, "message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil},
		"usage": map[string]any{"output_tokens": 20},
	})
	event(w, "message_stop", map[string]any{})
}

// event writes one server-sent event. A reader that is gone shows in its own exit.
func event(w io.Writer, kind string, fields map[string]any) {
	fields["type"] = kind
	data, err := json.Marshal(fields)
	if err != nil {
		panic(err) // maps of plain values
	}
	fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, data)
}
