//go:build linux

package fuzz_test

import (
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/test/e2e/fuzz/calls"
)

// The number of tries of a race in a normal run, and in a long one, which also has a time limit.
const (
	fewTries  = 40
	manyTries = 10000
	raceTime  = 60 * time.Second
)

// raced are names that the world "lean" lacks, in directories that exist or that a command may create.
var raced = []string{ //nolint:gochecknoglobals // a table
	"{git}/hooks", "{git}/config.worktree", "{git}/commondir", "{git}/remotes", "{git}/modules", "{git}/worktrees", "{git}/info/attributes", "{git}/objects/info/alternates",
	".mcp.json", ".vscode", ".claude", ".envrc", ".husky", ".agent-sandbox.json", ".github/workflows", ".bashrc", ".gitmodules", "sub/nested/.mcp.json",
	"d/.git", "src/bare/objects", "{git}/d/.git", "{home}/.cache/d/.git",
}

// race is a call that is repeated while its path, or a link in the path, changes.
type race struct {
	name  string
	calls func(path string) []calls.Call // calls that create an entry at the path
}

// races returns all races.
func races() []race {
	file := calls.Call{Name: "openat", At: "cwd", Path: "source", Flags: unix.O_CREAT | unix.O_RDWR, Mode: 0o644, Reg: 1}
	return []race{
		{"openat", func(p string) []calls.Call {
			return []calls.Call{{Name: "openat", At: "cwd", Path: p, Flags: unix.O_CREAT | unix.O_RDWR, Mode: 0o644, Reg: 2}}
		}},
		{"openat, exclusive", func(p string) []calls.Call {
			return []calls.Call{{Name: "openat", At: "cwd", Path: p, Flags: unix.O_CREAT | unix.O_EXCL | unix.O_RDWR, Mode: 0o644, Reg: 2}}
		}},
		{"creat", func(p string) []calls.Call { return []calls.Call{{Name: "creat", Path: p, Mode: 0o644, Reg: 2}} }},
		{"mkdirat", func(p string) []calls.Call { return []calls.Call{{Name: "mkdirat", At: "cwd", Path: p, Mode: 0o755}} }},
		{"mknodat", func(p string) []calls.Call {
			return []calls.Call{{Name: "mknodat", At: "cwd", Path: p, Mode: unix.S_IFIFO | 0o644}}
		}},
		{"symlinkat", func(p string) []calls.Call {
			return []calls.Call{{Name: "symlinkat", At: "cwd", Path: p, Old: "source"}}
		}},
		{"linkat", func(p string) []calls.Call {
			return []calls.Call{file, {Name: "linkat", From: "cwd", Old: "source", At: "cwd", Path: p}}
		}},
		{"linkat of a file without a name", func(p string) []calls.Call {
			return []calls.Call{
				{Name: "openat", At: "cwd", Path: ".", Flags: unix.O_TMPFILE | unix.O_RDWR, Mode: 0o644, Reg: 1},
				{Name: "linkat", From: "cwd", Old: "/proc/self/fd/{r1}", At: "cwd", Path: p, Flags: unix.AT_SYMLINK_FOLLOW},
			}
		}},
		{"renameat2", func(p string) []calls.Call {
			return []calls.Call{file, {Name: "renameat2", From: "cwd", Old: "source", At: "cwd", Path: p}}
		}},
		{"renameat2 of a directory", func(p string) []calls.Call {
			return []calls.Call{
				{Name: "mkdirat", At: "cwd", Path: "directory", Mode: 0o755},
				{Name: "renameat2", From: "cwd", Old: "directory", At: "cwd", Path: p, Flags: unix.RENAME_NOREPLACE},
			}
		}},
	}
}

