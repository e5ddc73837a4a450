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

// cluster is the testbed's, whose one node is this machine: what pods do to their node is seen here.
type cluster struct {
	t          *testing.T
	kubeconfig string
	namespace  string            // of the sandboxes; it takes restricted pods only
	open       string            // of a pod that knows no wall
	words      map[string]string // where things of the cluster are
}

// theCluster is there when Test_Escape_Kube runs.
var theCluster *cluster

// plainPod is a pod as a cluster makes it when nothing is said. It serves on plainPort, and there is a service for it.
const (
	plainPod  = "plain"
	plainPort = "8080"
	// To whoever connects it says who it is, and goes on.
	plainServer = `$l = IO::Socket::INET->new(LocalPort => ` + plainPort + `, Listen => 100, ReuseAddr => 1) or die; while (1) { $c = $l->accept and print $c "plain\n" }`
)

// podAttacker is the attacker's name in the work tree, which is all that comes into a pod.
const podAttacker = attacker.Name

func kubeWall(t *testing.T) *wall {
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
		lacking(errors.New("only root sees what pods do to their node"))
	}
	_ = dockerWall(t) // which has built the image
	top := filepath.Join("..", "..", "..")
	c.run(append(os.Environ(), "TESTBED="+bed), "", filepath.Join(top, "test", "testbed", "up.sh"), "load", escapeImage)
	c.setUp(bed)
	theCluster = c
	return &wall{
		few: []string{
			"A2.45", "A3.2", "A4.7", "A5.", "A8.1", "A9.1", "A10.", "B11.1", "B13.4", "B13.5", "B16.", "C17.1", "C17.2", "C17.3", "C18.", "D30.", "E22.2",
			"F24.1", "F24.2", "F24.3", "F24.4", "F25.2", "F25.4", "F25.8", "F25.9", "F25.17", "G", "H",
		},
		name: "kube", pod: true, env: []string{"KUBECONFIG=" + c.kubeconfig},
		flags: []string{"--backend", "kube", "--namespace", c.namespace, "--image", escapeImage, "--env", "ESCAPE_HOST={base}"},
		at:    map[string]string{"work": "/workspace", "attacker": "/workspace/" + podAttacker},
		not:   notKube, refuses: refusedByKube,
	}
}

// Test_Escape_Kube makes the attempts in pods of a real cluster, and those that only pods know.
func Test_Escape_Kube(t *testing.T) {
	w := kubeWall(t)
	w.attack(t, slices.Concat(escapes(), contained(), pods()))
	theCluster.ended()
}

// run runs a program of the test's, with input, and returns what it printed.
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

