package kube

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

// homeDir is the home directory of the commands, a volume of the pod's own.
const homeDir = "/home/sandbox"

// Names of volumes.
const (
	guestVolume      = "guest"
	doorVolume       = "door"     // the guest again, for the door alone
	aliveVolume      = "alive"    // what both containers see
	privateVolume    = "private-" // and a number
	workspaceVolume  = "workspace"
	hiddenVolume     = "hidden"     // an empty directory
	hiddenFile       = "hiddenfile" // a file that only root could read
	persistentVolume = "kept"       // the claim of a sandbox that lives on
)

// Sizes of the volumes of a pod's own.
const (
	workspaceSize = 10 << 30
	scratchSize   = 1 << 30
	guestSize     = 64 << 20
	aliveSize     = 1 << 20
)

// workspaceDir is where a copy of the workspace stands: its own path may lead through a directory that the image keeps for
// root, as /root is.
const workspaceDir = "/workspace"

// target is where the workspace stands inside.
func (p *prepared) target() string {
	switch {
	case p.spec.Target != "":
		return p.spec.Target
	case p.onVolume(p.plan.Workspace):
		return p.plan.Workspace
	}
	return workspaceDir
}

// at is where a path of the host stands inside.
func (p *prepared) at(name string) string {
	if p.plan.Workspace == "" || !covers(p.plan.Workspace, name) {
		return name
	}
	return p.target() + strings.TrimPrefix(name, p.plan.Workspace)
}

// workVolume is the volume that the workspace is on; nil: it is a copy.
func (p *prepared) workVolume() *sandbox.Volume {
	if p.plan.Workspace == "" {
		return nil
	}
	for i := range p.spec.Volumes {
		if covers(p.spec.Volumes[i].Target, p.at(p.plan.Workspace)) {
			return &p.spec.Volumes[i]
		}
	}
	return nil
}

// copied reports whether the host's workspace is copied into the pod.
func (p *prepared) copied() bool { return p.plan.Workspace != "" && p.workVolume() == nil }

// named reports whether a person wrote the rule.
func named(r *policy.Rule) bool {
	return r.Preset == "" && r.Layer != policy.LayerDefaults && r.Source != "built in"
}

// refusePaths names the paths that a pod cannot have as the policy says. What presets say about the host's own system,
// and what protects the host's files from what commands leave in them, means nothing here: nothing comes back by itself.
func (p *prepared) refusePaths() error {
	root := p.plan.Workspace
	for i := range p.plan.Rules {
		r := &p.plan.Rules[i]
		if !named(r) || !r.Applied || r.Path == root {
			continue
		}
		field := "filesystem." + map[policy.Access]string{policy.Exclude: "exclude", policy.ReadOnly: "ro", policy.ReadWrite: "rw"}[r.Access]
		switch inside := root != "" && covers(root, r.Path); {
		case !inside && r.Access == policy.Exclude, r.Missing && r.Access == policy.ReadWrite:
		case !inside && !p.onVolume(r.Path):
			return unsupported(field, r.Path+" is on this host, and the pod is not ("+r.Source+")", "leave it out, or copy it into the workspace")
		case p.copied() && r.Access == policy.ReadOnly, !p.copied() && r.Missing:
			return unsupported(field, r.Path+" would be as writable as the rest of the workspace ("+r.Source+")", "keep the workspace on a volume on which it exists")
		}
	}
	if !p.copied() {
		return nil
	}
	if access, _ := p.plan.Access(root); access != policy.ReadWrite {
		return unsupported("workspace", root+" would be copied into the pod, and the policy does not open it", "work in a directory below it")
	}
	return nil
}

func (p *prepared) onVolume(name string) bool {
	return slices.ContainsFunc(p.spec.Volumes, func(v sandbox.Volume) bool { return covers(v.Target, name) })
}

// volumeLayout lists the volumes of a pod and where its containers mount them.
type volumeLayout struct {
	volumes []corev1.Volume
	mounts  []corev1.VolumeMount
}

// emptyDir is a volume of the pod's own, on the node's disk, whose size is measured now and then.
func emptyDir(name string, size int64) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
		EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: resource.NewQuantity(size, resource.BinarySI)},
	}}
}

// scratch adds a volume of the pod's own.
func (l *volumeLayout) scratch(name, at string, size int64, memory bool) {
	v := emptyDir(name, size)
	if memory { // whose size the kernel holds
		v.EmptyDir.Medium = corev1.StorageMediumMemory
	}
	l.volumes = append(l.volumes, v)
	l.mounts = append(l.mounts, corev1.VolumeMount{Name: name, MountPath: at})
}

func (l *volumeLayout) has(is func(corev1.Volume) bool) bool {
	return slices.ContainsFunc(l.volumes, is)
}

func isClaim(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil }

func isHiddenFile(v corev1.Volume) bool { return v.Name == hiddenFile }

