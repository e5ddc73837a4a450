package policy

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/seed434b0696/agent-sandbox/policy/internal/treetest"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// withAccounts makes the homes in dir those of the account database, the first that of this process.
func withAccounts(t *testing.T, dir string, homes ...string) {
	t.Helper()
	was := accountHomes
	t.Cleanup(func() { accountHomes = was })
	for n := range homes {
		homes[n] = filepath.Join(dir, homes[n])
	}
	accountHomes = func(int) (string, []string) { return homes[0], homes[1:] }
}

// checkAccess compares the plan's access to paths in dir. If dir is in the host's /tmp, a path without a rule is not visible
// inside, which counts as ro here.
func checkAccess(t *testing.T, p *Plan, dir string, want map[string]Access) {
	t.Helper()
	for name, access := range want {
		got, _ := p.Access(filepath.Join(dir, name))
		if got == Private && access == ReadOnly {
			got = ReadOnly
		}
		if got != access {
			t.Errorf("%s is %s, want %s", name, got, access)
		}
	}
}

func Test_Secrets_Of_All_Accounts_Are_Hidden_Whatever_HOME_Is(t *testing.T) {
	dir := treetest.Dir(t)
	treetest.Make(t, dir, "ws/", "me/.ssh/id", "me/.npmrc", "me/src/main.go", "other/.git-credentials", "other/notes", "elsewhere/")
	withAccounts(t, dir, "me", "other", "missing")
	hidden := map[string]Access{
		"me/.ssh/id": Exclude, "me/.npmrc": Exclude, "other/.git-credentials": Exclude, "me/src/main.go": ReadOnly, "other/notes": ReadOnly,
	}
	ws := filepath.Join(dir, "ws")
	for name, spec := range map[string]sandbox.Spec{
		"a workspace alone":      {Workspace: ws},
		"HOME leads elsewhere":   {Workspace: ws, Env: []string{"HOME=" + dir + "/elsewhere"}},
		"HOME is missing":        {Workspace: ws, Env: []string{"HOME=" + dir + "/nowhere"}},
		"HOME is another's":      {Workspace: ws, Env: []string{"HOME=" + dir + "/other"}},
		"no workspace, but HOME": {Env: []string{"HOME=" + dir + "/elsewhere"}},
		"a directory above":      {Workspace: ws, Policy: fsPolicy(sandbox.Filesystem{RO: []string{dir}})},
		"a writable directory":   {Workspace: ws, Policy: fsPolicy(sandbox.Filesystem{RW: []string{dir + "/elsewhere"}})},
	} {
		t.Run(name, func(t *testing.T) { checkAccess(t, mustResolve(t, spec), dir, hidden) })
	}
	t.Run("the zero Spec", func(t *testing.T) {
		checkAccess(t, mustResolve(t, sandbox.Spec{}), dir, map[string]Access{
			"me/.ssh/id": Exclude, "me/src/main.go": Exclude, "other/.git-credentials": Exclude, "other/notes": ReadOnly,
		})
	})
	t.Run("a rule opens one", func(t *testing.T) {
		p := mustResolve(t, sandbox.Spec{Workspace: ws, Policy: fsPolicy(sandbox.Filesystem{RO: []string{dir + "/me/.npmrc"}})})
		checkAccess(t, p, dir, map[string]Access{"me/.npmrc": ReadOnly, "me/.ssh/id": Exclude})
	})
}

func Test_A_Workspace_That_Is_A_Home_Is_Protected_Whatever_HOME_Is(t *testing.T) {
	dir := treetest.Dir(t)
	names := []string{".ssh/id", ".npmrc", ".bashrc", ".config/git/config", "src/main.go"}
	for _, who := range []string{"me", "other"} {
		for _, name := range names {
			treetest.Make(t, dir, filepath.Join(who, name))
		}
	}
	treetest.Make(t, dir, "elsewhere/")
	withAccounts(t, dir, "me", "other")
	for _, who := range []string{"me", "other"} {
		home := filepath.Join(dir, who)
		as := mustResolve(t, sandbox.Spec{Workspace: home, Env: []string{"HOME=" + home}}) // what the command passes
		for name, env := range map[string][]string{"no environment": nil, "HOME leads elsewhere": {"HOME=" + dir + "/elsewhere"}} {
			t.Run(who+", "+name, func(t *testing.T) {
				p := mustResolve(t, sandbox.Spec{Workspace: home, Env: env})
				want := map[string]Access{".ssh/id": Exclude, ".netrc": ReadOnly, ".profile": ReadOnly}
				for _, name := range names {
					want[name], _ = as.Access(filepath.Join(home, name))
				}
				checkAccess(t, p, home, want)
			})
		}
	}
}

func Test_A_Writable_Home_Of_Another_Account_Is_Protected(t *testing.T) {
	dir := treetest.Dir(t)
	treetest.Make(t, dir, "ws/", "me/", "other/.bashrc")
	withAccounts(t, dir, "me", "other")
	p := mustResolve(t, sandbox.Spec{Workspace: filepath.Join(dir, "ws"), Policy: fsPolicy(sandbox.Filesystem{RW: []string{dir + "/other"}})})
	checkAccess(t, p, dir, map[string]Access{"other/.bashrc": ReadOnly, "other/file": ReadWrite})
	for _, name := range []string{".ssh", ".profile", ".npmrc"} {
		if !hasGuard(p, filepath.Join(dir, "other", name)) {
			t.Errorf("%s can be created", name)
		}
	}
}

func Test_Homes_Of_Thousands_Of_Accounts_Are_Hidden_With_Few_Rules(t *testing.T) {
	const listed = 32 // accounts whose secrets are hidden one by one
	dir := treetest.Dir(t)
	homes, entries := []string{"home/me"}, []string{"home/me/src/file", "home/last/ws/"}
	for i := range 5000 {
		homes = append(homes, fmt.Sprintf("home/u%d", i))
	}
	for i := range 3 * listed {
		entries = append(entries, fmt.Sprintf("home/u%d/.ssh/id", i))
	}
	homes = append(homes, "home/last", "single/one")
	treetest.Make(t, dir, append(entries, "single/one/.ssh/id", "single/data")...)
	withAccounts(t, dir, homes...)
	p := mustResolve(t, sandbox.Spec{Workspace: filepath.Join(dir, "home/last/ws")})
	checkAccess(t, p, dir, map[string]Access{
		"home/me/src/file": ReadOnly, "home/last/ws/x": ReadWrite, "home/last/file": ReadOnly, "home/u0/.ssh/id": Exclude,
		fmt.Sprintf("home/u%d/.ssh/id", 2*listed): Exclude, fmt.Sprintf("home/u%d/file", 2*listed): Exclude,
		"single/one/.ssh/id": Exclude, "single/data": ReadOnly,
	})
	if n := len(p.Rules); n > 1500 {
		t.Errorf("%d rules", n)
	}
}
