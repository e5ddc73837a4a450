package configimport

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

const (
	wrapperScript = `a script that looks at the arguments: "commands": {"NAME": "SCRIPT"}`
	byArguments   = "commands are refused by name, not by arguments"
)

// builtins are commands that shells execute themselves, so a wrapper cannot replace them.
var builtins = []string{
	".", ":", "alias", "bg", "builtin", "cd", "command", "declare", "dirs", "eval", "exec", "exit", "export", "fg", "history",
	"jobs", "let", "popd", "pushd", "read", "readonly", "set", "shift", "shopt", "source", "trap", "type", "ulimit", "umask",
	"unalias", "unset", "wait",
}

// refuse adds a command that must not run. With prefix, the rule covers any further
// arguments; with part, it also covers names that begin with the command's name.
func (d *draft) refuse(it item, words []string, prefix, part bool) {
	name := words[0]
	for _, w := range words {
		if strings.ContainsAny(w, "|;&<>$`\"'(){}[]\\*?!#") || strings.ContainsFunc(w, unicode.IsControl) {
			d.say(it.lack(Restriction, "the commands of a shell line cannot be matched", wrapperScript))
			return
		}
	}
	switch {
	case len(words) > 1 && name == "git" && isRefusedByGit(words[1:]):
		d.say(it.lack(Moot, "git's wrapper refuses it (except in /tmp)", `"commands": {"git": "@git"}, which is the default`))
		return
	case len(words) > 1:
		d.say(it.lack(Restriction, byArguments, wrapperScript))
		return
	case strings.Contains(name, "="):
		d.say(it.lack(Restriction, "assignments belong to the shell", "env.deny"))
		return
	case slices.Contains(builtins, name):
		d.say(it.lack(Restriction, "it is a part of the shell, not a program that can be refused", ""))
		return
	case part:
		d.say(it.lack(Restriction, "only the command of exactly this name is refused, not others that begin like it", `"commands": {"NAME": false} for each of them`))
	case !prefix:
		d.say(it.lack(Stricter, "it is refused with arguments, too", wrapperScript))
	}
	if strings.Contains(name, "/") {
		d.add(&d.denyRead, item{name, it.from}, syntax{}, false, Restriction)
		return
	}
	if !isValidCommand(name) {
		d.say(it.lack(Restriction, "it cannot be the name of a command", ""))
		return
	}
	d.commands = append(d.commands, item{name, it.from})
}

// isValidCommand reports whether package policy accepts s as the name of a command.
func isValidCommand(s string) bool {
	return s != "" && s != "." && s != ".." && len(s) <= 255 && !strings.HasPrefix(s, "-") && path.Base(s) == s
}

// gitRefusals are command lines that the wrapper of the @git preset refuses with any
// further arguments, except dry runs, which change nothing.
var gitRefusals = []string{
	"checkout -B", "commit-tree", "filter-branch", "filter-repo", "prune",
	"stash drop", "stash clear", "reflog expire", "reflog delete", "worktree remove --force", "clean",
	"push --force", "push -f", "push --mirror", "push --delete", "push -d", "push --prune", "push --no-verify",
	"branch -D", "branch -M", "branch -C", "branch --force", "branch -f",
	"tag -d", "tag --delete", "tag -f", "tag --force",
	"commit --no-verify", "commit -n", "merge --no-verify", "rebase --no-verify", "am --no-verify", "pull --no-verify",
	"switch -C",
	"rm -f", "rm --force", "fast-import --force",
}

// isRefusedByGit reports whether the @git wrapper refuses all lines that begin with words.
func isRefusedByGit(words []string) bool {
	line := strings.Join(words, " ") + " "
	return slices.ContainsFunc(gitRefusals, func(r string) bool { return strings.HasPrefix(line, r+" ") })
}
