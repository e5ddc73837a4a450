// Package preset holds the built-in lists of paths: what each preset hides, shows or opens, and the names that are
// protected in projects and home directories.
package preset

import "slices"

// Leaves lists the presets other than groups, in the order in which they are applied.
func Leaves() []string { return slices.Clone(leaves) }

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

// SSHAgent is the preset that gives commands a part of the user's SSH agent besides its paths.
const SSHAgent = "@ssh-agent"

// GPGAgent is the preset that gives commands a part of the user's GnuPG agent and the public keys. It has no paths.
const GPGAgent = "@gpg-agent"

// leaves are the presets other than groups, in the order in which they are applied.
var leaves = []string{"@base", "@caches", "@agents", "@claude", "@codex", "@gemini", "@opencode", "@pi", "@ssh-agent", "@gpg-agent", "@git", "@git-strict", "@lint/ts", "@lint/go", "@lint/python"}

// Names returns the names of all presets, sorted.
func Names() []string {
	out := append([]string{"@all", "@lint/all"}, leaves...)
	slices.Sort(out)
	return out
}

// Members returns the presets that a name stands for: those of a group, or the preset itself; nil when there is none of
// that name.
func Members(name string) []string {
	if g := group(name); g != nil {
		return g
	}
	if slices.Contains(leaves, name) {
		return []string{name}
	}
	return nil
}

// Use is what a rule of a preset does with its path.
type Use int

// The uses.
const (
	Hidden Use = iota
	ReadOnly
	ReadWrite
)

// Rule is one path of a preset, relative to home with ~ or to the workspace.
type Rule struct {
	Path  string
	Use   Use
	Guard bool // a missing path must not be created
}

// Rules lists the paths of a preset. The paths of @git
// depend on the repository and are not among them.
func Rules(preset string) []Rule {
	switch preset {
	case "@base":
		return append([]Rule{{Path: ".", Use: ReadWrite}, {Path: "~", Use: ReadOnly}},
			makeRules(Hidden, true, secrets)...)
	case "@caches":
		// Of directories that also have programs, settings and tokens only the part that is a cache: Gradle's has none that stands alone,
		// and from Maven's repository the host executes plug-ins that it does not verify.
		return makeRules(ReadWrite, false, []string{
			"~/.cache", "~/.bun", "~/go", "~/.npm", "~/.cargo", "~/.local/share/pnpm/store", "~/.local/state/pnpm", "~/.yarn/berry", "~/.bundle/cache",
		})
	case "@agents":
		return append(makeRules(ReadWrite, false, []string{"~/.codex", "~/.claude", "~/.pi"}),
			Rule{Path: "~/.claude.json", Use: ReadOnly, Guard: true}) // it names MCP servers, which are commands
	case "@claude":
		return makeRules(ReadWrite, false, []string{"~/.claude", "~/.claude.json", "~/.claude/.credentials.json", "~/.claude/ide"})
	case "@codex":
		return makeRules(ReadWrite, false, []string{"~/.codex", "~/.codex/auth.json"})
	case "@gemini":
		return makeRules(ReadWrite, false, []string{"~/.gemini/oauth_creds.json"})
	case "@opencode":
		return makeRules(ReadWrite, false, []string{"~/.local/share/opencode", "~/.local/share/opencode/auth.json", "~/.local/share/opencode/mcp-auth.json"})
	case "@pi":
		return makeRules(ReadWrite, false, []string{"~/.pi", "~/.pi/agent/auth.json"})
	case SSHAgent:
		// What ssh and ssh-keygen read to choose an identity, and to know hosts and signers. Nothing of it is secret to who
		// can use the identities.
		return makeRules(ReadOnly, false, []string{
			"~/.ssh/id_rsa.pub", "~/.ssh/id_ecdsa.pub", "~/.ssh/id_ecdsa_sk.pub", "~/.ssh/id_ed25519.pub", "~/.ssh/id_ed25519_sk.pub",
			"~/.ssh/known_hosts", "~/.ssh/allowed_signers",
		})
	}
	// A missing lint configuration may be created: a new project needs one.
	return makeRules(ReadOnly, false, lintFiles(preset))
}

func makeRules(use Use, guard bool, paths []string) []Rule {
	out := make([]Rule, len(paths))
	for i, p := range paths {
		out[i] = Rule{p, use, guard}
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
