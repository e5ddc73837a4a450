//go:build linux

package docker_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moby/moby/client"

	"github.com/seed434b0696/agent-sandbox/internal/engine/job"
	"github.com/seed434b0696/agent-sandbox/internal/repo"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_Codex_Is_Set_Up_Once(t *testing.T) {
	u := newUser(t)
	u.buildBase()
	ctx := t.Context()
	if _, err := lab.engine.VolumeInspect(ctx, repo.CodexVolume, client.VolumeInspectOptions{}); err == nil {
		if _, err := lab.engine.VolumeRemove(ctx, repo.CodexVolume, client.VolumeRemoveOptions{}); err != nil {
			t.Skipf("the volume is in use: %v", err)
		}
	}
	t.Cleanup(func() {
		_, _ = lab.engine.VolumeRemove(context.Background(), repo.CodexVolume, client.VolumeRemoveOptions{Force: true})
	})
	look := func(script string) string {
		out, err := lab.engine.Run(ctx, job.Run{
			Image: "agent-sandbox-base:" + baseTag, Args: []string{"sh", "-c", "cd ~/.codex; " + script}, User: "0:0", Caps: []string{"DAC_OVERRIDE"},
			Env: []string{"HOME=/home/node"}, Volumes: []sandbox.Volume{{Name: repo.CodexVolume, Target: repo.CodexHome}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(out.Stdout)
	}
	codex := func(args ...string) string {
		t.Helper()
		return u.run(u.home, append(args, "--base-tag", baseTag)...)
	}
	if got := codex("codex-init-config"); got != "wrote AGENTS.md\nwrote config.toml\nwrote high.config.toml\n" {
		t.Errorf("at first: %q", got)
	}
	if got := look("cat AGENTS.md; ls"); !strings.Contains(got, "ast-grep") || strings.Contains(got, "auth.json") {
		t.Errorf("the volume has\n%s", got)
	}
	const ask = "OPENAI_API_KEY=x timeout 20 codex exec -p high --skip-git-repo-check hi </dev/null 2>&1 | head -n 12"
	if got := look(ask); !strings.Contains(got, "reasoning effort: high") || !strings.Contains(got, "sandbox: danger-full-access") {
		t.Errorf("Codex says of the profile:\n%s", got)
	}
	look("echo mine >config.toml")
	if got := codex("codex-init-config"); got != "kept AGENTS.md\nkept config.toml\nkept high.config.toml\n" || look("cat config.toml") != "mine\n" {
		t.Errorf("a second time: %q", got)
	}
	u.fail(u.home, "no auth.json", "codex-init-config", "--auth", "--base-tag", baseTag)
	if err := os.Mkdir(filepath.Join(u.home, ".codex"), 0o700); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"first": "wrote auth.json", "second": "wrote auth.json"} {
		write(t, filepath.Join(u.home, ".codex/auth.json"), text)
		if got := codex("codex-init-config", "--auth"); !strings.Contains(got, want) || !strings.Contains(got, "kept config.toml") || look("cat auth.json; stat -c %a auth.json") != text+"600\n" {
			t.Errorf("with credentials: %q", got)
		}
	}
	if got := codex("codex-init-config", "--force"); !strings.Contains(got, "wrote config.toml") || look("cat config.toml") == "mine\n" {
		t.Errorf("with force: %q", got)
	}
	if got := codex("codex-logout"); got != "deleted auth.json\n" || look("ls auth.json 2>/dev/null") != "" {
		t.Errorf("logout: %q", got)
	}
	codex("codex-logout") // the file is deleted already
}
