package command_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// plainID is the user and group ID of the plain user when the tests run as root.
const plainID = 1000

// days has the programs that a plain user can execute, and the homes below its directory.
type days struct {
	base, bin string
	id        int // of the user; 0: the user of this process
}

func newDays(t *testing.T) days {
	t.Helper()
	if os.Geteuid() != 0 {
		return days{base: scratchDir(t), bin: filepath.Join(scratch, "bin")}
	}
	// Another user cannot enter root's home, and a sandbox has its own /tmp.
	base, err := os.MkdirTemp("/srv", "agent-sandbox-day-") //nolint:usetesting // t.TempDir is in /tmp
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(base); err != nil {
			t.Error(err)
		}
	})
	if out, err := exec.CommandContext(t.Context(), "cp", "-r", filepath.Join(scratch, "bin"), base).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Chmod(base, 0o755); err != nil {
		t.Fatal(err)
	}
	return days{base: base, bin: filepath.Join(base, "bin"), id: plainID}
}

// newDaysOfUsers returns the same for a plain user and, where root runs the tests, for root.
func newDaysOfUsers(t *testing.T) map[string]days {
	t.Helper()
	plain := newDays(t)
	users := map[string]days{"plain user": plain}
	if plain.id != 0 {
		root := plain
		root.id = 0
		users["root"] = root
	}
	return users
}

// day is a plain user with a new home that contains a repository, and the programs in
// PATH.
type day struct {
	days

	home string
}

func (all days) begin(t *testing.T) day {
	t.Helper()
	home, err := os.MkdirTemp(all.base, "home-") //nolint:usetesting // t.TempDir is in /tmp
	if err == nil && all.id != 0 {
		err = os.Chown(home, all.id, all.id)
	}
	if err != nil {
		t.Fatal(err)
	}
	d := day{all, home}
	out, err := d.run(t, `mkdir shop && cd shop && git init -qb main && git config user.name Me && git config user.email me@example.com &&
		mkdir src && echo needle >src/a.txt && echo hello >notes.txt && printf '#!/bin/sh\necho ran\n' >x.sh && chmod +x x.sh && ln -s a.txt src/l &&
		git add . && git commit -qm first`)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return d
}

