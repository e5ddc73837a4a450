package coreutils

import (
	"fmt"
	"strings"
	"testing"
)

func Test_Column_Does_As_The_Real_One(t *testing.T) {
	t.Parallel()
	runReadOnly(t, linesTree, textRows([]string{
		"column -t table", "column -t -s, csv", "column -t -s, -o ' | ' csv", "column table", "column -c 40 seq25", "column -x -c 40 seq25", "column -t -N A,B,C -s, csv", "column -t -e table", "column -t -R 1 -s, csv", "column -t -R 2,3 -s, csv", "column -t -L a", "column -s , csv", "column -t -s ': ' csv", "column -t -d -N A,B -s, csv", "column -t -l 2 table", "column -c 5 seq25", "column -c x seq25", "column -t nosuch", "column -t nosuch table", "column -t", "column", "column -t a noend", "column -t empty", "column empty", "column -c 100 seq", "column --foo", "column -t -s : fields", "column -c 200 prose", "column -x -c 30 words",
	}))
}

func Test_Split_Does_As_The_Real_One(t *testing.T) {
	t.Parallel()
	var rows []row
	for _, line := range []string{
		"split seq", "split -l 10 seq25", "split -l 1 seq25 p", "split -b 10 seq25", "split -b 1K seq", "split -C 20 seq25", "split -C 3 a", "split -d -l 5 seq25", "split -a 3 -l 9 seq25", "split -a 1 -l 1 seq25 q", "split -a 1 -l 1 seq q", "split -l 1 seq", "split -d -l 20 seq", "split --additional-suffix=.txt -l 9 seq25", "split --additional-suffix=/x a", "split -t : -l 1 fields", "split -t '\\0' -l 1 nul", "split -t ab a", "split -t '' a", "split --verbose -l 10 seq25 v-", "split", "split - p", "split -l 2 - p", "split -l x a", "split -b 0 a", "split -b x a", "split -l 1 -b 1 a", "split nosuch", "split a b c", "split d", "split empty", "split -l 3 noend", "split --lines=4 --numeric-suffixes a", "split -x -l 1 seq25",
	} {
		rows = append(rows, row{setup: linesTree, line: line, stdin: "1\n2\n3\n4\n5"})
	}
	runRows(t, rows)
}

