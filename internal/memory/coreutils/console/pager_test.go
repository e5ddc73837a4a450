package console_test

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
)

func Test_Pagers_Print_As_The_Real_Ones(t *testing.T) {
	t.Parallel()
	rows := programtest.RowsOf("", "less a", "less a b", "less nosuch", "less a nosuch b", "less d", "less a d", "less -N a", "less -SR a", "less -FX a", "less +G a", "less -p one a", "less --no-init a", "less -x4 a", "less long", "more a", "more a b", "more nosuch", "more a nosuch", "more nosuch a", "more d", "more a d", "more -d a", "more -5 a", "more -n 3 a", "more +2 a", "more +3 seq", "more +/7 seq", "more long", "more --bogus", "more -p a", "more -cs a", "more -", "less empty", "more empty", "more a a")
	rows = append(rows, programtest.Row{Line: "less", Stdin: "in\n"}, programtest.Row{Line: "less -", Stdin: "in\n"}, programtest.Row{Line: "more", Stdin: "in\n"}, programtest.Row{Line: "less a -", Stdin: "in\n"}, programtest.Row{Line: "less -R", Stdin: "\x1b[1min\x1b[m\n"}, programtest.Row{Line: "more +2", Stdin: "1\n2\n3\n"})
	programtest.RunReadOnly(t, "printf 'one\\ntwo\\n' > a; printf 'three' > b; mkdir d; seq 20 > seq; : > empty; head -c 100000 /dev/zero | tr '\\0' x > long", rows)
}