// program returns the race for a name: with a path that changes in memory, or with a link that is exchanged.
func (r race) program(name string, tries int, byLink bool) calls.Program {
	dir, base := path.Dir(name), path.Base(name)
	prepare := calls.Thread{Calls: []calls.Call{
		{Name: "mkdirat", At: "cwd", Path: dir, Mode: 0o755},
		{Name: "mkdirat", At: "cwd", Path: "a", Mode: 0o755},
	}}
	harmless := dir + "/zz"
	main := calls.Thread{Repeat: tries}
	var others []calls.Thread
	if byLink {
		target := dir
		if !strings.HasPrefix(dir, "{") {
			target = "{work}/" + dir
		}
		harmless = "a/" + base
		prepare.Calls = append(prepare.Calls, calls.Call{Name: "unlinkat", At: "cwd", Path: "l"}, calls.Call{Name: "unlinkat", At: "cwd", Path: "m"},
			calls.Call{Name: "symlinkat", At: "cwd", Path: "l", Old: target}, calls.Call{Name: "symlinkat", At: "cwd", Path: "m", Old: "a"})
		others = []calls.Thread{{Loop: true, Calls: []calls.Call{{Name: "renameat2", From: "cwd", Old: "l", At: "cwd", Path: "m", Flags: unix.RENAME_EXCHANGE}}}}
		main.Calls = r.calls("l/" + base)
	} else {
		main.Calls = r.calls(name)
		main.Calls[len(main.Calls)-1].Flip = harmless
	}
	main.Calls = append(main.Calls,
		calls.Call{Name: "unlinkat", At: "cwd", Path: harmless}, calls.Call{Name: "unlinkat", At: "cwd", Path: harmless, Flags: unix.AT_REMOVEDIR})
	main.Calls = append(prepare.Calls, main.Calls...)
	return calls.Program{Threads: append([]calls.Thread{main}, others...)}
}

// contest is a race for one name.
type contest struct {
	race   race
	path   string
	byLink bool
}

// contests returns the races for all names: one for each name in a normal run, all of them in random order in a long one.
func contests(t *testing.T) (all []contest) {
	t.Helper()
	for i, path := range raced {
		for j, r := range races() {
			for _, byLink := range []bool{false, true} {
				if long(t) > 0 || i%len(races()) == j && byLink == (i%2 == 0) {
					all = append(all, contest{r, path, byLink})
				}
			}
		}
	}
	if long(t) > 0 {
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] }) //nolint:gosec // any order will do
	}
	return all
}

func Test_No_Call_Wins_A_Race_In_Bubblewrap(t *testing.T) {
	requireBwrap(t)
	runRaces(t, kind{name: "bwrap"})
}

func Test_No_Call_Wins_A_Race_In_Containers(t *testing.T) {
	k := kind{name: "docker, persistent", flags: containerFlags(), persistent: true}
	k.env, k.groups = requireDocker(t)
	runRaces(t, k)
}

// runRaces repeats each call for each name in a kind of sandbox, all in one world.
func runRaces(t *testing.T, k kind) {
	t.Helper()
	for name, uid := range users() {
		k := k
		k.uid = uid
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &hunter{t: t, k: k, worlds: map[string]*world{}, base: t.Name(), shapes: []string{"lean"}}
			begin, n := time.Now(), 0
			tries, limit := fewTries, limit
			if long(t) > 0 {
				tries, limit = manyTries, raceTime
			}
			b := &box{k: &k, w: h.world(0)}
			if err := b.open(); err != nil {
				t.Fatal(err)
			}
			all := contests(t)
			for _, c := range all {
				if long(t) > 0 && time.Since(begin) > long(t) {
					break
				}
				n++
				p := c.race.program(c.path, tries, c.byLink)
				result := b.run(p, limit)
				h.made, h.good = h.made+result.made, h.good+result.good
				if len(result.violations) > 0 {
					t.Errorf("%s as uid %d: %s at %s won:\n%s%s", k.name, uid, c.race.name, c.path, texts(result.violations), p)
				}
			}
			if err := b.close(); err != nil {
				t.Error(err)
			}
			t.Logf("%s as %s: %d of %d races of at most %d tries, %d calls, %d of them succeeded, in %.0f s", k.name, name, n, len(all), tries, h.made, h.good, time.Since(begin).Seconds())
		})
	}
}

// Test_Every_Call_Wins_Its_Race_Without_Protections shows that the races above can be won.
func Test_Every_Call_Wins_Its_Race_Without_Protections(t *testing.T) {
	requireBwrap(t)
	for _, r := range races() {
		for _, byLink := range []bool{false, true} {
			way := map[bool]string{false: " with a path that changes", true: " with a link that changes"}[byLink]
			t.Run(r.name+way, func(t *testing.T) {
				t.Parallel()
				h := &hunter{t: t, k: kind{name: "no protections", bare: true, uid: plainUser()}, worlds: map[string]*world{}, shapes: []string{"lean"}}
				found := (&box{k: &h.k, w: h.world(0)}).run(r.program(".envrc", manyTries/10, byLink), limit).violations
				if !slices.ContainsFunc(found, func(v violation) bool { return v.kind == visible }) {
					t.Errorf("no try was won : %s", texts(found))
				}
			})
		}
	}
}
