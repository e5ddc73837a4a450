package house_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite modules.golden")

// guestLimit is the largest permitted size of the guest, stripped, on amd64.
const guestLimit = 6 << 20

// Each module that a program links must be in this list, so that a new dependency
// is a decision.
func Test_Linked_Modules_Are_The_Golden_List(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, p := range []struct{ name, dir, tags string }{
		{"agent-sandbox", "cmd/agent-sandbox", ""},
		{"agent-sandbox-memory", "cmd/agent-sandbox", "memory"},
		{"agent-sandbox-kube", "cmd/agent-sandbox", "kube"},
		{"agent-sandbox-agent", "cmd/agent-sandbox", "kube,agent"},
		{"agent-sandbox-hooks", "cmd/agent-sandbox-hooks", ""},
		{"sandbox-guest", "cmd/sandbox-guest", ""},
	} {
		for _, m := range modules(t, p.dir, p.tags) {
			fmt.Fprintf(&b, "%s %s\n", p.name, m)
		}
	}
	const golden = "modules.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		t.Errorf("linked modules changed; if meant, say why in docs/design/overview.md and run `go test ./test/e2e/house -update`\ngot:\n%swant:\n%s", got, want)
	}
}

// modules lists the modules, without versions (go.mod has those), that are linked
// into a program for Linux, sorted.
func modules(t *testing.T, program, tags string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-tags", tags, "-f", "{{with .Module}}{{.Path}}{{end}}", "./"+program)
	cmd.Dir = top(t)
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go list -deps ./%s: %v\n%s", program, err, out)
	}
	all := strings.Fields(string(out))
	slices.Sort(all)
	all = slices.Compact(all)
	if !slices.Contains(all, module) {
		t.Fatalf("go list does not name our own module for %s: %q", program, all)
	}
	return slices.DeleteFunc(all, func(m string) bool { return m == module })
}

func Test_The_Guest_Is_Small_And_Static(t *testing.T) {
	t.Parallel()
	for _, arch := range []string{"amd64", "arm64"} {
		t.Run(arch, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "sandbox-guest")
			cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", out, "./cmd/sandbox-guest")
			cmd.Dir = top(t)
			cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+arch, "CGO_ENABLED=0")
			if msg, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, msg)
			}
			size, interp := elfFacts(t, out)
			if size > guestLimit {
				t.Errorf("the guest has %d bytes, at most %d are allowed", size, guestLimit)
			}
			if interp {
				t.Error("the guest asks for a dynamic loader; inside the sandbox there may be none")
			}
		})
	}
}
