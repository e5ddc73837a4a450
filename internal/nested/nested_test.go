package nested_test

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/nested"
)

func names(root string) *nested.Names {
	return nested.New(nested.Rules{
		Roots: []string{root}, Names: []string{".vscode", ".envrc"}, Dependencies: []string{"node_modules"},
		Open: []string{root + "/open/.vscode", root + "/deep/.vscode/one", root + "/cache"},
	})
}

func Test_A_Name_Is_Forbidden_In_Every_Directory_Of_A_Tree(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/w/.vscode":                      "/w/.vscode",
		"/w/a/b/.VSCode":                  "/w/a/b/.VSCode",
		"/w/a/.vscode/tasks.json":         "/w/a/.vscode",
		"/w/a/.envrc":                     "/w/a/.envrc",
		"/w/a/envrc":                      "",
		"/w/node_modules/p/.envrc":        "",
		"/w/a/node_modules/p/.vscode/x":   "",
		"/w/a/.vscode/node_modules/x":     "/w/a/.vscode",
		"/w/Node_Modules/.envrc":          "/w/Node_Modules/.envrc",
		"/w/open/.vscode":                 "",
		"/w/open/.vscode/x":               "",
		"/w/open/.vscode2/.envrc":         "/w/open/.vscode2/.envrc",
		"/w/deep/.vscode":                 "",
		"/w/deep/.vscode/one":             "",
		"/w/deep/.vscode/two":             "/w/deep/.vscode",
		"/w/cache/x/.envrc":               "",
		"/wide/.envrc":                    "",
		"/w":                              "",
		"/.envrc":                         "",
		"/home/.vscode/extensions/.envrc": "",
	} {
		if got := names("/w").Forbids(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if got := names("/").Forbids("/a/.envrc"); got != "/a/.envrc" {
		t.Errorf("below /: %q", got)
	}
	if got := names("/x/.vscode").Forbids("/x/.vscode/extension/file"); got != "" {
		t.Errorf("a root of such a name forbids %q", got)
	}
}

func Test_A_Tree_Of_Dependencies_Is_Not_Covered(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"/w": true, "/w/a": true, "/w/node_modules": false, "/w/node_modules/p": false, "/w/cache": false, "/w/cache/a": false, "/v": false,
		"/w/deep/.vscode": true,
	} {
		if got := names("/w").Covers(path); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	if names("/node_modules/w").Covers("/node_modules/w/a") == false {
		t.Error("a root in a tree of dependencies is not covered")
	}
}
