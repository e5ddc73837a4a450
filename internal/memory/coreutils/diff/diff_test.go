package diff_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/scripttest"
)

var diffTree = scripttest.Files{
	"a": "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve\n",
	"b": "one\n2\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\ninserted\neleven\n",
	"c": "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve",
	"e": "", "s": "One\n  two\nthree \nfour\n\n\nfive\n", "t": "one\n two\nthree\nfo ur\nfive\n\n",
	"tab": "a\tb\n\tc\n", "spc": "a       b\n        c\n", "cr": "one\r\ntwo\r\n", "lf": "one\ntwo\n",
	"bin": "x\x00y\n", "bin2": "x\x00z\n", "dot": "a\n.\nb\n", "nodot": "a\nb\n", "nl1": "x", "nl2": "x\n", "nl3": "y",
	"f1":   "int main(void)\n{\n  a();\n  b();\n  c();\n  d();\n  e();\n}\n\nstatic void other(int x, int y, int z, int aaaaaaaaaaaaaaaaaaa)\n{\n  f();\n  g();\n  h();\n  i();\n}\n",
	"f2":   "int main(void)\n{\n  a();\n  b();\n  c();\n  d();\n  e2();\n}\n\nstatic void other(int x, int y, int z, int aaaaaaaaaaaaaaaaaaa)\n{\n  f();\n  g();\n  h();\n  i2();\n}\n",
	"d1/x": "x\n", "d1/y": "y\n", "d1/only1": "1\n", "d1/sub/f": "f\n", "d1/sub/g": "g\n", "d1/kind": "file\n", "d1/ex.o": "o\n", "d1/empty": "",
	"d2/x": "x\n", "d2/y": "Y\n", "d2/only2": "2\n", "d2/sub/f": "F\n", "d2/sub/h": "h\n", "d2/kind/z": "z", "d2/ex.o": "O\n", "d2/newdir/n": "n\n", "d2/empty": "no\n",
	"l1@": "a", "l2@": "b", "d1/lnk@": "x", "d2/lnk@": "y", "b l/f": "1\n", "b\"q/f": "2\n", "pats": "*.o\n\nonly*\n",
	"long1": strings.Repeat("a fairly long line of text that does not fit into half of the width of the screen\n", 2),
	"long2": "a fairly long line of text that does not fit into half of the width of the screen, changed\nshort\n",
}

