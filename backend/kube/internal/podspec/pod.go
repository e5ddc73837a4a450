package podspec

import (
	"fmt"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/names"
	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/guest/podinit"
	"github.com/seed434b0696/agent-sandbox/internal/guest/podstore"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Requests of a pod, and its limits where the policy sets none.
const (
	requestCPU     = "100m"
	requestMemory  = 512 << 20
	requestStorage = 256 << 20
	limitCPU       = "2"
	limitMemory    = 1 << 30
	limitLogs      = 256 << 20 // of the storage: files outside of volumes, such as logs
)

// waitScript is a script that waits for ever.
const waitScript = "while :; do read -r x || sleep 1; done"

// receiverScript returns the script of the first process: it waits until the guest has been sent, and executes it. A signal ends the
// wait, because a named pipe needs a program that the image may lack.
func (p *Design) receiverScript() string {
	return "trap 'exec " + strings.Join(p.supervisorCommand(), " ") + "' TERM; " + waitScript
}

// attendantScript is the script of the door's first process: it ends with the pod's supervisor.
const attendantScript = "p=" + podinit.AliveRoot + podinit.AlivePipe + "; mkfifo $p 2>/dev/null; [ -p $p ] || " + waitScript + "; while read -r x; do :; done <$p"

// supervisorCommand returns the command that the pod's first process executes.
func (p *Design) supervisorCommand() []string {
	line := []string{layout.Program, "pod", "--linger", strconv.Itoa(int(max(1, p.Options.Linger.Seconds())))}
	if p.Plan.Network.Mode == sandbox.NetworkNone {
		line = append(line, "--offline")
	}
	if p.Plan.Debug {
		line = append(line, "--debuggers")
	}
	if n := p.Plan.Limits.File; n > 0 {
		line = append(line, "--file", strconv.FormatInt(int64(n), 10))
	}
	if p.Persistent == nil {
		return line
	}
	line = append(line, "--keep")
	if p.Persistent.Idle > 0 {
		line = append(line, "--idle", strconv.Itoa(int(max(1, p.Persistent.Idle.Seconds()))))
	}
	if !p.Persistent.Until.IsZero() {
		line = append(line, "--until", strconv.FormatInt(p.Persistent.Until.Unix(), 10))
	}
	return line
}

// FirstCommand returns the command of the sandbox container.
func (p *Design) FirstCommand() []string {
	if p.Options.GuestImage != "" {
		return p.supervisorCommand()
	}
	return []string{"sh", "-c", p.receiverScript()}
}

// Render returns the pod. Invalid: two mounts at one path, or one that the isolation does not allow.
func (p *Design) Render() (*corev1.Pod, error) {
	l, err := p.layoutVolumes()
	if err != nil {
		return nil, err
	}
	no, life, now, notShared := false, p.LifetimeSeconds(), int64(0), !p.UserNamespace
	box := corev1.Container{
		Name: names.Container, Image: p.Image, ImagePullPolicy: corev1.PullIfNotPresent, WorkingDir: "/",
		Command: p.FirstCommand(), Stdin: true, // the shell reads it while it waits
		Resources: p.resources(l), SecurityContext: p.containerSecurity(), VolumeMounts: l.mounts, TerminationMessagePath: l.endPath(),
	}
	spec := corev1.PodSpec{
		Volumes: l.volumes, RestartPolicy: corev1.RestartPolicyNever, ActiveDeadlineSeconds: &life, TerminationGracePeriodSeconds: &now,
		AutomountServiceAccountToken: &no, EnableServiceLinks: &no, Hostname: "sandbox",
		NodeSelector:    map[string]string{corev1.LabelOSStable: "linux", corev1.LabelArchStable: runtime.GOARCH},
		SecurityContext: p.podSecurity(l),
	}
	if p.IsFromPool() {
		spec.ActiveDeadlineSeconds = nil // it counts while the pod is in the pool; the SandboxClaim has a shutdown time
	}
	if p.UserNamespace {
		spec.HostUsers = &notShared
	}
	if class := p.Options.RuntimeClass; class != "" {
		spec.RuntimeClassName = &class
	}
	if p.Options.GuestImage != "" {
		box.Stdin = false
		for i := range box.VolumeMounts {
			box.VolumeMounts[i].ReadOnly = box.VolumeMounts[i].ReadOnly || box.VolumeMounts[i].Name == guestVolume
		}
		if !p.GuestMounted {
			spec.InitContainers = []corev1.Container{p.installerContainer(l)}
		}
	}
	spec.Containers = []corev1.Container{box, p.doorContainer()}
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: "agent-sandbox-" + p.SandboxID, Labels: map[string]string{names.LabelManaged: names.Manager, names.LabelID: p.SandboxID, names.LabelNetwork: string(p.Plan.Network.Mode)}, Annotations: map[string]string{names.AnnotationName: p.Spec.Name},
	}, Spec: spec}, nil
}

