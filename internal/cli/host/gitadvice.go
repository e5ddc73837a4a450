package host

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/shellword"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// GitAdvice returns one line that says how a git command which failed in a sandbox works: all flags for what writes several files
// that git obeys, and the preset with which a signature is made. It is empty when there is nothing to say. denied are the denials of
// the command, dir is its working directory, and env the environment of this process.
func GitAdvice(ctx context.Context, args, env []string, dir string, plan *policy.Plan, denied []sandbox.Denial) string {
	for _, d := range denied {
		if d.Kind != sandbox.DeniedFile {
			continue
		}
		if repo, name, ok := cutGitDirectory(d.Target, "worktrees"); ok {
			return worktreeAdvice(args, dir, repo, name)
		}
		if repo, name, ok := cutGitDirectory(d.Target, "modules"); ok {
			return submoduleAdvice(args, dir, repo, name)
		}
	}
	return signatureAdvice(ctx, args, env, dir, plan)
}

// cutGitDirectory splits a path such as REPO/.git/worktrees/NAME/gitdir.
func cutGitDirectory(path, kind string) (repo, name string, ok bool) {
	repo, rest, ok := strings.Cut(path+"/", "/.git/"+kind+"/")
	name, _, _ = strings.Cut(rest, "/")
	return repo, name, ok
}

const gitObeys = " makes files that git obeys on the host: run it outside the sandbox, or "

func worktreeAdvice(args []string, dir, repo, name string) string {
	tree, after := "WORKTREE", ""
	if c, ok := parseGit(args, dir); ok && c.is("worktree", "add") {
		if i := slices.Index(c.words, "-b"); i >= 0 && i+1 < len(c.words) { // git makes it first
			after = "; the branch " + c.words[i+1] + " exists now, so name it without -b"
		}
		if words := c.operands("-b", "-B", "--reason"); len(words) > 0 {
			tree = absolute(c.dir, words[0])
			name = filepath.Base(tree)
		}
	}
	flags := []string{filepath.Join(repo, ".git/worktrees")}
	if isDirectory(flags[0]) {
		if name == "" {
			name = "NAME"
		}
		flags[0] = filepath.Join(flags[0], name)
	}
	before := ""
	if tree != "WORKTREE" && !isBelow(tree, repo) { // its directory must be writable, and exist
		flags = append(flags, filepath.Join(repo, ".git"), tree)
		before = "after mkdir -p " + shellword.Quote(tree) + " "
	}
	return "git worktree add" + gitObeys + before + "with " + writable(append(flags, filepath.Join(tree, ".git"))) + after
}

func submoduleAdvice(args []string, dir, repo, name string) string {
	tree := "SUBMODULE"
	if c, ok := parseGit(args, dir); ok && c.is("submodule", "add") {
		words := c.operands("-b", "--branch", "--name", "--reference", "--depth", "--ref-format")
		switch len(words) {
		case 0:
		case 1:
			tree = absolute(c.dir, strings.TrimSuffix(filepath.Base(words[0]), ".git"))
		default:
			tree = absolute(c.dir, words[1])
		}
	}
	modules := filepath.Join(repo, ".git/modules")
	if isDirectory(modules) {
		switch rel, err := filepath.Rel(repo, tree); {
		case name != "":
		case err == nil && filepath.IsAbs(tree):
			name = rel // the name of a submodule is its path
		default:
			name = "NAME"
		}
		modules = filepath.Join(modules, name)
	}
	return "git submodule add" + gitObeys + "with " + writable([]string{modules, filepath.Join(repo, ".git/config"), filepath.Join(repo, ".gitmodules"), filepath.Join(tree, ".git")})
}

// signing are the commands of git that sign, with the options that ask for it; a nil list is of those that sign only if the
// configuration says so.
var signing = map[string][]string{
	"commit": {"-S", "--gpg-sign"}, "merge": {"-S", "--gpg-sign"}, "rebase": {"-S", "--gpg-sign"}, "cherry-pick": {"-S", "--gpg-sign"},
	"revert": {"-S", "--gpg-sign"}, "am": {"-S", "--gpg-sign"}, "pull": {"-S", "--gpg-sign"}, "commit-tree": {"-S", "--gpg-sign"},
	"tag": {"-s", "--sign", "-u", "--local-user"}, "push": {"--signed"},
}