func Test_Diff_Is_Like_The_Real_One(t *testing.T) {
	t.Parallel()
	lines := []string{
		"diff a b", "diff a a", "diff a c", "diff c a", "diff a e", "diff e a", "diff e e", "diff -u a b", "diff -u a c", "diff -u c b", "diff -u e a", "diff -u a e", "diff -c a b", "diff -c a c", "diff -c e a", "diff -c a e", "diff -U 0 a b", "diff -U0 e a", "diff -U1 a b", "diff -C 1 a b", "diff -C0 a b", "diff --unified=2 a b", "diff --unified a b", "diff --context=2 a b", "diff --context a b", "diff -u5 a b", "diff -5u a b", "diff -1 -u a b", "diff -12 a b",
		"diff -e a b", "diff -e dot nodot", "diff -e nodot dot", "diff -f a b", "diff --forward-ed nodot dot", "diff -n a b", "diff -n c b", "diff -n a c", "diff -e a c", "diff -f a c", "diff -e b a", "diff -n b a",
		"diff -q a b", "diff -q a a", "diff -s a a", "diff -qs a a", "diff -s a b", "diff --brief a c", "diff -i s t", "diff -b s t", "diff -w s t", "diff -B s t", "diff -bB s t", "diff -wB s t", "diff -iwB s t", "diff -Z s t", "diff -E tab spc", "diff -Ew tab spc", "diff -b tab spc", "diff --strip-trailing-cr cr lf", "diff cr lf", "diff -w cr lf", "diff -ub s t", "diff -uB s t", "diff -cB s t", "diff -uwB -U1 s t",
		"diff bin bin2", "diff -a bin bin2", "diff -q bin bin2", "diff bin bin", "diff bin a", "diff -u bin e", "diff nl1 nl2", "diff -u nl1 nl2", "diff -u nl1 nl3", "diff -c nl1 nl3", "diff nl1 nl3", "diff nl2 nl3", "diff -b nl1 nl2", "diff -Z nl1 nl2", "diff -e nl1 nl3", "diff -y nl1 nl2", "diff -y nl1 nl3", "diff -n nl1 nl3",
		"diff -y a b", "diff -y -W 40 a b", "diff --width=20 -y a b", "diff -y --left-column a b", "diff -y --suppress-common-lines a b", "diff -yt a b", "diff -y s t", "diff -yb s t", "diff -yB s t", "diff -y tab spc", "diff -y -W 5 a b", "diff -y long1 long2", "diff -yt -W 60 long1 long2", "diff -y a a", "diff -y a e", "diff -y e a", "diff -y f1 f2", "diff --suppress-common-lines a b", "diff -y -W 8 a b", "diff -y --tabsize=4 -W 50 tab spc", "diff -y cr lf",
		"diff -p f1 f2", "diff -up f1 f2", "diff -u -F '^stat' f1 f2", "diff -cp f1 f2", "diff --show-c-function f1 f2", "diff -u -p -U1 f1 f2", "diff -t tab spc", "diff -T a b", "diff -uT a b", "diff -cT a b", "diff -ut tab a", "diff --tabsize=4 -t tab a", "diff -u --suppress-blank-empty s t", "diff --suppress-blank-empty s t", "diff -c --suppress-blank-empty s t", "diff -u --label x a b", "diff -u --label x --label y a b", "diff -u -L x a b", "diff -c --label x --label 'y z' a b", "diff --label x -q a b", "diff --label a --label b --label c a b",
		"diff d1 d2", "diff -r d1 d2", "diff -q d1 d2", "diff -rq d1 d2", "diff -rN d1 d2", "diff -rNu d1 d2 --label x", "diff -ruN --label x --label y d1 d2", "diff -rs d1 d2", "diff -r --unidirectional-new-file d1 d2", "diff -r --unidirectional-new-file d2 d1", "diff -r -x '*.o' d1 d2", "diff -r -x sub --exclude=kind d1 d2", "diff -r -X pats d1 d2", "diff -r -S sub d1 d2", "diff -r --no-dereference d1 d2", "diff --no-dereference l1 l2", "diff l1 l2", "diff l1 a", "diff -rqN d1 d2", "diff -Nq d1 d2", "diff -r d1 d1", "diff d1/sub d2/sub", "diff d1/ d2/", "diff -r -u 'b l' 'b\"q'", "diff -u 'b l/f' 'b\"q/f'", "diff -N nosuch a", "diff -N a nosuch", "diff -N nosuch no2",
		"diff d1 a", "diff a d1", "diff d1/x d2", "diff d1 d2/y", "diff a nosuch", "diff nosuch a", "diff nosuch no2", "diff d1 nosuch", "diff", "diff a", "diff a b c", "diff -u -c a b", "diff -y -e a b", "diff -U x a b", "diff --context=x a b", "diff -q", "diff --nothing a b", "diff - a < b", "diff a - < b", "diff a - < a", "diff - - < a", "diff - d1 < a", "cat b | diff a -", "diff -W 0 -y a b", "diff --color=x a b", "diff --horizon-lines=x a b", "diff --tabsize=0 a b", "diff --from-file=a b c", "diff --to-file=a b c", "diff --from-file=a --to-file=b", "diff --from-file=d1 a", "diff -F '(' -u a b",
		"diff -I '^[0-9]' a b", "diff -I 2 -I inserted -I two a b", "diff -I t a b", "diff -u -I '^2' -I '^two' a b", "diff -d a b", "diff --minimal -u a b", "diff --speed-large-files a b", "diff -H a b", "diff --horizon-lines=5 a b", "diff --normal a b",
		"diff --color=always a b", "diff --color=always -c a b", "diff --color=always -y a b", "diff --color=always -u a c", "diff --color=never a b", "diff --color a b", "diff --color=always -r d1 d2", "diff --color=always -e a b", "diff --color=always -u nl1 nl3", "diff --color=always nl1 nl3", "diff --color=always -c nl1 nl3", "diff --color=always -up f1 f2", "diff --color=always -yt nl1 a",
		"diff -D X a b", "diff -D X a a", "diff --ifdef=FOO f1 f2", "diff -D X e a", "diff -D X a c", "diff --line-format=%L a b", "diff --old-line-format='-%L' --new-line-format='+%L' --unchanged-line-format=' %L' a b", "diff --unchanged-line-format= --old-line-format= --new-line-format=%L a b", "diff --unchanged-group-format= --changed-group-format=%\\> a b", "diff --changed-group-format='%dF,%dL-%df,%dl:%dN:%de:%dM\n' --unchanged-group-format= a b", "diff --old-group-format='%df%(f=l?:,%dl)d%dE\n%<' --new-group-format='%dea%dF%(F=L?:,%dL)\n%>' --changed-group-format='%df%(f=l?:,%dl)c%dF%(F=L?:,%dL)\n%<---\n%>' --unchanged-group-format= a b", "diff --line-format='%3dn %l\n' a b", "diff --old-line-format='%5xn|%-5on|%.4dn %l%c'\\''X'\\''%c'\\''\\012'\\''' a b", "diff --unchanged-line-format= a a",
		"diff --old-line-format='%%%q' a b",
	}
	scripttest.RunReal(t, "diff", scripttest.RowsOf(diffTree, lines...))
}

