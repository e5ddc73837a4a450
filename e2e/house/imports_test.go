// Package house_test holds the shape of the project itself: which package may
// import which, what is linked into the programs, and how big the guest may be.
package house_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/seed434b0696/agent-sandbox"

// arrows says what of this module a package and those below it may import, tests
// apart. The longest prefix counts. A new package needs a row: that is the moment
// to think about where it belongs.
var arrows = []struct {
	pkg     string
	imports []string
}{
	{"sandbox", nil},
	{"sandboxtest", []string{"sandbox"}},
	{"policy", []string{"sandbox", "egress", "policy"}},
	{"policy/jsonc", []string{"sandbox"}},
	{"policy/foreign", []string{"sandbox", "policy"}},
	{"guard", []string{"sandbox", "guard/filter"}},
	{"guard/filter", nil},
	{"guard/planned", []string{"sandbox", "policy", "guard", "guest"}},
	{"guest", []string{"sandbox", "guard", "guest", "stage", "transfer"}},
	{"transfer", []string{"sandbox"}},
	{"egress", []string{"sandbox", "egress"}},
	{"firewall", []string{"sandbox", "egress"}},
	{"gateway", []string{"sandbox", "policy", "egress"}},
	{"stage", []string{"sandbox", "stage"}},
	{"keep", []string{"sandbox", "guest", "stage", "keep"}},
	{"vfs", []string{"vfs"}},
	{"shell", []string{"vfs", "shell"}},
	{"shell/internal/vsh", []string{"vfs", "shell", "coreutils"}},
	{"shell/getopt", nil},
	{"shell/regex", nil},
	{"coreutils", []string{"vfs", "shell", "coreutils"}},
	{"curl", []string{"vfs", "shell"}},
	{"backend/bwrap", []string{"sandbox", "policy", "guard", "guest", "gateway", "stage", "backend/bwrap"}},
	{"backend/virtual", []string{"sandbox", "policy", "gateway", "stage", "vfs", "shell", "coreutils", "curl", "backend/virtual"}},
	{"backend/docker", []string{"sandbox", "policy", "guest", "guard", "gateway", "firewall", "images", "backend/docker"}},
	{"backend/kube", []string{"sandbox", "policy", "guest", "keep", "transfer", "backend/kube"}},
	{"backend/docker/engine", []string{"sandbox", "backend/docker/engine"}},
	{"images", []string{"sandbox", "backend/docker/engine", "images"}},
	{"repo", []string{"sandbox", "policy", "backend/docker/engine", "images", "repo"}},
	{"agent/internal/jsonl", nil},
	{"agent/internal/eventtest", []string{"agent/event"}},
	{"agent/event", []string{"agent/internal"}},
	{"agent/executor", []string{"sandbox", "agent/event", "agent/message"}},
	{"agent/claude", []string{"sandbox", "agent/event", "agent/executor", "agent/internal", "agent/message"}},
	{"agent/codex", []string{"sandbox", "guest", "agent/event", "agent/executor", "agent/internal"}},
	{"agent/cursor", []string{"sandbox", "guest", "agent/event", "agent/executor", "agent/internal"}},
	{"agent", []string{"sandbox", "transfer", "agent"}},
	{"agent/message", nil},
	{"agent/tool", nil},
	{"agent/connector", []string{"sandbox", "policy/jsonc", "agent/event"}},
	{"agent/assistant", []string{"sandbox", "policy", "agent/connector", "agent/message", "agent/skill", "agent/tool"}},
	{"agent/model", []string{"sandbox", "agent/connector", "agent/event", "agent/message", "agent/tool"}},
	{"agent/broker", []string{"sandbox", "agent/broker", "agent/connector", "agent/event"}},
	{"agent/broker/sse", nil},
	{"agent/broker/dialect", []string{"agent/broker/sse", "agent/connector", "agent/event"}},
	{"agent/mcp", []string{"sandbox", "agent/tool", "agent/mcp"}},
	{"agent/hook", []string{"sandbox", "agent/event", "agent/message"}},
	{"agent/store", []string{"sandbox", "agent/event", "agent/message"}},
	{"agent/transcript", []string{"sandbox", "agent"}},
	{"agent/skill", []string{"sandbox"}},
	{"cmd/sandbox-guest", []string{"sandbox", "guest", "transfer"}},
	{"cmd/agent-sandbox", []string{"sandbox", "sandboxtest", "policy", "guest", "stage", "keep", "gateway", "transfer", "backend", "images", "repo", "shell", "agent", "cmd/agent-sandbox"}},
	{"e2e", []string{"sandbox", "sandboxtest", "policy", "guest", "stage", "keep", "backend", "repo", "agent", "e2e"}},
	{"e2e/broker", []string{"agent/broker", "agent/connector"}},
	{"e2e/virtual", []string{"vfs", "shell", "coreutils"}},
	{"bench/broker", []string{"agent", "bench"}},
	{"bench", []string{"sandbox", "keep", "policy", "egress", "backend", "shell", "transfer", "vfs", "agent", "bench"}},
	{"examples", []string{"sandbox", "backend"}},
}