func Test_Split_Into_So_Many_Does_As_The_Real_One(t *testing.T) {
	t.Parallel()
	var rows []row
	for _, args := range []string{
		"-n 3 seq25", "-n 2/3 seq25", "-n l/3 seq25", "-n l/2/3 seq25", "-n r/3 seq25", "-n r/2/3 seq25", "-n 0 seq25", "-n x seq25", "-n 4/3 seq25", "-n 0/3 seq25", "-n l/x seq25", "-n r/5/3 seq25", "-n l/4/ seq25", "-n /3 seq25", "-n 1/ seq25", "-n '' seq25", "-n l seq25", "-n l/ seq25", "-n 3k seq25", "-n r/3", "-n 100 seq", "-a 1 -n 30 seq", "-n 3 empty", "-e -n 3 empty", "-e -n 5 noend", "-n 10 noend", "-n l/10 noend", "-e -n l/10 noend", "-n r/10 noend", "-e -n r/10 noend", "-u -n r/2 noend", "-n 3 -l 2 seq25", "-n 2 -b 2 seq25", "-n 3 -n 4 seq25", "--number=3 -d seq25", "-d -n 3 --numeric-suffixes=5 seq25", "--numeric-suffixes=98 -n 3 seq25", "--numeric-suffixes=999 -n 3 seq25", "--numeric-suffixes=98 -l 3 seq25", "--numeric-suffixes=x -l 10 seq25", "--numeric-suffixes=100 -l 10 seq25", "-a 2 --numeric-suffixes=100 -l 10 seq25", "-10 seq25", "-1 -2 seq25", "-10d seq25", "-n 1/99999999999999999999 seq25", "-n 99999999999999999999 noend", "-n 3 nosuch", "-t : -n l/2 seq25", "-n 0x3 seq25", "-n ' 3' seq25", "-n +3 seq25", "-n -3 seq25", "-n 3/2/1 seq25", "-n R/2 seq25", "-n r/+1/2 seq25", "-n 2 /dev/null", "-n l/2 .", "-n 5 --additional-suffix=.q seq25", "-x -n 20 seq", "-a 0 -n 30 seq", "-a 3 -n 3 seq25", "--numeric-suffixes=98 -n 100 seq", "--numeric-suffixes=5 -n 98 seq", "--numeric-suffixes=90 -n 91 seq", "--numeric-suffixes=100 -n 101 seq", "--numeric-suffixes=100 -n 3 seq", "--numeric-suffixes=1 -a 1 -n 10 seq", "--numeric-suffixes=1 -a 1 -n 9 seq", "--numeric-suffixes= -n 9 seq", "--numeric-suffixes=-1 -n 9 seq", "--numeric-suffixes=007 -a 2 -n 3 seq", "--hex-suffixes=007 -n 3 seq", "--hex-suffixes=10 -n 3 seq", "--hex-suffixes=0x10 -n 3 seq", "--hex-suffixes=g -n 3 seq", "--hex-suffixes=100 -n 3 seq", "--hex-suffixes=A -l 10 seq25", "-1x seq25", "-0 seq25", "-1k seq25", "-l 5 -3 seq25", "-3 -l 5 seq25", "-3 -n 5 seq25", "-3 -b 5 seq25", "-d3 seq25", "-99999999999999999999999 seq25", "-u -n 2/3 seq25", "-n 2 -d -x seq25", "--verbose -n r/2 seq25", "--verbose -n 2/3 seq25", "--verbose -n l/5 noend", "--verbose -n r/3 noend", "---io-blksize=1 -l 10 seq25", "---io-blksize=0 seq25", "-n 3 seq25 ./", "-l 10 seq25 nodir/x", "-n 26 -a 1 seq", "-n 27 -a 1 seq", "-e -n 676 noend", "-e -n 677 noend", "-e -n 1000 noend", "-n l/1000 -a2 noend", "-n r/1000 -a2 noend", "-n r/2/1000 -a1 noend", "-n 2/1000 -a1 noend", "-n r/2/3 -e empty", "-n l/2/3 empty", "-n 2/3 empty", "-n r/2/10 noend", "-n 9/10 noend", "-n l/9/10 noend", "-n l/3/10 noend", "-n 10/10 noend", "-n 5/5 seq", "-n l/5/5 seq", "-n 7 seq", "-n l/7 seq", "-n l/77 words", "-n r/7 seq", "-n l/4 prose", "-n l/300 prose", "-e -n l/300 prose", "-t e -n l/9 prose", "-t e -n r/9 prose", "-n 7/9 prose", "-t \\0 -n l/2 nul", "-n r/3 nosuch", "-n r/3 d", "-n 3 d", "-n r/3 seq25 nodir/x", "-n l/3 seq25 nodir/x", "-n r/2/3 -", "--filter='cat >$FILE.z' -l 10 seq25", "--filter='wc -l' -n 2/3 seq25", "--filter='head -n 1' -l 10 seq25", "--filter='exit 3' -l 10 seq25", "--filter='cat; exit 3' -l 10 seq25", "-n 2 --filter='wc -c' seq25", "--filter=true -l 10 seq25", "--filter=true -n 3 seq25", "--filter= -l 10 seq25", "--filter='exit 2' -n r/3 seq25", "--filter='cat;echo x$FILE' -b 2 noend", "-n 3 --filter=cat empty", "-n l/3 --filter='cat; echo x' noend", "-n l/100 --filter='cat; echo x' -e noend", "--filter='echo $FILE' -e -n 3 empty", "-b 2 --filter='echo $FILE' noend", "-b 20 --filter='echo $FILE' empty", "--filter='cat >$FILE' -n r/3 seq25", "--filter='kill -9 $$' -l 10 seq25", "--filter='kill -13 $$' -l 10 seq25", "--filter='exit 200' -l 10 seq25", "--filter='exit 4' -l 10 seq25 'a b'", "--verbose -l 10 seq25 'a b'", "-l 1 -b x seq25", "-n x/y seq25", "-l -3 a", "-b -3 a", "-C -1 a", "-a -1 a", "-l ' -3' a", "-n - a", "-l - a", "-n -x a", "-n 5/0 seq25", "-l 2 seq25 seq25/x",
	} {
		rows = append(rows, row{setup: linesTree, line: "split " + args, stdin: "1\n2\n3\n4\n5"})
	}
	rows = append(rows, row{line: "split --filter=cat f", setup: "echo 1 >f", env: []string{"SHELL=/nonexistent"}})
	for _, args := range []string{"-l 2 xaa", "-l 2 xab", "-n 2 xab", "-n r/2 xab", "--filter=cat -l 2 xab"} {
		rows = append(rows, row{setup: "seq 5 >xaa; seq 6 >xab", line: "split " + args})
	}
	runRows(t, rows)
}

