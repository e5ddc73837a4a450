//go:build linux

package agent_test

import (
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/e2e/model"
)

func Test_A_Create_Hook_Chooses_Prompts_And_Locale(t *testing.T) {
	t.Parallel()
	a, m := newApp(t, nil, map[string]string{
		"assistants/qa/package.yao":              `{"name": "QA", "connector": "scripted"}`,
		"assistants/qa/prompts.yml":              "- role: system\n  content: USUAL-CANARY\n",
		"assistants/qa/prompts/chat/festive.yml": "- role: system\n  content: FESTIVE-CANARY\n",
		"assistants/qa/src/index.ts": `
			function Create(ctx, messages, options) { return { prompt_preset: "chat.festive", locale: ctx.locale === "de-DE" ? "fr-FR" : "wrong" } }
			function Next(ctx, payload, options) { return { metadata: { next: ctx.locale }, delegate: { agent_id: "other", options: { depth: 2 } } } }`,
		"assistants/other/package.yao": `{"name": "Other", "connector": "scripted"}`,
		"assistants/other/src/index.ts": `
			function Next(ctx, payload, options) { return { data: { locale: ctx.locale, options } } }`,
	})
	r := ask("qa", "Hi.")
	r.Locale = "de-DE"
	answer, _ := a.ask(t.Context(), t, r)
	if !answer.OK() || string(answer.Data) != `{"locale":"fr-FR","options":{"depth":2}}` {
		t.Fatalf("%+v %s", answer, answer.Data)
	}
	if first := string(m.Asked()[0]); !strings.Contains(first, "FESTIVE-CANARY") || strings.Contains(first, "USUAL-CANARY") {
		t.Errorf("the model received %s", first)
	}
}

func Test_A_Create_Hook_Cannot_Select_A_Missing_Part(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		created string
		code    sandbox.Code
		says    string
		hint    string
	}{
		"a preset that there is not": {
			`{ prompt_preset: "festiv" }`, sandbox.NotFound,
			`create hook: the assistant qa has no preset of prompts "festiv", expected one of festive`, `did you mean "festive"?`,
		},
		"a server that there is not": {
			`{ mcp_servers: ["files"] }`, sandbox.NotFound,
			`create hook: the assistant qa has no MCP server "files"`, "name it in mcp.servers of its package",
		},
		"a connector that there is not": {`{ connector: "scriptd" }`, sandbox.NotFound, "create hook: found no connector", `did you mean "scripted"?`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, m := newApp(t, nil, map[string]string{
				"assistants/qa/package.yao":         `{"name": "QA", "connector": "scripted"}`,
				"assistants/qa/prompts/festive.yml": "- role: system\n  content: x\n",
				"assistants/qa/src/index.ts":        `function Create(ctx, messages, options) { return ` + c.created + ` }`,
			})
			_, err := a.Run(t.Context(), ask("qa", "Hi."), ignore)
			if sandbox.CodeOf(err) != c.code || err == nil || !strings.HasPrefix(err.Error(), c.says) || sandbox.HintOf(err) != c.hint {
				t.Errorf("%v (%s), hint %s", err, sandbox.CodeOf(err), sandbox.HintOf(err))
			}
			if len(m.Asked()) > 0 {
				t.Error("the model was asked")
			}
		})
	}
}

func Test_A_Coding_Agent_Has_No_Temperature_Of_A_Hook(t *testing.T) {
	t.Parallel()
	a, m := newApp(t, nil, map[string]string{
		"assistants/coder/package.yao":  `{"name": "Coder", "connector": "scripted", "sandbox": {"command": "claude"}}`,
		"assistants/coder/src/index.ts": `function Create(ctx, messages, options) { return { temperature: 0.5 } }`,
	})
	_, err := a.Run(t.Context(), ask("coder", "Hi."), ignore)
	if sandbox.CodeOf(err) != sandbox.Invalid || err == nil || !strings.Contains(err.Error(), "create hook: claude chooses the temperature itself") {
		t.Errorf("%v", err)
	}
	if len(m.Asked()) > 0 {
		t.Error("the model was asked")
	}
}

func Test_A_Direct_Model_Gets_The_Reasoning_Of_Its_Assistant(t *testing.T) {
	t.Parallel()
	files := greeting()
	files["assistants/qa/package.yao"] = `{"name": "QA", "connector": "scripted", "options": {"max_tokens": 8000, "top_p": 0.96, "thinking": {"type": "enabled", "budget_tokens": 2048}}}`
	a, m := newApp(t, []model.Turn{
		{ID: "activate", Tool: "activate_skill", Input: map[string]any{"name": "greeting"}, Thinking: "THOUGHT-CANARY"},
		{Text: "Good day."},
	}, files)
	r, events := a.ask(t.Context(), t, ask("qa", "Greet me."))
	m.Check(t)
	if !r.OK() || r.Content != "Good day." {
		t.Fatalf("%+v", r)
	}
	thought := ""
	for _, e := range events {
		if e.Kind == event.Thinking {
			thought += e.Text
		}
	}
	if thought != "THOUGHT-CANARY" {
		t.Errorf("the thinking that was told: %q", thought)
	}
	for _, want := range []string{`"thinking":{"budget_tokens":2048,"type":"enabled"}`, `"top_p":0.96`, `"max_tokens":8000`} {
		if !strings.Contains(string(m.Asked()[0]), want) {
			t.Errorf("the first request lacks %s", want)
		}
	}
	if back := string(m.Asked()[1]); !strings.Contains(back, `{"signature":"signed-activate","thinking":"THOUGHT-CANARY","type":"thinking"},{"id":"activate"`) {
		t.Errorf("the thought does not go back before its use: %s", back)
	}
	again := ask("qa", "And again.")
	again.Chat = r.Chat
	a.ask(t.Context(), t, again)
	if asked := m.Asked(); strings.Contains(string(asked[2]), "THOUGHT-CANARY") {
		t.Error("a thought is kept as if it were said")
	}
}

func Test_A_Coding_Agent_Answers_Within_The_Tokens_Of_A_Hook(t *testing.T) {
	t.Parallel()
	a, m := newApp(t, []model.Turn{{Text: "All done."}}, map[string]string{
		"assistants/coder/package.yao":  `{"name": "Coder", "connector": "scripted", "options": {"max_tokens": 900}, "sandbox": {"command": "claude", "timeout": "2m"}}`,
		"assistants/coder/src/index.ts": `function Create(ctx, messages, options) { return messages.length > 1 ? null : { max_tokens: 777 } }`,
	})
	r, _ := a.ask(t.Context(), t, ask("coder", "Hi."))
	second := ask("coder", "Again.")
	second.Chat = r.Chat
	again, _ := a.ask(t.Context(), t, second)
	asked := m.Asked()
	if !r.OK() || !again.OK() || !strings.Contains(string(asked[0]), `"max_tokens":777`) || !strings.Contains(string(asked[len(asked)-1]), `"max_tokens":900`) {
		t.Errorf("%+v %+v: %.300s %.300s", r, again, asked[0], asked[len(asked)-1])
	}
}
