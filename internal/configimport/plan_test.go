package configimport

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// tree makes a home directory with a project in it.
func tree(tb testing.TB) Host {
	tb.Helper()
	base, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	for _, file := range []string{
		".ssh/id", ".aws/credentials", ".cache/x", ".claude/x", "other/file", "private/a", "private/pub/b", "go/pkg/x", "notes/n",
		"project/src/main.go", "project/src/gen/out.go", "project/.env", "project/src/.env", "project/secrets/key", "project/secrets/pub/key",
		"project/pyproject.toml", "project/docs/a.md",
	} {
		file = filepath.Join(base, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	if err := os.Symlink("private", filepath.Join(base, "link")); err != nil {
		tb.Fatal(err)
	}
	return Host{Home: base, Dir: filepath.Join(base, "project")}
}

// Test_An_Imported_Policy_Forbids_What_The_Settings_Forbid resolves imported policies
// against real files.
func Test_An_Imported_Policy_Forbids_What_The_Settings_Forbid(t *testing.T) {
	t.Parallel()
	host := tree(t)
	for _, row := range []struct {
		name   string
		tool   Tool
		in     string
		access map[string]policy.Access // by path relative to home
	}{
		{"srt writes nowhere by default", SRT, `{}`, map[string]policy.Access{
			"project/src/main.go": policy.ReadOnly, ".cache/x": policy.ReadOnly, ".claude/x": policy.ReadOnly, "other/file": policy.ReadOnly, ".ssh/id": policy.Exclude,
		}},
		{"srt writes where it is allowed", SRT, `{"filesystem":{"allowWrite":["src","~/other"],"denyWrite":["src/gen"]}}`, map[string]policy.Access{
			"project/src/main.go": policy.ReadWrite, "project/src/gen/out.go": policy.ReadOnly, "other/file": policy.ReadWrite, "project/docs/a.md": policy.ReadOnly,
		}},
		{"a grant inside a denial is not given", SRT, `{"filesystem":{"allowWrite":[".","src/gen/out.go"],"denyWrite":["src"]}}`, map[string]policy.Access{
			"project/src/gen/out.go": policy.ReadOnly, "project/docs/a.md": policy.ReadWrite,
		}},
		{"nor through a link", SRT, `{"filesystem":{"allowWrite":["~/link/a","~/link/pub"],"denyWrite":["~/private"]}}`, map[string]policy.Access{
			"private/a": policy.ReadOnly, "private/pub/b": policy.ReadOnly,
		}},
		{"nor by a glob", SRT, `{"filesystem":{"allowWrite":[".","*/gen"],"denyWrite":["src"]}}`, map[string]policy.Access{
			"project/src/gen/out.go": policy.ReadOnly,
		}},
		{"nor where a glob denies", SRT, `{"filesystem":{"allowWrite":[".","src/.env",".env"],"denyWrite":["**/.env"]}}`, map[string]policy.Access{
			"project/.env": policy.ReadOnly, "project/src/.env": policy.ReadOnly,
		}},
		{"a hidden home shows the project only", SRT, `{"filesystem":{"denyRead":["~"],"allowRead":[".","~/notes"],"allowWrite":["."]}}`, map[string]policy.Access{
			"project/src/main.go": policy.ReadWrite, "other/file": policy.Exclude, "notes/n": policy.ReadOnly, ".cache/x": policy.Exclude,
		}},
		{"what is above home hides it too", SRT, `{"filesystem":{"denyRead":["~/.."],"allowRead":["."],"allowWrite":["src"]}}`, map[string]policy.Access{
			"project/src/main.go": policy.ReadWrite, "project/docs/a.md": policy.ReadOnly, "other/file": policy.Exclude,
		}},
		{"and the project, unless it is named", SRT, `{"filesystem":{"denyRead":["~"],"allowRead":["src"]}}`, map[string]policy.Access{
			"project/docs/a.md": policy.Exclude, "project/pyproject.toml": policy.Exclude, "other/file": policy.Exclude, "project/src/main.go": policy.ReadOnly,
		}},
		{"a glob hides what a preset shows", SRT, `{"filesystem":{"allowWrite":["."],"denyRead":["*.toml","~/.c*"]}}`, map[string]policy.Access{
			"project/pyproject.toml": policy.Exclude, ".cache/x": policy.Exclude, "project/src/main.go": policy.ReadWrite,
		}},
		{"what may not be written stays hidden", SRT, `{"filesystem":{"denyRead":["~","secrets"],"allowRead":["."],"allowWrite":["."],"denyWrite":["~/other","**/key","~/private/**"]}}`, map[string]policy.Access{
			"other/file": policy.Exclude, "project/secrets/key": policy.Exclude, "project/secrets/pub/key": policy.Exclude, "private/pub/b": policy.Exclude,
		}},
		{"reading again", SRT, `{"filesystem":{"allowWrite":["."],"denyRead":["~/private"],"allowRead":["~/private/pub"]}}`, map[string]policy.Access{
			"private/a": policy.Exclude, "private/pub/b": policy.ReadOnly,
		}},
		{"permissions hide at any depth", Claude, `{"permissions":{"deny":["Read(.env)","Read(./secrets/**)","Edit(docs/**)"]}}`, map[string]policy.Access{
			"project/.env": policy.Exclude, "project/src/.env": policy.Exclude, "project/secrets/key": policy.Exclude, "project/secrets/pub/key": policy.Exclude,
			"project/docs/a.md": policy.ReadOnly, "project/src/main.go": policy.ReadWrite, ".cache/x": policy.ReadWrite,
		}},
		{"permissions hide caches, too", Claude, `{"permissions":{"deny":["Read(~/*/**)"]},"sandbox":{"filesystem":{"allowWrite":["./src"]}}}`, map[string]policy.Access{
			".cache/x": policy.Exclude, ".claude/x": policy.Exclude, "project/docs/a.md": policy.Exclude, "go/pkg/x": policy.Exclude,
		}},
		{"permissions protect caches, too", Claude, `{"permissions":{"deny":["Edit(~/.c*/**)"]}}`, map[string]policy.Access{
			".cache/x": policy.ReadOnly, ".claude/x": policy.ReadOnly, "go/pkg/x": policy.ReadOnly, "project/src/main.go": policy.ReadWrite,
		}},
		{"no edits", Claude, `{"permissions":{"deny":["Edit"],"allow":["Write(~/other/**)"]}}`, map[string]policy.Access{
			"project/src/main.go": policy.ReadOnly, "other/file": policy.ReadOnly, ".cache/x": policy.ReadOnly,
		}},
		{"a sandbox writes to the project", Claude, `{"sandbox":{"enabled":true,"filesystem":{"allowWrite":["~/go/pkg"]}}}`, map[string]policy.Access{
			"project/src/main.go": policy.ReadWrite, "go/pkg/x": policy.ReadWrite, ".cache/x": policy.ReadOnly,
		}},
		{"in fence a denied read beats all", Fence, `{"filesystem":{"denyRead":["~/private"],"allowRead":["~/private/pub"],"allowWrite":[".","~/private/pub"]}}`, map[string]policy.Access{
			"private/pub/b": policy.Exclude, "project/src/main.go": policy.ReadWrite,
		}},
		{"in fence reads are denied", Fence, `{"filesystem":{"defaultDenyRead":true,"allowRead":["~/notes"],"allowWrite":["src"]}}`, map[string]policy.Access{
			"notes/n": policy.ReadOnly, "other/file": policy.Exclude, "project/src/main.go": policy.ReadWrite, "project/docs/a.md": policy.Exclude,
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			name := map[Tool]string{Claude: host.Dir + "/.claude/settings.json", SRT: host.Home + "/.srt-settings.json", Fence: host.Dir + "/fence.json"}[row.tool]
			r, err := Import(row.tool, []File{{name, []byte(row.in)}}, host)
			if err != nil {
				t.Fatal(err)
			}
			imported := sandbox.Layer{Name: policy.LayerGlobal, File: "imported", Trusted: true, Policy: r.Policy}
			plan, err := policy.Resolve(sandbox.Spec{
				Workspace: host.Dir, Home: host.Home, Env: []string{"PATH=/usr/bin:/bin"}, Layers: []sandbox.Layer{policy.Defaults(), imported},
			})
			if err != nil {
				t.Fatalf("%v\n%s", err, r.JSONC())
			}
			for path, want := range row.access {
				if got, rule := plan.Access(filepath.Join(host.Home, path)); got != want {
					t.Errorf("%s is %s by %+v, want %s\n%s", path, got, rule, want, r.JSONC())
				}
			}
		})
	}
}

func Test_Settings_Are_Found_In_Usual_Places(t *testing.T) {
	t.Parallel()
	host := Host{Home: "/h", Dir: "/h/p", ConfigHome: "/c", List: func(string) []string { return []string{".hidden.json", "10.json", "x.txt"} }}
	for _, row := range []struct {
		name string
		tool Tool
		want []string
	}{
		{"claude", Claude, []string{"/h/.claude/settings.json", "/h/p/.claude/settings.json", "/h/p/.claude/settings.local.json", managedDir() + "/managed-settings.json", managedDir() + "/managed-settings.d/10.json"}},
		{"srt", SRT, []string{"/h/.srt-settings.json"}},
		{"fence", Fence, []string{
			"/h/p/fence.jsonc", "/h/p/fence.json", "/h/fence.jsonc", "/h/fence.json", "/fence.jsonc", "/fence.json",
			"/c/fence/fence.jsonc", "/c/fence/fence.json", "/h/.fence.jsonc", "/h/.fence.json",
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := slices.Concat(host.Places(row.tool)...); !slices.Equal(got, row.want) {
				t.Errorf("got %q", got)
			}
		})
	}
}