// Test_Diff_Finds_The_Changes_That_The_Real_One_Finds compares texts of few different lines,
// where there are many ways to tell one from the other.
func Test_Diff_Finds_The_Changes_That_The_Real_One_Finds(t *testing.T) {
	t.Parallel()
	var rows []scripttest.Row
	for seed := range 120 {
		rng := rand.New(rand.NewPCG(uint64(seed), 7)) //nolint:gosec // The rows are to be the same each time.
		text := func(lines []string) string { return strings.Join(lines, "\n") + "\n" }
		kinds := []int{3, 8, 40, 400}[seed%4]
		size := []int{12, 60, 300, 900}[seed/4%4]
		var a []string
		for range size {
			a = append(a, fmt.Sprintf("line %d", rng.IntN(kinds)))
		}
		b := mutate(rng, a, kinds, 1+size/[]int{3, 10, 40}[seed%3])
		style := []string{"-u", "", "-c", "-U0", "-d", "-y -W 40", "-n"}[seed%7]
		rows = append(rows, scripttest.Row{
			Name: fmt.Sprintf("seed %d %s", seed, style), Tree: scripttest.Files{"a": text(a), "b": text(b)},
			Run: "diff " + style + " --label a --label b a b",
		})
	}
	scripttest.RunReal(t, "diff", rows)
}

func mutate(rng *rand.Rand, in []string, kinds, edits int) []string {
	out := append([]string(nil), in...)
	for range edits {
		at := rng.IntN(len(out) + 1)
		n := 1 + rng.IntN(4)
		switch rng.IntN(3) {
		case 0:
			for range n {
				out = append(out[:at], append([]string{fmt.Sprintf("line %d", rng.IntN(kinds))}, out[at:]...)...)
			}
		case 1:
			out = append(out[:at], out[min(at+n, len(out)):]...)
		default:
			for k := at; k < min(at+n, len(out)); k++ {
				out[k] = fmt.Sprintf("line %d", rng.IntN(kinds))
			}
		}
	}
	return out
}
