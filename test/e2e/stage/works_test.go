//go:build linux

package stage_test

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// works are commands that change a tree; setup makes the tree.
var works = []struct{ name, setup, script string }{
	{"a commit is made", `git init -q; echo 1 >f; git add f; git commit -qm one`, `export GIT_AUTHOR_DATE=2026-01-01T00:00Z GIT_COMMITTER_DATE=2026-01-01T00:00Z; echo 2 >f; mkdir d; echo x >d/g; git add .; git commit -qm two; git branch other`},
	{"files are new", `echo 1 >f`, `mkdir -p a/b; echo x >a/b/c; echo y >n`},
	{"a directory is deleted", `mkdir -p a/b; echo x >a/b/c; echo y >a/d`, `rm -r a`},
	{"a mode changes", `echo 1 >f; mkdir d`, `chmod 755 f; chmod 700 d`},
	{"links are made and changed", `ln -s a l`, `ln -sfn b l; ln -s /etc/passwd m; ln -s .. n`},
	{"a file is binary", `printf 'a\0b' >f`, `printf 'c\0d\377' >f; printf '\0' >g`},
	{"names are odd", `echo 1 >$'new\nline'`, `echo 2 >$'new\nline'; echo 3 >$'\xff\xfe'; mkdir $'a\tb"\\'; echo 4 >$'a\tb"\\/-x'`},
	{"files are empty", `echo 1 >f; : >g`, `: >f; : >h; rm g`},
	{"hard links are made", `echo 1 >f`, `echo 2 >a; ln a b; ln a c`},
	{"a file becomes a directory and the reverse", `echo 1 >f; mkdir d; echo 2 >d/g`, `rm f; mkdir f; echo 3 >f/h; rm -r d; echo 4 >d`},
}

func Test_A_Staged_Command_Touches_Nothing_Until_Apply(t *testing.T) {
	t.Parallel()
	for _, w := range works {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			users(t, func(p *place) { p.compare(w.setup, w.script, "overlay") })
		})
	}
}

// compare runs the script on a stage, and without a stage on a copy of the workspace,
// and checks that the trees are equal after apply.
func (p *place) compare(setup, script, kind string) {
	p.Helper()
	p.sh(setup)
	before := p.sh(listing)
	p.sh(`cp -a . ../twin`)
	twin := *p
	twin.work = filepath.Join(p.home, "twin")
	twin.must(p.command, "exec", "--", "/bin/bash", "-ec", script)
	want := twin.sh(listing)
	out := p.staged(script)
	if strings.Count(out, "\n") != 1 || !strings.Contains(out, "in stage default: 'agent-sandbox stage diff' shows") {
		p.Errorf("a run says %q", out)
	}
	if got := p.sh(listing); got != before {
		p.Fatalf("the tree is\n%s\nwant\n%s", got, before)
	}
	if list, _ := p.stage("list"); !strings.Contains(list, kind) {
		p.Errorf("the stage is not %s:\n%s", kind, list)
	}
	if _, code := p.stage("diff"); code != 0 {
		p.Errorf("diff ends with %d", code)
	}
	if out, code := p.stage("apply"); code != 0 {
		p.Errorf("apply ends with %d\n%s", code, out)
	}
	if got := p.sh(listing); got != want {
		p.Errorf("after apply\n%s\nwant\n%s", got, want)
	}
	if out, code := p.stage("diff", "--name-status"); code != 0 || out != "" {
		p.Errorf("after apply there is still\n%s", out)
	}
	if strings.Contains(setup, "git init") {
		p.sh(`git fsck --strict; test -z "$(git status --short)"`)
	}
	if left := p.leftovers(); len(left) > 0 {
		p.Errorf("left: %q", left)
	}
}

// leftovers returns agent-sandbox's own names in the workspace, and unfinished stages.
func (p *place) leftovers() []string {
	p.Helper()
	out := strings.Fields(p.sh(`find . -name '.agent-sandbox-stage-*'`))
	half, err := filepath.Glob(filepath.Join(p.home, ".local/share/agent-sandbox/stages/.*"))
	if err != nil {
		p.Fatal(err)
	}
	return append(out, half...)
}

func Test_A_Stage_Is_A_Copy_If_The_Kernel_Refuses_An_Overlay(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can prepare a file system that refuses")
	}
	for _, w := range works {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			users(t, func(p *place) {
				p.overlaidHome()
				p.compare(w.setup, w.script, "copy")
			})
		})
	}
}

// overlaidHome puts the place on an overlay in its own mount namespace; the kernel
// refuses an overlay whose upper directory is on one.
func (p *place) overlaidHome() {
	p.Helper()
	p.mounted(`mkdir -p lower upper work; chown UID:UID upper; mount -t overlay overlay -o lowerdir=home,upperdir=upper,workdir=work home`)
}

// mounted runs every command of the place, after a script as root, in one new mount
// namespace that lives until the test ends.
func (p *place) mounted(script string) {
	p.Helper()
	script = "cd " + p.base + "; " + strings.ReplaceAll(script, "UID", strconv.Itoa(p.uid)) + "; echo ready; read forever"
	cmd := exec.Command("unshare", "--mount", "/bin/sh", "-ec", script) //nolint:noctx // ended below
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	cmd.Stderr = os.Stderr
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() {
		_, _ = in.Close(), cmd.Wait() // read ends without a line
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		p.Fatalf("%q, %v", line, err)
	}
	p.namespace = cmd.Process.Pid
}
