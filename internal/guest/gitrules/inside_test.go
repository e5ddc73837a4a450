package gitrules

import (
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/guest/guesttest"
)

// In the sandbox, with the real git behind the wrapper.
const repositorySetup = `
git init -q -b main; git config user.name a; git config user.email a@example.com
echo one > file; git add file; git commit -qm one; echo two >> file; git commit -qam two
`

func newGitBox(t *testing.T) *guesttest.Box {
	t.Helper()
	b := guesttest.NewBox(t)
	b.WrapGit(t)
	b.Shell(t, repositorySetup).Check(t, 0, "", "")
	return b
}

func Test_Git_Runs_As_Itself_When_Nothing_Is_Refused(t *testing.T) {
	b := newGitBox(t)
	b.Run(t, "git", "log", "--format=%s").Check(t, 0, "two\none\n", "")
	b.Run(t, "git", "no-such-command").Check(t, 1, "", "is not a git command")
	b.Run(t, "git-upload-pack").Check(t, 129, "", "usage: git") // by argv 0
	b.Run(t, "/bin/bash", "-c", "exec -a other git log -1 --format=%s").Check(t, 0, "two\n", "")
	b.Shell(t, `git --exec-path; test "$(git rev-parse --show-toplevel)" = /home/w`).Check(t, 0, "git-core", "")
	b.Shell(t, `git status --short -z | cat; git cat-file --batch-check <<< HEAD`).Check(t, 0, "commit", "")
}

func Test_Git_Is_Refused_However_It_Is_Called(t *testing.T) {
	b := newGitBox(t)
	for name, script := range map[string]string{
		"by name":                 `git stash clear`,
		"by path":                 `/usr/bin/git stash clear`,
		"in its exec path":        `"$(git --exec-path)"/git stash clear`,
		"by a link of its own":    `"$(git --exec-path)"/git-stash clear`,
		"by another argv 0":       `(exec -a ls git stash clear)`,
		"by a link elsewhere":     `ln -s /usr/bin/git /tmp/g; /tmp/g stash clear`,
		"with a false PWD":        `PWD=/tmp git stash clear`,
		"from /tmp with -C":       `cd /tmp; git -C /home/w stash clear`,
		"from /tmp with GIT_DIR":  `cd /tmp; GIT_DIR=/home/w/.git GIT_WORK_TREE=/home/w git stash clear`,
		"by an alias":             `cat >> .git/config <<< '[alias] x = stash clear'; git x`,
		"by an alias of an alias": `cat >> .git/config <<< $'[alias]\ny = x\nx = stash clear'; git y`,
		"by an alias to a shell":  `cat >> .git/config <<< '[alias] z = !git stash clear'; git z`,
		"by a hook":               `printf '#!/bin/sh\ngit stash clear\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; git commit --allow-empty -m x`,
		"by rebase --exec":        `rm -f .git/hooks/*; git rebase -x 'git stash clear' HEAD~1`,
		"by bisect run":           `git bisect start HEAD HEAD~1; git bisect run git stash clear`,
		"by submodule foreach":    `git -c protocol.file.allow=always submodule add -q ./. sub || true; git submodule foreach git stash clear`,
	} {
		t.Run(name, func(t *testing.T) {
			b := newGitBox(t)
			got := b.Shell(t, `echo precious > untracked; `+script)
			if !strings.Contains(got.Stderr+got.Stdout, "agent-sandbox: git stash clear is blocked: it deletes stashed work\nhint: leave") {
				t.Errorf("not refused: %+v", got)
			}
		})
	}
	for _, dir := range []string{"/tmp/r", "/var/tmp/r"} {
		b.Shell(t, "git init -q "+dir+"; cd "+dir+"; git commit -q --allow-empty -m x; git reset -q --hard; git checkout -q -b y").Check(t, 0, "", "")
	}
}

