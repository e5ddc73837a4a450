package kube

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/cluster"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Check asks the cluster what it would allow and enforce. It changes nothing.
func (d *Driver) Check(ctx context.Context) (sandbox.Report, error) {
	report := sandbox.Report{Backend: d.Name()}
	c, err := d.connect()
	var about version.Info
	if err == nil {
		about, err = c.ServerVersion(ctx)
	}
	if err != nil {
		report.Findings = []sandbox.Finding{{
			Rule: "cluster", State: sandbox.Impossible, Detail: err.Error(), Fix: sandbox.HintOf(err), Needed: true,
		}}
		return report, ctx.Err()
	}
	report.Version = about.GitVersion
	report.Findings = append(report.Findings, sandbox.Finding{Rule: "cluster", State: sandbox.Enforced, Detail: c.Host() + ", namespace " + c.Namespace})
	rights, err := findRights(ctx, c, d.agentRights(ctx, c)...)
	if err != nil {
		return report, err
	}
	report.Findings = append(report.Findings, rights...)
	report.Findings = append(report.Findings, d.checkAdmission(ctx, c), checkPodSecurity(ctx, c), d.checkRuntime(ctx, c))
	report.Findings = append(report.Findings, limitFindings()...)
	return report, ctx.Err()
}

// checkAdmission reports whether the cluster would accept a pod now, in a dry run: quotas, limits and standards apply.
func (d *Driver) checkAdmission(ctx context.Context, c *cluster.Cluster) sandbox.Finding {
	f := sandbox.Finding{Rule: "admission", State: sandbox.Enforced, Needed: true, Detail: "the namespace would take a pod of ours now"}
	p, err := d.prepare(ctx, sandbox.Spec{})
	var pod *corev1.Pod
	if err == nil {
		pod, err = p.Render()
	}
	if err == nil {
		_, err = c.CreatePod(ctx, pod, metav1.DryRunAll)
	}
	switch {
	case sandbox.CodeOf(err) == sandbox.Invalid && strings.Contains(err.Error(), "dry run"):
		f.State, f.Detail, f.Needed = sandbox.Emulated, "not known: "+cluster.Line(err.Error()), false
		f.Fix = "'agent-sandbox doctor --backend kube --verify' makes a pod"
	case err != nil:
		f.State, f.Detail, f.Fix = sandbox.Impossible, cluster.Line(err.Error()), sandbox.HintOf(err)
	}
	return f
}

// pssEnforce is the label of namespaces with the Pod Security Standard that pods have to meet.
const pssEnforce = "pod-security.kubernetes.io/enforce"

// checkPodSecurity reports whether the namespace accepts less isolated pods. Our own pods meet the strictest standard.
func checkPodSecurity(ctx context.Context, c *cluster.Cluster) sandbox.Finding {
	f := sandbox.Finding{Rule: "pod security", State: sandbox.Enforced, Detail: "the namespace takes nothing but restricted pods"}
	labels, err := c.NamespaceLabels(ctx)
	if err != nil {
		f.State, f.Detail = sandbox.Emulated, "our pods are restricted; whether the namespace takes others is not known: not allowed: namespaces get"
		return f
	}
	if level := labels[pssEnforce]; level != "restricted" {
		f.State, f.Detail = sandbox.Emulated, "our pods are restricted; the namespace takes others, too"
		f.Fix = "kubectl label namespace " + c.Namespace + " " + pssEnforce + "=restricted"
	}
	return f
}

// checkRuntime reports whether pods run in user namespaces of their node.
func (d *Driver) checkRuntime(ctx context.Context, c *cluster.Cluster) sandbox.Finding {
	handler, err := c.FindRuntimeHandler(ctx, d.options.RuntimeClass)
	f := sandbox.Finding{Rule: "user namespaces", State: sandbox.Enforced, Detail: "the root of a pod is an unprivileged user of its node"}
	if err != nil || !cluster.AllHaveUserNamespaces(c.ListNodes(ctx), handler) {
		f.State, f.Detail = sandbox.Impossible, "not all nodes are known to have them; pods run as a plain user of the node"
		f.Fix = "use nodes with containerd 2 and Linux 6.3, and allow get and list of nodes"
	}
	return f
}

// limitFindings returns what pods enforce in every cluster.
func limitFindings() []sandbox.Finding {
	enforced := func(rule, detail string) sandbox.Finding {
		return sandbox.Finding{Rule: rule, State: sandbox.Enforced, Detail: detail}
	}
	return []sandbox.Finding{
		enforced("filesystem", "no path of this host; the workspace is a copy, or a volume"),
		enforced("system calls", "the runtime's seccomp profile, and ours"),
		enforced("network none", "no socket but those of Unix, by seccomp: the pod has interfaces that nothing inside can use; the guest stands for the loopback"),
		{Rule: "network allow", State: sandbox.Impossible, Detail: "a pod's network cannot be taken away, so nothing holds commands to a proxy", Fix: "use the docker or bwrap backend"},
		enforced("limits.memory", "the container's cgroup"),
		enforced("limits.cpu", "the container's cgroup"),
		{Rule: "limits.pids", State: sandbox.Impossible, Detail: "only a node's kubelet limits the processes of a pod", Fix: "set podPidsLimit in the kubelet's configuration"},
		enforced("limits.tmp", "tmpfs of that size"),
		enforced("limits.file", "RLIMIT_FSIZE"),
		{Rule: "limits.disk", State: sandbox.Impossible, Detail: "files on a disk are not counted", Fix: "use the virtual backend"},
		{Rule: "limits.nodes", State: sandbox.Impossible, Detail: "files on a disk are not counted", Fix: "use the virtual backend"},
		enforced("limits.wall", "this process"),
		enforced("limits.output", "this process"),
	}
}
