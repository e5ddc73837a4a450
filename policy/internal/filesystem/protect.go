package filesystem

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/policy/internal/git"
	"github.com/seed434b0696/agent-sandbox/policy/internal/hostpath"
	"github.com/seed434b0696/agent-sandbox/policy/internal/layer"
	"github.com/seed434b0696/agent-sandbox/policy/internal/preset"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// protect adds the built-in protections below writable directories, for files that the
// host obeys later: they could carry code out of the sandbox.
func (f *Resolution) protect() error {
	roots := f.walkRoots()
	f.nested = f.nestedRules(roots)
	found, named := git.Search(roots, f.stops(), git.NewNames(f.nested.Names))
	for _, name := range preset.HomeNames {
		f.protectBelow(f.Home, name, "")
	}
	for _, user := range f.users() {
		for _, name := range preset.HomeNamesOf(user) {
			f.protectBelow(f.Home, name, "")
		}
	}
	for _, home := range f.accounts {
		if !f.isWritableNear(home) {
			continue
		}
		for _, name := range preset.HomeNames {
			f.protectBelow(home, name, "")
		}
	}
	f.protectPrograms()
	projects := f.projectRoots(roots, found)
	for _, dir := range projects {
		for _, name := range preset.ProjectNames {
			f.protectBelow(dir, name, "")
		}
	}
	f.protectNested(named, projects)
	if f.presets["@git"] {
		f.protectRepositories(found)
		f.norepos = f.repositoryFree()
		if f.keepsTmp() {
			f.norepos = append(f.norepos, "/tmp")
		}
	}
	if f.presets["@git-strict"] {
		if err := f.protectBranches(); err != nil {
			return err
		}
	}
	return f.protectOwn()
}

// shield adds a protection for one path, whether it exists or not. It has an effect only where the layers let the sandbox write.
func (f *Resolution) shield(at hostpath.Place, pattern, preset string) {
	writable := f.wide.access(at.Path) == ReadWrite
	for _, l := range at.Links {
		writable = writable || f.wide.access(l) == ReadWrite
	}
	if !writable {
		return
	}
	r := f.protection(at, pattern, preset)
	r.Access = ReadOnly
	r.guard = true
	if f.wide.access(at.Path) != ReadWrite {
		// Only a link to it can be changed: nothing to mount.
		r.Missing = true
	}
	f.add(r)
}

// protection makes a rule of the protected layer.
func (f *Resolution) protection(at hostpath.Place, pattern, preset string) *rule {
	return &rule{
		Rule: Rule{
			Pattern: pattern, Path: at.Path, Exact: true, Layer: "protected", Preset: preset,
			Source: "built in", Missing: !at.Exists,
		},
		rank: rankProtected, layer: -1, trusted: true, dir: at.Dir, links: at.Links,
	}
}

// protectBelow shields a path below a resolved directory. What cannot be resolved
// (a loop of links) cannot be used by the host either, but its name is guarded.
func (f *Resolution) protectBelow(dir, name, preset string) {
	if dir == "" {
		return
	}
	at, err := f.look.Below(dir, name)
	if err != nil {
		at = hostpath.Place{Path: filepath.Join(dir, name)}
	}
	if preset == "" && at.Exists && at.Path == f.Workspace {
		return // a workspace such as ~/.config/nvim is the project itself
	}
	f.shield(at, filepath.Join(dir, name), preset)
}

// protectPath is protectBelow for an absolute path.
func (f *Resolution) protectPath(path, preset string) { f.protectBelow("/", path, preset) }

// pin makes a directory immovable.
func (f *Resolution) pin(dir, preset string) {
	if f.wide.access(dir) != ReadWrite || f.pins[dir] {
		return
	}
	f.pins[dir] = true
	r := f.protection(hostpath.Place{Path: dir, Exists: true, Dir: true}, dir, preset)
	r.Access, r.pin = ReadWrite, true
	f.add(r)
}

