package kube_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/backend/kube"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
	"github.com/seed434b0696/agent-sandbox/test/programs"
)

// manifests returns the manifests of deploy/ for the bed's namespace, with another image.
func (b bed) manifests(t *testing.T, image string) string {
	t.Helper()
	dir := t.TempDir()
	top, err := filepath.Abs("../../build/deploy")
	if err == nil {
		top, err = filepath.Rel(dir, top)
	}
	if err != nil {
		t.Fatal(err)
	}
	name, tag, _ := strings.Cut(image, ":")
	overlay := fmt.Sprintf(`{"apiVersion":"kustomize.config.k8s.io/v1beta1","kind":"Kustomization","namespace":%q,"resources":[%q],
		"images":[{"name":"agent-sandbox","newName":%q,"newTag":%q}]}`, b.namespace, top, name, tag)
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(overlay), 0o600); err != nil {
		t.Fatal(err)
	}
	return kubectl(t, "", "kustomize", dir)
}

func Test_The_Manifests_Grant_All_Needed_Rights(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	all := b.manifests(t, "agent-sandbox:latest")
	if !strings.Contains(all, "kind: Namespace\nmetadata:\n  labels:\n    pod-security.kubernetes.io/enforce: restricted\n    pod-security.kubernetes.io/enforce-version: latest\n  name: "+b.namespace+"\n") {
		t.Errorf("another namespace is made: %s", all)
	}
	kubectl(t, all, "apply", "--dry-run=server", "-f", "-")
	kubectl(t, all, "apply", "-f", "-")
	ours := b.acting(t, "agent-sandbox")
	report, err := ours.driver.Check(t.Context())
	if err != nil || !report.OK() {
		t.Fatalf("%+v, %v", report, err)
	}
	if left := ours.missingRoles(t); len(left) > 0 {
		t.Errorf("missing: %q", left)
	}
	for _, rule := range []string{"admission", "pod security"} {
		if f := finding(t, report, rule); f.State != sandbox.Enforced {
			t.Errorf("%+v", f)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("copied\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	spec := sandbox.Spec{Workspace: dir, Policy: sandbox.Policy{Filesystem: sandbox.Filesystem{RW: []string{dir}}}}
	for _, mode := range []sandbox.NetworkMode{sandbox.NetworkNone, sandbox.NetworkHost} {
		spec.Policy.Network.Mode = mode
		if res := ours.run(t, spec, "cat", "f"); string(res.Stdout) != "copied\n" {
			t.Errorf("%+v", res)
		}
	}
	spec.Policy.Limits.Memory = 16 << 30
	wants(t, ours.fails(t, spec), sandbox.Exhausted, "maximum memory usage per Container is 8Gi", "--limit")
}

// programImage builds the image of build/deploy/Dockerfile on the cluster's node.
func programImage(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := programs.Install(t.Context(), dir, programs.CommandWithPods); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, programs.CommandWithPods))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	name := "local/agent-sandbox:" + hex.EncodeToString(sum[:8])
	load(t, name, "../../build/deploy/Dockerfile", dir)
	return name
}

// serverCertificates returns the certificates that the API server presents: pods know no authority of its cluster.
func serverCertificates(t *testing.T, address string) string {
	t.Helper()
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // what it shows is what we look for
	conn, err := dialer.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var out bytes.Buffer
	for _, c := range conn.(*tls.Conn).ConnectionState().PeerCertificates {
		if err := pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

// podTime bounds the time that a test's pod may take.
const podTime = 10 * time.Minute

// inCluster runs agent-sandbox in a pod with a service account of the namespace, and returns its output. The testbed's
// API server is on the node's own loopback.
func (b bed) inCluster(t *testing.T, image, name string, args ...string) string {
	t.Helper()
	list, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	kubectl(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":%q},"spec":{"hostNetwork":true,"restartPolicy":"Never",
		"serviceAccountName":"agent-sandbox","automountServiceAccountToken":true,"volumes":[{"name":"tmp","emptyDir":{}},{"name":"ca","configMap":{"name":"ca"}}],
		"containers":[{"name":"main","image":%q,"imagePullPolicy":"Never","workingDir":"/tmp/work","args":%s,
		"env":[{"name":"KUBERNETES_SERVICE_HOST","value":"127.0.0.1"},{"name":"KUBERNETES_SERVICE_PORT","value":%q},{"name":"SSL_CERT_FILE","value":"/ca/ca.pem"}],
		"volumeMounts":[{"name":"tmp","mountPath":"/tmp"},{"name":"ca","mountPath":"/ca"}]}]}}`, name, b.namespace, image, list, serverPort(t)), "apply", "--validate=false", "-f", "-")
	ctx, cancel := context.WithTimeout(t.Context(), podTime)
	defer cancel()
	wait := exec.CommandContext(ctx, "kubectl", "wait", "-n", b.namespace, "pod/"+name, "--for=jsonpath={.status.phase}=Succeeded", "--timeout="+podTime.String())
	_, werr := wait.CombinedOutput()
	out := kubectl(t, "", "logs", "-n", b.namespace, name)
	if werr != nil {
		t.Fatalf("%v: %s", werr, out)
	}
	return out
}

func Test_A_Pod_Makes_Sandboxes_As_Its_Service_Account(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	image := programImage(t)
	needController(t) // the program makes a Sandbox where the cluster has them
	b.deploy(t, image)

	var report struct {
		sandbox.Report

		OK bool `json:"ok"`
	}
	out := b.inCluster(t, image, "doctor", "doctor", "--backend", "kube", "--json")
	if err := json.Unmarshal([]byte(out), &report); err != nil || !report.OK {
		t.Fatalf("%v: %s", err, out)
	}
	if f := finding(t, report.Report, "cluster"); !strings.HasSuffix(f.Detail, ", namespace "+b.namespace) {
		t.Errorf("%+v", f)
	}
	if out := b.inCluster(t, image, "exec", "exec", "--backend", "kube", "--image", kube.DefaultImage, "--", "echo", "from within"); out != "from within\n" {
		t.Errorf("%q", out)
	}
}

// deploy applies the manifests, so that pods of the node's own network reach the API server.
func (b bed) deploy(t *testing.T, image string) {
	t.Helper()
	kubectl(t, b.manifests(t, image), "apply", "-f", "-")
	kubectl(t, "", "label", "namespace", b.namespace, "pod-security.kubernetes.io/enforce=privileged", "--overwrite")
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, []byte(serverCertificates(t, serverAddress(t))), 0o600); err != nil {
		t.Fatal(err)
	}
	kubectl(t, "", "create", "configmap", "ca", "-n", b.namespace, "--from-file=ca.pem="+ca)
}

// The CronJob removes a sandbox whose time is over, and no other.
func Test_The_Reaper_Removes_Expired_Sandboxes_Alone(t *testing.T) {
	t.Parallel()
	b, d := newPersistentBed(t)
	b.deploy(t, programImage(t))
	lasting := create(t, d, persistentSpec("lasting", workspace(t)))
	expiring := *d
	expiring.TTL = min(100*time.Second, deadline.Scale(20*time.Second))
	if err := create(t, &expiring, persistentSpec("short", workspace(t))).Detach(); err != nil {
		t.Error(err)
	}
	b.podEnds(t, "short")
	claims := func() string {
		return kubectl(t, "", "get", "pvc", "-n", b.namespace, "-o", "name")
	}
	const one, both = "persistentvolumeclaim/agent-sandbox-lasting\n", "persistentvolumeclaim/agent-sandbox-lasting\npersistentvolumeclaim/agent-sandbox-short\n"
	if got := claims(); got != both {
		t.Fatalf("before the reaper runs: %q", got)
	}
	b.reap(t)
	kubectl(t, "", "wait", "--for=delete", "pvc/agent-sandbox-short", "-n", b.namespace, "--timeout="+podTime.String())
	if got := claims(); got != one {
		t.Errorf("after it: %q", got)
	}
	prints(t, lasting, "cat f", "host\n")
}

// reap runs the CronJob once. On the testbed it also reaches the API server on the node's own loopback.
func (b bed) reap(t *testing.T) {
	t.Helper()
	patch := fmt.Sprintf(`{"spec":{"jobTemplate":{"spec":{"template":{"spec":{"hostNetwork":true,"volumes":[{"name":"ca","configMap":{"name":"ca"}}],
		"containers":[{"name":"reaper","volumeMounts":[{"name":"ca","mountPath":"/ca"}],"env":[{"name":"KUBERNETES_SERVICE_HOST","value":"127.0.0.1"},
		{"name":"KUBERNETES_SERVICE_PORT","value":%q},{"name":"SSL_CERT_FILE","value":"/ca/ca.pem"}]}]}}}}}}`, serverPort(t))
	kubectl(t, "", "patch", "cronjob", "agent-sandbox-reaper", "-n", b.namespace, "--patch", patch)
	kubectl(t, "", "create", "job", "reap", "-n", b.namespace, "--from=cronjob/agent-sandbox-reaper")
	wait := exec.CommandContext(t.Context(), "kubectl", "wait", "-n", b.namespace, "job/reap", "--for=condition=complete", "--timeout="+podTime.String())
	if out, err := wait.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s: %s", err, out, kubectl(t, "", "logs", "-n", b.namespace, "job/reap"))
	}
}
