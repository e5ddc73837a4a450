package kube

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// create makes the pod, with an image volume if the nodes have them and the API server does: one that has not takes the field
// away, and refuses what is left of the volume or, if it is old, makes an empty one of it.
func (p *prepared) create(ctx context.Context) (*corev1.Pod, error) {
	p.GuestMounted = p.GuestMounted && !p.cluster.LacksImageVolumes.Load()
	made, err := p.createOnce(ctx)
	if !p.GuestMounted || err == nil && slices.ContainsFunc(made.Spec.Volumes, isImage) || err != nil && sandbox.CodeOf(err) != sandbox.Invalid {
		return made, err
	}
	p.driver.options.Trace("kube", "the API server knows no image volumes")
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
	return p.submit(ctx, pod)
}

// submit makes a pod that was rendered. On an error there is none.
func (p *prepared) submit(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	p.driver.options.Trace("kube", "create pod "+pod.Name+" in namespace "+p.cluster.Namespace)
	made, err := p.cluster.CreatePod(ctx, pod)
	if err != nil {
		return nil, errors.Join(err, p.cluster.WithdrawPod(ctx, pod, err))
	}
	return made, nil
}
