//go:build linux

package guard

import (
	"fmt"
	"testing"
)

func Test_Refused_Paths_That_Commands_Choose_Are_Not_Stored(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	g := New(Options{Rules: Rules{Names: []Name{{Dir: Path(dir), Name: ".envrc"}}}, Refused: func(Refusal) {}})
	for i := range 10000 {
		_ = g.deny(opOpen, fmt.Sprintf("%s/%d", dir, i), 1) // it returns its last argument
	}
	_ = g.deny(opOpen, dir+"/.envrc", 1)
	if len(g.sweep.denied) != 1 || !g.sweep.denied[dir+"/.envrc"] {
		t.Errorf("%d refused paths are stored", len(g.sweep.denied))
	}
}
