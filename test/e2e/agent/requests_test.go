//go:build linux

package agent_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	raster "image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent"
	"github.com/seed434b0696/agent-sandbox/agent/assistant"
	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/store"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/e2e/model"
)

// workspaces returns the workspaces that exist.
func (a *app) workspaces(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(a.store.Dir(), "workspaces", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func Test_A_Refused_Request_Leaves_No_Workspace(t *testing.T) {
	t.Parallel()
	a, _ := newApp(t, []model.Turn{{Text: "All done."}}, map[string]string{
		"assistants/coder/package.yao": `{"name": "Coder", "connector": "scripted", "sandbox": {"command": "claude", "timeout": "2m"}}`,
		"assistants/coder/src/index.ts": `function Create(ctx, messages, options) {
			if (messages[messages.length - 1].content === "no") { throw new Error("not today") }
		}`,
	})
	answer, err := a.Run(t.Context(), ask("coder", "no"), ignore)
	if err == nil || answer.Run == "" || answer.Outcome != event.Failed || !strings.Contains(answer.Error, "not today") {
		t.Errorf("%+v, %v", answer, err)
	}
	if left := a.workspaces(t); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	// The workspace of an earlier request stays.
	first, _ := a.ask(t.Context(), t, ask("coder", "yes"))
	again := ask("coder", "no")
	again.Chat = first.Chat
	if _, err := a.Run(t.Context(), again, ignore); err == nil {
		t.Error("the request was not refused")
	}
	if left := a.workspaces(t); len(left) != 1 {
		t.Errorf("the workspace of the chat: %q", left)
	}
}

func Test_The_Answer_Of_A_Delegate_Names_The_Chat_Of_The_Request(t *testing.T) {
	t.Parallel()
	a, _ := newApp(t, nil, map[string]string{
		"assistants/qa/package.yao":    `{"name": "QA", "connector": "scripted"}`,
		"assistants/qa/src/index.ts":   `function Next(ctx, payload, options) { return { delegate: { agent_id: "other" } } }`,
		"assistants/other/package.yao": `{"name": "Other", "connector": "scripted"}`,
	})
	r := ask("qa", "Hi.")
	r.Chat = "mine"
	answer, _ := a.ask(t.Context(), t, r)
	if answer.Chat != "mine" || answer.DelegateChat == "" || answer.Assistant != "other" {
		t.Errorf("%+v", answer)
	}
	if again, _ := a.ask(t.Context(), t, r); again.Chat != "mine" {
		t.Errorf("%+v", again)
	}
}

func Test_A_Request_Chooses_The_Connector(t *testing.T) {
	t.Parallel()
	a, m := newApp(t, nil, map[string]string{
		"assistants/qa/package.yao": `{"name": "QA", "connector": "dead"}`,
		"connectors/dead.conn.yao":  `{"type": "anthropic", "options": {"host": "http://127.0.0.1:9", "model": "m"}}`,
	})
	r := ask("qa", "Hi.")
	r.Connector = "scripted"
	if answer, _ := a.ask(t.Context(), t, r); !answer.OK() || len(m.Asked()) != 1 {
		t.Errorf("%+v", answer)
	}
	r.Connector = "scriptd"
	if _, err := a.Run(t.Context(), r, ignore); sandbox.CodeOf(err) != sandbox.NotFound || !strings.Contains(sandbox.HintOf(err), "scripted") {
		t.Errorf("%v, hint %s", err, sandbox.HintOf(err))
	}
}

func Test_A_Function_Of_The_Program_Is_A_Tool(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ pkg, tool string }{
		"directly": {`{"name": "A", "connector": "scripted"}`, "host__stock"},
		"claude":   {`{"name": "A", "connector": "scripted", "sandbox": {"command": "claude", "timeout": "2m"}}`, "mcp__host__stock"},
		"codex":    {`{"name": "A", "connector": "scripted", "sandbox": {"command": "codex", "timeout": "2m"}}`, "mcp__host__stock"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls []agent.ToolCall
			a, m := newApp(t, []model.Turn{
				{ID: "call_good", Tool: c.tool, Input: map[string]any{"item": "apples"}},
				{ID: "call_bad", Tool: c.tool, Input: map[string]any{"item": "pears"}},
				{Text: "All done."},
			}, map[string]string{"assistants/a/package.yao": c.pkg}, func(o *agent.Options) {
				o.Tools = []agent.Tool{{
					Name: "stock", Description: "TOOL-CANARY", Schema: []byte(`{"type": "object", "properties": {"item": {"type": "string"}}}`),
					Call: func(_ context.Context, c agent.ToolCall) (string, error) {
						calls = append(calls, c) // one at a time, as the model calls them
						if strings.Contains(string(c.Arguments), "pears") {
							return "", errors.New("there are no pears")
						}
						return "12 apples", nil
					},
				}}
			})
			answer, _ := a.ask(t.Context(), t, ask("a", "Count."))
			m.Check(t)
			if !answer.OK() || len(calls) != 2 || calls[0].User != "ann" || calls[0].Assistant != "a" || calls[0].Chat != answer.Chat {
				t.Fatalf("%+v %+v", answer, calls)
			}
			if good, bad := m.Result(t, "call_good"), m.Result(t, "call_bad"); !strings.Contains(good.Text, "12 apples") || !strings.Contains(bad.Text, "there are no pears") {
				t.Errorf("%+v %+v", good, bad)
			}
			if !strings.Contains(string(m.Asked()[0]), "TOOL-CANARY") {
				t.Error("the model did not receive the description")
			}
		})
	}
}

