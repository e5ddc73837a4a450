package find_test

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
)

func Test_Xargs_Runs_As_GNU_Does(t *testing.T) {
	t.Parallel()
	var rows []programtest.Row
	add := func(stdin string, lines ...string) {
		for _, l := range lines {
			rows = append(rows, programtest.Row{Setup: "mkdir d; touch a b c 'x y'; printf 'a\\nb\\n' > list; printf 'a\\0b\\0' > list0", Line: l, Stdin: stdin})
		}
	}
	add("a b\nc", "xargs", "xargs echo", "xargs -n 1", "xargs -n 2 echo x", "xargs -n1 -t echo", "xargs -L 1", "xargs -L1 echo", "xargs -l echo", "xargs -l2 echo", "xargs --max-lines echo", "xargs -I{} echo {}", "xargs -I {} echo x{}y {}", "xargs -i echo {} {}", "xargs -iX echo XX", "xargs --replace echo {}", "xargs --replace=Q echo Q", "xargs -I{} echo none", "xargs -I{} {} {}", "xargs -d '\\n' echo", "xargs -d ' ' echo", "xargs -d b echo", "xargs -0 echo", "xargs -t echo 'a b' \"it's\"", "xargs -r echo", "xargs -P 2 -n 1 basename", "xargs -P0 -n 5 echo", "xargs ls -d", "xargs false", "xargs true", "xargs nosuch", "xargs ./d", "xargs ./a", "xargs env false", "xargs -n 1 nosuch", "xargs -n 1 false", "xargs -s 8 echo", "xargs -s 9 echo", "xargs -s 10 echo", "xargs -s 12 echo", "xargs -x -s 9 echo", "xargs -x -s 9 -n 3 echo", "xargs -s 9 -n 3 echo", "xargs -s 3 echo", "xargs -E c echo", "xargs -E b", "xargs -eb", "xargs -e", "xargs -E ''", "xargs --eof=c", "xargs --show-limits echo", "xargs -a list echo", "xargs -a list0 -0 echo", "xargs -a nosuch", "xargs --arg-file=list cat", "xargs -a list -I{} cp {} d", "xargs --process-slot-var=S -n1 printenv S", "xargs -P1 --process-slot-var=S printenv S", "xargs --exit echo", "xargs -n2 -L1 echo", "xargs -L1 -n2 echo", "xargs -I{} -n2 echo {}", "xargs -I{} -n1 echo {}", "xargs -n2 -I{} echo {}", "xargs -L2 -I{} echo {}", "xargs -I{} -L1 echo {}", "xargs -l -n 1 echo", "xargs -- echo -n", "xargs echo -n", "xargs -n1 echo -n", "xargs --no-run-if-empty -n1 echo", "xargs --max-procs=2 --max-args=1 basename",
		"xargs -n 0", "xargs -n x", "xargs -n -1", "xargs -L 0", "xargs -L x", "xargs -lx", "xargs -P x", "xargs -P -1", "xargs -s 0 echo", "xargs -s x", "xargs -d xx", "xargs -d '\\q'", "xargs -d '\\777'", "xargs -d '\\x1ff'", "xargs -d '\\08'", "xargs -d '\\t' echo", "xargs -d '\\x62' echo", "xargs -d '\\142' echo", "xargs -d '\\\\' echo", "xargs -d ''", "xargs --bogus", "xargs -y", "xargs -n", "xargs --process-slot-var=a=b echo")
	add("", "xargs", "xargs echo x", "xargs -r", "xargs -r echo x", "xargs -I{} echo {}", "xargs -n1 echo", "xargs -0", "xargs -0 -r echo", "xargs -t", "xargs -L1 echo y", "xargs -d '\\n'")
	add("\n\n", "xargs", "xargs -r echo", "xargs -I{} echo [{}]", "xargs -L1 echo", "xargs -d '\\n' echo", "xargs -d '\\n' -n1 echo x")
	add(" a  'b c' \"d e\" f\\ g\\\nh\ti \n\n j", "xargs -n1 echo", "xargs -L1 echo", "xargs -I{} echo [{}]", "xargs -d '\\n' -n1 echo", "xargs -t echo", "xargs -0 -n1 echo", "xargs -L2 echo", "xargs")
	add("a\x00b c\x00\x00d\n", "xargs -0 -n1 echo", "xargs -0 -I{} echo [{}]", "xargs -0 -L1 echo", "xargs -0 ls -d", "xargs --null echo")
	add("a 'b\nc", "xargs echo", "xargs -n1 echo", "xargs -I{} echo {}")
	add("a \"b", "xargs echo", "xargs -n1 echo", "xargs -d ' ' echo")
	add("''\n\"\" x", "xargs -n1 echo y", "xargs echo", "xargs -I{} echo [{}]")
	add("a b \nc\nd \n e\n", "xargs -L1 echo", "xargs -L2 echo", "xargs -I{} echo [{}]")
	add("a\\", "xargs echo", "xargs -I{} echo [{}]")
	add("1\n2\n3\n4\n5\n6\n7\n", "xargs -n3", "xargs -L3", "xargs -n3 echo a", "xargs -s 10", "xargs -s 13 echo", "xargs -I% echo %%")
	add("_\na b\n_\nc\n", "xargs -E _ echo", "xargs -E _ -I{} echo {}", "xargs -e_ -L1 echo")
	add("dir with space\n  lead\ntrail  \n", "xargs -I{} echo '[{}]'", "xargs -d '\\n' -I{} echo '[{}]'", "xargs -I{} -d '\\n' -t echo {}")
	for i, r := range rows {
		if r.Line == "xargs --show-limits echo" {
			rows[i].Loose = programtest.SloppyOutput
		}
		if r.Line == "xargs -P 2 -n 1 basename" || r.Line == "xargs --max-procs=2 --max-args=1 basename" {
			rows[i].Loose = programtest.AnyOrder
		}
	}
	programtest.RunRows(t, rows)
}

func Test_Echo_Prints_As_GNU_Does(t *testing.T) {
	t.Parallel()
	rows := programtest.RowsOf("", "echo", "echo a b", "echo -n a", "echo -e 'a\\tb\\n'", "echo -E 'a\\tb'", "echo -ne a\\\\n", "echo -en a", "echo -x a", "echo - a", "echo -- a", "echo --bogus", "echo -e '\\0101\\101\\x41\\x4g\\q\\e[0m'", "echo -e 'a\\cb' c", "echo -e 'a\\'", "echo -e '\\0'", "echo -nE -e 'x\\ty'", "echo '' a", "echo -e '\\xzz\\8'", "echo -neEe 'a\\t'", "echo -e '\\0777\\1234'", "echo --help x", "echo -e -n", "echo '-n a'")
	rows = append(rows, programtest.Row{Line: "echo -e 'a\\tb'", Env: []string{"POSIXLY_CORRECT=1"}}, programtest.Row{Line: "echo -n 'a\\tb'", Env: []string{"POSIXLY_CORRECT=1"}}, programtest.Row{Line: "echo -ne 'a\\tb'", Env: []string{"POSIXLY_CORRECT=1"}})
	programtest.RunRows(t, rows)
}