func signatureAdvice(ctx context.Context, args, env []string, dir string, plan *policy.Plan) string {
	c, ok := parseGit(args, dir)
	if !ok || len(c.words) == 0 {
		return ""
	}
	options, ok := signing[c.words[0]]
	if !ok {
		return ""
	}
	config := c.configuration(ctx, env)
	asks := slices.ContainsFunc(c.words[1:], func(word string) bool {
		return slices.ContainsFunc(options, func(o string) bool {
			return word == o || strings.HasPrefix(word, o+"=") || len(o) == 2 && strings.HasPrefix(word, o)
		})
	})
	key := "commit.gpgsign"
	if c.words[0] == "tag" {
		key = "tag.gpgsign"
	}
	if !asks && !slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(config[key])) {
		return ""
	}
	switch format := config["gpg.format"]; {
	case format == "ssh" && plan.SSHAgent == "":
		return "git signs with your SSH agent, which commands do not reach; to allow it: --preset @ssh-agent"
	case (format == "" || format == "openpgp") && plan.GPGAgent.Socket == "":
		return "git signs with your GnuPG agent, which commands do not reach; to allow it: --preset @gpg-agent"
	}
	return ""
}

// gitCommand is a command line of git.
type gitCommand struct {
	dir   string
	set   []string // NAME=VALUE of -c
	words []string // the subcommand and what follows
}

// parseGit parses a command line; false: it does not begin with git.
func parseGit(args []string, dir string) (c gitCommand, ok bool) {
	if len(args) == 0 || filepath.Base(args[0]) != "git" {
		return c, false
	}
	c.dir = dir
	for args = args[1:]; len(args) > 0 && strings.HasPrefix(args[0], "-"); args = args[1:] {
		option := args[0]
		if slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--exec-path"}, option) && len(args) > 1 {
			args = args[1:]
		}
		switch option {
		case "-C":
			c.dir = absolute(c.dir, args[0])
		case "-c":
			c.set = append(c.set, args[0])
		}
	}
	c.words = args
	return c, true
}

func (c gitCommand) is(words ...string) bool {
	return len(c.words) > len(words) && slices.Equal(c.words[:len(words)], words)
}

// operands returns what follows a subcommand of two words except options; valued are those whose value is a word of its own.
func (c gitCommand) operands(valued ...string) (out []string) {
	for rest := c.words[2:]; len(rest) > 0; rest = rest[1:] {
		switch {
		case rest[0] == "--":
			return append(out, rest[1:]...)
		case slices.Contains(valued, rest[0]) && len(rest) > 1:
			rest = rest[1:]
		case !strings.HasPrefix(rest[0], "-"):
			out = append(out, rest[0])
		}
	}
	return out
}

// configuration returns git's settings about signatures, with names in lower case.
func (c gitCommand) configuration(ctx context.Context, env []string) map[string]string {
	out := map[string]string{}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second) // an included file can be a FIFO
	defer cancel()
	ask := exec.CommandContext(ctx, "git", "config", "--get-regexp", `^(commit|tag)\.gpgsign$|^gpg\.format$`) // it executes nothing
	ask.Dir, ask.Env = c.dir, env
	list, _ := ask.Output() // without an answer only -c counts
	for lines := bufio.NewScanner(strings.NewReader(string(list))); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		out[name] = value
	}
	for _, kv := range c.set {
		name, value, hasValue := strings.Cut(kv, "=")
		if !hasValue {
			value = "true"
		}
		out[strings.ToLower(name)] = value
	}
	return out
}

func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

func isBelow(path, dir string) bool { return strings.HasPrefix(path, dir+"/") }

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func writable(paths []string) string {
	flags := make([]string, len(paths))
	for i, p := range paths {
		flags[i] = "--rw " + shellword.Quote(p)
	}
	return strings.Join(flags, " ")
}
