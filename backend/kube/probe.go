package kube

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/cluster"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Scripts of the probe, for busybox. Two take an address and connect to it up to ten times.
const (
	listenScript = `exec httpd -f -p 8000 -h /tmp`
	reachScript  = `n=0; until nc -w 1 "$1" 8000 </dev/null >/dev/null; do n=$((n+1)); [ $n -lt 10 ] || exit 1; sleep 0.3; done`
	// blockedScript succeeds when three attempts in a row have failed.
	blockedScript = `n=0; f=0; while [ $f -lt 3 ]; do
		if nc -w 1 "$1" 8000 </dev/null >/dev/null; then f=0; n=$((n+1)); [ $n -lt 10 ] || exit 1; sleep 1; else f=$((f+1)); fi
	done`
	// isolationScript prints each property that weakens the isolation.
	isolationScript = `while read -r k v; do case $k$v in
		CapEff:*[1-9a-f]*) echo "capabilities: $v";; NoNewPrivs:0) echo "new privileges";; Seccomp:0) echo "no seccomp";; Uid:0*) echo "root";;
	esac; done </proc/self/status
	[ ! -e /var/run/secrets/kubernetes.io ] || echo "the token of a service account"
	touch /usr/probe 2>/dev/null && echo "a writable image"
	httpd -p 8000 2>/dev/null && echo "a socket"`
)

// Probe is Check, and creates three pods to try what the API does not report.
func (d *Driver) Probe(ctx context.Context) (sandbox.Report, error) {
	report, err := d.Check(ctx)
	if err != nil || !report.OK() {
		return report, err
	}
	ctx, cancel := context.WithTimeout(ctx, cluster.StartTime)
	defer cancel()
	for _, f := range append(d.probeIsolation(ctx), d.probeNetwork(ctx)) {
		at := slices.IndexFunc(report.Findings, func(old sandbox.Finding) bool { return old.Rule == f.Rule })
		if at < 0 {
			report.Findings = append(report.Findings, f)
		} else if report.Findings[at].State != sandbox.Impossible { // no right: nothing was created
			report.Findings[at] = f
		}
	}
	return report, ctx.Err()
}

// probeIsolation runs a command in a pod of the default kind.
func (d *Driver) probeIsolation(ctx context.Context) []sandbox.Finding {
	begin := time.Now()
	pod := sandbox.Finding{Rule: "admission", State: sandbox.Impossible, Needed: true}
	i, err := d.probePod(ctx, sandbox.NetworkNone)
	if err != nil {
		pod.Detail, pod.Fix = cluster.Line(err.Error()), sandbox.HintOf(err)
		return []sandbox.Finding{pod}
	}
	pod.State, pod.Detail = sandbox.Enforced, fmt.Sprintf("tried: a pod took %s to start", time.Since(begin).Round(time.Millisecond))
	isolation := sandbox.Finding{Rule: "pod", State: sandbox.Enforced, Needed: true, Detail: "tried: no capability, root, token or socket inside; the image cannot be written to"}
	said, err := i.runScript(ctx, isolationScript, "")
	err = errors.Join(err, i.Close(context.WithoutCancel(ctx)))
	if wrong := strings.Join(strings.Fields(said), " "); err != nil || wrong != "" {
		isolation.State, isolation.Detail = sandbox.Impossible, "tried: the pod has: "+wrong
		if err != nil {
			isolation.Detail = "not tried: " + cluster.Line(err.Error())
		}
	}
	return []sandbox.Finding{pod, isolation}
}

// probePod creates a pod with a network mode and without a NetworkPolicy.
func (d *Driver) probePod(ctx context.Context, mode sandbox.NetworkMode) (*instance, error) {
	p, err := d.prepare(ctx, sandbox.Spec{Policy: sandbox.Policy{Network: sandbox.Network{Mode: mode}}})
	if err != nil {
		return nil, err
	}
	p.unfenced = true
	return p.start(ctx)
}