// run runs a script of the user in the repository, or in the home if there is no
// repository.
func (d day) run(t *testing.T, script string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
	cmd.Dir = d.home
	if dir := filepath.Join(d.home, "shop"); isDirectory(dir) {
		cmd.Dir = dir
	}
	if d.id != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(d.id), Gid: uint32(d.id)}}
	}
	cmd.Env = []string{"HOME=" + d.home, "LC_ALL=C", "PATH=" + d.bin + ":/usr/local/bin:/usr/bin:/bin"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func isDirectory(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func Test_What_A_Plain_User_Does_In_A_Day(t *testing.T) {
	if err := unavailable(t); err != nil {
		t.Skipf("bubblewrap cannot run here: %v", err)
	}
	all := newDays(t)
	for _, c := range []struct {
		name, script, want string // want is a regular expression for the whole output
	}{
		{
			"new files in memory", `agent-sandbox exec -q --backend virtual --apply -- sh -c 'sed -i s/hello/bye/ notes.txt; mkdir d; echo x >d/f; rm x.sh' 2>/dev/null
			cat notes.txt d/f; test ! -e x.sh`, `bye\nx\n`,
		},
		{"sizes in memory", `agent-sandbox exec -q --backend virtual -- sh -c 'stat -c %b notes.txt; du notes.txt; ls -s notes.txt'`, `8\n4\tnotes.txt\n4 notes.txt\n`},
		{"the contract in memory", `agent-sandbox selftest --backend virtual | tail -1`, `(\d+) of (\d+) hold\n`},
		{
			"trees and files go in", `agent-sandbox create w && agent-sandbox put src w:copy && agent-sandbox put notes.txt w:other &&
			agent-sandbox exec --in w -- cat copy/l copy/a.txt other; agent-sandbox destroy w`, `w\nneedle\nneedle\nhello\n`,
		},
		{
			"a relative program, and a search without input",
			`agent-sandbox create r && agent-sandbox exec --in r -- ./x.sh; agent-sandbox exec --in r -- grep -rl needle; agent-sandbox destroy r`,
			`r\nran\nsrc/a.txt\n`,
		},
		{
			"a history that cannot be written is no news", `agent-sandbox exec -- sh -c 'echo x >~/.bash_history' 2>&1 | grep -c refused
			agent-sandbox exec -v -- sh -c 'echo x >~/.bash_history' 2>&1 | grep -c 'refused:'`, `0\n1\n`,
		},
		{
			"a home without settings is no news after success", `agent-sandbox exec -- sh -c 'mkdir ~/.config 2>/dev/null; git branch x && git branch -d x' 2>&1 | grep -c refused
			agent-sandbox exec -- sh -c 'mkdir ~/.config' 2>&1 | grep -c 'create .*/\.config: '`, `0\n1\n`,
		},
		{
			"what the host refuses, too, has no fix", `agent-sandbox exec -- unshare -n true 2>&1 | grep -c -e --userns; agent-sandbox exec -- unshare -U true 2>&1 | grep -c -e --userns
			agent-sandbox exec --userns -- unshare -U true && echo done`, `0\n1\ndone\n`,
		},
		{
			"caches of a fresh home", `agent-sandbox exec --dry-run -- true >/dev/null; ls -d ~/.cache 2>/dev/null
			agent-sandbox exec -- sh -c 'echo x >~/.cache/x' && cat ~/.cache/x`, `x\n`,
		},
		{
			"the cache of Yarn in a fresh home", `mkdir ~/path; printf '#!/bin/sh\necho zip >~/.yarn/berry/x.zip; mkdir ~/.yarn/bin ~/.m2\n' >~/path/yarn; chmod +x ~/path/yarn
			PATH=~/path:$PATH; agent-sandbox exec -q -- yarn 2>/dev/null; ls -d ~/.m2 ~/.yarn/bin 2>/dev/null; find ~/.yarn -type f | sed "s,$HOME/,,"`, `.yarn/berry/x.zip\n`,
		},
		{
			"a subdirectory of a persistent sandbox",
			`agent-sandbox create s && cd src && agent-sandbox exec --in s -- ../x.sh; agent-sandbox exec --in s -- sh -c 'basename "$PWD"'
			agent-sandbox exec --in s -C /tmp -- pwd; cd / && agent-sandbox exec --in s -- sh -c 'basename "$PWD"'; agent-sandbox destroy s`,
			`s\nran\nsrc\n/tmp\nshop\n`,
		},
		{
			"a limit of time in a persistent sandbox", `agent-sandbox create t; agent-sandbox exec --in t --limit wall=300ms -- sleep 60; echo $?
			agent-sandbox exec --in t --limit wall=60s -- echo done; agent-sandbox exec --in t --limit pids=5 -- true; echo $?; agent-sandbox destroy t`,
			`t\nagent-sandbox: the command was killed: wall-clock limit of 300ms\n124\ndone\nagent-sandbox: --in supports only --limit wall=TIME; .*\nhint: .*\n125\n`,
		},
		{
			"files in tmp last", `agent-sandbox exec --tmp keep -- sh -c 'echo x >/tmp/f; chmod 0 /tmp'; agent-sandbox exec -- cat /tmp/f
			agent-sandbox exec --tmp keep --userns -- sh -c 'cat /tmp/f; echo y >>/tmp/f'; agent-sandbox exec --tmp keep -- sh -c 'cat /tmp/f; rm /tmp/f; ls -A /tmp'
			stat -c %a ~/.local/share/agent-sandbox/tmp ~/.local/share/agent-sandbox/tmp/*/files`, `cat: /tmp/f: .*\nx\nx\ny\n700\n700\n`,
		},
		{"branches", `agent-sandbox exec -- git checkout -q -b x && agent-sandbox exec -- git checkout -q main && git branch`, `\* main\n  x\n`},
		{
			"the fix of git config", `agent-sandbox exec -- git config user.name A 2>&1 | grep -o -e '--rw .*'
			fix=$(agent-sandbox exec -- git config user.name A 2>&1 | grep -o -e '--rw .*'); agent-sandbox exec $fix -- git config user.name A && git config user.name`,
			`--rw .*/shop/\.git/config\nA\n`,
		},
		{
			"the fix of git init",
			`fix=$(agent-sandbox exec -- git init q 2>&1 | grep -o -e '--rw .*'); agent-sandbox exec $fix -- git init -qb main q && git -C q rev-parse --git-dir`,
			`\.git\n`,
		},
		{"a file that is missing", `agent-sandbox explain .env | head -1`, `path ~/shop/\.env: .*\n`},
		{"run for exec", `agent-sandbox run ls`, `agent-sandbox: unknown command "run"\nhint: did you mean 'agent-sandbox exec ls'\?\n`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, _ := all.begin(t).run(t, c.script) // the output contains the errors
			if !regexp.MustCompile(`\A` + c.want + `\z`).MatchString(out) {
				t.Errorf("printed %q, want %s", out, c.want)
			}
			if figures, ok := strings.CutSuffix(out, " hold\n"); ok {
				if held, of, _ := strings.Cut(figures, " of "); held != of {
					t.Errorf("%s of %s cases hold", held, of)
				}
			}
		})
	}
}
