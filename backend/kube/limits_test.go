package kube_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/backend/kube"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// disk creates a claim of that name on a directory of the node. The directory belongs to root until a pod asks for its own group
// on the volume.
func (b bed) disk(t *testing.T, claim string) {
	t.Helper()
	volume, dir := b.namespace+"-"+claim, t.TempDir()
	kubectl(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"List","items":[
		{"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":%[1]q},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],
		 "persistentVolumeReclaimPolicy":"Retain","storageClassName":"","local":{"path":%[2]q},"claimRef":{"namespace":%[3]q,"name":%[4]q},
		 "nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"kubernetes.io/os","operator":"In","values":["linux"]}]}]}}}},
		{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":%[4]q,"namespace":%[3]q},"spec":{"accessModes":["ReadWriteOnce"],
		 "storageClassName":"","volumeName":%[1]q,"resources":{"requests":{"storage":"1Gi"}}}}]}`, volume, dir, b.namespace, claim), "apply", "--validate=false", "-f", "-")
	t.Cleanup(func() { kubectl(t, "", "delete", "persistentvolume", volume, "--wait=false") })
	b.becomes(t, "persistentvolumeclaim/"+claim, "Bound")
}

func Test_A_Claim_That_Belongs_To_Root_Can_Be_Written_To(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.disk(t, "data")
	spec := sandbox.Spec{Container: sandbox.Container{Volumes: []sandbox.Volume{{Name: "data", Target: "/data"}}}}
	if res := b.run(t, spec, "sh", "-c", "echo kept >/data/f && mkdir /data/d && cat /data/f"); string(res.Stdout) != "kept\n" {
		t.Errorf("%+v: %s", res, res.Stderr)
	}
	if res := b.run(t, spec, "sh", "-c", "cat /data/f && echo more >>/data/f && rmdir /data/d"); res.Code != 0 || string(res.Stdout) != "kept\n" {
		t.Errorf("the next one: %+v: %s", res, res.Stderr)
	}
}

// ends runs a command until the cluster ends its pod.
func (b bed) ends(t *testing.T, spec sandbox.Spec, script string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline.Scale(3*time.Minute))
	defer cancel()
	s, err := sandbox.Create(ctx, b.driver, spec)
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Run(ctx, sandbox.Cmd{Args: []string{"sh", "-c", script}})
	if err == nil {
		t.Errorf("it ended with %+v", res)
	}
	if cerr := s.Close(context.WithoutCancel(ctx)); cerr != nil {
		t.Error(cerr)
	}
	return err
}

func Test_A_Pod_That_Fills_A_Volume_Is_Evicted_And_Says_So(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	err := b.ends(t, sandbox.Spec{}, "head -c 80000000 /dev/zero >/run/agent-sandbox/full; sleep 1000")
	wants(t, err, sandbox.Closed, "evicted", `"guest"`, "64Mi")
}

func Test_A_Pod_Requests_What_The_Policy_Reserves(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	for _, row := range []struct {
		requests sandbox.Requests
		limits   sandbox.Limits
		want     string // the requests and the limits of the pod, or the error
	}{
		{sandbox.Requests{}, sandbox.Limits{}, "100m 512Mi of 2 1Gi"},
		{sandbox.Requests{Memory: 64 << 20, CPU: 0.01}, sandbox.Limits{Memory: 128 << 20, CPU: 1}, "10m 64Mi of 1 128Mi"},
		{sandbox.Requests{Memory: 1536 << 20}, sandbox.Limits{}, "100m 1536Mi of 2 1536Mi"},
		{sandbox.Requests{Memory: 2 << 30}, sandbox.Limits{Memory: 1 << 30}, "requests.memory: 2GiB is more than limits.memory, 1GiB"},
		{sandbox.Requests{CPU: 3}, sandbox.Limits{CPU: 1}, "requests.cpu: 3 is more than limits.cpu, 1"},
	} {
		s, err := sandbox.Create(t.Context(), b.driver, sandbox.Spec{Policy: sandbox.Policy{Requests: row.requests, Limits: row.limits}})
		if err != nil {
			wants(t, err, sandbox.Invalid, row.want)
			continue
		}
		const fields = `{.spec.containers[0].resources.requests.cpu} {.spec.containers[0].resources.requests.memory} of {.spec.containers[0].resources.limits.cpu} {.spec.containers[0].resources.limits.memory}`
		if got := kubectl(t, "", "get", "pod", "agent-sandbox-"+s.ID(), "-n", b.namespace, "-o", "jsonpath="+fields); got != row.want {
			t.Errorf("%+v of %+v: the pod has %q, want %q", row.requests, row.limits, got, row.want)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func Test_A_Pod_Ends_At_Its_Deadline_And_Says_So(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	o := b.options
	o.Lifetime = 8 * time.Second
	b.driver = kube.New(o)
	wants(t, b.ends(t, sandbox.Spec{}, "sleep 1000"), sandbox.Closed, "deadline of 8s")
	long := sandbox.Spec{Policy: sandbox.Policy{Limits: sandbox.Limits{Wall: sandbox.Duration(time.Hour)}}}
	if res := b.run(t, long, "sleep", "10"); res.Code != 0 { // a command may take what the policy gives it
		t.Errorf("%+v", res)
	}
}

func Test_A_Command_At_The_Memory_Limit_Of_Its_Pod_Says_So(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	s, err := sandbox.Create(t.Context(), b.driver, sandbox.Spec{Policy: sandbox.Policy{Limits: sandbox.Limits{Memory: 128 << 20}}})
	if err != nil {
		t.Fatal(err)
	}
	for script, want := range map[string]string{`exec perl -e 'push @a, "x" x (1 << 20) while 1'`: "memory limit of 128MiB", "kill -9 $$": ""} {
		run, err := s.Start(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", script}}, sandbox.Stdio{})
		if err != nil {
			t.Fatal(err)
		}
		if exit, err := run.Wait(); err != nil || exit.Code != 137 || exit.Reason != want {
			t.Errorf("%s: %+v, %v, want 137 and %q", script, exit, err, want)
		}
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// fences returns the policies of a namespace, each with the label that it selects, the traffic that it denies, and its owner.
func (b bed) fences(t *testing.T) []string {
	t.Helper()
	out := kubectl(t, "", "get", "networkpolicies", "-n", b.namespace, "-o",
		`jsonpath={range .items[*]}{.spec.podSelector.matchLabels} {.spec.policyTypes} {.spec.ingress}{.spec.egress}{.metadata.ownerReferences[*].name}{"\n"}{end}`)
	return strings.FieldsFunc(out, func(r rune) bool { return r == '\n' })
}

func Test_A_NetworkPolicy_Comes_And_Goes_With_Its_Pod(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	for mode, denied := range map[sandbox.NetworkMode]string{sandbox.NetworkNone: `["Ingress","Egress"]`, sandbox.NetworkHost: `["Ingress"]`} {
		t.Run(string(mode), func(t *testing.T) {
			s, err := sandbox.Create(t.Context(), b.driver, sandbox.Spec{Policy: sandbox.Policy{Network: sandbox.Network{Mode: mode}}})
			if err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf(`{"agent-sandbox.dev/id":%[1]q} %[2]s agent-sandbox-%[1]s`, s.ID(), denied)
			if got := b.fences(t); !slices.Equal(got, []string{want}) {
				t.Errorf("%q, want %q", got, want)
			}
			if label := kubectl(t, "", "get", "pods", "-n", b.namespace, "-l", "agent-sandbox.dev/id="+s.ID(), "-o", "name"); label != "pod/agent-sandbox-"+s.ID()+"\n" {
				t.Errorf("it selects %q", label)
			}
			if err := s.Close(t.Context()); err != nil {
				t.Error(err)
			}
			kubectl(t, "", "wait", "--for=delete", "networkpolicies", "--all", "-n", b.namespace, "--timeout=60s")
		})
	}
}

// least are the rules of a Role with only the rights without which no sandbox runs.
const least = `[{"apiGroups":[""],"resources":["pods"],"verbs":["create","get","list","watch","delete"]},
	{"apiGroups":[""],"resources":["pods/exec"],"verbs":["create","get"]}]`

func Test_Without_The_Right_To_NetworkPolicies_Pods_Have_None(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	few := b.as(t, "few", least)
	lines := make(chan string, 100)
	few.options.Trace = func(_, line string) { lines <- line }
	few.driver = kube.New(few.options)
	if res := few.run(t, sandbox.Spec{}, "perl", "-MSocket", "-e", internet+`exit internet(PF_INET, SOCK_STREAM) ? 1 : 0`); res.Code != 0 {
		t.Errorf("without a policy there are sockets: %+v", res)
	}
	if got := b.fences(t); len(got) > 0 {
		t.Errorf("policies: %q", got)
	}
	close(lines)
	told := false
	for line := range lines {
		told = told || strings.HasPrefix(line, "no NetworkPolicy: ")
	}
	if !told {
		t.Error("the trace has no line about it")
	}
	report, err := few.driver.Check(t.Context())
	if err != nil || !report.OK() {
		t.Fatalf("%+v, %v", report, err)
	}
	f := finding(t, report, "networkpolicies")
	if f.State != sandbox.Impossible || !strings.Contains(f.Detail, "not allowed: create; ") || !strings.Contains(f.Detail, "seccomp") {
		t.Errorf("%+v", f)
	}
}

// finding returns the line of a report about a rule.
func finding(t *testing.T, r sandbox.Report, rule string) sandbox.Finding {
	t.Helper()
	for _, f := range r.Findings {
		if f.Rule == rule {
			return f
		}
	}
	t.Fatalf("nothing about %s: %+v", rule, r.Findings)
	return sandbox.Finding{}
}

// forward puts a rule before all others about packets that pass this host, which is the node, until the test ends.
func forward(t *testing.T, rule ...string) {
	t.Helper()
	filter := func(action string) {
		cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "iptables", slices.Concat([]string{"-w", action, "FORWARD"}, rule)...)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", cmd, err, text)
		}
	}
	filter("-I")
	t.Cleanup(func() { filter("-D") })
}

// network enforces the policies of the namespace, in place of a plugin: packets between pods of one node pass the node's packet
// filter, which is this host's.
func (b bed) network(t *testing.T) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "kubectl", "get", "networkpolicies", "-n", b.namespace, "--watch", "-o",
		`jsonpath={.metadata.ownerReferences[0].name} {.spec.policyTypes}{"\n"}`)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		seen := map[string]bool{}
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if seen[lines.Text()] {
				continue
			}
			seen[lines.Text()] = true
			pod, types, _ := strings.Cut(lines.Text(), " ")
			ip, err := exec.CommandContext(t.Context(), "kubectl", "get", "pod", pod, "-n", b.namespace, "-o", "jsonpath={.status.podIP}").Output()
			if err != nil {
				t.Errorf("the address of %s: %v", pod, err)
				return
			}
			for kind, flag := range map[string]string{"Ingress": "--destination", "Egress": "--source"} {
				if strings.Contains(types, kind) {
					forward(t, flag, string(ip), "-m", "conntrack", "--ctstate", "NEW", "-j", "DROP") // answers pass
				}
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		_ = cmd.Wait() // we have ended it
	})
}

func Test_The_Doctor_Tries_Whether_The_Network_Enforces_Policies(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	o := b.options
	o.Image = "busybox:latest" // as doctor has it
	b.driver = kube.New(o)
	try := func(t *testing.T) sandbox.Finding {
		t.Helper()
		report, err := b.driver.Probe(t.Context())
		if err != nil || !report.OK() {
			t.Fatalf("%+v, %v", report, err)
		}
		for _, rule := range []string{"admission", "pod"} {
			if f := finding(t, report, rule); f.State != sandbox.Enforced || !strings.HasPrefix(f.Detail, "tried: ") {
				t.Errorf("%+v", f)
			}
		}
		if left, err := b.pods(t.Context()); err != nil || len(left) > 0 {
			t.Errorf("left: %q, %v", left, err)
		}
		return finding(t, report, "networkpolicies")
	}
	if on, err := os.ReadFile("/proc/sys/net/bridge/bridge-nf-call-iptables"); err != nil || string(on) != "1\n" {
		lacking(t, fmt.Errorf("packets of a bridge do not pass iptables: %q, %w", on, err))
	}
	t.Run("pods that never reach each other prove nothing", func(t *testing.T) {
		forward(t, "-i", "cni0", "-o", "cni0", "-j", "DROP")
		if f := try(t); f.State != sandbox.Emulated || !strings.Contains(f.Detail, "could not be tried: pods do not reach each other") {
			t.Errorf("%+v", f)
		}
	})
	forward(t, "-i", "cni0", "-o", "cni0", "-j", "ACCEPT") // an engine on the same host may drop all of these packets
	t.Run("a bridge does not", func(t *testing.T) {
		if f := try(t); f.State != sandbox.Impossible || !strings.Contains(f.Detail, "was reached, and ") {
			t.Errorf("%+v", f)
		}
	})
	t.Run("one that does", func(t *testing.T) {
		b.network(t)
		if f := try(t); f.State != sandbox.Enforced {
			t.Errorf("%+v", f)
		}
	})
}

// runtimeClass creates a runtime class for a handler of the node's runtime, and returns a bed whose pods use it.
func (b bed) runtimeClass(t *testing.T, handler string) bed {
	t.Helper()
	name := b.namespace + "-" + handler
	kubectl(t, fmt.Sprintf(`{"apiVersion":"node.k8s.io/v1","kind":"RuntimeClass","metadata":{"name":%q},"handler":%q}`, name, handler), "apply", "--validate=false", "-f", "-")
	t.Cleanup(func() { kubectl(t, "", "delete", "runtimeclass", name, "--wait=false") })
	return b.classed(name)
}

func (b bed) classed(name string) bed {
	b.options.RuntimeClass = name
	b.driver = kube.New(b.options)
	return b
}

func Test_A_Runtime_Class_Runs_A_Pod_Or_Is_Rejected_By_Name(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	t.Run("one that the node has", func(t *testing.T) {
		classed := b.runtimeClass(t, "runc")
		s, err := sandbox.Create(t.Context(), classed.driver, sandbox.Spec{})
		if err != nil {
			t.Fatal(err)
		}
		if got := kubectl(t, "", "get", "pods", "-n", b.namespace, "-o", "jsonpath={.items[*].spec.runtimeClassName}"); got != classed.options.RuntimeClass {
			t.Errorf("the pod's is %q", got)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	t.Run("one that the node lacks", func(t *testing.T) {
		begin := time.Now()
		wants(t, b.runtimeClass(t, "nokernel").fails(t, sandbox.Spec{}), sandbox.Unavailable, "the pod does not start", "nokernel")
		if took := time.Since(begin); took > deadline.Scale(8*time.Second) {
			t.Errorf("that took %s", took)
		}
	})
	t.Run("one that does not exist", func(t *testing.T) {
		wants(t, b.classed("no-such-class").fails(t, sandbox.Spec{}), sandbox.NotFound, `no runtime class "no-such-class"`, "kubectl get runtimeclasses")
	})
	t.Run("one that the credentials may not read", func(t *testing.T) {
		few := b.as(t, "few", least)
		wants(t, few.classed("no-such-class").fails(t, sandbox.Spec{}), sandbox.NotFound, `"no-such-class" not found`, "kubectl get runtimeclasses")
	})
}
