//go:build linux

package docker_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/repo"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// prepared is a repository with its image.
func (u user) prepared(name string) string {
	u.t.Helper()
	u.buildBase()
	dir := u.repository(name)
	u.t.Cleanup(func() { u.forget(dir) })
	u.run(dir, "init", "--base-tag", baseTag)
	return dir
}

func Test_Init_Start_Shell_Stop(t *testing.T) {
	u := newUser(t)
	dir := u.repository("project")
	t.Cleanup(func() { u.forget(dir) })
	u.buildBase()
	u.fail(dir, "is not initialised", "start", ".")
	if got := u.try(dir, ""); got.code != 0 || !strings.Contains(got.stdout, "USAGE") {
		t.Errorf("without init no help is printed: %+v", got)
	}
	r := repo.Repo{Path: dir}
	if got := u.run(dir, "init", "--base-tag", baseTag); got != r.Image()+"\n" {
		t.Errorf("init printed %q", got)
	}
	if got := u.run(dir, "start"); got != r.Container("")+"\n" {
		t.Errorf("start printed %q", got)
	}
	u.run(dir, "start", ".") // the container runs
	out := u.try(dir, "pwd; test -e /.agent-sandbox && echo marked; git log --format=%s; exit 3\n", "shell", ".")
	if out.code != 3 || out.stdout != "/workspace/project\nmarked\none\n" {
		t.Errorf("shell: %+v", out)
	}
	if out := u.try(dir, "echo $HOME; git config user.name\n"); out.stdout != "/home/node\nA User\n" {
		t.Errorf("no arguments: %+v", out)
	}
	name := r.Container("")
	for what, script := range map[string]string{
		"git's hooks": "echo x >.git/hooks/pre-commit", "husky, which is not there yet": "mkdir .husky", "its configuration": "echo x >.agent-sandbox/x",
		"the context of pre-commit": "mkdir -p .agent-precommit && echo x >.agent-precommit/user-context.json",
		"verification":              "git commit -q --allow-empty -m x && touch /tmp/committed && git commit --allow-empty --no-verify -m x",
		"a forced push":             "git init -q --bare /tmp/remote && git push -q /tmp/remote HEAD && touch /tmp/pushed && git push --force /tmp/remote HEAD",
	} {
		if out := u.inside(name, script); out.code == 0 {
			t.Errorf("%s can be gone around", what)
		}
	}
	if out := u.inside(name, "rm /tmp/committed /tmp/pushed"); out.code != 0 {
		t.Errorf("what git refuses to force it does not do otherwise: %+v", out)
	}
	u.inside(name, "echo new >made; echo kept >~/kept")
	if data, err := os.ReadFile(filepath.Join(dir, "made")); err != nil || string(data) != "new\n" {
		t.Errorf("the workspace has %q, %v", data, err)
	}
	u.run(dir, "stop")
	if out := u.inside(name, "true"); out.code == 0 {
		t.Error("it runs after stop")
	}
	if out := u.try(dir, "cat ~/kept\n", "shell", "."); out.stdout != "kept\n" {
		t.Errorf("what was in the container is gone: %+v", out)
	}
}

