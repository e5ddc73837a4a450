//go:build linux

package docker_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seed434b0696/agent-sandbox/test/e2e/model"
)

// agent is a coding agent of the image.
type agent struct {
	name string
	host string // the address of its model
	key  string // the variable with its key

	tool, argument string // the tool with which its model runs commands, and that tool's argument
	line           []string
	at             func(url string) (flags, args []string) // returns flags of exec, and the agent's arguments for a model at url
	last           func(t *testing.T, stdout string) string
}

// agents are Claude Code and Codex.
func agents() []agent {
	return []agent{
		{
			name: "Claude Code", host: "api.anthropic.com", key: "ANTHROPIC_API_KEY", tool: "Bash", argument: "command",
			line: []string{"freeclaude", "-p", "--output-format", "json"},
			at:   func(url string) ([]string, []string) { return []string{"--env", "ANTHROPIC_BASE_URL=" + url}, nil },
			last: claudeSaid,
		},
		{
			name: "Codex", host: "api.openai.com", key: "CODEX_API_KEY", tool: "exec_command", argument: "cmd",
			line: []string{"codex", "exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", "gpt-5"},
			at: func(url string) ([]string, []string) {
				const provider = `model_providers.scripted={name="scripted",env_key="CODEX_API_KEY",wire_api="responses",base_url="`
				return nil, []string{"-c", "model_provider=scripted", "-c", provider + url + `/v1"}`}
			},
			last: codexSaid,
		},
	}
}

// claudeSaid returns the text of Claude Code's result.
func claudeSaid(t *testing.T, stdout string) string {
	t.Helper()
	var result struct {
		Type, Subtype, Result string
		IsError               bool `json:"is_error"`
	}
	if err := json.Unmarshal([]byte(stdout), &result); err != nil || result.Type != "result" || result.Subtype != "success" || result.IsError {
		t.Errorf("no success: %v\n%s", err, stdout)
	}
	return result.Result
}

// codexSaid returns the text of the last message in Codex's events, which end with that of a completed
// turn.
func codexSaid(t *testing.T, stdout string) string {
	t.Helper()
	said, completed := "", false
	for line := range strings.Lines(stdout) {
		var e struct {
			Type string
			Item struct{ Type, Text string }
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Errorf("not an event: %v: %s", err, line)
		}
		if e.Type == "item.completed" && e.Item.Type == "agent_message" {
			said = e.Item.Text
		}
		completed = e.Type == "turn.completed"
	}
	if !completed {
		t.Errorf("the turn is not complete:\n%s", stdout)
	}
	return said
}

// shell returns a turn that calls the shell; its ID finds the result.
func (a agent) shell(id, command string) model.Turn {
	return model.Turn{ID: id, Tool: a.tool, Input: map[string]any{a.argument: command, "description": id}}
}

// realKey is the user's key in the environment of the host.
const realKey = "sk-canary-7f3a90c1d2e4"

func Test_Real_Agents_Work_In_The_Image(t *testing.T) {
	newUser(t).buildBase()
	for _, p := range places() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			for _, a := range agents() {
				t.Run(a.name, func(t *testing.T) {
					t.Parallel()
					work(t, p, a)
				})
			}
		})
	}
}

// work lets an agent create a file in a place, try to reach another host, and report that it has
// finished.
func work(t *testing.T, p place, a agent) {
	t.Helper()
	u := newUser(t)
	dir := filepath.Join(u.home, "work")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	owner := os.Getuid()
	if owner == 0 {
		owner = p.owner
	}
	if err := os.Chown(dir, owner, owner); err != nil {
		t.Fatal(err)
	}
	site := p.open(t, u, a)
	u.env = append(site.env, a.key+"="+realKey)
	m := model.Serve(t, site.listener, []model.Turn{
		a.shell("call_write", "printf 'from inside' >made.txt && id -u"),
		a.shell("call_read", "cat made.txt"),
		a.shell("call_keys", `cat /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n' | cat - <(env) | sort -u`),
		a.shell("call_reach", site.reach),
		{ID: "end", Text: "All done."},
	})
	flags, args := []string{"--limit", "wall=2m", "--env", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}, a.line
	if site.url != "" {
		more, own := a.at(site.url)
		flags, args = slices.Concat(flags, more), slices.Concat(args, own)
	}
	args = slices.Concat([]string{"exec", "--backend", "docker", "--image", "agent-sandbox-base:" + baseTag}, flags, site.flags, []string{"--"},
		site.before, args, []string{"Do your work."})
	out := u.try(dir, "", args...)
	t.Log(out.stderr)
	if strings.Contains(out.stderr, "run git") {
		t.Error("the rules for git are in its way")
	}
	m.Check(t)
	if out.code != 0 {
		t.Fatalf("status %d\n%s", out.code, out.stdout)
	}
	if said := a.last(t, out.stdout); said != "All done." {
		t.Errorf("its last message is %q", said)
	}
	checkMade(t, filepath.Join(dir, "made.txt"), owner)
	if got := m.Result(t, "call_read"); !strings.Contains(got.Text, "from inside") {
		t.Errorf("reading gave %+v", got)
	}
	if got := m.Keys(); len(got) != 1 || got[0] != site.key {
		t.Errorf("the model was asked with the keys %q, want %q", got, site.key)
	}
	keys := m.Result(t, "call_keys").Text
	if !strings.Contains(keys, a.key+"=") || strings.Contains(keys+out.stdout+out.stderr, realKey) {
		t.Errorf("the variables inside are\n%s", keys)
	}
	site.check(t, m.Result(t, "call_reach").Text)
}

// checkMade checks, on the host, a file that was created inside.
func checkMade(t *testing.T, name string, owner int) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil || string(data) != "from inside" {
		t.Errorf("%q, %v", data, err)
		return
	}
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != owner || int(st.Gid) != owner {
		t.Errorf("the file belongs to %+v, not to %d", info.Sys(), owner)
	}
}
