// Package house_test checks the structure of the project: which packages may import which,
// which modules the programs link, and the size of the guest.
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

// arrows lists the packages of this module that a package and those below it may import,
// except in tests. The longest prefix counts. A new package needs a row, so that its author
// decides where it belongs.
var arrows = []struct {
	pkg     string
	imports []string
}{
	{"sandbox", nil},
	{"sandboxtest", []string{"sandbox"}},
	{"policy", []string{"sandbox", "internal/jsonc", "internal/nested", "internal/shellword", "policy"}},
	{"policy/internal/account", nil},
	{"policy/internal/filesystem", []string{
		"sandbox", "internal/jsonc", "internal/nested", "internal/shellword", "policy/internal/git", "policy/internal/glob", "policy/internal/hostpath",
		"policy/internal/layer", "policy/internal/preset", "policy/redact",
	}},
	{"policy/internal/glob", []string{"policy/internal/hostpath"}},
	{"policy/internal/git", []string{"sandbox", "policy/internal/hostpath"}},
	{"policy/internal/hostpath", nil},
	{"policy/internal/layer", []string{"sandbox", "internal/jsonc", "policy/hosts", "policy/internal/variable"}},
	{"policy/internal/preset", nil},
	{"policy/internal/program", nil},
	{"policy/internal/treetest", nil},
	{"policy/internal/variable", nil},
	{"policy/redact", []string{"policy/internal/git", "policy/internal/variable"}},
	{"policy/trust", []string{"sandbox", "internal/jsonc"}},
	{"policy/hosts", []string{"sandbox"}},
	{"internal/jsonc", []string{"sandbox"}},
	{"internal/mountinfo", nil},
	{"internal/nested", nil},
	{"internal/rlimit", nil},
	{"internal/configimport", []string{"sandbox", "policy", "internal/jsonc"}},
	{"internal/guard", []string{"sandbox", "internal/nested", "internal/seccomp"}},
	{"internal/seccomp", nil},
	{"internal/guard/planned", []string{"sandbox", "policy", "internal/guard", "internal/guest", "internal/nested"}},
	{"internal/landlock", nil},
	{"internal/guest", []string{"sandbox", "internal/seccomp", "internal/landlock", "internal/guard", "internal/guest", "internal/announced", "internal/hostfile", "internal/rlimit", "internal/stage", "internal/transfer"}},
	{"internal/guest/guesttest", []string{"internal/guest", "test/programs", "test/require"}},
	{"internal/hostfile", []string{"sandbox"}},
	{"internal/shellword", nil},
	{"internal/gitindex", []string{"internal/hostfile"}},
	{"internal/transfer", []string{"sandbox", "internal/hostfile"}},
	{"internal/announced", nil},
	{"internal/proxy/egress", []string{"sandbox", "policy/hosts", "internal/announced"}},
	{"internal/firewall", []string{"sandbox", "policy/hosts"}},
	{"internal/proxy", []string{"sandbox", "policy", "internal/hostfile", "internal/proxy/egress"}},
	{"internal/stage", []string{"sandbox", "internal/gitindex", "internal/mountinfo", "internal/stage"}},
	{"internal/stage/patch", nil},
	{"internal/stage/tree", []string{"internal/stage/patch"}},
	{"internal/agentsocket", nil},
	{"internal/sshagent", []string{"internal/agentsocket"}},
	{"internal/gpgagent", []string{"internal/agentsocket"}},
	{"internal/tmpstore", []string{"sandbox", "internal/stage"}},
	{"internal/persist", []string{"sandbox", "internal/guest", "internal/stage", "internal/persist"}},
	{"internal/worker", []string{"sandbox", "policy", "backend/bwrap/limits", "internal/guest", "internal/persist", "internal/rlimit", "internal/seccomp"}},
	{"memory", []string{"memory", "internal/memory"}},
	{"memory/vfs", []string{"internal/memory/tarfile"}},
	{"memory/shell", []string{
		"memory/vfs", "internal/memory/array", "internal/memory/char", "internal/memory/errno", "internal/memory/fd", "internal/memory/gate", "internal/memory/pattern",
		"internal/memory/printf", "internal/memory/process", "internal/memory/quote", "internal/memory/regex", "internal/memory/signal",
		"internal/memory/strftime", "internal/memory/syntax", "memory/shell/internal",
	}},
	{"memory/shell/internal", nil},
	{"memory/shell/internal/job", []string{"internal/memory/fd", "internal/memory/process", "internal/memory/signal"}},
	{"memory/shell/internal/trap", []string{"internal/memory/signal", "memory/shell/internal/option"}},
	{"internal/memory/array", nil},
	{"internal/memory/char", []string{"internal/memory/syntax"}},
	{"internal/memory/errno", nil},
	{"internal/memory/fd", []string{"memory/vfs", "internal/memory/errno", "internal/memory/gate"}},
	{"internal/memory/gate", nil},
	{"internal/memory/pattern", []string{"internal/memory/char"}},
	{"internal/memory/process", []string{"internal/memory/fd", "internal/memory/signal"}},
	{"internal/memory/printf", []string{"internal/memory/char", "internal/memory/quote"}},
	{"internal/memory/quote", []string{"internal/memory/char"}},
	{"internal/memory/signal", nil},
	{"internal/memory/tarfile", nil},
	{"internal/memory/system", []string{"memory/shell", "memory/vfs", "internal/memory/coreutils", "internal/memory/zone"}},
	{"internal/memory/loopback", nil},
	{"internal/memory/change", nil},
	{"internal/memory/store", []string{"memory/vfs"}},
	{"internal/memory/hostdir", []string{"memory/vfs"}},
	{"internal/memory/syntax", nil},
	{"internal/memory/zone", nil},
	{"internal/memory/vsh", []string{"memory", "internal/memory"}},
	{"internal/memory/getopt", nil},
	{"internal/memory/regex", nil},
	{"internal/memory/coreutils", []string{"memory", "internal/memory"}},
	{"internal/memory/coreutils/programtest", []string{"memory", "internal/memory", "test/require"}},
	{"internal/memory/coreutils/scripttest", []string{"memory", "internal/memory", "test/require"}},
	{"internal/memory/coreutils/program", []string{"memory", "internal/memory/getopt", "internal/memory/regex", "internal/memory/zone", programs + "choice", programs + "pathname", programs + "quoting", programs + "sizes"}},
	{"internal/memory/strftime", nil},
	{"internal/memory/curl", []string{"memory", "internal/memory/getopt"}},
	{"backend/bwrap", []string{"sandbox", "policy", "internal/guard", "internal/landlock", "internal/guest", "internal/proxy", "internal/rlimit", "internal/shellword", "internal/stage", "internal/seccomp", "internal/mountinfo", "internal/agentsocket", "internal/gpgagent", "internal/hostfile", "internal/sshagent", "internal/tmpstore", "backend/bwrap"}},
	{"backend/virtual/workspace", []string{"internal/memory/change", "internal/stage/patch"}},
	{"backend/virtual", []string{"sandbox", "policy", "internal/proxy", "internal/stage/patch", "internal/worker", "memory", "internal/memory", "backend/virtual"}},
	{"backend/docker", []string{"sandbox", "policy", "internal/guest", "internal/guard", "internal/landlock", "internal/proxy", "internal/firewall", "internal/images", "internal/engine", "internal/seccomp", "backend/docker"}},
	{"backend/kube", []string{"sandbox", "policy", "internal/guest", "internal/persist", "internal/transfer", "backend/kube"}},
	{"backend/kube/internal/cluster", []string{"sandbox", "internal/guest/session", "backend/kube/internal/names"}},
	{"backend/kube/internal/names", nil},
	{"internal/engine/job", []string{"sandbox"}},
	{"backend/kube/internal/podspec", []string{"sandbox", "policy", "internal/guest/layout", "internal/guest/podinit", "internal/guest/podstore", "backend/kube/internal/cluster", "backend/kube/internal/names"}},
	{"backend/kube/internal/record", []string{"sandbox", "policy", "internal/persist", "backend/kube/internal/cluster", "backend/kube/internal/names", "backend/kube/internal/podspec"}},
	{"internal/engine", []string{"sandbox", "internal/engine"}},
	{"internal/images", []string{"sandbox", "internal/engine/job", "internal/images"}},
	{"internal/repo", []string{"sandbox", "policy", "internal/engine/job", "internal/images", "internal/repo", "internal/shellword"}},
	{"internal/agent/jsonl", nil},
	{"internal/agent/eventtest", []string{"agent/event"}},
	{"agent/event", []string{"internal/agent"}},
	{"internal/agent/executor", []string{"sandbox", "agent/event", "agent/message"}},
	{"internal/agent/claude", []string{"sandbox", "agent/event", "internal/agent/executor", "internal/agent", "agent/message"}},
	{"internal/agent/codex", []string{"sandbox", "internal/guest", "agent/event", "internal/agent/executor", "internal/agent"}},
	{"internal/agent/cursor", []string{"sandbox", "internal/guest", "agent/event", "internal/agent/executor", "internal/agent"}},
	{"agent", []string{"sandbox", "internal/hostfile", "internal/transfer", "internal/agent", "agent"}},
	{"agent/message", nil},
	{"internal/agent/tool", nil},
	{"agent/connector", []string{"sandbox", "internal/jsonc", "agent/event"}},
	{"agent/assistant", []string{"sandbox", "policy", "agent/connector", "agent/message", "agent/skill", "internal/agent/tool", "internal/jsonc"}},
	{"internal/agent/model", []string{"sandbox", "agent/connector", "agent/event", "agent/message", "internal/agent/tool"}},
	{"internal/agent/broker", []string{"sandbox", "internal/agent/broker", "agent/connector", "agent/event"}},
	{"internal/agent/broker/sse", nil},
	{"internal/agent/broker/dialect", []string{"internal/agent/broker/sse", "agent/connector", "agent/event"}},
	{"internal/agent/mcp", []string{"sandbox", "internal/agent/tool", "internal/agent/mcp"}},
	{"internal/agent/hook", []string{"sandbox", "agent/event", "agent/message", "internal/agent/hook/protocol"}},
	{"internal/agent/hook/interpreter", []string{"sandbox", "internal/rlimit", "internal/agent/hook/protocol"}},
	{"internal/agent/hook/protocol", []string{"sandbox"}},
	{"internal/agent/store", []string{"sandbox", "agent/event", "agent/message"}},
	{"internal/agent/transcript", []string{"sandbox", "agent", "internal/agent"}},
	{"agent/skill", []string{"sandbox"}},
	{"cmd/sandbox-guest", []string{"sandbox", "internal/guest", "internal/transfer"}},
	{"cmd/agent-sandbox-hooks", []string{"sandbox", "internal/agent/hook/interpreter"}},
	{"cmd/agent-sandbox", []string{"sandbox", "internal/cli"}},
	{"build/man", []string{"internal/cli"}},
	{"internal/cli", []string{"sandbox", "policy", "internal/guest", "internal/cli"}},
	{"internal/cli/console", []string{"sandbox", "internal/jsonc"}},
	{"internal/cli/program", []string{"sandbox"}},
	{"internal/cli/host", []string{"sandbox", "policy", "backend", "internal/guest/layout", "internal/gitindex", "internal/hostfile", "internal/persist", "internal/shellword", "internal/stage", "internal/tmpstore", "internal/cli/console", "internal/cli/program"}},
	{"internal/cli/inventory", []string{"sandbox", "backend/kube", "internal/persist", "internal/proxy", "internal/cli/console", "internal/cli/host", "internal/cli/program"}},
	{"internal/cli/persistent", []string{"sandbox", "policy", "internal/persist", "internal/proxy", "internal/repo", "internal/cli"}},
	{"internal/cli/files", []string{"sandbox", "policy", "internal/hostfile", "internal/transfer", "internal/cli"}},
	{"internal/cli/snapshots", []string{"sandbox", "policy", "internal/persist", "internal/cli"}},
	{"internal/cli/changes", []string{"sandbox", "policy", "backend/virtual", "internal/persist", "internal/stage", "internal/cli"}},
	{"internal/cli/run", []string{"sandbox", "policy", "backend/virtual", "memory/shell", "internal/hostfile", "internal/jsonc", "internal/shellword", "internal/stage", "internal/cli"}},
	{"internal/cli/policies", []string{"sandbox", "policy", "agent/assistant", "internal/configimport", "internal/hostfile", "internal/repo", "internal/cli"}},
	{"internal/cli/repository", []string{"sandbox", "policy", "internal/engine", "internal/images", "internal/persist", "internal/repo", "internal/shellword", "internal/cli"}},
	{"internal/cli/assistants", []string{"sandbox", "policy", "agent", "internal/agent", "internal/hostfile", "internal/cli"}},
	{"internal/cli/diagnosis", []string{"sandbox", "sandboxtest", "internal/cli"}},
	{"test/e2e", []string{"sandbox", "sandboxtest", "policy", "internal/guest", "internal/stage", "internal/persist", "backend", "internal/repo", "agent", "internal/agent", "internal/landlock", "internal/seccomp", "test/e2e"}},
	{"test/e2e/broker", []string{"internal/agent/broker", "agent/connector", "test/e2e/model"}},
	{"test/e2e/virtual", []string{"memory", "internal/memory"}},
	{"test/docs", nil},
	{"test/deadline", nil},
	{"test/require", []string{"sandbox", "sandboxtest"}},
	{"test/rounds", nil},
	{"test/plainuser", nil},
	{"test/tcpserver", nil},
	{"test/programs", []string{"test/programs"}},
	{"test/bench/broker", []string{"agent", "internal/agent", "test/bench"}},
	{"test/bench", []string{"sandbox", "internal/persist", "policy", "internal/proxy/egress", "backend", "memory", "internal", "agent", "test/bench"}},
	{"examples", []string{"sandbox", "backend", "memory"}},
}

