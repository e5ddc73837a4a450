//go:build linux

package escape_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/test/e2e/escape/attacker"
)

// processesScript begins scripts that look at every process. Without a sandbox $procs is only the script's own process,
// because the others belong to the machine.
const processesScript = `inside=; procs=/proc/self
	[ -e /run/agent-sandbox/agent-sandbox ] && inside=1 && procs='/proc/[0-9]*'; `

// hookScript writes a hook that leaves a file on the host when it runs.
const hookScript = `printf '#!/bin/sh\ntouch {home}/pwned\n' > `

// toolsHookScript writes such a hook into a directory that git may be configured to use.
const toolsHookScript = hookScript + `tools/hooks/pre-commit; chmod +x tools/hooks/pre-commit; mv tools t; mkdir -p tools/hooks; ` + hookScript + `tools/hooks/pre-commit; chmod +x tools/hooks/pre-commit`

// holdGitSafe runs git on the host as its user would, in the work tree and in other directories, and returns an error
// if git ran a program of the attacker.
func holdGitSafe(dirs ...string) func(*host, outcome) error {
	return func(h *host, _ outcome) error {
		for _, dir := range append([]string{"{work}", "{work}/sub/deep/nested", "{home}/wt", "{work}/module"}, dirs...) {
			dir = h.path(dir)
			if _, err := os.Stat(dir); err != nil {
				continue
			}
			for _, args := range [][]string{
				{"status", "--short"},
				{"add", "-A"},
				{"commit", "-q", "--allow-empty", "-m", "by the host"},
				{"checkout", "-q", "--detach"},
				{"submodule", "--quiet", "update", "--init"},
			} {
				// The output of git does not matter, only the programs that it runs.
				_ = h.command(dir, append([]string{"git"}, args...)...).Run()
			}
		}
		return h.checkAbsent("{home}/pwned")
	}
}

func (h *host) checkAbsent(names ...string) error {
	var errs []error
	for _, name := range names {
		if _, err := os.Lstat(h.path(name)); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("%s exists on the host (%s)", name, fmt.Sprint(err)))
		}
	}
	return errors.Join(errs...)
}

func holdAbsent(names ...string) func(*host, outcome) error {
	return func(h *host, _ outcome) error { return h.checkAbsent(names...) }
}