// disk is how much of the node's disk the volumes of the pod's own may take.
func (l *volumeLayout) disk() int64 {
	var n int64
	for i := range l.volumes {
		if v := l.volumes[i].EmptyDir; v != nil && v.Medium != corev1.StorageMediumMemory {
			n += v.SizeLimit.Value()
		}
	}
	return n
}

// layout is that of the plan.
func (p *prepared) layout() (*volumeLayout, error) {
	l := &volumeLayout{}
	if p.mounted {
		volume, mount := imageVolume(p.driver.options.GuestImage)
		l.volumes, l.mounts = append(l.volumes, volume), append(l.mounts, mount)
	} else {
		l.scratch(guestVolume, layout.Root, guestSize, false)
	}
	l.scratch(aliveVolume, podinit.AliveRoot, aliveSize, false)
	l.volumes = append(l.volumes, emptyDir(doorVolume, guestSize))
	if p.living != nil {
		l.volumes = append(l.volumes, claimVolume(persistentVolume, p.living.claim))
	}
	p.own(l, "home", homeDir, scratchSize)
	p.privates(l)
	if p.copied() || p.fromPool() { // whose pods wait for any
		p.own(l, workspaceVolume, p.target(), workspaceSize)
	}
	for n, v := range p.spec.Volumes {
		name := fmt.Sprintf("claim-%d", n)
		l.volumes = append(l.volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: v.Name, ReadOnly: v.ReadOnly},
		}})
		l.mounts = append(l.mounts, corev1.VolumeMount{Name: name, MountPath: v.Target, ReadOnly: v.ReadOnly})
		if p.workVolume() == &p.spec.Volumes[n] {
			p.parts(l, name, v.Target)
		}
	}
	return l, l.check()
}

// own adds one of the sandbox's own directories: it goes with the pod, or lies in the claim of a sandbox that lives on.
func (p *prepared) own(l *volumeLayout, name, at string, size int64) {
	if p.living == nil {
		l.scratch(name, at, size, false)
		return
	}
	l.mounts = append(l.mounts, corev1.VolumeMount{Name: persistentVolume, MountPath: at, SubPath: path.Join(podstore.FilesDir, name)})
}

// sharedMemory is where programs expect a file system in memory.
const sharedMemory = "/dev/shm"

// privates adds the private file systems.
func (p *prepared) privates(l *volumeLayout) {
	size, held := int64(scratchSize), false
	if n := p.plan.Limits.Tmp; n > 0 {
		size, held = int64(n), true
	}
	paths := []string{"/tmp", "/var/tmp"}
	if held { // the runtime makes one with a limit of its own
		paths = append(paths, sharedMemory)
	}
	for _, m := range p.plan.Mounts {
		if m.Access == policy.Private {
			paths = append(paths, p.at(m.Path))
		}
	}
	slices.Sort(paths)
	for n, at := range slices.Compact(paths) {
		l.scratch(fmt.Sprint(privateVolume, n), at, size, held)
	}
}

// parts are the paths of a workspace on a volume that the policy treats in another way than their parents.
func (p *prepared) parts(l *volumeLayout, claim, top string) {
	root := p.plan.Workspace
	hidesDir, hidesFile := false, false
	for _, m := range p.plan.Mounts {
		if m.Path == root || !covers(root, m.Path) || m.Access == policy.Private {
			continue
		}
		mount := corev1.VolumeMount{Name: claim, MountPath: p.at(m.Path), SubPath: strings.TrimPrefix(p.at(m.Path), top+"/"), ReadOnly: m.Access == policy.ReadOnly}
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
		nobody := int32(0)
		l.volumes = append(l.volumes, corev1.Volume{Name: hiddenFile, VolumeSource: corev1.VolumeSource{
			DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{{
				Path: "hidden", Mode: &nobody, FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"},
			}}},
		}})
	}
}

// check refuses two things in one place, and places that the walls need.
func (l *volumeLayout) check() error {
	seen := map[string]bool{}
	for _, m := range l.mounts {
		at := path.Clean(m.MountPath)
		if seen[at] {
			return sandbox.Errorf(sandbox.Invalid, "two things are to stand at %s", at)
		}
		ours := m.Name == guestVolume || m.Name == aliveVolume || at == sharedMemory && strings.HasPrefix(m.Name, privateVolume)
		if !ours && !insidePath(at) {
			return sandbox.Errorf(sandbox.Invalid, "nothing can stand at %s inside", at)
		}
		seen[at] = true
	}
	return nil
}

// endFile is where a container could leave a last message: a file on the node's own disk that everybody may write, as much
// as there is room for, and that no limit of the pod counts. Images keep that directory for root.
const endFile = "/root/.agent-sandbox-end"

// endPath is endFile, or the cluster's own choice where a volume stands in its place: that would get the file.
func (l *volumeLayout) endPath() string {
	if slices.ContainsFunc(l.mounts, func(m corev1.VolumeMount) bool { return covers(path.Clean(m.MountPath), endFile) }) {
		return ""
	}
	return endFile
}

// claimVolume is a pod's volume that a claim stands for.
func claimVolume(name, claim string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
	}}
}
