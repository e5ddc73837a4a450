package text_test

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
)

func Test_Text_Commands_Do_As_The_Real_Ones(t *testing.T) {
	t.Parallel()
	groups := map[string][]string{
		"wc": {
			"wc", "wc a", "wc a seq25", "wc -l a", "wc -l a seq25", "wc -w a bin", "wc -c a", "wc -m utf8", "wc -L a", "wc -lwc a", "wc -cwl a seq", "wc -mL utf8 a", "wc empty", "wc noend", "wc missing a", "wc d", "wc d a", "wc -",
			"wc - a", "wc -l -", "wc --files0-from=files0", "wc --files0-from=missing", "wc --files0-from=files0 a", "wc -Q", "wc --lines --bytes a", "wc long", "wc -L long seq", "wc -w utf8", "wc bin", "wc -x a", "wc -c d", "wc missing", "wc -l missing",
		},
		"head": {
			"head seq25", "head -n 3 seq25", "head -3 seq25", "head -n -20 seq25", "head -c 5 seq25", "head -c -60 seq25", "head -n 0 seq25", "head -c 0 seq25", "head a seq25", "head -q a seq25", "head -v a", "head -n 2 -", "head -n1 a - seq25", "head missing a", "head d", "head d a",
			"head -n x a", "head -c x a", "head -n 1k seq", "head -c 1K seq", "head -c 1kB seq", "head -c 1b seq", "head -c 1x seq", "head -n -0 a", "head -5c seq", "head -2 a seq25", "head -1k seq", "head -2q a seq25", "head -1v a", "head -3x a", "head -n1 -c2 a", "head -c2 -n1 a", "head -z -n1 nul", "head -zn -1 nul",
			"head --lines=2 a", "head --bytes=3 a", "head --lines", "head -n", "head -n 99999999999999999999 a", "head -n -99999999999999999999 a", "head noend", "head -n -1 noend", "head empty a", "head -n 3 -- seq25", "head -c -1 long", "head -c 100000 long", "head -1 -2 a", "head -n5 -3 a", "head -q -v a", "head -n '' a", "head -n - a", "head -n k seq25",
		},
		"tail": {
			"tail seq25", "tail -n 3 seq25", "tail -3 seq25", "tail -n +20 seq25", "tail -c 5 seq25", "tail -c +60 seq25", "tail -n 0 seq25", "tail -c 0 seq25", "tail -n +0 a", "tail -n +1 a", "tail -c +0 a", "tail -c +1 a", "tail a seq25", "tail -q a seq25", "tail -v a", "tail -n 2 -", "tail -n1 a - seq25", "tail missing a", "tail d", "tail d a",
			"tail -n x a", "tail -c x a", "tail -n 1k seq", "tail -c 1K seq", "tail -c 1x seq", "tail +20 seq25", "tail -5c seq", "tail -2 a seq25", "tail -n2 a seq25", "tail -2b seq", "tail -2l seq", "tail -3x a", "tail -z -n1 nul", "tail -zn +2 nul", "tail --lines=2 a", "tail --bytes=3 a", "tail -n", "tail -n 99999999999999999999 a", "tail noend", "tail -n 1 noend", "tail -n -1 a",
			"tail empty a", "tail -n 3 -- seq25", "tail -c 100000 long", "tail -n 2999 seq", "tail -n 3000 seq", "tail -n 3001 seq", "tail -n 2990 seq", "tail -c 4000", "tail -n 1", "tail -n 2", "tail -n 3", "tail -c 3", "tail -n +3", "tail -s x a", "tail --retry -n1 a", "tail --pid=x a", "tail -q -v a", "tail -n +5 missing", "tail -n +99 a",
		},
		"cut": {
			"cut -f1 tabs", "cut -f2 tabs", "cut -f2- tabs", "cut -f-2 tabs", "cut -f1,3 tabs", "cut -s -f2 tabs", "cut -d: -f1 fields", "cut -d: -f2,1 fields", "cut -d: -f2-3 fields", "cut -d: -s -f2 fields", "cut -d: --complement -f2 fields", "cut -d: -f1,3 --output-delimiter=_ fields", "cut -d: -f1- --output-delimiter=__ fields", "cut -d ' ' -f2 a", "cut -c1-3 a", "cut -b2 a", "cut -c2-,1 a",
			"cut -c5- a", "cut -c-2 a", "cut -c1-2,4-5 --output-delimiter=, a", "cut -c1-2,3-4 --output-delimiter=, a", "cut -c1-3,2-5 --output-delimiter=, a", "cut -c3,1 a", "cut --complement -c2 a", "cut --complement -c2-3,5- a", "cut -c1-3 utf8", "cut -z -c1 nul", "cut -d: -f9 fields", "cut -f1 noend", "cut -b1 noend", "cut", "cut a", "cut -f a", "cut -f0 a", "cut -c0 a", "cut -f- a",
			"cut -f3-2 a", "cut -fx a", "cut -f1x a", "cut -cx a", "cut -f1-x a", "cut -f1 -c1 a", "cut -d:: -f1 a", "cut -d: -c1 a", "cut -s -c1 a", "cut -d '' -f1 a", "cut -f1, a", "cut -f ,1 a", "cut -f '1 2' tabs", "cut -f 1 missing tabs", "cut -f1 d", "cut -f99999999999999999999 a", "cut -c99999999999999999999 a", "cut -n -b1 a", "cut -f1-2-3 a", "cut --fields=1 --delimiter=: fields", "cut -d: -f1 -", "cut -f '' a", "cut -f1 --output-delimiter= tabs", "cut -f1,2 --output-delimiter= tabs", "cut -w",
		},
		"tr": {
			"tr a-z A-Z", "tr '[:lower:]' '[:upper:]'", "tr '[:upper:]' '[:lower:]'", "tr -d aeiou", "tr -d '[:space:]'", "tr -s ' '", "tr -s ' ' _", "tr -s a-z", "tr -cd '[:alnum:]\\n'", "tr -c a-z _", "tr -cs a-z '\\n'", "tr -ds n ' '", "tr abc xy", "tr -t abc xy", "tr a-c '[x*]'", "tr a-e '[x*3]y'", "tr a-e 'y[x*]z'", "tr '\\n' ' '", "tr '\\012' ,", "tr 'i\\-o' xyz",
			"tr -d '\\151'", "tr '[=i=]' x", "tr '[i=]' xyz1", "tr '[a-z]' '[A-Z]'", "tr z-a x", "tr a ''", "tr '' a", "tr", "tr a", "tr a b c", "tr -d a b", "tr -d", "tr -ds a", "tr -s", "tr -Q a b", "tr '[:foo:]' a", "tr a '[:alpha:]'", "tr a '[=b=]'", "tr a-z '[:upper:]'", "tr '[:lower:]' A-Z", "tr '[:alpha:]' '[:upper:]'", "tr '[:upper:][:lower:]' '[:lower:][:upper:]'", "tr '[:upper:]a' 'b[:lower:]'",
			"tr '[::]' a", "tr '[==]' a", "tr '[=ab=]' a", "tr '[a*]' b", "tr ab '[x*][y*]'", "tr ab '[x*9x]'", "tr a-z '[x*010]y'", "tr 'a\\' b", "tr '\\777' a", "tr -c '[:upper:]' '[:lower:]'", "tr -c '[:alpha:]' xy", "tr -c '[:alpha:]' '[x*]'", "tr a-zA-Z '[:upper:]'", "tr 'a-' xy", "tr -- -a xy", "tr '\\t\\n' xy", "tr -C a-z X", "tr --delete n", "tr --complement --squeeze-repeats a-z .", "tr '[:digit:]' 0-9", "tr -s '\\n'", "tr -dc '\\0-\\177'", "tr '[:lower:]' '[:lower:]'",
		},
		"uniq": {
			"uniq dups", "uniq -c dups", "uniq -d dups", "uniq -u dups", "uniq -D dups", "uniq -c", "uniq -i", "uniq -ic keys", "uniq -f1 keys", "uniq -f 1 -c keys", "uniq -s2 keys", "uniq -w1 keys", "uniq -w 1 -i keys", "uniq -f1 -s1 keys", "uniq --all-repeated=prepend dups", "uniq --all-repeated=separate dups", "uniq --all-repeated=none dups", "uniq --all-repeated=x dups", "uniq --group dups", "uniq --group=prepend dups", "uniq --group=append dups", "uniq --group=both dups", "uniq --group=separate dups", "uniq --group -c dups",
			"uniq -D -c dups", "uniq -cd dups", "uniq -cu dups", "uniq -du dups", "uniq -Du dups", "uniq -z nul", "uniq -zc nul", "uniq missing", "uniq d", "uniq empty", "uniq -c empty", "uniq noend", "uniq -1 keys", "uniq -12 keys", "uniq -f x dups", "uniq -s x dups", "uniq -w x dups", "uniq -w0 dups", "uniq a b c", "uniq -Q", "uniq --count dups", "uniq - ", "uniq --group empty", "uniq -c seq25",
		},
		"cat": {
			"cat a", "cat a seq25", "cat -n a", "cat -b a", "cat -s a", "cat -E a", "cat -T a", "cat -A bin", "cat -v bin utf8", "cat -e a", "cat -t a", "cat -nE a noend a", "cat -bn a", "cat -ns a a", "cat missing a", "cat d", "cat", "cat - a -", "cat -u a", "cat -Q", "cat --number --squeeze-blank a", "cat -E bin", "cat empty", "cat noend noend", "cat -n noend noend",
		},
	}
	for name, lines := range groups {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			programtest.RunReadOnly(t, programtest.TextTree, programtest.TextRows(lines))
		})
	}
}