// guardAll forbids to create any names but the excepted ones in dir, a part of a git directory.
func (f *Resolution) guardAll(dir string, except ...string) {
	r := f.protection(hostpath.Place{Path: filepath.Join(dir, "*")}, filepath.Join(dir, "*"), "@git")
	r.Access = ReadOnly
	f.add(r)
	f.guards = append(f.guards, pending{dir: dir, name: "*", except: except, rule: r})
}

// isCache reports whether a rule comes from a preset whose directories are not
// searched for repositories.
func isCache(r *rule) bool {
	return slices.Contains([]string{"@caches", "@agents", "@claude", "@codex", "@gemini", "@opencode", "@pi"}, r.Preset)
}

// walkRoots returns the writable directories that are searched for repositories:
// the workspace and what the user made writable, the outermost ones.
func (f *Resolution) walkRoots() []string {
	var out []string
	for _, p := range f.wide.paths() {
		if r := f.wide[p]; r.Access == ReadWrite && r.dir && !isCache(r) && r.Preset != "@git" && !f.isWalked(p) {
			out = append(out, p)
		}
	}
	return out
}

// isWalked reports whether a search that begins above path reaches it.
func (f *Resolution) isWalked(path string) bool {
	for path != "/" {
		r := f.wide.at(filepath.Dir(path))
		if r == nil || r.Access != ReadWrite {
			return false
		}
		if !isCache(r) && r.Preset != "@git" {
			return true
		}
		path = r.Path
	}
	return false
}

// stops are directories that a search does not enter.
func (f *Resolution) stops() map[string]bool {
	out := map[string]bool{}
	for p, r := range f.wide {
		if r.Access != ReadWrite && r.dir {
			out[p] = true
		}
	}
	return out
}

