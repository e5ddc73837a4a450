package kube_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/backend/kube"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// controller is held for reading by tests whose Sandboxes need the cluster's controller, and for writing by the test that
// stops it: there is one for the whole cluster.
var controller sync.RWMutex

// needController keeps the controller running until the test ends.
func needController(t *testing.T) {
	t.Helper()
	controller.RLock()
	t.Cleanup(controller.RUnlock)
}

// newAgentsBed is newBed on a cluster that has Sandboxes and their controller. Its sandboxes are Sandboxes.
func newAgentsBed(t *testing.T) bed {
	t.Helper()
	needController(t)
	return newControlledBed(t)
}

// newControlledBed is newAgentsBed of a test that does not need the controller all the time.
func newControlledBed(t *testing.T) bed {
	t.Helper()
	b := newBed(t)
	crds := []string{"get", "crd", "sandboxes.agents.x-k8s.io", "sandboxclaims.extensions.agents.x-k8s.io"}
	if out, err := exec.CommandContext(t.Context(), "kubectl", crds...).CombinedOutput(); err != nil {
		lackingPart(t, "agents", fmt.Errorf("%w: %s", err, out))
	}
	return b.with(func(o *kube.Options) { o.Agents = kube.AgentsAlways })
}

// with returns the bed with other options.
func (b bed) with(change func(*kube.Options)) bed {
	change(&b.options)
	b.driver = kube.New(b.options)
	return b
}

// objects returns the Sandboxes and claims that are left in the namespace. The cluster deletes their pods a moment later.
func (b bed) objects(t *testing.T) []string {
	t.Helper()
	kubectl(t, "", "wait", "--for=delete", "pod", "--all", "-n", b.namespace, "--timeout=30s")
	return strings.Fields(kubectl(t, "", "get", "sandboxes,sandboxclaims", "-n", b.namespace, "-o", "name"))
}

