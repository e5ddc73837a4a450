package kube

import (
	"fmt"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/names"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/guest/podinit"
	"github.com/seed434b0696/agent-sandbox/internal/guest/podstore"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// What a pod asks the scheduler for, and what it gets at most where the policy sets nothing.
const (
	requestCPU     = "100m"
	requestMemory  = 512 << 20
	requestStorage = 256 << 20
	limitCPU       = "2"
	limitMemory    = 1 << 30
	doorLimit      = 128 << 20 // bytes of memory of the door's container
	limitLogs      = 256 << 20 // of the storage: what is not in a volume
)

// waiting is a shell's program that does nothing.
const waiting = "while :; do read -r x || sleep 1; done"

// receiver is a shell's first program: it waits for the guest to arrive, and becomes it. A signal ends the wait, because a
// named pipe would need more than a shell.
func (p *prepared) receiver() string {
	return "trap 'exec " + strings.Join(p.supervising(), " ") + "' TERM; " + waiting
}

// attendant is the first program of the door's shell: it ends when the pod's supervisor has come and gone.
const attendant = "p=" + podinit.AliveRoot + podinit.AlivePipe + "; mkfifo $p 2>/dev/null; [ -p $p ] || " + waiting + "; while read -r x; do :; done <$p"

// supervising is what the pod's first process becomes.
func (p *prepared) supervising() []string {
	line := []string{layout.Program, "pod", "--linger", strconv.Itoa(int(max(1, p.driver.options.Linger.Seconds())))}
	if p.plan.Network.Mode == sandbox.NetworkNone {
		line = append(line, "--offline")
	}
	if p.plan.Debug {
		line = append(line, "--debuggers")
	}
	if n := p.plan.Limits.File; n > 0 {
		line = append(line, "--file", strconv.FormatInt(int64(n), 10))
	}
	if p.living == nil {
		return line
	}
	line = append(line, "--keep")
	if p.living.idle > 0 {
		line = append(line, "--idle", strconv.Itoa(int(max(1, p.living.idle.Seconds()))))
	}
	if !p.living.until.IsZero() {
		line = append(line, "--until", strconv.FormatInt(p.living.until.Unix(), 10))
	}
	return line
}

// command is what the pod's container begins with.
func (p *prepared) command() []string {
	if p.driver.options.GuestImage != "" {
		return p.supervising()
	}
	return []string{"sh", "-c", p.receiver()}
}

// pod renders the plan.
func (p *prepared) pod() (*corev1.Pod, error) {
	l, err := p.layout()
	if err != nil {
		return nil, err
	}
	no, life, now, notShared := false, p.lifetime(), int64(0), !p.private
	box := corev1.Container{
		Name: names.Container, Image: p.image, ImagePullPolicy: corev1.PullIfNotPresent, WorkingDir: "/",
		Command: p.command(), Stdin: true, // on which the shell waits
		Resources: p.resources(l), SecurityContext: p.walls(), VolumeMounts: l.mounts, TerminationMessagePath: l.endPath(),
	}
	spec := corev1.PodSpec{
		Volumes: l.volumes, RestartPolicy: corev1.RestartPolicyNever, ActiveDeadlineSeconds: &life, TerminationGracePeriodSeconds: &now,
		AutomountServiceAccountToken: &no, EnableServiceLinks: &no, Hostname: "sandbox",
		NodeSelector:    map[string]string{corev1.LabelOSStable: "linux", corev1.LabelArchStable: runtime.GOARCH},
		SecurityContext: p.identity(l),
	}
	if p.fromPool() {
		spec.ActiveDeadlineSeconds = nil // it would count while the pod waits; the claim has an end
	}
	if p.private {
		spec.HostUsers = &notShared
	}
	if class := p.driver.options.RuntimeClass; class != "" {
		spec.RuntimeClassName = &class
	}
	if p.driver.options.GuestImage != "" {
		box.Stdin = false
		for i := range box.VolumeMounts {
			box.VolumeMounts[i].ReadOnly = box.VolumeMounts[i].ReadOnly || box.VolumeMounts[i].Name == guestVolume
		}
		if !p.mounted {
			spec.InitContainers = []corev1.Container{p.installer(l)}
		}
	}
	spec.Containers = []corev1.Container{box, p.door()}
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: "agent-sandbox-" + p.id, Labels: map[string]string{names.LabelManaged: names.Manager, names.LabelID: p.id, names.LabelNetwork: string(p.plan.Network.Mode)}, Annotations: map[string]string{names.AnnotationName: p.spec.Name},
	}, Spec: spec}, nil
}

// installer copies the guest out of its image.
func (p *prepared) installer(l *volumeLayout) corev1.Container {
	return corev1.Container{
		Name: "guest", Image: p.driver.options.GuestImage, ImagePullPolicy: corev1.PullIfNotPresent, Command: []string{GuestPath, "install"},
		Resources: p.resources(l), SecurityContext: p.walls(), VolumeMounts: []corev1.VolumeMount{{Name: guestVolume, MountPath: layout.Root}},
	}
}

