//go:build linux

package agent_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent"
	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/hook"
	"github.com/seed434b0696/agent-sandbox/internal/agent/store"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/e2e/model"
)

func ask(assistant, prompt string) agent.Request {
	return agent.Request{User: "ann", Assistant: assistant, Prompt: message.New(message.User, prompt)}
}

func ignore(event.Event) {}

func Test_A_Hook_That_Throws_Rejects_The_Request(t *testing.T) {
	t.Parallel()
	a, m := newApp(t, nil, map[string]string{
		"assistants/qa/package.yao":  `{"name": "QA", "connector": "scripted"}`,
		"assistants/qa/src/index.ts": `function Create(ctx, messages, options) { throw new Error("not today") }`,
	})
	_, err := a.Run(t.Context(), ask("qa", "Hi."), ignore)
	if thrown, ok := errors.AsType[*hook.Thrown](err); !ok || thrown.Message != "not today" {
		t.Errorf("%v", err)
	}
	if len(m.Asked()) > 0 {
		t.Error("the model was asked")
	}
	runs, err := a.store.Runs(t.Context(), store.Query{}, 0)
	if err != nil || len(runs) != 1 || runs[0].Outcome != string(event.Failed) {
		t.Errorf("%+v, %v", runs, err)
	}
}

func Test_An_Error_In_Next_Is_Reported_And_The_Answer_Stands(t *testing.T) {
	t.Parallel()
	a, _ := newApp(t, nil, map[string]string{
		"assistants/qa/package.yao":  `{"name": "QA", "connector": "scripted"}`,
		"assistants/qa/src/index.ts": `function Next(ctx, payload, options) { for (;;) {} }`,
	})
	r, events := a.ask(t.Context(), t, ask("qa", "Hi."))
	if !r.OK() {
		t.Fatalf("%+v", r)
	}
	told := false
	for _, e := range events {
		told = told || e.Kind == event.NoticeGiven && e.Notice.Kind == event.NoticeError && strings.Contains(e.Notice.Text, "Next hook failed")
	}
	if !told {
		t.Error("the event was not reported")
	}
}

func Test_A_Chat_Has_One_Request_At_A_Time(t *testing.T) {
	t.Parallel()
	a, _ := newApp(t, nil, map[string]string{
		"assistants/qa/package.yao":  `{"name": "QA", "connector": "scripted"}`,
		"assistants/qa/src/index.ts": `function Create(ctx, messages, options) { ctx.Send({ type: "text", props: { content: "busy" } }); return null }`,
	})
	r := ask("qa", "Hi.")
	r.Chat = "one"
	var second error
	_, err := a.Run(t.Context(), r, func(e event.Event) {
		if e.Kind == event.MessageShown {
			_, second = a.Run(t.Context(), r, ignore)
		}
	})
	if err != nil || sandbox.CodeOf(second) != sandbox.Exists {
		t.Errorf("the first: %v, the second: %v", err, second)
	}
	// Another user's chat with that name is a different chat.
	r.User = "bob"
	if _, err := a.Run(t.Context(), r, ignore); err != nil {
		t.Error(err)
	}
}

func Test_A_Connector_That_Does_Not_Answer_Is_Named(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ pkg, says string }{
		"directly":   {`{"name": "QA", "connector": "dead"}`, "dead"},
		"for claude": {`{"name": "QA", "connector": "dead", "sandbox": {"command": "claude", "timeout": "60s"}}`, "dead"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, _ := newApp(t, nil, map[string]string{
				"assistants/qa/package.yao": c.pkg,
				// No server listens on the discard port.
				"connectors/dead.conn.yao": `{"type": "anthropic", "options": {"host": "http://127.0.0.1:9", "model": "m", "key": "$ENV.MODEL_KEY"}}`,
			})
			r, _ := a.ask(t.Context(), t, ask("qa", "Hi."))
			if r.OK() || !strings.Contains(r.Error, c.says) || !strings.Contains(r.Error, "refused") || strings.Contains(r.Error, realKey) {
				t.Errorf("%s: %s", r.Outcome, r.Error)
			}
		})
	}
}