// leavesNothing fails the test when objects are left.
func (b bed) leavesNothing(t *testing.T) {
	t.Helper()
	if left := b.objects(t); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// refuses checks that the driver refuses a sandbox of spec, and that no objects are left.
func (b bed) refuses(t *testing.T, spec sandbox.Spec) error {
	t.Helper()
	s, err := sandbox.Create(t.Context(), b.driver, spec)
	if err == nil {
		_ = s.Close(t.Context())
		t.Fatal("it was made")
	}
	b.leavesNothing(t)
	return err
}

func Test_A_Sandbox_Of_The_Cluster_Is_Made_Used_And_Deleted(t *testing.T) {
	t.Parallel()
	b := newAgentsBed(t)
	s, err := sandbox.Create(t.Context(), b.driver, sandbox.Spec{Name: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Run(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", "echo out; exit 3"}})
	if err != nil || res.Code != 3 || string(res.Stdout) != "out\n" {
		t.Errorf("%+v, %v", res, err)
	}
	var found struct {
		Items []struct {
			Metadata struct {
				Labels, Annotations map[string]string
				OwnerReferences     []struct{ Kind string }
			}
			Spec map[string]any
		}
	}
	for what, owner := range map[string]string{"sandboxes": "", "pods": "Sandbox"} {
		if err := json.Unmarshal([]byte(kubectl(t, "", "get", what, "-n", b.namespace, "-o", "json")), &found); err != nil || len(found.Items) != 1 {
			t.Fatalf("%d %s, %v", len(found.Items), what, err)
		}
		meta := found.Items[0].Metadata
		if meta.Labels["agent-sandbox.dev/id"] != s.ID() || meta.Annotations["agent-sandbox.dev/name"] != "mine" {
			t.Errorf("%s: %+v", what, meta)
		}
		if owner != "" && (len(meta.OwnerReferences) != 1 || meta.OwnerReferences[0].Kind != owner) {
			t.Errorf("%s: %+v", what, meta)
		}
		spec := found.Items[0].Spec
		if owner == "" && (spec["shutdownPolicy"] != "Delete" || spec["shutdownTime"] == nil) || owner != "" && spec["automountServiceAccountToken"] != false {
			t.Errorf("%s: %v", what, spec)
		}
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	b.leavesNothing(t)
}

func Test_The_Error_Says_Why_A_Cluster_Sandbox_Does_Not_Start(t *testing.T) {
	t.Parallel()
	b := newAgentsBed(t)
	t.Run("an image that no registry has", func(t *testing.T) {
		wants(t, b.refuses(t, sandbox.Spec{Container: sandbox.Container{Image: "nowhere.invalid/no-such:1"}}), sandbox.NotFound, "nowhere.invalid/no-such:1 cannot be pulled")
	})
	t.Run("a quota", func(t *testing.T) {
		b.quota(t, "pods", "0")
		begin := time.Now()
		wants(t, b.refuses(t, sandbox.Spec{}), sandbox.Exhausted, "makes no pod", "exceeded quota: small")
		if took := time.Since(begin); took > deadline.Scale(20*time.Second) {
			t.Errorf("it took %s", took)
		}
	})
	t.Run("no namespace", func(t *testing.T) {
		nowhere := b.with(func(o *kube.Options) { o.Namespace = "no-such-namespace" })
		wants(t, nowhere.refuses(t, sandbox.Spec{}), sandbox.NotFound, `"no-such-namespace" not found`)
	})
	t.Run("no right", func(t *testing.T) {
		none := b.as(t, "none", podRights)
		wants(t, none.refuses(t, sandbox.Spec{}), sandbox.Denied, "cannot create resource")
	})
}

// podRights are the rights to plain pods.
const podRights = `[{"apiGroups":[""],"resources":["pods"],"verbs":["create","get","list","watch","delete"]},
	{"apiGroups":[""],"resources":["pods/exec"],"verbs":["create","get"]}]`

// controllerPID returns the PID of the controller, which the test may stop for a while.
func controllerPID(t *testing.T) int {
	t.Helper()
	pid, err := strconv.Atoi(os.Getenv("AGENTS_PID"))
	if err != nil {
		lackingPart(t, "agents", fmt.Errorf("AGENTS_PID names no controller: %w", err))
	}
	return pid
}

func Test_The_Error_Names_A_Controller_That_Does_Not_Run(t *testing.T) {
	t.Parallel()
	b := newControlledBed(t)
	pid := controllerPID(t)
	controller.Lock()
	t.Cleanup(controller.Unlock)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	goOn := sync.OnceFunc(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
	defer goOn()
	begin := time.Now()
	wants(t, b.refuses(t, sandbox.Spec{}), sandbox.Unavailable, "no pod for the Sandbox", "controller does not run")
	if took := time.Since(begin); took > deadline.Scale(30*time.Second) {
		t.Errorf("it took %s", took)
	}
	goOn()
	if out := b.run(t, sandbox.Spec{}, "echo", "out").Stdout; string(out) != "out\n" {
		t.Errorf("%q", out)
	}
	b.leavesNothing(t)
}

func Test_Without_The_Right_To_Sandboxes_The_Driver_Creates_Pods(t *testing.T) {
	t.Parallel()
	b := newAgentsBed(t).as(t, "pods", podRights).with(func(o *kube.Options) { o.Agents = "" })
	s, err := sandbox.Create(t.Context(), b.driver, sandbox.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	if all := kubectl(t, "", "get", "sandboxes,pods", "-n", b.namespace, "-o", "name"); strings.Count(all, "\n") != 1 || !strings.HasPrefix(all, "pod/") {
		t.Errorf("there is %q", all)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// without returns the bed on a cluster that lacks an API group.
func (b bed) without(t *testing.T, group string) bed {
	t.Helper()
	to := strings.TrimPrefix(b.server(t), "https://")
	proxy := httptest.NewTLSServer(&httputil.ReverseProxy{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, //nolint:gosec // the testbed's certificate is its own
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "https", to
			if strings.HasPrefix(r.In.URL.Path, "/apis/"+group) {
				r.Out.URL.Path = "/no-such-path"
			}
		},
	})
	t.Cleanup(proxy.Close)
	return b.configured(t, func(s string) string { return strings.Replace(s, "https://"+to, proxy.URL, 1) })
}

func Test_Without_Sandboxes_In_The_Cluster_The_Driver_Creates_Pods(t *testing.T) {
	t.Parallel()
	b := newBed(t).without(t, "agents.x-k8s.io")
	none := b.with(func(o *kube.Options) { o.Agents = kube.AgentsAlways })
	wants(t, none.fails(t, sandbox.Spec{}), sandbox.Unavailable, "the cluster has no Sandboxes")
	either := b.with(func(o *kube.Options) { o.Agents = "" })
	if out := either.run(t, sandbox.Spec{}, "echo", "out").Stdout; string(out) != "out\n" {
		t.Errorf("%q", out)
	}
}

// orphan creates a Sandbox that has ended long ago, and cuts off its creator.
func (b bed) orphan(t *testing.T) {
	t.Helper()
	w := newWire(t, strings.TrimPrefix(b.server(t), "https://"))
	far := b.configured(t, func(s string) string { return strings.Replace(s, b.server(t), "https://"+w.Addr().String(), 1) })
	far = far.with(func(o *kube.Options) { o.Linger = time.Second })
	s, err := sandbox.Create(t.Context(), far.driver, sandbox.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.WithoutCancel(t.Context())) })
	w.cut()
	name := "agent-sandbox-" + s.ID()
	kubectl(t, "", "wait", "-n", b.namespace, "sandbox/"+name, "--for=condition=Finished", "--timeout=60s")
	old := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	conditions := kubectl(t, "", "get", "-n", b.namespace, "sandbox/"+name, "-o", "jsonpath={.status.conditions}")
	var all []map[string]any
	if err := json.Unmarshal([]byte(conditions), &all); err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		one["lastTransitionTime"] = old
	}
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": all}})
	if err != nil {
		t.Fatal(err)
	}
	kubectl(t, "", "patch", "-n", b.namespace, "sandbox/"+name, "--subresource=status", "--type=merge", "-p", string(patch))
}

func Test_A_Sandbox_Whose_Maker_Was_Killed_Is_Swept(t *testing.T) {
	t.Parallel()
	b := newAgentsBed(t)
	t.Run("by the next one", func(t *testing.T) {
		b.orphan(t)
		next := b.with(func(*kube.Options) {})
		if out := next.run(t, sandbox.Spec{}, "echo", "out").Stdout; string(out) != "out\n" {
			t.Errorf("%q", out)
		}
		b.leavesNothing(t)
	})
	t.Run("by the reaper", func(t *testing.T) {
		b.orphan(t)
		kubectl(t, b.manifests(t, "agent-sandbox:latest"), "apply", "-f", "-")
		if err := (&kube.PersistentDriver{Inner: b.acting(t, "agent-sandbox-reaper").driver}).Sweep(t.Context()); err != nil {
			t.Error(err)
		}
		b.leavesNothing(t)
	})
}
