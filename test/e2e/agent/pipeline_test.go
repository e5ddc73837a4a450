//go:build linux

package agent_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent"
	"github.com/seed434b0696/agent-sandbox/agent/assistant"
	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/store"
	"github.com/seed434b0696/agent-sandbox/test/e2e/model"
	"github.com/seed434b0696/agent-sandbox/test/programs"
)

// realKey is the key of the model, which must not be visible in a sandbox.
const realKey = "sk-canary-7f3a90c1d2e4"

// app is a root of assistants with the pipeline that runs them.
type app struct {
	root  string
	store *store.Store // the pipeline's store, opened a second time
	*agent.Pipeline
}

// newApp writes the files of a root, and runs the assistants in bubblewrap.
func newApp(t *testing.T, turns []model.Turn, files map[string]string, edit ...func(*agent.Options)) (*app, *model.Server) {
	t.Helper()
	return newAppIn(t, "bwrap", turns, files, edit...)
}

// newAppIn is newApp with another backend.
func newAppIn(t *testing.T, backend string, turns []model.Turn, files map[string]string, edit ...func(*agent.Options)) (*app, *model.Server) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := model.Serve(t, l, turns)
	a := &app{root: t.TempDir()}
	files["connectors/scripted.conn.yao"] = `{"type": "anthropic", "options": {"host": "http://` + l.Addr().String() + `", "model": "scripted-1", "key": "$ENV.MODEL_KEY"},
		"price": {"input": 1, "output": 10}}`
	for name, text := range files {
		name = filepath.Join(a.root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := assistant.Open(a.root)
	if err != nil {
		t.Fatal(err)
	}
	root.Own = true
	state, data := filepath.Join(t.TempDir(), "state"), t.TempDir()
	hooks, err := programs.Path(t.Context(), programs.Hooks)
	if err != nil {
		t.Fatal(err)
	}
	options := agent.Options{
		Assistants: root, StateDir: state, Env: []string{"MODEL_KEY=" + realKey}, HooksWorker: []string{hooks},
		Isolation: isolation(t, backend, data),
		Program: func(name string) (args, dirs []string, err error) {
			program := agentPrograms(t)[name]
			return []string{program}, []string{filepath.Dir(program)}, nil
		},
	}
	for _, change := range edit {
		change(&options)
	}
	a.Pipeline, err = agent.New(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	a.store, err = store.Open(t.Context(), state, store.Options{Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(a.Close(), a.store.Close()); err != nil {
			t.Error(err)
		}
	})
	return a, m
}

// ask runs a request and fails the test if it cannot begin.
func (a *app) ask(ctx context.Context, t *testing.T, r agent.Request) (agent.Answer, []event.Event) {
	t.Helper()
	var events []event.Event
	answer, err := a.Run(ctx, r, func(e event.Event) { events = append(events, e) })
	if err != nil {
		t.Fatal(err)
	}
	return answer, events
}

func Test_An_Assistant_Without_A_Sandbox_Answers(t *testing.T) {
	t.Parallel()
	a, m := newApp(t, nil, map[string]string{
		"assistants/qa/package.yao": `{"name": "QA", "connector": "scripted"}`,
		"assistants/qa/prompts.yml": "- role: system\n  content: PROMPT-CANARY\n",
		"assistants/qa/src/index.ts": `
			function Create(ctx, messages, options) { ctx.memory.context.Set("n", messages.length); log.Info("created"); return { messages } }
			function Next(ctx, payload, options) { return { data: { said: payload.completion.content, n: ctx.memory.context.Get("n") } } }`,
	})
	r := agent.Request{User: "ann", Assistant: "qa", Prompt: message.New(message.User, "Hi.")}
	first, _ := a.ask(t.Context(), t, r)
	if !first.OK() || first.Content != "ok" || string(first.Data) != `{"said":"ok","n":1}` {
		t.Fatalf("%+v %s", first, first.Data)
	}
	r.Chat, r.Prompt = first.Chat, message.New(message.User, "And again?")
	second, _ := a.ask(t.Context(), t, r)
	if !second.OK() || string(second.Data) != `{"said":"ok","n":3}` {
		t.Fatalf("%+v %s", second, second.Data)
	}
	asked := m.Asked()
	last := string(asked[len(asked)-1])
	for _, want := range []string{"PROMPT-CANARY", "Hi.", "ok", "And again?"} {
		if !strings.Contains(last, want) {
			t.Errorf("the model was not told %q: %s", want, last)
		}
	}
	a.booked(t, 2)
}

// booked checks that the store has that many runs, with their cost.
func (a *app) booked(t *testing.T, n int) {
	t.Helper()
	runs, err := a.store.Runs(t.Context(), store.Query{}, 0)
	if err != nil || len(runs) != n {
		t.Fatalf("%d runs are booked, %v; want %d", len(runs), err, n)
	}
	for _, r := range runs {
		if r.Outcome != string(event.Success) || r.Usage.Output == 0 || r.CostUSD == nil || *r.CostUSD == 0 || r.User != "ann" {
			t.Errorf("%+v", r)
		}
	}
}
