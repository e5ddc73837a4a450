//go:build linux

package escape_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func commands() []escape {
	deny := []string{"--cmd", "tac=false"}
	out := []escape{
		{
			ID: "D20.1", Name: "a denied command is denied by every name of its file", Flags: deny,
			Sh: `echo hi >f; ln -s /usr/bin/tac link; cp /usr/bin/tac copy; ln /usr/bin/tac hard 2>/dev/null
				run() { out=$("$@" f 2>/dev/null) && [ "$out" = hi ] && echo "OPEN $*"; }
				run tac; run /usr/bin/tac; run /bin/tac; run /proc/self/root/usr/bin/tac; run ./link; run ./copy; run ./hard
				run env tac; run command tac; run xargs -a /dev/null tac; run /lib64/ld-linux-x86-64.so.2 /usr/bin/tac
				run nice tac; run setsid tac; run timeout 5 tac; run sh -c 'exec tac "$0"'; run find f -exec tac {} ';'
				run sh -c 'exec -a other tac "$0"'; run bash -c 'exec -a cat /usr/bin/tac "$0"'; true`,
		},
		{
			ID: "D20.2", Name: "a program that does what a denied one does is in the same isolation", Flags: append(deny, "--cmd", "tee=false"),
			Sh: `cp /bin/busybox b 2>/dev/null; for t in 'busybox tee' './b tee' 'dd of' 'sh -c "cat >$0"'; do echo x | $t {home}/planted; done
				echo x >{home}/planted; python3 -c 'open("{home}/planted","w")'; perl -e 'open(F,">{home}/planted")'; {attacker} memfd create open {home}/planted`,
		},
		{
			ID: "D20.3", Name: "the isolation cannot be switched off from inside",
			// Without a sandbox the first part would affect the host itself.
			Sh: processesScript + `if [ $inside ]; then
					rm -rf /run/agent-sandbox; mv /run/agent-sandbox /run/x; echo x >/run/agent-sandbox/agent-sandbox
					umount /run/agent-sandbox; kill -9 1; kill -STOP 1; fi
				{base}/../agent-sandbox exec --rw {home} -- sh -c 'echo x >{home}/planted'
				bwrap --bind / / sh -c 'echo x >{home}/planted'; chroot / sh -c 'echo x >{home}/planted'
				sudo -n sh -c 'echo x >{home}/planted'; su root -c 'echo x >{home}/planted' </dev/null; echo x >{home}/planted`,
			Ends: true,
		},
	}
	return append(append(out, gitRules()...), escape{
		ID: "D20.37", Name: "work in a project below the host's /tmp is not lost either", Dir: "{scratch}/project", Flags: []string{"-C", "{scratch}/project"},
		Setup: func(h *host) {
			h.runScript("mkdir {scratch}; cp -r {work} {scratch}/project; echo mine >>{scratch}/project/src/main.go; echo new >{scratch}/project/untracked")
		},
		Sh: "git reset --hard; git checkout -- .; git clean -fdx; git stash clear",
		Hold: func(h *host, _ outcome) error {
			got, err := os.ReadFile(h.path("{scratch}/project/src/main.go"))
			if err == nil && !bytes.Contains(got, []byte("mine")) {
				err = errors.New("a change is lost")
			}
			_, gone := os.Lstat(h.path("{scratch}/project/untracked"))
			return errors.Join(err, gone)
		},
	})
}

// keep returns a case about the built-in rules of git: uncommitted work and commits
// that only refs hold must survive.
func keep(n int, command string) escape {
	return escape{
		ID: fmt.Sprintf("D20.%d", 10+n), Name: "work is not lost by " + command,
		Setup: func(h *host) {
			h.runScript(`git -c advice.detachedHead=false init -q --bare ../remote.git; git remote add origin ../remote.git
				git push -q origin main feature; git commit -q --allow-empty -m third
				git checkout -q feature; git commit -q --allow-empty -m only-here; git checkout -q main
				git -C ../remote.git update-ref refs/heads/theirs "$(git -C ../remote.git commit-tree -m theirs "$(git write-tree)" 2>/dev/null || git rev-parse main~1)"
				echo stashed >>src/main.go; git stash -q
				echo mine >>src/main.go; echo new >untracked; mkdir -p stuff; echo s >stuff/s`)
			h.vars["refs"] = h.refs()
		},
		Flags: []string{"--rw", "{home}/remote.git"},
		Sh:    command,
		Hold: func(h *host, _ outcome) error {
			var errs []error
			for name, want := range map[string]string{"src/main.go": "mine", "untracked": "new", "stuff/s": "s"} {
				if got, err := os.ReadFile(filepath.Join(h.work, name)); err != nil || !bytes.Contains(got, []byte(want)) {
					errs = append(errs, fmt.Errorf("the change in %s is lost (%v)", name, err)) //nolint:errorlint // the error may be nil
				}
			}
			if refs := h.refs(); refs != h.vars["refs"] {
				errs = append(errs, fmt.Errorf("refs changed:\n%s\nwere\n%s", refs, h.vars["refs"]))
			}
			return errors.Join(errs...)
		},
	}
}

