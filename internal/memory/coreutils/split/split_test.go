package split_test

import (
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
)

func Test_Split_Does_As_The_Real_One(t *testing.T) {
	t.Parallel()
	var rows []programtest.Row
	for _, line := range []string{
		"split seq", "split -l 10 seq25", "split -l 1 seq25 p", "split -b 10 seq25", "split -b 1K seq", "split -C 20 seq25", "split -C 3 a", "split -d -l 5 seq25", "split -a 3 -l 9 seq25", "split -a 1 -l 1 seq25 q", "split -a 1 -l 1 seq q", "split -l 1 seq", "split -d -l 20 seq", "split --additional-suffix=.txt -l 9 seq25", "split --additional-suffix=/x a", "split -t : -l 1 fields", "split -t '\\0' -l 1 nul", "split -t ab a", "split -t '' a", "split --verbose -l 10 seq25 v-", "split", "split - p", "split -l 2 - p", "split -l x a", "split -b 0 a", "split -b x a", "split -l 1 -b 1 a", "split nosuch", "split a b c", "split d", "split empty", "split -l 3 noend", "split --lines=4 --numeric-suffixes a", "split -x -l 1 seq25",
	} {
		rows = append(rows, programtest.Row{Setup: programtest.LinesTree, Line: line, Stdin: "1\n2\n3\n4\n5"})
	}
	programtest.RunRows(t, rows)
}

