package policy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// gitState are the entries of a git directory that make git run something or read
// its rules from somewhere else; gitrepository-layout(5).
var gitState = []string{
	"hooks", "config", "config.worktree", "commondir", "remotes",
	"objects/info/alternates", "objects/info/http-alternates",
}

// worktreeState are those of a linked worktree's own directory.
var worktreeState = []string{"gitdir", "commondir", "config.worktree", "info"}

// infoFiles are what "git gc" writes in the info directory of a repository
// (update-server-info): everything else there is obeyed by git.
var infoFiles = []string{"refs", "refs_*"}

// infoRules is what git obeys there.
var infoRules = []string{"attributes", "exclude", "grafts", "sparse-checkout"}

// protectRepositories shields the repositories that were found, and those that
// the start directories lie in.
func (f *filesystem) protectRepositories(found []repository) {
	global := f.globalGitConfig()
	for _, r := range found {
		switch r.kind {
		case repositoryPlain:
			f.protectCheckout(r.root, global)
		case repositoryBare:
			f.protectGitDir(r.root, "", global)
		case repositoryUnreadable:
			f.protectPath(r.root, "@git")
		}
	}
	for _, start := range []string{f.workspace, f.dir} {
		for dir := start; dir != "" && dir != "/"; dir = filepath.Dir(dir) {
			f.protectAncestor(dir, start, global)
		}
	}
}

// protectAncestor looks for a repository at dir, which is start or lies above it.
func (f *filesystem) protectAncestor(dir, start string, global []gitVar) {
	if isGitDir(dir) {
		f.protectGitDir(dir, "", global)
		// Started inside hooks or the like: then all of it is protected.
		for _, name := range append([]string{"info", "worktrees", "branches"}, gitState...) {
			if within(start, filepath.Join(dir, name)) {
				f.protectPath(start, "@git")
			}
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		f.protectCheckout(dir, global)
	}
}

// protectCheckout shields the repository whose .git (a directory, a link to one,
// or a file that points to one) stands in root.
func (f *filesystem) protectCheckout(root string, global []gitVar) {
	at, err := f.look.below(root, ".git")
	if err != nil || !at.exists {
		f.protectBelow(root, ".git", "@git")
		return
	}
	if len(at.links) > 0 {
		f.guardLinks(at, root)
	}
	if at.dir {
		f.protectGitDir(at.path, root, global)
		return
	}
	f.shield(at, filepath.Join(root, ".git"), "@git")
	dir := pointer(at.path, "gitdir: ")
	if dir == "" {
		return
	}
	if common := pointer(filepath.Join(dir, "commondir"), ""); common != "" {
		f.protectWorktree(dir)
		f.protectGitDir(common, root, global)
		return
	}
	f.protectGitDir(dir, root, global)
}

// guardLinks keeps links from being replaced while what they lead to stays as it is.
func (f *filesystem) guardLinks(at place, root string) {
	r := f.protection(at, filepath.Join(root, ".git"), "@git")
	r.Access, r.Missing, r.guard = ReadOnly, true, true
	f.add(r)
}

// protectGitDir shields a git directory. The paths that its configuration names
// may be relative to root, the top of a checkout; empty: a bare repository.
func (f *filesystem) protectGitDir(dir, root string, global []gitVar) {
	if !f.seen[dir] {
		f.seen[dir] = true
		f.pin(dir, "@git")
		for _, name := range gitState {
			f.protectBelow(dir, name, "@git")
		}
		if branches := filepath.Join(dir, "branches"); isEmptyDir(branches) {
			f.guardAll(branches) // no mount for what git's template makes everywhere
		} else {
			f.protectPath(branches, "@git")
		}
		f.protectInfo(filepath.Join(dir, "info"))
		f.protectModules(filepath.Join(dir, "modules"), global)
		f.protectWorktrees(filepath.Join(dir, "worktrees"), global)
	}
	if root == "" {
		root = dir
	}
	key := dir + "\x00" + root
	if f.seen[key] {
		return
	}
	f.seen[key] = true
	vars := append(f.gitConfig(filepath.Join(dir, "config")), f.gitConfig(filepath.Join(dir, "config.worktree"))...)
	for _, v := range append(vars, global...) {
		f.protectHooksPath(v, root)
	}
}

// protectInfo lets git write what it must in info and nothing else.
func (f *filesystem) protectInfo(dir string) {
	info, err := os.Lstat(dir)
	if err == nil && !info.IsDir() {
		f.protectPath(dir, "@git")
		return
	}
	f.guardAll(dir, infoFiles...)
	if err != nil {
		// By name too: a directory that already holds them must not take its place.
		for _, name := range infoRules {
			f.protectBelow(dir, name, "@git")
		}
		return
	}
	f.pin(dir, "@git")
	for _, e := range entries(dir) {
		if e.Name() != "refs" {
			f.protectBelow(dir, e.Name(), "@git")
		}
	}
}

// protectModules shields the git directories of submodules, at any depth: a
// submodule called a/b has its own in modules/a/b.
func (f *filesystem) protectModules(dir string, global []gitVar) {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		f.protectPath(dir, "@git")
		return
	}
	f.guardAll(dir)
	for _, e := range entries(dir) {
		sub := filepath.Join(dir, e.Name())
		switch {
		case !e.IsDir():
			f.protectPath(sub, "@git")
		case isGitDir(sub):
			f.protectGitDir(sub, submoduleRoot(sub), global)
		default:
			f.protectModules(sub, global)
		}
	}
}