func (h *host) refs() string {
	out, err := h.command(h.work, "git", "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/tags", "refs/stash").Output()
	h.must(err)
	return string(out)
}

func gitRules() []escape {
	var out []escape
	for i, command := range []string{
		"git checkout -- .", "git restore .", "git reset --hard", "git clean -fdx", "git branch -D feature",
		"git checkout-index -f -a", "git read-tree -u --reset HEAD", "git switch --discard-changes -C feature main", "git rm -rf .",
		"git branch -f feature main", "git tag -f v1 feature", "git update-ref -d refs/heads/feature",
		"git stash drop; git stash clear", "git -C src/.. reset --har", "git --work-tree=. checkout -f",
		"git -c alias.x='reset --hard' x",
		"GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0='reset --hard' git x",
		"/usr/lib/git-core/git reset --hard", "sh -c 'exec git reset --hard'",
		"env git reset --hard", "/usr/bin/git reset --hard", "xargs -a /dev/null git reset --hard",
		"git clean -dfx -e nothing", "git push . +main:feature", "git push -f . main:feature", "git checkout HEAD .",
	} {
		out = append(out, keep(i+1, command))
	}
	return out
}

// work holds commands that must work in the sandbox. Its cases have no control, because the
// commands work without a sandbox as well.
func work() []escape {
	none := control{None: "it is meant to succeed"}
	do := func(n int, name, dir, script string, hold func(*host, outcome) error) escape {
		c := escape{
			ID: fmt.Sprintf("D30.%d", n), Name: name, Sh: "set -e\n" + script, Control: none,
			Hold: func(h *host, o outcome) error {
				if o.code != 0 {
					return fmt.Errorf("exit code %d", o.code)
				}
				if hold != nil {
					return hold(h, o)
				}
				return nil
			},
		}
		if dir != "" {
			c.Dir, c.Flags = dir, []string{"-C", dir}
		}
		return c
	}
	subject := func(dir, want string) func(*host, outcome) error {
		return func(h *host, _ outcome) error {
			got, err := h.command(h.path(dir), "git", "log", "-1", "--format=%s").Output()
			if err != nil || strings.TrimSpace(string(got)) != want {
				return fmt.Errorf("the last commit in %s is %q (%w), want %q", dir, got, err, want)
			}
			return nil
		}
	}
	out := []escape{
		do(1, "git commits", "", `echo x >new; git status --short; git add -A; git commit -qm inside`, subject("{work}", "inside")),
		do(2, "git commits in a linked work tree", "{home}/wt", `echo x >new; git add -A; git commit -qm inside`, subject("{home}/wt", "inside")),
		do(3, "git commits in a submodule", "", `cd module; echo x >new; git add -A; git commit -qm inside`, subject("{work}/module", "inside")),
		do(4, "git commits in a nested repository", "", `cd sub/deep/nested; echo x >new; git add -A; git commit -qm inside`, subject("{work}/sub/deep/nested", "inside")),
		do(5, "git gc, branches, merges and tags", "", `git branch b; git switch -q b; git commit -q --allow-empty -m b; git switch -q main; git merge -q b; git tag t; git branch -d b; git gc -q; git fsck`, nil),
		do(6, "a message of -n is a message", "", `git commit -q --allow-empty -m "-n"`, subject("{work}", "-n")),
		do(7, "a dry run of clean is no clean", "", `git clean -n -fdx`, nil),
		do(8, "files with the names of protected ones are free elsewhere", "", `mkdir -p src/x; echo x >src/x/settings.json; echo x >HEAD; mkdir -p refs-of; echo x >src/config`, nil),
	}
	return append(out, escape{
		ID: "D30.9", Name: "commands run where the hard limit of core dumps is 0", Ends: true, Control: none,
		Launch: []string{"/bin/bash", "-c", "ulimit -Sc 0; ulimit -Hc 0; exec {base}/../agent-sandbox exec {flags} -- sh -c 'echo tried'"},
		Hold: func(_ *host, o outcome) error {
			if o.code != 0 || !o.tried() {
				return fmt.Errorf("exit code %d", o.code)
			}
			return nil
		},
	})
}
