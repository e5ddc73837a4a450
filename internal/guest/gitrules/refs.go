package gitrules

import "strings"

const (
	othersWork = "it overwrites or deletes what others have"
	mergeFirst = "merge the remote branch and push"
	askPerson  = "ask a person to do it outside the sandbox"
)

// checkPush checks push and its plumbing, send-pack. Fast-forwards pass, and so does
// --force-with-lease, which overwrites only commits that the user has fetched.
func checkPush(command string, o options) *Refusal {
	git := "git " + command
	if command == "push" && o.has("no-verify") {
		return &Refusal{git + " --no-verify", noHooks, "run git push with its hooks and repair what they complain about"}
	}
	if o.has("dry-run") {
		return nil
	}
	for _, name := range []string{"force", "mirror", "delete", "prune"} {
		if !o.has(name) {
			continue
		}
		instead := askPerson
		if name == "force" {
			instead = mergeFirst
		}
		return &Refusal{git + " --" + name, othersWork, instead}
	}
	for i, ref := range o.args {
		if i == 0 { // the repository
			continue
		}
		if r := checkRefspec(git, ref); r != nil {
			return r
		}
	}
	return nil
}

// checkRefspec refuses "+main", ":main" and "+:"; a lone ":" pushes matching branches.
func checkRefspec(git, ref string) *Refusal {
	switch {
	case strings.HasPrefix(ref, "+"):
		return &Refusal{
			git + " " + ref, "the + forces the push: " + othersWork,
			mergeFirst,
		}
	case strings.HasPrefix(ref, ":") && ref != ":":
		return &Refusal{git + " " + ref, "an empty source deletes: " + othersWork, askPerson}
	}
	return nil
}

// checkHTTPPush parses like http-push.c, which does not support clusters of short
// options.
func checkHTTPPush(args []string) *Refusal {
	for _, arg := range args {
		switch arg {
		case "--force", "-d", "-D":
			return &Refusal{"git http-push " + arg, othersWork, "git push"}
		}
		if r := checkRefspec("git http-push", arg); r != nil {
			return r
		}
	}
	return nil
}

// checkRefs checks the commands that move or delete refs of this repository.
func checkRefs(command string, o options) *Refusal {
	switch command {
	case "branch":
		return checkBranch(o)
	case "tag":
		return checkTag(o)
	case "symbolic-ref":
		if o.has("delete") || len(o.args) > 1 && o.args[0] != "HEAD" {
			return &Refusal{"git symbolic-ref", "it replaces a ref and leaves no trace of the old one", "git switch changes HEAD"}
		}
	case "update-ref":
		return checkUpdateRef(o)
	}
	return nil
}

func checkBranch(o options) *Refusal {
	const lost = "it deletes or moves a branch whose commits may be nowhere else"
	switch force := o.has("force"); {
	case o.has("D"), force && o.has("delete"):
		return &Refusal{"git branch -D", lost, "git branch -d deletes a branch that is merged"}
	case o.has("M"), force && o.has("move"):
		return &Refusal{"git branch -M", "it overwrites a branch of the new name", "git branch -m renames when the new name is free"}
	case o.has("C"), force && o.has("copy"):
		return &Refusal{"git branch -C", "it overwrites a branch of the new name", "git branch -c copies when the new name is free"}
	case force:
		return &Refusal{"git branch --force", lost, "git branch NEW-NAME COMMIT makes another branch"}
	}
	return nil
}

func checkTag(o options) *Refusal {
	switch {
	case o.has("delete"):
		return &Refusal{"git tag --delete", "a tag has no reflog to bring it back", askPerson}
	case o.has("force"):
		return &Refusal{"git tag --force", "it moves a tag that others may rely on", "git tag with a new name"}
	}
	return nil
}

// checkUpdateRef lets refs of tools (refs/notes, refs/checkpoints) pass, and moves that
// name the old value, which git then checks.
func checkUpdateRef(o options) *Refusal {
	const instead = "git branch, git tag and git commit make refs and keep old ones"
	switch {
	case o.has("stdin"):
		return &Refusal{"git update-ref --stdin", "what it would do to refs cannot be seen here", instead}
	case o.has("d"):
		return &Refusal{"git update-ref -d", "it deletes a ref whose commits may be nowhere else", "git branch -d deletes a branch that is merged"}
	case len(o.args) != 2:
		return nil
	}
	for _, prefix := range []string{"refs/heads/", "refs/tags/"} {
		if strings.HasPrefix(o.args[0], prefix) {
			return &Refusal{"git update-ref " + o.args[0], "it moves a ref past all checks", instead}
		}
	}
	if o.args[0] == "HEAD" {
		return &Refusal{"git update-ref HEAD", noHooks, "git commit, or git reset --keep to move the branch"}
	}
	return nil
}
