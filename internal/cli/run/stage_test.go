package run

import "testing"

func Test_A_Run_Prints_The_Next_Commands(t *testing.T) {
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
