package policy

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_Review_Refuses_Protected_Paths_That_The_User_Did_Not_Name(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	work, err := filepath.EvalSymlinks(home)
	if err != nil {
		t.Fatal(err)
	}
	work = filepath.Join(work, "work")
	for _, dir := range []string{".git/hooks", ".git/objects", ".git/refs", ".vscode", "src", "half/objects", "there/objects", "there/refs"} {
		if err := os.MkdirAll(filepath.Join(work, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{".git/HEAD", ".git/config", "src/f", "there/HEAD"} {
		if err := os.WriteFile(filepath.Join(work, file), []byte("ref: refs/heads/main\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	plan, err := Resolve(sandbox.Spec{Workspace: work, Home: home})
	if err != nil {
		t.Fatal(err)
	}
	made := Changed{Exists: true}
	link := Changed{Exists: true, Link: true}
	gone, retyped := Changed{Replaced: true}, Changed{Exists: true, Link: true, Replaced: true}
	for _, row := range []struct {
		name, path string
		change     Changed
		named      string
		refused    bool
	}{
		{"a source file", "src/f", made, "", false},
		{"an object of git", ".git/objects/aa", made, "", false},
		{"a hook", ".git/hooks/pre-commit", made, "", true},
		{"a hook that is named", ".git/hooks/pre-commit", made, ".git/hooks/pre-commit", false},
		{"a hook whose directory is named", ".git/hooks/pre-commit", made, ".git/hooks", false},
		{"a hook when another is named", ".git/hooks/pre-commit", made, ".git/hooks/pre-push", true},
		{"git's configuration", ".git/config", made, "", true},
		{"git's configuration that goes", ".git/config", gone, "", true},
		{"an editor's settings", ".vscode/tasks.json", made, "", true},
		{"an agent's settings", ".mcp.json", made, "", true},
		{"an agent's settings in other letters", ".MCP.json", made, "", true},
		{"below a directory that is missing", ".claude/commands/x.md", made, "", true},
		{"a workflow", ".github/workflows/ci.yml", made, "", true},
		{"the directory that workflows would be in", ".github", made, "", false},
		{"a link in its place", ".github", link, "", true},
		{"the git directory as a link", ".git", retyped, "", true},
		{"the git directory deleted", ".git", gone, "", true},
		{"a new repository", "sub/.git", made, "", true},
		{"what is in it", "sub/.git/config", made, "", true},
		{"in other letters", "sub/.GIT/config", made, "", true},
		{"what makes a bare repository", "bare/HEAD", made, "", true},
		{"its other parts", "bare/refs/heads", made, "", true},
		{"what completes one", "half/refs", made, "", true},
		{"a name of one elsewhere", "src/refs", made, "", false},
		{"one that is there", "there/refs/heads", made, "", false},
		{"what redirects one that is there", "there/commondir", made, "", true},
		{"git's own branch", ".git/HEAD", made, "", false},
		{"git's log of it", ".git/logs/HEAD", made, "", false},
		{"what makes a repository inside the git directory", ".git/foo/HEAD", made, "", true},
		{"its other parts there", ".git/foo/objects/aa", made, "", true},
		{"our own configuration", ".agent-sandbox.json", made, "", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			at := func(rel string, c Changed) Changed {
				c.Path = filepath.Join(work, rel)
				return c
			}
			change := at(row.path, row.change)
			all := []Changed{change}
			for _, p := range []string{
				"bare/HEAD", "bare/objects", "bare/refs", "half/HEAD", "half/refs", ".git/foo/HEAD", ".git/foo/objects", ".git/foo/refs", ".git/logs/refs",
			} {
				all = append(all, at(p, made))
			}
			var named []string
			if row.named != "" {
				named = []string{filepath.Join(work, row.named)}
			}
			r := NewReview(plan, all, named)
			if why := r.Refuse(change); (why != "") != row.refused || r.IsHeld() != row.refused {
				t.Errorf("the reason is %q", why)
			}
		})
	}
}
