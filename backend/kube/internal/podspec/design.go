// Package podspec decides what the pod of a sandbox consists of: it refuses what a pod cannot enforce, renders the pod, and
// compares pods that others rendered with it.
package podspec

import (
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Design is everything that determines the pod of a sandbox.
type Design struct {
	Spec          sandbox.Spec
	Plan          *policy.Plan
	Image         string
	UID           int64 // of all processes in the pod
	SandboxID     string
	UserNamespace bool        // the node has user namespaces for pods
	GuestMounted  bool        // the guest's image is a volume
	Persistent    *Persistent // nil: the sandbox ends with its pod
	Options       Options

	GuestSize int    // bytes of the guest program
	GuestSum  string // its SHA-256, in hexadecimal
}

// Options are the options of a driver on which its pods depend.
type Options struct {
	GuestImage   string        // an image with the guest; empty: the guest is sent
	RuntimeClass string        // empty: the cluster's default
	Pool         string        // the warm pool that the pod comes from; empty: none
	Linger       time.Duration // how long commands continue without a client
	Lifetime     time.Duration // of the pod, at most
}

// Persistent are the properties that only a persistent sandbox has.
type Persistent struct {
	Claim string        // the volume claim with its files
	Idle  time.Duration // as in persist.Record; 0: for ever
	Until time.Time     // when it ends; zero: never
}

// Unsupported returns the error for a field that a pod cannot enforce: why, and a hint with the fix, or "".
func Unsupported(field, why, hint string) error {
	e := sandbox.Errorf(sandbox.Unsupported, "%s: %s", field, why)
	if hint == "" {
		return e
	}
	return e.WithHint("%s", hint)
}

// Check returns Unsupported with the name of the first field that a pod cannot enforce.
func (p *Design) Check() error {
	spec, plan := p.Spec, p.Plan
	if err := plan.CheckFreshTmp(); err != nil {
		return err
	}
	if err := plan.CheckNoAgents(); err != nil {
		return err
	}
	switch {
	case spec.Stage != "":
		return Unsupported("stage", "a pod works on a copy of the workspace, or on a volume", "--backend bwrap has stages")
	case spec.State != "":
		return Unsupported("create", "pods do not outlive the process that created them", "--backend docker can")
	case len(spec.Firewall) > 0:
		return Unsupported("firewall", "the packets of a pod cannot be filtered from this host", "--backend docker can, as root")
	case plan.Docker:
		return Unsupported("docker", "whoever reaches an engine's socket controls its host", "leave docker out")
	case plan.Userns:
		return Unsupported("userns", "pods make no user namespaces", "--backend bwrap can")
	case len(plan.Sockets) > 0:
		return Unsupported("filesystem.sockets", plan.Sockets[0]+" is on this host, and the pod is not", "")
	case len(plan.Secrets) > 0:
		return Unsupported("secrets", "the proxy of an allow-list inserts them, and a pod cannot be confined to it", "")
	case plan.Network.Mode == sandbox.NetworkAllow:
		return Unsupported("network.allow", "a pod's network cannot be taken away, so commands could bypass the proxy",
			"--network none leaves no socket, --network host the pod's own network; --backend docker has allow-lists")
	case len(plan.Publish) > 0:
		return Unsupported("network.publish", "ports of pods are not published", "")
	}
	for name, why := range map[string]string{"pids": "only a node's kubelet limits the processes of a pod"} {
		if source, asked := plan.Limits.Required[name]; asked {
			return Unsupported("limits."+name, why+" ("+source+")", "leave it out, or use another backend")
		}
	}
	for _, c := range plan.Commands {
		if c.Source != "built in" {
			return Unsupported("commands."+c.Name, "commands of an image that is not here cannot be wrapped ("+c.Source+")", "--backend docker can")
		}
	}
	if err := p.checkRequests(); err != nil {
		return err
	}
	if t := spec.Target; t != "" && !canMount(t) {
		return sandbox.Errorf(sandbox.Invalid, "target %q is not an absolute path", t)
	}
	return p.checkPaths()
}

// canMount reports whether a pod can have a mount at a path.
func canMount(path string) bool {
	if !strings.HasPrefix(path, "/") || path == "/" || strings.Contains(path+"/", "/../") || strings.Contains(path, ":") {
		return false
	}
	for _, own := range []string{"/proc", "/sys", "/dev", "/run/agent-sandbox"} {
		if isWithin(own, path) {
			return false
		}
	}
	return true
}

// isWithin reports whether path is root or below it.
func isWithin(root, path string) bool { return path == root || strings.HasPrefix(path, root+"/") }

// IsFromPool reports whether the pod comes from an administrator's warm pool.
func (p *Design) IsFromPool() bool { return p.Options.Pool != "" }

// Paths of the guest program in a guest image.
const (
	GuestPath       = "/sandbox-guest"
	GuestVolumePath = "/agent-sandbox" // where nodes mount the image: the program's name in the pod
)
