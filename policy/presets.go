package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// group returns the presets that another stands for, or nil.
func group(name string) []string {
	switch name {
	case "@all":
		return []string{"@base", "@caches", "@agents", "@git", "@lint/ts", "@lint/go", "@lint/python"}
	case "@lint/all":
		return []string{"@lint/ts", "@lint/go", "@lint/python"}
	}
	return nil
}

var leaves = []string{"@base", "@caches", "@agents", "@git", "@git-strict", "@lint/ts", "@lint/go", "@lint/python"}

// PresetNames returns the names of all presets, sorted.
func PresetNames() []string {
	out := append([]string{"@all", "@lint/all"}, leaves...)
	slices.Sort(out)
	return out
}

// expandPreset returns the presets that a written name stands for, or nil when
// there is none of that name.
func expandPreset(name string) []string {
	if g := group(name); g != nil {
		return g
	}
	if slices.Contains(leaves, name) {
		return []string{name}
	}
	return nil
}

// activePresets toggles through the lists of all layers. They change the default,
// which is @all with a workspace and nothing without; whoever names @all himself
// means the list literally.
func activePresets(layers []sandbox.Layer, workspace string) (map[string]bool, error) {
	active := map[string]bool{}
	literal := workspace == ""
	for _, l := range layers {
		literal = literal || slices.ContainsFunc(l.Policy.Filesystem.Presets, func(s string) bool {
			return strings.TrimPrefix(s, "!") == "@all"
		})
	}
	if !literal {
		for _, p := range group("@all") {
			active[p] = true
		}
	}
	for i := range layers {
		for n, written := range layers[i].Policy.Filesystem.Presets {
			name, off := strings.CutPrefix(written, "!")
			names := expandPreset(name)
			if names == nil {
				return nil, fault(&layers[i], "filesystem.presets", n, sandbox.Invalid, "unknown preset: %s", written).
					WithHint("the presets are %s", strings.Join(PresetNames(), " "))
			}
			for _, p := range names {
				active[p] = !off
			}
		}
	}
	return active, nil
}

// presetRule is one path of a preset, relative to home with ~ or to the workspace.
type presetRule struct {
	path   string
	access Access
	guard  bool // a missing path must not come into being
}

// presetRules lists the paths of a preset. That of @git depends on the repository
// and stands in git.go.
func presetRules(preset string) []presetRule {
	switch preset {
	case "@base":
		return append([]presetRule{{path: ".", access: ReadWrite}, {path: "~", access: ReadOnly}},
			each(Exclude, true, secrets)...)
	case "@caches":
		return each(ReadWrite, false, []string{"~/.cache", "~/.bun", "~/go", "~/.npm", "~/.cargo"})
	case "@agents":
		// Claude Code rewrites ~/.claude.json at every start (counters, the list of
		// projects), so it must stay writable although it can name MCP servers.
		return each(ReadWrite, false, []string{"~/.codex", "~/.claude", "~/.claude.json", "~/.pi"})
	}
	// A missing lint configuration may be created: a new project needs one.
	return each(ReadOnly, false, lintFiles(preset))
}

func each(access Access, guard bool, paths []string) []presetRule {
	out := make([]presetRule, len(paths))
	for i, p := range paths {
		out[i] = presetRule{p, access, guard}
	}
	return out
}

func lintFiles(preset string) []string {
	switch preset {
	case "@lint/ts":
		return []string{
			"biome.json", "biome.jsonc", ".eslintrc", ".eslintrc.js", ".eslintrc.json", "eslint.config.js",
			"eslint.config.mjs", ".oxlintrc.json", ".prettierrc", ".prettierrc.json", "prettier.config.js",
			"tsconfig.json", "tsconfig.build.json", ".editorconfig",
		}
	case "@lint/go":
		return []string{".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json", ".editorconfig"}
	case "@lint/python":
		return []string{
			"pyproject.toml", "setup.cfg", ".flake8", "mypy.ini", ".mypy.ini", ".pylintrc", "ruff.toml",
			".ruff.toml", ".editorconfig",
		}
	}
	return nil
}

// fault is a one-line error about one entry of a layer.
func fault(l *sandbox.Layer, list string, n int, code sandbox.Code, format string, args ...any) *sandbox.Error {
	key := indexKey(list, n)
	err := layerErrorf(*l, key, "%w", fmt.Errorf(format, args...))
	if l.File == "" {
		err = sandbox.Errorf(code, "%s: %w", layerSource(*l, key), fmt.Errorf(format, args...))
	}
	err.Code = code
	return err
}
