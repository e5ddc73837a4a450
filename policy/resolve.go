package policy

import (
	"reflect"
	"slices"

	"github.com/seed434b0696/agent-sandbox/policy/internal/account"
	"github.com/seed434b0696/agent-sandbox/policy/internal/filesystem"
	"github.com/seed434b0696/agent-sandbox/policy/internal/hostpath"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Resolve applies spec's policy to this host as it is now. It starts nothing and changes nothing.
//
// [Defaults] is put below the layers unless the first of them is called
// "defaults" already; spec.Policy becomes the last, trusted layer. Paths may be
// missing on the host: see Rule.Missing. Errors are one line and name the file
// and line, or the flag, with code Invalid for what can never be right, NotFound
// for a workspace or start directory that does not exist, and Denied for an
// untrusted layer that does more than tighten.
func Resolve(spec sandbox.Spec) (*Plan, error) {
	p, _, err := resolve(spec)
	return p, err
}

// resolve is Resolve, and returns the host's directories.
func resolve(spec sandbox.Spec) (*Plan, filesystem.Host, error) {
	none := filesystem.Host{}
	layers := allLayers(spec)
	if err := checkLayers(layers); err != nil {
		return nil, none, err
	}
	h, err := filesystem.NewHost(spec, accountHomes)
	if err != nil {
		return nil, none, err
	}
	f, err := filesystem.Resolve(h, layers)
	if err != nil {
		return nil, none, err
	}
	if err := f.CheckTightens(); err != nil {
		return nil, none, err
	}
	s := mergeSettings(layers)
	if s.docker {
		if err := f.AddDocker(); err != nil {
			return nil, none, err
		}
	}
	p := &Plan{
		Workspace: h.Workspace, Dir: h.Dir, Home: h.Home,
		Backend: s.backend, Docker: s.docker, Userns: s.userns, Debug: s.debuggers, KeepTmp: s.keepTmp,
		Limits: resolveLimits(layers),
	}
	p.addRequests(layers)
	if p.Dir == "" {
		p.Dir = "/tmp"
	}
	if f.UsesSSHAgent() {
		if p.SSHAgent, err = f.SSHAgent(); err != nil {
			return nil, none, err
		}
	}
	if f.UsesGPGAgent() {
		if p.GPGAgent, err = f.GPGAgent(); err != nil {
			return nil, none, err
		}
	}
	paths := f.Plan()
	p.addPaths(paths)
	if err := p.checkDir(); err != nil {
		return nil, none, err
	}
	if s.keepTmp && p.Workspace == "" {
		return nil, none, sandbox.Errorf(sandbox.Invalid, "filesystem.tmp: \"keep\" needs a workspace").
			WithHint("name a workspace, or leave --tmp keep out")
	}
	p.Env, p.Dropped = resolveEnv(layers, spec.Env)
	if err := s.network.plan(p); err != nil {
		return nil, none, err
	}
	if err := (secretResolver{f, layers}).resolve(p, &s.network); err != nil {
		return nil, none, err
	}
	if err := p.addRedacted(paths.Redacted); err != nil {
		return nil, none, err
	}
	if p.Commands, err = resolveCommands(layers, p.Env, p.Dir, h.Home); err != nil {
		return nil, none, err
	}
	for _, l := range layers {
		p.Layers = append(p.Layers, Layer{Name: l.Name, File: l.File, Trusted: l.Trusted})
	}
	return p, h, nil
}

// ResolveToRun is Resolve for a sandbox that this host is about to run. It first creates the parts of agent-sandbox's data directory that
// are missing: the start creates that directory, a policy can protect and hide only what exists, and the host may create the parts
// while the sandbox runs. Denied: one cannot be created, and commands could.
func ResolveToRun(spec sandbox.Spec) (*Plan, error) {
	p, h, err := resolve(spec)
	if err != nil {
		return nil, err
	}
	made, err := h.MakeData(func(dir string) bool {
		at, err := h.Locate(dir)
		if err != nil {
			return false
		}
		access, _ := p.Access(at.Path)
		return access == ReadWrite
	})
	if err != nil {
		return nil, err
	}
	if !made {
		return p, nil
	}
	return Resolve(spec)
}

// allLayers returns the layers of a Spec from the defaults to its own policy.
func allLayers(spec sandbox.Spec) []sandbox.Layer {
	layers := slices.Clone(spec.Layers)
	if len(layers) == 0 || layers[0].Name != LayerDefaults {
		layers = append([]sandbox.Layer{Defaults()}, layers...)
	}
	if !reflect.ValueOf(spec.Policy).IsZero() {
		layers = append(layers, sandbox.Layer{Name: LayerFlags, Trusted: true, Policy: spec.Policy})
	}
	return layers
}

// accountHomes is replaced by tests.
var accountHomes = account.Homes

// addPaths writes the decisions about paths into the plan.
func (p *Plan) addPaths(paths filesystem.Plan) {
	p.NoRepos, p.Nested, p.Sockets = paths.NoRepos, NestedNames(paths.Nested), paths.Sockets
	p.Rules = make([]Rule, len(paths.Rules))
	for i, r := range paths.Rules {
		p.Rules[i] = Rule{
			Pattern: r.Pattern, Path: r.Path, Access: Access(r.Access), Exact: r.Exact, Layer: r.Layer,
			Preset: r.Preset, Source: r.Source, Missing: r.Missing, Applied: r.Applied,
		}
	}
	for _, m := range paths.Mounts {
		p.Mounts = append(p.Mounts, Mount{Path: m.Path, Access: Access(m.Access), Dir: m.Dir, Pin: m.Pin, Rule: m.Rule})
	}
	for _, g := range paths.Guards {
		p.Guards = append(p.Guards, Guard(g))
	}
}

// checkDir returns an error unless the directory in which commands start exists inside.
func (p *Plan) checkDir() error {
	if root := hostpath.ReservedRoot(p.Dir); root != "" {
		return sandbox.Errorf(sandbox.Invalid, "start directory %q: %s belongs to the sandbox", p.Dir, root)
	}
	access, _ := p.Access(p.Dir)
	if access == ReadOnly || access == ReadWrite {
		return nil
	}
	for _, m := range p.Mounts {
		// The root of a mount, and the directories above it, exist inside.
		if m.Dir && m.Path == p.Dir || hostpath.IsWithin(m.Path, p.Dir) && m.Path != p.Dir {
			return nil
		}
	}
	return sandbox.Errorf(sandbox.Invalid, "start directory %q does not exist inside the sandbox: it is hidden", p.Dir).
		WithHint("give access to it with --ro or --rw")
}

// Access returns what the sandbox may use an absolute, resolved path for, and the
// rule that says so; nil: the read-only root of the host, which no rule names. The
// directories /run, /dev, /proc and /sys belong to the driver and are not covered.
func (p *Plan) Access(path string) (Access, *Rule) {
	access, at := ReadOnly, -1
	for i := range p.Mounts {
		if m := &p.Mounts[i]; hostpath.IsWithin(path, m.Path) && (at < 0 || len(m.Path) > len(p.Mounts[at].Path)) {
			access, at = m.Access, i
		}
	}
	if at < 0 {
		return access, nil
	}
	return access, &p.Rules[p.Mounts[at].Rule]
}

// CheckHostRoot returns Unsupported when the spec requests something that only backends with images have. Backends whose root
// file system is the host's call it.
func CheckHostRoot(spec sandbox.Spec) error {
	for _, f := range []struct {
		name string
		set  bool
	}{{"an image", spec.Image != ""}, {"a target", spec.Target != ""}, {"volumes", len(spec.Volumes) > 0}, {"a firewall", len(spec.Firewall) > 0}} {
		if f.set {
			return sandbox.Errorf(sandbox.Unsupported, "only backends with images have %s", f.name).WithHint("--backend docker")
		}
	}
	return nil
}
