//go:build linux

package escape_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/test/e2e/escape/attacker"
)

// cluster is the testbed's cluster. Its only node is this machine, so the tests see what pods do to their node.
type cluster struct {
	t             *testing.T
	kubeconfig    string
	namespace     string            // of the sandboxes; it accepts only restricted pods
	openNamespace string            // of the pod without a sandbox
	variables     map[string]string // of scripts, for parts of the cluster
}

// testCluster is the cluster while Test_Escape_Kube runs; otherwise nil.
var testCluster *cluster

// plainPod is a pod with the cluster's defaults. It listens on plainPort, and has a service.
const (
	plainPod  = "plain"
	plainPort = "8080"
	// It sends its name to each client.
	plainServer = `$l = IO::Socket::INET->new(LocalPort => ` + plainPort + `, Listen => 100, ReuseAddr => 1) or die; while (1) { $c = $l->accept and print $c "plain\n" }`
)

// podAttacker is the attacker's name in the work tree, the only part of the host that a pod sees.
const podAttacker = attacker.Name

func kubeTarget(t *testing.T) *target {
	t.Helper()
	lacking := func(why error) {
		if isRequired("kube") {
			t.Fatalf("required, and not available: %v", why)
		}
		t.Skipf("not available: %v", why)
	}
	c := &cluster{t: t, kubeconfig: os.Getenv("KUBECONFIG")}
	bed := filepath.Dir(c.kubeconfig)
	if _, err := os.Stat(filepath.Join(bed, "kubelet.yaml")); c.kubeconfig == "" || err != nil {
		lacking(errors.New("KUBECONFIG names no testbed, whose node is this machine"))
	}
	if os.Getuid() != 0 {
		lacking(errors.New("only root can see what pods do to their node"))
	}
	_ = dockerTarget(t) // the engine with which the image was built
	top := filepath.Join("..", "..", "..")
	c.run(append(os.Environ(), "TESTBED="+bed), "", filepath.Join(top, "test", "testbed", "up.sh"), "load", escapeImage)
	c.setUp(bed)
	testCluster = c
	return &target{
		always: []string{
			"A2.45", "A3.2", "A4.7", "A5.", "A8.1", "A9.1", "A10.", "B11.1", "B13.4", "B13.5", "B16.", "C17.1", "C17.2", "C17.3", "C18.", "D30.", "E22.2",
			"F24.1", "F24.2", "F24.3", "F24.4", "F25.2", "F25.4", "F25.8", "F25.9", "F25.17", "G", "H",
		},
		name: "kube", pod: true, env: []string{"KUBECONFIG=" + c.kubeconfig},
		flags:       []string{"--backend", "kube", "--namespace", c.namespace, "--image", escapeImage, "--env", "ESCAPE_HOST={base}"},
		insidePaths: map[string]string{"work": "/workspace", "attacker": "/workspace/" + podAttacker},
		unsuitable:  unsuitableForKube, refuses: refusedByKube,
	}
}

// Test_Escape_Kube makes the attempts in pods of a real cluster, and the attempts for pods only.
func Test_Escape_Kube(t *testing.T) {
	w := kubeTarget(t)
	w.run(t, slices.Concat(bwrapAttempts(), contained(), pods()))
	testCluster.waitEnded()
}

// run runs a program with input and returns its output.
func (c *cluster) run(env []string, input, name string, args ...string) string {
	c.t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(c.t.Context()), name, args...)
	cmd.Env, cmd.Stdin = env, strings.NewReader(input)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		c.t.Fatalf("set-up: %s %q: %v: %s", name, args, err, said.String())
	}
	return string(out)
}

func (c *cluster) kubectl(input string, args ...string) string {
	c.t.Helper()
	return c.run(os.Environ(), input, "kubectl", args...)
}

