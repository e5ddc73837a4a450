package broker_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker"
)

const (
	token   = "placeholder-0123456789"
	realKey = "sk-canary-7f3a90c1d2e4"
)

// source returns the key.
type source struct{}

func (source) Key(_ context.Context, s connector.Secret) (string, error) { return s.Value, nil }

// turn is an answer of the scripted model.
type turn struct {
	text     string
	commands []string // calls of the agent's shell, in parallel
	status   int      // of HTTP, for an error
	hang     bool     // the answer stops after the text, without an end
	prompt   int      // the prompt tokens that the server reports; 0: 100
}

// lab has a scripted server that speaks Chat, and a broker in front of it.
type lab struct {
	broker *broker.Broker
	url    string
	turns  []turn
	tool   program

	mu      sync.Mutex
	results []string // the results of tools in the last request
	keys    map[string]bool
	entries []broker.Entry
	hanging chan struct{}
	gone    chan struct{}
}

func newLab(t *testing.T, p program, limits broker.Limits, turns ...turn) *lab {
	t.Helper()
	l := &lab{turns: turns, tool: p, keys: map[string]bool{}, hanging: make(chan struct{}), gone: make(chan struct{})}
	upstream := httptest.NewServer(l)
	t.Cleanup(upstream.Close)
	c := connector.Connector{
		ID: "deepseek.v3", Protocol: connector.OpenAI, BaseURL: upstream.URL + "/v1", Model: "deepseek-chat",
		Price: &connector.Price{Input: 1, Output: 2}, Secret: connector.Secret{Value: realKey},
	}
	b, err := broker.New(broker.Options{
		Models: map[string]connector.Connector{p.model: c}, Keys: source{}, Token: token, Limits: limits,
		Log: func(e broker.Entry) {
			l.mu.Lock()
			l.entries = append(l.entries, e)
			l.mu.Unlock()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	l.broker = b
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { b.ServeHTTP(&watched{w, l}, r) }))
	l.url = front.URL
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		front.Close()
	})
	return l
}

// watched notices when the beginning of an answer that hangs is sent to the agent.
type watched struct {
	http.ResponseWriter
	lab *lab
}

func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *watched) Write(data []byte) (int, error) {
	n, err := w.ResponseWriter.Write(data)
	if strings.Contains(string(data), hung) {
		close(w.lab.hanging)
	}
	return n, err
}

// hung is the last text before an answer hangs.
const hung = "forever"

// ServeHTTP answers with the turn that follows the results in the request.
func (l *lab) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.URL.Path != "/v1/chat/completions" {
		http.NotFound(w, r)
		return
	}
	var in struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		http.Error(w, `{"error":{"message":"not JSON"}}`, http.StatusBadRequest)
		return
	}
	var results []string
	assistants := 0
	for _, m := range in.Messages {
		switch m.Role {
		case "tool":
			results = append(results, string(m.Content))
		case "assistant":
			assistants++
		}
	}
	l.mu.Lock()
	l.results = results
	l.keys[r.Header.Get("Authorization")] = true
	l.mu.Unlock()
	l.say(w, r, l.turns[min(assistants, len(l.turns)-1)], assistants)
}