// Y11: the same with a link that a real agent has created.
func Test_A_Hook_Does_Not_Follow_Workspace_Links_On_The_Host(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("HOST-CANARY"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, m := newApp(t, []model.Turn{
		{ID: "call_link", Tool: "Bash", Input: map[string]any{"command": "ln -s " + secret + " link", "description": "x"}},
		{Text: "All done."},
	}, map[string]string{
		"assistants/coder/package.yao":  `{"name": "Coder", "connector": "scripted", "sandbox": {"command": "claude", "timeout": "2m"}}`,
		"assistants/coder/src/index.ts": `function Next(ctx, payload, options) { try { return { data: ctx.sandbox.ReadFile("link") } } catch (e) { return { data: "refused" } } }`,
	})
	r, _ := a.ask(t.Context(), t, ask("coder", "Work."))
	if got := m.Result(t, "call_link"); got.IsError {
		t.Fatalf("%+v", got)
	}
	if !r.OK() || string(r.Data) != `"refused"` {
		t.Errorf("%+v %s", r, r.Data)
	}
}

// Y4: a prompt of any length arrives.
func Test_A_Prompt_Of_Five_Megabytes_Arrives(t *testing.T) {
	t.Parallel()
	a, m := newApp(t, []model.Turn{{Text: "All done."}}, map[string]string{
		"assistants/qa/package.yao":    `{"name": "QA", "connector": "scripted"}`,
		"assistants/coder/package.yao": `{"name": "Coder", "connector": "scripted", "sandbox": {"command": "claude", "timeout": "2m"}}`,
	})
	long := strings.Repeat("0123456789", 500<<10) + "THE-END"
	for _, name := range []string{"qa", "coder"} {
		if r, _ := a.ask(t.Context(), t, ask(name, long)); !r.OK() {
			t.Errorf("%s: %s: %s", name, r.Outcome, r.Error)
		}
		if asked := m.Asked(); !strings.Contains(string(asked[len(asked)-1]), "6789THE-END") {
			t.Errorf("%s: the end is missing", name)
		}
	}
}

func Test_A_Request_That_Is_Canceled_Is_Booked(t *testing.T) {
	t.Parallel()
	a, _ := newApp(t, []model.Turn{
		{ID: "call_wait", Tool: "Bash", Input: map[string]any{"command": "sleep 1000", "description": "x"}},
		{Text: "never said"},
	}, map[string]string{
		"assistants/coder/package.yao": `{"name": "Coder", "connector": "scripted", "sandbox": {"command": "claude", "timeout": "2m"}}`,
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := a.Run(ctx, ask("coder", "Work."), func(e event.Event) {
		if e.Kind == event.ToolStarted {
			cancel()
		}
	})
	if err != nil || r.Outcome != event.Interrupted || r.Error != "interrupted" || r.Usage.Output == 0 {
		t.Errorf("%+v, %v", r, err)
	}
	runs, err := a.store.Runs(t.Context(), store.Query{}, 0)
	if err != nil || len(runs) != 1 || runs[0].Outcome != string(event.Interrupted) || runs[0].CostUSD == nil || *runs[0].CostUSD == 0 {
		t.Errorf("%+v, %v", runs, err)
	}
}

func Test_A_Request_That_Is_Canceled_While_The_Model_Answers_Says_So(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body) // the server notices only then that the client has disconnected
		cancel()
		<-r.Context().Done()
	}))
	defer silent.Close()
	a, _ := newApp(t, nil, map[string]string{
		"connectors/silent.conn.yao":   `{"type": "anthropic", "options": {"host": "` + silent.URL + `", "model": "silent-1"}}`,
		"assistants/coder/package.yao": `{"name": "Coder", "connector": "silent", "sandbox": {"command": "claude", "timeout": "2m"}}`,
	})
	r, err := a.Run(ctx, ask("coder", "Work."), ignore)
	if err != nil || r.Outcome != event.Interrupted || r.Error != "interrupted" {
		t.Errorf("%+v, %v", r, err)
	}
}

