package coreutils

import "testing"

const pageTree = fillTree + `
seq 1 7 > seven
seq 1 150 > many
printf 'a\nb\fc\nd\f\fe\n\ff\n' > feeds
printf '\f\none\n\f' > feeds2
printf 'x\n\f' > feeds3
{ seq 1 56; printf '\f'; seq 57 60; } > full
{ seq 1 5; printf '\f\n'; seq 6 20; printf '\fz'; } > uneven
printf 'a\tb\tc\n        eight\n   x   y      z\n\001\002\bq\b\b\b\377\303\251\177\n\b\bz\n,c,d\n' > control
printf 'a line which is rather long, longer than a column of a page can be, so that it must be cut somewhere\nshort\n\nend' > wide
touch -d '2024-02-03 04:05:06.789' a seven many feeds feeds2 feeds3 full uneven control wide d`

func Test_Pr_Does_As_The_Real_One(t *testing.T) {
	t.Parallel()
	lines := []string{
		"pr -D x", "pr -t", "pr -t -", "pr -D x - -", "pr -D x -m - -", "pr -t -m - many -", "pr -t -m", "pr nosuch", "pr nosuch a", "pr -r nosuch a", "pr -r nosuch", "pr d", "pr d a", "pr -m a d", "pr -x", "pr --foo", "pr -h", "pr empty", "pr -2 empty", "pr a", "pr a empty seven", "pr many", "pr -l 20 many", "pr -l 10 many", "pr -l 11 many", "pr -l 1 seven", "pr --length=0 a", "pr -l x a", "pr -l 99999999999 a",
		"pr +2 many", "pr +2:2 many", "pr +1:2 many", "pr +4 many", "pr +4 many a", "pr --pages=2 many", "pr --pages=2:2 many", "pr --pages=x a", "pr --pages=3:2 a", "pr --pages=3:x a", "pr --pages=3:99999999999999999999 a", "pr --pages=1:2x a", "pr --pages=-3 a", "pr --pages=0 a", "pr --pages= a", "pr +abc a", "pr +0 a", "pr +1:0 a", "pr +99999999999999999999999 a", "pr +99999999999999999999999x a", "pr +2 +3 many", "pr many +2", "pr --pages=2 +3 many", "pr +2 -3 -l 15 many", "pr +2 -m -l 15 -D x many seven", "pr +3 -a -3 -l 15 many", "pr +2 -n -l 15 many", "pr +2 -n -N 7 -l 15 many", "pr +2 full", "pr +2 -n full", "pr +3 feeds", "pr +2 -2 -n feeds", "pr +2 -t uneven", "pr -- +2 many", "pr +9 -m -t a seven",
		"pr -0 a", "pr -3x a", "pr -99999999999 a", "pr --columns=x a", "pr --columns=3 many", "pr -2 --columns=3 -t many", "pr --columns=3 -2 -t many", "pr -1 -2 -t many", "pr -1 -t -2 many", "pr -12 -t many", "pr -m -2 a", "pr -m -a a", "pr -w 3 -5 a", "pr -2147483647 -w 2147483647 -l 2147483647 a", "pr -a -73 many",
		"pr -ex0 a", "pr -exy a", "pr -ex99999999999999999999 a", "pr -ex4294967296 a", "pr -n:- a", "pr -N 99999999999 a", "pr -N x a", "pr -o x a", "pr -o -1 a", "pr -w 0 -2 a", "pr -W x a", "pr -D '' a", "pr -D %Y -h '' a", "pr -h 'a long header which takes so much place that there is hardly a blank left for it' a", "pr -D '%A %d' -W 30 many", "pr -h 'caf\303\251' a", "pr -f many", "pr -F -l 30 many", "pr -d seven", "pr -d -l 20 many", "pr -dt -l 7 many", "pr -d -3 -l 25 many", "pr -b -3 many", "pr -J -3 wide", "pr -J -m wide seven", "pr -m -S: wide seven feeds", "pr -T feeds", "pr -t feeds", "pr -t -f feeds", "pr -l 10 -f feeds uneven",
	}
	for _, file := range []string{"many", "feeds", "feeds2 feeds3", "full", "uneven", "control", "wide", "tabs blanks", "utf8 bin odd"} {
		for _, flags := range []string{"", "-3", "-a3", "-t -2", "-at -4", "-T -2", "-n", "-n -3", "-n: -a -2", "-n,3 -2 -t", "-n2 -t", "-n.1 -t", "-v -t", "-c -t", "-cv -2", "-e -t", "-e,4 -t", "-e3 -2 -t", "-i -t", "-i_4 -2", "-i2 -t", "-o 5", "-o 9 -2", "-o 3 -i -t", "-s -3 -t", "-s: -3 -t", "-s -w 40 -3 -t", "-s: -w 40 -3 -t", "-s -W 40 -3 -t", "-w 30 -t", "-w 30 -2 -t", "-W 20 -t", "-W 20 -2 -n", "-S -2 -t", "-S' | ' -2 -t", "-S'  ' -3 -t -o 2", "-J -2 -t -S-", "-J -2 -t -W 30", "-l 15 -d -2", "-f -2 -l 15", "-n -N -5 -t", "-N 99998 -n4 -2 -l 20", "--sep-string=: -2 -l 20", "--separator --columns=2 -l 20", "-b -2 -l 14 -n", "-a -d -3 -l 16 -n"} {
			lines = append(lines, "pr "+flags+" "+file)
		}
	}
	for _, files := range []string{"many seven", "seven many", "feeds uneven", "uneven seven feeds2", "control wide", "full many", "nosuch seven", "nosuch nosuch", "empty seven", "seven empty many"} {
		for _, flags := range []string{"-D x", "-D x -n", "-t", "-t -n:3", "-t -s", "-t -s: -w 50", "-t -J", "-D x -l 17", "-T -o 4", "-t -S'+ '", "-t -S", "-d -D x -l 20", "-f -D x -l 14 -e", "-t -W 33 -n", "-t -J -S: -n"} {
			lines = append(lines, "pr -m "+flags+" "+files)
		}
	}
	rows := textRows(lines)
	rows = append(rows, row{line: "pr many", env: []string{"POSIXLY_CORRECT=1"}}, row{line: "pr many", env: []string{"TZ=Europe/Berlin"}}, row{line: "pr -h caf\303\251 utf8", env: []string{"LC_ALL=C.UTF-8"}})
	runReadOnly(t, pageTree, rows)
}