// walls are those of every container.
func (p *prepared) walls() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		Privileged: new(false), AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true), RunAsNonRoot: new(true),
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

// resources are what the policy limits, and room for an ordinary command where it does not. Of the node's disk it is what
// the volumes may take, so that each can be filled to its own limit.
func (p *prepared) resources(l *volumeLayout) corev1.ResourceRequirements {
	cpu, memory := resource.MustParse(limitCPU), int64(limitMemory)
	if n := p.plan.Limits.CPU; n > 0 {
		cpu = *resource.NewMilliQuantity(max(1, int64(n*1000)), resource.DecimalSI)
	}
	if n := p.plan.Limits.Memory; n > 0 {
		memory = int64(n)
	}
	asked := resource.MustParse(requestCPU)
	if asked.Cmp(cpu) > 0 {
		asked = cpu
	}
	bytes := func(n int64) resource.Quantity { return *resource.NewQuantity(n, resource.BinarySI) }
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{
			corev1.ResourceCPU: asked, corev1.ResourceMemory: bytes(min(requestMemory, memory)), corev1.ResourceEphemeralStorage: bytes(requestStorage),
		},
		Limits: corev1.ResourceList{
			corev1.ResourceCPU: cpu, corev1.ResourceMemory: bytes(memory), corev1.ResourceEphemeralStorage: bytes(l.disk() + limitLogs),
		},
	}
}

// door is the container from which the pod is joined later.
func (p *prepared) door() corev1.Container {
	few := resource.MustParse("10m")
	little := *resource.NewQuantity(doorLimit, resource.BinarySI)
	bytes := corev1.ResourceList{corev1.ResourceCPU: few, corev1.ResourceMemory: *resource.NewQuantity(1<<20, resource.BinarySI)}
	c := corev1.Container{
		Name: names.DoorContainer, Image: p.image, ImagePullPolicy: corev1.PullIfNotPresent, WorkingDir: "/",
		Command: []string{"sh", "-c", attendant}, Stdin: true,
		Resources:       corev1.ResourceRequirements{Requests: bytes, Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(limitCPU), corev1.ResourceMemory: little, corev1.ResourceEphemeralStorage: *resource.NewQuantity(2*guestSize, resource.BinarySI)}},
		SecurityContext: p.walls(),
		VolumeMounts:    []corev1.VolumeMount{{Name: doorVolume, MountPath: layout.Root}, {Name: aliveVolume, MountPath: podinit.AliveRoot}},
	}
	if p.living != nil {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: persistentVolume, MountPath: podstore.Dir})
	}
	if image := p.driver.options.GuestImage; image != "" {
		c.Image, c.Command, c.Stdin = image, []string{GuestPath, "attend"}, false
	}
	return c
}

// joining is what is executed in the pod for the first session: the guest, which a shell receives first where no image brings it.
func (p *prepared) joining() []string {
	join := []string{layout.Program, "join", strconv.Itoa(len(p.program.data)), p.program.sum}
	if p.driver.options.GuestImage != "" {
		return append(join, "--wait")
	}
	// The name is complete only when the program is; "$@" is what to become.
	script := fmt.Sprintf(`head -c "$1" >%[1]s.new && chmod 555 %[1]s.new && mv %[1]s.new %[1]s && shift && exec "$@"`, layout.Program)
	return slices.Concat([]string{"sh", "-c", script, "sh", strconv.Itoa(len(p.program.data))}, join, []string{"--wake"})
}

// rejoining is what is executed at the door for a session or what is left of one.
func (p *prepared) rejoining() []string { return p.atDoor("join") }

// atDoor is how the guest is executed at the door. Its shell says first whether it needs the guest.
func (p *prepared) atDoor(what string, more ...string) []string {
	arguments := append([]string{strconv.Itoa(len(p.program.data)), p.program.sum}, more...)
	if p.driver.options.GuestImage != "" {
		return append([]string{GuestPath, what}, arguments...)
	}
	// Clients of several versions have one each; the guest knows itself by the last part of its name.
	dir, name := layout.Root+"/"+p.program.sum[:16], path.Base(layout.Program)
	script := fmt.Sprintf(`d=%s p=%[1]s/%s; if [ -x $p ]; then echo +; else echo -; mkdir -p $d && head -c "$1" >$p.$$ && chmod 555 $p.$$ && mv $p.$$ $p || exit; fi; exec $p %[3]s "$@"`, dir, name, what)
	return append([]string{"sh", "-c", script, "sh"}, arguments...)
}

// dir is where commands start.
func (p *prepared) dir() string {
	if p.onVolume(p.spec.Dir) {
		return p.spec.Dir
	}
	return p.at(p.plan.Dir)
}
