package policy

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/policy/internal/hostpath"
	"github.com/seed434b0696/agent-sandbox/policy/internal/treetest"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// home makes a home directory with a workspace in it and returns a Spec for them.
func home(t *testing.T, entries ...string) sandbox.Spec {
	t.Helper()
	dir := treetest.Dir(t)
	treetest.Make(t, dir, append([]string{"home/ws/"}, entries...)...)
	return sandbox.Spec{
		Workspace: filepath.Join(dir, "home/ws"),
		Home:      filepath.Join(dir, "home"),
		Env:       []string{"PATH=/usr/bin:/bin"},
	}
}

func fsPolicy(f sandbox.Filesystem) sandbox.Policy { return sandbox.Policy{Filesystem: f} }

func mustResolve(t *testing.T, spec sandbox.Spec) *Plan {
	t.Helper()
	p, err := Resolve(spec)
	if err != nil {
		t.Fatal(err)
	}
	checkPlan(t, p)
	return p
}

// checkPlan holds what is true of every plan.
func checkPlan(t *testing.T, p *Plan) {
	t.Helper()
	if !slices.IsSortedFunc(p.Mounts, func(a, b Mount) int { return strings.Compare(a.Path, b.Path) }) {
		t.Errorf("mounts are not sorted: %v", p.Mounts)
	}
	for i, m := range p.Mounts {
		r := p.Rules[m.Rule]
		if i > 0 && p.Mounts[i-1].Path == m.Path {
			t.Errorf("two mounts at %s", m.Path)
		}
		if r.Path != m.Path || r.Access != m.Access || !r.Applied || r.Missing {
			t.Errorf("mount %+v names the rule %+v", m, r)
		}
		around, _ := p.Access(filepath.Dir(m.Path))
		if (around == m.Access) != m.Pin {
			t.Errorf("mount %+v inside %s", m, around)
		}
		if m.Pin && m.Access != ReadWrite {
			t.Errorf("pin %+v is not writable", m)
		}
		if hostpath.ReservedRoot(m.Path) != "" || m.Path == "/" {
			t.Errorf("mount %+v is not ours", m)
		}
	}
	for _, g := range p.Guards {
		if access, _ := p.Access(g.Dir); access != ReadWrite {
			t.Errorf("guard %+v in a directory that is %s", g, access)
		}
	}
}

func hasGuard(p *Plan, path string) bool {
	return slices.ContainsFunc(p.Guards, func(g Guard) bool { return g.Dir == filepath.Dir(path) && g.isForbidden(filepath.Base(path)) })
}

