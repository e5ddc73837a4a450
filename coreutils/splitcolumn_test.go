package coreutils

import "testing"

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