// holdEmpty holds if a directory has no entries, or does not exist.
func holdEmpty(dir string) func(*host, outcome) error {
	return func(h *host, _ outcome) error {
		entries, err := os.ReadDir(h.path(dir))
		if len(entries) > 0 {
			return fmt.Errorf("%s has %d entries", dir, len(entries))
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
}

func holdAll(holds ...func(*host, outcome) error) func(*host, outcome) error {
	return func(h *host, o outcome) error {
		var errs []error
		for _, hold := range holds {
			errs = append(errs, hold(h, o))
		}
		return errors.Join(errs...)
	}
}

func renames() []escape {
	const row = "rename .git + new hook on host"
	return []escape{
		{
			ID: "A1.1", Name: "a renamed .git does not make room for a new one", Matrix: row,
			Sh: `mv .git .git2; mkdir -p .git/hooks; ` + hookScript + `.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit
				cp -r .git2/. .git/ 2>/dev/null; ` + hookScript + `.git/hooks/post-checkout; chmod +x .git/hooks/*`,
			Hold: holdAll(holdGitSafe(), holdAbsent("{work}/.git2")),
		},
		{
			ID: "A1.2", Name: "a renamed parent of a nested repository does not make room for a new one", Matrix: row,
			Sh: `mv sub sub2; cp -r sub2 sub; for d in sub/deep/nested sub2/deep/nested; do
				mkdir -p $d/.git/hooks; ` + hookScript + `$d/.git/hooks/pre-commit; chmod +x $d/.git/hooks/pre-commit; done`,
			Hold: holdGitSafe("{work}/sub2/deep/nested"),
		},
		{
			ID: "A1.3", Name: "an exchange puts no prepared directory in the place of .git", Matrix: row,
			Sh: `cp -r .git fake; mkdir -p fake/hooks; ` + hookScript + `fake/hooks/pre-commit; chmod +x fake/hooks/pre-commit
				{attacker} exchange fake .git`,
			Hold: holdGitSafe(),
		},
		{
			ID: "A1.4", Name: "a deleted .git does not make room for a new one", Matrix: row,
			Sh: `cp -r .git copy; rm -rf .git; mv copy .git; mkdir -p .git/hooks
				` + hookScript + `.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`,
			Hold: holdGitSafe(),
		},
		{
			ID: "A1.5", Name: "a symbolic link does not take the place of .git", Matrix: row,
			Sh: `cp -r .git fake; mkdir -p fake/hooks; ` + hookScript + `fake/hooks/pre-commit; chmod +x fake/hooks/pre-commit
				mv .git away || rm -rf .git; ln -s fake .git`,
			Hold: holdGitSafe(),
		},
		{
			ID: "A1.6", Name: "a prepared directory does not become a protected one by rename",
			Matrix: "create .vscode/.mcp.json/.claude settings",
			Sh: `for n in .claude .cursor .codex .idea .devcontainer .husky; do
					mkdir d; echo x >d/settings.json; mv -T d $n; rm -rf d; done
				mkdir -p gh/workflows; echo x >gh/workflows/ci.yml; mv -T gh .github
				mv .vscode v; mkdir d; echo x >d/tasks.json; mv -T d .vscode`,
			Hold: holdAll(holdAbsent("{work}/.claude", "{work}/.cursor", "{work}/.codex", "{work}/.idea", "{work}/.devcontainer",
				"{work}/.husky", "{work}/.github/workflows/ci.yml"), holdUnchanged(".vscode")),
		},
		{
			ID: "A1.7", Name: "the work tree itself cannot be moved away",
			Sh:   `cd ..; mv project moved; mkdir -p project/.git/hooks; ` + hookScript + `project/.git/hooks/pre-commit`,
			Hold: holdAbsent("{home}/moved"),
		},
		{
			ID: "A1.8", Name: "a repository prepared inside .git does not move out into the tree", Matrix: row,
			Sh: `mkdir -p .git/x/objects .git/x/refs; echo 'ref: refs/heads/main' >.git/x/HEAD
				printf '[core]\n repositoryformatversion = 0\n bare = false\n worktree = .\n fsmonitor = "touch {home}/pwned; false"\n' >.git/x/config
				mv .git/x planted; mkdir y; mv .git/x y/.git; cp -r .git/x planted2`,
			Hold: holdGitSafe("{work}/planted", "{work}/planted2", "{work}/y"),
		},
		{
			ID: "A1.9", Name: "the directories above the work tree cannot be replaced",
			Sh: `mkdir -p {scratch}; mv {home} {base}/gone; rmdir {home}; ln -s {scratch} {home}/../link`,
		},
	}
}

// runLaterFiles are files in a project that programs of the host later execute or read as configuration. None exists in
// the host's work tree.
var runLaterFiles = []string{
	".mcp.json", ".envrc", ".claude/settings.json", ".claude/settings.local.json", ".claude/commands/x.md",
	".codex/config.toml", ".cursor/mcp.json", ".gemini/settings.json", ".opencode/x", "opencode.json",
	".idea/workspace.xml", ".zed/settings.json", ".devcontainer/devcontainer.json", ".github/workflows/ci.yml",
	".gitlab-ci.yml", ".circleci/config.yml", ".husky/pre-commit", ".githooks/pre-commit", ".pre-commit-config.yaml",
	".agent-sandbox.json", ".agent-sandbox.jsonc", ".bashrc", ".profile", ".zshenv", ".ripgreprc", "Jenkinsfile",
	".agent-sandbox/config.json", "lefthook.toml", ".hg/hgrc", ".helix/config.toml", ".exrc", ".nvim.lua", ".dir-locals.el",
	"mise.toml", ".github/hooks/x.json", ".azure-pipelines/x.yml", ".cirrus.yml", ".tekton/ci.yaml",
}

// obeyedBelow are names that programs of the host read as configuration in any directory in which a user works.
var obeyedBelow = []string{
	".vscode", ".idea", ".zed", ".devcontainer", ".helix", ".exrc", ".nvim.lua", ".dir-locals.el", ".mcp.json", ".claude", ".codex", ".cursor",
	".gemini", ".opencode", "opencode.json", ".envrc", ".husky", "mise.toml", ".hg", ".agent-sandbox", ".agent-sandbox.json",
}

// missingDirs are protected directories; another directory must not be moved to their names.
var missingDirs = []string{".claude", ".codex", ".cursor", ".idea", ".husky", ".devcontainer", ".zed", ".agent-sandbox", ".helix", ".tekton"}

func creations() []escape {
	var out []escape
	for i, m := range []struct{ method, name string }{
		{"open", "by open"},
		{"open-x", "by open with O_EXCL"},
		{"openat", "by openat below a descriptor"},
		{"openat2", "by openat2"},
		{"creat", "by creat"},
		{"mkdir", "as a directory"},
		{"mkdirat", "as a directory below a descriptor"},
		{"mknod", "by mknod"},
		{"fifo", "as a pipe"},
		{"symlink", "as a symbolic link"},
		{"link", "as a hard link"},
		{"rename", "by rename"},
		{"renamedir", "by rename of a directory"},
		{"renameat2", "by renameat2"},
		{"tmpfile", "by a link to an unnamed file"},
		{"bind", "as a socket"},
		{"cwd", "through /proc/self/cwd"},
		{"root", "through /proc/self/root"},
		{"thread", "through /proc/thread-self"},
		{"procfd", "through /proc/self/fd"},
		{"fchdir", "from its own directory"},
		{"slashes", "with doubled slashes"},
		{"dotdot", "through .."},
		{"alias", "through a link to the directory"},
		{"dangling", "through a dangling link"},
		{"dangling2", "through a chain of dangling links"},
		{"case", "in other letters"},
		{"long", "by a path of 4095 bytes"},
	} {
		c := escape{
			ID: fmt.Sprintf("A2.%d", i+1), Name: "a missing protected file does not come into being " + m.name,
			Go: append([]string{"create", m.method}, runLaterFiles...), Matrix: "create .vscode/.mcp.json/.claude settings",
		}
		if i%2 == 0 {
			c.Matrix = ".codex/.cursor/.envrc/CI/package.json"
		}
		if m.method == "renamedir" {
			c.Go = append([]string{"create", m.method}, missingDirs...)
		}
		if m.method == "creat" {
			c.Control.If = func() string {
				if attacker.CreatCall == 1<<20 {
					return "this architecture has no creat(2)"
				}
				return ""
			}
		}
		out = append(out, c)
	}
	return append(out,
		escape{
			ID: "A2.40", Name: "a missing hooks directory does not come into being", Matrix: "write existing .git/hooks, .git/config",
			Setup: func(h *host) { h.runScript("rm -rf .git/hooks .git/info; rm -rf sub/deep/nested/.git/hooks") },
			Sh: `for g in .git sub/deep/nested/.git; do mkdir -p $g/hooks $g/info
				` + hookScript + `$g/hooks/pre-commit; chmod +x $g/hooks/pre-commit; done`,
			Hold: holdAll(holdGitSafe(), holdAbsent("{work}/.git/hooks", "{work}/sub/deep/nested/.git/hooks")),
		},
		escape{
			ID: "A2.41", Name: "a dangling link in the repository does not lead to a protected file",
			Matrix: "create .vscode/.mcp.json/.claude settings",
			Setup:  func(h *host) { h.runScript("ln -s .mcp.json notes; ln -s ../.envrc src/notes") },
			Sh:     `echo x >notes; echo x >src/notes; cp src/main.go notes; tee notes </dev/null`,
			Hold:   holdAbsent("{work}/.mcp.json", "{work}/.envrc"),
		},
		escape{
			ID: "A2.42", Name: "threads that swap the path between check and open leave no protected file behind",
			Matrix: "create .vscode/.mcp.json/.claude settings",
			Go:     []string{"race", ".mcp.json"}, Ends: true, Hold: holdAbsent("{work}/.mcp.json"), Control: control{Luck: true},
		},
		escape{
			ID: "A2.43", Name: "threads that swap the path between check and rename leave no protected file behind",
			Matrix: "create .vscode/.mcp.json/.claude settings",
			Go:     []string{"renames", ".mcp.json"}, Ends: true, Hold: holdAbsent("{work}/.mcp.json"), Control: control{Luck: true},
		},
		escape{
			ID: "A2.44", Name: "threads that swap the path leave no hook behind", Matrix: "rename .git + new hook on host",
			Setup: func(h *host) { h.runScript("rm -rf .git/hooks; mkdir .git/zzzzz") },
			Go:    []string{"race", ".git/hooks"}, Ends: true, Hold: holdAbsent("{work}/.git/hooks"), Control: control{Luck: true},
		},
		timedRace("A2.48", "path", "a thread that changes the path at the right moment leaves no protected file behind"),
		timedRace("A2.49", "flags", "a thread that changes the flags at the right moment leaves no protected file behind"),
		timedRace("A2.50", "link", "a thread that changes a link on the way leaves no protected file behind"),
		flips("A2.52", "zmcp.json", ".mcp.json", "no call makes a protected name while threads swap the path"),
		flips("A2.53", "src/zxxx", "src/.git", "no call makes a repository while threads swap the path"),
		flips("A2.54", "src/bare/zzzzzzz", "src/bare/objects", "no call completes a repository while threads swap the path"),
		flips("A2.58", "src/bare/zzzzzzz", "src/bare/objects", "no socket completes a repository while its path is swapped", "bind"),
		flips("A2.59", "zmcp.json", ".mcp.json", "no socket has a protected name while its path is swapped", "bind"),
		swings("A2.60", "src/bare/objects", "no socket completes a repository while threads swap a link on the way", "bind"),
		swings("A2.61", ".mcp.json", "no call makes a protected name while threads swap a link on the way"),
		escape{
			ID: "A2.62", Name: "a protected file that the host replaces or removes while a command runs does not become the command's",
			Matrix: "create .vscode/.mcp.json/.claude settings",
			Setup: func(h *host) {
				h.runScript("echo {} >.mcp.json; mkdir -p .husky; echo x >.envrc; printf '#!/bin/sh\\n' >.git/hooks/pre-commit")
			},
			Sh: `echo ready; read go
				echo x >>.mcp.json; echo x >.husky/pre-commit; mkdir .husky; echo x >.husky/pre-commit; echo x >.envrc; ln -s src .envrc
				printf '[core]\n fsmonitor = "touch {home}/pwned; false"\n' >>.git/config; ` + hookScript + `.git/hooks/post-checkout; chmod +x .git/hooks/*
				mkdir .git/hooks; ` + hookScript + `.git/hooks/pre-commit; chmod +x .git/hooks/*`,
			During: func(h *host, _ *attempt) {
				h.runScript("git config user.signingkey x; echo {} >n; mv n .mcp.json; rm -r .git/hooks .husky .envrc")
				h.snapshot()
			},
			Hold: holdAll(holdUnchanged(".mcp.json", ".envrc", ".husky", ".git/config", ".git/hooks"), holdGitSafe()),
		},
		escape{
			ID: "A2.63", Name: "a protected file that the host replaces while a command runs is not written to on any way",
			Matrix: "create .vscode/.mcp.json/.claude settings",
			Setup:  func(h *host) { h.write("home/project/.mcp.json", "{}\n") },
			Sh: `echo ready; read go
				w() { echo x | dd of="$1" conv=notrunc,nocreat 2>/dev/null && echo OPEN "$1"; }
				w /dev/../$PWD/.mcp.json; w /proc/../$PWD/.mcp.json; w /proc/self/cwd/.mcp.json; w .git/config
				ln -s $PWD/.mcp.json /tmp/lost; w /tmp/lost; ln -s $PWD/.git/config /dev/shm/lost; w /dev/shm/lost
				exec 3<.mcp.json 4<.git/config; w /proc/self/fd/3; w /dev/fd/4; echo x >>/proc/self/fd/3; echo x >>/dev/fd/4
				ln .mcp.json m; w m; ln .git/config .git/x; w .git/x; ln -L /proc/self/fd/3 m2; w m2
				mv .mcp.json n; w n; mv .git/config .git/y; w .git/y; echo {} >o; mv -f o .mcp.json; ln -f src/main.go .mcp.json; true`,
			During: func(h *host, _ *attempt) {
				h.runScript("git config user.signingkey x; echo {} >n; mv n .mcp.json")
				h.snapshot()
			},
			Hold: holdAll(holdUnchanged(".mcp.json", ".git/config"), holdAbsent("{work}/m", "{work}/m2", "{work}/n", "{work}/.git/x", "{work}/.git/y")),
		},
		escape{
			ID: "A2.64", Name: "a directory that the host moves while a command works in it gets no protected name",
			Matrix: "create .vscode/.mcp.json/.claude settings",
			Setup:  func(h *host) { h.runScript("mkdir -p packages/app") },
			Dir:    "{work}/packages/app",
			Sh:     `echo ready; read go; echo x >.envrc; mkdir .vscode; echo x >.vscode/tasks.json; git init -q . 2>/dev/null; true`,
			During: func(h *host, _ *attempt) { h.runScript("mv packages moved; mkdir -p packages/app") },
			Hold:   holdAbsent("{work}/moved/app/.envrc", "{work}/moved/app/.vscode", "{work}/moved/app/.git"),
		},
		escape{
			ID: "A2.51", Name: "a directory that moves while it is filled leaves no protected directory behind",
			Matrix: ".codex/.cursor/.envrc/CI/package.json",
			Go:     []string{"moves", ".github", "workflows"}, Ends: true, Hold: holdAbsent("{work}/.github/workflows"), Control: control{Luck: true},
		},
		escape{
			ID: "A2.55", Name: "no file that programs of the host obey comes into being in a subdirectory",
			Matrix: ".codex/.cursor/.envrc/CI/package.json",
			Sh: `mkdir -p packages/app/lib; for n in ` + strings.Join(obeyedBelow, " ") + `; do
				echo x >packages/app/$n; mkdir packages/app/$n; ln -s ../x src/$n; mkfifo packages/app/lib/$n
				echo x >n; mv n src/$n; mkdir d; echo x >d/settings.json; mv -T d packages/app/lib/$n; rm -rf n d; done
				mkdir s; (cd s && echo x >.MCP.json; mkdir .Claude; echo x >.Claude/settings.json)
				ln -s packages/app/.envrc dangling; echo x >dangling`,
			Hold: func(h *host, _ outcome) error {
				var paths []string
				for _, name := range append([]string{".MCP.json", ".Claude"}, obeyedBelow...) {
					for _, dir := range []string{"packages/app", "packages/app/lib", "src", "s"} {
						paths = append(paths, "{work}/"+dir+"/"+name)
					}
				}
				return h.checkAbsent(paths...)
			},
		},
		escape{
			ID: "A2.56", Name: "a file in a subdirectory that programs of the host obey is not replaced, changed or removed",
			Matrix: ".codex/.cursor/.envrc/CI/package.json",
			Setup: func(h *host) {
				h.runScript(`mkdir -p packages/app/.vscode packages/app/.claude; cd packages/app
					for f in .vscode/tasks.json .claude/settings.json .envrc .mcp.json; do echo 'of the host' >$f; done`)
			},
			Sh: `cd packages/app; for f in .envrc .mcp.json .claude/settings.json .vscode/tasks.json; do
				echo x >$f; echo x >>$f; echo x >n; mv -f n $f; ln -sf n $f; rm -f $f; truncate -s 0 $f; ln $f linked && echo x >>linked
				cp --remove-destination ../../src/main.go $f; sed -i s/of/OF/ $f; done
				mv .claude c; mv .vscode v; rm -rf .claude .vscode; cd ..; mv app app2; mkdir -p app; echo x >app/.envrc; cd ..; mv packages p`,
			Hold: holdAll(holdUnchanged("packages/app/.vscode", "packages/app/.claude", "packages/app/.envrc", "packages/app/.mcp.json"),
				holdAbsent("{work}/packages/app2", "{work}/p")),
		},
		escape{
			ID: "A2.65", Name: "a file without a name does not get a protected one by a link", Matrix: "create .vscode/.mcp.json/.claude settings",
			Setup: func(h *host) { h.runScript("mkdir -p packages/app") },
			Sh: `{attacker} tmpfile .mcp.json .envrc packages/app/.envrc .git/hooks/post-checkout .git/commondir
				{attacker} tmpfile src/ordinary >/dev/null; [ -s src/ordinary ] || echo BROKEN no ordinary name`,
			Hold: holdAbsent("{work}/.mcp.json", "{work}/.envrc", "{work}/packages/app/.envrc", "{work}/.git/hooks/post-checkout", "{work}/.git/commondir"),
		},
		escape{
			ID: "A2.57", Name: "what a package has unpacked in a tree of dependencies does not become a project by rename",
			Matrix: ".codex/.cursor/.envrc/CI/package.json",
			Sh: `mkdir -p node_modules/a/.vscode src/vendor/b; echo x >node_modules/a/.vscode/tasks.json; echo x >src/vendor/b/.envrc
				mv node_modules/a app; mv src/vendor/b src/lib; mv src/vendor src/own; mv node_modules tools; mv node_modules/a/.vscode src/.vscode
				mkdir e; {attacker} exchange node_modules/a e; cp -r node_modules/a copied`,
			Hold: holdAbsent("{work}/app/.vscode", "{work}/src/lib/.envrc", "{work}/src/own/b/.envrc", "{work}/tools/a/.vscode", "{work}/src/.vscode",
				"{work}/e/.vscode", "{work}/copied/.vscode"),
		},
		escape{
			ID: "A2.45", Name: "a protected file that exists is not replaced, changed or removed",
			Matrix: "create .vscode/.mcp.json/.claude settings",
			Setup: func(h *host) {
				for _, name := range runLaterFiles {
					if !strings.HasPrefix(name, ".agent-sandbox") {
						h.write("home/project/"+name, "of the host\n")
					}
				}
			},
			Sh: `for f in .mcp.json .envrc .claude/settings.json .github/workflows/ci.yml .vscode/tasks.json .bashrc; do
				echo x >$f; echo x >>$f; echo x >n; mv -f n $f; ln -sf n $f; rm -f $f; truncate -s 0 $f; chmod 777 $f
				cp --remove-destination src/main.go $f; sed -i s/of/OF/ $f; done
				mv .claude c; mv .github g; mv .github/workflows w; mv .vscode v; rm -rf .claude .github .vscode`,
			Hold: holdUnchanged(".mcp.json", ".envrc", ".claude", ".github", ".vscode", ".bashrc"),
		},
		escape{
			ID: "A2.46", Name: "no configuration of our own can be left for the next run",
			Sh: `for f in .agent-sandbox.json .agent-sandbox.jsonc; do echo '{bad' >$f; mkdir $f; ln -s /nowhere $f; done
				mkdir -p {home}/.config/agent-sandbox; echo '{}' >{home}/.config/agent-sandbox/config.json`,
			Hold: holdAbsent("{work}/.agent-sandbox.json", "{work}/.agent-sandbox.jsonc", "{home}/.config/agent-sandbox"),
		},
		escape{
			ID: "A2.47", Name: "a start in a subdirectory protects the repository around it",
			Dir: "{work}/sub/deep",
			Sh: `for g in {work}/.git nested/.git; do mv $g $g.old && mv $g.old $g; ` + hookScript + `$g/hooks/pre-commit; chmod +x $g/hooks/pre-commit
				git config --file $g/config core.fsmonitor 'touch {home}/pwned; false'; done`,
			Hold: holdGitSafe(),
		},
	)
}

func timedRace(id, kind, name string) escape {
	return escape{
		ID: id, Name: name, Matrix: "create .vscode/.mcp.json/.claude settings",
		Go: []string{"timed", kind, ".mcp.json"}, Ends: true, Hold: holdAbsent("{work}/.mcp.json"), Control: control{Luck: true},
	}
}

// flips creates entries with calls, or with every call, while threads swap the harmless name for the target.
func flips(id, harmless, target, name string, calls ...string) escape {
	return racing(id, name, target, append([]string{"flips", harmless, target}, calls...))
}

// swings creates entries while threads swap a link in the path of the target.
func swings(id, target, name string, calls ...string) escape {
	return racing(id, name, target, append([]string{"swings", target}, calls...))
}

// racing is an attempt to win a race for target, which must not appear even for a moment. The sandbox does not end,
// because nothing appeared.
func racing(id, name, target string, attack []string) escape {
	return escape{
		ID: id, Name: name, Matrix: "create .vscode/.mcp.json/.claude settings",
		Setup: func(h *host) { h.runScript("mkdir -p src/bare/refs; echo ref: refs/heads/main >src/bare/HEAD") },
		Go:    attack,
		Hold: func(h *host, o outcome) error {
			if strings.Contains(o.stdout, "raced") {
				return fmt.Errorf("a try won the race\n%s", o)
			}
			return holdAbsent("{work}/"+target)(h, o)
		},
	}
}

func links() []escape {
	const row = "write ~/.bashrc (direct, symlink, /proc/self/root)"
	return []escape{
		{
			ID: "A3.1", Name: "a link in the work tree does not lead to a write outside", Matrix: row,
			Sh: `ln -s {home}/.bashrc l; echo x >>l; ln -s {home} h; echo x >>h/.bashrc; ln -s .. up; echo x >>up/.bashrc; echo x >up/new`,
		},
		{
			ID: "A3.2", Name: "a link in the work tree does not lead to a hidden file", Matrix: "read ~/.ssh key",
			Sh: `ln -s {home}/.ssh/id_ed25519 l; cat l; ln -s {home}/.ssh s; cat s/id_ed25519; ln -s {home}/.aws a; cat a/*`,
		},
		{
			ID: "A3.3", Name: "a dangling link does not make a file outside", Matrix: row,
			Sh: `ln -s {home}/.config/autostart/x.desktop l; mkdir -p {home}/.config/autostart; echo x >l
				ln -s {home}/planted m; echo x >m; cp src/main.go m`,
		},
		{
			ID: "A3.4", Name: "a hooks directory that is a link into the work tree is protected at its target",
			Setup: func(h *host) { h.runScript("rm -rf .git/hooks; mkdir myhooks; ln -s ../myhooks .git/hooks") },
			Sh: hookScript + `myhooks/pre-commit; chmod +x myhooks/pre-commit; rm .git/hooks; mkdir .git/hooks
				` + hookScript + `.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; mv myhooks m2; mkdir myhooks
				` + hookScript + `myhooks/pre-commit; chmod +x myhooks/pre-commit`,
			Hold: holdGitSafe(),
		},
		{
			ID: "A3.5", Name: "protected settings that are a link are protected at their target",
			Setup: func(h *host) {
				h.runScript("rm -rf .vscode; mkdir editor; echo x >editor/tasks.json; ln -s editor .vscode")
			},
			Sh: `echo x >editor/tasks.json; echo x >.vscode/new.json; rm -f .vscode; mkdir .vscode; echo x >.vscode/tasks.json
				mv editor e2; mkdir editor; echo x >editor/tasks.json; ln -sfn src .vscode`,
			Hold: holdUnchanged("editor", ".vscode"),
		},
		{
			ID: "A3.6", Name: "a start through a link protects as a start without one",
			Setup: func(h *host) { h.must(os.Symlink("project", filepath.Join(h.home, "alias"))) },
			Dir:   "{home}/alias", Flags: []string{"-C", "{home}/alias"},
			Sh: `mv .git .git2; mkdir -p .git/hooks; ` + hookScript + `.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit
				echo x >{home}/alias/.mcp.json; echo x >.envrc`,
			Hold: holdAll(holdGitSafe(), holdAbsent("{work}/.mcp.json", "{work}/.envrc")),
		},
		{
			ID: "A3.7", Name: "a hidden path that is a link is hidden at its target too",
			Setup: func(h *host) {
				h.write("home/project/real/key", canary+"\n")
				h.runScript("ln -s real secret; ln -s real/key keylink")
			},
			Flags: []string{"--exclude", "secret", "--exclude", "keylink"},
			Sh:    `cat secret/key; cat real/key; cat keylink; cat /proc/self/cwd/real/key; mv real r2; cat r2/key`,
		},
		{
			ID: "A3.8", Name: "a home whose secrets are links hides their targets", Matrix: "read ~/.ssh key",
			Setup: func(h *host) { h.runScript("mv ~/.ssh ~/dotfiles-ssh; ln -s dotfiles-ssh ~/.ssh") },
			Sh:    `cat {home}/.ssh/id_ed25519; cat {home}/dotfiles-ssh/id_ed25519`,
		},
		{
			ID: "A3.9", Name: "a loop of links does not lead out",
			Sh: `ln -s l2 l1; ln -s l1 l2; echo x >l1; ln -s l1/x .mcp.json; cd l1 2>/dev/null; echo x >>{home}/.bashrc`,
		},
		{
			ID: "A3.12", Name: "a FIFO of the host is not written to through a read-only mount", Flags: []string{"--ro", "{home}/outside"},
			Setup: func(h *host) {
				h.runScript("mkfifo ~/outside/fifo; ln -s {home}/outside/fifo linked")
				f, err := os.OpenFile(filepath.Join(h.home, "outside/fifo"), os.O_RDWR|syscall.O_NONBLOCK, 0) // so that no open waits
				h.must(err)
				h.closers = append(h.closers, func() { _ = f.Close() })
			},
			Sh: `{attacker} fifos {home}/outside/fifo linked; timeout 5 sh -c 'echo x >{home}/outside/fifo'; timeout 5 sh -c 'echo x >>linked'`,
			Hold: func(h *host, _ outcome) error {
				f, err := os.OpenFile(filepath.Join(h.home, "outside/fifo"), os.O_RDONLY|syscall.O_NONBLOCK, 0)
				if err != nil {
					return err
				}
				defer f.Close()
				if n, _ := unix.Read(int(f.Fd()), make([]byte, 100)); n > 0 {
					return fmt.Errorf("%d bytes were written to a FIFO of the host", n)
				}
				return nil
			},
		},
		{
			ID: "A3.11", Name: "a directory that one sandbox replaces by a link does not lead the mounts of the next outside",
			Setup: func(h *host) { h.runScript("mkdir d") },
			Sh:    `rmdir d; ln -s {home}/outside d; echo ready; read go`,
			During: func(h *host, p *attempt) {
				args := []string{"/bin/sh", "-c", "echo x >d/planted"}
				if p.inside {
					args = h.exec(append([]string{"--rw", "d", "--"}, args...)...)
				}
				_ = h.command(h.work, args...).Run()
			},
			Hold: func(h *host, _ outcome) error { return h.checkAbsent("{home}/outside/planted") },
		},
		{
			ID: "A3.10", Name: "a path that one sandbox swaps does not lead the mounts of another outside",
			Setup: func(h *host) { h.runScript("mkdir d; ln -s {home}/outside l") },
			Go:    []string{"swap", "d", "l"},
			During: func(h *host, p *attempt) {
				for range 12 {
					args := []string{"/bin/sh", "-c", "echo x >d/planted"}
					if p.inside {
						args = h.exec(append([]string{"--rw", "d", "--"}, args...)...)
					}
					_ = h.command(h.work, args...).Run()
				}
			},
			// Without a sandbox the path itself is followed, as the race intends.
			Hold: func(h *host, _ outcome) error { return h.checkAbsent("{home}/outside/planted") },
		},
	}
}

func paths() []escape {
	odd := []string{"new\nline", "with space", "%s", `back\slash`, "-dash", "ünïcode", "'quote\"", strings.Repeat("n", 255)}
	var hide, read []string
	for _, n := range odd {
		hide = append(hide, "--exclude", "{work}/odd/"+n)
	}
	read = append(read, "cat odd/*; cat ./odd/*/../*; for f in odd/*; do cat \"$f\"; done")
	return []escape{
		{
			ID: "A4.1", Name: "a hard link does not bring an outside file into the work tree",
			Matrix: "write ~/.bashrc (direct, symlink, /proc/self/root)",
			Sh:     `ln {home}/.bashrc h && echo x >>h; ln -P {home}/.profile p && echo x >>p; ln {home}/.ssh/id_ed25519 k; cat k`,
		},
		{
			ID: "A4.2", Name: "/proc shows no other root than ours",
			Matrix: "write ~/.bashrc (direct, symlink, /proc/self/root)",
			Sh: processesScript + `for r in $procs/root /proc/self/root /proc/thread-self/root $procs/cwd/../../..; do
				cat $r{home}/.ssh/id_ed25519; echo x >>$r{home}/.bashrc; echo x >$r{home}/planted; done 2>/dev/null
				for f in $procs/fd/*; do cat $f/{home}/.ssh/id_ed25519; cat $f/id_ed25519; done 2>/dev/null
				true`,
		},
		{
			ID: "A4.3", Name: "two dots do not lead to a write outside",
			Matrix: "write ~/.bashrc (direct, symlink, /proc/self/root)",
			Sh: `echo x >>../.bashrc; echo x >/proc/self/cwd/../planted; echo x >src/../../planted; echo x >{home}/.bashrc
				rm -f ../.profile; mv ../.profile ../.p; chmod 777 ..; touch ../outside/file; echo x >>../outside/file`,
		},
		{
			ID: "A4.4", Name: "a hidden path stays hidden with any name",
			Setup: func(h *host) {
				for _, n := range odd {
					h.write("home/project/odd/"+n, canary+"\n")
				}
			},
			Flags: hide, Sh: read[0],
		},
		{
			ID: "A4.5", Name: "arguments of the command are not read as options of the sandbox",
			Args: []string{"--bind", "{home}", "{home}", "/bin/sh", "-c", "echo x >{home}/planted; echo tried"}, Ends: true,
			Hold: func(_ *host, o outcome) error {
				if o.code == 0 {
					return errors.New("a command called --bind was run")
				}
				return nil
			},
			Control: control{None: "there is no option to inject without a sandbox"},
		},
		{
			ID: "A4.6", Name: "a working directory that looks like an option is a directory",
			Setup: func(h *host) {
				h.must(os.MkdirAll(filepath.Join(h.home, "--bind"), 0o755))
				h.must(os.Chown(filepath.Join(h.home, "--bind"), h.uid, h.uid))
			},
			Dir: "{home}", Flags: []string{"-C", "--bind"}, Sh: `pwd; echo x >{home}/planted`,
		},
		{
			ID: "A4.8", Name: "the guard creates and opens names with the rights of the command, not of the host's root",
			Setup: func(h *host) { // of another user, but in the work tree, so that a hard link is possible
				h.write("home/project/other/key", canary+"\n")
				h.write("home/project/other/written", "as it was\n")
				h.write("home/project/shut/open/file", "")
				other := uint32(h.uid) + 1
				for _, name := range []string{"other/key", "other/written", "shut"} {
					path := filepath.Join(h.work, name)
					h.must(os.Chown(path, int(other), int(other)))
					h.must(os.Chmod(path, map[bool]os.FileMode{true: 0o700, false: 0o600}[name == "shut"]))
				}
				h.must(os.Chmod(filepath.Join(h.work, "shut/open"), 0o777))
			},
			Sh: `mkdir k w; ln other/key k/HEAD; (exec 3<>k/HEAD; cat <&3); ln other/written w/HEAD; (echo x >w/HEAD); mv other/key k/refs; (exec 3<>k/refs; cat <&3); (echo x >shut/open/HEAD)`,
			Hold: func(h *host, _ outcome) error {
				data, err := os.ReadFile(filepath.Join(h.work, "other/written"))
				if err == nil && string(data) != "as it was\n" {
					err = errors.New("a file of another user was overwritten")
				}
				return errors.Join(err, h.checkAbsent("{work}/shut/open/HEAD"))
			},
			Control: control{Root: true},
		},
		{
			ID: "A4.7", Name: "the host's processes are not to be seen",
			Setup: func(h *host) {
				cmd := h.command(h.home, h.vars["attacker"], "sleep")
				cmd.Env = append(cmd.Env, "TOKEN="+canary)
				cmd.Env[0] = "HOME=/"
				cmd.Args[0] = "/" + attacker.Name
				h.must(cmd.Start())
				h.vars["pid"] = strconv.Itoa(cmd.Process.Pid)
				h.closers = append(h.closers, func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
			},
			Sh: processesScript + `tr '\0' '\n' </proc/{pid}/environ; ls /proc/{pid}/root/ && echo OPEN root of a host process
				cat $procs/environ | tr '\0' '\n'; cat $procs/cmdline | tr '\0' '\n'; true`,
			Hold: func(h *host, _ outcome) error { return h.stopProcess() },
		},
	}
}

func descriptors() []escape {
	const row = "inherited fd 9"
	secret := func(h *host) *os.File {
		f, err := os.Open(filepath.Join(h.home, ".ssh/id_ed25519"))
		h.must(err)
		h.closers = append(h.closers, func() { _ = f.Close() })
		return f
	}
	return []escape{
		{
			ID: "A5.1", Name: "an inherited descriptor 9 is closed", Matrix: row,
			Files: func(h *host) []*os.File {
				f := secret(h)
				return []*os.File{f, f, f, f, f, f, f}
			},
			Sh: `cat <&9; {attacker} readfd; {attacker} fds`,
		},
		{
			ID: "A5.2", Name: "an inherited directory is closed", Matrix: row,
			Files: func(h *host) []*os.File {
				d, err := os.Open(h.home)
				h.must(err)
				h.closers = append(h.closers, func() { _ = d.Close() })
				return []*os.File{d}
			},
			Go: []string{"readfd", ".ssh/id_ed25519"},
		},
		{
			ID: "A5.3", Name: "no host service can hand in a descriptor",
			Setup: func(h *host) {
				l := h.listen("stream", filepath.Join(h.home, "fd.sock"))
				dir, err := os.Open(h.home)
				h.must(err)
				done := make(chan struct{})
				h.closers = append(h.closers, func() {
					_ = unix.Shutdown(l.fd, unix.SHUT_RDWR)
					<-done
					_ = dir.Close()
				})
				go func() {
					defer close(done)
					p := []unix.PollFd{{Fd: int32(l.fd), Events: unix.POLLIN}}
					for {
						if _, err := unix.Poll(p, -1); err != nil && !errors.Is(err, unix.EINTR) || p[0].Revents&unix.POLLHUP != 0 {
							return
						}
						if fd, _, err := unix.Accept4(l.fd, unix.SOCK_CLOEXEC); err == nil {
							_ = unix.Sendmsg(fd, []byte("x"), unix.UnixRights(int(dir.Fd())), nil, 0)
							_ = unix.Close(fd)
						}
					}
				}()
			},
			Go: []string{"scm", "{home}/fd.sock", ".ssh/id_ed25519"},
		},
		{
			ID: "A5.4", Name: "the kernel's settings cannot be opened for writing",
			// Without those of a namespace, such as the host name: they belong to the sandbox.
			Go: []string{
				"openers", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/kernel/panic",
				"/proc/sys/vm/drop_caches", "/proc/sys/fs/file-max", "/proc/sysrq-trigger", "/proc/sys/fs/binfmt_misc/register",
			},
			Control: control{Root: true},
		},
		{
			ID: "A5.5", Name: "the files of /sys cannot be opened for writing",
			Go: []string{
				"openers", "/sys/kernel/uevent_helper", "/sys/power/state", "/sys/kernel/mm/transparent_hugepage/enabled",
				"/sys/module/printk/parameters/time",
			},
			Control: control{Root: true},
		},
		{
			ID: "A5.6", Name: "no release_agent can be set",
			// Without a sandbox the script only reads, because those control groups belong to the machine.
			Sh: processesScript + `for f in /sys/fs/cgroup/release_agent /sys/fs/cgroup/*/release_agent /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/*/cgroup.procs; do
					if [ -e $f ] && (: >>$f) 2>/dev/null; then echo OPEN $f; fi; done
				if [ $inside ]; then
					for d in /sys/fs/cgroup /sys/fs/cgroup/*; do mkdir $d/escape 2>/dev/null && echo OPEN a cgroup in $d; done
					mkdir -p {scratch}; mount -t cgroup -o memory cgroup {scratch} && echo OPEN mounted; fi; true`,
			Control: control{Root: true},
		},
		{
			ID: "A5.7", Name: "no device of the host can be reached", Go: []string{"devices"},
			Control: control{Root: true},
		},
	}
}

func laterRun() []escape {
	home := []string{
		".bashrc", ".profile", ".zshenv", ".gitconfig", ".config/git/config", ".config/autostart/x.desktop",
		".config/systemd/user/x.service", ".local/bin/ls", "bin/ls", ".ssh/rc", ".npmrc", ".yarnrc.yml", ".vimrc",
		".cargo/config.toml", ".cargo/env", ".cargo/bin/cargo", "go/bin/gopls", ".bun/bin/bun", ".config/go/env",
		".claude/settings.json", ".claude/commands/x.md", ".claude/agents/x.md", ".codex/config.toml", ".codex/hooks.json",
		".config/fish/config.fish", ".pyenv/shims/python", ".nvm/nvm.sh", ".inputrc", ".tmux.conf",
		".claude.json", ".claude/shell-snapshots/x.sh", ".claude/statusline.sh", ".codex/.env", ".pi/agent/settings.json",
		".cache/gitstatus/gitstatusd-linux-x86_64", ".cache/nvim/luac/init.lua", ".cache/pre-commit/x/hook",
		".bun/install/global/node_modules/.bin/x", ".cache/node/corepack/v1/pnpm.cjs", ".npm/bin/x",
	}
	var names []string
	for _, n := range home {
		names = append(names, "{home}/"+n)
	}
	prepared := func(h *host) {
		h.runScript("mkdir -p ~/.cargo/bin ~/.cargo/registry ~/go/bin ~/go/pkg ~/.bun/install ~/.npm ~/.cache/node ~/.claude/projects ~/.codex ~/.pi/agent")
		h.write("home/.claude.json", "{}\n")
		h.write("home/.claude/settings.json", "{}\n")
		h.write("home/.cargo/bin/rustc", "#!/bin/sh\n")
	}
	return []escape{
		{
			ID: "A7.1", Name: "nothing at home that a host program obeys comes into being",
			Matrix: "write ~/.bashrc (direct, symlink, /proc/self/root)", Setup: prepared,
			Go: append([]string{"create", "open"}, names...),
		},
		{
			ID: "A7.2", Name: "nothing at home that a host program obeys is moved into place", Setup: prepared,
			Sh: `for d in .cargo .claude .codex go .bun; do mv {home}/$d {home}/$d.old; mkdir {home}/$d; done
				for n in .cargo/bin .claude/commands .codex/hooks go/bin; do mkdir -p d; echo x >d/x; mv -T d {home}/$n; done
				for n in .cargo/env .claude/settings.json .codex/config.toml .cargo/bin/rustc; do echo x >n; mv n {home}/$n; done; rm -rf d n`,
		},
		{
			ID: "A7.3", Name: "a project's hooks directory that git is told to use is protected",
			Setup: func(h *host) { h.runScript("git config core.hooksPath tools/hooks; mkdir -p tools/hooks") },
			Sh:    toolsHookScript,
			Hold:  holdGitSafe(),
		},
		{
			ID: "A7.4", Name: "a file of the project that git's configuration includes is protected",
			Setup: func(h *host) {
				h.runScript("git config include.path ../shared.gitconfig; echo '# ours' >shared.gitconfig")
			},
			Sh:   `printf '[core]\n fsmonitor = "touch {home}/pwned; false"\n' >shared.gitconfig; mv shared.gitconfig s; printf '[core]\n fsmonitor = "touch {home}/pwned; false"\n' >shared.gitconfig`,
			Hold: holdGitSafe(),
		},
		{
			ID: "A7.5", Name: "a missing hooks directory that git is told to use is protected",
			Setup: func(h *host) { h.runScript("git config core.hooksPath tools/hooks") },
			Sh:    `mkdir -p tools/hooks; ` + hookScript + `tools/hooks/pre-commit; chmod +x tools/hooks/pre-commit`,
			Hold:  holdGitSafe(),
		},
		{
			ID: "A7.8", Name: "so is one of git's configuration that the environment names",
			Setup: func(h *host) {
				h.write("home/elsewhere", "[core]\n hooksPath = tools/hooks\n")
				h.runScript("mkdir -p tools/hooks")
			},
			Env: []string{"GIT_CONFIG_GLOBAL={home}/elsewhere"}, Sh: toolsHookScript, Hold: holdUnchanged("tools/hooks"),
		},
		{
			ID: "A7.9", Name: "so is one of git's configuration in a directory that the environment names",
			Setup: func(h *host) {
				h.write("home/xdg/git/config", "[core]\n hooksPath = tools/hooks\n")
				h.runScript("mkdir -p tools/hooks")
			},
			Env: []string{"XDG_CONFIG_HOME={home}/xdg"}, Sh: toolsHookScript, Hold: holdUnchanged("tools/hooks"),
		},
	}
}

func configurations() []escape {
	hostile := func(json string) func(h *host) {
		return func(h *host) { h.write("home/project/.agent-sandbox.json", json) }
	}
	const row = "hostile project config widens"
	ctl := func(flags ...string) control {
		return control{Flags: flags, Setup: func(h *host) { h.must(os.Remove(filepath.Join(h.work, ".agent-sandbox.json"))) }}
	}
	return []escape{
		{
			ID: "A8.1", Name: "a project's configuration cannot open the home", Matrix: row, Ends: true,
			Setup: hostile(`{"filesystem":{"presets":["!@all"],"rw":["~"]}}`),
			Sh:    `echo x >>{home}/.bashrc; cat {home}/.ssh/id_ed25519; ` + hookScript + `.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`,
			Hold:  holdGitSafe(), Control: control{},
		},
		{
			ID: "A8.2", Name: "a project's configuration cannot list a secret as readable", Matrix: row, Ends: true,
			Setup: hostile(`{"filesystem":{"ro":["~/.ssh","~/.ssh/id_ed25519","~/.aws/**"]}}`),
			Sh:    `cat {home}/.ssh/* {home}/.aws/*`, Control: ctl("--ro", "{home}/.ssh"),
		},
		{
			ID: "A8.3", Name: "a project's configuration cannot open the network", Matrix: row, Ends: true,
			Setup: func(h *host) {
				hostile(`{"network":"host"}`)(h)
				h.vars["port"] = h.listenTCP()
			},
			Go: []string{"connect", "tcp", "127.0.0.1:{port}"}, Control: ctl("--network=host"),
		},
		{
			ID: "A8.4", Name: "a project's configuration cannot list a socket", Matrix: row, Ends: true,
			Setup: func(h *host) {
				h.listen("stream", filepath.Join(h.home, "agent.sock"))
				hostile(`{"filesystem":{"sockets":["~/agent.sock"]}}`)(h)
			},
			Go: []string{"connect", "stream", "{home}/agent.sock"}, Control: ctl("--socket", "{home}/agent.sock"),
		},
		{
			ID: "A8.5", Name: "a project's configuration cannot pass a secret variable", Matrix: row, Ends: true,
			Setup: hostile(`{"env":{"pass":["GITHUB_TOKEN","*"]}}`), Env: []string{"GITHUB_TOKEN=" + canary},
			Sh: `env`, Control: ctl("--env", "GITHUB_TOKEN"),
		},
		{
			ID: "A8.6", Name: "a project's configuration cannot allow user namespaces", Matrix: row, Ends: true,
			Setup: hostile(`{"userns":true,"debuggers":true}`), Go: []string{"userns"}, Control: ctl("--userns"),
		},
		{
			ID: "A8.7", Name: "a project's configuration cannot lift the protection of hooks", Matrix: row, Ends: true,
			Setup: hostile(`{"filesystem":{"presets":["!@git"],"rw":[".git/hooks",".git/config",".git"]},"commands":{"git":true}}`),
			Sh:    hookScript + `.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; git config core.fsmonitor 'touch {home}/pwned; false'`,
			Hold:  holdGitSafe(), Control: ctl("--rw", ".git/hooks", "--rw", ".git/config"),
		},
		{
			ID: "A8.9", Name: "a project's configuration that is a link borrows no trust", Matrix: row, Ends: true,
			Setup: func(h *host) {
				h.runScript(`mkdir ~/trusted ~/data; printf '{"filesystem":{"rw":["~/data"]}}' >~/trusted/.agent-sandbox.json
					ln -s ../trusted/.agent-sandbox.json .agent-sandbox.json`)
				h.mustRun(h.path("{home}/trusted"), fixture.command, "trust", "--yes")
			},
			Sh: `echo x >{home}/data/planted`, Control: ctl("--rw", "{home}/data"),
		},
		{
			ID: "A8.8", Name: "a project's configuration cannot run a program of its own on the host", Matrix: row, Ends: true,
			Setup: func(h *host) {
				hostile(`{"commands":{"ls":"./evil.sh"},"backend":"bwrap"}`)(h)
				h.write("home/project/evil.sh", "#!/bin/sh\ntouch "+h.home+"/pwned\n")
			},
			Sh: `ls`, Control: control{None: "on the bare host nothing reads the file"},
		},
	}
}

func ownData() []escape {
	return []escape{
		{
			ID: "A7.6", Name: "what the next run executes is not writable even in a home that is",
			Flags: []string{"--rw", "{home}"},
			Sh: `for f in {home}/.local/share/agent-sandbox/*; do echo x >>$f; rm -rf $f; echo x >n; chmod +x n; mv n $f; done
				mv {home}/.local/share/agent-sandbox {home}/.local/share/x; mv {home}/.local/share {home}/.local/y; mv {home}/.local {home}/z
				echo '{"filesystem":{"rw":["/"]}}' >{home}/.config/agent-sandbox/config.json
				mkdir -p {home}/.config/agent-sandbox {home}/.local/share/agent-sandbox; echo '{"filesystem":{"rw":["/"]}}' >{home}/.config/agent-sandbox/config.json`,
		},
		{
			ID: "A7.7", Name: "start-up files and secrets are protected even in a home that is writable", Flags: []string{"--rw", "{home}"},
			Sh: `for f in .bashrc .profile .gitconfig .ssh/id_ed25519 .ssh/authorized_keys .aws/credentials .zshenv .config/autostart/x .local/bin/ls; do
					echo x >>{home}/$f; cat {home}/$f; rm -f {home}/$f; echo x >n; mv n {home}/$f; mkdir -p {home}/${f%/*}; echo x >{home}/$f; done
				mv {home}/.ssh {home}/ssh; cat {home}/ssh/id_ed25519; rm -rf {home}/.ssh; mv {home}/.config {home}/config; rm -f {home}/n`,
		},
		{
			ID: "A7.10", Name: "keys in the homes of accounts are hidden wherever HOME leads", Ends: true,
			Setup: func(h *host) {
				h.runScript("mkdir {scratch}")
				h.write("other/.netrc", canary+"\n")
				own := fmt.Sprintf("root:x:0:0::%s:/bin/sh\nme:x:%d:%d::%s:/bin/sh\n", h.home, h.uid, h.uid, h.home)
				h.write("accounts", own+fmt.Sprintf("other:x:%d:%d::%s:/bin/sh\n", h.uid+1, h.uid+1, h.path("{base}/other")))
			},
			Launch: []string{"/bin/sh", "-c", `[ $(id -u) = 0 ] && u=-m || u=-rm
				exec unshare $u sh -c "mount --bind {base}/accounts /etc/passwd && HOME={scratch} exec {base}/../agent-sandbox exec {flags} -- sh -c 'cat {home}/.ssh/id_ed25519 {home}/.npmrc {base}/other/.netrc; echo tried'"`},
			Args: []string{"/bin/sh", "-c", "cat {home}/.ssh/id_ed25519 {home}/.npmrc {base}/other/.netrc; echo tried"},
			Hold: func(_ *host, o outcome) error {
				if !o.tried() {
					return errNotTried
				}
				return nil
			},
		},
		{
			ID: "A9.5", Name: "the /tmp of another workspace, which lasts, cannot be read",
			Setup: func(h *host) {
				h.runScript("mkdir ~/other")
				h.mustRun(h.path("{home}/other"), fixture.command, "exec", "--tmp", "keep", "--", "sh", "-c", "echo "+canary+" >/tmp/key")
			},
			Flags: []string{"--tmp", "keep"},
			Sh: `cat {home}/.local/share/agent-sandbox/tmp/*/files/key; ls -R {home}/.local/share/agent-sandbox/tmp
				for d in /tmp/.. /tmp/../.. /proc/self/cwd/..; do cat $d/*/files/key; done; true`,
		},
	}
}

func exclusions() []escape {
	secret := func(h *host) {
		h.write("home/project/secrets/key", canary+"\n")
		h.write("home/project/.env", canary+"\n")
	}
	flags := []string{"--exclude", "secrets", "--exclude", ".env"}
	return []escape{
		{
			ID: "A9.1", Name: "a hidden file cannot be read by another name", Setup: secret, Flags: flags,
			Sh: `ln .env other; cat other; mv .env moved; cat moved; cp .env copy; cat copy; cat ./.env /proc/self/cwd/.env
				ln secrets/key k; cat k; mv secrets s; cat s/key; cat secrets/key; dd if=.env; tail -c +1 .env; tar c .env secrets | cat
				git add -f .env secrets; git show :.env; grep -r CANARY . ; find . -name key -exec cat {} +; true`,
		},
		{
			ID: "A9.2", Name: "a hidden file cannot be deleted or replaced", Setup: secret, Flags: flags,
			Sh:   `rm -rf .env secrets; echo x >.env; echo x >n; mv -f n .env; mkdir secrets/d; echo x >secrets/key`,
			Hold: holdUnchanged(".env", "secrets"),
		},
		{
			ID: "A9.3", Name: "a hidden file below a renamed directory stays hidden",
			Setup: func(h *host) { h.write("home/project/a/b/key", canary+"\n") }, Flags: []string{"--exclude", "a/b/key"},
			Sh: `mv a a2; cat a2/b/key; mv a/b b2; cat b2/key; cp -r a a3; cat a3/b/key`,
		},
		{
			ID: "A9.4", Name: "a hidden directory cannot be reopened in /proc or by a new mount", Setup: secret, Flags: flags,
			Sh: `mkdir m; mount --bind . m && cat m/secrets/key; umount secrets && cat secrets/key; umount -l .env && cat .env
				` + processesScript + `cat $procs/root{work}/secrets/key; cat $procs/cwd/secrets/key; true`,
		},
	}
}

func storage() []escape {
	return []escape{
		{
			ID: "A10.1", Name: "the private file systems hold no more than their limit",
			Flags: []string{"--limit", "tmp=8MiB"}, Go: []string{"tmpfs", "8388608"},
			Control: control{Flags: []string{"--limit", "tmp=100MiB"}},
		},
		{
			ID: "A10.2", Name: "no file of the host gets a setuid bit or a capability",
			Setup: func(h *host) { h.write("home/project/tool", "#!/bin/sh\n") },
			Sh:    `cp /bin/sh shell; {attacker} setuid tool shell; cp -p /usr/bin/passwd p 2>/dev/null; true`,
			Hold: func(h *host, _ outcome) error {
				var errs []error
				for _, name := range []string{"tool", "shell", "tool.new", "tool.node", "shell.new", "p"} {
					if info, err := os.Lstat(filepath.Join(h.work, name)); err == nil && info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
						errs = append(errs, fmt.Errorf("%s has mode %s", name, info.Mode()))
					}
				}
				return errors.Join(errs...)
			},
		},
	}
}
