package repo

import (
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/persist"
)

func Test_Names_Are_Made_Of_The_Path(t *testing.T) {
	r := Repo{Path: "/home/me/project"}
	const sum = "5c3c5d52dac1ae7a1c94e2d4ae3a3c4f"
	full := hash(r.Path)
	if len(full) != len(sum) {
		t.Fatalf("%q is no MD5", full)
	}
	for got, want := range map[string]string{
		r.Container(""):       "agent-sandbox-project-" + full[:12],
		r.Container("feat/x"): "agent-sandbox-project-feat__x-" + full[:12],
		r.ShelfVolume():       "agent-sbx-repo-" + full,
		r.HistoryVolume():     "agent-sandbox-" + full + "-history",
		r.Image():             "agent-sandbox-repo-project-" + full[:12] + ":latest",
		r.Target():            "/workspace/project",
		r.Dir(""):             "/workspace/project",
		r.Dir("feat/x"):       "/repo-shelf/worktrees/feat__x",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func Test_Container_Names_Are_Valid_Names_Of_Sandboxes(t *testing.T) {
	seen := map[string]string{}
	for _, path := range []string{"/a", "/", "/my repo", "/ä/ö", "/x/..hidden", "/" + strings.Repeat("long", 50), "/A_-b", "/-", "/."} {
		for _, branch := range []string{"", "main", "feat/x", "feat__x2", strings.Repeat("b", 150), strings.Repeat("b", 151), "ä/ü", "a+b", "a_b"} {
			r := Repo{Path: path}
			name := r.Container(branch)
			if err := persist.CheckName(name); err != nil {
				t.Errorf("%q %q: %v", path, branch, err)
			}
			if other, ok := seen[name]; ok {
				t.Errorf("%q %q and %s are both %s", path, branch, other, name)
			}
			seen[name] = path + " " + branch
			image, _, _ := strings.Cut(r.Image(), ":")
			if strings.ToLower(image) != image || strings.Contains(image, "--") || strings.Contains(image, "_") {
				t.Errorf("%q: image %q", path, image)
			}
		}
	}
}

func Test_Branches_That_Git_Would_Refuse_Are_Rejected(t *testing.T) {
	for name, want := range map[string]bool{
		"main": true, "feat/x": true, "a.b": true, "ä": true, "a@b": true, "a-b": true, "a+b,c": true,
		"": false, "feat/x y": false, "-x": false, "../..": false, "a..b": false, "/a": false, "a/": false, "a//b": false,
		".a": false, "a/.b": false, "a.lock": false, "a.lock/b": false, "a.": false, "@": false, "HEAD": false, "a@{1}": false,
		"a~1": false, "a^": false, "a:b": false, "a?": false, "a*": false, "a[": false, `a\b`: false, "a\nb": false, "a\x7f": false,
		"refs/heads/x": false, "\xff": false, strings.Repeat("x", 201): false, "a\u2003b": false,
	} {
		if err := CheckBranch(name); (err == nil) != want {
			t.Errorf("%q: %v", name, err)
		}
	}
}