func Test_The_Deeper_And_More_Exact_Rule_Wins(t *testing.T) {
	type layer = sandbox.Filesystem
	cases := []struct {
		name   string
		layers []layer
		path   string // below the workspace
		want   Access
	}{
		{"the workspace is writable", nil, "a", ReadWrite},
		{"home is read-only", nil, "../x", ReadOnly},
		{"a preset's secret is hidden", nil, "../.ssh/id", Exclude},
		{"a deeper path wins over a shallower one", []layer{{RO: []string{"a"}, RW: []string{"a/b"}}}, "a/b/f", ReadWrite},
		{"and leaves the rest of the shallower one", []layer{{RO: []string{"a"}, RW: []string{"a/b"}}}, "a/f", ReadOnly},
		{"a deeper earlier layer wins over a shallower later one", []layer{{Exclude: []string{"a/b"}}, {RW: []string{"a"}}}, "a/b/f", Exclude},
		{"exact beats glob in the same layer", []layer{{Exclude: []string{"a*"}, RW: []string{"a"}}}, "a/f", ReadWrite},
		{"exact beats a glob of a later layer", []layer{{RO: []string{"a"}}, {RW: []string{"?"}}}, "a/f", ReadOnly},
		{"exact beats a glob of an earlier layer", []layer{{Exclude: []string{"?"}}, {RO: []string{"a"}}}, "a/f", ReadOnly},
		{"a deeper glob beats a shallower exact path", []layer{{RO: []string{"a"}, RW: []string{"a/*"}}}, "a/b/f", ReadWrite},
		{"at the same path the later layer wins", []layer{{Exclude: []string{"a"}}, {RW: []string{"a"}}}, "a/f", ReadWrite},
		{"at the same path the later layer wins, the other way", []layer{{RW: []string{"a"}}, {Exclude: []string{"a"}}}, "a/f", Exclude},
		{"in one layer exclude beats ro and rw", []layer{{Exclude: []string{"a"}, RO: []string{"a"}, RW: []string{"a"}}}, "a/f", Exclude},
		{"in one layer ro beats rw", []layer{{RO: []string{"a"}, RW: []string{"a"}}}, "a/f", ReadOnly},
		{"globs of one layer too", []layer{{RO: []string{"a*"}, RW: []string{"?"}}}, "a/f", ReadOnly},
		{"the later of two globs", []layer{{RO: []string{"a*"}}, {RW: []string{"?"}}}, "a/f", ReadWrite},
		{"a user's path opens a preset's secret", []layer{{RO: []string{"~/.ssh"}}}, "../.ssh/id", ReadOnly},
		{"a file inside a secret", []layer{{RO: []string{"~/.ssh/id"}}}, "../.ssh/id", ReadOnly},
		{"a link and its target are one path", []layer{{RO: []string{"link"}, RW: []string{"a/f"}}}, "a/b/f", ReadOnly},
		{"dots and slashes are one path", []layer{{RO: []string{".//a/../a/b/"}}}, "a/b/f", ReadOnly},
		{"dot-dot is taken after a link", []layer{{RO: []string{"link/../f"}}}, "a/f", ReadOnly},
		{"braces", []layer{{RO: []string{"{a,c}/b"}}}, "a/b/f", ReadOnly},
		{"braces across directories", []layer{{RO: []string{"{a/b,x/y}"}}}, "a/b/f", ReadOnly},
		{"two stars cross directories", []layer{{Exclude: []string{"**/f"}}}, "a/b/f", Exclude},
		{"a glob finds hidden files", []layer{{Exclude: []string{"*"}}}, ".hidden", Exclude},
		{"a glob finds names that are not UTF-8", []layer{{Exclude: []string{"**/key"}}}, "b\xff/key", Exclude},
		{"a name with metacharacters is itself", []layer{{Exclude: []string{"[x]"}}}, "[x]", Exclude},
		{"and the glob that it looks like", []layer{{Exclude: []string{"[x]"}}}, "x", Exclude},
		{"a name that is not a valid glob but exists", []layer{{Exclude: []string{"odd[name"}}}, "odd[name", Exclude},
		{"a newline in a name", []layer{{Exclude: []string{"new\nline"}}}, "new\nline", Exclude},
		{"a percent sign and a leading dash", []layer{{Exclude: []string{"-%s"}}}, "-%s", Exclude},
		{"unicode", []layer{{Exclude: []string{"日本"}}}, "日本", Exclude},
		{"a backslash alone is a character", []layer{{Exclude: []string{`back\slash`}}}, `back\slash`, Exclude},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			spec := home(t, "home/.ssh/id", "home/x", "home/ws/a/b/f", "home/ws/a/f", "home/ws/link -> a/b", "home/ws/.hidden",
				"home/ws/b\xff/key", "home/ws/[x]", "home/ws/x", "home/ws/odd[name", "home/ws/new\nline", "home/ws/-%s",
				"home/ws/日本", `home/ws/back\slash`)
			for _, l := range c.layers {
				spec.Layers = append(spec.Layers, sandbox.Layer{Name: "global", Trusted: true, Policy: fsPolicy(l)})
			}
			p := mustResolve(t, spec)
			path := filepath.Join(spec.Workspace, c.path)
			if got, rule := p.Access(path); got != c.want {
				t.Errorf("%s is %s by %+v, want %s", path, got, rule, c.want)
			}
			if e := p.ExplainPath(path); e.Verdict != c.want.String() {
				t.Errorf("explained as %s", e.Verdict)
			}
		})
	}
}

