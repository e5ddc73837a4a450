// Package policy reads the layers of a policy, resolves them against one host into a [Plan], and explains each line of the
// plan. Drivers enforce a plan and decide nothing themselves.
package policy

import (
	"path/filepath"
	"slices"

	"github.com/seed434b0696/agent-sandbox/internal/nested"
	"github.com/seed434b0696/agent-sandbox/policy/internal/filesystem"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Plan is a policy resolved against one host: exact and deterministic. Two
// resolutions of the same Spec on an unchanged host are equal; the order of maps
// and of directory listings does not matter. All paths are absolute, clean, and
// resolved through symbolic links, and stand for the same place inside and
// outside unless said otherwise.
type Plan struct {
	Workspace string // resolved; empty: none
	Dir       string // start directory inside; exists inside
	Home      string // resolved; empty: none
	Backend   string // what the configuration names, or ""

	Mounts   []Mount     // parents before children, then by path; at most one a path
	Guards   []Guard     // names that must not be created, by directory and name
	NoRepos  []string    // roots below which no new git repository may appear
	Nested   NestedNames // names that must not be created in any directory
	Commands []Command   // by name
	Sockets  []string    // host Unix sockets that may be connected to, the Docker socket included
	SSHAgent string      // the socket of the user's SSH agent, of which commands may list identities and sign; empty: none
	GPGAgent GPGAgent    // the GnuPG agent of which commands may list keys and sign; its zero value: none
	Docker   bool
	Userns   bool
	Debug    bool
	KeepTmp  bool     // /tmp lasts and belongs to Workspace, which is not empty then; its mount is Private nevertheless
	Env      []string // final environment, "K=V", sorted by name
	Dropped  []Dropped
	Limits   Limits
	Requests sandbox.Requests
	reserved string // where the policy sets a request; empty: nowhere

	// Network has one mode for all layers, each rule once, "HOSTPORT:PORT" in Publish, and
	// as CA "", "ephemeral" or an absolute path, which is hidden inside.
	Network       sandbox.Network
	NetworkLayer  string        // the name of the layer that set the mode
	NetworkSource string        // where it did
	NetworkRules  []NetworkRule // the entries of Network, in the order of its fields
	Publish       []Publish     // Network.Publish
	Secrets       []Secret      // by name
	Redacted      []Redacted    // configuration files without their credentials, by path

	Rules  []Rule  // every path rule that was considered, in order of precedence, the losing ones included
	Layers []Layer // the layers that were read, for messages
}

// GPGAgent is the user's GnuPG agent and keyring.
type GPGAgent = filesystem.GPGAgent

// Layer names a layer of configuration that took part in a plan.
type Layer struct {
	Name, File string
	Trusted    bool
}

// Access is the permitted use of a path.
type Access int

// The kinds of access. A smaller value grants less.
const (
	Exclude   = Access(filesystem.Exclude)   // hidden: a directory is empty, a file has mode 000 and cannot be read
	ReadOnly  = Access(filesystem.ReadOnly)  // as on the host, read-only
	ReadWrite = Access(filesystem.ReadWrite) // as on the host, writable
	Private   = Access(filesystem.Private)   // an empty writable tmpfs of the sandbox's own (/tmp, /var/tmp)
)

func (a Access) String() string { return filesystem.Access(a).String() }

// Mount gives one path an access that differs from its parent's, or pins it:
// a path with the same access as its parent is mounted on itself so that it
// cannot be renamed or removed.
type Mount struct {
	Path   string
	Access Access
	Dir    bool // directory or anything else
	Pin    bool // only here to make the path immovable
	Rule   int  // index into Plan.Rules
}

// Guard forbids to create an entry: no file, directory, link or
// anything else called Name may be created in, or renamed or linked into, Dir.
// It covers what does not exist when the plan is made, and symbolic links, which
// cannot be mounted over; what exists is covered by a Mount.
type Guard struct {
	Dir    string   // absolute, resolved as far as it exists; need not exist
	Name   string   // one path component, compared without regard to case; "*" is every name
	Except []string // with Name "*": names that are allowed; a trailing * matches any rest
	Rule   int      // index into Plan.Rules
}

// NestedNames forbid to create entries of some names in any directory of some trees, because programs of the host
// obey them
// wherever a user works. What exists when the plan is made is covered by a Mount.
type NestedNames struct {
	Roots        []string // the trees, sorted; none: nothing is forbidden
	Names        []string // compared without regard to case
	Dependencies []string // names of directories below which nothing is forbidden: unpacked packages have such files
	Open         []string // paths that are allowed, with what lies below them, sorted
}

// Forbids returns the forbidden path that path is or lies below; "": nothing forbids it.
func (n NestedNames) Forbids(path string) string { return nested.New(nested.Rules(n)).Forbids(path) }

// isDependency reports whether path leads into a tree of dependencies below a root.
func (n NestedNames) isDependency(path string) bool {
	return slices.ContainsFunc(n.Roots, func(root string) bool { return nested.IsWithin(path, root) }) && !nested.New(nested.Rules(n)).Covers(path)
}

// Rule is one path rule of a layer, after presets, ~ and globs were expanded.
type Rule struct {
	Pattern string // as written: "~/.ssh", "@git", "src/**/*.key"
	Path    string // one path it stands for, resolved
	Access  Access
	Exact   bool   // written as a path, not a glob
	Layer   string // "defaults", "protected", "global", "project", "flags"
	Preset  string // "@base" when it came from a preset
	Source  string // "~/.config/agent-sandbox/config.json:4", "--ro", "built in"
	Missing bool   // the path does not exist; the rule waits as a Guard or was skipped
	Applied bool   // whether it decides about Path
}

// IsUnmatched reports whether a person wrote a glob that stands for no path now.
func (r Rule) IsUnmatched() bool {
	return r.Missing && !r.Exact && r.Preset == "" && r.Layer != LayerDefaults && r.Layer != "protected"
}

// Command is a wrapped command.
type Command struct {
	Name    string   // "git"
	Rule    string   // "deny", "script", "preset"
	Script  []byte   // the script's text, for "script"
	Real    string   // the resolved program to run, for "script" and "preset"; empty when there is none
	Tree    string   // directory that Real needs beside itself, so that it must be exposed with it; empty: none
	Targets []string // every resolved program to put the wrapper over, sorted
	Source  string   // where the rule was written
}

// Dropped is an environment variable of the host that commands do not see.
type Dropped struct {
	Name string
	Why  string // "looks secret", "loader variable", "env.deny in FILE:LINE", ...
}

// CheckLimitsOfDisk returns Unsupported when the policy sets a limit on what all files together take, which only a file system
// in memory counts.
func (p *Plan) CheckLimitsOfDisk() error {
	for _, name := range []string{"disk", "nodes"} {
		if source, ok := p.Limits.Required[name]; ok {
			return sandbox.Errorf(sandbox.Unsupported, "limits.%s in %s: files on a disk are not counted", name, source).
				WithHint("take it out of the policy, or use the backend virtual")
		}
	}
	return nil
}

// CheckFreshTmp returns Unsupported when the policy keeps /tmp. Backends that cannot call it.
func (p *Plan) CheckFreshTmp() error {
	if !p.KeepTmp {
		return nil
	}
	return sandbox.Errorf(sandbox.Unsupported, "filesystem.tmp: this backend has no /tmp that lasts between runs").
		WithHint("leave --tmp keep out, or use --backend bwrap")
}

// CheckNoAgents returns Unsupported when commands may use the user's SSH agent or GnuPG agent. Backends that cannot serve them call it.
func (p *Plan) CheckNoAgents() error {
	for _, agent := range []struct{ preset, socket, name string }{{"@ssh-agent", p.SSHAgent, "SSH"}, {"@gpg-agent", p.GPGAgent.Socket, "GnuPG"}} {
		if agent.socket != "" {
			return sandbox.Errorf(sandbox.Unsupported, "%s: this backend does not serve the %s agent", agent.preset, agent.name).
				WithHint("leave the preset out, or use --backend bwrap")
		}
	}
	return nil
}

// WithoutAgents returns the plan for commands that cannot use the user's agents.
func (p *Plan) WithoutAgents() *Plan {
	out := *p
	out.SSHAgent, out.GPGAgent = "", GPGAgent{}
	return &out
}

// CheckNoRequests returns Unsupported when the policy reserves resources. Backends without a cluster call it.
func (p *Plan) CheckNoRequests() error {
	if p.reserved == "" {
		return nil
	}
	return sandbox.Errorf(sandbox.Unsupported, "requests in %s: only a cluster reserves resources", p.reserved).
		WithHint("take them out of the policy, or use --backend kube")
}

// Limits are the limits of a plan. A limit that only the defaults ask for is
// optional: applied where the host can, skipped where it cannot.
type Limits struct {
	sandbox.Limits
	Required map[string]string // limit name ("memory") → source that asked for it
}

// Private returns the directories that end with the sandbox, sorted. What the plan mounts below them does not.
func (p *Plan) Private() []string {
	var out []string
	for _, m := range p.Mounts {
		if m.Access == Private && !p.isKept(m.Path) {
			out = append(out, m.Path)
		}
	}
	return out
}

// isKept reports whether path is the directory that KeepTmp makes last.
func (p *Plan) isKept(path string) bool { return p.KeepTmp && path == "/tmp" }

// Guarded returns the guard that forbids an entry at path, which is absolute and
// resolved, or at a directory on the way to it; nil: none does. It goes by names alone
// and does not look at the host.
func (p *Plan) Guarded(path string) *Guard {
	for ; path != "/" && path != "."; path = filepath.Dir(path) {
		dir, name := filepath.Dir(path), filepath.Base(path)
		for i := range p.Guards {
			if g := &p.Guards[i]; g.Dir == dir && g.isForbidden(name) {
				return g
			}
		}
	}
	return nil
}