// installerContainer returns the init container that copies the guest out of its image.
func (p *Design) installerContainer(l *volumeLayout) corev1.Container {
	return corev1.Container{
		Name: "guest", Image: p.Options.GuestImage, ImagePullPolicy: corev1.PullIfNotPresent, Command: []string{GuestPath, "install"},
		Resources: p.resources(l), SecurityContext: p.containerSecurity(), VolumeMounts: []corev1.VolumeMount{{Name: guestVolume, MountPath: layout.Root}},
	}
}

// containerSecurity returns the security context of every container.
func (p *Design) containerSecurity() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		Privileged: new(false), AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true), RunAsNonRoot: new(true),
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

// checkRequests returns Invalid for a request above its limit. A limit that the policy does not set is raised to the request.
func (p *Design) checkRequests() error {
	asked, limits := p.Plan.Requests, p.Plan.Limits
	if limits.Memory > 0 && asked.Memory > limits.Memory {
		return sandbox.Errorf(sandbox.Invalid, "requests.memory: %s is more than limits.memory, %s", asked.Memory, limits.Memory).WithHint("raise the limit, or request less")
	}
	if limits.CPU > 0 && asked.CPU > limits.CPU {
		return sandbox.Errorf(sandbox.Invalid, "requests.cpu: %v is more than limits.cpu, %v", asked.CPU, limits.CPU).WithHint("raise the limit, or request less")
	}
	return nil
}

// milli returns a number of processors.
func milli(n float64) resource.Quantity {
	return *resource.NewMilliQuantity(max(1, int64(n*1000)), resource.DecimalSI)
}

// resources returns the policy's limits and requests, or defaults for an ordinary command. The limit on the node's disk is the sum of the
// volumes' sizes, so that each volume can be filled.
func (p *Design) resources(l *volumeLayout) corev1.ResourceRequirements {
	cpu, memory := resource.MustParse(limitCPU), int64(limitMemory)
	if n := p.Plan.Limits.CPU; n > 0 {
		cpu = milli(n)
	}
	if n := p.Plan.Limits.Memory; n > 0 {
		memory = int64(n)
	}
	asked, reserved := resource.MustParse(requestCPU), int64(requestMemory)
	if n := p.Plan.Requests.CPU; n > 0 {
		asked = milli(n)
	}
	if n := p.Plan.Requests.Memory; n > 0 {
		reserved = int64(n)
	}
	if p.Plan.Requests.CPU > 0 && p.Plan.Limits.CPU == 0 && asked.Cmp(cpu) > 0 {
		cpu = asked
	}
	if p.Plan.Requests.Memory > 0 && p.Plan.Limits.Memory == 0 {
		memory = max(memory, reserved)
	}
	if asked.Cmp(cpu) > 0 {
		asked = cpu
	}
	bytes := func(n int64) resource.Quantity { return *resource.NewQuantity(n, resource.BinarySI) }
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{
			corev1.ResourceCPU: asked, corev1.ResourceMemory: bytes(min(reserved, memory)), corev1.ResourceEphemeralStorage: bytes(requestStorage),
		},
		Limits: corev1.ResourceList{
			corev1.ResourceCPU: cpu, corev1.ResourceMemory: bytes(memory), corev1.ResourceEphemeralStorage: bytes(l.disk() + limitLogs),
		},
	}
}

