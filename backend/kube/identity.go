package kube

import (
	"math"
	"time"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/cluster"

	corev1 "k8s.io/api/core/v1"
)

// identity is who the pod's processes are. A volume whose top directory is not theirs becomes theirs, where its kind can; and
// so would the file that hides others, which nobody may read.
func (p *prepared) identity(l *volumeLayout) *corev1.PodSecurityContext {
	who := &corev1.PodSecurityContext{
		RunAsNonRoot: new(true), RunAsUser: &p.uid, RunAsGroup: &p.uid,
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	if l.has(isClaim) && !l.has(isHiddenFile) {
		who.FSGroup, who.FSGroupChangePolicy = &p.uid, new(corev1.FSGroupChangeOnRootMismatch)
	}
	return who
}

// lifetime is how many seconds the pod lives at most: the end of one that its maker and the network have forgotten. One
// command may take all of its time, in a pod that was prepared a while before, too.
func (p *prepared) lifetime() int64 {
	const most, before = math.MaxInt32 * time.Second, cluster.StartTime + spareTime // the former is what the API takes
	life := p.driver.options.Lifetime
	if wall := time.Duration(p.plan.Limits.Wall); wall > 0 {
		life = max(life, min(wall, most-before)+before)
	}
	return int64(math.Ceil(min(life, most).Seconds()))
}
