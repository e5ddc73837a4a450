package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/stage"
)

func Test_A_Patch_Drives_No_Terminal(t *testing.T) {
	t.Parallel()
	const patch = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-old\x1b]0;title\a\tx\n+new\x1b[2J\r\n+++ no header\n end\n"
	for _, row := range []struct {
		name  string
		w     patchWriter
		want  string
		parts []string
	}{
		{"to a file, byte by byte", patchWriter{}, patch, nil},
		{"to a terminal without colour", patchWriter{terminal: true}, "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-old\\x1b]0;title\\a\tx\n+new\\x1b[2J\\r\n+++ no header\n end\n", nil},
		{"in colour", patchWriter{terminal: true, color: true}, "", []string{
			"\x1b[1m--- a/f\x1b[m\n", "\x1b[36m@@ -1,2 +1,2 @@\x1b[m\n", "\x1b[31m-old\\x1b]0;title\\a\tx\x1b[m\n", "\x1b[32m+++ no header\x1b[m\n", "\n end\n",
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			w := row.w
			w.out = &out
			for i := range len(patch) { // every line in pieces
				if _, err := w.Write([]byte{patch[i]}); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.flush(); err != nil {
				t.Fatal(err)
			}
			if row.want != "" && out.String() != row.want {
				t.Errorf("%q\nwant %q", out.String(), row.want)
			}
			for _, part := range row.parts {
				if !strings.Contains(out.String(), part) {
					t.Errorf("no %q in %q", part, out.String())
				}
			}
		})
	}
}

func Test_What_The_Policy_Protects_Is_Not_Applied_Unnamed(t *testing.T) {
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
	file, link, dir := &stage.Entry{Type: stage.File}, &stage.Entry{Type: stage.Symlink}, &stage.Entry{Type: stage.Directory}
	for _, row := range []struct {
		name, path string
		kind       stage.Kind
		is         *stage.Entry
		named      string
		refused    bool
	}{
		{"a source file", "src/f", stage.Modified, file, "", false},
		{"an object of git", ".git/objects/aa", stage.Created, dir, "", false},
		{"a hook", ".git/hooks/pre-commit", stage.Created, file, "", true},
		{"a hook that is named", ".git/hooks/pre-commit", stage.Created, file, ".git/hooks/pre-commit", false},
		{"a hook whose directory is named", ".git/hooks/pre-commit", stage.Created, file, ".git/hooks", false},
		{"a hook when another is named", ".git/hooks/pre-commit", stage.Created, file, ".git/hooks/pre-push", true},
		{"git's configuration", ".git/config", stage.Modified, file, "", true},
		{"git's configuration that goes", ".git/config", stage.Deleted, nil, "", true},
		{"an editor's settings", ".vscode/tasks.json", stage.Created, file, "", true},
		{"an agent's settings", ".mcp.json", stage.Created, file, "", true},
		{"an agent's settings in other letters", ".MCP.json", stage.Created, file, "", true},
		{"below a directory that is missing", ".claude/commands/x.md", stage.Created, file, "", true},
		{"a workflow", ".github/workflows/ci.yml", stage.Created, file, "", true},
		{"the directory that workflows would be in", ".github", stage.Created, dir, "", false},
		{"a link in its place", ".github", stage.Created, link, "", true},
		{"the git directory as a link", ".git", stage.Retyped, link, "", true},
		{"the git directory deleted", ".git", stage.Deleted, nil, "", true},
		{"a new repository", "sub/.git", stage.Created, dir, "", true},
		{"what is in it", "sub/.git/config", stage.Created, file, "", true},
		{"in other letters", "sub/.GIT/config", stage.Created, file, "", true},
		{"what makes a bare repository", "bare/HEAD", stage.Created, file, "", true},
		{"its other parts", "bare/refs/heads", stage.Created, dir, "", true},
		{"what completes one", "half/refs", stage.Created, dir, "", true},
		{"a name of one elsewhere", "src/refs", stage.Created, dir, "", false},
		{"one that is there", "there/refs/heads", stage.Created, dir, "", false},
		{"our own configuration", ".agent-sandbox.json", stage.Created, file, "", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			change := stage.Change{Path: row.path, Kind: row.kind, New: row.is}
			all := []stage.Change{change}
			for _, p := range []string{"bare/HEAD", "bare/objects", "bare/refs", "half/HEAD", "half/refs"} {
				all = append(all, stage.Change{Path: p, Kind: stage.Created, New: file})
			}
			var named []string
			if row.named != "" {
				named = []string{filepath.Join(work, row.named)}
			}
			p, err := newProtections(sandbox.Spec{Workspace: work, Home: home}, all, named)
			if err != nil {
				t.Fatal(err)
			}
			if why := p.refuse(filepath.Join(work, row.path), change); (why != "") != row.refused || p.held != row.refused {
				t.Errorf("the reason is %q", why)
			}
		})
	}
}

func Test_A_Run_Says_What_To_Type_Next(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		r         stageReport
		cwd, want string
	}{
		{stageReport{Name: "default"}, "", "no changes in stage default"},
		{stageReport{Name: "default", Changes: 1}, "", "1 change in stage default: 'agent-sandbox stage diff' shows, 'stage apply' makes, 'stage discard' drops them"},
		{stageReport{Name: "x", Changes: 2, Conflicts: 1}, "a b", "2 changes in stage x (1 in conflict): 'agent-sandbox stage diff -C 'a b' x' shows, 'stage apply -C 'a b' x' makes, 'stage discard -C 'a b' x' drops them"},
	} {
		if got := row.r.line(row.cwd); got != row.want {
			t.Errorf("%q\nwant %q", got, row.want)
		}
	}
}