func Test_Bad_Paths_Are_Refused_With_Their_Place(t *testing.T) {
	long := strings.Repeat("d/", 2100)
	cases := []struct {
		name string
		fs   sandbox.Filesystem
		want string
	}{
		{"an invalid glob", sandbox.Filesystem{RO: []string{"ok", "a[b"}}, `p.json:8: filesystem.ro[1]: "a[b": invalid glob`},
		{"dot-dot after a star", sandbox.Filesystem{RO: []string{"ok", "*/../x"}}, "p.json:8: filesystem.ro[1]"},
		{"a glob with too many alternatives", sandbox.Filesystem{RW: []string{strings.Repeat("{a,b}", 30)}}, "too many alternatives"},
		{"a glob that matches the machine", sandbox.Filesystem{RW: []string{"/usr/**"}}, "name a directory instead"},
		{"a reserved path", sandbox.Filesystem{RW: []string{"/run/user"}}, `p.json:9: filesystem.rw[0]: "/run/user": /run belongs to the sandbox`},
		{"a reserved path behind a link", sandbox.Filesystem{RW: []string{"/var/run"}}, "p.json:9: filesystem.rw[0]"},
		{"a reserved path behind dots", sandbox.Filesystem{RW: []string{"/usr/../proc/1"}}, "/proc belongs to the sandbox"},
		{"a link of one's own into a reserved path", sandbox.Filesystem{RW: []string{"dev"}}, "/dev belongs to the sandbox"},
		{"the root directory", sandbox.Filesystem{RW: []string{"/"}}, "the root directory can only be read-only"},
		{"a loop of links", sandbox.Filesystem{RW: []string{"loop"}}, "too many levels of symbolic links"},
		{"a path of 4,200 bytes", sandbox.Filesystem{RW: []string{long}}, "file name too long"},
		{"a name of 300 bytes", sandbox.Filesystem{RW: []string{strings.Repeat("n", 300)}}, "file name too long"},
		{"an unknown preset", sandbox.Filesystem{Presets: []string{"@nope"}}, "p.json:7: filesystem.presets[0]: unknown preset: @nope"},
		{"a socket that is a file", sandbox.Filesystem{Sockets: []string{"ok"}}, "is not a socket"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			spec := home(t, "home/ws/ok", "home/ws/loop -> loop", "home/ws/dev -> /dev")
			spec.Layers = []sandbox.Layer{{Name: "global", File: "p.json", Trusted: true, Policy: fsPolicy(c.fs), Lines: map[string]int{
				"filesystem.presets[0]": 7, "filesystem.ro[1]": 8, "filesystem.rw[0]": 9, "filesystem.sockets[0]": 10,
			}}}
			_, err := Resolve(spec)
			if !errors.Is(err, sandbox.ErrInvalid) {
				t.Fatalf("error %v has code %s", err, sandbox.CodeOf(err))
			}
			if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q, want %q in one line", err, c.want)
			}
		})
	}
}

func Test_Bad_Paths_Of_Presets_Are_Left_Out(t *testing.T) {
	spec := home(t, "home/.ssh -> .ssh", "home/.cache -> /run", "home/.npm -> nowhere", "home/.aws")
	p := mustResolve(t, spec)
	if got, _ := p.Access(filepath.Join(spec.Home, ".aws")); got != Exclude {
		t.Errorf("the rest is %s", got)
	}
}

func Test_Directories_Of_A_Spec_Must_Exist(t *testing.T) {
	dir := treetest.Dir(t)
	treetest.Make(t, dir, "file", "home/.ssh/", "link -> home")
	cases := []struct {
		name string
		spec sandbox.Spec
		code sandbox.Code
	}{
		{"a workspace that does not exist", sandbox.Spec{Workspace: dir + "/nope"}, sandbox.NotFound},
		{"a workspace that is a file", sandbox.Spec{Workspace: dir + "/file"}, sandbox.Invalid},
		{"a relative workspace", sandbox.Spec{Workspace: "x"}, sandbox.Invalid},
		{"a workspace in /proc", sandbox.Spec{Workspace: "/proc/self"}, sandbox.Invalid},
		{"a start directory in /dev", sandbox.Spec{Workspace: dir, Dir: "/dev"}, sandbox.Invalid},
		{"a start directory below a secret", sandbox.Spec{Workspace: "/usr", Home: dir + "/home", Dir: dir}, ""},
		{"a start directory that is not visible", sandbox.Spec{Dir: dir}, sandbox.Invalid},
		{"a relative home", sandbox.Spec{Home: "x"}, sandbox.Invalid},
		{"a home that does not exist", sandbox.Spec{Home: "/nonexistent"}, ""},
		{"a workspace behind a link", sandbox.Spec{Workspace: dir + "/link"}, ""},
		{"nothing at all", sandbox.Spec{}, ""},
		{"the root directory, which stays read-only", sandbox.Spec{Workspace: "/"}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p, err := Resolve(c.spec)
			if sandbox.CodeOf(err) != c.code {
				t.Fatalf("error %v", err)
			}
			if err == nil {
				checkPlan(t, p)
			}
		})
	}
}

func Test_Zero_Spec_Hides_Home_And_Writes_Nowhere(t *testing.T) {
	home := "/usr/share" // any directory that exists outside /tmp
	p := mustResolve(t, sandbox.Spec{Env: []string{"HOME=" + home}})
	if p.Dir != "/tmp" || p.Workspace != "" || p.Network.Mode != sandbox.NetworkNone {
		t.Errorf("plan %+v", p)
	}
	for _, m := range p.Mounts {
		if m.Access == ReadWrite || m.Access == ReadOnly {
			t.Errorf("mount %+v", m)
		}
	}
	if got, _ := p.Access(home + "/x"); got != Exclude {
		t.Errorf("home is %s", got)
	}
	if got, _ := p.Access("/usr/bin"); got != ReadOnly {
		t.Errorf("the system is %s", got)
	}
}

