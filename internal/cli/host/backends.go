package host

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/seed434b0696/agent-sandbox/backend/bwrap"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Default is what runs commands when neither flag nor configuration names one.
const Default = "bwrap"

// Kube is the one whose sandboxes are a cluster's.
const Kube = "kube"

// DriverOptions are told what a driver does. Each may be nil.
type DriverOptions struct {
	Trace  func(phase, line string)
	Denied func(sandbox.Denial)
	record bool // notice refusals to read, too
	Shared bool // sandboxes over one directory work on the same files, as the contract has it

	Cluster Cluster // where kube has its pods
}

// Cluster say where pods are made, and of what.
type Cluster struct {
	Context, Namespace, guestImage, runtimeClass, warmPool string

	Storage      sandbox.Bytes // of persistent sandboxes; 0: the backend's choice
	StorageClass string
}

// AddClusterFlags adds the flags of a cluster.
func AddClusterFlags(fs *pflag.FlagSet, c *Cluster) {
	AddPlaceFlags(fs, c)
	fs.StringVar(&c.guestImage, "guest-image", "", "take the guest from the container image `NAME`, for images without\na shell (kube)")
	fs.StringVar(&c.runtimeClass, "runtime-class", "", "have pods run by the cluster's runtime class `NAME`, such as one\nwith a kernel of its own (kube)")
	fs.StringVar(&c.warmPool, "warm-pool", "", "take a pod that runs already from the SandboxWarmPool `NAME` (kube)")
}

// AddPlaceFlags adds the flags that say where pods are.
func AddPlaceFlags(fs *pflag.FlagSet, c *Cluster) {
	fs.StringVar(&c.Context, "context", "", "use the `CONTEXT` of the kubeconfig instead of its current one (kube)")
	fs.StringVar(&c.Namespace, "namespace", "", "use this `NAMESPACE` instead of the context's (kube)")
}

// Names are all backends.
var Names = []string{"bwrap", "docker", Kube, "virtual"}

// NewDriver returns the driver of a backend; "" is the default one. This is the only list of them. The error of one that
// this program lacks asks for the program that has it.
func NewDriver(name string, h Host, k DriverOptions) (sandbox.Driver, error) {
	switch name {
	case "", Default:
		return bwrap.New(bwrap.Options{DataDir: h.Data, Trace: k.Trace, Denied: k.Denied, Record: k.record}), nil
	case Docker:
		return newDocker(h, k)
	case Kube:
		return newCluster(h, k)
	case "virtual":
		return newVirtual(h, k)
	}
	return nil, sandbox.Errorf(sandbox.Invalid, "unknown backend %q", name).
		WithHint("the backends are %s", strings.Join(Names, ", "))
}

// AddBackendFlag adds --backend.
func AddBackendFlag(fs *pflag.FlagSet, name *string) {
	fs.StringVar(name, "backend", "", "the backend `NAME`: bwrap, docker, kube, or virtual\n(in memory)")
}

// Docker is the one that repositories' sandboxes have.
const Docker = "docker"
