package policy

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed434b0696/agent-sandbox/policy/internal/treetest"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// gitEnv keeps the machine's own configuration out of the tests.
func gitEnv(home string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b",
		"GIT_ALLOW_PROTOCOL=file", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=protocol.file.allow", "GIT_CONFIG_VALUE_0=always",
	}
}

// runGit runs real git on the host.
func runGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = gitEnv(dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// repos builds below the home of a Spec:
//
//	main/              a repository with a commit, a branch and a tag
//	main/nested/r/     a repository of its own, not known to main
//	main/bare.git/     a bare one
//	main/sub/          a submodule, which has a submodule called in/ner
//	tree/              a worktree of main
func repos(t *testing.T) (spec sandbox.Spec, home string) {
	t.Helper()
	spec = sandbox.Spec{Home: filepath.Join(treetest.Dir(t), "home"), Env: []string{"PATH=/usr/bin:/bin"}}
	home = spec.Home
	commit := func(dir string) {
		treetest.Make(t, dir, "file")
		runGit(t, dir, "add", ".")
		runGit(t, dir, "commit", "-qm", "one")
	}
	for _, dir := range []string{"inner", "lib", "main", "main/nested/r"} {
		treetest.Make(t, home, dir+"/")
		runGit(t, filepath.Join(home, dir), "init", "-q", "-b", "trunk")
	}
	commit(filepath.Join(home, "inner"))
	runGit(t, filepath.Join(home, "lib"), "submodule", "--quiet", "add", "--name", "in/ner", home+"/inner", "inner")
	commit(filepath.Join(home, "lib"))
	main := filepath.Join(home, "main")
	treetest.Make(t, main, ".gitignore")
	if err := os.WriteFile(filepath.Join(main, ".gitignore"), []byte("nested\nbare.git\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	runGit(t, main, "submodule", "--quiet", "add", home+"/lib", "sub")
	runGit(t, main, "submodule", "--quiet", "update", "--init", "--recursive")
	commit(main)
	runGit(t, main, "branch", "other")
	runGit(t, main, "tag", "v1")
	runGit(t, main, "worktree", "add", "-q", home+"/tree", "-b", "topic")
	runGit(t, main, "init", "-q", "--bare", "bare.git")
	commit(filepath.Join(main, "nested/r"))
	return spec, home
}

// closed fails unless the sandbox can neither write nor make path.
func closed(t *testing.T, p *Plan, paths ...string) {
	t.Helper()
	for _, path := range paths {
		access, _ := p.Access(path)
		if access == ReadWrite && !guardedUp(p, path) {
			t.Errorf("%s is open", path)
		}
	}
}

// guardedUp reports whether path or a directory on the way is guarded and missing.
func guardedUp(p *Plan, path string) bool {
	for ; path != "/"; path = filepath.Dir(path) {
		if _, err := os.Lstat(path); err == nil {
			return false
		}
		if hasGuard(p, path) {
			return true
		}
	}
	return false
}

func writable(t *testing.T, p *Plan, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if access, rule := p.Access(path); access != ReadWrite || guardedUp(p, path) {
			t.Errorf("%s is %s, guarded %v, by %+v", path, access, guardedUp(p, path), rule)
		}
	}
}

func pinned(t *testing.T, p *Plan, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if !slices.ContainsFunc(p.Mounts, func(m Mount) bool { return m.Path == path }) {
			t.Errorf("%s can be renamed", path)
		}
	}
}

// state lists what is closed in every git directory.
func state(dir string) []string {
	var out []string
	for _, name := range []string{
		"hooks", "hooks/pre-commit", "config", "config.worktree", "commondir", "remotes/origin", "branches/x",
		"info/attributes", "info/exclude", "info/grafts", "info/sparse-checkout", "info/anything",
		"objects/info/alternates", "modules/new/config", "worktrees/new/gitdir",
	} {
		out = append(out, filepath.Join(dir, name))
	}
	return out
}

func Test_Repositories_In_Every_Shape_Are_Protected(t *testing.T) {
	spec, home := repos(t)
	main := filepath.Join(home, "main")
	git1 := filepath.Join(main, ".git")
	sub, inner := filepath.Join(git1, "modules/sub"), filepath.Join(git1, "modules/sub/modules/in/ner")
	wt := filepath.Join(git1, "worktrees/tree")

	t.Run("the main checkout", func(t *testing.T) {
		spec.Workspace = main
		p := mustResolve(t, spec)
		for _, dir := range []string{git1, sub, inner, filepath.Join(main, "nested/r/.git"), filepath.Join(main, "bare.git")} {
			closed(t, p, state(dir)...)
			pinned(t, p, dir)
			writable(t, p, dir+"/HEAD", dir+"/index", dir+"/objects/aa", dir+"/refs/heads/x", dir+"/info/refs", dir+"/packed-refs.lock")
		}
		closed(t, p, wt+"/gitdir", wt+"/commondir", wt+"/config.worktree", main+"/sub/.git", main+"/sub/inner/.git", git1+"/modules/sub/modules/in/other")
		pinned(t, p, wt)
		writable(t, p, main+"/file", wt+"/HEAD", wt+"/logs/HEAD.lock")
		if !slices.Equal(p.NoRepos, []string{main}) {
			t.Errorf("new repositories are refused in %v", p.NoRepos)
		}
	})
	t.Run("a linked worktree", func(t *testing.T) {
		spec.Workspace = filepath.Join(home, "tree")
		p := mustResolve(t, spec)
		closed(t, p, append(state(git1), spec.Workspace+"/.git", wt+"/gitdir", wt+"/commondir", wt+"/config.worktree",
			git1+"/HEAD", git1+"/index", main+"/file")...)
		writable(t, p, git1+"/objects/aa", git1+"/refs/heads/topic", git1+"/logs/x", wt+"/HEAD", wt+"/index", git1+"/packed-refs.lock")
	})
	t.Run("a submodule", func(t *testing.T) {
		spec.Workspace = filepath.Join(main, "sub")
		p := mustResolve(t, spec)
		closed(t, p, append(append(state(sub), state(inner)...), main+"/sub/.git", git1+"/HEAD", git1+"/objects/aa")...)
		writable(t, p, sub+"/HEAD", sub+"/objects/aa", inner+"/index")
	})
	t.Run("a subdirectory of a checkout leaves its repository read-only", func(t *testing.T) {
		spec.Workspace = filepath.Join(main, "nested")
		p := mustResolve(t, spec)
		closed(t, p, append(state(git1), git1+"/HEAD")...)
		closed(t, p, state(filepath.Join(main, "nested/r/.git"))...)
	})
	t.Run("a subdirectory with the checkout writable", func(t *testing.T) {
		spec.Workspace = filepath.Join(main, "nested")
		spec.Policy = fsPolicy(sandbox.Filesystem{RW: []string{main}})
		p := mustResolve(t, spec)
		closed(t, p, state(git1)...)
		writable(t, p, git1+"/HEAD")
	})
	t.Run("a checkout inside a cache, started below it", func(t *testing.T) {
		runGit(t, home, "clone", "-q", main, home+"/.cache/c")
		treetest.Make(t, home, ".cache/c/d/")
		spec.Workspace, spec.Policy = home+"/.cache/c/d", sandbox.Policy{}
		p := mustResolve(t, spec)
		closed(t, p, state(home+"/.cache/c/.git")...)
		writable(t, p, home+"/.cache/c/.git/HEAD")
	})
	t.Run("started inside hooks", func(t *testing.T) {
		spec.Workspace = git1 + "/hooks"
		p := mustResolve(t, spec)
		closed(t, p, git1+"/hooks/pre-commit", git1+"/config")
	})
}

func Test_A_Git_File_That_Points_Elsewhere_Grants_Nothing(t *testing.T) {
	spec, home := repos(t)
	main := filepath.Join(home, "main")
	for name, target := range map[string]string{
		"another repository": main + "/.git", "its worktree": main + "/.git/worktrees/tree", "its submodule": main + "/.git/modules/sub", "home": home,
	} {
		t.Run(name, func(t *testing.T) {
			spec.Workspace = treetest.Dir(t)
			if err := os.WriteFile(spec.Workspace+"/.git", []byte("gitdir: "+target+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			p := mustResolve(t, spec)
			closed(t, p, target+"/HEAD", target+"/x", spec.Workspace+"/.git")
		})
	}
}

func Test_Files_That_Git_Configuration_Names_Are_Protected(t *testing.T) {
	spec, home := repos(t)
	main := filepath.Join(home, "main")
	spec.Workspace = main
	hooks := func(value string) *Plan {
		runGit(t, main, "config", "core.hooksPath", value)
		return mustResolve(t, spec)
	}
	closed(t, hooks("tools/hooks"), main+"/tools/hooks", main+"/tools/hooks/pre-commit")
	closed(t, hooks("~/main/h"), main+"/h/x")
	root := hooks(".")
	closed(t, root, main+"/pre-commit", main+"/post-checkout")
	writable(t, root, main+"/file")

	treetest.Make(t, main, "conf/inc2")
	if err := os.WriteFile(main+"/conf/inc", []byte("[include]\n path = \"inc2\"\n[Core]hooksPATH=deep # x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	runGit(t, main, "config", "core.hooksPath", "")
	runGit(t, main, "config", "includeIf.gitdir:/x.path", main+"/conf/inc")
	closed(t, mustResolve(t, spec), main+"/conf/inc", main+"/conf/inc2", main+"/deep/x")
}

func Test_Links_In_A_Git_Directory_Are_Protected(t *testing.T) {
	spec := home(t, "home/ws/.git/HEAD", "home/ws/.git/objects/", "home/ws/.git/refs/", "home/ws/.git/config", "home/ws/shared/hooks/pre-commit",
		"home/ws/.git/hooks -> ../shared/hooks", "home/ws/r2/.git -> ../dotgit", "home/ws/dotgit/HEAD", "home/ws/dotgit/objects/",
		"home/ws/dotgit/refs/", "home/ws/dotgit/hooks/", "home/ws/.git/info -> /usr/share", "home/.claude/", "home/ws/dot/settings.json",
		"home/.claude/settings.json -> ../ws/dot/settings.json")
	ws := spec.Workspace
	p := mustResolve(t, spec)
	closed(t, p, ws+"/shared/hooks/pre-commit", ws+"/dotgit/hooks/x", ws+"/dotgit/config", ws+"/dot/settings.json")
	for _, link := range []string{ws + "/.git/hooks", ws + "/r2/.git", ws + "/.git/info", spec.Home + "/.claude/settings.json"} {
		if !hasGuard(p, link) {
			t.Errorf("the link %s can be replaced", link)
		}
	}
	spec.Policy = fsPolicy(sandbox.Filesystem{RW: []string{".git/hooks"}})
	p = mustResolve(t, spec)
	writable(t, p, ws+"/shared/hooks/pre-commit")
	if hasGuard(p, ws+"/.git/hooks") {
		t.Error("an explicit rule leaves the link guarded")
	}
}

func Test_Only_A_Trusted_Exact_Rule_Lifts_A_Protection(t *testing.T) {
	cases := []struct {
		name, rw string
		open     []string // below the workspace
		shut     []string
	}{
		{"nothing", "", nil, []string{".vscode/x", ".git/hooks/x", ".idea", ".mcp.json"}},
		{"a broader path does not", ".", nil, []string{".vscode/x", ".git/hooks/x", ".idea"}},
		{"home does not", "~", nil, []string{".vscode/x", ".git/hooks/x", "../.bashrc", "../.config/fish/x", "../.ssh/x"}},
		{"a glob does not", "**", nil, []string{".vscode/x", ".git/hooks/x", ".git/hooks/sample", ".idea"}},
		{"the very path does", ".vscode", []string{".vscode/x"}, []string{".git/hooks/x", ".idea"}},
		{"the very path does when missing", ".idea", []string{".idea/x"}, []string{".vscode/x"}},
		{"a deeper path opens only itself", ".vscode/settings.json", []string{".vscode/settings.json"}, []string{".vscode/x"}},
		{"a deeper missing path opens the way", ".idea/a/b", []string{".idea/a/b", ".idea/a/b/c"}, []string{".idea/x", ".idea/a/x"}},
		{".git alone does not open hooks", ".git", []string{".git/HEAD"}, []string{".git/hooks/x", ".git/config"}},
		{"hooks do", ".git/hooks", []string{".git/hooks/x"}, []string{".git/config"}},
		{"a file in info", ".git/info/attributes", []string{".git/info/attributes"}, []string{".git/info/grafts"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			spec := home(t, "home/ws/.vscode/settings.json", "home/ws/.git/HEAD", "home/ws/.git/config", "home/ws/.git/objects/", "home/ws/.git/refs/",
				"home/ws/.git/info/", "home/ws/.git/hooks/sample", "home/.config/fish/")
			if c.rw != "" {
				spec.Policy = fsPolicy(sandbox.Filesystem{RW: []string{c.rw}})
			}
			p := mustResolve(t, spec)
			for _, path := range c.open {
				writable(t, p, filepath.Join(spec.Workspace, path))
			}
			for _, path := range c.shut {
				closed(t, p, filepath.Join(spec.Workspace, path))
			}
		})
	}
}

func Test_A_Workspace_May_Be_A_Protected_Name(t *testing.T) {
	spec := home(t, "home/.config/nvim/init.lua", "home/.claude/skills/mine/SKILL.md", "home/.claude/skills/other/SKILL.md")
	spec.Workspace = spec.Home + "/.config/nvim"
	writable(t, mustResolve(t, spec), spec.Workspace+"/init.lua")
	spec.Workspace = spec.Home + "/.claude/skills/mine"
	p := mustResolve(t, spec)
	writable(t, p, spec.Workspace+"/SKILL.md")
	closed(t, p, spec.Home+"/.claude/skills/other/SKILL.md")
}

func Test_New_Repositories_Are_Refused_Below_The_Workspace(t *testing.T) {
	spec := home(t, "home/other/")
	spec.Policy = fsPolicy(sandbox.Filesystem{RW: []string{"~/other", "/tmp", "~/.cache"}})
	treetest.Make(t, spec.Home, ".cache/")
	p := mustResolve(t, spec)
	for _, dir := range []string{spec.Workspace, spec.Home + "/other", spec.Home + "/.cache"} { // a link can lead to a cache
		if !slices.Contains(p.NoRepos, dir) {
			t.Errorf("refused in %v, not in %s", p.NoRepos, dir)
		}
	}
	spec.Policy = fsPolicy(sandbox.Filesystem{RW: []string{"~/other", ".git"}})
	if p := mustResolve(t, spec); !slices.Equal(p.NoRepos, []string{spec.Home + "/.cache", spec.Home + "/other"}) {
		t.Errorf("refused in %v", p.NoRepos)
	}
	spec.Policy = fsPolicy(sandbox.Filesystem{Presets: []string{"!@git"}})
	if p := mustResolve(t, spec); len(p.NoRepos) != 0 {
		t.Errorf("refused in %v without @git", p.NoRepos)
	}
}

func Test_Git_Strict_Lets_Only_The_Current_Branch_Move(t *testing.T) {
	spec, home := repos(t)
	main := filepath.Join(home, "main")
	spec.Workspace = main
	spec.Policy = fsPolicy(sandbox.Filesystem{Presets: []string{"@git-strict"}})
	p := mustResolve(t, spec)
	closed(t, p, main+"/.git/refs/heads/other", main+"/.git/refs/heads/topic", main+"/.git/refs/tags/v1", main+"/.git/refs/tags/new", main+"/.git/packed-refs")
	writable(t, p, main+"/.git/refs/heads/trunk", main+"/.git/refs/heads/new", main+"/.git/HEAD")

	runGit(t, main, "pack-refs", "--all")
	p = mustResolve(t, spec)
	closed(t, p, main+"/.git/refs/heads/other", main+"/.git/packed-refs")
	writable(t, p, main+"/.git/refs/heads/trunk")

	runGit(t, main, "checkout", "-q", "--detach")
	closed(t, mustResolve(t, spec), main+"/.git/refs/heads/trunk")

	if err := os.WriteFile(main+"/.git/HEAD", []byte("ref: refs/heads/.invalid\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Resolve(spec); sandbox.CodeOf(err) != sandbox.Unsupported {
		t.Errorf("a HEAD that is no branch: %v", err)
	}
}

func Test_An_Unreadable_Directory_Is_Read_Only(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads everything, so nothing is unreadable to it")
	}
	spec := home(t, "home/ws/dark/repo/.git/hooks/")
	if err := os.Chmod(spec.Workspace+"/dark", 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(spec.Workspace+"/dark", 0o755) })
	closed(t, mustResolve(t, spec), spec.Workspace+"/dark/repo/.git/hooks")
}
