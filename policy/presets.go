package policy

import (
	"github.com/seed434b0696/agent-sandbox/policy/internal/filesystem"
	"github.com/seed434b0696/agent-sandbox/policy/internal/preset"
)

// PresetNames returns the names of all presets, sorted.
func PresetNames() []string { return preset.Names() }

// PresetPaths lists the paths of a preset as they would be written in a policy, relative
// to home with ~/ or to the workspace. Those of @git depend on the repository and are not
// among them. A group or an unknown name has none.
func PresetPaths(name string) []string {
	var paths []string
	for _, r := range preset.Rules(name) {
		paths = append(paths, r.Path)
	}
	return paths
}

// IsObeyed reports whether a program on the host may run or obey a file of this path: a part of the path is a name that every
// policy protects in projects, or the state of a git repository that makes git run something. It looks at the name alone,
// in any directory, without regard to case. The path may be relative.
func IsObeyed(path string) bool { return filesystem.IsObeyed(path) }
