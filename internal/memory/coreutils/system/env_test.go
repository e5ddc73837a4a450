package system_test

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
)

func Test_Env_Runs_As_GNU_Does(t *testing.T) {
	t.Parallel()
	rows := programtest.RowsOf(
		"mkdir d; echo x > d/f; touch noexec", "env -i", "env -i A=1 B=2", "env - A=1", "env -i A=1 A=2", "env -u HOME -u PATH -u TERM -u TZ", "env -i A=1 env", "env A=1 printenv A", "env -u HOME printenv HOME", "env printenv HOME TERM", "env -C d ls", "env --chdir=d cat f", "env -C nosuch ls", "env -C d", "env -0i A=1 B=2", "env -0 ls", "env nosuch", "env ./noexec", "env ./d", "env false", "env true", "env -i ls nosuch", "env --bogus", "env -x", "env -u", "env -u ''", "env -u a=b", "env A= printenv A", "env -S 'printenv HOME'", "env '-Sprintenv  HOME TERM'", "env -S 'A=1 printenv A'", "env -S 'printenv ${HOME}'", "env -S 'basename ${HOME}/x'", "env -iS 'A=1 B=2'", "env -S 'ls \"a b\"'", "env -S 'basename a\\_b'", "env -S 'basename \"a\\_b\"'", "env -S 'basename x # y'", "env -S 'basename x\\cy'", "env -S 'basename \"'", "env -S 'basename $HOME'", "env -S 'basename \\q'", "env -S 'basename x\\'", "env -S '-i A=1' B=2", "env -v true", "env 'a b'", "env -S 'a b'", "env --ignore-signal=INT true", "env --ignore-signal=FOO true", "env --default-signal true", "env -- A=1 printenv A", "env -i PATH=/nosuch printenv PATH", "env POSIXLY_CORRECT=1 ls d -l",
		"printenv HOME", "printenv nosuch", "printenv HOME nosuch TERM", "printenv -0 HOME TERM", "printenv --bogus", "printenv a=b", "printenv HOME=x", "printenv --null HOME",
		"true", "false", "true x", "false --x", "true --bogus y", "false a b",
	)
	rows = append(rows, programtest.Row{Setup: "", Line: "env =x", Loose: programtest.AnyOrder})
	for i, r := range rows {
		if r.Line == "env -v true" {
			rows[i].Loose = programtest.SloppyOutput
		}
	}
	programtest.RunRows(t, rows)
}
