package podspec

import (
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/guest/podinit"
	"github.com/seed434b0696/agent-sandbox/internal/guest/podstore"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// HomeDir is the home directory of commands, on a volume.
const HomeDir = "/home/sandbox"

// Names of volumes.
const (
	guestVolume      = "guest"
	doorVolume       = "door"     // the guest for the door's container
	aliveVolume      = "alive"    // shared by both containers
	privateVolume    = "private-" // followed by a number
	WorkspaceVolume  = "workspace"
	hiddenVolume     = "hidden"     // an empty directory
	hiddenFile       = "hiddenfile" // a file that only root could read
	PersistentVolume = "kept"       // the claim of a persistent sandbox; the name is stored in clusters
)

// Sizes of volumes.
const (
	workspaceSize = 10 << 30
	scratchSize   = 1 << 30
	guestSize     = 64 << 20
	aliveSize     = 1 << 20
)

// workspaceDir is the path of a copied workspace. The host's path may go through a directory that only root may enter, such as
// /root.
const workspaceDir = "/workspace"

// target returns the path of the workspace in the pod.
func (p *Design) target() string {
	switch {
	case p.Spec.Target != "":
		return p.Spec.Target
	case p.IsOnVolume(p.Plan.Workspace):
		return p.Plan.Workspace
	}
	return workspaceDir
}

// PathInside returns the path in the pod for a path of the host.
func (p *Design) PathInside(name string) string {
	if p.Plan.Workspace == "" || !isWithin(p.Plan.Workspace, name) {
		return name
	}
	return p.target() + strings.TrimPrefix(name, p.Plan.Workspace)
}

// workVolume returns the volume that the workspace is on; nil: it is copied.
func (p *Design) workVolume() *sandbox.Volume {
	if p.Plan.Workspace == "" {
		return nil
	}
	for i := range p.Spec.Volumes {
		if isWithin(p.Spec.Volumes[i].Target, p.PathInside(p.Plan.Workspace)) {
			return &p.Spec.Volumes[i]
		}
	}
	return nil
}

// IsCopied reports whether the host's workspace is copied into the pod.
func (p *Design) IsCopied() bool { return p.Plan.Workspace != "" && p.workVolume() == nil }

// isFromUser reports whether a rule comes from a person's policy, not from a preset or a default.
func isFromUser(r *policy.Rule) bool {
	return r.Preset == "" && r.Layer != policy.LayerDefaults && r.Source != "built in"
}

// checkPaths returns Unsupported for the first path rule that a pod cannot enforce. It ignores rules of presets and defaults: they
// are about the host's system, and no file returns to the host by itself.
func (p *Design) checkPaths() error {
	root := p.Plan.Workspace
	for i := range p.Plan.Rules {
		r := &p.Plan.Rules[i]
		if !isFromUser(r) || !r.Applied || r.Path == root {
			continue
		}
		field := "filesystem." + map[policy.Access]string{policy.Exclude: "exclude", policy.ReadOnly: "ro", policy.ReadWrite: "rw"}[r.Access]
		switch inside := root != "" && isWithin(root, r.Path); {
		case !inside && r.Access == policy.Exclude, r.Missing && r.Access == policy.ReadWrite:
		case !inside && !p.IsOnVolume(r.Path):
			return Unsupported(field, r.Path+" is on this host, and the pod is not ("+r.Source+")", "leave it out, or copy it into the workspace")
		case p.IsCopied() && r.Access == policy.ReadOnly, !p.IsCopied() && r.Missing:
			return Unsupported(field, r.Path+" would be as writable as the rest of the workspace ("+r.Source+")", "keep the workspace on a volume on which it exists")
		}
	}
	if !p.IsCopied() {
		return nil
	}
	if access, _ := p.Plan.Access(root); access != policy.ReadWrite {
		return Unsupported("workspace", root+" would be copied into the pod, and the policy does not open it", "work in a directory below it")
	}
	return nil
}

// IsOnVolume reports whether a path in the pod is on one of the user's volumes.
func (p *Design) IsOnVolume(name string) bool {
	return slices.ContainsFunc(p.Spec.Volumes, func(v sandbox.Volume) bool { return isWithin(v.Target, name) })
}

// volumeLayout lists the volumes of a pod and where its containers mount them.
type volumeLayout struct {
	volumes []corev1.Volume
	mounts  []corev1.VolumeMount
}

// emptyDir returns a volume on the node's disk. The kubelet measures its size periodically.
func emptyDir(name string, size int64) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
		EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: resource.NewQuantity(size, resource.BinarySI)},
	}}
}