func Test_A_Tool_That_Cannot_Be_Offered_Is_Refused(t *testing.T) {
	t.Parallel()
	call := func(context.Context, agent.ToolCall) (string, error) { return "", nil }
	root, err := assistant.Open(newRoot(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, tools := range map[string][]agent.Tool{
		"a name with a space":   {{Name: "a b", Call: call}},
		"two of a name":         {{Name: "a", Call: call}, {Name: "a", Call: call}},
		"a schema of no object": {{Name: "a", Call: call, Schema: []byte(`{"type": "string"}`)}},
		"nothing to call":       {{Name: "a"}},
	} {
		p, err := agent.New(t.Context(), agent.Options{Assistants: root, Tools: tools})
		if sandbox.CodeOf(err) != sandbox.Invalid {
			t.Errorf("%s: %v", name, err)
		}
		if p != nil {
			_ = p.Close()
		}
	}
}

// newRoot makes a root with one assistant.
func newRoot(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "assistants"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func Test_Steps_And_Traces_Are_Events(t *testing.T) {
	t.Parallel()
	a, _ := newApp(t, []model.Turn{{Text: "All done."}}, map[string]string{
		"assistants/coder/package.yao":  `{"name": "Coder", "connector": "scripted", "sandbox": {"command": "claude", "timeout": "2m"}}`,
		"assistants/coder/src/index.ts": `function Create(ctx, messages, options) { ctx.trace.Info("TRACE-CANARY", 1); log.Debug("LOG-CANARY") }`,
	})
	_, events := a.ask(t.Context(), t, ask("coder", "Hi."))
	var steps, logs []string
	for _, e := range events {
		if e.Kind == event.NoticeGiven && e.Notice.Kind == event.NoticeStep {
			steps = append(steps, e.Notice.Text)
		}
		if e.Kind == event.NoticeGiven && e.Notice.Kind == event.NoticeLog {
			logs = append(logs, e.Notice.Text)
		}
	}
	want := []string{"creating a sandbox, bwrap", "the sandbox is ready", "compiling the hooks", "TRACE-CANARY 1", "starting claude with scripted-1"}
	if !slices.Equal(steps, want) || !slices.Equal(logs, []string{"LOG-CANARY"}) {
		t.Errorf("steps %q, logs %q", steps, logs)
	}
}

func Test_A_Picture_Reaches_The_Agent_As_A_Picture(t *testing.T) {
	t.Parallel()
	var picture bytes.Buffer
	if err := png.Encode(&picture, raster.NewGray(raster.Rect(0, 0, 40, 30))); err != nil {
		t.Fatal(err)
	}
	data := base64.StdEncoding.EncodeToString(picture.Bytes())
	for _, name := range []string{"claude", "codex"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, m := newApp(t, []model.Turn{{Text: "Grey."}}, map[string]string{
				"assistants/coder/package.yao": `{"name": "Coder", "connector": "scripted", "sandbox": {"command": "` + name + `", "timeout": "2m"}}`,
			})
			r := ask("coder", "Which colour is it?")
			for range 2 { // the second time the agent resumes its session
				r.Files = []agent.File{{Name: "grey.png", Content: bytes.NewReader(picture.Bytes())}}
				answer, _ := a.ask(t.Context(), t, r)
				asked := m.Asked()
				if last := string(asked[len(asked)-1]); !answer.OK() || !strings.Contains(last, data[:60]) {
					t.Fatalf("%+v: the model received %.3000s", answer, last)
				}
				r.Chat = answer.Chat
			}
		})
	}
}

func Test_Workspaces_Are_Stored_For_The_Configured_Time(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		retention time.Duration
		left      int
	}{"a week": {0, 1}, "half an hour": {30 * time.Minute, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, _ := newApp(t, nil, map[string]string{"assistants/qa/package.yao": `{"name": "QA", "connector": "scripted"}`}, func(o *agent.Options) { o.WorkspaceRetention, o.CleanupSchedule = c.retention, "* * * * *" })
			before, err := store.Open(t.Context(), a.store.Dir(), store.Options{Existing: true, Now: func() time.Time { return time.Now().Add(-time.Hour) }})
			if err != nil {
				t.Fatal(err)
			}
			space, err := before.OpenWorkspace(t.Context(), "ann", "c1", store.Limits{})
			if err == nil {
				err = space.Close()
			}
			// The schedule has elapsed, whatever the second of the minute in which the store was made.
			db, failed := sql.Open("sqlite", filepath.Join(a.store.Dir(), "agent.db"))
			if failed == nil {
				_, failed = db.ExecContext(t.Context(), "UPDATE sweeps SET last = 0")
				failed = errors.Join(failed, db.Close())
			}
			if err = errors.Join(err, failed, before.Close(), a.CleanUp(t.Context(), time.Minute)); err != nil {
				t.Fatal(err)
			}
			if left := a.workspaces(t); len(left) != c.left {
				t.Errorf("left: %q", left)
			}
		})
	}
	root, err := assistant.Open(newRoot(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := agent.New(t.Context(), agent.Options{Assistants: root, CleanupSchedule: "daily"}); sandbox.CodeOf(err) != sandbox.Invalid {
		t.Errorf("a schedule that cron does not know: %v", err)
	}
}
