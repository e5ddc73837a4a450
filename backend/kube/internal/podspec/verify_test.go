package podspec

import (
	"cmp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// newPooledDesign returns the design of a sandbox of spec that takes its pod from a pool.
func newPooledDesign(t *testing.T, spec sandbox.Spec) *Design {
	t.Helper()
	p := &Design{
		Spec: spec, Image: cmp.Or(spec.Image, "debian:bookworm-slim"), UID: DefaultUID, SandboxID: "0",
		Options: Options{Pool: "pool", Linger: 45 * time.Second, Lifetime: 10 * time.Hour},
	}
	var err error
	if p.Plan, err = policy.Resolve(spec); err != nil {
		t.Fatal(err)
	}
	return p
}

func Test_A_Pool_Pod_With_Less_Isolation_Is_Rejected(t *testing.T) {
	quantity := func(s string) *resource.Quantity { q := resource.MustParse(s); return &q }
	limited := sandbox.Spec{Container: sandbox.Container{Image: "debian:bookworm-slim"}, Policy: sandbox.Policy{Limits: sandbox.Limits{Memory: 1 << 30, CPU: 1, Tmp: 1 << 20}}}
	box := func(pod *corev1.Pod) *corev1.Container { return &pod.Spec.Containers[0] }
	for field, change := range map[string]func(*corev1.Pod){
		"": func(pod *corev1.Pod) { // fields that a cluster adds, and fields that isolate more
			pod.Spec.NodeName, pod.Spec.ServiceAccountName, pod.Spec.DNSPolicy = "node1", "default", corev1.DNSClusterFirst
			pod.Spec.SchedulerName, pod.Spec.Tolerations = "default-scheduler", []corev1.Toleration{{Key: "node.kubernetes.io/not-ready"}}
			pod.Spec.RuntimeClassName, pod.Spec.HostUsers = new("gvisor"), new(false)
			pod.Spec.Containers[1].TerminationMessagePath, box(pod).ImagePullPolicy = "/dev/termination-log", corev1.PullAlways
			box(pod).Resources.Limits[corev1.ResourceMemory] = *quantity("512Mi")
			box(pod).Resources.Limits[corev1.ResourceEphemeralStorage] = *quantity("100Gi")
			pod.Spec.SecurityContext.RunAsUser = new(int64(1234))
		},
		"spec.automountServiceAccountToken is true, not false": func(pod *corev1.Pod) { pod.Spec.AutomountServiceAccountToken = new(true) },
		"spec.automountServiceAccountToken is nothing":         func(pod *corev1.Pod) { pod.Spec.AutomountServiceAccountToken = nil },
		"spec.enableServiceLinks":                              func(pod *corev1.Pod) { pod.Spec.EnableServiceLinks = nil },
		"spec.hostNetwork is true":                             func(pod *corev1.Pod) { pod.Spec.HostNetwork = true },
		"spec.hostPID is true":                                 func(pod *corev1.Pod) { pod.Spec.HostPID = true },
		"spec.hostUsers is true":                               func(pod *corev1.Pod) { pod.Spec.HostUsers = new(true) },
		"spec.shareProcessNamespace is true":                   func(pod *corev1.Pod) { pod.Spec.ShareProcessNamespace = new(true) },
		"spec.restartPolicy":                                   func(pod *corev1.Pod) { pod.Spec.RestartPolicy = corev1.RestartPolicyAlways },
		"spec.securityContext is nothing":                      func(pod *corev1.Pod) { pod.Spec.SecurityContext = nil },
		"spec.securityContext.seccompProfile is nothing":       func(pod *corev1.Pod) { pod.Spec.SecurityContext.SeccompProfile = nil },
		"spec.securityContext.seccompProfile.type is \"Unconfined\"": func(pod *corev1.Pod) {
			pod.Spec.SecurityContext.SeccompProfile.Type = corev1.SeccompProfileTypeUnconfined
		},
		"spec.securityContext.runAsUser is 0":                         func(pod *corev1.Pod) { pod.Spec.SecurityContext.RunAsUser = new(int64(0)) },
		"spec.securityContext.supplementalGroups":                     func(pod *corev1.Pod) { pod.Spec.SecurityContext.SupplementalGroups = []int64{0} },
		"spec.containers[sandbox].securityContext is nothing":         func(pod *corev1.Pod) { box(pod).SecurityContext = nil },
		"spec.containers[sandbox].securityContext.privileged is true": func(pod *corev1.Pod) { box(pod).SecurityContext.Privileged = new(true) },
		"spec.containers[sandbox].securityContext.capabilities.add":   func(pod *corev1.Pod) { box(pod).SecurityContext.Capabilities.Add = []corev1.Capability{"SYS_PTRACE"} },
		"spec.containers[sandbox].securityContext.seccompProfile": func(pod *corev1.Pod) {
			box(pod).SecurityContext.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeUnconfined}
		},
		"spec.containers[door].securityContext.readOnlyRootFilesystem is false": func(pod *corev1.Pod) { pod.Spec.Containers[1].SecurityContext.ReadOnlyRootFilesystem = new(false) },
		"spec.containers[door] is nothing":                                      func(pod *corev1.Pod) { pod.Spec.Containers = pod.Spec.Containers[:1] },
		"spec.containers[istio-proxy]": func(pod *corev1.Pod) {
			pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "istio-proxy"})
		},
		"spec.containers has 3 elements, not 2":                       func(pod *corev1.Pod) { pod.Spec.Containers = append(pod.Spec.Containers, *box(pod)) },
		"spec.initContainers":                                         func(pod *corev1.Pod) { pod.Spec.InitContainers = []corev1.Container{*box(pod)} },
		"spec.ephemeralContainers":                                    func(pod *corev1.Pod) { pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{{}} },
		"spec.containers[sandbox].command":                            func(pod *corev1.Pod) { box(pod).Command[2] = strings.Replace(box(pod).Command[2], " --offline", "", 1) },
		"spec.containers[sandbox].args":                               func(pod *corev1.Pod) { box(pod).Args = []string{"x"} },
		"spec.containers[sandbox].lifecycle":                          func(pod *corev1.Pod) { box(pod).Lifecycle = &corev1.Lifecycle{} },
		"spec.containers[sandbox].env":                                func(pod *corev1.Pod) { box(pod).Env = []corev1.EnvVar{{Name: "LD_PRELOAD", Value: "x"}} },
		"spec.containers[sandbox].image is \"busybox\"":               func(pod *corev1.Pod) { box(pod).Image = "busybox" },
		"spec.containers[sandbox].resources.limits.memory is \"2Gi\"": func(pod *corev1.Pod) { box(pod).Resources.Limits[corev1.ResourceMemory] = *quantity("2Gi") },
		"spec.containers[sandbox].resources.limits.cpu is nothing":    func(pod *corev1.Pod) { delete(box(pod).Resources.Limits, corev1.ResourceCPU) },
		"spec.containers[sandbox].volumeMounts[/host]": func(pod *corev1.Pod) {
			box(pod).VolumeMounts = append(box(pod).VolumeMounts, corev1.VolumeMount{Name: "home", MountPath: "/host"})
		},
		"spec.volumes[host]": func(pod *corev1.Pod) {
			pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}})
		},
		"spec.volumes[home].emptyDir.sizeLimit is nothing": func(pod *corev1.Pod) {
			for i := range pod.Spec.Volumes {
				if pod.Spec.Volumes[i].Name == "home" {
					pod.Spec.Volumes[i].EmptyDir.SizeLimit = nil
				}
			}
		},
	} {
		t.Run(field, func(t *testing.T) {
			p := newPooledDesign(t, limited)
			pod, err := p.Render()
			if err != nil {
				t.Fatal(err)
			}
			change(pod)
			err = p.Verify(pod)
			switch {
			case field == "" && err != nil, field != "" && (sandbox.CodeOf(err) != sandbox.Unsupported || !strings.Contains(err.Error(), field)):
				t.Error(err)
			}
		})
	}
}