// addScratch adds an empty volume that the cluster deletes with the pod, in memory or on the node's disk.
func (l *volumeLayout) addScratch(name, at string, size int64, memory bool) {
	v := emptyDir(name, size)
	if memory { // the kernel enforces the size
		v.EmptyDir.Medium = corev1.StorageMediumMemory
	}
	l.volumes = append(l.volumes, v)
	l.mounts = append(l.mounts, corev1.VolumeMount{Name: name, MountPath: at})
}

func (l *volumeLayout) hasVolume(is func(corev1.Volume) bool) bool {
	return slices.ContainsFunc(l.volumes, is)
}

func isClaim(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil }

func isHiddenFile(v corev1.Volume) bool { return v.Name == hiddenFile }

// disk returns how many bytes of the node's disk the volumes may use.
func (l *volumeLayout) disk() int64 {
	var n int64
	for i := range l.volumes {
		if v := l.volumes[i].EmptyDir; v != nil && v.Medium != corev1.StorageMediumMemory {
			n += v.SizeLimit.Value()
		}
	}
	return n
}

// layoutVolumes returns the volumes and mounts for the plan.
func (p *Design) layoutVolumes() (*volumeLayout, error) {
	l := &volumeLayout{}
	if p.GuestMounted {
		volume, mount := imageVolume(p.Options.GuestImage)
		l.volumes, l.mounts = append(l.volumes, volume), append(l.mounts, mount)
	} else {
		l.addScratch(guestVolume, layout.Root, guestSize, false)
	}
	l.addScratch(aliveVolume, podinit.AliveRoot, aliveSize, false)
	l.volumes = append(l.volumes, emptyDir(doorVolume, guestSize))
	if p.Persistent != nil {
		l.volumes = append(l.volumes, ClaimVolume(PersistentVolume, p.Persistent.Claim))
	}
	p.addOwnDirectory(l, "home", HomeDir, scratchSize)
	p.addPrivate(l)
	if p.IsCopied() || p.IsFromPool() { // pods of a pool serve sandboxes with any workspace
		p.addOwnDirectory(l, WorkspaceVolume, p.target(), workspaceSize)
	}
	for n, v := range p.Spec.Volumes {
		name := fmt.Sprintf("claim-%d", n)
		l.volumes = append(l.volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: v.Name, ReadOnly: v.ReadOnly},
		}})
		l.mounts = append(l.mounts, corev1.VolumeMount{Name: name, MountPath: v.Target, ReadOnly: v.ReadOnly})
		if p.workVolume() == &p.Spec.Volumes[n] {
			p.addWorkspaceParts(l, name, v.Target)
		}
	}
	return l, l.check()
}

// addOwnDirectory adds a directory of the sandbox's own: an empty volume, or a directory in a persistent sandbox's claim.
func (p *Design) addOwnDirectory(l *volumeLayout, name, at string, size int64) {
	if p.Persistent == nil {
		l.addScratch(name, at, size, false)
		return
	}
	l.mounts = append(l.mounts, corev1.VolumeMount{Name: PersistentVolume, MountPath: at, SubPath: path.Join(podstore.FilesDir, name)})
}

// sharedMemory is the path at which programs expect a file system in memory.
const sharedMemory = "/dev/shm"

