//go:build linux

package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/agent/cursor"
	"github.com/seed434b0696/agent-sandbox/internal/agent/executor"
)

// Cursor's program requires an account. A script replaces it: it checks its arguments and environment, and prints the
// output of Cursor's documentation.
func Test_Cursor_Is_Started_As_It_Is_Documented(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const script = `cat >prompt; printf '%s\n' "$@" >arguments; cat "$HOME/.cursor/mcp.json" >servers
cat <<'E'
{"type":"system","subtype":"init","apiKeySource":"env","cwd":"/w","session_id":"c-1","model":"m","permissionMode":"default"}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Done."}]},"session_id":"c-1","timestamp_ms":1}
{"type":"result","subtype":"success","duration_ms":5,"is_error":false,"result":"Done.","session_id":"c-1","request_id":"r"}
E
`
	if err := os.WriteFile(filepath.Join(p.work, "script"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	task := p.task(cursor.Agent{}, "Do your work.")
	task.Program, task.System, task.Resume = []string{"sh", "script"}, []string{"You are SYSTEM-CANARY."}, "c-1"
	task.Servers = []executor.Server{{Name: "tools", Tools: []string{"echo"}, Handle: echo(nil)}}
	r := p.run(t.Context(), t, cursor.Agent{}, task)
	if !r.OK() || r.Content != "Done." || r.Session != "c-1" {
		t.Fatalf("%+v", r)
	}
	for file, wants := range map[string][]string{
		"prompt":    {"SYSTEM-CANARY", "Do your work."},
		"arguments": {"--print\n", "stream-json\n", "--resume\nc-1\n", "--model\nscripted-1\n"},
		"servers":   {`"tools"`, `"bridge"`, "unix:/tmp/"},
	} {
		data, err := os.ReadFile(filepath.Join(p.work, file))
		for _, want := range wants {
			if err != nil || !strings.Contains(string(data), want) {
				t.Errorf("%s: %q, %v; want %q", file, data, err, want)
			}
		}
	}
}
