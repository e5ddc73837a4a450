package docker

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/backend/docker/image"
	"github.com/seed434b0696/agent-sandbox/internal/engine"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// prepared is a sandbox that was checked and resolved, but not created.
type prepared struct {
	driver   *Driver
	engine   *engine.Client
	spec     sandbox.Spec
	plan     *policy.Plan
	image    *image.Image
	user     image.User
	id       string
	state    state
	runtime  string // host directory of the guest and the wrappers
	created  time.Time
	checkout checkout // protections of the volumes
	rebased  bool     // the container was created from another image than the one that it had

	spareMemory int64 // what a sandbox without a limit may take of the host's memory, in bytes; 0: the engine cannot limit it

	podman     bool // the engine is Podman
	sameKernel bool // the engine runs on this host's kernel, not in a virtual machine
}

// prepare resolves spec and rejects what a container cannot enforce. It creates no container.
func (d *Driver) prepare(ctx context.Context, spec sandbox.Spec) (*prepared, error) {
	plan, err := resolve(spec)
	if err != nil {
		return nil, err
	}
	if err := checkSupported(spec, plan); err != nil {
		return nil, err
	}
	saved, err := loadState(spec.State)
	if err != nil {
		return nil, err
	}
	c, err := d.engine(ctx, saved.Host)
	if err != nil {
		return nil, err
	}
	saved.Host = c.Host
	if !c.IsLocal() {
		return nil, sandbox.Errorf(sandbox.Unsupported, "the engine at %s is not on this host, whose files it would mount", c.Host).
			WithHint("use an engine with a socket on this host")
	}
	info, err := d.about(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := checkLimits(info.Info, plan); err != nil {
		return nil, err
	}
	p := &prepared{driver: d, engine: c, spec: spec, plan: plan, created: time.Now()}
	p.podman = info.podman
	if info.MemoryLimit && info.SwapLimit {
		p.spareMemory = info.MemTotal / 2
	}
	p.sameKernel = info.KernelVersion != "" && info.KernelVersion == kernel()
	if p.image, err = d.inspect(ctx, c, d.imageName(spec), plan.Commands); err != nil {
		return nil, err
	}
	if p.user, err = p.image.SandboxUser(plan.Workspace, isRootless(info.Info)); err != nil {
		return nil, err
	}
	if p.runtime, err = d.runtime(ctx, c, p.image, plan.Commands, p.private()); err != nil {
		return nil, err
	}
	if saved.ID == "" {
		if saved.ID, err = newID(); err != nil {
			return nil, err
		}
	}
	p.state = saved
	p.id = p.state.ID
	return p, p.protectVolumes(ctx)
}

func (d *Driver) imageName(spec sandbox.Spec) string {
	if spec.Image == "" {
		return d.options.Image
	}
	return spec.Image
}

// checkSupported returns Unsupported for what the policy demands and a container cannot enforce.
func checkSupported(spec sandbox.Spec, plan *policy.Plan) error {
	unsupported := func(what, hint string) error {
		return sandbox.Errorf(sandbox.Unsupported, "docker: %s", what).WithHint("%s", hint)
	}
	if err := plan.CheckFreshTmp(); err != nil {
		return err
	}
	if err := plan.CheckNoAgents(); err != nil {
		return err
	}
	if err := plan.CheckNoRequests(); err != nil {
		return err
	}
	switch {
	case spec.Stage != "":
		return unsupported("a container works on the workspace itself, not on a stage", "--backend bwrap has stages")
	case plan.Docker:
		return unsupported("a process that reaches the engine's socket controls the host, this sandbox's isolation included", "leave docker out, or use --backend bwrap")
	case plan.Userns:
		return unsupported("containers make no user namespaces", "--backend bwrap can")
	}
	if len(spec.Firewall) > 0 && (plan.Network.Mode != sandbox.NetworkNone || len(plan.Secrets) > 0) {
		return sandbox.Errorf(sandbox.Invalid, "a sandbox has a firewall, or a network and secrets of the policy's, not both").
			WithHint("leave out --firewall, or --allow, --network and the secrets")
	}
	for _, s := range plan.Sockets {
		if !strings.HasPrefix(s, "/") {
			return unsupported("the abstract socket "+s+" belongs to the host's network", "list a socket with a path")
		}
	}
	if t := spec.Target; t != "" && (!strings.HasPrefix(t, "/") || t == "/" || strings.Contains(t+"/", "/../")) {
		return sandbox.Errorf(sandbox.Invalid, "target %q is not an absolute path", t)
	}
	return nil
}

// at returns the path inside of a path of the host.
func (p *prepared) at(path string) string {
	if p.spec.Target == "" || p.plan.Workspace == "" {
		return path
	}
	if path == p.plan.Workspace {
		return p.spec.Target
	}
	if rest, ok := strings.CutPrefix(path, p.plan.Workspace+"/"); ok {
		return p.spec.Target + "/" + rest
	}
	return path
}

// dir returns the directory inside in which commands start.
func (p *prepared) dir() string {
	if isOnVolume(p.spec) {
		return p.spec.Dir
	}
	return p.at(p.plan.Dir)
}

// isOnVolume reports whether commands start in one of the sandbox's volumes.
func isOnVolume(spec sandbox.Spec) bool {
	return slices.ContainsFunc(spec.Volumes, func(v sandbox.Volume) bool { return isWithin(v.Target, spec.Dir) })
}
