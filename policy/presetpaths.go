package policy

// PresetPaths lists the paths of a preset as they would be written in a policy, relative
// to home with ~/ or to the workspace. Those of @git depend on the repository and are not
// among them. A group or an unknown name has none.
func PresetPaths(name string) []string {
	var paths []string
	for _, r := range presetRules(name) {
		paths = append(paths, r.path)
	}
	return paths
}