// addPrivate adds the private file systems of the plan.
func (p *Design) addPrivate(l *volumeLayout) {
	size, held := int64(scratchSize), false
	if n := p.Plan.Limits.Tmp; n > 0 {
		size, held = int64(n), true
	}
	paths := []string{"/tmp", "/var/tmp"}
	if held { // otherwise the runtime mounts one with its own limit
		paths = append(paths, sharedMemory)
	}
	for _, m := range p.Plan.Mounts {
		if m.Access == policy.Private {
			paths = append(paths, p.PathInside(m.Path))
		}
	}
	slices.Sort(paths)
	for n, at := range slices.Compact(paths) {
		l.addScratch(fmt.Sprint(privateVolume, n), at, size, held)
	}
}

// addWorkspaceParts adds mounts for those paths of a workspace on a volume for which the policy differs from their parents.
func (p *Design) addWorkspaceParts(l *volumeLayout, claim, top string) {
	root := p.Plan.Workspace
	hidesDir, hidesFile := false, false
	for _, m := range p.Plan.Mounts {
		if m.Path == root || !isWithin(root, m.Path) || m.Access == policy.Private {
			continue
		}
		mount := corev1.VolumeMount{Name: claim, MountPath: p.PathInside(m.Path), SubPath: strings.TrimPrefix(p.PathInside(m.Path), top+"/"), ReadOnly: m.Access == policy.ReadOnly}
		switch {
		case m.Access == policy.Exclude && m.Dir:
			hidesDir = true
			mount.Name, mount.SubPath, mount.ReadOnly = hiddenVolume, "", true
		case m.Access == policy.Exclude:
			hidesFile = true
			mount.Name, mount.SubPath, mount.ReadOnly = hiddenFile, "hidden", true
		}
		l.mounts = append(l.mounts, mount)
	}
	if hidesDir {
		l.volumes = append(l.volumes, emptyDir(hiddenVolume, 1<<20))
	}
	if hidesFile {
		none := int32(0)
		l.volumes = append(l.volumes, corev1.Volume{Name: hiddenFile, VolumeSource: corev1.VolumeSource{
			DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{{
				Path: "hidden", Mode: &none, FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"},
			}}},
		}})
	}
}

// check returns Invalid for two mounts at one path, and for paths that the isolation needs.
func (l *volumeLayout) check() error {
	seen := map[string]bool{}
	for _, m := range l.mounts {
		at := path.Clean(m.MountPath)
		if seen[at] {
			return sandbox.Errorf(sandbox.Invalid, "two mounts at %s", at)
		}
		ours := m.Name == guestVolume || m.Name == aliveVolume || at == sharedMemory && strings.HasPrefix(m.Name, privateVolume)
		if !ours && !canMount(at) {
			return sandbox.Errorf(sandbox.Invalid, "invalid mount path %s; expected an absolute path outside of /proc, /sys, /dev and /run/agent-sandbox", at)
		}
		seen[at] = true
	}
	return nil
}

// endFile is the termination message path of a container. The runtime mounts a file of the node's disk there that every user can
// write and no limit of the pod counts, so it is in a directory that only root can enter.
const endFile = "/root/.agent-sandbox-end"

// endPath returns endFile, or "" for the cluster's default if a volume is mounted at or above it and would get the file.
func (l *volumeLayout) endPath() string {
	if slices.ContainsFunc(l.mounts, func(m corev1.VolumeMount) bool { return isWithin(path.Clean(m.MountPath), endFile) }) {
		return ""
	}
	return endFile
}

// ClaimVolume returns a pod's volume that is a volume claim.
func ClaimVolume(name, claim string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
	}}
}

// imageVolume returns the volume of the guest's image and its mount.
func imageVolume(reference string) (corev1.Volume, corev1.VolumeMount) {
	return corev1.Volume{Name: guestVolume, VolumeSource: corev1.VolumeSource{
		Image: &corev1.ImageVolumeSource{Reference: reference, PullPolicy: corev1.PullIfNotPresent},
	}}, corev1.VolumeMount{Name: guestVolume, MountPath: layout.Root, ReadOnly: true}
}
