package find_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
)

func Test_Fd_Does_As_The_Real_One(t *testing.T) {
	t.Parallel()
	var rows []programtest.Row
	for _, args := range []string{
		"", "main", "-e rs", "-e .py -e rs", "-t d", "-t f", "-t l", "-t e", "-t f -t d", "-t e -t f", "-H", "-I", "-HI -t d", "-u", "-u log", "-g '*.rs'", "-g '**/src/*.rs' -p", "-g 'MAIN*'", "-d 1", "-d 2 -t f", "-a main", "-0 main", "A", "a", "main src", "main ./src", ".", "'(' src", "zzz", "x nosuch", "x nosuch src", "-t z", "-p src/m", "-F main.", "-E src", "-E '*.py'", "-L", "-L -t l", "--min-depth 2", "--exact-depth 2", "-i MAIN", "-s MAIN", "-q main", "-q zzz", "'^a' . src", "-1 main", "--max-results 1 main", "--no-ignore-vcs", "'\\.(rs|py)$'", "-t x", "'' src", "-e txt top", "main -x echo {/} {//} {.} {/.}", "-t f main -X echo a {} b", "main -x echo", "b.py -x false",
		"--type directory deep", "--extension md -I", "--hidden --exclude .git f", "-g '{main,b}.*'", "top",
	} {
		rows = append(rows, programtest.Row{Line: strings.TrimSpace("fdfind -c never " + args), Loose: programtest.AnyOrder})
	}
	rows = slices.DeleteFunc(rows, func(r programtest.Row) bool { return strings.Contains(r.Line, "'('") })
	programtest.RunReadOnly(t, programtest.RgTree, rows)
}
