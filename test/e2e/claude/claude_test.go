// Package claude_test runs the real Claude Code inside the real command, without network.
// Only the model is replaced by a script, on a Unix socket that the policy lists. No key
// enters the sandbox.
package claude_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed434b0696/agent-sandbox/test/e2e/model"
)

// plainUser is the user ID of the plain-user cases when the tests run as root.
const plainUser = 1000

const secret = "canary-ssh-key-5b1f0a"

func Test_Claude_Code_Does_Its_Work_And_Cannot_Leave_The_Sandbox(t *testing.T) {
	bin := claude(t)
	command := command(t)
	for _, c := range []struct {
		name string
		uid  int
	}{
		{"as root", 0},
		{"as a plain user", plainUser},
	} {
		t.Run(c.name, func(t *testing.T) {
			if self := os.Getuid(); self != 0 {
				if c.uid == 0 {
					t.Skip("the tests do not run as root")
				}
				c.uid = self
			}
			h := newHost(t, c.uid)
			m := model.Serve(t, h.listen(t), script(h))
			out := h.run(t, command, bin)
			m.Check(t)
			checkTranscript(t, out)
			checkWork(t, h, m)
			checkRefusals(t, h, m)
		})
	}
}

// script is the ordinary work of an agent, followed by two forbidden actions.
func script(h *host) []model.Turn {
	written := filepath.Join(h.workspace, "written.txt")
	bash := func(id, command string) model.Turn {
		return model.Turn{ID: id, Tool: "Bash", Input: map[string]any{"command": command, "description": id}}
	}
	return []model.Turn{
		bash("toolu_bash", "printf 'from bash' > bash.txt && cat bash.txt && id -u"),
		{ID: "toolu_write", Tool: "Write", Input: map[string]any{"file_path": written, "content": "from the write tool\n"}},
		{ID: "toolu_read", Tool: "Read", Input: map[string]any{"file_path": written}},
		bash("toolu_commit", "git add bash.txt written.txt && git -c user.name=a -c user.email=a@example.com commit -qm work && echo commits=$(git rev-list --count HEAD)"),
		bash("toolu_hook", "printf '#!/bin/sh\\ntouch %s\\n' "+h.workspace+"/pwned > .git/hooks/pre-commit; echo status=$?"),
		{ID: "toolu_hook_write", Tool: "Write", Input: map[string]any{"file_path": filepath.Join(h.workspace, ".git/hooks/post-commit"), "content": "#!/bin/sh\n"}},
		bash("toolu_secret", "cat "+h.home+"/.ssh/id_ed25519; echo status=$?"),
		bash("toolu_login", "cat "+h.home+"/.claude/.credentials.json; echo status=$?"),
		bash("toolu_servers", "echo '{\"mcpServers\":{\"x\":{\"command\":\"/bin/sh\"}}}' > "+h.home+"/.claude.json; echo status=$?"),
		bash("toolu_snapshot", "mkdir -p "+h.home+"/.claude/shell-snapshots && echo id > "+h.home+"/.claude/shell-snapshots/x.sh; echo status=$?"),
		bash("toolu_network", "exec 3<>/dev/tcp/192.0.2.1/80; echo status=$?"),
		{Text: "All done."},
	}
}

// checkTranscript reads the output of Claude Code, which must have ended by itself and with
// success.
func checkTranscript(t *testing.T, out []byte) {
	t.Helper()
	var last struct {
		Type, Subtype, Result string
		IsError               bool  `json:"is_error"`
		Denials               []any `json:"permission_denials"`
	}
	for line := range bytes.Lines(out) {
		var e struct{ Type string }
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("not an event: %v: %s", err, line)
		}
		if e.Type != "result" {
			continue
		}
		if err := json.Unmarshal(line, &last); err != nil {
			t.Fatal(err)
		}
	}
	if last.Type != "result" || last.Subtype != "success" || last.IsError || last.Result != "All done." || len(last.Denials) != 0 {
		t.Errorf("the last result is %+v, want a success with the model's last words", last)
	}
}

// checkWork checks that the agent's ordinary work succeeded.
func checkWork(t *testing.T, h *host, m *model.Server) {
	t.Helper()
	for file, want := range map[string]string{"bash.txt": "from bash", "written.txt": "from the write tool\n"} {
		got, err := os.ReadFile(filepath.Join(h.workspace, file))
		if err != nil || string(got) != want {
			t.Errorf("%s on the host holds %q (%v), want %q", file, got, err, want)
		}
	}
	for id, want := range map[string]string{
		"toolu_bash":   "from bash",
		"toolu_read":   "from the write tool",
		"toolu_commit": "commits=2",
	} {
		if r := m.Result(t, id); r.IsError || !strings.Contains(r.Text, want) {
			t.Errorf("%s gave %+v, want %q", id, r, want)
		}
	}
}

