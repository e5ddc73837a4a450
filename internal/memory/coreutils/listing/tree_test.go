package listing_test

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
)

const treeTree = `mkdir -p a/b/c .h/x empty node_modules/x src/lib; echo 12345 > a/b/deep.c; echo 1 > a/x.txt; echo > .h/f; echo > src/main.go; echo > src/lib/l.go; echo > node_modules/x/i.js; ln -s a la; ln -s nowhere broken; ln -s x.txt a/lx; chmod 755 src/main.go; touch 'sp ace' "q'q" README.md; mkfifo p; head -c 5000 /dev/zero > big; touch -d 2020-01-02 a/x.txt; touch -d 2021-01-01 . a a/b a/b/c .h .h/x empty node_modules src src/lib a/b/deep.c .h/f src/main.go src/lib/l.go node_modules/x 'sp ace' "q'q" README.md p big node_modules/x/i.js; touch -h -d 2021-01-01 la broken a/lx; touch -d '2021-01-01 00:00:00.9' README.md; sleep 1.1; chmod 644 a/b/deep.c big`

func Test_Tree_Draws_As_The_Real_One(t *testing.T) {
	t.Parallel()
	rows := programtest.RowsOf("", "tree", "tree -a", "tree -d", "tree -L 1", "tree -L 2", "tree -L 0", "tree -L x", "tree -f", "tree -i", "tree -fi", "tree -s", "tree -h", "tree -p", "tree -u", "tree -g", "tree -pug", "tree -D", "tree -D --timefmt %Y", "tree -F", "tree -Q", "tree -q", "tree -N", "tree -r", "tree -t", "tree -c", "tree -v", "tree --dirsfirst", "tree --filesfirst", "tree --noreport", "tree -I node_modules", "tree -I 'node_modules|src'", "tree -I '*.go' -a", "tree -P '*.go'", "tree -P '*.go' --prune", "tree -P '*.GO' --ignore-case", "tree --matchdirs -P src", "tree --prune", "tree --du", "tree --du -h", "tree -sh", "tree --si -s", "tree -J", "tree -X", "tree -J -L 1", "tree -Js", "tree -Jpugs", "tree -J -a", "tree -l", "tree a", "tree a src", "tree nosuch", "tree a nosuch", "tree README.md", "tree --charset=ascii", "tree --charset ascii", "tree --charset utf-8", "tree -n", "tree -C", "tree -C a", "tree --inodes -L 1 nosuch", "tree --filelimit 2", "tree --sort=size", "tree --sort size", "tree --sort=name", "tree -x", "tree -aL 1", "tree -dL 2", "tree -a -I '.h'", "tree -da", "tree -df", "tree empty", "tree -a empty", "tree -L 1 -d", "tree -pL 1", "tree ./a", "tree a/", "tree --metafirst -s", "tree -h a big", "tree --si")
	for i := range rows {
		rows[i].Env = []string{"LC_ALL=C.UTF-8"}
	}
	programtest.RunReadOnly(t, treeTree, append(rows, programtest.RowsOf("", "tree", "tree -a", "tree -Q", "tree -q", "tree -N", "tree -C", "tree a src", "tree -J a", "tree -X a src")...))
}
