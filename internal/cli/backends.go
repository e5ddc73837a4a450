package cli

import (
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/seed434b0696/agent-sandbox/backend/bwrap"
	"github.com/seed434b0696/agent-sandbox/backend/docker"
	"github.com/seed434b0696/agent-sandbox/backend/virtual"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// defaultBackend is what runs commands when neither flag nor configuration names one.
const defaultBackend = "bwrap"

// clusterBackend is the one whose sandboxes are a cluster's.
const clusterBackend = "kube"

// hooks are told what a driver does. Each may be nil.
type hooks struct {
	trace  func(phase, line string)
	denied func(sandbox.Denial)
	record bool // notice refusals to read, too
	shared bool // sandboxes over one directory work on the same files, as the contract has it

	cluster clusterFlags // where kube has its pods
}

// clusterFlags say where pods are made, and of what.
type clusterFlags struct {
	context, namespace, guestImage, runtimeClass, warmPool string

	storage      sandbox.Bytes // of those that live on; 0: the backend's choice
	storageClass string
}

// addCluster adds the flags of a cluster.
func addCluster(fs *pflag.FlagSet, c *clusterFlags) {
	addPlace(fs, c)
	fs.StringVar(&c.guestImage, "guest-image", "", "take the guest from the container image `NAME`, for images without\na shell (kube)")
	fs.StringVar(&c.runtimeClass, "runtime-class", "", "have pods run by the cluster's runtime class `NAME`, such as one\nwith a kernel of its own (kube)")
	fs.StringVar(&c.warmPool, "warm-pool", "", "take a pod that runs already from the SandboxWarmPool `NAME` (kube)")
}

// addPlace adds the flags that say where pods are.
func addPlace(fs *pflag.FlagSet, c *clusterFlags) {
	fs.StringVar(&c.context, "context", "", "use the `CONTEXT` of the kubeconfig instead of its current one (kube)")
	fs.StringVar(&c.namespace, "namespace", "", "use this `NAMESPACE` instead of the context's (kube)")
}

// known are all backends.
var known = []string{"bwrap", "docker", clusterBackend, "virtual"}

// newDriver makes a backend's driver; "" is the default one. This is the only list of them.
func newDriver(name string, h host, k hooks) (sandbox.Driver, error) {
	switch name {
	case "", defaultBackend:
		return bwrap.New(bwrap.Options{DataDir: h.data, Trace: k.trace, Denied: k.denied, Record: k.record}), nil
	case "docker":
		return docker.New(docker.Options{Env: h.env, DataDir: h.data, Trace: k.trace, Denied: k.denied}), nil
	case clusterBackend:
		return newCluster(h, k)
	case "virtual":
		return virtual.New(virtual.Options{Share: k.shared, Apply: k.shared, Journal: filepath.Join(h.data, "applies"), Trace: k.trace, Denied: k.denied}), nil
	}
	return nil, sandbox.Errorf(sandbox.Invalid, "unknown backend %q", name).
		WithHint("the backends are %s", strings.Join(known, ", "))
}

func addBackend(fs *pflag.FlagSet, name *string) {
	fs.StringVar(name, "backend", "", "the kind of wall: `NAME` is bwrap, docker, kube, or virtual\n(in memory)")
}

// dockerBackend is the one that repositories' sandboxes have.
const dockerBackend = "docker"
