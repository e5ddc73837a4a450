package kube

import (
	"context"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/cluster"

	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// prepared is a sandbox that was decided and not made yet.
type prepared struct {
	driver  *Driver
	cluster *cluster.Cluster
	program guestProgram
	spec    sandbox.Spec
	plan    *policy.Plan
	image   string
	uid     int64
	id      string
	created time.Time
	private bool          // the node has user namespaces for pods
	mounted bool          // the guest's image is a volume
	agents  cluster.Kinds // of which a controller makes the pod; none: we make it
	living  *living       // of a sandbox that lives on; nil: it goes with its pod

	unfenced bool // no NetworkPolicy is made
}

// living is what a sandbox that lives on has more.
type living struct {
	claim string        // what holds its files
	idle  time.Duration // as in keep.Record
	until time.Time     // as above; zero: for ever
}

// prepare decides everything, and refuses what a pod cannot hold. It makes nothing.
func (d *Driver) prepare(ctx context.Context, spec sandbox.Spec) (*prepared, error) {
	p := &prepared{driver: d, spec: spec, image: spec.Image, created: time.Now()}
	if p.onVolume(spec.Dir) {
		spec.Dir = "" // the host has no such directory
	}
	var err error
	if p.plan, err = policy.Resolve(spec); err != nil {
		return nil, err
	}
	if p.image == "" {
		p.image = d.options.Image
	}
	if err := p.refuse(); err != nil {
		return nil, err
	}
	if p.uid, err = ownerOf(p.plan.Workspace); err != nil {
		return nil, err
	}
	if p.id, err = newID(); err != nil {
		return nil, err
	}
	if p.program, err = d.program(); err != nil {
		return nil, err
	}
	if p.cluster, err = d.connect(); err != nil {
		return nil, err
	}
	handler, err := p.cluster.FindRuntimeHandler(ctx, d.options.RuntimeClass)
	if err != nil {
		return nil, err
	}
	asked := make(chan struct{})
	go func() { // while others are asked
		defer close(asked)
		nodes := p.cluster.ListNodes(ctx)
		p.private = len(spec.Volumes) == 0 && cluster.AllHaveUserNamespaces(nodes, handler)
		p.mounted = d.options.GuestImage != "" && cluster.AllMountImages(nodes) && !p.fromPool()
	}()
	p.agents, err = p.choose(ctx)
	<-asked
	return p, err
}

func unsupported(field, why, hint string) error {
	e := sandbox.Errorf(sandbox.Unsupported, "%s: %s", field, why)
	if hint == "" {
		return e
	}
	return e.WithHint("%s", hint)
}

// refuse names what is asked for and a pod cannot have.
func (p *prepared) refuse() error {
	spec, plan := p.spec, p.plan
	switch {
	case spec.Stage != "":
		return unsupported("stage", "a pod works on a copy of the workspace, or on a volume", "--backend bwrap has stages")
	case spec.State != "":
		return unsupported("create", "pods do not live on without the process that made them", "--backend docker can")
	case len(spec.Firewall) > 0:
		return unsupported("firewall", "nobody outside of a pod can filter its packets", "--backend docker can, as root")
	case plan.Docker:
		return unsupported("docker", "whoever reaches an engine's socket controls its host", "leave docker out")
	case plan.Userns:
		return unsupported("userns", "pods make no user namespaces", "--backend bwrap can")
	case len(plan.Sockets) > 0:
		return unsupported("filesystem.sockets", plan.Sockets[0]+" is on this host, and the pod is not", "")
	case len(plan.Secrets) > 0:
		return unsupported("secrets", "the proxy of an allow-list inserts them, and a pod cannot be confined to it", "")
	case plan.Network.Mode == sandbox.NetworkAllow:
		return unsupported("network.allow", "a pod's network cannot be taken away, so commands could bypass the proxy",
			"--network none leaves no socket, --network host the pod's own network; --backend docker has allow-lists")
	case len(plan.Publish) > 0:
		return unsupported("network.publish", "ports of pods are not published", "")
	}
	for name, why := range map[string]string{"pids": "only a node's kubelet limits the processes of a pod"} {
		if source, asked := plan.Limits.Required[name]; asked {
			return unsupported("limits."+name, why+" ("+source+")", "leave it out, or use another backend")
		}
	}
	for _, c := range plan.Commands {
		if c.Source != "built in" {
			return unsupported("commands."+c.Name, "commands of an image that is not here cannot be wrapped ("+c.Source+")", "--backend docker can")
		}
	}
	if t := spec.Target; t != "" && !insidePath(t) {
		return sandbox.Errorf(sandbox.Invalid, "target %q is not an absolute path", t)
	}
	if err := p.refusePool(); err != nil {
		return err
	}
	return p.refusePaths()
}

// insidePath tells whether something can stand at a path inside.
func insidePath(path string) bool {
	if !strings.HasPrefix(path, "/") || path == "/" || strings.Contains(path+"/", "/../") || strings.Contains(path, ":") {
		return false
	}
	for _, own := range []string{"/proc", "/sys", "/dev", "/run/agent-sandbox"} {
		if covers(own, path) {
			return false
		}
	}
	return true
}

// covers reports whether path is root or lies in it.
func covers(root, path string) bool { return path == root || strings.HasPrefix(path, root+"/") }

// nobodyElse is the user where the workspace names none, and instead of root.
const nobodyElse = 1000

// ownerOf is the owner of the workspace, who has the same number on a volume that both sides know; never root.
func ownerOf(workspace string) (int64, error) {
	if workspace == "" {
		return nobodyElse, nil
	}
	info, err := os.Stat(workspace)
	if err != nil {
		return 0, sandbox.Errorf(sandbox.NotFound, "workspace: %w", err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 {
		return int64(st.Uid), nil
	}
	return nobodyElse, nil
}
