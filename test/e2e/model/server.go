// Package model is a scripted model for the tests that run real agents. It answers requests of the APIs of Anthropic and
// OpenAI with the turns of a script, and records the results of the agents' tools and the credentials of the requests.
package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Turn is one answer of the model: a tool call, or text when Tool is empty.
type Turn struct {
	ID    string // of the tool call; the ID of its result
	Tool  string
	Space string         // the namespace of the tool in OpenAI's API; "": none
	Input map[string]any // plain values
	Text  string
	// Thinking comes before the rest, signed, in Anthropic's API; "": there is none.
	Thinking string
}

// Result is the result of a tool call as the model received it.
type Result struct {
	Text    string
	IsError bool // reported by Anthropic's API, not by OpenAI's
}

// Server is a scripted model. It answers with the turn that follows the tool results in the request, so a repeated
// request gets the same answer.
type Server struct {
	turns []Turn

	mu      sync.Mutex
	results map[string]Result // by tool call
	calls   int
	keys    []string
	faults  []string
	asked   [][]byte // the bodies of requests
}

// New returns a model with turns, which some server serves.
func New(turns []Turn) *Server { return &Server{turns: turns, results: map[string]Result{}} }

// Serve starts a server with turns on the listener, which it closes when the test ends.
func Serve(t *testing.T, l net.Listener, turns []Turn) *Server {
	t.Helper()
	s := New(turns)
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return s
}

// Result returns the result of a tool call.
func (s *Server) Result(t *testing.T, id string) Result {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.results[id]
	if !ok {
		t.Fatalf("the model received no result of tool call %q", id)
	}
	return r
}

// Keys returns the credentials of the requests, each once.
func (s *Server) Keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.keys)
}

// Asked returns the bodies of the requests so far.
func (s *Server) Asked() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Check fails the test for requests that the script does not support, and if there was no request.
func (s *Server) Check(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		t.Error(f)
	}
	if s.calls == 0 {
		t.Error("the model got no request")
	}
}

func (s *Server) fault(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, fmt.Sprintf(format, args...))
}

// ServeHTTP answers a request of an agent.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.identify(r)
	var answer func(http.ResponseWriter, []byte) error
	switch {
	case r.Method == http.MethodHead:
		return
	case r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/api/claude_code/"): // some companies prescribe it
		http.NotFound(w, r)
		return
	case r.Method == http.MethodGet && r.URL.Path == "/v1/responses": // by WebSocket, which Codex tries first
		w.WriteHeader(http.StatusUpgradeRequired)
		return
	case r.Method == http.MethodPost && r.URL.Path == "/v1/messages":
		answer = s.messages
	case r.Method == http.MethodPost && r.URL.Path == "/v1/responses":
		answer = s.responses
	default:
		s.fault("unexpected request: %s %s", r.Method, r.URL)
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 32<<20))
	if err != nil {
		s.fault("reading a request: %v", err)
		return
	}
	s.mu.Lock()
	s.asked = append(s.asked, body)
	s.mu.Unlock()
	if err := answer(w, body); err != nil {
		s.fault("%s: %v", r.URL.Path, err)
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

// identify records the credentials of a request.
func (s *Server) identify(r *http.Request) {
	key := r.Header.Get("X-Api-Key")
	if key == "" {
		key = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if key != "" && !slices.Contains(s.keys, key) {
		s.keys = append(s.keys, key)
	}
}

// next records the tool results of a request and returns the turn that follows them.
func (s *Server) next(results map[string]Result) (Turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	maps.Copy(s.results, results)
	if len(results) >= len(s.turns) {
		return Turn{}, fmt.Errorf("the script ended after %d turns", len(s.turns))
	}
	return s.turns[len(results)], nil
}

// event writes one server-sent event. A reader that has disconnected reports the failure itself.
func event(w io.Writer, kind string, fields map[string]any) {
	fields["type"] = kind
	fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, text(fields))
}

// text returns a value as JSON.
func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings always marshal
	}
	return string(data)
}
