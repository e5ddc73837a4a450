// Package gitrules decides which git commands a sandbox refuses: those that discard work, skip hooks or rewrite the
// history of others. The rules guide cooperative programs; they do not isolate. [Call.Check] reads the command line,
// the environment and aliases.
package gitrules

import (
	"slices"
	"strings"
)

// Refusal is a part of a git command line that the rules refuse.
type Refusal struct {
	What    string // "git reset --hard"
	Why     string // "it throws away uncommitted changes"
	Instead string // one line: what to do
}

const noHooks = "it skips the hooks that check the work"

// checkCommand applies the rules of one command, independent of git's own options.
//
// A command that would only discard uncommitted work is refused only if there is any; isHarmless checks that with
// git.
//
// It refuses commands that git cannot undo (they discard uncommitted work, move or delete refs without a trace, or
// overwrite the history of others), and commands that skip hooks. All other commands pass, also dry runs. Of two
// options that exclude one another the one that git would obey counts.
func checkCommand(command string, args []string) *Refusal {
	switch command {
	case "checkout--worker":
		return &Refusal{"git checkout--worker", "it overwrites uncommitted changes", "git switch changes branches"}
	case "commit-tree":
		return &Refusal{"git commit-tree", noHooks, "git commit"}
	case "filter-branch", "filter-repo":
		return &Refusal{"git " + command, "it rewrites history that others may have", "make a new commit that corrects the old ones"}
	case "stash":
		return checkStash(args)
	case "worktree":
		return checkWorktree(args)
	case "reflog":
		return checkReflog(args)
	case "fast-import":
		if slices.Contains(args, "--force") {
			return &Refusal{"git fast-import --force", "it overwrites branches", "git fast-import without --force"}
		}
	case "http-push":
		return checkHTTPPush(args)
	}
	table, ok := optionTable(command)
	if !ok {
		return nil
	}
	o := parseOptions(table, args)
	switch command {
	case "push", "send-pack":
		return checkPush(command, o)
	case "config":
		return checkConfig(o)
	case "update-ref", "symbolic-ref", "branch", "tag":
		return checkRefs(command, o)
	case "commit", "merge", "pull", "rebase", "am":
		return checkHooks(command, o)
	case "checkout":
		return checkCheckout(o)
	}
	return checkTree(command, o)
}

func checkHooks(command string, o options) *Refusal {
	if !o.has("no-verify") {
		return nil
	}
	return &Refusal{
		"git " + command + " --no-verify", noHooks,
		"run git " + command + " with its hooks and repair what they complain about",
	}
}

// checkTree checks the commands that overwrite or delete files.
func checkTree(command string, o options) *Refusal {
	switch command {
	case "reset":
		if mode := o.last("mixed", "soft", "hard", "merge", "keep"); mode == "hard" || mode == "merge" {
			return &Refusal{
				"git reset --" + mode, "it throws away uncommitted changes",
				"git stash push puts them aside, git reset --keep moves the branch and spares them",
			}
		}
	case "restore":
		// The index alone can be staged again from the files, which stay.
		if !o.has("staged") || o.any("worktree", "patch") {
			return &Refusal{
				"git restore", "it throws away uncommitted changes",
				"git restore --staged unstages and keeps the files, git stash push puts changes aside",
			}
		}
	case "clean":
		// Without -f git obeys clean.requireForce, whose value is unknown here.
		if !o.has("dry-run") {
			return &Refusal{
				"git clean", "it deletes files that git cannot bring back",
				"git clean -n lists them, then remove by name what is really unwanted",
			}
		}
	case "switch":
		return checkSwitch(o)
	case "checkout-index":
		if o.has("force") {
			return &Refusal{
				"git checkout-index --force", "it overwrites uncommitted changes",
				"git checkout-index --prefix=DIR/ writes to another place; leave --force out",
			}
		}
	case "read-tree":
		if o.has("reset") && o.has("u") && !o.has("dry-run") {
			return &Refusal{"git read-tree -u --reset", "it overwrites uncommitted changes", "git read-tree -m -u stops before it would"}
		}
	case "rm":
		if o.has("force") && !o.any("cached", "dry-run") {
			return &Refusal{
				"git rm --force", "it deletes changes that are not committed",
				"git rm without --force refuses just those files, git rm --cached keeps them",
			}
		}
	case "gc", "prune":
		return checkPrune(command, o)
	}
	return nil
}

// checkCheckout lets git change branches: git itself refuses that if changes would be overwritten. It refuses to take
// files from a commit or the index.
func checkCheckout(o options) *Refusal {
	switch {
	case o.has("B"):
		return &Refusal{"git checkout -B", "it moves a branch that exists and loses its commits", "git checkout -b makes a new branch"}
	case o.any("force", "merge", "conflict"), o.any(checkoutFiles...):
	case len(o.args) == 0, o.dashed && o.before == len(o.args): // "git checkout main --"
		return nil
	case !o.dashed && o.any("b", "orphan", "detach", "track"): // the operand is a commit
		return nil
	}
	return &Refusal{
		"git checkout", "it throws away uncommitted changes",
		"git stash push puts them aside, git show COMMIT:FILE prints an old version",
	}
}

func checkSwitch(o options) *Refusal {
	switch {
	case o.any("discard-changes", "force"):
		return &Refusal{
			"git switch --discard-changes", "it throws away uncommitted changes",
			"git stash push puts them aside, git switch without the option carries them along",
		}
	case o.has("force-create"):
		return &Refusal{"git switch -C", "it moves a branch that exists and loses its commits", "git switch -c makes a new branch"}
	}
	return nil
}

func checkPrune(command string, o options) *Refusal {
	const why, instead = "it deletes commits that the reflog could bring back", "git gc without options keeps what is recent"
	if command == "prune" && !o.has("dry-run") {
		return &Refusal{"git prune", why, instead}
	}
	if value := o.values["prune"]; command == "gc" && o.has("prune") && value != "" && !strings.Contains(value, "week") {
		return &Refusal{"git gc --prune=" + value, why, instead}
	}
	return nil
}

// checkStash checks the first argument only: git treats an option before it as a stash push.
func checkStash(args []string) *Refusal {
	if len(args) == 0 {
		return nil
	}
	switch args[0] {
	case "drop", "clear":
		return &Refusal{"git stash " + args[0], "it deletes stashed work", "leave the stash where it is; git stash list shows it"}
	}
	return nil
}

func checkWorktree(args []string) *Refusal {
	if len(args) == 0 {
		return nil
	}
	table, ok := optionTable("worktree " + args[0])
	if !ok {
		return nil
	}
	o := parseOptions(table, args[1:])
	switch {
	case args[0] == "remove" && o.has("force"):
		return &Refusal{
			"git worktree remove --force", "it throws away uncommitted changes",
			"git worktree remove without --force removes a clean one",
		}
	case args[0] == "add" && o.has("B"):
		return &Refusal{"git worktree add -B", "it moves a branch that exists and loses its commits", "git worktree add -b makes a new branch"}
	}
	return nil
}

func checkReflog(args []string) *Refusal {
	if len(args) == 0 || slices.Contains(args, "--dry-run") || slices.Contains(args, "-n") {
		return nil
	}
	switch args[0] {
	case "expire", "delete", "drop":
		return &Refusal{"git reflog " + args[0], "it deletes the only record of lost commits", "git reflog show reads it; leave it as it is"}
	}
	return nil
}
