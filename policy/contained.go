package policy

import (
	"os"
	"slices"
	"sort"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/shellword"
)

// Shown returns the host's directories and files that a container shows: the workspace and the paths of the user's rules. It
// omits those of presets for the host's system and home directory, because an image has its own.
func (p *Plan) Shown() []string {
	var out []string
	if p.Workspace != "" {
		out = append(out, p.Workspace)
	}
	for i := range p.Rules {
		r := &p.Rules[i]
		if r.Applied && !r.Missing && (isUsers(r) || opensRepository(r)) && (r.Access == ReadOnly || r.Access == ReadWrite) {
			out = append(out, r.Path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// isUsers reports whether the user wrote the rule.
func isUsers(r *Rule) bool {
	return r.Preset == "" && r.Layer != LayerDefaults && r.Source != "built in"
}

// opensRepository reports whether the rule opens the git directory of a workspace that is a linked worktree or a submodule, which
// lies elsewhere: without it git finds no repository.
func opensRepository(r *Rule) bool { return r.Preset == "@git" && r.Access == ReadWrite }

// ShowOnly returns a copy of the plan without what it says about paths of the host outside roots, for a sandbox that has the files of an
// image and those below roots, such as the ones of Shown.
func (p *Plan) ShowOnly(roots []string) *Plan {
	isShown := func(path string) bool {
		return slices.ContainsFunc(roots, func(root string) bool {
			return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, "/")+"/")
		})
	}
	filter := func(list []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(path string) bool { return !isShown(path) })
	}
	out := *p
	out.Mounts = slices.DeleteFunc(slices.Clone(p.Mounts), func(m Mount) bool { return !isShown(m.Path) })
	for i, r := range p.Rules { // a root that is as its surroundings on the host has no mount there
		if r.Applied && slices.Contains(roots, r.Path) && !slices.ContainsFunc(out.Mounts, func(m Mount) bool { return m.Path == r.Path }) {
			out.Mounts = append(out.Mounts, Mount{Path: r.Path, Access: r.Access, Rule: i})
		}
	}
	sort.Slice(out.Mounts, func(i, j int) bool { return out.Mounts[i].Path < out.Mounts[j].Path })
	out.Guards = slices.DeleteFunc(slices.Clone(p.Guards), func(g Guard) bool { return !isShown(g.Dir) })
	out.Redacted = slices.DeleteFunc(slices.Clone(p.Redacted), func(r Redacted) bool { return !isShown(r.Path) })
	out.NoRepos = filter(p.NoRepos)
	out.Nested.Roots, out.Nested.Open = filter(p.Nested.Roots), filter(p.Nested.Open)
	return &out
}

// ExplainShownPath is ExplainPath for a sandbox that has the files of an image and the host's paths of Shown, such as a container.
func (p *Plan) ExplainShownPath(name string) Explanation {
	e := p.ExplainPath(name)
	if e.Verdict == Private.String() {
		return e
	}
	for _, root := range p.Shown() {
		if e.Name == root || strings.HasPrefix(e.Name, strings.TrimSuffix(root, "/")+"/") {
			return e
		}
	}
	out := Explanation{Kind: e.Kind, Name: e.Name, Verdict: VerdictAbsent, Layer: LayerDefaults, Source: "built in"}
	out.Reason = "the sandbox has the files of its image, the workspace and the paths that the policy names"
	if _, err := os.Lstat(e.Name); err == nil && e.Name != "/" {
		out.Change = "--ro " + shellword.Quote(e.Name) + " or --rw " + shellword.Quote(e.Name)
	}
	return out
}
