//go:build linux

package fuzz_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// gitPatience limits how long the host's git works in one directory.
const gitPatience = 5 * time.Second

// violation is a result that a program must not achieve.
type violation struct{ kind, text string }

// The kinds of violations.
const (
	outside    = "outside"    // a file outside of the trees for commands has changed
	protected  = "protected"  // a protected name exists, or has changed
	repository = "repository" // git of the host accepts a new repository
	ran        = "ran"        // git of the host has run the canary
	visible    = "visible"    // a protected name existed for a moment
	missed     = "missed"     // not a violation: the watcher missed names that existed for a moment
	stuck      = "stuck"      // the sandbox does not end
	crashed    = "crashed"    // agent-sandbox ended because of a bug in it
	opened     = "opened"     // a call succeeded that the sandbox refuses to all commands
)

func (v violation) String() string { return v.kind + ": " + v.text }

// gitState are the files of a git directory that make git run programs or read other places.
var gitState = []string{ //nolint:gochecknoglobals // a table
	"hooks", "config", "config.worktree", "commondir", "remotes", "branches", "objects/info/alternates", "objects/info/http-alternates",
}

// projectFiles are the files at the root of a project that programs of the host read as configuration, as far as programs
// here try to create them.
var projectFiles = []string{ //nolint:gochecknoglobals // a table
	".mcp.json", ".vscode", ".claude", ".envrc", ".husky", ".agent-sandbox.json", ".agent-sandbox", ".github/workflows", ".bashrc", ".gitmodules",
	".pre-commit-config.yaml",
}

// isProtected reports whether no program may create or change a path, or the entries below it.
func (w *world) isProtected(path string) bool {
	if strings.EqualFold(filepath.Base(path), ".git") && !w.root[filepath.Dir(path)] {
		return true
	}
	for _, root := range []string{w.work, filepath.Join(w.work, "sub", "nested")} {
		if root != w.work && !w.root[root] {
			continue
		}
		for _, name := range projectFiles {
			if w.withinFold(path, filepath.Join(root, name)) {
				return true
			}
		}
		if dir := filepath.Join(root, ".git"); w.root[dir] && w.isGitState(dir, path) {
			return true
		}
	}
	if w.common != w.git { // git reads the configuration and hooks of a linked work tree in the common directory
		return w.isGitState(w.common, path) || slices.Contains([]string{"HEAD", "index"}, strings.TrimPrefix(path, w.common+"/"))
	}
	return w.root[w.git] && w.isGitState(w.git, path)
}

// isGitState reports whether git reads a path in a git directory as configuration.
func (w *world) isGitState(dir, path string) bool {
	if path != dir && !strings.HasPrefix(path, dir+"/") {
		return false
	}
	for _, name := range gitState {
		if w.withinFold(path, filepath.Join(dir, name)) {
			return true
		}
	}
	parts := strings.Split(strings.TrimPrefix(path, dir+"/"), "/")
	switch {
	case parts[0] == "info" && len(parts) > 1:
		return parts[1] != "refs" && !strings.HasPrefix(parts[1], "refs_")
	case parts[0] == "modules", parts[0] == "worktrees" && len(parts) <= 2:
		return len(parts) == 2 && !w.existing[path]
	case parts[0] == "worktrees" && len(parts) > 2:
		return slices.Contains([]string{"gitdir", "commondir", "config.worktree", "info"}, parts[2])
	}
	return false
}

// withinFold is within, except that it ignores the case of the root's last component if the root did not exist at the start.
func (w *world) withinFold(path, root string) bool {
	if w.existing[root] {
		return within(path, root)
	}
	dir := filepath.Dir(root)
	return within(path, dir) && len(path) >= len(root) && strings.EqualFold(path[:len(root)], root) && (len(path) == len(root) || path[len(root)] == '/')
}

// isPart reports whether git checks for a name to decide whether its directory is a repository.
func isPart(name string) bool {
	return slices.Contains([]string{"head", "objects", "refs", "commondir", ".git"}, strings.ToLower(name))
}

// judge compares the world with its state before a program.
func (w *world) judge(before map[string]string) []violation {
	w.t.Helper()
	var out []violation
	for _, change := range differences(w.outside, w.scanOutside()) {
		out = append(out, violation{outside, change.String()})
	}
	after := w.scanWritable()
	for _, change := range differences(before, after) {
		if !w.isProtected(change.path) {
			continue
		}
		out = append(out, violation{protected, change.String()})
	}
	return append(out, w.judgeGit(before, after)...)
}

type difference struct{ path, before, after string }

func (d difference) String() string {
	return fmt.Sprintf("%q: before %q, after %q", d.path, d.before, d.after)
}

func differences(before, after map[string]string) (out []difference) {
	paths := slices.Collect(maps.Keys(after))
	for path := range before {
		if _, ok := after[path]; !ok {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	for _, path := range paths {
		if before[path] != after[path] {
			out = append(out, difference{path, before[path], after[path]})
		}
	}
	return out
}

// judgeGit runs git of the host in every directory with a part of a repository.
func (w *world) judgeGit(before, after map[string]string) (out []violation) {
	known := map[string]bool{w.git: true, w.common: true, filepath.Join(w.work, "sub", "nested", ".git"): w.root[filepath.Join(w.work, "sub", "nested")], "": true}
	if w.shape == "submodule" {
		known[filepath.Join(w.home, "super", ".git")] = true
	}
	asked := map[string]bool{}
	for path := range after {
		dir := filepath.Dir(path)
		if !isPart(filepath.Base(path)) || asked[dir] || before[path] != "" && dir != w.work {
			continue
		}
		asked[dir] = true
		found := w.runGit(dir, "rev-parse", "--absolute-git-dir")
		if !known[found] {
			out = append(out, violation{repository, fmt.Sprintf("in %q git finds %q", dir, found)})
		}
		_ = w.runGit(dir, "status")
	}
	if os.Remove(filepath.Join(w.base, "ran")) == nil {
		out = append(out, violation{ran, fmt.Sprintf("git status in one of %q ran the canary", slices.Sorted(maps.Keys(asked)))})
	}
	return out
}
