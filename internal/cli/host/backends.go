package host

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/seed434b0696/agent-sandbox/backend/bwrap"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Default is the backend when neither flag nor configuration names one.
const Default = "bwrap"

// Kube is the backend whose sandboxes are pods of a cluster.
const Kube = "kube"

// DriverOptions configure a driver. Each may be nil.
type DriverOptions struct {
	Trace  func(phase, line string)
	Denied func(sandbox.Denial)
	Notice func(line string) // a line for the user about what a sandbox lacks
	record bool              // report denied reads, too
	left   func()            // is called when a command has left files in a /tmp that ends with it (bwrap)
	Shared bool              // sandboxes of one directory work on the same files, as the contract requires

	Image   string  // of containers whose spec names none; "": that of the driver
	Cluster Cluster // where kube creates its pods
}

// Cluster describes where and how pods are created.
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

// AddPlaceFlags adds the flags that select the place of pods.
func AddPlaceFlags(fs *pflag.FlagSet, c *Cluster) {
	fs.StringVar(&c.Context, "context", "", "use the `CONTEXT` of the kubeconfig instead of its current one (kube)")
	fs.StringVar(&c.Namespace, "namespace", "", "use this `NAMESPACE` instead of the context's (kube)")
}

// Names returns all backends.
var Names = []string{"bwrap", "docker", Kube, "virtual"}

// NewDriver returns the driver of a backend; "" is the default one. This is the only list of drivers. For a driver that
// this program lacks, the error asks for the program that has it.
func NewDriver(name string, h Host, k DriverOptions) (sandbox.Driver, error) {
	switch name {
	case "", Default:
		return bwrap.New(bwrap.Options{DataDir: h.Data, Trace: k.Trace, Denied: k.Denied, Record: k.record, TmpLeft: k.left}), nil
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

// Docker is the backend of repositories' sandboxes.
const Docker = "docker"
