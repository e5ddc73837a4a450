package kube

import (
	"time"

	"k8s.io/client-go/rest"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/podspec"
)

// DefaultImage is the image of a sandbox whose Spec names none.
const DefaultImage = "busybox:latest"

// DefaultLinger is long enough for a restart of the API server.
const DefaultLinger = 45 * time.Second

// DefaultStorage is the number of bytes of storage that a persistent sandbox requests.
const DefaultStorage = 10 << 30

// Options configure a [Driver].
type Options struct {
	// Config is the client configuration of a program that has one, such as a controller's; nil: Env locates the cluster. The driver
	// copies it, and reads neither a kubeconfig nor Context.
	Config *rest.Config

	Env        []string // of this process, "K=V": KUBECONFIG and HOME locate the cluster
	Context    string   // of the kubeconfig; empty: its current one, or the cluster that this process runs in
	Namespace  string   // for pods; empty: the context's, with Config "default"
	DataDir    string   // the directory to which the guest is extracted
	Guest      string   // the guest program, for the cluster's nodes; empty: found or extracted
	GuestImage string   // an image with the guest at [GuestPath] and [GuestVolumePath], for images without a shell; empty: the guest is sent
	Image      string   // the default image; empty: DefaultImage
	// RuntimeClass is the cluster's name for a container runtime, such as one with a kernel per pod; empty: its default.
	RuntimeClass string

	// Lifetime is the deadline of a pod, which the cluster enforces without this process; zero: ten hours. A larger limit on one
	// command (limits.wall) extends it.
	Lifetime time.Duration

	// Warm is the number of pods prepared of each kind that was created, so that the next sandbox of that kind starts in
	// milliseconds; 0: none. The caller calls [Driver.Close] in the end; pods of a killed process end by themselves.
	Warm int

	// Agents selects when a sandbox is a Sandbox of kubernetes-sigs/agent-sandbox, for which a controller creates the pod: when the
	// cluster has them and the credentials allow to create them (empty), AgentsNever, or AgentsAlways.
	Agents string

	// WarmPool is a SandboxWarmPool with running pods, from which sandboxes take theirs; empty: none. A pod that isolates less than
	// [Driver.Template] requires for the policy is rejected.
	WarmPool string

	// Linger is the time for which commands continue after their client has lost its connection, and for which the client tries to
	// reconnect, in whole seconds; 0: DefaultLinger.
	Linger time.Duration

	// Of persistent sandboxes: the claim with workspace, home and snapshots.
	StorageSize  int64  // bytes; 0: DefaultStorage
	StorageClass string // of the cluster; empty: its default one

	Trace  func(phase, line string) // gets a line for each step; nil: none
	Notice func(line string)        // gets a line about files of the workspace that were not copied; nil: none
}

// pods returns the options that pods depend on.
func (o Options) pods() podspec.Options {
	return podspec.Options{GuestImage: o.GuestImage, RuntimeClass: o.RuntimeClass, Pool: o.WarmPool, Linger: o.Linger, Lifetime: o.Lifetime}
}

// Paths of the guest program in a GuestImage.
const (
	GuestPath       = podspec.GuestPath
	GuestVolumePath = podspec.GuestVolumePath // where nodes mount the image: the program's name in the pod
)
