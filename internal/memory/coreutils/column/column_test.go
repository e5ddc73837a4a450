package column_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
)

func Test_Column_Does_As_The_Real_One(t *testing.T) {
	t.Parallel()
	programtest.RunReadOnly(t, programtest.LinesTree, programtest.TextRows([]string{
		"column -t table", "column -t -s, csv", "column -t -s, -o ' | ' csv", "column table", "column -c 40 seq25", "column -x -c 40 seq25", "column -t -N A,B,C -s, csv", "column -t -e table", "column -t -R 1 -s, csv", "column -t -R 2,3 -s, csv", "column -t -L a", "column -s , csv", "column -t -s ': ' csv", "column -t -d -N A,B -s, csv", "column -t -l 2 table", "column -c 5 seq25", "column -c x seq25", "column -t nosuch", "column -t nosuch table", "column -t", "column", "column -t a noend", "column -t empty", "column empty", "column -c 100 seq", "column --foo", "column -t -s : fields", "column -c 200 prose", "column -x -c 30 words",
	}))
}

func Test_Column_Draws_Tables_As_The_Real_One(t *testing.T) {
	t.Parallel()
	setup := `printf 'a "q" b\\c\tx\nd\nq\001\303\251 /</ z\n' >j1
printf '1:1:self\n2:3:x\n3:2:y\n4:1:z\n' >cyc
printf '3:1:b\n1:0:root\n2:1:a\n6:2:aa\n7:2:ab\n8:7:aba\n9:3:ba\n1:0:dup\n10:1:late\n' >ord
printf 'id parent name\n1 0 root\n2 1 a b\n3 1 b\n4 2 c\n5 9 orphan\n' >tree.txt
printf '1:0:root:x\n2:1:a b:yy\n3:1:b:z\n4:2:c:wwww\n' >tree2
printf 'one two\nthree four\nfive six\n' >tb
printf 'a longer text here,bb,c\nshort,b,cccc cccc cccc cccc\n' >w.csv
printf 'x,,z\n,y\n' >csv2
printf 'a\nb\nc' >noend
: >empty`
	var rows []programtest.Row
	for _, args := range []string{
		"-J -s ' ' -N A,b,c j1", "-J -N A,b,c,d j1", "-t -s: -r 3 -i 1 -p 2 cyc", "-t -s: -r 3 -i 1 -p 2 ord", "-J -s: -N i,p,n -r 3 -i 1 -p 2 ord", "-J -s: -N i,p,n -r 3 -i 1 -p 2 cyc", "-t -s: -r 9 -i 1 -p 2 ord", "-t -s: -r x -i 1 -p 2 ord", "-t -s: -r 3 -i 9 -p 2 ord", "-t -s: -r 3 -i 1 -p 2 -H 1,2 ord", "-t -s: -r 3 -i 1 -p 2 -O 3,1,2 ord", "-t -s: -r 3 -i 1 -p 2 -R 3 ord", "-ts: -r 3 -i 1 ord", "-t -O b,x -N a,b tb", "-t -O 3,2 tb", "-t -O 0 tb", "-t -O '' tb", "-J -N a tb", "-J -N a,b -l 1 tb", "-t -T 9 -c 10 tb", "-T 1 tb", "-r 3 -i 1 -p 2 tree2", "-O 2 tb", "-H 1 tb", "-t -H 1,2 tb", "-J -H 1,2 -N a,b tb", "-t -T 1 -c 8 tb", "-t -T 2 -c 8 tb", "-t -T 1,2 -c 8 tb", "-t -W 1,2 -c 8 tb", "-t -T 1,2 -c 9 tb", "-t -T 1,2 -c 3 tb", "-t -T 1,2 -c 1 tb", "-t -W 1,2 -c 1 tb", "-t -c 5 tb", "-t -T 1,2,3 -c 20 -s, w.csv", "-t -T 1 -W 3 -c 20 -s, w.csv", "-t -R 1 -T 1 -c 8 tb", "-t -R 1 -W 1 -c 8 tb", "-t -N a,b -T b -c 8 tb", "-J -s, -N a,b,c csv2", "-N a tb", "-R 1 tb", "-n x tb", "-J -N 'A B,C%' tb", "-t -r 1 -i 1 -p 2 -J tb", "-t -T '' tb", "-t -H '' tb", "-t -r '' -i 1 -p 2 tb", "-T 1 -J -N a,b tb", "-t -s: -T 3 -c 9 -r 3 -i 1 -p 2 ord", "-t -N a,b -r b -i a -p a tb", "-W 1 tb", "-t -W x tb", "-t -o / -W 1 -c 8 tb", "-i 1 -t tb", "-p 1 -t tb", "-J -N a -n '' noend", "--tree-id 1 --tree-parent 2 --tree 3 -t tree.txt", "-t -s: -N ID,PID,NAME,X -i ID -p PID -r NAME tree2", "-t -s: -N ID,PID,NAME,X -i ID -p PID -r NAME -H ID,PID tree2", "-t -s: -r 3 -i 1 -p 2 tree2", "--tree 3 tree2", "-J -N a,b tb", "-tJ -N a,b tb", "-J -n foo -N a,b tb", "-J tb", "-J -s, -N x,y w.csv", "-tJ -s: -N ID,PID,NAME,X -i ID -p PID -r NAME tree2", "-t -H 1 tb", "-t -H a -N a,b tb", "-t -O 2,1 tb", "-t -O b -N a,b tb", "-t -T 1 -s, -c 30 w.csv", "-t -T 1,3 -s, -c 20 w.csv", "-t -W 3 -s, -c 30 w.csv", "-t -W 1,3 -s, -c 20 w.csv", "-t -n x tb", "-t -H 9 tb", "-t -O 9 tb", "-t -O 2 tb", "-tO b,a -N a,b -H a tb", "-J -O 2,1 -N a,b tb", "-J -H 1 -N a,b tb", "-t -R - tb", "-t -H - tb", "-t -T - -c 8 tb", "-tc 0 -W 1 tb", "-J empty", "-t -N a,b empty", "-J -N a,b empty", "-t -R x tb", "-t -H x tb",
	} {
		rows = append(rows, programtest.Row{Line: "column " + args})
	}
	for _, args := range []string{"-t -s: -T 3 -c 9 -r 3 -i 1 -p 2 ord", "-t -s: -r 3 -i 1 -p 2 ord", "-J -N A,b,c,d j1"} {
		rows = append(rows, programtest.Row{Line: "column " + args, Env: []string{"LC_ALL=C.UTF-8"}})
	}
	programtest.RunReadOnly(t, setup, rows)
}

func Test_Column_Draws_No_Tree_That_Is_Too_Deep(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 30000 {
		fmt.Fprintf(&b, "%d %d x\n", 30001-i, 30000-i)
	}
	for _, args := range []string{"-t -r 3 -i 1 -p 2", "-J -N a,b,c -r 3 -i 1 -p 2"} {
		got := programtest.RunVirtual(t, programtest.NewVirtualTree(t, nil), "/w", programtest.SplitWords(t, "column "+args), programtest.Row{Stdin: b.String()})
		if got.Status != 1 || got.Stderr != "column: the tree is deeper than 10000 lines\n" {
			t.Errorf("column %s: status %d, %q", args, got.Status, got.Stderr)
		}
	}
}
