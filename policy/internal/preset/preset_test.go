package preset

import (
	"slices"
	"strings"
	"testing"
)

func Test_Members_Of_A_Group_Are_Single_Presets(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		members := Members(name)
		if len(members) == 0 {
			t.Errorf("%s stands for nothing", name)
		}
		for _, m := range members {
			if !slices.Contains(Leaves(), m) {
				t.Errorf("%s has %s, which is not a preset", name, m)
			}
		}
	}
	if Members("@none") != nil || Members("") != nil {
		t.Error("an unknown preset stands for something")
	}
}

func Test_Rules_Name_Each_Path_Once_Below_Home_Or_The_Workspace(t *testing.T) {
	t.Parallel()
	for _, name := range Leaves() {
		var paths []string
		for _, r := range Rules(name) {
			if strings.HasPrefix(r.Path, "/") || strings.Contains(r.Path, "..") || slices.Contains(paths, r.Path) {
				t.Errorf("%s: %s", name, r.Path)
			}
			paths = append(paths, r.Path)
		}
	}
	for _, list := range [][]string{ProjectNames, HomeNames} {
		sorted := slices.Clone(list)
		slices.Sort(sorted)
		if len(slices.Compact(sorted)) != len(list) {
			t.Error("a protected name stands twice in its list")
		}
	}
}

func Test_Base_Hides_Keys_Also_Where_They_Do_Not_Exist_Yet(t *testing.T) {
	t.Parallel()
	want := Rule{Path: "~/.ssh", Use: Hidden, Guard: true}
	if !slices.Contains(Rules("@base"), want) {
		t.Errorf("@base lacks %+v", want)
	}
}
