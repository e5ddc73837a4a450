package filesystem

import (
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/policy/internal/hostpath"
	"github.com/seed434b0696/agent-sandbox/policy/internal/preset"
)

// IsObeyed reports whether a program on the host may run or obey a file of this path: a part of the path is a name that every
// policy protects in projects, or the state of a git repository that makes git run something. It looks at the name alone,
// in any directory, without regard to case. The path may be relative.
func IsObeyed(path string) bool {
	parts := hostpath.Split(strings.ToLower(path))
	for i := range parts {
		rest := parts[i:]
		if slices.ContainsFunc(preset.ProjectNames, func(name string) bool { return hasPrefix(rest, name) }) {
			return true
		}
		if parts[i] == ".git" && isObeyedInGit(rest[1:]) {
			return true
		}
	}
	return false
}

// isObeyedInGit reports whether git obeys a path in the git directory. A .git that is a file points to another directory.
func isObeyedInGit(path []string) bool {
	if len(path) == 0 {
		return true
	}
	if path[0] == "modules" || path[0] == "worktrees" {
		return true // other git directories, at a depth that only git knows
	}
	return slices.ContainsFunc(append([]string{"info", "branches"}, gitState...), func(name string) bool { return hasPrefix(path, name) })
}

// hasPrefix reports whether a split path begins with the components of name, which may differ in case.
func hasPrefix(path []string, name string) bool {
	for part := range strings.SplitSeq(strings.ToLower(name), "/") {
		if len(path) == 0 || path[0] != part {
			return false
		}
		path = path[1:]
	}
	return true
}