func Test_Split_Into_So_Many_Does_As_The_Real_One(t *testing.T) {
	t.Parallel()
	var rows []programtest.Row
	for _, args := range []string{
		"-n 3 seq25", "-n 2/3 seq25", "-n l/3 seq25", "-n l/2/3 seq25", "-n r/3 seq25", "-n r/2/3 seq25", "-n 0 seq25", "-n x seq25", "-n 4/3 seq25", "-n 0/3 seq25", "-n l/x seq25", "-n r/5/3 seq25", "-n l/4/ seq25", "-n /3 seq25", "-n 1/ seq25", "-n '' seq25", "-n l seq25", "-n l/ seq25", "-n 3k seq25", "-n r/3", "-n 100 seq", "-a 1 -n 30 seq", "-n 3 empty", "-e -n 3 empty", "-e -n 5 noend", "-n 10 noend", "-n l/10 noend", "-e -n l/10 noend", "-n r/10 noend", "-e -n r/10 noend", "-u -n r/2 noend", "-n 3 -l 2 seq25", "-n 2 -b 2 seq25", "-n 3 -n 4 seq25", "--number=3 -d seq25", "-d -n 3 --numeric-suffixes=5 seq25", "--numeric-suffixes=98 -n 3 seq25", "--numeric-suffixes=999 -n 3 seq25", "--numeric-suffixes=98 -l 3 seq25", "--numeric-suffixes=x -l 10 seq25", "--numeric-suffixes=100 -l 10 seq25", "-a 2 --numeric-suffixes=100 -l 10 seq25", "-10 seq25", "-1 -2 seq25", "-10d seq25", "-n 1/99999999999999999999 seq25", "-n 99999999999999999999 noend", "-n 3 nosuch", "-t : -n l/2 seq25", "-n 0x3 seq25", "-n ' 3' seq25", "-n +3 seq25", "-n -3 seq25", "-n 3/2/1 seq25", "-n R/2 seq25", "-n r/+1/2 seq25", "-n 2 /dev/null", "-n l/2 .", "-n 5 --additional-suffix=.q seq25", "-x -n 20 seq", "-a 0 -n 30 seq", "-a 3 -n 3 seq25", "--numeric-suffixes=98 -n 100 seq", "--numeric-suffixes=5 -n 98 seq", "--numeric-suffixes=90 -n 91 seq", "--numeric-suffixes=100 -n 101 seq", "--numeric-suffixes=100 -n 3 seq", "--numeric-suffixes=1 -a 1 -n 10 seq", "--numeric-suffixes=1 -a 1 -n 9 seq", "--numeric-suffixes= -n 9 seq", "--numeric-suffixes=-1 -n 9 seq", "--numeric-suffixes=007 -a 2 -n 3 seq", "--hex-suffixes=007 -n 3 seq", "--hex-suffixes=10 -n 3 seq", "--hex-suffixes=0x10 -n 3 seq", "--hex-suffixes=g -n 3 seq", "--hex-suffixes=100 -n 3 seq", "--hex-suffixes=A -l 10 seq25", "-1x seq25", "-0 seq25", "-1k seq25", "-l 5 -3 seq25", "-3 -l 5 seq25", "-3 -n 5 seq25", "-3 -b 5 seq25", "-d3 seq25", "-99999999999999999999999 seq25", "-u -n 2/3 seq25", "-n 2 -d -x seq25", "--verbose -n r/2 seq25", "--verbose -n 2/3 seq25", "--verbose -n l/5 noend", "--verbose -n r/3 noend", "---io-blksize=1 -l 10 seq25", "---io-blksize=0 seq25", "-n 3 seq25 ./", "-l 10 seq25 nodir/x", "-n 26 -a 1 seq", "-n 27 -a 1 seq", "-e -n 676 noend", "-e -n 677 noend", "-e -n 1000 noend", "-n l/1000 -a2 noend", "-n r/1000 -a2 noend", "-n r/2/1000 -a1 noend", "-n 2/1000 -a1 noend", "-n r/2/3 -e empty", "-n l/2/3 empty", "-n 2/3 empty", "-n r/2/10 noend", "-n 9/10 noend", "-n l/9/10 noend", "-n l/3/10 noend", "-n 10/10 noend", "-n 5/5 seq", "-n l/5/5 seq", "-n 7 seq", "-n l/7 seq", "-n l/77 words", "-n r/7 seq", "-n l/4 prose", "-n l/300 prose", "-e -n l/300 prose", "-t e -n l/9 prose", "-t e -n r/9 prose", "-n 7/9 prose", "-t \\0 -n l/2 nul", "-n r/3 nosuch", "-n r/3 d", "-n 3 d", "-n r/3 seq25 nodir/x", "-n l/3 seq25 nodir/x", "-n r/2/3 -", "--filter='cat >$FILE.z' -l 10 seq25", "--filter='wc -l' -n 2/3 seq25", "--filter='head -n 1' -l 10 seq25", "--filter='exit 3' -l 10 seq25", "--filter='cat; exit 3' -l 10 seq25", "-n 2 --filter='wc -c' seq25", "--filter=true -l 10 seq25", "--filter=true -n 3 seq25", "--filter= -l 10 seq25", "--filter='exit 2' -n r/3 seq25", "--filter='cat;echo x$FILE' -b 2 noend", "-n 3 --filter=cat empty", "-n l/3 --filter='cat; echo x' noend", "-n l/100 --filter='cat; echo x' -e noend", "--filter='echo $FILE' -e -n 3 empty", "-b 2 --filter='echo $FILE' noend", "-b 20 --filter='echo $FILE' empty", "--filter='cat >$FILE' -n r/3 seq25", "--filter='kill -9 $$' -l 10 seq25", "--filter='kill -13 $$' -l 10 seq25", "--filter='exit 200' -l 10 seq25", "--filter='exit 4' -l 10 seq25 'a b'", "--verbose -l 10 seq25 'a b'", "-l 1 -b x seq25", "-n x/y seq25", "-l -3 a", "-b -3 a", "-C -1 a", "-a -1 a", "-l ' -3' a", "-n - a", "-l - a", "-n -x a", "-n 5/0 seq25", "-l 2 seq25 seq25/x",
	} {
		rows = append(rows, programtest.Row{Setup: programtest.LinesTree, Line: "split " + args, Stdin: "1\n2\n3\n4\n5"})
	}
	rows = append(rows, programtest.Row{Line: "split --filter=cat f", Setup: "echo 1 >f", Env: []string{"SHELL=/nonexistent"}})
	for _, args := range []string{"-l 2 xaa", "-l 2 xab", "-n 2 xab", "-n r/2 xab", "--filter=cat -l 2 xab"} {
		rows = append(rows, programtest.Row{Setup: "seq 5 >xaa; seq 6 >xab", Line: "split " + args})
	}
	programtest.RunRows(t, rows)
}

// The real one of this age cannot divide a pipe; later ones can.
func Test_Split_Divides_A_Pipe(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"-n 3 -": "xaa=1\n2 xab=\n3\n xac=4\n5", "-n l/3": "xaa=1\n2\n xab=3\n xac=4\n5", "-n 3/3": "4\n5", "-n l/2/3 -": "3\n", "-n 2": "xaa=1\n2\n xab=3\n4\n5",
		"--verbose --filter=true -l 3": "executing with FILE=xaa\nexecuting with FILE=xab\n",
	} {
		tree := programtest.NewVirtualTree(t, nil)
		got := programtest.RunVirtual(t, tree, "/w", programtest.SplitWords(t, "split "+args), programtest.Row{Stdin: "1\n2\n3\n4\n5"})
		text := got.Stdout
		for _, name := range []string{"xaa", "xab", "xac"} {
			if _, ok := got.Tree["/"+name]; ok {
				text += " " + name + "=" + string(programtest.ReadVirtual(t, tree, "/w/"+name))
			}
		}
		if text = strings.TrimSpace(text); text != strings.TrimSpace(want) || got.Status != 0 {
			t.Errorf("split %s: %q, status %d, %s", args, text, got.Status, got.Stderr)
		}
	}
}
