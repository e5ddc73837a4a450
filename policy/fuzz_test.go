package policy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/policy/internal/treetest"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// fuzzPaths are the paths of the fuzz target's rules, below the workspace.
var fuzzPaths = []string{
	"a", "a/b", "a/b/f", "a/c", "link", "link/f", "up", "*", "?", "a/*", "[ab]", "a/[b-c]", "[x]", "new\nline", "./a//b/", "a/../a",
	"link/../c", ".", "missing", "missing/x", "dangling", "-d", "%s", "a/b/..", "*/f", "{a,x}", "a/{b,c}", "a/b/f/x", "..", "~",
}

// fuzzTree is the small tree that they are resolved against.
var fuzzTree = []string{
	"home/ws/a/b/f", "home/ws/a/c/g", "home/ws/x", "home/ws/[x]", "home/ws/new\nline", "home/ws/link -> a/b", "home/ws/up -> ../ws/a",
	"home/ws/dangling -> gone", "home/ws/-d", "home/ws/%s",
}

// FuzzResolvePaths compares plans with a naive reference. For each path that exists, the reference finds the rules that match it
// with the standard library's globs and links, and chooses among them as the documentation says.
//
// Each pair of bytes is a rule: its path, and its access and layer.
func FuzzResolvePaths(f *testing.F) {
	f.Add([]byte{0, 0, 1, 1})
	f.Add([]byte{7, 2, 0, 5, 4, 9, 2, 3})
	f.Add([]byte{28, 1, 29, 4, 17, 7, 3, 2, 5, 0})
	base, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	made := false
	f.Fuzz(func(t *testing.T, data []byte) {
		if !made {
			treetest.Make(t, base, fuzzTree...)
			made = true
		}
		ws := filepath.Join(base, "home/ws")
		rules := fuzzRules(data)
		spec := sandbox.Spec{Workspace: ws, Home: filepath.Join(base, "home"), Layers: fuzzLayers(rules)}
		p, err := Resolve(spec)
		if err != nil {
			if sandbox.CodeOf(err) != sandbox.Invalid || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%v", err)
			}
			return
		}
		checkPlan(t, p)
		for _, path := range everyPath(t, base) {
			want := naive(rules, ws, path)
			if got, rule := p.Access(path); got != want {
				t.Errorf("%q is %s by %+v, want %s\nrules %+v", path, got, rule, want, rules)
			}
		}
	})
}

// fuzzRule is one rule in the reference's own terms.
type fuzzRule struct {
	path   string
	access Access
	layer  int
}

func fuzzRules(data []byte) []fuzzRule {
	var out []fuzzRule
	for i := 0; i+1 < len(data) && len(out) < 12; i += 2 {
		out = append(out, fuzzRule{
			path:   fuzzPaths[int(data[i])%len(fuzzPaths)],
			access: Access(data[i+1] % 3),
			layer:  int(data[i+1]/3) % 3,
		})
	}
	return out
}

// fuzzLayers starts with @base and nothing else, so that protections of git and
// lint files do not take part.
func fuzzLayers(rules []fuzzRule) []sandbox.Layer {
	layers := make([]sandbox.Layer, 3)
	for i := range layers {
		layers[i] = sandbox.Layer{Name: LayerGlobal, File: "f.json", Trusted: true}
	}
	layers[0].Policy.Filesystem.Presets = []string{"!@all", "@base"}
	for _, r := range rules {
		fs := &layers[r.layer].Policy.Filesystem
		list := []*[]string{&fs.Exclude, &fs.RO, &fs.RW}[r.access]
		*list = append(*list, r.path)
	}
	return layers
}

func everyPath(t *testing.T, root string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type()&os.ModeSymlink == 0 {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return append(out, filepath.Join(root, "home/ws/not-there"))
}

// candidate is a rule that reaches a path; the greatest wins.
type candidate struct {
	depth, exact, layer, strict int
	access                      Access
}

func naive(rules []fuzzRule, ws, path string) Access {
	home := filepath.Dir(ws)
	best := candidate{access: Private} // the private /tmp around it
	if !strings.HasPrefix(path, "/tmp/") && !strings.HasPrefix(path, "/var/tmp/") {
		best.access = ReadOnly
	}
	consider := func(c candidate) {
		a := []int{c.depth, c.exact, c.layer, c.strict}
		b := []int{best.depth, best.exact, best.layer, best.strict}
		if slices.Compare(a, b) > 0 {
			best = c
		}
	}
	reach := func(target string, c candidate) {
		if path == target || strings.HasPrefix(path, target+"/") {
			c.depth = strings.Count(target, "/") + 1
			c.strict = 10 - int(c.access)
			consider(c)
		}
	}
	reach(ws, candidate{exact: 1, access: ReadWrite})
	reach(home, candidate{exact: 1, access: ReadOnly})
	for _, r := range rules {
		for _, m := range naiveMatches(r.path, home, ws) {
			reach(m.target, candidate{exact: m.exact, layer: r.layer + 1, access: r.access})
		}
	}
	return best.access
}

type naiveMatch struct {
	target string
	exact  int
}

// naiveMatches resolves a path as a shell's cd would, with the kernel's own rules.
func naiveMatches(pattern, home, ws string) []naiveMatch {
	if pattern == "~" {
		return []naiveMatch{{home, 1}}
	}
	var out []naiveMatch
	if target, err := filepath.EvalSymlinks(ws + "/" + pattern); err == nil {
		out = append(out, naiveMatch{target, 1})
	}
	patterns := map[string][]string{"{a,x}": {"a", "x"}, "a/{b,c}": {"a/b", "a/c"}}[pattern]
	if patterns == nil {
		patterns = []string{pattern}
	}
	if !strings.ContainsAny(pattern, "*?[{") {
		return out
	}
	for _, p := range patterns {
		matches, err := filepath.Glob(ws + "/" + p)
		if err != nil {
			continue
		}
		for _, m := range matches {
			if target, err := filepath.EvalSymlinks(m); err == nil {
				out = append(out, naiveMatch{target, 0})
			}
		}
	}
	return out
}