// listed is what `go list -json` says about a package.
type listed struct {
	ImportPath, Name string
	Standard         bool
	Imports, Deps    []string
}

func Test_Imports_Go_One_Way(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, goos := range []string{"linux", "darwin"} {
		for _, p := range list(t, goos, "-e", "./...") {
			seen++
			t.Run(goos+" "+inner(p.ImportPath), func(t *testing.T) {
				t.Parallel()
				allowed, ok := row(inner(p.ImportPath))
				if !ok {
					t.Fatalf("%s has no row in arrows: decide what it may import", p.ImportPath)
				}
				for _, imp := range p.Imports {
					if strings.HasPrefix(imp, module) && !allows(allowed, inner(imp)) {
						t.Errorf("%s imports %s; it may import only %q", p.ImportPath, imp, allowed)
					}
				}
			})
		}
	}
	if seen < 2*3 {
		t.Fatalf("go list found only %d packages", seen)
	}
}

func Test_The_Public_Library_Needs_Only_The_Standard_Library(t *testing.T) {
	t.Parallel()
	for _, p := range list(t, "linux", "-deps", "./sandbox") {
		if !p.Standard && p.ImportPath != module+"/sandbox" {
			t.Errorf("sandbox depends on %s", p.ImportPath)
		}
	}
}

func Test_Nothing_Imports_A_Program(t *testing.T) {
	t.Parallel()
	for _, p := range list(t, "linux", "-e", "./...") {
		for _, imp := range p.Imports {
			if strings.HasPrefix(imp, module+"/cmd/") && !strings.HasPrefix(p.ImportPath, module+"/cmd/") {
				t.Errorf("%s imports %s", p.ImportPath, imp)
			}
		}
	}
}

// row returns what the package may import.
func row(pkg string) (imports []string, ok bool) {
	best := -1
	for _, a := range arrows {
		if within(pkg, a.pkg) && len(a.pkg) > best {
			best, imports, ok = len(a.pkg), a.imports, true
		}
	}
	return imports, ok
}

func allows(allowed []string, pkg string) bool {
	return slices.ContainsFunc(allowed, func(a string) bool { return within(pkg, a) })
}

func within(pkg, prefix string) bool {
	return pkg == prefix || strings.HasPrefix(pkg, prefix+"/")
}

func inner(path string) string { return strings.TrimPrefix(path, module+"/") }

// list runs `go list -json` at the top of the module.
func list(t *testing.T, goos string, args ...string) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-json=ImportPath,Name,Standard,Imports,Deps"}, args...)...)
	cmd.Dir = top(t)
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Fatalf("go list %q: %v\n%s", args, err, exit.Stderr)
		}
		t.Fatalf("go list %q: %v", args, err)
	}
	var pkgs []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); err == io.EOF {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

// top is the module's directory.
func top(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		t.Fatal(err)
	}
	return dir
}