// setUp makes the namespaces, what can be reached in the cluster, and a sandbox beside the ones under attack.
func (c *cluster) setUp(bed string) {
	c.t.Helper()
	c.namespace = "agent-sandbox-escape-" + strings.ToLower(rand.Text()[:8])
	c.open = c.namespace + "-open"
	c.t.Cleanup(func() {
		c.kubectl("", "delete", "namespace", "--ignore-not-found", "--wait=false", c.namespace, c.open)
	})
	for name, labels := range map[string]string{c.namespace: `{"pod-security.kubernetes.io/enforce":"restricted"}`, c.open: "{}"} {
		c.kubectl(fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q,"labels":%s}}`, name, labels), "apply", "--validate=false", "-f", "-")
		c.kubectl(fmt.Sprintf(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"escape-victim","namespace":%q},
			"spec":{"selector":{"app":"victim"},"ports":[{"port":%s}]}}`, name, plainPort), "apply", "--validate=false", "-f", "-")
		c.kubectl("", "wait", "--for=create", "--timeout=30s", "-n", name, "serviceaccount/default")
	}
	c.kubectl(fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":%q,"labels":{"app":"victim"}},"spec":{"terminationGracePeriodSeconds":0,"containers":[
		{"name":"c","image":%q,"imagePullPolicy":"Never","command":["perl","-MIO::Socket::INET","-e",%q]}]}}`, plainPod, c.open, escapeImage, plainServer), "apply", "--validate=false", "-f", "-")
	c.kubectl("", "wait", "--for=condition=Ready", "--timeout=60s", "-n", c.open, "pod/"+plainPod)
	c.kubectl("", "cp", lab.attacker, c.open+"/"+plainPod+":/usr/local/bin/attacker")
	// For attempts on the guest: a program of its name that runs.
	c.kubectl("", "exec", "-n", c.open, plainPod, "--", "sh", "-c",
		"mkdir /run/agent-sandbox /workspace; cp /bin/sleep /run/agent-sandbox/agent-sandbox; /run/agent-sandbox/agent-sandbox 100000 >/dev/null 2>&1 &")
	server, err := url.Parse(c.kubectl("", "config", "view", "--minify", "-o", "jsonpath={.clusters[0].cluster.server}"))
	if err != nil {
		c.t.Fatal(err)
	}
	c.words = map[string]string{
		"bed": bed, "api": server.Host,
		"node":    c.kubectl("", "get", "nodes", "-o", `jsonpath={.items[0].status.addresses[?(@.type=="InternalIP")].address}`),
		"victim":  c.kubectl("", "get", "pod", "-n", c.open, plainPod, "-o", "jsonpath={.status.podIP}"),
		"service": c.kubectl("", "get", "service", "-n", c.open, "escape-victim", "-o", "jsonpath={.spec.clusterIP}"),
	}
	c.neighbour()
}

// neighbour starts a sandbox with a network of its own, which lives as long as the test.
func (c *cluster) neighbour() {
	c.t.Helper()
	home := c.t.TempDir()
	work := filepath.Join(home, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(c.t.Context()), lab.command, "exec", "--backend", "kube", "--namespace", c.namespace, "--image", escapeImage,
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
	c.words["neighbour"] = c.kubectl("", "get", "pods", "-n", c.namespace, "-o", "jsonpath={.items[0].status.podIP}")
	c.words["neighbour-pod"] = c.kubectl("", "get", "pods", "-n", c.namespace, "-o", "name")
}

// tell lets a case use the words.
func (c *cluster) tell(h *host) { maps.Copy(h.vars, c.words) }

// plain makes an attempt in the pod that knows no wall.
func (c *cluster) plain(h *host, attempt *escape) outcome {
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
	cmd := exec.CommandContext(ctx, "kubectl", append([]string{"exec", "-n", c.open, plainPod, "--"}, args...)...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	o := outcome{stdout: stdout.String(), stderr: stderr.String(), code: cmd.ProcessState.ExitCode(), err: ctx.Err()}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		o.err = err
	}
	return o
}

// planted looks from every pod's door for what an attempt has planted in its own container.
func (c *cluster) planted(h *host) {
	h.t.Helper()
	see := func(pod, container string) bool {
		cmd := exec.CommandContext(h.t.Context(), "kubectl", "exec", "-n", c.namespace, pod, "-c", container, "--",
			"sh", "-c", "cat /run/agent-sandbox/planted /tmp/planted 2>/dev/null")
		out, _ := cmd.Output() // another attempt's pod may have gone
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

// ended wants no pod of an attempt to run on.
func (c *cluster) ended() {
	c.t.Helper()
	for name := range strings.FieldsSeq(c.kubectl("", "get", "pods", "-n", c.namespace, "-o", "name")) {
		if name != strings.TrimSpace(c.words["neighbour-pod"]) {
			c.kubectl("", "wait", "--for=condition=Ready=false", "--timeout=30s", "-n", c.namespace, name)
		}
	}
}

// carry puts the attacker where a pod gets to see it. Git does not.
func (h *host) carry() {
	h.t.Helper()
	h.must(os.Link(lab.attacker, filepath.Join(h.work, podAttacker)))
	h.sh("echo " + podAttacker + " >>.git/info/exclude")
}
