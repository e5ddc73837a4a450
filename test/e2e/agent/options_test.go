//go:build linux

package agent_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent"
	"github.com/seed434b0696/agent-sandbox/agent/assistant"
	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/e2e/model"
)

// writeAssistants writes files to a new directory, with a connector that needs no key, and serves the
// connector's model.
func writeAssistants(t *testing.T, files map[string]string) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	model.Serve(t, l, nil)
	dir := t.TempDir()
	files["connectors/scripted.conn.yao"] = `{"type": "anthropic", "options": {"host": "http://` + l.Addr().String() + `", "model": "scripted-1"}}`
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func Test_A_Pipeline_Needs_Only_Assistants_And_Leaves_Nothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	root, err := assistant.Open(writeAssistants(t, map[string]string{"assistants/qa/package.yao": `{"name": "QA", "connector": "scripted"}`}))
	if err != nil {
		t.Fatal(err)
	}
	root.Own = true
	p, err := agent.New(t.Context(), agent.Options{Assistants: root})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := p.Run(t.Context(), ask("qa", "Hi."), func(event.Event) {})
	if err != nil || answer.Content != "ok" || answer.Chat == "" {
		t.Errorf("%+v, %v", answer, err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(os.TempDir())
	if err != nil || len(left) > 0 {
		t.Errorf("the temporary directory still has %v, %v", left, err)
	}
	if _, err := agent.New(t.Context(), agent.Options{}); sandbox.CodeOf(err) != sandbox.Invalid {
		t.Errorf("without assistants: %v", err)
	}
}

func Test_A_Pipeline_Refuses_What_Its_Options_Do_Not_Provide(t *testing.T) {
	t.Parallel()
	root, err := assistant.Open(writeAssistants(t, map[string]string{
		"assistants/coder/package.yao":   `{"name": "Coder", "connector": "scripted", "sandbox": {"command": "claude"}}`,
		"assistants/hooked/package.yao":  `{"name": "Hooked", "connector": "scripted"}`,
		"assistants/hooked/src/index.ts": `function Create(ctx, messages) { return { messages } }`,
	}))
	if err != nil {
		t.Fatal(err)
	}
	root.Own = true
	p, err := agent.New(t.Context(), agent.Options{Assistants: root, StateDir: filepath.Join(t.TempDir(), "state")})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for name, want := range map[string]string{"coder": "Options.Isolation is not set", "hooked": "Options.HooksWorker is not set"} {
		_, err := p.Run(t.Context(), ask(name, "Do it."), func(event.Event) {})
		if sandbox.CodeOf(err) != sandbox.Unsupported || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := agent.New(t.Context(), agent.Options{Assistants: root, StateDir: "state"}); sandbox.CodeOf(err) != sandbox.Invalid {
		t.Errorf("a relative state directory: %v", err)
	}
}
