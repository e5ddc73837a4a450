package podspec

import (
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/cluster"
)

// podSecurity returns the user of the pod's processes. FSGroup gives them volume claims that belong to another user; it would
// also make the file readable that replaces hidden ones.
func (p *Design) podSecurity(l *volumeLayout) *corev1.PodSecurityContext {
	who := &corev1.PodSecurityContext{
		RunAsNonRoot: new(true), RunAsUser: &p.UID, RunAsGroup: &p.UID,
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	if l.hasVolume(isClaim) && !l.hasVolume(isHiddenFile) {
		who.FSGroup, who.FSGroupChangePolicy = &p.UID, new(corev1.FSGroupChangeOnRootMismatch)
	}
	return who
}

// LifetimeSeconds returns the deadline of the pod, which ends it when its client cannot. It is long enough for the wall-clock
// limit of one command, also in a pod that was prepared before.
func (p *Design) LifetimeSeconds() int64 {
	const most, before = math.MaxInt32 * time.Second, cluster.StartTime + SpareTime // most is the API's maximum
	life := p.Options.Lifetime
	if wall := time.Duration(p.Plan.Limits.Wall); wall > 0 {
		life = max(life, min(wall, most-before)+before)
	}
	return int64(math.Ceil(min(life, most).Seconds()))
}

// SpareTime limits the age of a prepared pod that a sandbox gets: enough of its lifetime is left.
const SpareTime = time.Hour

// DefaultUID is the user of a pod without a workspace, and with one that belongs to root.
const DefaultUID = 1000
