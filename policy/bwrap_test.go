//go:build linux

package policy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/policy/internal/treetest"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/require"
)

// bubble runs a shell script under the mounts of a plan, without the guard.
func bubble(t *testing.T, p *Plan, script string) (string, error) {
	t.Helper()
	args := []string{"--unshare-user", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"}
	for _, m := range p.Mounts {
		switch {
		case m.Access == ReadOnly:
			args = append(args, "--ro-bind", m.Path, m.Path)
		case m.Access == ReadWrite:
			args = append(args, "--bind", m.Path, m.Path)
		case m.Access == Private || m.Dir:
			args = append(args, "--tmpfs", m.Path)
		default:
			args = append(args, "--ro-bind", "/dev/null", m.Path)
		}
	}
	args = append(args, "--chdir", p.Dir, "--", "sh", "-ec", script)
	cmd := exec.CommandContext(t.Context(), "bwrap", args...)
	cmd.Env = gitEnv(p.Home)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func Test_Git_Works_Under_The_Mounts_Of_A_Plan(t *testing.T) {
	require.Command(t, "bwrap", "bwrap")
	const commit = "echo x >> file && git status --short && git add file && git commit -qm two && git log -1 --format=%s; "
	// Deleting a branch works, though git complains that it cannot tidy up config.
	const collect = "git branch b && git branch -D b 2>&- >&- && git gc --quiet --prune=now && git fsck && git stash list; "
	cases := []struct{ name, dir, script string }{
		{"the main checkout", "main", commit + collect},
		{"a second gc", "main", commit + collect + commit + collect},
		{"a linked worktree", "tree", commit + collect},
		{"a submodule", "main/sub", commit + collect},
		{"a submodule's submodule", "main", "cd sub/inner; " + commit + collect},
		{"a nested repository", "main", "cd nested/r; " + commit + collect},
		{"the superproject of a changed submodule", "main", "cd sub; " + commit + "cd ..; git add sub; git commit -qm sub; " + collect},
		{"branches, merges, stashes and tags", "main", commit + "git checkout -qb new other; echo y > y; git add y; git commit -qm y; " +
			"git checkout -q trunk; git merge -q --no-edit new; echo z >> file; git stash -q; git stash pop -q; git commit -qam z; git tag v2; git rebase -q other; git reset -q --hard"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			spec, home := repos(t)
			spec.Workspace = filepath.Join(home, c.dir)
			p := mustResolve(t, spec)
			out, err := bubble(t, p, c.script)
			if err != nil || strings.Contains(out, "error:") || strings.Contains(out, "warning:") || strings.Contains(out, "fatal:") {
				t.Fatalf("%v\n%s", err, out)
			}
		})
	}
}

func Test_The_Mounts_Of_A_Plan_Are_Enforced_By_Bubblewrap(t *testing.T) {
	require.Command(t, "bwrap", "bwrap")
	spec, home := repos(t)
	main := filepath.Join(home, "main")
	treetest.Make(t, home, ".ssh/id", ".bashrc", "main/.vscode/settings.json", "main/.envrc", ".cargo/bin/x", ".config/agent-sandbox/config.json")
	if err := os.WriteFile(home+"/.ssh/id", []byte("KEY"), 0o600); err != nil {
		t.Fatal(err)
	}
	spec.Workspace = main
	spec.Policy = fsPolicy(sandbox.Filesystem{RW: []string{"~/.config"}})
	p := mustResolve(t, spec)
	for _, attempt := range []string{
		"echo x > .git/hooks/pre-commit", "echo x >> .git/config", "git config a.b c", "echo x >> .git/info/exclude",
		"mv .git .git2", "mv .git/info .git/info2", "mv .git/hooks .git/h", "rm -f .git/config", "ln -f .git/HEAD .git/config",
		"mv .git/modules/sub .git/modules/x", "echo x >> .git/modules/sub/config", "echo x > .git/modules/sub/hooks/x",
		"echo x > .git/modules/sub/modules/in/ner/config", "echo gitdir: /x > sub/.git", "mv .git/worktrees/tree .git/worktrees/t",
		"echo x > .git/worktrees/tree/commondir", "echo x > bare.git/config", "mv bare.git b.git", "echo x > nested/r/.git/hooks/x",
		"mv nested/r/.git nested/r/g", "echo x > .vscode/settings.json", "mv .vscode v", "echo x > .envrc", "cat ~/.ssh/id",
		"echo x > ~/.bashrc", "echo x > ~/.cargo/bin/x", "echo x > ~/.cargo/bin/new", "echo x > ~/.config/agent-sandbox/config.json",
		"mv ~/.config/agent-sandbox ~/.config/a", "chmod 777 .git/hooks", "truncate -s 0 .git/config", "touch /usr/x",
	} {
		t.Run(attempt, func(t *testing.T) {
			if out, err := bubble(t, p, attempt); err == nil {
				t.Errorf("succeeded: %s", out)
			}
		})
	}
	for _, fine := range []string{"echo x > new", "echo x > /tmp/x", "mkdir d && mv d e", "touch ~/.cargo/new", "ls -la ~/.ssh", "touch ~/.config/x"} {
		t.Run(fine, func(t *testing.T) {
			if out, err := bubble(t, p, fine); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