func (l *lab) say(w http.ResponseWriter, r *http.Request, say turn, n int) {
	if say.status != 0 {
		w.WriteHeader(say.status)
		fmt.Fprintf(w, `{"error":{"message":%q,"type":"invalid_request_error"}}`, say.text)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	chunk := func(delta any, finish any) {
		data, err := json.Marshal(map[string]any{"id": "c", "choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
		if err != nil {
			panic(err) // strings always marshal
		}
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
	for _, part := range strings.SplitAfter(say.text, " ") {
		chunk(map[string]any{"content": part}, nil)
	}
	if say.hang {
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(l.gone)
		return
	}
	stop := "stop"
	for i, command := range say.commands {
		stop = "tool_calls"
		args, err := json.Marshal(map[string]any{l.tool.argument: command, "description": "work"})
		if err != nil {
			panic(err) // strings always marshal
		}
		call := func(id, name string, args []byte) map[string]any {
			c := map[string]any{"index": i, "function": map[string]any{"arguments": string(args)}}
			if id != "" {
				c["id"], c["type"], c["function"] = id, "function", map[string]any{"name": name, "arguments": string(args)}
			}
			return map[string]any{"tool_calls": []any{c}}
		}
		chunk(call(fmt.Sprintf("call_%d_%d", n, i), l.tool.tool, nil), nil)
		chunk(call("", "", args[:5]), nil)
		chunk(call("", "", args[5:]), nil)
	}
	chunk(map[string]any{}, stop)
	fmt.Fprintf(w, `data: {"id":"c","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":40}}}`+"\n\ndata: [DONE]\n\n", cmp.Or(say.prompt, 100))
}

func forPrograms(t *testing.T, test func(t *testing.T, p program, bin string)) {
	t.Helper()
	for _, p := range programs() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			test(t, p, p.find(t))
		})
	}
}

// finish waits for a program's end; the watchdog ends one that hangs.
func (l *lab) finish(t *testing.T, p program, bin string) *run {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	r := p.start(ctx, t, bin, l.url)
	err := r.Wait()
	if ctx.Err() != nil {
		t.Fatalf("it hangs\n%s\n%s", r.stdout.String(), r.stderr.String())
	}
	t.Logf("%v\n%.3000s", err, r.stderr.String())
	l.noKey(t, r)
	return r
}

// noKey searches for the key in all files, variables and output of the program.
func (l *lab) noKey(t *testing.T, r *run) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for key := range l.keys {
		if key != "Bearer "+realKey {
			t.Errorf("the server was asked with %q", key)
		}
	}
	if strings.Contains(r.stdout.String()+r.stderr.String()+strings.Join(l.results, ""), realKey) {
		t.Error("the key was printed")
	}
	for _, dir := range []string{r.dir, r.home} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(path)
			if strings.Contains(string(data), realKey) {
				t.Errorf("the key is in %s", path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func Test_An_Agent_Talks_Through_The_Broker(t *testing.T) {
	t.Parallel()
	forPrograms(t, func(t *testing.T, p program, bin string) {
		t.Helper()
		l := newLab(t, p, broker.Limits{}, turn{text: "All is well."})
		if r := l.finish(t, p, bin); p.said(r.stdout.String()) != "All is well." {
			t.Errorf("it said\n%s", r.stdout.String())
		}
		u := l.broker.Usage()
		if len(u) != 1 || u[0].Model != "deepseek-chat" || u[0].Usage.Prompt() != 100 || u[0].Usage.CacheRead != 40 || u[0].Usage.Output != 20 || u[0].CostUSD == nil || *u[0].CostUSD != (100+2*20)/1e6 {
			t.Errorf("booked %+v", u)
		}
	})
}

func Test_An_Agent_Uses_Tools_In_Sequence_And_In_Parallel(t *testing.T) {
	t.Parallel()
	forPrograms(t, func(t *testing.T, p program, bin string) {
		t.Helper()
		l := newLab(t, p, broker.Limits{},
			turn{text: "I look around. ", commands: []string{"printf one >one.txt; echo made $?; env; cat /proc/self/environ"}},
			turn{commands: []string{"printf two >two.txt; echo second", "printf three >three.txt; echo third"}},
			turn{text: "All done."})
		r := l.finish(t, p, bin)
		if p.said(r.stdout.String()) != "All done." {
			t.Errorf("it said\n%s", r.stdout.String())
		}
		for _, name := range []string{"one", "two", "three"} {
			if data, err := os.ReadFile(filepath.Join(r.dir, name+".txt")); err != nil || string(data) != name {
				t.Errorf("%s: %q (%v)", name, data, err)
			}
		}
		if len(l.results) != 3 || !strings.Contains(l.results[0], "made 0") || !strings.Contains(l.results[1], "second") || !strings.Contains(l.results[2], "third") {
			t.Errorf("the model got %q", l.results)
		}
		if u := l.broker.Usage(); len(u) != 1 || u[0].Usage.Prompt() != 300 || u[0].Usage.Output != 60 {
			t.Errorf("booked %+v", u)
		}
	})
}

func Test_An_Agent_Ends_With_The_Servers_Error(t *testing.T) {
	t.Parallel()
	forPrograms(t, func(t *testing.T, p program, bin string) {
		t.Helper()
		for status, want := range map[int]string{400: "no such parameter", 401: "does not accept its key"} {
			l := newLab(t, p, broker.Limits{}, turn{status: status, text: "no such parameter " + realKey})
			if r := l.finish(t, p, bin); !strings.Contains(r.stdout.String(), want) || r.ProcessState.ExitCode() != 1 {
				t.Errorf("%d: status %d\n%s", status, r.ProcessState.ExitCode(), r.stdout.String())
			}
			if len(l.entries) != 1 || l.broker.CostUSD() != 0 {
				t.Errorf("%d: it asked %d times: %+v", status, len(l.entries), l.entries)
			}
		}
	})
}

// ceiling is enough tokens for one request of each program; their prompts have about 30,000.
const ceiling = 60_000

func Test_An_Agent_Ends_At_A_Ceiling_And_Names_It(t *testing.T) {
	t.Parallel()
	forPrograms(t, func(t *testing.T, p program, bin string) {
		t.Helper()
		l := newLab(t, p, broker.Limits{Tokens: ceiling}, turn{commands: []string{"echo once"}, prompt: ceiling - 20}, turn{text: "never said"})
		r := l.finish(t, p, bin)
		if out := r.stdout.String(); !strings.Contains(out, "ceiling of 60000 tokens is reached") || strings.Contains(out, "never said") || r.ProcessState.ExitCode() != 1 {
			t.Errorf("status %d\n%s", r.ProcessState.ExitCode(), out)
		}
		if len(l.entries) != 2 || l.entries[1].Code != "token_ceiling" {
			t.Errorf("it asked %d times: %+v", len(l.entries), l.entries)
		}
	})
}

func Test_An_Answer_That_Is_Cut_At_A_Ceiling_Ends_An_Agent(t *testing.T) {
	t.Parallel()
	forPrograms(t, func(t *testing.T, p program, bin string) {
		t.Helper()
		l := newLab(t, p, broker.Limits{Tokens: ceiling}, turn{text: strings.Repeat("and on ", ceiling)})
		r := l.finish(t, p, bin)
		if out := r.stdout.String() + r.stderr.String(); !strings.Contains(out, "ceiling of 60000 tokens is reached") || r.ProcessState.ExitCode() != 1 {
			t.Errorf("status %d\n%.5000s", r.ProcessState.ExitCode(), out)
		}
		for _, e := range l.entries {
			if e.Code != "token_ceiling" {
				t.Errorf("the entry is %+v", e)
			}
		}
	})
}

func Test_An_Agent_That_Is_Interrupted_Cancels_The_Server(t *testing.T) {
	t.Parallel()
	forPrograms(t, func(t *testing.T, p program, bin string) {
		t.Helper()
		l := newLab(t, p, broker.Limits{}, turn{text: "This is the beginning of it and it goes on " + hung, hang: true})
		r := p.start(t.Context(), t, bin, l.url)
		<-l.hanging
		if err := r.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		_ = r.Wait() // each program has its own exit status here
		<-l.gone
		if err := l.broker.Close(); err != nil {
			t.Fatal(err)
		}
		l.noKey(t, r)
		if len(l.entries) != 1 || l.entries[0].Code != "canceled" || !l.entries[0].Estimated || l.entries[0].Usage.Output < 5 || l.entries[0].Usage.Input < 1000 {
			t.Errorf("booked %+v", l.entries)
		}
	})
}