func Test_Branches_Work_Beside_Each_Other(t *testing.T) {
	u := newUser(t)
	dir := u.prepared("branches")
	r := repo.Repo{Path: dir}
	names := map[string]string{}
	var wait sync.WaitGroup
	for _, branch := range []string{"feat/a", "feat/b"} {
		names[branch] = r.Container(branch)
		wait.Go(func() { // both prepare the repository's shelf
			if out := u.try(dir, "", "start", "--branch", branch, "."); out.code != 0 || out.stdout != r.Container(branch)+"\n" {
				t.Errorf("start of %s: %+v", branch, out)
			}
		})
	}
	wait.Wait()
	for branch, name := range names {
		out := u.inside(name, `pwd; git symbolic-ref --short HEAD; echo "$0" >f; git add f; git commit -q -m work && git push -q host HEAD`)
		if want := "/repo-shelf/worktrees/" + repo.Worktree(branch) + "\n" + branch + "\n"; out.code != 0 || out.stdout != want {
			t.Errorf("%s: %+v", branch, out)
		}
		if got := strings.TrimSpace(u.git(dir, "log", "-1", "--format=%s %an", branch)); got != "work A User" {
			t.Errorf("the host has %q on %s", got, branch)
		}
	}
	if out := u.inside(names["feat/a"], "git checkout -q -b main2 && git push host main2:main"); out.code == 0 {
		t.Error("the branch that the host works on was pushed to")
	}
	u.inside(names["feat/a"], "git checkout -q feat/a")
	bind := strings.TrimSpace(u.run(dir, "start"))
	if out := u.inside(bind, "cd /repo-shelf/worktrees/feat__b && git status --porcelain && git log --format=%s"); out.stdout != "work\none\n" {
		t.Errorf("from the bind sandbox: %+v", out)
	}
	u.run(dir, "checkout", "--base-tag", baseTag, "feat/a") // a second time
	if out := u.try(dir, "", "checkout", "--base-tag", baseTag, "feat__a"); out.code == 0 || !strings.Contains(out.stderr, "is that of the branch feat/a") {
		t.Errorf("a branch whose directory is taken: %+v", out)
	}
	checkList(t, u, dir, bind, names["feat/a"])
}

// checkList checks the output of list for a sandbox of each mode.
func checkList(t *testing.T, u user, dir, bind, branch string) {
	t.Helper()
	var docs []struct {
		ID, State, Repo, Mode, Workdir string
		Volumes                        []sandbox.Volume
	}
	if err := json.Unmarshal([]byte(u.run(dir, "list", "--json")), &docs); err != nil {
		t.Fatal(err)
	}
	want := map[string][2]string{bind: {"bind", "/workspace/branches"}, branch: {"branch", "/repo-shelf/worktrees/feat__a"}}
	shelf := repo.Repo{Path: dir}.ShelfVolume()
	for _, d := range docs {
		if w, ok := want[d.ID]; ok {
			delete(want, d.ID)
			if d.Repo != dir || d.Mode != w[0] || d.Workdir != w[1] || d.State != "running" {
				t.Errorf("%+v", d)
			}
		}
		if len(d.Volumes) != 4 || d.Volumes[0].Name != shelf {
			t.Errorf("%s has %v", d.ID, d.Volumes)
		}
	}
	if len(want) > 0 {
		t.Errorf("not listed: %v", want)
	}
	if text := u.run(dir, "list"); !strings.Contains(text, "/repo-shelf/worktrees/feat__a") || !strings.Contains(text, shelf) {
		t.Errorf("as text:\n%s", text)
	}
}

