package system_test

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
)

func Test_Getopt_Orders_As_The_Real_One(t *testing.T) {
	t.Parallel()
	rows := programtest.RowsOf("",
		"getopt ab:c -a -b x y", "getopt ab:c y -a -- -b", "getopt -o ab:c: --long alpha,beta: -n prog -- -a --beta=x -b 'q w' rest", "getopt -o ab:c: --long alpha,beta:,gamma:: -- --gamma --gamma=1 --alpha x --beta y", "getopt -T", "getopt --test", "getopt -o a -- -x", "getopt -o a -n prog -- -x", "getopt -o a -u -- -a 'b c'", "getopt -Q -o a -- -x", "getopt -Q -o a -- -a", "getopt -q -o a -- -x -a", "getopt", "getopt -o +ab -- -a x -b", "getopt -o -ab -- -a x -b", "getopt -a -o a -l foo -- -foo", "getopt -a -o a -l foo -- -a -fo -x", "getopt -s csh -o a: -- -a 'x!y'", "getopt -s tcsh -o '' -- 'a b\\c'", "getopt -s bash -o a: -- -a x", "getopt -s foo", "getopt -o a:: -l b:: -- -ax -a x --b --b=3", "getopt -o a", "getopt -l foo", "getopt -o a --", "getopt -x", "getopt --bogus -- x", "getopt -o ab -- -ba --foo", "getopt -o '' -l foo,foobar -- --fo", "getopt -o '' -l foo,foobar -- --foo", "getopt -o '' -l foo: -- --foo", "getopt -o '' -l foo -- --foo=3", "getopt -o a: -- -a", "getopt -o : -- -a", "getopt -o :a -- -b", "getopt -o :a: -- -a", "getopt '' a b", "getopt -u -o a -- \"a'b\"", "getopt -o a -- \"a'b\" ''", "getopt -o a -- -a --", "getopt -o vh -l verbose,help -- -v file --help -- -x", "getopt -l a,b,c -o '' -- --a --b --c", "getopt -l a -l b: -o '' -- --a --b 1", "getopt -o a -- - x", "getopt --options=a --longoptions=b,c --name=n -- --b -d", "getopt ab --", "getopt -o ''",
	)
	rows = append(rows, programtest.Row{Line: "getopt ab: -a 'x y'", Env: []string{"GETOPT_COMPATIBLE=1"}}, programtest.Row{Line: "getopt", Env: []string{"GETOPT_COMPATIBLE=1"}}, programtest.Row{Line: "getopt -o ab -- a -b", Env: []string{"POSIXLY_CORRECT=1"}})
	programtest.RunReadOnly(t, "", rows)
}
