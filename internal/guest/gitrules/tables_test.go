package gitrules

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/guest/guesttest"
)

// runGit runs the real git in dir with no configuration but its own.
func runGit(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func mustGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := runGit(t, dir, args...)
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return out
}

func newRepository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	mustGit(t, dir, "init", "-q", "-b", "main")
	mustGit(t, dir, "commit", "-q", "--allow-empty", "-m", "one")
	return dir
}

// The real git lists its long options, with "=" after those whose value may be the next
// argument. If the table lacks an option, or has it with another kind of value, the rules
// would misread the arguments that follow.
func Test_Git_Tables_Agree_With_Git(t *testing.T) {
	dir := newRepository(t)
	for _, row := range optionTables {
		command, table := row.command, row.options
		t.Run(command, func(t *testing.T) {
			known := map[string]option{}
			for _, o := range parseTable(table) {
				known[o.long] = o
			}
			// It exits with 129 by design.
			out, _ := runGit(t, dir, append(strings.Fields(command), "--git-completion-helper-all")...)
			words := strings.Fields(strings.ReplaceAll(out, "(", ""))
			if len(words) < 2 {
				t.Fatalf("git told no options: %q", out)
			}
			for _, w := range words {
				if w == "--" {
					break // only negations follow
				}
				name, takes := strings.CutSuffix(strings.TrimPrefix(w, "--"), "=")
				o, ok := known[name]
				if !ok {
					if _, ok = known["no-"+name]; !ok && !negationOf(known, name) {
						t.Errorf("the table lacks --%s", name)
					}
					continue
				}
				if takes && o.value != '=' || !takes && o.value == '=' && !lastDefault[name] {
					t.Errorf("--%s has value kind %q in the table, git says %q", name, o.value, w)
				}
			}
		})
	}
}

// lastDefault are options that git does not mark with "=" although the value may
// be the next argument.
var lastDefault = map[string]bool{
	"contains": true, "no-contains": true, "with": true, "without": true, "merged": true, "no-merged": true,
	"file": true, "points-at": true, "gpg-sign": false,
}

func negationOf(known map[string]option, name string) bool {
	positive, ok := strings.CutPrefix(name, "no-")
	_, found := known[positive]
	return ok && found
}

