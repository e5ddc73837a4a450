package kube_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/sandboxtest"
)

// hostCases are the cases that need a workspace which this host shares with the pod.
var hostCases = []string{
	"the wall-clock limit kills the whole process tree", // another sandbox watches the workspace
	"cancel kills the whole process tree",
	"close kills what a command left running",
	"two sandboxes over one directory see each other's files",
	"a read-only path can be read and not be changed", // a copy has no read-only parts
	"a writable path below a read-only one can be changed",
	"an excluded path cannot be read or listed",              // it is not copied at all
	"a command sees no variable of the host",                 // but those that let git work in a copy
	"stat describes a file, a directory and a symbolic link", // directories of a claim have the set-group-ID bit
}

// persistentHarness creates persistent sandboxes.
type persistentHarness struct {
	sandboxtest.Local

	bed   bed
	count *atomic.Int64
}

func (h persistentHarness) Spec(dir string) sandbox.Spec {
	spec := h.Local.Spec(dir)
	spec.Name = "contract-" + strconv.FormatInt(h.count.Add(1), 10)
	spec.Target = dir
	return spec
}

func (h persistentHarness) SnapshotSpec(dir string) sandbox.Spec { return h.Spec(dir) }

func (h persistentHarness) ForkName() string { return "fork-" + strconv.FormatInt(h.count.Add(1), 10) }

func (h persistentHarness) Residue(ctx context.Context) ([]string, error) {
	out, err := exec.CommandContext(ctx, "kubectl", "get", "pods,pvc", "-n", h.bed.namespace, "-o", "name").Output()
	if err != nil {
		return nil, err
	}
	lines, err := h.Local.Residue(ctx)
	// This host is also the node, whose kubelet cleans up some time later.
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "mount ") })
	return append(lines, strings.Fields(string(out))...), err
}

// Internet is that of harness.
func (h persistentHarness) Internet() []string { return harness{}.Internet() }

func Test_A_Persistent_Pod_Keeps_The_Contract(t *testing.T) {
	b, d := newPersistentBed(t)
	base := filepath.Join("/var/lib", b.namespace) // not a path that pods mount over
	if err := os.Mkdir(base, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	t.Setenv("TMPDIR", t.TempDir()) // files of other processes are not counted as residue
	h := persistentHarness{Local: sandboxtest.Local{Backend: d, Base: base, Resident: true}, bed: b, count: new(atomic.Int64)}
	cases := slices.DeleteFunc(sandboxtest.Cases(), func(c sandboxtest.Case) bool { return slices.Contains(hostCases, c.Name) })
	if n := len(sandboxtest.Cases()) - len(cases); n != len(hostCases) {
		t.Errorf("%d of %d names are those of cases of the contract", n, len(hostCases))
	}
	sandboxtest.RunCases(t, h, cases)
}
