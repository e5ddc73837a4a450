package kube_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/backend/kube"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// pool applies the changed template for spec as a pool with a number of pods, and returns a bed that takes its sandboxes from it.
func (b bed) pool(t *testing.T, name, count string, spec sandbox.Spec, change func(string) string) bed {
	t.Helper()
	b = b.with(func(o *kube.Options) { o.Agents, o.WarmPool = "", name })
	text, err := b.driver.Template(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	kubectl(t, strings.Replace(change(string(text)), `"replicas": 1`, `"replicas": `+count, 1), "apply", "--validate=false", "-n", b.namespace, "-f", "-")
	t.Cleanup(func() {
		kubectl(t, "", "delete", "sandboxwarmpool,sandboxtemplate", name, "-n", b.namespace, "--ignore-not-found")
	})
	return b
}

func unchanged(s string) string { return s }

// podIDs returns names and UIDs of the pods.
func (b bed) podIDs(t *testing.T) []string {
	t.Helper()
	return strings.Fields(kubectl(t, "", "get", "pods", "-n", b.namespace, "-o", `jsonpath={range .items[*]}{.metadata.name}/{.metadata.uid}{"\n"}{end}`))
}

// takes creates a sandbox, runs a first command in it, and returns the time that this took.
func (b bed) takes(t *testing.T, spec sandbox.Spec, script string) (s *sandbox.Sandbox, out string, took time.Duration) {
	t.Helper()
	begin := time.Now()
	s, err := sandbox.Create(t.Context(), b.driver, spec)
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Run(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", script}, Env: []string{"MINE=" + spec.Name}})
	if err != nil {
		t.Fatal(err)
	}
	return s, string(res.Stdout), time.Since(begin)
}

func Test_A_Warm_Pod_Serves_One_Sandbox(t *testing.T) {
	t.Parallel()
	b := newAgentsBed(t)
	cold, _, coldTook := b.takes(t, sandbox.Spec{}, "true")
	if err := cold.Close(t.Context()); err != nil {
		t.Error(err)
	}
	kubectl(t, "", "wait", "--for=delete", "pod", "--all", "-n", b.namespace, "--timeout=30s")
	b = b.pool(t, "pool", "2", sandbox.Spec{}, unchanged)
	ready := func() {
		kubectl(t, "", "wait", "sandboxwarmpool/pool", "-n", b.namespace, "--for=jsonpath={.status.readyReplicas}=2", "--timeout=120s")
	}
	ready()
	warm := b.podIDs(t)
	var used []string
	var boxes []*sandbox.Sandbox
	for _, name := range []string{"one", "two"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte(name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		spec := sandbox.Spec{Name: name, Workspace: dir, Policy: sandbox.Policy{Filesystem: sandbox.Filesystem{RW: []string{dir}}}}
		s, out, took := b.takes(t, spec, `cat f; echo "$MINE"; pwd; ls /tmp; touch /tmp/used`)
		boxes = append(boxes, s)
		t.Logf("warm: %s; cold: %s", took, coldTook)
		if out != name+"\n"+name+"\n/workspace\n" {
			t.Errorf("%q", out)
		}
		var claim struct {
			Status struct{ Sandbox struct{ Name string } }
		}
		if err := json.Unmarshal([]byte(kubectl(t, "", "get", "sandboxclaim", "agent-sandbox-"+s.ID(), "-n", b.namespace, "-o", "json")), &claim); err != nil {
			t.Fatal(err)
		}
		at := claim.Status.Sandbox.Name
		i := slices.IndexFunc(warm, func(id string) bool { return strings.HasPrefix(id, at+"/") })
		if i < 0 || slices.Contains(used, warm[i]) {
			t.Fatalf("%s is not one of the warm pods %q, or in use: %q", at, warm, used)
		}
		used = append(used, warm[i])
		kubectl(t, "", "wait", "pod/"+at, "-n", b.namespace, "--for=jsonpath={.metadata.annotations.agent-sandbox\\.dev/name}="+name, "--timeout=30s")
	}
	for i, s := range boxes {
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		kubectl(t, "", "wait", "--for=delete", "pod/"+strings.Split(used[i], "/")[0], "-n", b.namespace, "--timeout=30s")
	}
	if left := kubectl(t, "", "get", "sandboxclaims", "-n", b.namespace, "-o", "name"); left != "" {
		t.Errorf("left: %s", left)
	}
	ready()
	for _, id := range b.podIDs(t) {
		if slices.Contains(used, id) {
			t.Errorf("pod %s came back", id)
		}
	}
}

func Test_A_Pool_With_Less_Isolation_Is_Rejected_By_Field(t *testing.T) {
	t.Parallel()
	b := newAgentsBed(t)
	kubectl(t, "", "label", "namespace", b.namespace, "--overwrite", "pod-security.kubernetes.io/enforce=privileged")
	for name, one := range map[string]struct{ old, changed, field string }{
		"token":   {`"automountServiceAccountToken": false`, `"automountServiceAccountToken": true`, "spec.automountServiceAccountToken is true"},
		"seccomp": {`"type": "RuntimeDefault"`, `"type": "Unconfined"`, "spec.securityContext.seccompProfile.type"},
		"offline": {` --offline`, ``, "spec.containers[sandbox].command"},
		"host":    {`"hostname": "sandbox"`, `"hostname": "sandbox", "hostPID": true`, "spec.hostPID is true"},
	} {
		t.Run(name, func(t *testing.T) {
			lacking := b.pool(t, name, "0", sandbox.Spec{}, func(s string) string {
				if !strings.Contains(s, one.old) {
					t.Fatalf("there is no %s in %s", one.old, s)
				}
				return strings.Replace(s, one.old, one.changed, 1)
			})
			wants(t, lacking.refuses(t, sandbox.Spec{}), sandbox.Unsupported, "pool "+name, one.field, "--manifest")
		})
	}
	t.Run("no pool", func(t *testing.T) {
		none := b.with(func(o *kube.Options) { o.WarmPool = "none" })
		wants(t, none.refuses(t, sandbox.Spec{}), sandbox.NotFound, `SandboxWarmPool "none" not found`)
	})
	t.Run("an empty pool", func(t *testing.T) {
		if out := b.pool(t, "empty", "0", sandbox.Spec{}, unchanged).run(t, sandbox.Spec{}, "echo", "out").Stdout; string(out) != "out\n" {
			t.Errorf("%q", out)
		}
	})
}