// The test runs command lines with the real git: git must do what the rule prevents.
func Test_Git_Interprets_Commands_As_The_Rules_Assume(t *testing.T) {
	for _, row := range []struct {
		name, line string
		refused    bool
		did        func(t *testing.T, dir string) bool // reports whether git did what the rule prevents
	}{
		{"--no-verif is --no-verify", "commit --allow-empty --no-verif -m x", true, committed},
		{"-nm is -n -m", "commit --allow-empty -nm x", true, committed},
		{"-anm is -a -n -m", "commit --allow-empty -anm x", true, committed},
		{"an operand does not end the options", "commit --allow-empty -m x --no-verify", true, committed},
		{"-m takes -n", "commit --allow-empty -m -n", false, committed},
		{"-am takes -n", "commit --allow-empty -am -n", false, committed},
		{"-mn is -m n", "commit --allow-empty -mn", false, committed},
		{"--mess takes -n", "commit --allow-empty --mess -n", false, committed},
		{"-un is a mode", "commit --allow-empty -un -m x", false, committed},
		{"--verify after --no-verify wins", "commit --allow-empty --no-verify --verify -m x", false, committed},
		{"another hooks directory", "-c core.hooksPath=/dev/null commit --allow-empty -m x", true, committed},
		{"keys know no case", "-c CORE.HOOKSPATH=/dev/null commit --allow-empty -m x", true, committed},
		{"an alias for one call", "-c alias.x='commit -n' x --allow-empty -m x", true, committed},
		{"--har is --hard", "reset --har", true, discarded},
		{"an option after an operand", "reset HEAD --hard", true, discarded},
		{"the last mode wins, softly", "reset --hard --soft", false, discarded},
		{"the last mode wins, hard", "reset --soft --hard", true, discarded},
		{"--merge throws staged changes away", "reset --merge", true, discarded},
		{"--keep does not", "reset --keep HEAD", false, discarded},
		{"restore --staged keeps the file", "restore --staged file", false, discarded},
		{"restore -S keeps the file", "restore -S file", false, discarded},
		{"restore -SW does not", "restore -SW file", true, discarded},
		{"checkout-index -fa", "checkout-index -fa", true, nil},
		{"read-tree --res -u", "read-tree --res -u HEAD", true, discarded},
		{"rm --for", "rm --for file", true, discarded},
		{"rm --cached -f keeps the file", "rm --cached -f file", false, discarded},
		{"rm -nf is a dry run", "rm -nf file", false, discarded},
		{"clean -n wins over -f", "clean -n -fdx", false, cleaned},
		{"clean -e takes -n", "clean -f -e -n", true, cleaned},
		{"clean -fen is -f -e n", "clean -fen", true, cleaned},
		{"clean --forc", "clean --forc", true, cleaned},
		{"clean -n --no-dry-run -f", "clean -n --no-dry-run -f", true, cleaned},
		{"switch --dis", "switch --dis side", true, discarded},
		{"switch -qf", "switch -qf side", true, discarded},
		{"switch -c -f makes a branch", "switch -c -f", false, discarded},
		{"branch -df", "branch -df side", true, noSide},
		{"branch --del --forc", "branch --del --forc side", true, noSide},
		{"branch -d of what is not merged", "branch -d side", false, noSide},
		{"tag -am takes x", "tag -am x -f v1", true, tagMoved},
		{"stash -- pop is a path", "stash push -- pop", false, discarded},
		{"symbolic-ref overwrites a branch", "symbolic-ref refs/heads/side refs/heads/main", true, sideMoved},
	} {
		t.Run(row.name, func(t *testing.T) {
			args := splitAlias(row.line)
			refused := Call{Args: args, Dir: "/home/x"}.Check() != nil
			if refused != row.refused {
				t.Errorf("refused is %v, want %v", refused, row.refused)
			}
			dir := dirtyRepository(t)
			out, _ := runGit(t, dir, args...)
			if row.did != nil && row.did(t, dir) != row.refused {
				t.Errorf("git did not do what the row says:\n%s", out)
			}
		})
	}
}

// dirtyRepository has a hook that refuses every commit, a staged and an unstaged
// change of "file", an untracked file, and a branch that is not merged.
func dirtyRepository(t *testing.T) string {
	t.Helper()
	dir := newRepository(t)
	guesttest.WriteFile(t, dir, "file", "committed\n")
	mustGit(t, dir, "add", "file")
	mustGit(t, dir, "commit", "-q", "-m", "two")
	mustGit(t, dir, "tag", "v1")
	mustGit(t, dir, "switch", "-q", "-c", "side")
	mustGit(t, dir, "commit", "-q", "--allow-empty", "-m", "three")
	mustGit(t, dir, "switch", "-q", "main")
	mustGit(t, dir, "commit", "-q", "--allow-empty", "-m", "four")
	guesttest.WriteFile(t, dir, "file", "staged\n")
	mustGit(t, dir, "add", "file")
	guesttest.WriteFile(t, dir, "untracked", "precious\n")
	hook := guesttest.WriteFile(t, dir, ".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n")
	if err := os.Chmod(hook, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func committed(t *testing.T, dir string) bool {
	t.Helper()
	return strings.TrimSpace(mustGit(t, dir, "log", "-1", "--format=%s")) != "four"
}

func discarded(t *testing.T, dir string) bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "file"))
	return err != nil || string(text) != "staged\n"
}

func cleaned(t *testing.T, dir string) bool {
	t.Helper()
	_, err := os.Lstat(filepath.Join(dir, "untracked"))
	return err != nil
}

func noSide(t *testing.T, dir string) bool {
	t.Helper()
	_, err := runGit(t, dir, "rev-parse", "--verify", "-q", "side")
	return err != nil
}

func sideMoved(t *testing.T, dir string) bool {
	t.Helper()
	return mustGit(t, dir, "rev-parse", "side") == mustGit(t, dir, "rev-parse", "main")
}

func tagMoved(t *testing.T, dir string) bool {
	t.Helper()
	return strings.TrimSpace(mustGit(t, dir, "cat-file", "-t", "v1")) == "tag"
}
