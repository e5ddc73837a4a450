package policy

import (
	"slices"
	"testing"
)

func Test_A_Container_Shows_The_Workspace_And_Named_Paths(t *testing.T) {
	p := &Plan{
		Workspace: "/w",
		Rules: []Rule{
			{Path: "/home/u/.cache", Preset: "@caches", Access: ReadWrite, Applied: true},
			{Path: "/data", Layer: LayerFlags, Source: "--ro", Access: ReadOnly, Applied: true},
			{Path: "/gone", Layer: LayerFlags, Source: "--ro", Access: ReadOnly, Applied: true, Missing: true},
			{Path: "/hidden", Layer: LayerFlags, Source: "--exclude", Access: Exclude, Applied: true},
			{Path: "/main/.git", Preset: "@git", Access: ReadWrite, Applied: true},
		},
		Mounts: []Mount{{Path: "/data"}, {Path: "/home/u/.cache"}, {Path: "/w"}, {Path: "/w/x"}, {Path: "/wide"}},
		Guards: []Guard{{Dir: "/w", Name: ".envrc"}, {Dir: "/home/u", Name: ".bashrc"}}, NoRepos: []string{"/home/u/.cache", "/w"},
	}
	shown := p.Shown()
	if want := []string{"/data", "/main/.git", "/w"}; !slices.Equal(shown, want) {
		t.Errorf("shown: %q, want %q", shown, want)
	}
	got := p.ShowOnly(shown)
	var mounts []string
	for _, m := range got.Mounts {
		mounts = append(mounts, m.Path)
	}
	if want := []string{"/data", "/main/.git", "/w", "/w/x"}; !slices.Equal(mounts, want) {
		t.Errorf("mounts: %q, want %q", mounts, want)
	}
	if len(got.Guards) != 1 || !slices.Equal(got.NoRepos, []string{"/w"}) || len(p.Mounts) != 5 || len(p.NoRepos) != 2 {
		t.Errorf("guards %v, new repositories %q; the plan itself has %v", got.Guards, got.NoRepos, p.Mounts)
	}
}