// doorContainer returns the container through which clients connect later.
func (p *Design) doorContainer() corev1.Container {
	few := resource.MustParse("10m")
	little := resource.MustParse(names.DoorMemory)
	bytes := corev1.ResourceList{corev1.ResourceCPU: few, corev1.ResourceMemory: *resource.NewQuantity(1<<20, resource.BinarySI)}
	c := corev1.Container{
		Name: names.DoorContainer, Image: p.Image, ImagePullPolicy: corev1.PullIfNotPresent, WorkingDir: "/",
		Command: []string{"sh", "-c", attendantScript}, Stdin: true,
		Resources:       corev1.ResourceRequirements{Requests: bytes, Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(names.DoorCPU), corev1.ResourceMemory: little, corev1.ResourceEphemeralStorage: *resource.NewQuantity(2*guestSize, resource.BinarySI)}},
		SecurityContext: p.containerSecurity(),
		VolumeMounts:    []corev1.VolumeMount{{Name: doorVolume, MountPath: layout.Root}, {Name: aliveVolume, MountPath: podinit.AliveRoot}},
	}
	if p.Persistent != nil {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: PersistentVolume, MountPath: podstore.Dir})
	}
	if image := p.Options.GuestImage; image != "" {
		c.Image, c.Command, c.Stdin = image, []string{GuestPath, "attend"}, false
	}
	return c
}

// JoinCommand returns the command to execute in the sandbox container for the first session: the guest. Without a guest image a
// shell receives the guest from its input first.
func (p *Design) JoinCommand() []string {
	join := []string{layout.Program, "join", strconv.Itoa(p.GuestSize), p.GuestSum}
	if p.Options.GuestImage != "" {
		return append(join, "--wait")
	}
	// The program gets its name when it is complete, which it is not if the sender was killed; "$@" is the command to execute then.
	script := fmt.Sprintf(`head -c "$1" >%[1]s.new && [ $(wc -c <%[1]s.new) -eq "$1" ] && chmod 555 %[1]s.new && mv %[1]s.new %[1]s && shift && exec "$@"`, layout.Program)
	return slices.Concat([]string{"sh", "-c", script, "sh", strconv.Itoa(p.GuestSize)}, join, []string{"--wake"})
}

// RejoinCommand returns the command to execute at the door for a later session, or to continue one.
func (p *Design) RejoinCommand() []string { return p.DoorCommand("join") }

// DoorCommand returns the command that executes the guest at the door. Without a guest image its first line of output reports
// whether the guest has to be sent.
func (p *Design) DoorCommand(what string, more ...string) []string {
	arguments := append([]string{strconv.Itoa(p.GuestSize), p.GuestSum}, more...)
	if p.Options.GuestImage != "" {
		return append([]string{GuestPath, what}, arguments...)
	}
	// Clients of several versions have a guest each; the guest recognises itself by the last part of its path.
	dir, name := layout.Root+"/"+p.GuestSum[:16], path.Base(layout.Program)
	script := fmt.Sprintf(`d=%s p=%[1]s/%s; is() { [ $(wc -c <$1) -eq "$2" ]; }; if [ -x $p ] && is $p "$1"; then echo +; else echo -; mkdir -p $d && head -c "$1" >$p.$$ && is $p.$$ "$1" && chmod 555 $p.$$ && mv -f $p.$$ $p || exit; fi; exec $p %[3]s "$@"`, dir, name, what)
	return append([]string{"sh", "-c", script, "sh"}, arguments...)
}

// WorkDir returns the directory in which commands start.
func (p *Design) WorkDir() string {
	if p.IsOnVolume(p.Spec.Dir) {
		return p.Spec.Dir
	}
	return p.PathInside(p.Plan.Dir)
}

// StorePod returns the pod of a persistent sandbox with nothing but its door, as the sandbox container.
func (p *Design) StorePod(spec corev1.PodSpec) corev1.PodSpec {
	door := p.doorContainer()
	door.Name = names.Container
	used := func(v corev1.Volume) bool {
		return slices.ContainsFunc(door.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == v.Name })
	}
	spec.Volumes = slices.DeleteFunc(spec.Volumes, func(v corev1.Volume) bool { return !used(v) })
	spec.InitContainers, spec.Containers = nil, []corev1.Container{door}
	spec.ActiveDeadlineSeconds = new(p.LifetimeSeconds())
	return spec
}
