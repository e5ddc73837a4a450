package claude_test

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/test/programs"
)

// claude returns a copy of the real program that every user can execute. `make
// test` installs the npm package and names the folder.
func claude(t *testing.T) string {
	t.Helper()
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	from := filepath.Join(os.Getenv("AGENT_SANDBOX_NPM"), "@anthropic-ai", "claude-code-linux-"+arch, "claude")
	if _, err := os.Stat(from); err != nil {
		const reason = "Claude Code is not installed; `make test` does it"
		if strings.Contains(os.Getenv("SANDBOX_REQUIRE"), "claude") {
			t.Fatalf("%s: %v", reason, err)
		}
		t.Skip(reason)
	}
	to := filepath.Join(public(t), "claude")
	// Other users cannot read a cache below /root; a hard link costs nothing if the
	// file systems are the same.
	if err := os.Link(from, to); err != nil {
		copyProgram(t, from, to)
	}
	return to
}

// command returns a copy of the command that every user can execute.
func command(t *testing.T) string {
	t.Helper()
	dir := public(t)
	if err := programs.Install(t.Context(), dir, programs.Command); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, programs.Command)
}

// public returns a temporary directory that every user can reach.
func public(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	src, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(dst, src); err != nil {
		t.Fatal(err)
	}
	if err := dst.Close(); err != nil {
		t.Fatal(err)
	}
}