func Test_A_Pool_Serves_The_Policy_It_Was_Made_For(t *testing.T) {
	pod, err := newPooledDesign(t, sandbox.Spec{}).Render()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, one := range map[string]struct {
		spec  sandbox.Spec
		field string // in which it does not serve; empty: it does
	}{
		"a workspace":   {sandbox.Spec{Workspace: dir, Policy: sandbox.Policy{Filesystem: sandbox.Filesystem{RW: []string{dir}}}}, ""},
		"another place": {sandbox.Spec{Workspace: dir, Container: sandbox.Container{Target: "/src"}, Policy: sandbox.Policy{Filesystem: sandbox.Filesystem{RW: []string{dir}}}}, "volumeMounts[/src]"},
		"a network":     {sandbox.Spec{Policy: sandbox.Policy{Network: sandbox.Network{Mode: sandbox.NetworkHost}}}, "command"},
		"less memory":   {sandbox.Spec{Policy: sandbox.Policy{Limits: sandbox.Limits{Memory: 1 << 20}}}, "limits.memory"},
		"a small tmp":   {sandbox.Spec{Policy: sandbox.Policy{Limits: sandbox.Limits{Tmp: 1 << 20}}}, "volumeMounts[/dev/shm]"},
		"small files":   {sandbox.Spec{Policy: sandbox.Policy{Limits: sandbox.Limits{File: 1 << 20}}}, "command"},
		"an image":      {sandbox.Spec{Container: sandbox.Container{Image: "python:3.12"}}, "image"},
	} {
		t.Run(name, func(t *testing.T) {
			err := newPooledDesign(t, one.spec).Verify(pod)
			if one.field == "" && err != nil || one.field != "" && (err == nil || !strings.Contains(err.Error(), one.field)) {
				t.Error(err)
			}
		})
	}
}
