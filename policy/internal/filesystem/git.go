package filesystem

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/seed434b0696/agent-sandbox/policy/internal/git"
	"github.com/seed434b0696/agent-sandbox/policy/internal/hostpath"
)

// gitState are the entries of a git directory that make git run something or read
// its rules from somewhere else; gitrepository-layout(5).
var gitState = []string{
	"hooks", "config", "config.worktree", "commondir", "remotes",
	"objects/info/alternates", "objects/info/http-alternates",
}

// worktreeState are those of a linked worktree's own directory.
var worktreeState = []string{"gitdir", "commondir", "config.worktree", "info"}

// infoFiles are the files that "git gc" writes in the info directory of a repository
// (update-server-info). Git obeys every other file there.
var infoFiles = []string{"refs", "refs_*"}

// infoRules are the files there that git obeys.
var infoRules = []string{"attributes", "exclude", "grafts", "sparse-checkout"}

// protectRepositories shields the repositories that were found, and those that contain the start directories.
func (f *Resolution) protectRepositories(found []git.Repository) {
	global := f.globalGitConfig()
	for _, r := range found {
		switch r.Kind {
		case git.Checkout:
			f.protectCheckout(r.Root, global)
		case git.Bare:
			f.protectGitDir(r.Root, "", global)
		case git.Unreadable:
			f.protectPath(r.Root, "@git")
		}
	}
	for _, start := range []string{f.Workspace, f.Dir} {
		for dir := start; dir != "" && dir != "/"; dir = filepath.Dir(dir) {
			f.protectAncestor(dir, start, global)
		}
	}
}

// protectAncestor looks for a repository at dir, which is start or lies above it.
func (f *Resolution) protectAncestor(dir, start string, global []git.Variable) {
	if git.IsDir(dir) {
		f.protectGitDir(dir, "", global)
		// Started inside hooks or the like: then all of it is protected.
		for _, name := range append([]string{"info", "worktrees", "branches"}, gitState...) {
			if hostpath.IsWithin(start, filepath.Join(dir, name)) {
				f.protectPath(start, "@git")
			}
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		f.protectCheckout(dir, global)
	}
}

// protectCheckout shields the repository whose .git (a directory, a link to one, or a file that points to one) is in root.
func (f *Resolution) protectCheckout(root string, global []git.Variable) {
	at, err := f.look.Below(root, ".git")
	if err != nil || !at.Exists {
		f.protectBelow(root, ".git", "@git")
		return
	}
	if len(at.Links) > 0 {
		f.guardLinks(at, root)
	}
	if at.Dir {
		f.protectGitDir(at.Path, root, global)
		return
	}
	f.shield(at, filepath.Join(root, ".git"), "@git")
	dir := git.DirOf(at.Path)
	if dir == "" {
		return
	}
	if common := git.CommonDir(dir); common != "" {
		f.protectWorktree(dir)
		f.protectGitDir(common, root, global)
		return
	}
	f.protectGitDir(dir, root, global)
}

// guardLinks prevents commands from replacing links whose targets are protected.
func (f *Resolution) guardLinks(at hostpath.Place, root string) {
	r := f.protection(at, filepath.Join(root, ".git"), "@git")
	r.Access, r.Missing, r.guard = ReadOnly, true, true
	f.add(r)
}

// protectGitDir shields a git directory. The paths that its configuration names
// may be relative to root, the top of a checkout; empty: a bare repository.
func (f *Resolution) protectGitDir(dir, root string, global []git.Variable) {
	if !f.seen[dir] {
		f.seen[dir] = true
		f.pin(dir, "@git")
		for _, name := range gitState {
			f.protectBelow(dir, name, "@git")
		}
		if branches := filepath.Join(dir, "branches"); isEmptyDir(branches) {
			f.guardAll(branches) // no mount for a directory that git's template creates in every repository
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
func (f *Resolution) protectInfo(dir string) {
	info, err := os.Lstat(dir)
	if err == nil && !info.IsDir() {
		f.protectPath(dir, "@git")
		return
	}
	f.guardAll(dir, infoFiles...)
	if err != nil {
		// Guarded by name, too: a command must not replace the directory by one that already has these files.
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
func (f *Resolution) protectModules(dir string, global []git.Variable) {
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
		case git.IsDir(sub):
			f.protectGitDir(sub, git.SubmoduleRoot(sub), global)
		default:
			f.protectModules(sub, global)
		}
	}
}

// protectWorktrees shields the directories of linked worktrees. They stay
// writable inside: "git gc" in one checkout expires the logs of all.
func (f *Resolution) protectWorktrees(dir string, global []git.Variable) {
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

func (f *Resolution) protectWorktree(dir string) {
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
func (f *Resolution) grantGit() {
	if !f.presets["@git"] || f.Workspace == "" {
		return
	}
	file := filepath.Join(f.Workspace, ".git")
	dir := git.DirOf(file)
	if dir == "" || !git.IsDir(dir) {
		return
	}
	common := git.CommonDir(dir)
	switch {
	case common == "" && git.SubmoduleRoot(dir) == f.Workspace:
		f.preset("@git", presetRule{path: dir, access: ReadWrite})
	case common != "" && hostpath.IsWithin(dir, filepath.Join(common, "worktrees")) &&
		git.CheckoutFile(dir) == file:
		f.preset("@git", presetRule{path: common, access: ReadWrite})
		if f.isRequested(common) {
			return
		}
		// Commands in this worktree do not need the main checkout's own state.
		for _, name := range []string{"HEAD", "index"} {
			f.preset("@git", presetRule{path: filepath.Join(common, name), access: ReadOnly})
		}
	}
}

// isRequested reports whether a layer makes path writable itself.
func (f *Resolution) isRequested(path string) bool {
	return slices.ContainsFunc(f.rules, func(r *rule) bool {
		return r.layer >= 0 && r.Access == ReadWrite && hostpath.IsWithin(path, r.Path)
	})
}

func entries(dir string) []os.DirEntry {
	out, _ := os.ReadDir(dir) // the directory itself is guarded or mounted; what was read counts
	return out
}

// protectBranches is @git-strict: of the workspace's repository only the current
// branch may move, and no tag. Branches that exist, loose or packed, stay as they
// are; with a detached HEAD that is all of them.
func (f *Resolution) protectBranches() error {
	if f.Workspace == "" {
		return nil
	}
	dir, common := f.gitDirs(f.Workspace)
	if dir == "" {
		return nil
	}
	current, err := git.CurrentBranch(filepath.Join(dir, "HEAD"))
	if err != nil {
		return err
	}
	const preset = "@git-strict"
	f.protectBelow(common, "refs/tags", preset)
	f.protectBelow(common, "packed-refs", preset)
	for _, ref := range git.Branches(common) {
		if ref != current {
			f.protectBelow(common, ref, preset)
		}
	}
	return nil
}

// gitDirs returns the git directory of a checkout and the one that it shares with
// its worktrees; "" when root is not a checkout.
func (f *Resolution) gitDirs(root string) (dir, common string) {
	at, err := f.look.Below(root, ".git")
	if err != nil || !at.Exists {
		return "", ""
	}
	dir = at.Path
	if !at.Dir {
		dir = git.DirOf(at.Path)
	}
	if !git.IsDir(dir) {
		return "", ""
	}
	if common = git.CommonDir(dir); common == "" {
		common = dir
	}
	return dir, common
}
