//go:build linux

package docker_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// executable writes a script on the host.
func executable(t *testing.T, name, script string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
}

func Test_A_Worktree_Has_The_Protections_Of_The_Repository(t *testing.T) {
	u := newUser(t)
	u.buildBase()
	dir := u.repository("guarded")
	t.Cleanup(func() { u.forget(dir) })
	executable(t, dir+"/.husky/pre-commit", "true\n")
	executable(t, dir+"/tool/.keep", "")
	u.git(dir, "add", "-A")
	u.git(dir, "commit", "-q", "-m", "husky")
	u.run(dir, "init", "--base-tag", baseTag)
	u.prefer(dir, `{"protected":["README.md"]}`)
	branch := strings.TrimSpace(u.run(dir, "start", "--branch", "feat/a", "."))
	bind := strings.TrimSpace(u.run(dir, "start", "."))
	const work, main = "/repo-shelf/worktrees/feat__a", "/repo-shelf/repo/.git"
	attacks := map[string]string{
		"a hook of husky":             "echo x >>.husky/pre-commit",
		"a new hook of husky":         "echo x >.husky/pre-push",
		"husky, removed":              "rm -rf .husky",
		"husky, moved":                "mv .husky old",
		"the worktree's parent":       "mv " + work + " " + work + "x",
		"a protected file":            "echo x >README.md",
		"a protected file, exchanged": "rm -f README.md; ln -s /tmp/x README.md",
		"settings of an editor":       "mkdir .vscode",
		"its configuration":           "mkdir .agent-sandbox",
		"a hook of git":               "echo x >" + main + "/hooks/pre-commit",
		"all hooks of git":            "mv " + main + "/hooks " + main + "/old",
		"the repository":              "mv /repo-shelf/repo /repo-shelf/old",
		"git's configuration":         "git config core.hooksPath /tmp",
		"git's configuration, a file": "echo '[core]' >>" + main + "/config",
		"its own configuration":       "echo '[core]' >" + main + "/worktrees/feat__a/config.worktree",
		"its repository":              "echo gitdir: /tmp/x >.git",
		"its common directory":        "echo /tmp/x >" + main + "/worktrees/feat__a/commondir",
	}
	for what, script := range attacks {
		if out := u.inside(branch, script+" && echo done"); out.code == 0 {
			t.Errorf("%s could be changed: %+v", what, out)
		}
	}
	for _, what := range []string{"a hook of git", "all hooks of git", "the repository", "git's configuration, a file"} {
		if out := u.inside(bind, attacks[what]+" && echo done"); out.code == 0 {
			t.Errorf("%s could be changed from the repository's sandbox: %+v", what, out)
		}
	}
	// A commit on the branch must still work.
	const script = `echo two >tool/new && mkdir src && echo x >src/a && git add -A && git commit -q -m work && git push -q host HEAD && git log --format=%s -1`
	if out := u.inside(branch, script); out.stdout != "work\n" {
		t.Errorf("work in the worktree: %+v", out)
	}
	if got := u.git(dir, "log", "--format=%s", "-1", "feat/a"); got != "work\n" {
		t.Errorf("the host has %q", got)
	}
}

func Test_The_Hooks_Of_The_Host_Run_In_A_Worktree(t *testing.T) {
	u := newUser(t)
	u.buildBase()
	dir := u.repository("hooked")
	t.Cleanup(func() { u.forget(dir) })
	u.run(dir, "init", "--base-tag", baseTag)
	executable(t, dir+"/.git/hooks/pre-commit", "echo refused by the hook >&2; exit 1\n")
	name := strings.TrimSpace(u.run(dir, "start", "--branch", "feat/a", "."))
	const commit = "echo x >f && git add f && git commit -q -m work"
	if out := u.inside(name, commit); out.code == 0 || !strings.Contains(out.stderr, "refused by the hook") {
		t.Errorf("a hook in .git/hooks: %+v", out)
	}
	u.run(dir, "stop", "--branch", "feat/a")
	// As husky does: the directory is not part of a commit.
	executable(t, dir+"/.husky/_/pre-commit", "echo refused by husky >&2; exit 1\n")
	write(t, dir+"/.husky/_/.gitignore", "*\n")
	u.git(dir, "config", "core.hooksPath", ".husky/_")
	u.run(dir, "start", "--branch", "feat/b", ".")
	other := strings.TrimSpace(u.run(dir, "start", "--branch", "feat/b", "."))
	if out := u.inside(other, commit); out.code == 0 || !strings.Contains(out.stderr, "refused by husky") {
		t.Errorf("a hook of husky: %+v", out)
	}
	if out := u.inside(other, "echo x >.husky/_/pre-commit"); out.code == 0 {
		t.Error("the hook of husky can be changed")
	}
}

func Test_A_New_Branch_Starts_Where_The_Host_Is(t *testing.T) {
	u := newUser(t)
	u.buildBase()
	dir := u.repository("detached")
	t.Cleanup(func() { u.forget(dir) })
	u.run(dir, "init", "--base-tag", baseTag)
	// A branch of origin is tracked.
	origin := u.repository("origin")
	u.git(origin, "branch", "theirs")
	u.git(dir, "remote", "add", "origin", origin)
	u.git(dir, "fetch", "-q", "origin")
	u.git(dir, "checkout", "-q", "--detach")
	u.git(dir, "commit", "-q", "--allow-empty", "-m", "detached")
	name := strings.TrimSpace(u.run(dir, "start", "--branch", "new", "."))
	if out := u.inside(name, "git log -1 --format=%s; git symbolic-ref --short HEAD"); out.stdout != "detached\nnew\n" {
		t.Errorf("a new branch: %+v", out)
	}
	name = strings.TrimSpace(u.run(dir, "start", "--branch", "theirs", "."))
	if out := u.inside(name, "git log -1 --format=%s; git rev-parse --abbrev-ref '@{upstream}'"); out.stdout != "one\norigin/theirs\n" {
		t.Errorf("a branch of origin: %+v", out)
	}
}

func Test_Commands_In_A_Repository_Find_Its_Sandbox(t *testing.T) {
	u := newUser(t)
	dir := u.prepared("found")
	u.fail(dir, "--base-tag chooses the base of a build", "start", "--base-tag", baseTag)
	name := strings.TrimSpace(u.run(dir, "start"))
	if out := u.run(dir, "status"); !strings.Contains(out, name) || !strings.Contains(out, "running") {
		t.Errorf("status: %s", out)
	}
	u.fail(dir, "no sandbox", "status", "--branch", "other")
	u.fail(u.home, "status takes the name of a sandbox", "status")
	u.fail(u.home, "--branch is for the working directory's repository", "status", "--branch", "x")
	write(t, u.home+"/data", "data\n")
	u.run(u.home, "put", u.home+"/data", name+":")
	if out := u.inside(name, "cat /workspace/found/data"); out.stdout != "data\n" {
		t.Errorf("put to the working directory: %+v", out)
	}
}