// runScript runs a script with an address, and returns what it printed.
func (i *instance) runScript(ctx context.Context, script, address string) (string, error) {
	var out bytes.Buffer
	p, err := i.Start(ctx, sandbox.Cmd{Args: []string{"sh", "-c", script, "sh", address}}, sandbox.Stdio{Stdout: &out})
	if err != nil {
		return "", err
	}
	_, err = p.Wait()
	return out.String(), err
}

// isSuccessful runs a script with an address and reports whether it exits with 0.
func (i *instance) isSuccessful(ctx context.Context, script, address string) (bool, error) {
	p, err := i.Start(ctx, sandbox.Cmd{Args: []string{"sh", "-c", script, "sh", address}}, sandbox.Stdio{})
	if err != nil {
		return false, err
	}
	exit, err := p.Wait()
	return err == nil && exit.Code == 0, err
}

// probeNetwork reports whether the cluster's network enforces NetworkPolicies.
func (d *Driver) probeNetwork(ctx context.Context) sandbox.Finding {
	f := sandbox.Finding{Rule: "networkpolicies", State: sandbox.Impossible, Fix: "use a network plugin that enforces NetworkPolicies"}
	holes, err := d.findHoles(ctx)
	switch {
	case err != nil:
		f.State, f.Detail, f.Fix = sandbox.Emulated, "one is made with each pod; whether the cluster's network enforces it could not be tried: "+cluster.Line(err.Error()), sandbox.HintOf(err)
	case len(holes) > 0:
		f.Detail = "tried: the cluster's network does not enforce them: " + strings.Join(holes, ", and ")
	default:
		f.State, f.Detail, f.Fix = sandbox.Enforced, "one is made with each pod; tried: the cluster's network enforces it", ""
	}
	return f
}

// findHoles returns the connections that NetworkPolicies do not stop. Without a policy the two pods must reach each other first;
// otherwise a failed connection proves nothing.
func (d *Driver) findHoles(ctx context.Context) (found []string, err error) {
	var pods [2]*instance
	var at [2]string
	for n := range pods {
		i, err := d.probePod(ctx, sandbox.NetworkHost)
		if err != nil {
			return nil, err
		}
		defer func() { _ = i.Close(context.WithoutCancel(ctx)) }() // the result is known
		if at[n], err = i.startServer(ctx); err != nil {
			return nil, err
		}
		pods[n] = i
	}
	here, there := pods[0], pods[1]
	if err := here.checkReach(ctx, at[1]); err != nil {
		return nil, err
	}
	if err := there.cluster.CreateNetworkPolicy(ctx, there.pod, sandbox.NetworkHost); err != nil {
		return nil, err
	}
	shut, err := here.isSuccessful(ctx, blockedScript, at[1])
	if err == nil && !shut {
		found = append(found, "a pod that accepts no connections was reached")
	}
	if err == nil {
		err = there.checkReach(ctx, at[0])
	}
	if err == nil {
		err = there.cluster.CreateNetworkPolicy(ctx, there.pod, sandbox.NetworkNone)
	}
	if err != nil {
		return nil, err
	}
	if shut, err = there.isSuccessful(ctx, blockedScript, at[0]); err == nil && !shut {
		found = append(found, "a pod connected that may open no connections")
	}
	return found, err
}

// startServer starts a server in the pod, and returns its address.
func (i *instance) startServer(ctx context.Context) (string, error) {
	pod := i.cluster.AwaitState(ctx, i.pod, func(pod *corev1.Pod) bool { return pod.Status.PodIP != "" })
	if pod == nil {
		return "", sandbox.Errorf(sandbox.Unavailable, "the cluster does not report the address of a running pod")
	}
	_, err := i.Start(ctx, sandbox.Cmd{Args: []string{"sh", "-c", listenScript}}, sandbox.Stdio{})
	return pod.Status.PodIP, err
}

func (i *instance) checkReach(ctx context.Context, address string) error {
	ok, err := i.isSuccessful(ctx, reachScript, address)
	if err == nil && !ok {
		err = sandbox.Errorf(sandbox.Unavailable, "pods do not reach each other, with no policy of ours either")
	}
	return err
}
