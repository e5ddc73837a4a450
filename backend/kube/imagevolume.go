package kube

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// createDirectly creates the pod, with an image volume if the nodes and the API server support them. A server that does not removes
// the field: it rejects the rest of the volume or, if it is old, replaces it with an empty one.
func (p *prepared) createDirectly(ctx context.Context) (*corev1.Pod, error) {
	p.GuestMounted = p.GuestMounted && !p.cluster.LacksImageVolumes.Load()
	made, err := p.createOnce(ctx)
	if !p.GuestMounted || err == nil && slices.ContainsFunc(made.Spec.Volumes, isImage) || err != nil && sandbox.CodeOf(err) != sandbox.Invalid {
		return made, err
	}
	p.driver.options.Trace("kube", "the API server does not support image volumes")
	p.cluster.LacksImageVolumes.Store(true)
	p.GuestMounted = false
	if err == nil {
		err = p.cluster.DeletePod(ctx, made.Name, made.UID)
		id, ierr := newID()
		if err = errors.Join(err, ierr); err != nil {
			return nil, err
		}
		p.SandboxID = id
	}
	return p.createOnce(ctx)
}

func isImage(v corev1.Volume) bool { return v.Image != nil }

func (p *prepared) createOnce(ctx context.Context) (*corev1.Pod, error) {
	pod, err := p.Render()
	if err != nil {
		return nil, err
	}
	return p.createRendered(ctx, pod)
}

// createRendered creates a rendered pod. After an error no pod is left.
func (p *prepared) createRendered(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	p.driver.options.Trace("kube", "create pod "+pod.Name+" in namespace "+p.cluster.Namespace)
	made, err := p.cluster.CreatePod(ctx, pod)
	if err != nil {
		return nil, errors.Join(err, p.cluster.WithdrawPod(ctx, pod, err))
	}
	return made, nil
}
