package kube

import (
	"context"
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Versions from which on a node mounts an image as a volume without having been told to.
var (
	kubeletMounts    = version.MustParseGeneric("1.35")
	containerdMounts = version.MustParseGeneric("2.1")
	crioMounts       = version.MustParseGeneric("1.31")
)

// allMountImages reports whether every node is known to mount images as volumes.
func allMountImages(nodes []corev1.Node) bool {
	return len(nodes) > 0 && !slices.ContainsFunc(nodes, func(n corev1.Node) bool { return !mountsImages(n.Status.NodeInfo) })
}

func mountsImages(about corev1.NodeSystemInfo) bool {
	runtime, release, _ := strings.Cut(about.ContainerRuntimeVersion, "://")
	from := map[string]*version.Version{"containerd": containerdMounts, "cri-o": crioMounts}[runtime]
	return from != nil && reaches(release, from) && reaches(about.KubeletVersion, kubeletMounts)
}

// reaches reports whether a version that a node tells is that one or a later one.
func reaches(told string, from *version.Version) bool {
	v, err := version.ParseGeneric(told)
	return err == nil && v.AtLeast(from)
}

// imageVolume is the guest's image, mounted where its program belongs.
func imageVolume(reference string) (corev1.Volume, corev1.VolumeMount) {
	return corev1.Volume{Name: guestVolume, VolumeSource: corev1.VolumeSource{
		Image: &corev1.ImageVolumeSource{Reference: reference, PullPolicy: corev1.PullIfNotPresent},
	}}, corev1.VolumeMount{Name: guestVolume, MountPath: layout.Root, ReadOnly: true}
}

// create makes the pod, with an image volume if the nodes have them and the API server does: one that has not takes the field
// away, and refuses what is left of the volume or, if it is old, makes an empty one of it.
func (p *prepared) create(ctx context.Context) (*corev1.Pod, error) {
	p.mounted = p.mounted && !p.cluster.imageless.Load()
	made, err := p.createOnce(ctx)
	if !p.mounted || err == nil && slices.ContainsFunc(made.Spec.Volumes, isImage) || err != nil && sandbox.CodeOf(err) != sandbox.Invalid {
		return made, err
	}
	p.driver.options.Trace("kube", "the API server knows no image volumes")
	p.cluster.imageless.Store(true)
	p.mounted = false
	if err == nil {
		err = p.cluster.deletePod(ctx, made.Name, made.UID)
		id, ierr := newID()
		if err = errors.Join(err, ierr); err != nil {
			return nil, err
		}
		p.id = id
	}
	return p.createOnce(ctx)
}

func isImage(v corev1.Volume) bool { return v.Image != nil }

func (p *prepared) createOnce(ctx context.Context) (*corev1.Pod, error) {
	pod, err := p.pod()
	if err != nil {
		return nil, err
	}
	return p.submit(ctx, pod)
}

// submit makes a pod that was rendered. On an error there is none.
func (p *prepared) submit(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	p.driver.options.Trace("kube", "create pod "+pod.Name+" in namespace "+p.cluster.namespace)
	made, err := p.cluster.createPod(ctx, pod)
	if err != nil {
		return nil, errors.Join(err, p.cluster.withdraw(ctx, pod, err))
	}
	return made, nil
}
