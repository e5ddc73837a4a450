package diff_test

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/scripttest"
)

func Test_Cmp_Is_Like_The_Real_One(t *testing.T) {
	t.Parallel()
	tree := scripttest.Files{
		"a": "one\ntwo\nthree\n", "b": "one\ntwO\nthree\n", "c": "one\ntwo\n", "e": "", "f": "one\ntwo", "x": "zone\ntwo\nthree\n",
		"bin": scripttest.AllBytes(), "bin2": "x" + scripttest.AllBytes()[1:200] + "\x00" + scripttest.AllBytes()[201:], "d/f": "", "l@": "a",
	}
	scripttest.RunReal(t, "cmp", scripttest.RowsOf(tree,
		"cmp a a", "cmp a b", "cmp a c", "cmp c a", "cmp a e", "cmp e a", "cmp e e", "cmp a f", "cmp -s a b", "cmp -s a a", "cmp -s a c", "cmp --quiet a b", "cmp --silent a nosuch", "cmp -l a b", "cmp -l bin bin2", "cmp -b a b", "cmp -lb bin bin2", "cmp -bl a b", "cmp -l a c", "cmp -n 3 a b", "cmp -n 6 a b", "cmp -n 7 a b", "cmp -i 6 a b", "cmp -i 1:0 x a", "cmp -i 0:1 a x", "cmp a x 0 1", "cmp x a 1", "cmp a b 4",
		"cmp a nosuch", "cmp nosuch a", "cmp", "cmp a b c d e", "cmp a b x", "cmp -i q a b", "cmp -n q a b", "cmp -ls a b", "cmp -q a b", "cmp a < b", "cmp a - < b", "cmp - a < b", "cmp a d", "cmp a l", "cmp -i 1 a a", "cmp -i 1:2 a a", "cmp -l -n 5 bin bin2", "cmp --bytes=1K bin bin2", "cmp --ignore-initial=1 bin bin2", "cmp -i 1kB bin bin2", "cmp -l bin < bin2",
	))
}
