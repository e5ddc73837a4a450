//go:build linux

package escape_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// config writes a git configuration that creates a file on the host when git reads the tree.
const config = `printf '[core]\n repositoryformatversion = 0\n fsmonitor = "touch {home}/pwned; false"\n' > `

func repositories() []escape {
	const (
		existing = "write existing .git/hooks, .git/config"
		nested   = "nested repo hooks (depth 2)"
		other    = ".git/info/attributes, .git/modules/x/hooks"
	)
	// git status reads a bare repository that has a work tree.
	const bareConfig = `printf '[core]\n repositoryformatversion = 0\n bare = false\n worktree = .\n fsmonitor = "touch {home}/pwned; false"\n' > `
	bare := `mkdir -p $d/objects $d/refs; printf 'ref: refs/heads/main\n' >$d/HEAD; ` + bareConfig + `$d/config; `
	return []escape{
		{
			ID: "A6.1", Name: "no hook is written or changed", Matrix: existing,
			Sh: hookScript + `.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; cp .git/hooks/pre-commit .git/hooks/post-checkout
				` + hookScript + `.git/hooks/pre-push; chmod +x .git/hooks/*; ` + hookScript + `h; chmod +x h; mv h .git/hooks/post-commit
				ln -s {work}/h .git/hooks/post-checkout; mv .git/hooks .git/old; mkdir .git/hooks; ` + hookScript + `.git/hooks/pre-commit`,
			Hold: holdAll(holdGitSafe(), holdUnchanged(".git/hooks")),
		},
		{
			ID: "A6.2", Name: "git's configuration is not changed", Matrix: existing,
			Sh: `for kv in 'core.fsmonitor=touch {home}/pwned; false' 'core.hooksPath={work}/evil' 'core.sshCommand=touch {home}/pwned' \
					'core.pager=touch {home}/pwned' 'core.editor=touch {home}/pwned' 'gpg.program={work}/evil' 'diff.external={work}/evil' \
					'filter.x.clean=touch {home}/pwned' 'credential.helper=!touch {home}/pwned' 'alias.status=!touch {home}/pwned' \
					'include.path={work}/evil.config' 'uploadpack.packObjectsHook={work}/evil' 'submodule.module.update=!touch {home}/pwned'; do
					git config "${kv%%=*}" "${kv#*=}"; /usr/lib/git-core/git config "${kv%%=*}" "${kv#*=}"; done
				` + config + `.git/config; ` + config + `c; mv c .git/config; ` + config + `.git/config.lock; mv .git/config.lock .git/config
				rm -f .git/config; ln -sf {work}/c .git/config; sed -i s/core/core2/ .git/config`,
			Hold: holdAll(holdGitSafe(), holdUnchanged(".git/config")),
		},
		{
			ID: "A6.3", Name: "no configuration of a work tree is added", Matrix: existing,
			Setup: func(h *host) { h.runScript("git config extensions.worktreeConfig true") },
			Sh:    config + `.git/config.worktree; for d in .git/worktrees/wt; do ` + config + `$d/config.worktree; done`,
			Hold:  holdGitSafe(),
		},
		{
			ID: "A6.4", Name: "no attributes or excludes of the repository are changed", Matrix: other,
			Setup: func(h *host) {
				// A driver that the owner of the host has configured, for other files.
				h.runScript(`git config filter.tell.clean 'touch "$HOME/pwned"; cat'; rm -rf .git/info`)
			},
			Sh:   `mkdir -p .git/info; echo '* filter=tell' >.git/info/attributes; mv .git/info .git/i; mkdir .git/info; echo '* filter=tell' >.git/info/attributes; touch src/main.go; echo x >>src/main.go`,
			Hold: holdGitSafe(),
		},
		{
			ID: "A6.5", Name: "no hook or configuration of a submodule is changed", Matrix: other,
			Sh: `for d in .git/modules/module module/.git; do mkdir -p $d/hooks; ` + hookScript + `$d/hooks/pre-commit; chmod +x $d/hooks/pre-commit; ` + config + `$d/config; done
				mv .git/modules .git/m; cp -r .git/m .git/modules; ` + hookScript + `.git/modules/module/hooks/pre-commit; chmod +x .git/modules/module/hooks/*
				rm -f module/.git; echo "gitdir: {work}/evil" >module/.git; cp -r .git/modules/module evil; ` + config + `evil/config`,
			Hold: holdGitSafe(),
		},
		{
			ID: "A6.6", Name: "no modules directory is planted for a submodule to come", Matrix: other,
			Setup: func(h *host) {
				h.runScript("git submodule --quiet deinit -f module; rm -rf .git/modules")
			},
			Sh: `mkdir -p .git/modules/module/hooks .git/modules/module/objects .git/modules/module/refs
				echo 'ref: refs/heads/main' >.git/modules/module/HEAD; ` + config + `.git/modules/module/config
				` + hookScript + `.git/modules/module/hooks/post-checkout; chmod +x .git/modules/module/hooks/*`,
			Hold: holdGitSafe(),
		},
		{
			ID: "A6.7", Name: "no common directory is named that is not the repository's", Matrix: other,
			Sh: `cp -r .git fake; ` + config + `fake/config; echo {work}/fake >.git/commondir
				echo {work}/fake >.git/worktrees/wt/commondir; echo {work}/fake >sub/deep/nested/.git/commondir`,
			Hold: holdGitSafe(),
		},
		{
			ID: "A6.8", Name: "a work tree's .git file is not redirected", Matrix: other,
			Dir: "{home}/wt", Flags: []string{"-C", "{home}/wt"},
			Sh: `cp -r {work}/.git fake; ` + config + `fake/config; mkdir -p fake/hooks; echo "gitdir: {home}/wt/fake" >.git
				mv .git g; echo "gitdir: {home}/wt/fake" >.git; rm -f .git; mv fake .git
				` + config + `{work}/.git/config; ` + hookScript + `{work}/.git/hooks/pre-commit; chmod +x {work}/.git/hooks/pre-commit
				` + config + `{work}/.git/worktrees/wt/config.worktree; echo {home}/wt/fake >{work}/.git/worktrees/wt/commondir
				echo /nowhere >{work}/.git/worktrees/wt/gitdir`,
			Hold: holdAll(holdGitSafe(), holdUnchanged(".git/config", ".git/hooks", ".git/worktrees/wt/commondir", ".git/worktrees/wt/gitdir")),
		},
		{
			ID: "A6.9", Name: "the hooks of a repository below are not written at any depth", Matrix: nested,
			Sh: `d=sub/deep/nested/.git; mkdir -p $d/hooks $d/info; ` + hookScript + `$d/hooks/pre-commit; chmod +x $d/hooks/pre-commit
				` + config + `$d/config; echo '* filter=x' >$d/info/attributes; mv $d ${d}2; cp -r ${d}2 $d; ` + config + `$d/config`,
			Hold: holdGitSafe(),
		},
		{
			ID: "A6.10", Name: "a repository in an ignored directory is protected too", Matrix: nested,
			Setup: func(h *host) {
				h.runScript("mkdir -p ignored/a/b/c/d/e/f/g; cd ignored/a/b/c/d/e/f/g; git init -q .; git commit -q --allow-empty -m first")
			},
			Sh: `d=ignored/a/b/c/d/e/f/g/.git; mkdir -p $d/hooks; ` + hookScript + `$d/hooks/pre-commit; chmod +x $d/hooks/pre-commit; ` + config + `$d/config
				mv ignored/a ignored/a2; cp -r ignored/a2 ignored/a; ` + config + `$d/config`,
			Hold: holdGitSafe("{work}/ignored/a/b/c/d/e/f/g"),
		},
		{
			ID: "A6.11", Name: "no bare repository is planted", Matrix: nested,
			Sh: `mkdir -p lib/docs; d=lib/docs; ` + bare + `mkdir p; d=p; ` + bare + `mv p lib/moved; mkdir -p q/o; cd q; mkdir refs; echo 'ref: refs/heads/main' >HEAD
				` + bareConfig + `config; mv o objects; cd ..; mkdir -p r/objects; cd r; ` + bareConfig + `config; echo 'ref: refs/heads/main' >x; mv x HEAD; mkdir y; mv y refs`,
			Hold: holdGitSafe("{work}/lib/docs", "{work}/lib/moved", "{work}/q", "{work}/r", "{work}/p"),
		},
		{
			ID: "A6.12", Name: "no new repository with hooks is made in the tree", Matrix: nested,
			Sh: `/usr/lib/git-core/git init -q new; git init -q new; mkdir -p new/.git/hooks; ` + hookScript + `new/.git/hooks/pre-commit; chmod +x new/.git/hooks/pre-commit; ` + config + `new/.git/config
				git clone -q . cloned; ` + config + `cloned/.git/config; mkdir s; echo "gitdir: {work}/.git/x" >s/.git; cp -r .git t.git; ` + config + `t.git/config`,
			Hold: holdGitSafe("{work}/new", "{work}/cloned", "{work}/s", "{work}/t.git"),
		},
		{
			ID: "A6.13", Name: "a repository made in the private /tmp does not move into the tree", Matrix: nested,
			Sh: `mkdir -p {scratch}; git init -q {scratch}/r; mkdir -p {scratch}/r/.git/hooks; ` + hookScript + `{scratch}/r/.git/hooks/pre-commit; chmod +x {scratch}/r/.git/hooks/pre-commit; ` + config + `{scratch}/r/.git/config
				mv {scratch}/r moved; cp -r {scratch}/r copied; mkdir linked; ln -s {scratch}/r/.git linked/.git; tar c -C {scratch} r | tar x
				mkdir alt; cp -r {scratch}/r/.git alt/; cp -r {scratch}/r/.git alt2`,
			Hold: holdGitSafe("{work}/moved", "{work}/copied", "{work}/linked", "{work}/r", "{work}/alt", "{work}/alt2"),
		},
		{
			ID: "A6.14", Name: "a directory that becomes a repository by exchange is refused", Matrix: nested,
			Sh: `mkdir -p v w/d; cd v; mkdir objects; ` + bareConfig + `config; echo 'ref: refs/heads/main' >HEAD; echo x >refs
				{attacker} exchange ../w/d refs; ln -s ../w/d refs; mkdir o; mv objects o2; mkdir refs; {attacker} exchange o objects; ln o2 objects; mv o2 objects`,
			Hold: holdGitSafe("{work}/v"),
		},
		{
			ID: "A6.15", Name: "no repository comes into being inside a git directory, for a link to lead to", Matrix: nested,
			Sh: `d=.git/foo; ` + bare + `ln -s .git/foo linked; d=.git/logs; ` + bare + `ln -s .git/logs logs
				mkdir -p .git/a/objects .git/a/r; d=.git/a; ` + bareConfig + `$d/config; echo 'ref: refs/heads/main' >$d/x; mv $d/x $d/HEAD; mv $d/r $d/refs; ln -s $d exchanged
				d=sub/deep/nested/.git/b; ` + bare + `ln -s $d below
				mkdir -p .git/c; echo 'ref: refs/heads/main' >.git/c/HEAD; d=lib/c; mkdir -p $d/objects $d/refs; ` + bareConfig + `$d/config; echo {work}/lib/c >.git/c/commondir; ln -s .git/c common`,
			Hold: holdGitSafe("{work}/linked", "{work}/logs", "{work}/exchanged", "{work}/below", "{work}/common", "{work}/.git/foo"),
		},
		{
			ID: "A6.16", Name: "no repository comes into being in a cache of the home, for a link to lead to", Matrix: nested,
			Setup: func(h *host) { h.runScript("mkdir -p ~/.cache/tool ~/.npm ~/go/pkg") },
			Sh: `for c in .cache/tool .npm go/pkg; do d={home}/$c/r; ` + bare + `ln -s $d linked-${c##*/}
				mkdir -p {home}/$c/w/.git/objects {home}/$c/w/.git/refs; d={home}/$c/w/.git; ` + bare + `ln -s {home}/$c/w work-${c##*/}; done`,
			Hold: func(h *host, o outcome) error {
				hold := holdGitSafe("{work}/linked-tool", "{work}/linked-.npm", "{work}/linked-pkg", "{work}/work-tool", "{work}/work-.npm", "{work}/work-pkg")
				err := hold(h, o)
				for _, cache := range []string{".cache/tool", ".npm", "go/pkg"} { // other files may stay there
					err = errors.Join(err, os.RemoveAll(filepath.Join(h.home, cache, "r")), os.RemoveAll(filepath.Join(h.home, cache, "w")))
				}
				return err
			},
		},
		{
			ID: "A6.17", Name: "a hard link to a symbolic link does not lead the search for planted names out of the tree",
			Setup: func(h *host) {
				h.runScript(`printf '{"filesystem":{"exclude":["x/.ssh"]}}' >.agent-sandbox.json`)
			},
			Sh:   `mkdir x; mkdir x/.ssh; rm -rf x; ln -s {home} l; ln -P l x; rm -rf x/.ssh`,
			Hold: holdAll(holdUnchanged("{home}/.ssh"), holdEmpty("{home}/.local/share/agent-sandbox/quarantine")),
		},
		{
			ID: "A6.21", Name: "no link takes the place of the directory in which git looks for the addresses of remote repositories", Matrix: other,
			Setup: func(h *host) { h.runScript("mkdir -p .git/branches") },
			Sh: `mkdir b; echo /nowhere >b/origin; rmdir .git/branches; ln -s ../b .git/branches; ln -s ../b l; ln -P l .git/branches; mv l .git/branches
				mv b .git/branches; cp -r b .git/branches; echo /nowhere >.git/branches/origin; {attacker} exchange b .git/branches; {attacker} tmpfile .git/branches/origin`,
			Hold: holdAbsent("{work}/.git/branches/origin"),
		},
		{
			ID: "A6.18", Name: "no repository comes into being in the git directory of a linked work tree's repository, for a link to lead to", Matrix: nested,
			Dir: "{home}/wt", Flags: []string{"-C", "{home}/wt"},
			Sh: `d={work}/.git/foo; ` + bare + `ln -s $d linked; d={work}/.git/worktrees/wt/foo; ` + bare + `ln -s $d own
				d={work}/.git/bar/.git; mkdir -p $d; ` + bare + `ln -s {work}/.git/bar below`,
			Hold: holdGitSafe("{home}/wt/linked", "{home}/wt/own", "{home}/wt/below"),
		},
		{
			ID: "A6.19", Name: "no repository comes into being in the git directory of a submodule, for a link to lead to", Matrix: nested,
			Dir: "{work}/module", Flags: []string{"-C", "{work}/module"},
			Sh: `d={work}/.git/modules/module/foo; ` + bare + `ln -s $d linked
				d={work}/.git/modules/module/bar/.git; mkdir -p $d; ` + bare + `ln -s {work}/.git/modules/module/bar below`,
			Hold: holdGitSafe("{work}/module/linked", "{work}/module/below"),
		},
		{
			ID: "A6.20", Name: "no repository comes into being in a /tmp that lasts, for a link to lead to", Matrix: nested,
			Flags: []string{"--tmp", "keep"},
			Sh: `mkdir /tmp/tmps; d=/tmp/tmps/bare; ` + bare + `mkdir -p /tmp/tmps/w/.git/objects /tmp/tmps/w/.git/refs; d=/tmp/tmps/w/.git; ` + bare + `
				mkdir /var/tmp/moved; d=/var/tmp/moved/bare; ` + bare + `mv /var/tmp/moved /tmp/tmps/moved`,
			Hold: func(h *host, o outcome) error {
				found, err := filepath.Glob(filepath.Join(h.home, ".local/share/agent-sandbox/tmp/*/files"))
				if err == nil && len(found) != 1 {
					err = fmt.Errorf("the directories for /tmp are %q", found)
				}
				for _, dir := range found { // where a link in the work tree can lead
					err = errors.Join(err, holdGitSafe(dir+"/tmps/bare", dir+"/tmps/w", dir+"/tmps/moved/bare")(h, o))
				}
				return err
			},
			Control: control{Flags: []string{"--tmp", "keep", "--preset", "!@git"}},
		},
	}
}