// The real one of this age cannot divide a pipe; later ones can.
func Test_Split_Divides_A_Pipe(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"-n 3 -": "xaa=1\n2 xab=\n3\n xac=4\n5", "-n l/3": "xaa=1\n2\n xab=3\n xac=4\n5", "-n 3/3": "4\n5", "-n l/2/3 -": "3\n", "-n 2": "xaa=1\n2\n xab=3\n4\n5",
		"--verbose --filter=true -l 3": "executing with FILE=xaa\nexecuting with FILE=xab\n",
	} {
		tree := newVirtualTree(t, nil)
		got := runVirtual(t, tree, "/w", splitWords(t, "split "+args), row{stdin: "1\n2\n3\n4\n5"})
		text := got.stdout
		for _, name := range []string{"xaa", "xab", "xac"} {
			if _, ok := got.tree["/"+name]; ok {
				text += " " + name + "=" + string(readVirtual(t, tree, "/w/"+name))
			}
		}
		if text = strings.TrimSpace(text); text != strings.TrimSpace(want) || got.status != 0 {
			t.Errorf("split %s: %q, status %d, %s", args, text, got.status, got.stderr)
		}
	}
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
	var rows []row
	for _, args := range []string{
		"-J -s ' ' -N A,b,c j1", "-J -N A,b,c,d j1", "-t -s: -r 3 -i 1 -p 2 cyc", "-t -s: -r 3 -i 1 -p 2 ord", "-J -s: -N i,p,n -r 3 -i 1 -p 2 ord", "-J -s: -N i,p,n -r 3 -i 1 -p 2 cyc", "-t -s: -r 9 -i 1 -p 2 ord", "-t -s: -r x -i 1 -p 2 ord", "-t -s: -r 3 -i 9 -p 2 ord", "-t -s: -r 3 -i 1 -p 2 -H 1,2 ord", "-t -s: -r 3 -i 1 -p 2 -O 3,1,2 ord", "-t -s: -r 3 -i 1 -p 2 -R 3 ord", "-ts: -r 3 -i 1 ord", "-t -O b,x -N a,b tb", "-t -O 3,2 tb", "-t -O 0 tb", "-t -O '' tb", "-J -N a tb", "-J -N a,b -l 1 tb", "-t -T 9 -c 10 tb", "-T 1 tb", "-r 3 -i 1 -p 2 tree2", "-O 2 tb", "-H 1 tb", "-t -H 1,2 tb", "-J -H 1,2 -N a,b tb", "-t -T 1 -c 8 tb", "-t -T 2 -c 8 tb", "-t -T 1,2 -c 8 tb", "-t -W 1,2 -c 8 tb", "-t -T 1,2 -c 9 tb", "-t -T 1,2 -c 3 tb", "-t -T 1,2 -c 1 tb", "-t -W 1,2 -c 1 tb", "-t -c 5 tb", "-t -T 1,2,3 -c 20 -s, w.csv", "-t -T 1 -W 3 -c 20 -s, w.csv", "-t -R 1 -T 1 -c 8 tb", "-t -R 1 -W 1 -c 8 tb", "-t -N a,b -T b -c 8 tb", "-J -s, -N a,b,c csv2", "-N a tb", "-R 1 tb", "-n x tb", "-J -N 'A B,C%' tb", "-t -r 1 -i 1 -p 2 -J tb", "-t -T '' tb", "-t -H '' tb", "-t -r '' -i 1 -p 2 tb", "-T 1 -J -N a,b tb", "-t -s: -T 3 -c 9 -r 3 -i 1 -p 2 ord", "-t -N a,b -r b -i a -p a tb", "-W 1 tb", "-t -W x tb", "-t -o / -W 1 -c 8 tb", "-i 1 -t tb", "-p 1 -t tb", "-J -N a -n '' noend", "--tree-id 1 --tree-parent 2 --tree 3 -t tree.txt", "-t -s: -N ID,PID,NAME,X -i ID -p PID -r NAME tree2", "-t -s: -N ID,PID,NAME,X -i ID -p PID -r NAME -H ID,PID tree2", "-t -s: -r 3 -i 1 -p 2 tree2", "--tree 3 tree2", "-J -N a,b tb", "-tJ -N a,b tb", "-J -n foo -N a,b tb", "-J tb", "-J -s, -N x,y w.csv", "-tJ -s: -N ID,PID,NAME,X -i ID -p PID -r NAME tree2", "-t -H 1 tb", "-t -H a -N a,b tb", "-t -O 2,1 tb", "-t -O b -N a,b tb", "-t -T 1 -s, -c 30 w.csv", "-t -T 1,3 -s, -c 20 w.csv", "-t -W 3 -s, -c 30 w.csv", "-t -W 1,3 -s, -c 20 w.csv", "-t -n x tb", "-t -H 9 tb", "-t -O 9 tb", "-t -O 2 tb", "-tO b,a -N a,b -H a tb", "-J -O 2,1 -N a,b tb", "-J -H 1 -N a,b tb", "-t -R - tb", "-t -H - tb", "-t -T - -c 8 tb", "-tc 0 -W 1 tb", "-J empty", "-t -N a,b empty", "-J -N a,b empty", "-t -R x tb", "-t -H x tb",
	} {
		rows = append(rows, row{line: "column " + args})
	}
	for _, args := range []string{"-t -s: -T 3 -c 9 -r 3 -i 1 -p 2 ord", "-t -s: -r 3 -i 1 -p 2 ord", "-J -N A,b,c,d j1"} {
		rows = append(rows, row{line: "column " + args, env: []string{"LC_ALL=C.UTF-8"}})
	}
	runReadOnly(t, setup, rows)
}

func Test_Column_Draws_No_Tree_That_Is_Too_Deep(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 30000 {
		fmt.Fprintf(&b, "%d %d x\n", 30001-i, 30000-i)
	}
	for _, args := range []string{"-t -r 3 -i 1 -p 2", "-J -N a,b,c -r 3 -i 1 -p 2"} {
		got := runVirtual(t, newVirtualTree(t, nil), "/w", splitWords(t, "column "+args), row{stdin: b.String()})
		if got.status != 1 || got.stderr != "column: the tree is deeper than 10000 lines\n" {
			t.Errorf("column %s: status %d, %q", args, got.status, got.stderr)
		}
	}
}