// submoduleRoot returns the checkout that a submodule's git directory belongs to.
func submoduleRoot(dir string) string {
	for _, v := range parseGitConfig(readSmall(filepath.Join(dir, "config"))) {
		if v.key == "core.worktree" {
			return resolved(dir, v.value)
		}
	}
	return ""
}

// protectWorktrees shields the directories of linked worktrees. They stay
// writable inside: "git gc" in one checkout expires the logs of all.
func (f *filesystem) protectWorktrees(dir string, global []gitVar) {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		f.protectPath(dir, "@git")
		return
	}
	f.guardAll(dir)
	for _, e := range entries(dir) {
		sub := filepath.Join(dir, e.Name())
		if !e.IsDir() {
			f.protectPath(sub, "@git")
			continue
		}
		f.protectWorktree(sub)
		f.protectModules(filepath.Join(sub, "modules"), global)
	}
}

func (f *filesystem) protectWorktree(dir string) {
	if f.seen[dir] {
		return
	}
	f.seen[dir] = true
	f.pin(dir, "@git")
	for _, name := range worktreeState {
		f.protectBelow(dir, name, "@git")
	}
}

// grantGit makes the git directory writable when the workspace is a worktree or a
// submodule whose git directory lies elsewhere, so that commits work. A .git file
// can name any directory, so the directory must name the workspace in turn: an
// unpacked archive must not open another repository. A workspace in the middle of
// a checkout gets nothing; its .git stays as it is.
func (f *filesystem) grantGit() {
	if !f.presets["@git"] || f.workspace == "" {
		return
	}
	file := filepath.Join(f.workspace, ".git")
	dir := pointer(file, "gitdir: ")
	if dir == "" || !isGitDir(dir) {
		return
	}
	common := pointer(filepath.Join(dir, "commondir"), "")
	switch {
	case common == "" && submoduleRoot(dir) == f.workspace:
		f.preset("@git", presetRule{path: dir, access: ReadWrite})
	case common != "" && within(dir, filepath.Join(common, "worktrees")) &&
		resolved(dir, strings.TrimRight(string(readSmall(filepath.Join(dir, "gitdir"))), "\n")) == file:
		f.preset("@git", presetRule{path: common, access: ReadWrite})
		if f.asked(common) {
			return
		}
		// The main checkout's own state is not the business of this worktree.
		for _, name := range []string{"HEAD", "index"} {
			f.preset("@git", presetRule{path: filepath.Join(common, name), access: ReadOnly})
		}
	}
}

// asked reports whether a layer makes path writable itself.
func (f *filesystem) asked(path string) bool {
	return slices.ContainsFunc(f.rules, func(r *rule) bool {
		return r.layer >= 0 && r.Access == ReadWrite && within(path, r.Path)
	})
}

// pointer reads a file that holds a path after prefix, and resolves it relative to
// the file's directory: .git, commondir. It returns "" when it is none.
func pointer(file, prefix string) string {
	text, ok := strings.CutPrefix(string(readSmall(file)), prefix)
	text = strings.TrimRight(text, "\r\n")
	if !ok || text == "" {
		return ""
	}
	return resolved(filepath.Dir(file), text)
}

// resolved resolves a path that may be relative to base; "" when it cannot be.
func resolved(base, path string) string {
	if !filepath.IsAbs(path) {
		path = base + "/" + path
	}
	at, err := locate(path)
	if err != nil {
		return ""
	}
	return at.path
}

// isGitDir asks what git asks (is_git_directory in setup.c): a HEAD, and objects
// and refs either here or in a common directory.
func isGitDir(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	if _, err := os.Lstat(filepath.Join(dir, "commondir")); err == nil {
		return true
	}
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

func entries(dir string) []os.DirEntry {
	out, _ := os.ReadDir(dir) // the directory itself is guarded or mounted; what was read counts
	return out
}