// checkRefusals checks that the isolation held, by the files on the host and by the results
// that the model received.
func checkRefusals(t *testing.T, h *host, m *model.Server) {
	t.Helper()
	for _, file := range []string{".git/hooks/pre-commit", ".git/hooks/post-commit", "pwned"} {
		if _, err := os.Lstat(filepath.Join(h.workspace, file)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s exists on the host (%v)", file, err)
		}
	}
	if r := m.Result(t, "toolu_hook"); strings.Contains(r.Text, "status=0") {
		t.Errorf("planting a hook by a command gave %+v", r)
	}
	if r := m.Result(t, "toolu_hook_write"); !r.IsError {
		t.Errorf("planting a hook by the write tool gave %+v", r)
	}
	if got, err := os.ReadFile(filepath.Join(h.home, ".claude.json")); err != nil || string(got) != "{}\n" {
		t.Errorf("the file that names MCP servers holds %q (%v)", got, err)
	}
	if _, err := os.Lstat(filepath.Join(h.home, ".claude/shell-snapshots")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory of scripts for the host's agent exists (%v)", err)
	}
	for _, id := range []string{"toolu_login", "toolu_servers", "toolu_snapshot"} {
		if r := m.Result(t, id); strings.Contains(r.Text, secret) || strings.Contains(r.Text, "status=0") {
			t.Errorf("%s gave %+v", id, r)
		}
	}
	if r := m.Result(t, "toolu_secret"); strings.Contains(r.Text, secret) || strings.Contains(r.Text, "status=0") {
		t.Errorf("reading the key gave %+v", r)
	}
	if r := m.Result(t, "toolu_network"); !strings.Contains(r.Text, "unreachable") {
		t.Errorf("connecting to the network gave %+v, want that it is unreachable", r)
	}
}

// host has the files of one user on the host: a home with secrets, a repository, and the
// socket of the model.
type host struct {
	uid                   int
	base, home, workspace string
	socket                string
}

func newHost(t *testing.T, uid int) *host {
	t.Helper()
	base := public(t)
	h := &host{
		uid: uid, base: base,
		home:      filepath.Join(base, "home"),
		workspace: filepath.Join(base, "work"),
		socket:    filepath.Join(base, "model.sock"),
	}
	for _, dir := range []string{h.workspace, filepath.Join(h.home, ".ssh"), filepath.Join(h.home, ".claude")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(h.home, ".ssh", "id_ed25519"), []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{".claude.json": "{}\n", ".claude/.credentials.json": `{"claudeAiOauth":{"accessToken":"` + secret + `"}}`} {
		if err := os.WriteFile(filepath.Join(h.home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h.own(t)
	for _, args := range [][]string{
		{"git", "init", "-q", "-b", "main"},
		{"git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "first"},
	} {
		if out, err := h.command(t, args...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	return h
}

// listen makes the model's socket. The plain user connects, too.
func (h *host) listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", h.socket)
	if err == nil {
		err = os.Chmod(h.socket, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// own makes the user the owner of all of the host's files.
func (h *host) own(t *testing.T) {
	t.Helper()
	for _, dir := range []string{h.home, h.workspace} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Lchown(path, h.uid, h.uid)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// command prepares a program that runs as the host's user in the workspace, without the
// environment of the tests.
func (h *host) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = h.workspace
	cmd.Env = []string{"HOME=" + h.home, "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"}
	if os.Getuid() == 0 && h.uid != 0 {
		id := uint32(h.uid)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}}
	}
	return cmd
}

// run runs Claude Code inside the sandbox and returns its events.
func (h *host) run(t *testing.T, command, claude string) []byte {
	t.Helper()
	args := []string{
		command, "exec",
		"--network=none",
		"--socket", h.socket,
		"--ro", filepath.Dir(claude),
		"--env", "ANTHROPIC_UNIX_SOCKET=" + h.socket,
		"--env", "ANTHROPIC_BASE_URL=http://localhost",
		"--env", "ANTHROPIC_API_KEY=placeholder",
		"--env", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"--env", "CLAUDE_CODE_MAX_RETRIES=1",
		"--env", "DISABLE_AUTOUPDATER=1",
		"--env", "DISABLE_TELEMETRY=1",
	}
	if h.uid == 0 {
		args = append(args, "--env", "IS_SANDBOX=1")
	}
	args = append(args, "--", claude, "-p", "--output-format", "stream-json", "--verbose",
		"--dangerously-skip-permissions", "Do your work.")
	cmd := h.command(t, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("agent-sandbox: %v\nstderr: %s\nstdout: %s", err, stderr.Bytes(), out)
	}
	return out
}