func Test_Missing_Paths_Are_Guarded(t *testing.T) {
	spec := home(t, "home/ws/dangling -> gone", "home/ws/sub/")
	spec.Policy = fsPolicy(sandbox.Filesystem{
		RO:      []string{"later.txt", "sub/deep/er", "dangling", "~/outside"},
		Exclude: []string{"secret", "none/*.key"},
		RW:      []string{"output", "sub/deep/er/ok/x"},
	})
	p := mustResolve(t, spec)
	ws := spec.Workspace
	for _, path := range []string{"later.txt", "secret", "dangling", "gone", "sub/deep/er/no", "sub/deep/er/ok/y"} {
		if !hasGuard(p, filepath.Join(ws, path)) {
			t.Errorf("%s may come into being", path)
		}
	}
	for _, path := range []string{"output", "../outside", "sub/deep", "sub/deep/er", "sub/deep/er/ok", "sub/deep/er/ok/x", "none"} {
		if hasGuard(p, filepath.Join(ws, path)) {
			t.Errorf("%s is guarded", path)
		}
	}
	for _, r := range p.Rules {
		if r.Pattern == "output" && (!r.Missing || r.Applied) {
			t.Errorf("rule %+v", r)
		}
	}
}

func Test_Resolution_Is_Deterministic(t *testing.T) {
	spec := messySpec(t)
	first := mustResolve(t, spec)
	for range 20 {
		if again := mustResolve(t, spec); !reflect.DeepEqual(first, again) {
			t.Fatalf("two resolutions differ:\n%+v\n%+v", first, again)
		}
	}
}

func Test_Order_Inside_A_List_Does_Not_Matter(t *testing.T) {
	spec := messySpec(t)
	want := verdicts(mustResolve(t, spec))
	rng := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same shuffles every time
	for range 50 {
		for _, list := range [][]string{spec.Policy.Filesystem.RO, spec.Policy.Filesystem.RW, spec.Policy.Filesystem.Exclude} {
			rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		}
		if got := verdicts(mustResolve(t, spec)); !slices.Equal(got, want) {
			t.Fatalf("after shuffling %+v:\n%v\nwant\n%v", spec.Policy.Filesystem, got, want)
		}
	}
}

func messySpec(t *testing.T) sandbox.Spec {
	t.Helper()
	spec := home(t, "home/.ssh/", "home/.cargo/bin/", "home/.claude/settings.json", "home/ws/a/b/c/f", "home/ws/.vscode/x",
		"home/ws/n1/.git/HEAD", "home/ws/n2/.git/HEAD", "home/ws/l -> a/b", "home/ws/bare/HEAD", "home/ws/bare/objects/",
		"home/ws/bare/refs/", "home/ws/bare/hooks/")
	spec.Policy = fsPolicy(sandbox.Filesystem{
		RO:      []string{"a", "./a", "a/b/*", "missing", "l"},
		RW:      []string{"a/b", "**/f", "a/*", ".vscode/y"},
		Exclude: []string{"a/b/c", "n?/x", "zzz"},
	})
	return spec
}

// verdicts returns the decisions of a plan, without their texts.
func verdicts(p *Plan) []string {
	var out []string
	for _, m := range p.Mounts {
		out = append(out, m.Access.String()+" "+m.Path)
	}
	for _, g := range p.Guards {
		out = append(out, fmt.Sprintf("guard %q %q %q", g.Dir, g.Name, g.Except))
	}
	return append(out, p.NoRepos...)
}

func Test_Backends_Without_Images_Refuse_What_Needs_An_Image(t *testing.T) {
	t.Parallel()
	for _, container := range []sandbox.Container{{Image: "x"}, {Target: "/x"}, {Volumes: []sandbox.Volume{{Name: "x", Target: "/x"}}}, {Firewall: []string{"x"}}} {
		if err := CheckHostRoot(sandbox.Spec{Container: container}); sandbox.CodeOf(err) != sandbox.Unsupported {
			t.Errorf("%+v: %v", container, err)
		}
	}
	if err := CheckHostRoot(sandbox.Spec{Workspace: "/x", Stage: "s"}); err != nil {
		t.Error(err)
	}
}

// BenchmarkResolve resolves the default policy for this repository.
func BenchmarkResolve(b *testing.B) {
	dir, err := filepath.Abs("..")
	if err != nil {
		b.Fatal(err)
	}
	spec := sandbox.Spec{Workspace: dir, Env: os.Environ()}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Resolve(spec); err != nil {
			b.Fatal(err)
		}
	}
}
