//go:build kube

package cli

import (
	"github.com/seed434b0696/agent-sandbox/backend/kube"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// newCluster returns the driver of pods, which this program is built with.
func newCluster(h host, k hooks) (sandbox.Driver, error) { return newPods(h, k), nil }

// newPods returns the driver of pods.
func newPods(h host, k hooks) *kube.Driver {
	return kube.New(kube.Options{
		Env: h.env, DataDir: h.data, Context: k.cluster.context, Namespace: k.cluster.namespace,
		GuestImage: k.cluster.guestImage, RuntimeClass: k.cluster.runtimeClass, WarmPool: k.cluster.warmPool,
		StorageSize: int64(k.cluster.storage), StorageClass: k.cluster.storageClass, Trace: k.trace,
	})
}
