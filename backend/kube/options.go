package kube

import (
	"time"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/podspec"
)

// DefaultImage is what a sandbox is made of when its Spec names no image.
const DefaultImage = "busybox:latest"

// DefaultLinger is enough for an API server to be started again.
const DefaultLinger = 45 * time.Second

// DefaultStorage is how many bytes a sandbox that lives on asks the cluster for.
const DefaultStorage = 10 << 30

// Options configure a [Driver].
type Options struct {
	Env        []string // of this process, "K=V": where the cluster is (KUBECONFIG, HOME)
	Context    string   // of the kubeconfig; empty: its current one, or the cluster that this process runs in
	Namespace  string   // for pods; empty: the context's
	DataDir    string   // where the guest is extracted
	Guest      string   // the guest program, for the cluster's nodes; empty: found or extracted
	GuestImage string   // an image with the guest at [GuestPath] and [GuestVolumePath], for images without a shell; empty: the guest is sent
	Image      string   // the default image; empty: DefaultImage
	// RuntimeClass is the cluster's name for what runs pods, such as one with a kernel of its own; empty: its default.
	RuntimeClass string

	// Lifetime is how long a pod lives at most, whatever becomes of its maker and of the network; zero: ten hours. A
	// policy that gives one command more time (limits.wall) extends it.
	Lifetime time.Duration

	// Warm is how many pods are prepared of each kind that was created last, so that the next one like it is there in
	// milliseconds; 0: none. Whoever sets it calls [Driver.Close] in the end; pods of a process that was killed end by themselves.
	Warm int

	// Agents says whether a sandbox is a Sandbox of kubernetes-sigs/agent-sandbox, of which a controller makes the pod: when the
	// cluster has them and we may create them (empty), AgentsNever, or AgentsAlways.
	Agents string

	// WarmPool is a SandboxWarmPool that has pods run already, of which sandboxes take theirs; empty: none. A pod that is not as
	// [Driver.Template] has it for the policy is refused.
	WarmPool string

	// Linger is for how long commands go on whose client has lost its connection, and for how long that tries to get another one; 0:
	// DefaultLinger. It counts in whole seconds.
	Linger time.Duration

	// Of sandboxes that live on: the claim that holds workspace, home and snapshots.
	StorageSize  int64  // bytes; 0: DefaultStorage
	StorageClass string // of the cluster; empty: its default one

	Trace func(phase, line string) // told what is done; nil: nobody is
}

// pods returns the options that pods depend on.
func (o Options) pods() podspec.Options {
	return podspec.Options{GuestImage: o.GuestImage, RuntimeClass: o.RuntimeClass, Pool: o.WarmPool, Linger: o.Linger, Lifetime: o.Lifetime}
}

// Where a GuestImage has the guest program.
const (
	GuestPath       = podspec.GuestPath
	GuestVolumePath = podspec.GuestVolumePath // for nodes that mount images: the name that the program has inside
)