// setUp creates the namespaces, services to attack, and a sandbox beside those that make attempts.
func (c *cluster) setUp(bed string) {
	c.t.Helper()
	c.namespace = "agent-sandbox-escape-" + strings.ToLower(rand.Text()[:8])
	c.openNamespace = c.namespace + "-open"
	c.t.Cleanup(func() {
		c.kubectl("", "delete", "namespace", "--ignore-not-found", "--wait=false", c.namespace, c.openNamespace)
	})
	for name, labels := range map[string]string{c.namespace: `{"pod-security.kubernetes.io/enforce":"restricted"}`, c.openNamespace: "{}"} {
		c.kubectl(fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q,"labels":%s}}`, name, labels), "apply", "--validate=false", "-f", "-")
		c.kubectl(fmt.Sprintf(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"escape-victim","namespace":%q},
			"spec":{"selector":{"app":"victim"},"ports":[{"port":%s}]}}`, name, plainPort), "apply", "--validate=false", "-f", "-")
		c.kubectl("", "wait", "--for=create", "--timeout=30s", "-n", name, "serviceaccount/default")
	}
	c.kubectl(fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":%q,"labels":{"app":"victim"}},"spec":{"terminationGracePeriodSeconds":0,"containers":[
		{"name":"c","image":%q,"imagePullPolicy":"Never","command":["perl","-MIO::Socket::INET","-e",%q]}]}}`, plainPod, c.openNamespace, escapeImage, plainServer), "apply", "--validate=false", "-f", "-")
	c.kubectl("", "wait", "--for=condition=Ready", "--timeout=60s", "-n", c.openNamespace, "pod/"+plainPod)
	c.kubectl("", "cp", fixture.attacker, c.openNamespace+"/"+plainPod+":/usr/local/bin/attacker")
	// For attempts on the guest: a running program with the guest's name.
	c.kubectl("", "exec", "-n", c.openNamespace, plainPod, "--", "sh", "-c",
		"mkdir /run/agent-sandbox /workspace; cp /bin/sleep /run/agent-sandbox/agent-sandbox; /run/agent-sandbox/agent-sandbox 100000 >/dev/null 2>&1 &")
	server, err := url.Parse(c.kubectl("", "config", "view", "--minify", "-o", "jsonpath={.clusters[0].cluster.server}"))
	if err != nil {
		c.t.Fatal(err)
	}
	c.variables = map[string]string{
		"bed": bed, "api": server.Host,
		"node":    c.kubectl("", "get", "nodes", "-o", `jsonpath={.items[0].status.addresses[?(@.type=="InternalIP")].address}`),
		"victim":  c.kubectl("", "get", "pod", "-n", c.openNamespace, plainPod, "-o", "jsonpath={.status.podIP}"),
		"service": c.kubectl("", "get", "service", "-n", c.openNamespace, "escape-victim", "-o", "jsonpath={.spec.clusterIP}"),
	}
	c.startNeighbour()
}

// startNeighbour starts a sandbox with its own network until the end of the test.
func (c *cluster) startNeighbour() {
	c.t.Helper()
	home := c.t.TempDir()
	work := filepath.Join(home, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(c.t.Context()), fixture.command, "exec", "--backend", "kube", "--namespace", c.namespace, "--image", escapeImage,
		"--network", "--", "sh", "-c", "echo up; cat")
	cmd.Env, cmd.Dir = append(os.Environ(), "HOME="+home, "XDG_DATA_HOME="+home), work
	in, err := cmd.StdinPipe()
	if err == nil {
		var out interface{ Read([]byte) (int, error) }
		if out, err = cmd.StdoutPipe(); err == nil {
			if err = cmd.Start(); err == nil {
				c.t.Cleanup(func() { _, _ = in.Close(), cmd.Wait() })
				_, err = out.Read(make([]byte, 3))
			}
		}
	}
	if err != nil {
		c.t.Fatalf("a sandbox beside the others: %v", err)
	}
	c.variables["neighbour"] = c.kubectl("", "get", "pods", "-n", c.namespace, "-o", "jsonpath={.items[0].status.podIP}")
	c.variables["neighbour-pod"] = c.kubectl("", "get", "pods", "-n", c.namespace, "-o", "name")
}

// addVariables lets a case use the cluster's variables.
func (c *cluster) addVariables(h *host) { maps.Copy(h.vars, c.variables) }

// attemptInPlainPod makes an attempt in the pod without a sandbox.
func (c *cluster) attemptInPlainPod(h *host, attempt *escape) outcome {
	h.t.Helper()
	h.snapshot()
	ctx, cancel := context.WithTimeout(h.t.Context(), patience)
	defer cancel()
	inside := map[string]string{"work": "/workspace", "attacker": "/usr/local/bin/attacker"}
	args := attempt.commandLine(func(s string) string {
		for name, value := range inside {
			s = strings.ReplaceAll(s, "{"+name+"}", value)
		}
		return h.expand(s)
	})
	cmd := exec.CommandContext(ctx, "kubectl", append([]string{"exec", "-n", c.openNamespace, plainPod, "--"}, args...)...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	o := outcome{stdout: stdout.String(), stderr: stderr.String(), code: cmd.ProcessState.ExitCode(), err: ctx.Err()}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		o.err = err
	}
	return o
}

// checkPlanted searches every pod's other container for files that an attempt has created in its own.
func (c *cluster) checkPlanted(h *host) {
	h.t.Helper()
	see := func(pod, container string) bool {
		cmd := exec.CommandContext(h.t.Context(), "kubectl", "exec", "-n", c.namespace, pod, "-c", container, "--",
			"sh", "-c", "cat /run/agent-sandbox/planted /tmp/planted 2>/dev/null")
		out, _ := cmd.Output() // the pod of another attempt may have ended
		return strings.Contains(string(out), "planted")
	}
	seen := false
	for pod := range strings.FieldsSeq(c.kubectl("", "get", "pods", "-n", c.namespace, "-o", "name")) {
		if see(pod, "sandbox") {
			seen = true
			if see(pod, "door") {
				h.note("%s has it at its door", pod)
			}
		}
	}
	if !seen {
		h.note("BROKEN: nothing was planted")
	}
}

// waitEnded waits until the pods of all attempts have ended.
func (c *cluster) waitEnded() {
	c.t.Helper()
	for name := range strings.FieldsSeq(c.kubectl("", "get", "pods", "-n", c.namespace, "-o", "name")) {
		if name != strings.TrimSpace(c.variables["neighbour-pod"]) {
			c.kubectl("", "wait", "--for=condition=Ready=false", "--timeout=30s", "-n", c.namespace, name)
		}
	}
}

// addAttacker copies the attacker into the work tree, the only part of the host that a pod sees, and hides it from
// git.
func (h *host) addAttacker() {
	h.t.Helper()
	h.must(os.Link(fixture.attacker, filepath.Join(h.work, podAttacker)))
	h.runScript("echo " + podAttacker + " >>.git/info/exclude")
}