// listed is the output of `go list -json` for a package.
type listed struct {
	ImportPath, Name string
	Standard         bool
	Imports, Deps    []string
}

func Test_Packages_Import_Only_Listed_Packages(t *testing.T) {
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

// programs is the directory of the families of programs and of their shared packages.
const programs = "internal/memory/coreutils/"

func Test_Families_Of_Programs_Do_Not_Import_Each_Other(t *testing.T) {
	t.Parallel()
	var families []string
	for _, p := range list(t, "linux", "./"+strings.TrimSuffix(programs, "/")) {
		for _, imp := range p.Imports {
			if strings.HasPrefix(inner(imp), programs) {
				families = append(families, inner(imp))
			}
		}
	}
	if len(families) < 20 {
		t.Fatalf("package coreutils imports %d families: %q", len(families), families)
	}
	for _, p := range list(t, "linux", "./"+programs+"...") {
		if inner(p.ImportPath)+"/" == programs {
			continue
		}
		for _, imp := range p.Imports {
			own := within(inner(p.ImportPath), inner(imp)) || within(inner(imp), inner(p.ImportPath))
			if slices.Contains(families, inner(imp)) && !own {
				t.Errorf("%s imports the family %s; what two families share is a package of its own", p.ImportPath, imp)
			}
		}
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

// row returns the packages that the package may import.
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
	dir, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		t.Fatal(err)
	}
	return dir
}
