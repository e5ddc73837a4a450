package text_test

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
)

func Test_Line_Programs_Do_As_The_Real_Ones(t *testing.T) {
	t.Parallel()
	groups := map[string][]string{
		"seq": {
			"seq", "seq 5", "seq 1 2 3 4", "seq x", "seq 1 0 5", "seq -f %d 3", "seq -f x 3", "seq -f %g%g 3", "seq -w 8 10", "seq 1 .5 3", "seq 5 1", "seq 5 -2 1", "seq -s, 3", "seq -w -5 5 5", "seq 1e2 101", "seq nan", "seq inf x", "seq -f %5.2f 1 2", "seq -wf %g 2", "seq 0x10 0x12", "seq 1.0 2", "seq 1 1.00 2", "seq -w 1 0.5 2", "seq -s '' 3", "seq 99999999999999999999 100000000000000000001", "seq -- -1 1", "seq -1 1", "seq -f '%%%g' 2", "seq -f %", "seq -f % 2", "seq -f 'a%Zb' 2", "seq --x",
			"seq 0 0.1 1", "seq 1 -0.1 0", "seq -w 0.99 0.01 1.02", "seq -w 1e1 12", "seq 1.5", "seq 2.5 4", "seq -w 9 0.5 10", "seq -w -1 2", "seq -w 1 -1 -2", "seq -w 1000", "seq 0", "seq -3", "seq -5 -3", "seq --separator=: 1 3", "seq --equal-width 9 11", "seq --format=%03.0f 3", "seq -f %e 2", "seq -f '%+g|' 2", "seq -f '%-5g|' 2", "seq -f '%5g|' 2", "seq 1 1 1", "seq 10 -1 8", "seq 100000 3 100010", "seq 1e-2 1e-2 3e-2", "seq .1 .1 .5", "seq +1 +3", "seq 1 2 10", "seq -s ' ' -w 08 12", "seq 0 -1 -3", "seq 9223372036854775806 9223372036854775809", "seq -0 2", "seq -.5 .5 1", "seq 3 1 -s,", "seq 1 3 4.5", "seq -f '%.3f' 1 .333 2", "seq -w 5.0 0.25 5.5", "seq ''", "seq 1 ' 2'", "seq 1_0",
		},
		"tee": {"tee", "tee -a", "tee /dev/null", "tee d", "tee nodir/x", "tee -x", "tee --output-error=x", "tee -p", "tee --output-error", "tee -i"},
		"tac": {"tac", "tac a", "tac noend", "tac noend a", "tac empty", "tac seq", "tac -s -- seps", "tac -b -s -- seps", "tac -s o a", "tac -b -s o a", "tac -r -s '[ o]' a", "tac -r -b -s 'e*r' a", "tac -r -s '\\(a\\|e\\)' a", "tac -s '' nul", "tac -r -s '' a", "tac missing", "tac missing a", "tac d", "tac -x", "tac -s", "tac - a", "tac long", "tac -r -s '[' a", "tac -b a", "tac nul", "tac -r -s 's$' a", "tac -rs '[0-9]' seq25"},
		"rev": {"rev", "rev a", "rev noend", "rev missing", "rev missing a", "rev -x", "rev empty", "rev - a"},
		"nl": {
			"nl", "nl a", "nl -ba a", "nl -bn a", "nl -bpo a", "nl '-bp^f' a", "nl -b x a", "nl -v x a", "nl -n x a", "nl -nln a", "nl -nrz a", "nl -nrn -w3 a", "nl -w 1 seq25", "nl -s: a", "nl -s '' a", "nl -v 10 -i 5 a", "nl -v -3 a", "nl -i -1 a", "nl -v -2 -n rz a", "nl pages", "nl -ha -fa pages", "nl -p pages", "nl -p -ba -ha pages", "nl -d abc pages", "nl -d : pages", "nl -d '' pages", "nl -l 2 -ba a", "nl -l2 -ba blanks empty a", "nl -w 0 a", "nl -l 0 a", "nl -i x a", "nl -l x a", "nl missing a", "nl d", "nl a noend a", "nl --body-numbering=a a", "nl --number-width=2 --number-separator=. a", "nl -v 9223372036854775807 a", "nl -b p a", "nl -b 'p[' a", "nl -bpa -bt a", "nl -x", "nl -h x a", "nl -f y a", "nl -ba -v 999999 a", "nl -b '' a", "nl -w x a", "nl -i 0 a",
		},
		"paste": {
			"paste a seq25", "paste -s a", "paste -s a seq25", "paste -d, a seq25 tabs", "paste -d ,: a seq25 tabs", "paste -sd, seq25", "paste -sd ',\\n' seq25", "paste -d '\\0' a seq25", "paste -d '' a seq25", "paste -d '\\t\\\\x' a seq25 tabs dups", "paste -d '\\' a", "paste - -", "paste - a -", "paste -s -", "paste -z nul nul", "paste empty a", "paste a empty", "paste empty empty", "paste -s empty a", "paste noend a", "paste missing", "paste a missing", "paste -s missing a", "paste d", "paste", "paste -x", "paste -d", "paste noend noend", "paste --serial --delimiters=: a noend", "paste a a a a -d abc", "paste -d '\\b\\f\\r\\v\\q' a a a a a a",
		},
		"comm": {"comm j1 j2", "comm -12 j1 j2", "comm -23 j1 j2", "comm -13 j1 j2", "comm -3 j1 j2", "comm -123 j1 j2", "comm a", "comm", "comm a b c", "comm --check-order seq25 a", "comm seq25 a", "comm uns j1", "comm j1 uns", "comm --nocheck-order uns j1", "comm --check-order j1 uns", "comm --total j1 j2", "comm --total -12 j1 j2", "comm --output-delimiter=, j1 j2", "comm --output-delimiter= j1 j2", "comm --output-delimiter=a --output-delimiter=b j1 j2", "comm -z nul nul", "comm missing j1", "comm j1 missing", "comm d j1", "comm - j1", "comm j1 -", "comm empty j1", "comm noend j1", "comm uns uns", "comm -x", "comm dups dups", "comm --total --check-order uns j1"},
		"join": {
			"join j1 j2", "join -a1 j1 j2", "join -a2 j1 j2", "join -a1 -a2 j1 j2", "join -v1 j1 j2", "join -v2 j1 j2", "join -v1 -v2 j1 j2", "join -o 1.1,2.2 j1 j2", "join -o '0 1.2 2.2' -a1 -e NA j1 j2", "join -a1 -a2 -e - -o 0,1.2,2.2 j1 j2", "join -t: k1 k2", "join -t: -a1 k1 k2", "join -t: -1 1 -2 1 -o auto -a1 -a2 -e X k1 k2", "join -t: -o auto k1 k2", "join -1 2 -2 1 j1 j2", "join --header h1 h2", "join --header -a1 -a2 h1 h2", "join -i j1 keys", "join uns j1", "join j1 uns", "join --check-order uns j1", "join --nocheck-order uns j1", "join j1", "join", "join a b c", "join -j 0 j1 j2", "join -j x j1 j2", "join -o 1.x j1 j2", "join -o 3.1 j1 j2", "join -o 1 j1 j2", "join -a 3 j1 j2", "join -a x j1 j2", "join -t ab j1 j2", "join -t '' j1 j2", "join -t '\\0' j1 j2", "join -j1 j1 j2", "join -j 2 j1 j2", "join missing j1", "join j1 missing", "join - j1", "join j1 -", "join - -", "join empty j1", "join -a2 empty j1", "join d j1", "join -z nul nul", "join noend j1", "join -x", "join -e X j1 j2", "join -o 0 j1 j2", "join blanks blanks", "join -t ' ' blanks blanks", "join -1 9 j1 j2", "join dups dups", "join seq seq25",
		},
		"fold":     {"fold", "fold long", "fold -w 10 prose", "fold -w10 -s prose", "fold -b -w 5 blanks", "fold -s -w 20 prose", "fold -10 prose", "fold -w 1 a", "fold -w x a", "fold -w 0 a", "fold -w -1 a", "fold missing a", "fold d", "fold -w 9 blanks", "fold -s -w 9 blanks", "fold -w 7 utf8", "fold -bw 7 utf8", "fold noend -w 3", "fold -w 3 bin", "fold -sb -w 6 prose", "fold --width=12 --spaces prose", "fold -x", "fold empty", "fold -w 100000 long", "fold -w 99999999999999999999 a", "fold -w 10k a", "fold -5s prose", "fold -w 8 tabs", "fold -sw 16 blanks tabs", "fold a noend a -w 4"},
		"expand":   {"expand", "expand tabs", "expand -t 4 tabs", "expand -t4 blanks", "expand -t 2,6,9 tabs blanks", "expand -i blanks", "expand -4 tabs", "expand -2,5 tabs", "expand -t x a", "expand -t 0 a", "expand -t 4,2 a", "expand -t 4,/8 blanks", "expand -t 3,+5 blanks", "expand -t /4 blanks", "expand -t +3 blanks", "expand -t '1 3' tabs", "expand -t 1 tabs", "expand missing tabs", "expand d", "expand -x", "expand -t /4,2 a", "expand -t '' tabs", "expand -t 4/ a", "expand -t 99999999999999999999 a", "expand --initial --tabs=3 blanks", "expand noend", "expand bin", "expand -t 2 -t 5 tabs"},
		"unexpand": {"unexpand", "unexpand blanks", "unexpand -a blanks", "unexpand -t 4 blanks", "unexpand -t 4 --first-only blanks", "unexpand -a -t 2,5,9 blanks", "unexpand -t 0 a", "unexpand -4 blanks", "unexpand -t 3 prose", "unexpand -a prose", "unexpand missing blanks", "unexpand -x", "unexpand -t 4,/8 blanks", "unexpand -t 1 blanks", "unexpand -t 2 prose blanks tabs", "unexpand --all --tabs=5 blanks", "unexpand tabs", "unexpand -at 3 a bin", "unexpand noend", "unexpand -t 3,+5 blanks", "unexpand d"},
		"shuf":     {"shuf -n x a", "shuf -i x", "shuf -i 5-1", "shuf -i 1", "shuf -e", "shuf -n0 a", "shuf -i 3-3", "shuf -e one", "shuf empty", "shuf missing", "shuf d", "shuf a b", "shuf -i 1-3 a", "shuf -e -i 1-2", "shuf -r empty", "shuf -rn0 empty", "shuf -rn 3 -e y", "shuf -x", "shuf -i 1-2 -i 1-2", "shuf -o o1 -o o2 a", "shuf -n -1 a", "shuf -i 5-4", "shuf --random-source=missing a", "shuf -z -e one"},
		"tsort":    {"tsort graph", "tsort loops", "tsort", "tsort missing", "tsort d", "tsort empty", "tsort a b", "tsort -x", "tsort j1", "tsort dups", "tsort seq25", "tsort prose", "tsort keys", "tsort k1 -"},
		"envsubst": {"envsubst -x", "envsubst a b", "envsubst -v '$A ${B} $C$D ${x'", "envsubst -v", "envsubst --x"},
		"look":     {"look a words", "look ban words", "look -f app words", "look -t n banjo words", "look z words", "look b missing", "look", "look a b c", "look -d ap words", "look -x", "look -fd APP words", "look '' words", "look --alphanum band words"},
		"expr": {
			"expr", "expr 1 + 2", "expr 1 +", "expr 1 + a", "expr 1 / 0", "expr 1 % 0", "expr ( 1", "expr ( 1 + 2 ) * 3", "expr 1 1", "expr length", "expr length abc", "expr length ''", "expr substr abc 2", "expr substr abcdef 2 3", "expr substr abc 0 1", "expr substr abc 9 1", "expr substr abc x 1", "expr substr abc 1 99999999999999999999", "expr index abc c", "expr index abc zb", "expr index abc z", "expr a : '\\('", "expr abc : 'a\\(.\\)c'", "expr abc : 'a.'", "expr abc : b", "expr abc : '\\(x\\)'", "expr match abc 'a*'", "expr match aab 'a*\\(b\\)'", "expr 5 % 3", "expr -5 % 3", "expr -7 / 2", "expr 99999999999999999999 + 1", "expr 99999999999999999999 '*' 99999999999999999999", "expr + a", "expr + length", "expr + + + +", "expr a = a", "expr a = b", "expr 01 = 1", "expr a '<' b", "expr 10 '<' 9", "expr 10 '<' 9a", "expr a '>=' a", "expr a != a", "expr a == a", "expr '' '|' 0", "expr 0 '|' b", "expr a '|' b", "expr a '&' b", "expr a '&' 0", "expr '' '&' b", "expr 0 '&' 1 / 0", "expr 1 '|' 1 / 0", "expr 1 '|'", "expr -- 1", "expr -- -1 + 2", "expr -1 + 2", "expr --help x", "expr a", "expr 0", "expr ''", "expr -0", "expr 00", "expr -", "expr )", "expr ( )", "expr ( a", "expr ( a b", "expr 1 - 1", "expr 2 - 3", "expr 3 '*' -4", "expr 1 = 1 = 1", "expr 2 + 3 '*' 4", "expr 1 '<' 2 '&' 3", "expr abc : 'a\\(b*\\)\\(c\\)'", "expr 'a*b' : 'a*b'", "expr 'ab' : '^a'", "expr -x", "expr --x", "expr 1 + 2 )", "expr match a", "expr index a", "expr length abc + 1", "expr substr hello 2 3 : e", "expr +5 + 1", "expr 1 '!=' 2", "expr ' 1' + 1", "expr 1.5 + 1",
		},
		"yes": {"yes -x", "yes --x"},
	}
	for name, lines := range groups {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			programtest.RunReadOnly(t, programtest.LinesTree, programtest.TextRows(lines))
		})
	}
}

func Test_Line_Programs_Write_Files_As_The_Real_Ones(t *testing.T) {
	t.Parallel()
	var rows []programtest.Row
	for _, line := range []string{
		"tee out", "tee -a a", "tee out out2", "tee d out", "shuf -o out -e x", "shuf -n1 -o empty seq25 -i 4-4", "envsubst",
	} {
		rows = append(rows, programtest.Row{Setup: programtest.LinesTree, Line: line, Stdin: "in $HOME ${HOME} $NOPE ${HOME $1 $$ ${1}x $HOMEx ${HOME}\nb"})
	}
	rows = append(rows, programtest.Row{Line: "envsubst '$A'", Stdin: "$A ${A} $B $AB ${A}B $", Env: []string{"A=1", "B=2"}},
		programtest.Row{Line: "envsubst", Stdin: "$A ${A} $B $AB ${A}B $", Env: []string{"A=1", "B=$A"}})
	programtest.RunRows(t, rows)
}
