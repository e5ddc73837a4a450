package policy

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/policy/internal/treetest"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_Names_That_The_Host_Obeys_Are_Protected_In_Every_Directory(t *testing.T) {
	t.Parallel()
	home := filepath.Join(treetest.Dir(t), "home")
	work := filepath.Join(home, "work")
	treetest.Make(t, work, "a/.vscode/tasks.json", "a/.ENVRC", "a/b/.hg/hgrc", "a/b/.hg/store", "node_modules/p/.vscode/tasks.json", "a/vendor/p/.envrc",
		"open/.claude/settings.json", "plain/file")
	treetest.Make(t, home, "go/pkg/mod/p/.vscode/tasks.json")
	resolve := func(layers ...sandbox.Layer) *Plan {
		p, err := Resolve(sandbox.Spec{Workspace: work, Home: home, Layers: layers})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	rw := sandbox.Layer{Name: "flags", Trusted: true}
	rw.Policy.Filesystem.RW = []string{filepath.Join(work, "open/.claude"), filepath.Join(work, "plain/.mcp.json")}
	p, opened := resolve(), resolve(rw)
	for _, row := range []struct {
		path       string
		free, open bool // without and with the layer
	}{
		{"a/.vscode/tasks.json", false, false},
		{"a/.ENVRC", false, false},
		{"a/.claude/settings.json", false, false},
		{"a/b/.hg/hgrc", false, false},
		{"a/b/.hg/store", true, true},
		{"plain/.hg", false, false},
		{"plain/.mcp.json", false, true},
		{"plain/.mcp.json.bak", true, true},
		{"a/.mcp.json", false, false},
		{"open/.claude/settings.json", false, true},
		{"open/.claude/new.json", false, true},
		{"node_modules/p/.vscode/tasks.json", true, true},
		{"node_modules/q/.envrc", true, true},
		{"a/vendor/p/.envrc", true, true},
		{"a/.gitlab-ci.yml", true, true},
		{"a/.bashrc", true, true},
		{"../go/pkg/mod/p/.vscode/tasks.json", true, true},
	} {
		path := filepath.Join(work, row.path)
		for plan, want := range map[*Plan]bool{p: row.free, opened: row.open} {
			if got := plan.ExplainPath(path).Verdict == ReadWrite.String(); got != want {
				t.Errorf("%s: %v, want %v", row.path, plan.ExplainPath(path), want)
			}
			review := NewReview(plan, nil, nil)
			if why := review.Refuse(Changed{Path: path, Exists: true}); (why == "") != want {
				t.Errorf("review of %s: %q", row.path, why)
			}
		}
	}
	for _, m := range p.Mounts {
		if strings.Contains(m.Path, "node_modules") || strings.Contains(m.Path, "vendor") {
			t.Errorf("a mount in a tree of dependencies: %v", m)
		}
	}
}

func Test_A_Project_File_Does_Not_Open_A_Name_In_A_Subdirectory(t *testing.T) {
	t.Parallel()
	work := treetest.Dir(t)
	treetest.Make(t, work, "a/.vscode/tasks.json")
	for _, path := range []string{"a/.vscode", "a/.envrc"} {
		l := sandbox.Layer{Name: "project", File: filepath.Join(work, ".agent-sandbox.json")}
		l.Policy.Filesystem.RW = []string{path}
		p, err := Resolve(sandbox.Spec{Workspace: work, Layers: []sandbox.Layer{l}})
		if err == nil && p.ExplainPath(filepath.Join(work, path)).Verdict == ReadWrite.String() {
			t.Errorf("%s is open", path)
		}
	}
}