// A project of the host whose own path begins with /tmp is mounted there, in the sandbox's own /tmp.
func Test_Git_Is_Refused_In_A_Project_Below_Tmp(t *testing.T) {
	b := newGitBox(t)
	b.Add("--bind", b.Work(), "/tmp/project", "--chdir", "/tmp/project")
	for name, script := range map[string]string{
		"in it":                       `git stash clear`,
		"in a directory of it":        `mkdir -p d; cd d; git stash clear`,
		"by -C from the private part": `cd /tmp; git -C project stash clear`,
		"by a link from there":        `ln -s project /tmp/link; cd /tmp/link; git stash clear`,
		"in a linked work tree":       `git worktree add -q -b wt /tmp/wt; cd /tmp/wt; git stash clear`,
		"by an index that is a link to nothing": `ln -s project/none /tmp/index; git init -q /tmp/r; cd /tmp/r
			GIT_INDEX_FILE=/tmp/index git stash clear`,
	} {
		t.Run(name, func(t *testing.T) {
			got := b.Shell(t, script)
			if !strings.Contains(got.Stderr, "git stash clear is blocked") {
				t.Errorf("not refused: %+v", got)
			}
		})
	}
	b.Shell(t, "git init -q /tmp/r; cd /tmp/r; git commit -q --allow-empty -m x; git reset -q --hard").Check(t, 0, "", "")
}

// A command that could discard uncommitted work is refused if there is any.
func Test_Git_Is_Refused_If_Work_Would_Be_Lost(t *testing.T) {
	const dirty, staged, untracked, deleted = `echo mine >>file`, `echo mine >>file; git add file; git restore -q --source HEAD -W file 2>/dev/null || git show HEAD:file >file`,
		`echo mine >new`, `rm file`
	for _, row := range []struct{ state, command, refused string }{
		{"true", "git checkout -q side", ""},
		{"true", "git checkout -q -b x", ""},
		{"true", "git checkout -q side --", ""},
		{"true", "git checkout -q -", ""},
		{dirty, "git checkout -q -b x", ""},
		{dirty, "git checkout -q same", ""},
		{"true", "git checkout -q -- file", ""},
		{"true", "git checkout -q HEAD~1 -- file", ""},
		{"true", "git checkout -q HEAD~1 file", ""},
		{"true", "git checkout -q .", ""},
		{"true", "git checkout -qf side", ""},
		{"true", "git switch -q --discard-changes side", ""},
		{"true", "git restore -s HEAD~1 file", ""},
		{"true", "git reset -q --hard HEAD~1", ""},
		{deleted, "git checkout -q file", ""},
		{deleted, "git restore .", ""},
		{deleted, "git reset -q --hard", ""},
		{untracked, "git reset -q --hard", ""},
		{untracked, "git checkout -q file", ""},
		{dirty + "; git stash -q", "git stash pop -q", ""},
		{dirty, "git checkout -- file", "git checkout"},
		{dirty, "git checkout file", "git checkout"},
		{dirty, "git checkout .", "git checkout"},
		{dirty, "mkdir -p d && cd d && git checkout ..", "git checkout"},
		{dirty, "git -C . checkout HEAD file", "git checkout"},
		{dirty, "git checkout -f side", "git checkout"},
		{dirty, "git checkout -m side", "git checkout"},
		{dirty, "git switch --discard-changes side", "git switch --discard-changes"},
		{dirty, "git restore file", "git restore"},
		{dirty, "git restore -SW file", "git restore"},
		{dirty, "git reset --hard", "git reset --hard"},
		{dirty, "git -c diff.relative=true -c diff.ignoreSubmodules=all reset --hard", "git reset --hard"},
		{dirty, "GIT_LITERAL_PATHSPECS=1 git reset --hard", "git reset --hard"},
		{dirty, "GIT_EXTERNAL_DIFF=true git reset --hard", "git reset --hard"},
		{staged, "git checkout HEAD -- file", "git checkout"},
		{staged, "git reset --hard", "git reset --hard"},
		{untracked, "git checkout HEAD -- .", "git checkout"},
		{untracked, "git checkout -f side", "git checkout"},
		{untracked, "git reset --hard side", "git reset --hard"},
		{untracked, "git clean -fd", "git clean"},
	} {
		t.Run(row.command+" after "+row.state, func(t *testing.T) {
			b := newGitBox(t)
			b.Shell(t, `git branch same; git switch -qc side; echo s >new; git add new; git commit -qm side; git switch -q main`).Check(t, 0, "", "")
			got := b.Shell(t, row.state+" && "+row.command)
			if row.refused == "" {
				got.Check(t, 0, "", "")
			} else if !strings.Contains(got.Stderr, "agent-sandbox: "+row.refused+" is blocked") {
				t.Errorf("not refused: %+v", got)
			}
		})
	}
}

