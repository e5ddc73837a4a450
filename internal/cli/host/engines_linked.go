//go:build kube

package host

import (
	"github.com/seed434b0696/agent-sandbox/backend/docker"
	"github.com/seed434b0696/agent-sandbox/backend/kube"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// RequireEngines returns nil: this program has the drivers of containers and pods.
func RequireEngines() error { return nil }

func newDocker(h Host, k DriverOptions) (sandbox.Driver, error) {
	return docker.New(docker.Options{Env: h.Env, DataDir: h.Data, Image: k.Image, Trace: k.Trace, Denied: k.Denied}), nil
}

func newCluster(h Host, k DriverOptions) (sandbox.Driver, error) { return NewPods(h, k), nil }

// NewPods returns the driver of pods.
func NewPods(h Host, k DriverOptions) *kube.Driver {
	return kube.New(kube.Options{
		Env: h.Env, DataDir: h.Data, Context: k.Cluster.Context, Namespace: k.Cluster.Namespace,
		GuestImage: k.Cluster.guestImage, RuntimeClass: k.Cluster.runtimeClass, WarmPool: k.Cluster.warmPool,
		StorageSize: int64(k.Cluster.Storage), StorageClass: k.Cluster.StorageClass, Trace: k.Trace, Notice: k.Notice,
	})
}
