package docker_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// inside runs a script in a sandbox of a spec, and returns its output.
func inside(t *testing.T, spec sandbox.Spec, script string) string {
	t.Helper()
	d, _ := driverOf(t)
	available(t, d)
	spec.Image = testImage
	spec.Env = append(spec.Env, "PATH=/usr/bin:/bin", "HOME="+filepath.Dir(spec.Workspace))
	box, err := sandbox.Create(t.Context(), d, spec)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close(t.Context())
	res, err := box.Run(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", script}})
	if err != nil {
		t.Fatal(err)
	}
	return string(res.Stdout) + string(res.Stderr)
}

func Test_The_Value_Of_A_Secret_Stays_Outside(t *testing.T) {
	const value = "value-of-a-secret-that-is-long"
	ws := filepath.Join(t.TempDir(), "ws")
	write(t, filepath.Join(ws, "conf", "token"), "another-"+value+"\n")
	hosts := []string{"api.test"}
	got := inside(t, sandbox.Spec{
		Workspace: ws, Env: []string{"API_TOKEN=" + value},
		Policy: sandbox.Policy{Secrets: map[string]sandbox.Secret{
			"API_TOKEN": {Hosts: hosts}, "file": {File: filepath.Join(ws, "conf", "token"), Hosts: hosts},
		}},
	}, `env; [ "$API_TOKEN" ] && [ -s conf/token ] && cat conf/token && echo both`)
	if strings.Contains(got, value) || !strings.HasSuffix(got, "both\n") {
		t.Errorf("inside: %q", got)
	}
}

func Test_A_Variable_That_Names_Hooks_Protects_Them(t *testing.T) {
	ws := filepath.Join(t.TempDir(), "ws")
	write(t, filepath.Join(ws, "tools", "hooks", "old"), "")
	config := filepath.Join(filepath.Dir(ws), "elsewhere")
	write(t, config, "[core]\n hooksPath = tools/hooks\n")
	git(t, ws, "init", "-q")
	got := inside(t, sandbox.Spec{Workspace: ws, Env: []string{"GIT_CONFIG_GLOBAL=" + config}},
		`echo x >tools/hooks/pre-commit; echo x >tools/other; ls tools; env`)
	if _, err := os.Lstat(filepath.Join(ws, "tools", "hooks", "pre-commit")); err == nil || !strings.Contains(got, "other\n") {
		t.Errorf("a hook was planted (%v): %s", err, got)
	}
	if strings.Contains(got, "GIT_CONFIG_GLOBAL") {
		t.Errorf("a path of the host's is seen: %s", got)
	}
}

func Test_A_Linked_Worktree_Has_Its_Repository(t *testing.T) {
	top := t.TempDir()
	main, ws := filepath.Join(top, "main"), filepath.Join(top, "ws")
	write(t, filepath.Join(main, "file"), "")
	git(t, main, "init", "-q")
	git(t, main, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "first")
	git(t, main, "worktree", "add", "-q", ws)
	got := inside(t, sandbox.Spec{Workspace: ws}, `dir=$(cut -d' ' -f2 .git); cat $dir/HEAD; echo x >$dir/index.lock && rm $dir/index.lock && echo written
		(echo x >>$dir/../../config) 2>/dev/null && echo OPEN config; (echo x >$dir/../../hooks/new) 2>/dev/null && echo OPEN hooks; [ -e `+main+`/file ] && echo OPEN main`)
	if got != "ref: refs/heads/ws\nwritten\n" {
		t.Errorf("inside: %q", got)
	}
}

func Test_A_Parent_That_Is_Shown_Has_No_Second_Workspace(t *testing.T) {
	for _, access := range []string{"rw", "ro"} {
		t.Run(access, func(t *testing.T) {
			top := t.TempDir()
			ws := filepath.Join(top, "ws")
			write(t, filepath.Join(ws, ".env"), "the-secret")
			write(t, filepath.Join(ws, "plain"), "")
			write(t, filepath.Join(top, "beside"), "of the parent\n")
			git(t, ws, "init", "-q")
			rules := sandbox.Filesystem{Exclude: []string{filepath.Join(ws, ".env")}}
			if access == "rw" {
				rules.RW = []string{top}
			} else {
				rules.RO = []string{top}
			}
			got := inside(t, sandbox.Spec{Workspace: ws, Container: sandbox.Container{Target: "/workspace/ws"}, Policy: sandbox.Policy{Filesystem: rules}}, `cat `+top+`/beside
				for w in `+ws+` /workspace/ws; do for f in .git/hooks/pre-commit .git/config .mcp.json sub/.envrc sub/.git/config; do
					mkdir -p $w/.git/hooks $w/sub/.git; echo x >>$w/$f && echo OPEN $w/$f; done; cat $w/.env; done 2>/dev/null
				echo x >>/workspace/ws/plain && echo written`)
			if got != "of the parent\nwritten\n" {
				t.Errorf("inside: %q", got)
			}
			for _, name := range []string{".git/hooks/pre-commit", ".mcp.json", "sub/.envrc", "sub/.git"} {
				if _, err := os.Lstat(filepath.Join(ws, name)); err == nil {
					t.Errorf("the host has %s", name)
				}
			}
		})
	}
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