// Commands of git that run refused commands, or scripts that do.
func Test_Calls_That_Git_Makes_Itself_Pass(t *testing.T) {
	for name, script := range map[string]string{
		"stash":              `echo x >> file; git stash; test "$(cat file)" = $'one\ntwo'; git stash apply; grep -q x file`,
		"stash of untracked": `echo x > new; git stash -u; test ! -e new; git stash apply; test -e new`,
		"stash of a path":    `echo x >> file; git stash push -- file; test "$(git diff)" = ""`,
		"stash under alias":  `cat >> .git/config <<< '[alias] st = stash'; echo x >> file; git st; git stash apply`,
		"merge --abort": `git switch -qc side HEAD~1; echo other >> file; git commit -qam side; git merge main && exit 1
			git merge --abort; test "$(git status --short)" = ""`,
		"an octopus merge": `for i in a b c; do git switch -qc $i main; echo $i > $i; git add $i; git commit -qm $i; done
			git switch -q main; git merge -qm all a b c; test -e a -a -e b -a -e c`,
		"an octopus merge with files merged one by one": `seq 30 > n; git add n; git commit -qm n
			i=0; for b in a b; do git switch -qc $b main; i=$((i+10)); sed -i "${i}s/.*/$b/" n; git commit -qam $b; done
			git switch -q main; git merge -qm all a b; grep -q a n; grep -q b n`,
		"the resolve strategy": `seq 30 > n; git add n; git commit -qm n; git switch -qc a; sed -i 3s/.*/a/ n; git commit -qam a
			git switch -q main; sed -i 20s/.*/b/ n; git commit -qam b; git merge -qs resolve -m r a; grep -q a n; grep -q b n`,
		"rebase": `git switch -qc side HEAD~1; echo s > s; git add s; git commit -qm s; git rebase -q main; test "$(git log --format=%s | head -1)" = s`,
		"rebase with squash": `echo 3 >> file; git commit -qam three; echo 4 >> file; git commit -qam 'squash! three'
			git rebase -q -i --autosquash HEAD~2; test "$(git log --oneline | wc -l)" = 3`,
		"rebase with autostash": `git switch -qc side HEAD~1; echo s > s; git add s; git commit -qm s; echo t > s; git rebase -q --autostash main; test "$(cat s)" = t`,
		"rebase --exec":         `git rebase -q -x true HEAD~1`,
		"cherry-pick and revert": `git switch -qc side; echo s > s; git add s; git commit -qm s; git switch -q main
			git cherry-pick side; git revert --no-edit HEAD`,
		"am":            `git format-patch -q -1 --stdout > /tmp/p; git switch -qc side HEAD~1; git am -q < /tmp/p; git am --abort 2>/dev/null || true`,
		"bisect":        `for i in 1 2 3 4; do git commit -q --allow-empty -m $i; done; git bisect start HEAD HEAD~4; git bisect run true; git bisect reset`,
		"worktree":      `git worktree add -q ../h/tree -b wt; cd ../h/tree; echo x > x; git add x; git commit -qm x; cd /home/w; git worktree remove ../h/tree`,
		"clone":         `git clone -q . ../h/clone; cd ../h/clone; git pull -q; git switch -qc x; git push -q origin x`,
		"pull --rebase": `git clone -q . ../h/clone; echo 3 >> file; git commit -qam 3; cd ../h/clone; echo c > c; git add c; git commit -qm c; git pull -q --rebase`,
		"submodules": `git clone -q --bare . ../h/sub.git; git -c protocol.file.allow=always submodule add -q /home/h/sub.git sub; git commit -qm sub
			cd sub; git switch -q --detach HEAD~1; cd ..; git -c protocol.file.allow=always submodule update -q; git submodule foreach -q 'git status'
			git -c protocol.file.allow=always submodule update -q --force --checkout`,
		"gc":                `git gc -q; git maintenance run; git gc --auto`,
		"add -p":            `echo x >> file; yes | git add -p > /dev/null; git diff --cached --quiet && exit 1; true`,
		"a hook that works": `printf '#!/bin/sh\ngit status\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; git commit -q --allow-empty -m x`,
		"notes":             `git notes add -m x; git notes show`,
		"subtree":           `test -e "$(git --exec-path)/git-subtree" || exit 0; mkdir d; echo d > d/d; git add d; git commit -qm d; git subtree split -P d -b split`,
	} {
		t.Run(name, func(t *testing.T) {
			b := newGitBox(t)
			got := b.Shell(t, script)
			got.Check(t, 0, "", "")
			if strings.Contains(got.Stderr+got.Stdout, "is blocked") {
				t.Errorf("something was refused: %+v", got)
			}
		})
	}
}
