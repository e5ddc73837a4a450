package kube_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/backend/kube"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/sandboxtest"
)

// testImage is an image with a shell and coreutils that the cluster's node has.
const testImage = "debian:bookworm-slim"

// bed is a test's namespace in a real cluster.
type bed struct {
	namespace string
	driver    *kube.Driver
	options   kube.Options
}

// newBed creates a namespace that accepts restricted pods only. Without a cluster the test skips, or fails if one is required.
func newBed(t *testing.T) bed {
	t.Helper()
	if os.Getenv("KUBECONFIG") == "" { // a kubeconfig in a home directory does not count, so that no cluster is used by mistake
		lacking(t, errors.New("KUBECONFIG names no cluster"))
	}
	options := kube.Options{Env: os.Environ(), DataDir: filepath.Join(t.TempDir(), "data"), Image: testImage, Agents: kube.AgentsNever}
	if err := sandboxtest.Available(t.Context(), kube.New(options)); err != nil {
		lacking(t, err)
	}
	options.Namespace = "agent-sandbox-test-" + strings.ToLower(rand.Text()[:10])
	b := bed{namespace: options.Namespace, options: options, driver: kube.New(options)}
	kubectl(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q,"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`, b.namespace), "apply", "--validate=false", "-f", "-")
	t.Cleanup(func() { kubectl(t, "", "delete", "namespace", b.namespace, "--wait=false") })
	return b
}

// lacking ends a test for which something is missing. The test fails if a cluster is required.
func lacking(t *testing.T, err error) {
	t.Helper()
	lackingPart(t, "kube", err)
}

// lackingPart is lacking for a part that only some clusters have. The test fails if that part is required.
func lackingPart(t *testing.T, part string, err error) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("SANDBOX_REQUIRE"), ","), part) {
		t.Fatalf("required, and not available: %v", err)
	}
	t.Skipf("not available: %v", err)
}

// kubectl runs kubectl on the test's cluster, with input, and returns its output.
func kubectl(t *testing.T, input string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "kubectl", args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// share creates a volume for a directory of this host, which is the cluster's node, and a claim on it.
func (b bed) share(t *testing.T, claim, dir string) {
	t.Helper()
	volume := b.namespace + "-" + claim
	kubectl(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"List","items":[
		{"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":%[1]q},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteMany"],
		 "persistentVolumeReclaimPolicy":"Retain","storageClassName":"","hostPath":{"path":%[2]q},"claimRef":{"namespace":%[3]q,"name":%[4]q}}},
		{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":%[4]q,"namespace":%[3]q},"spec":{"accessModes":["ReadWriteMany"],
		 "storageClassName":"","volumeName":%[1]q,"resources":{"requests":{"storage":"1Gi"}}}}]}`, volume, dir, b.namespace, claim), "apply", "--validate=false", "-f", "-")
	t.Cleanup(func() { kubectl(t, "", "delete", "persistentvolume", volume, "--wait=false") })
	b.becomes(t, "persistentvolumeclaim/"+claim, "Bound")
}

// pods returns the pods in the namespace.
func (b bed) pods(ctx context.Context) ([]string, error) {
	out, err := exec.CommandContext(ctx, "kubectl", "get", "pods", "-n", b.namespace, "-o", "name").Output()
	return strings.Fields(string(out)), err
}

// harness has workspaces on a volume that this host and the pods share.
type harness struct {
	sandboxtest.Local

	bed bed
}

// Dir returns a directory whose owner has a UID that pods may have.
func (h harness) Dir() (string, func() error, error) {
	dir, remove, err := h.Local.Dir()
	if err == nil && os.Geteuid() == 0 {
		err = os.Chown(dir, 1000, 1000)
	}
	return dir, remove, err
}

func (h harness) Spec(dir string) sandbox.Spec {
	spec := h.Local.Spec(dir)
	spec.Volumes = []sandbox.Volume{{Name: "work", Target: h.Base}}
	return spec
}

func (h harness) Residue(ctx context.Context) ([]string, error) {
	pods, err := h.bed.pods(ctx)
	if err != nil {
		return nil, err
	}
	lines, err := h.Local.Residue(ctx)
	return append(lines, pods...), err
}

// Internet returns a program that makes an Internet socket.
func (h harness) Internet() []string {
	return []string{"perl", "-MSocket", "-e", internet + `internet(PF_INET, SOCK_STREAM) or internet(PF_INET6, SOCK_DGRAM) or exit 1`}
}

func Test_Kube_Keeps_The_Contract(t *testing.T) {
	b := newBed(t)
	base := filepath.Join("/var/lib", b.namespace) // not a path that pods mount over
	if err := os.Mkdir(base, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	b.share(t, "work", base)
	t.Setenv("TMPDIR", t.TempDir()) // files of other processes are not counted as residue
	sandboxtest.Run(t, harness{Local: sandboxtest.Local{Backend: b.driver, Base: base, Resident: true}, bed: b}, os.Getenv("SANDBOX_REQUIRE"))
}
