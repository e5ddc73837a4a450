package gitrules

// asker runs the real git and returns its output; false: it failed.
type asker func(args ...string) (string, bool)

// isEmpty reports whether git succeeded and printed nothing.
func (ask asker) isEmpty(args ...string) bool {
	text, ok := ask(args...)
	return ok && text == ""
}

// differs reports whether the files or the index differ from the tree that the arguments name. Deleted files do not
// count. Settings that hide a part of the differences are off.
func (ask asker) differs(args ...string) bool {
	return !ask.isEmpty(append([]string{
		"diff", "--name-only", "--diff-filter=d", "--no-relative", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none",
	}, args...)...)
}

// losesChanges reports whether tracked files have uncommitted changes, staged or not.
func losesChanges(ask asker) bool { return ask.differs("HEAD") || ask.differs("--cached") }

// losesAny reports whether there are uncommitted changes or untracked files, which files of another commit may
// replace.
func losesAny(ask asker) bool {
	return !ask.isEmpty("status", "--porcelain", "--untracked-files=all", "--ignore-submodules=none")
}

// losesPaths reports whether files at paths have content that the files of tree would replace; an empty tree means
// the index.
func losesPaths(ask asker, tree string, paths []string) bool {
	with := func(args ...string) []string { return append(append(args, "--"), paths...) }
	if tree == "" {
		return ask.differs(with()...)
	}
	return ask.differs(with("HEAD")...) || ask.differs(with("--cached")...) || !ask.isEmpty(with("ls-files", "--others")...)
}

// checkoutFiles are options of checkout and restore with which the operands do not name all files.
var checkoutFiles = []string{"patch", "pathspec-from-file", "recurse-submodules"}

// isHarmless reports whether a refused command would discard no work in this repository.
func isHarmless(ask asker, command string, args []string) bool {
	table, ok := optionTable(command)
	if !ok {
		return false
	}
	o := parseOptions(table, args)
	switch command {
	case "reset":
		if len(o.args) == 0 || len(o.args) == 1 && o.args[0] == "HEAD" {
			return !losesChanges(ask)
		}
		return !losesAny(ask)
	case "switch":
		return !o.has("force-create") && !losesAny(ask)
	case "restore":
		return !losesByRestore(ask, o)
	case "checkout":
		return !o.has("B") && !losesByCheckout(ask, o)
	}
	return false
}

func losesByRestore(ask asker, o options) bool {
	tree := ""
	switch {
	case o.any("merge", "conflict"), o.any(checkoutFiles...), len(o.args) == 0:
		return losesAny(ask)
	case o.any("source", "staged"):
		tree = "HEAD" // in any case its files replace those of the index, too
	}
	return losesPaths(ask, tree, o.args)
}

func losesByCheckout(ask asker, o options) bool {
	if o.any("force", "merge", "conflict") || o.any(checkoutFiles...) {
		return losesAny(ask)
	}
	paths, tree := o.args, ""
	switch {
	case o.dashed:
		paths = o.args[o.before:]
		if o.before > 0 {
			tree = o.args[0]
		}
	case len(paths) == 1 && (paths[0] == "-" || isObject(ask, paths[0]+"^{commit}")):
		return false // it changes the branch
	case len(paths) > 1 && isObject(ask, paths[0]+"^{tree}"):
		tree, paths = paths[0], paths[1:]
	}
	return losesPaths(ask, tree, paths)
}

func isObject(ask asker, name string) bool {
	_, ok := ask("rev-parse", "--verify", "--quiet", "--end-of-options", name)
	return ok
}
