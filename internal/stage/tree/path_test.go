package tree

import (
	"slices"
	"testing"
)

func Test_Paths_Are_Ordered_As_A_Walk_Visits_Them(t *testing.T) {
	t.Parallel()
	want := []string{"a", "a/b", "a/b/c", "a/z", "a-b", "a.c", "ab", "b"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, ComparePaths)
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