func Test_A_Repository_Builds_Only_Files_That_A_User_Has_Approved(t *testing.T) {
	u := newUser(t)
	dir := u.repository("unread")
	if err := os.MkdirAll(dir+"/.agent-sandbox", 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/.agent-sandbox/Dockerfile", "FROM busybox\nRUN echo has-run\n")
	for _, args := range [][]string{{"build"}, {"init"}, {"build", dir}} {
		out := u.try(dir, "", args...)
		if out.code != 125 || !strings.Contains(out.stderr, "the user has not trusted them") || !strings.Contains(out.stderr, "hint: read it, then run: agent-sandbox trust "+dir) {
			t.Errorf("%q: %+v", args, out)
		}
		if strings.Contains(out.stderr+out.stdout, "has-run") {
			t.Errorf("%q has run it", args)
		}
	}
}

func Test_Unknown_And_Invalid_Names_Are_Refused(t *testing.T) {
	u := newUser(t)
	dir := u.repository("names")
	write(t, dir+"/.gitignore", "")
	if err := os.MkdirAll(dir+"/.agent-sandbox", 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/.agent-sandbox/Dockerfile", "FROM scratch\n")
	for _, branch := range []string{"feat/x y", "-x", "../..", "a..b", "HEAD"} {
		u.fail(dir, "cannot be a branch", "start", "--branch="+branch, ".")
	}
	u.fail(dir, "cannot be a branch", "checkout", "--", "-x")
	u.fail(u.home, "no sandbox was named", "start")
	u.fail(u.home, "no sandbox", "start", "nobody")
	u.fail(u.home, "is not an initialised directory", "start", "--branch", "x", "nobody")
	u.fail(dir, "does not go with a repository's sandbox", "shell", "--network", ".")
	if out := u.run(dir, "volume"); out != repo.ClaudeVolume+"\n" {
		t.Errorf("volume prints %q", out)
	}
}

func Test_A_Hostile_Repository_Gets_Nothing(t *testing.T) {
	u := newUser(t)
	u.buildBase()
	outside := filepath.Join(u.home, "outside")
	if err := os.Mkdir(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	linked := u.repository("linked")
	if err := os.Symlink(outside, linked+"/.agent-sandbox"); err != nil {
		t.Fatal(err)
	}
	if out := u.try(linked, "", "init", "--base-tag", baseTag); out.code == 0 {
		t.Errorf("init went through a link: %+v", out)
	}
	if list, err := os.ReadDir(outside); err != nil || len(list) > 0 {
		t.Errorf("outside there is %v, %v", list, err)
	}
	dir := u.prepared("hostile")
	for _, config := range []string{`{"egress_allow_domains":["evil.example"]}`, `{"ports":[8080]}`, `{"env":{"LD_PRELOAD":"x"}}`} {
		write(t, dir+"/.agent-sandbox/config.json", config)
		u.fail(dir, "may only tighten", "start", ".")
	}
	for _, config := range []string{`{"protected":["../x"]}`, `{"unknown":1}`, `{`, `[]`} {
		write(t, dir+"/.agent-sandbox/config.json", config)
		u.fail(dir, "config.json", "start", ".")
	}
	write(t, dir+"/.agent-sandbox/config.json", `{"env":{"GREETING":"hello"},"protected":["README.md"]}`)
	u.run(dir, "trust", "--yes", ".agent-sandbox/config.json")
	name := strings.TrimSpace(u.run(dir, "start", "."))
	if out := u.inside(name, "echo $GREETING; echo x >README.md; echo x >.git/hooks/x"); out.stdout != "hello\n" || out.code == 0 {
		t.Errorf("with trust: %+v", out)
	}
}

func Test_Show_Run_Prints_The_Command_Of_Start(t *testing.T) {
	u := newUser(t)
	dir := u.prepared("show")
	r := repo.Repo{Path: dir}
	line := u.run(dir, "show-run", "--branch", "feat/x")
	for _, want := range []string{
		"docker run --rm -it --name " + r.Container("feat/x") + "-by-hand ", "--cap-drop ALL", "no-new-privileges", "--network none",
		"source=" + dir + ",target=/workspace/show ", "source=" + r.ShelfVolume() + ",target=/repo-shelf ",
		"target=/workspace/show/.agent-sandbox,readonly", "--workdir /repo-shelf/worktrees/feat__x " + r.Image() + "\n",
	} {
		if !strings.Contains(line, want) {
			t.Errorf("%q is not in\n%s", want, line)
		}
	}
}

// Y19: from the first command on, commands run as the workspace's owner and create files of
// that owner.
func Test_A_Workspace_Of_Any_Owner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	u := newUser(t)
	dir := u.prepared("other")
	u.git(dir, "config", "--global", "--add", "safe.directory", dir)
	if err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, 1234, 1235)
	}); err != nil {
		t.Fatal(err)
	}
	name := strings.TrimSpace(u.run(dir, "start", "--branch", "x/y", "."))
	out := u.inside(name, "id -u; id -g; touch ~/f ~/.claude/f ~/.codex/f /commandhistory/f && rm ~/.claude/f ~/.codex/f && "+
		"echo x >b && git add b && git commit -q -m two && git push -q host x/y && freeclaude --version")
	if out.code != 0 || !strings.HasPrefix(out.stdout, "1234\n1235\n") || !strings.Contains(out.stdout, "Claude Code") {
		t.Errorf("%+v", out)
	}
	info, err := os.Stat(filepath.Join(dir, ".git/refs/heads/x/y"))
	if err != nil {
		t.Fatal(err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Uid != 1234 || st.Gid != 1235 {
		t.Errorf("what was made belongs to %+v", info.Sys())
	}
}

func Test_A_Sandbox_Is_Made_Anew_When_Its_Image_Changes(t *testing.T) {
	u := newUser(t)
	dir := u.prepared("anew")
	name := strings.TrimSpace(u.run(dir, "start"))
	u.inside(name, "echo x >~/gone; echo x >/commandhistory/stays")
	write(t, dir+"/.agent-sandbox/Dockerfile", "ARG BASE_IMAGE_TAG\nFROM agent-sandbox-base:${BASE_IMAGE_TAG}\nENV GREETING=hello\n")
	u.run(dir, "trust", "--yes", ".agent-sandbox/Dockerfile")
	out := u.try(dir, "", "start", "--build", "--base-tag", baseTag, ".")
	if out.code != 0 || !strings.Contains(out.stderr, "needs 'agent-sandbox stop'") {
		t.Errorf("while it runs: %+v", out)
	}
	if out := u.inside(name, "echo $GREETING; cat ~/gone"); out.stdout != "\nx\n" {
		t.Errorf("one that runs was changed: %+v", out)
	}
	u.run(dir, "stop")
	if out := u.try(dir, "", "start"); out.code != 0 || !strings.Contains(out.stderr, "made anew") {
		t.Errorf("after stop: %+v", out)
	}
	if out := u.inside(name, "echo $GREETING; cat ~/gone 2>/dev/null; cat /commandhistory/stays"); out.stdout != "hello\nx\n" {
		t.Errorf("made anew: %+v", out)
	}
	if out := u.try(dir, "", "init", "--force", "--base-tag", baseTag); out.code != 0 || !strings.Contains(out.stderr, "made .agent-sandbox/Dockerfile") {
		t.Errorf("init --force: %+v", out)
	}
	if out := u.inside(name, "true"); out.code == 0 {
		t.Error("init --force left the sandbox")
	}
}

func Test_The_Command_Of_Show_Run_Works_By_Hand(t *testing.T) {
	client, err := exec.LookPath("docker")
	if err != nil {
		t.Skip("no docker client: apt-get install docker.io")
	}
	u := newUser(t)
	dir := u.prepared("byhand")
	u.prefer(dir, `{"limits":{"pids":300}}`)
	u.run(dir, "start")
	u.run(dir, "stop") // a container exists already
	line := strings.TrimSpace(u.run(dir, "show-run"))
	line = strings.Replace(line, "docker run --rm -it ", client+" run --rm -i ", 1)
	by := func(script string) (string, error) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Stdin, cmd.Env = strings.NewReader(script), append(os.Environ(), "DOCKER_HOST="+lab.engine.Host)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := by("git log --format=%s; pwd; cat /sys/fs/cgroup/pids.max /sys/fs/cgroup/pids/pids.max 2>/dev/null; true\n")
	if want := "one\n/workspace/byhand\n364\n"; err != nil || out != want {
		t.Errorf("got %q, %v, want %q", out, err, want)
	}
	for what, script := range map[string]string{
		"verification":       "git commit -q --allow-empty --no-verify -m x",
		"git's hooks":        "echo x >.git/hooks/pre-commit",
		"its configuration":  "echo x >.agent-sandbox/x",
		"a user namespace":   "unshare -U true",
		"the network":        "timeout 5 bash -c '</dev/tcp/1.1.1.1/443'",
		"the rights of root": "chroot / true",
	} {
		if out, err := by(script + "\n"); err == nil {
			t.Errorf("%s: allowed: %s", what, out)
		} else if strings.Contains(out, "deprecated") {
			t.Errorf("%s: %s", what, out)
		}
	}
}