// projectRoots returns the directories that people open in an editor or start an
// agent in: the writable roots, the start directory and every repository.
func (f *Resolution) projectRoots(roots []string, found []git.Repository) []string {
	out := slices.Clone(roots)
	for _, d := range []string{f.Workspace, f.Dir} {
		if d != "" {
			out = append(out, d)
		}
	}
	for _, r := range found {
		if r.Kind != git.Bare && r.Kind != git.Unreadable {
			out = append(out, r.Root)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// protectPrograms shields the directories of PATH that presets make writable:
// the host would run what is planted there. Those of the workspace stay as they
// are, because build tools install into them.
func (f *Resolution) protectPrograms() {
	for dir := range strings.SplitSeq(f.Env["PATH"], ":") {
		if !filepath.IsAbs(dir) {
			continue
		}
		at, err := f.look.Locate(dir)
		if err != nil || !at.Exists {
			continue
		}
		if r := f.wide.at(at.Path); r != nil && at.Path != r.Path && isCache(r) {
			f.shield(at, dir, "")
		}
	}
}

// repositoryFree returns the roots below which no repository may be created: all writable directories of the host, caches too,
// because a link in the workspace can point there. A .git that a rule names may be created.
func (f *Resolution) repositoryFree() []string {
	var out []string
	for _, root := range f.wide.paths() {
		r := f.wide[root]
		if r.Access != ReadWrite || !r.dir {
			continue
		}
		if outer := f.wide.at(filepath.Dir(root)); outer != nil && outer.Access == ReadWrite && slices.Contains(out, outer.Path) {
			continue
		}
		if !slices.ContainsFunc(f.rules, func(r *rule) bool {
			return r.isExplicit() && filepath.Base(r.Path) == ".git" && hostpath.IsWithin(r.Path, root)
		}) {
			out = append(out, root)
		}
	}
	return out
}

// keepsTmp reports whether /tmp lasts, so that it lies on the host and a link in the workspace can lead into it.
func (f *Resolution) keepsTmp() bool {
	keeps := false
	for i := range f.layers {
		if tmp := f.layers[i].Policy.Filesystem.Tmp; tmp != "" {
			keeps = tmp == sandbox.TmpKeep
		}
	}
	return keeps
}

// protectOwn protects the configuration of agent-sandbox against every layer: a
// command that could write it would choose its own policy.
func (f *Resolution) protectOwn() error {
	for _, dir := range f.own() {
		at, err := f.look.Locate(dir)
		if err != nil {
			continue
		}
		for _, r := range f.rules {
			ofAgent := dir == f.data() && filepath.Dir(r.Path) == filepath.Join(at.Path, AgentsDir)
			if r.Access == ReadWrite && r.layer >= 0 && r.Exact && hostpath.IsWithin(r.Path, at.Path) && !ofAgent {
				return f.ruleFault(r, sandbox.Denied, "%q: the configuration of agent-sandbox cannot be made writable", r.Pattern)
			}
		}
		f.protectAlways(at, dir)
		f.hidePrivate(at, dir)
		if f.Workspace != "" && hostpath.IsWithin(f.Workspace, at.Path) {
			f.protectPath(f.Workspace, "")
		}
	}
	for i := range f.layers {
		if file := f.layers[i].File; filepath.IsAbs(file) {
			f.protectPath(file, "")
		}
	}
	return nil
}

// QuarantineDir is the directory, below agent-sandbox's data directory, for files that commands created although the guard had
// refused them.
const QuarantineDir = "quarantine"

// AgentsDir is the directory, below agent-sandbox's data directory, with a directory for each coding agent that runs in sandboxes:
// its settings, sessions and login. No program of the host reads them. A trusted rule can open one of these directories.
const AgentsDir = "agents"

// TmpDir is the directory, below agent-sandbox's data directory, of the /tmp directories that last.
const TmpDir = "tmp"

// private are the parts of the data directory that commands do not see: the stages, the quarantine and each /tmp that lasts may hold
// files that the policy of another workspace, or of an earlier run, hides, and the agents' directories hold their logins.
var private = []string{"stages", QuarantineDir, TmpDir, AgentsDir}

// hidePrivate hides the private parts of a directory of agent-sandbox. It hides the data directory, which always has them, as a whole:
// each hidden directory costs every start some 0.2 ms. Parts that are links to other places are hidden there.
func (f *Resolution) hidePrivate(at hostpath.Place, pattern string) {
	whole := pattern == f.data() && at.Exists && at.Dir
	if whole {
		f.hide(at, pattern)
	}
	for _, name := range private {
		dir := filepath.Join(at.Path, name)
		part, err := f.look.Locate(dir)
		isCovered := whole && hostpath.IsWithin(part.Path, at.Path)
		if err == nil && part.Exists && !isCovered {
			f.hide(part, dir)
		}
	}
}

// hide hides a path from commands.
func (f *Resolution) hide(at hostpath.Place, pattern string) {
	r := f.protection(at, pattern, "")
	r.Access = Exclude
	f.add(r)
}

// protectAlways is shield wherever the path can be seen at all, so that an
// explanation knows that nothing opens it.
func (f *Resolution) protectAlways(at hostpath.Place, pattern string) {
	if access := f.wide.access(at.Path); access != ReadOnly && access != ReadWrite {
		return
	}
	r := f.protection(at, pattern, "")
	r.Access, r.guard = ReadOnly, true
	f.add(r)
}

// ruleFault is an error about the entry that made a rule.
func (f *Resolution) ruleFault(r *rule, code sandbox.Code, format string, args ...any) *sandbox.Error {
	if r.layer < 0 {
		return sandbox.Errorf(code, format, args...)
	}
	return layer.EntryErrorf(&f.layers[r.layer], r.key, r.entry, code, format, args...)
}

// isEmptyDir reports whether path is a directory without entries.
func isEmptyDir(path string) bool {
	entries, err := os.ReadDir(path)
	return err == nil && len(entries) == 0
}