func Test_A_Request_That_Is_Canceled_In_A_Hook_Is_Booked_As_Interrupted(t *testing.T) {
	t.Parallel()
	a, m := newApp(t, nil, map[string]string{
		"assistants/qa/package.yao":  `{"name": "QA", "connector": "scripted"}`,
		"assistants/qa/src/index.ts": `function Create(ctx, messages, options) { ctx.Send({ type: "text", props: { content: "busy" } }); for (;;) { messages.length } }`,
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := a.Run(ctx, ask("qa", "Hi."), func(event.Event) { cancel() })
	if sandbox.CodeOf(err) != sandbox.Canceled || len(m.Asked()) > 0 {
		t.Errorf("%v, and the model was asked %d times", err, len(m.Asked()))
	}
	runs, err := a.store.Runs(t.Context(), store.Query{}, 0)
	if err != nil || len(runs) != 1 || runs[0].Outcome != string(event.Interrupted) {
		t.Errorf("%+v, %v", runs, err)
	}
}

func Test_A_Chat_Whose_Session_Is_Gone_Goes_On(t *testing.T) {
	t.Parallel()
	a, m := newApp(t, []model.Turn{{Text: "I will remember."}}, map[string]string{
		"assistants/coder/package.yao": `{"name": "Coder", "connector": "scripted", "sandbox": {"command": "claude", "timeout": "2m"}}`,
	})
	first, _ := a.ask(t.Context(), t, ask("coder", "The word is WORD-CANARY."))
	if !first.OK() || first.Session == "" {
		t.Fatalf("%+v", first)
	}
	r := ask("coder", "What is the word?")
	r.Chat = first.Chat
	for _, gone := range []bool{false, true} {
		if gone {
			space, err := a.store.OpenWorkspace(t.Context(), "ann", first.Chat, store.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(os.RemoveAll(filepath.Join(space.Dir, ".agent")), space.Close()); err != nil {
				t.Fatal(err)
			}
		}
		again, _ := a.ask(t.Context(), t, r)
		if !again.OK() || (again.Session == first.Session) == gone {
			t.Fatalf("gone %v: %+v", gone, again)
		}
		asked := m.Asked()
		if last := string(asked[len(asked)-1]); !strings.Contains(last, "WORD-CANARY") {
			t.Errorf("gone %v: the model was not told the word", gone)
		}
	}
}

func Test_The_Number_Of_Workspaces_Of_A_User_Is_Limited(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limits string
		have   int
		says   string
	}{
		"the assistant says it": {`, "limits": {"workspaces": 2}`, 2, `user "ann" has 2 workspaces; 2 are allowed`},
		"no limit is set":       {"", agent.DefaultWorkspaces, `user "ann" has 1000 workspaces; 1000 are allowed`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, m := newApp(t, nil, map[string]string{
				"assistants/coder/package.yao": `{"name": "Coder", "connector": "scripted", "sandbox": {"command": "claude"}` + c.limits + `}`,
			})
			for i := range c.have {
				space, err := a.store.OpenWorkspace(t.Context(), "ann", fmt.Sprint("chat", i), store.Limits{})
				if err == nil {
					err = space.Close()
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			_, err := a.Run(t.Context(), ask("coder", "Hi."), ignore)
			if sandbox.CodeOf(err) != sandbox.Exhausted || err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(sandbox.HintOf(err), "agent prune") {
				t.Errorf("%v, %s", err, sandbox.HintOf(err))
			}
			if len(m.Asked()) > 0 {
				t.Error("the model was asked")
			}
		})
	}
}
