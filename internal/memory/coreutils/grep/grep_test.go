package grep_test

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
)

const grepTree = `printf 'hello world\nfoo bar\nHello again\n\nlast foo line\nabcabc\n' > a.txt
printf 'foo\nbar\nbaz\nfoo2\nqux\nfoo3\nend\n' > b.txt
printf 'no end foo' > noend.txt
printf 'one\0two foo\nthree\nfoo after\n' > bin
printf 'text\nb\377foo\nfoo\n' > bytes
printf 'caf\303\251 foo\n\303\211t\303\251\nna\303\257ve\n' > utf8
printf 'a\nb\0c\nfoo\0' > nul.txt
printf 'foo\r\nbar\r\n' > crlf
printf 'foo\n' > '-x'
: > empty
printf 'foo\nba[rz]\n' > pats
: > nopats
printf '\n' > emptypat
seq 1 3000 > seq
mkdir -p d/e d/.h
printf 'foo in x\n' > d/x.c
printf 'foo in y\nnone\n' > d/y.h
printf 'foo deep\n' > d/e/z.c
printf 'foo hidden\n' > d/.h/q
ln -s x.c d/link
ln -s e d/dirlink
ln -s nowhere d/broken
awk 'BEGIN{for(i=0;i<20000;i++) print i%7==0 ? "line " i " needle" : "line " i}' > big
awk 'BEGIN{for(i=0;i<300000;i++) printf "x"; print ""; print "foo"}' > longline`

// grepLines are run on both greps in one directory; env LC_ALL is C unless utf8 says else.
var grepLines = []string{
	"grep foo a.txt", "grep foo a.txt b.txt", "grep -n foo a.txt b.txt", "grep -c foo a.txt b.txt", "grep -l foo a.txt b.txt empty",
	"grep -L foo a.txt b.txt empty", "grep -v foo b.txt", "grep -vn foo b.txt", "grep -vc foo b.txt", "grep -i hello a.txt", "grep -io hello a.txt",
	"grep -y hello a.txt", "grep -i --no-ignore-case hello a.txt", "grep -w foo b.txt", "grep -x foo b.txt", "grep -xv foo b.txt", "grep -wv foo b.txt",
	"grep -o 'fo*' a.txt b.txt", "grep -on 'o' a.txt", "grep -ob 'o' a.txt", "grep -b foo a.txt", "grep -bn foo b.txt", "grep -H foo a.txt", "grep -h foo a.txt b.txt",
	"grep -A1 foo b.txt", "grep -B1 foo b.txt", "grep -C1 foo b.txt", "grep -1 foo b.txt", "grep -A1 -n foo b.txt", "grep -nC1 foo a.txt b.txt", "grep -A0 foo b.txt",
	"grep -B2 -A1 qux b.txt", "grep -12 qux b.txt", "grep -C 0 foo b.txt", "grep -A1 --no-group-separator foo b.txt", "grep -A1 --group-separator=XX foo b.txt",
	"grep -A1 --group-separator= foo b.txt", "grep -m1 foo b.txt", "grep -m2 -n foo b.txt", "grep -m1 -A2 foo b.txt", "grep -m1 -A5 foo b.txt", "grep -m0 foo b.txt",
	"grep -m1 -c foo b.txt", "grep -m -1 foo b.txt", "grep -m1 -v foo b.txt", "grep -m2 -vA1 foo b.txt", "grep -vA1 foo b.txt", "grep -vB1 foo b.txt",
	"grep -q foo a.txt", "grep -q zzz a.txt", "grep -s foo missing", "grep foo missing a.txt", "grep -q foo missing a.txt", "grep -sq foo missing",
	"grep -q foo a.txt missing", "grep -e foo -e bar b.txt", "grep -e foo -e bar -c b.txt", "grep -f pats b.txt", "grep -f pats -o b.txt", "grep -f nopats b.txt", "grep -f emptypat b.txt",
	"grep -vf nopats b.txt", "grep -f missing b.txt", "grep -f pats -e qux b.txt", "grep -F 'ba[' pats", "grep -F -e foo -e qux b.txt", "grep -Fx foo b.txt",
	"grep -Fw foo b.txt", "grep -Fi HELLO a.txt", "grep -Fo foo a.txt", "grep '' a.txt", "grep -c '' a.txt empty noend.txt", "grep -v '' a.txt", "grep -o '' a.txt",
	"grep '^$' a.txt", "grep -n '^$' a.txt", "grep -c '^' a.txt", "grep 'a$' a.txt", "grep foo noend.txt", "grep -c foo noend.txt", "grep -v foo noend.txt", "grep -o foo noend.txt",
	"grep -E 'foo|bar' b.txt", "grep -E 'fo{1,2}$' b.txt", "grep -E '^(foo|qux)[0-9]?$' b.txt", "grep -E '(abc)\\1' a.txt", "grep '\\(abc\\)\\1' a.txt", "grep -o '\\(a\\)bc\\1' a.txt",
	"grep -E 'b{2' a.txt", "grep -E 'a{1,0}' a.txt", "grep 'a\\{1' a.txt", "grep '[[:digit:]]' b.txt", "grep '[^[:alpha:]]' b.txt", "grep '[[:foo:]]' b.txt",
	"grep '[:space:]' b.txt", "grep '[a' b.txt", "grep 'a\\' b.txt", "grep '\\(a' b.txt", "grep 'a\\)' b.txt", "grep -E '(a' b.txt", "grep -E 'a)' b.txt", "grep '\\1' b.txt",
	"grep -E '\\2(a)' b.txt", "grep '*a' a.txt", "grep -E '*foo' b.txt", "grep -E '+foo' b.txt", "grep -E '?foo|{1}foo' b.txt", "grep -E 'foo**' b.txt", "grep -E '()' empty b.txt", "grep -E 'a||b' b.txt",
	"grep -E '^*foo' b.txt", "grep '^*foo' b.txt", "grep 'foo\\|bar' b.txt", "grep 'fo\\+2' b.txt", "grep 'fo\\?o2' b.txt", "grep '\\bfoo\\b' b.txt", "grep '\\<foo\\>' a.txt", "grep '\\Boo' a.txt",
	"grep '\\w\\w* \\w' a.txt", "grep '\\W' a.txt", "grep '\\s' a.txt", "grep -o '\\S*' a.txt", "grep '[b-a]' b.txt", "grep -E 'x{99999}' b.txt", "grep '[[.a.]]' b.txt", "grep '[[=f=]]o' b.txt", "grep '[[.ab.]]' b.txt",
	"grep -P 'foo(?=\\d)' b.txt", "grep -Po '(?<=fo)o\\d?' b.txt", "grep -P '^(?!foo)' b.txt", "grep -P '\\d$' b.txt", "grep -Po '\\bh\\w+' a.txt", "grep -Pi '^HELLO' a.txt", "grep -P '(a' a.txt", "grep -Po 'a\\Kb' a.txt",
	"grep -P '(?<x>abc)\\k<x>' a.txt", "grep -Pw foo b.txt", "grep -Px 'foo.?' b.txt", "grep -P -e a -e b a.txt", "grep -Pc . a.txt", "grep -Pv o a.txt", "grep -P '\\x66oo' b.txt", "grep -Pz 'b.c' nul.txt",
	"grep foo bin", "grep -c foo bin", "grep -a foo bin", "grep -n foo bin", "grep -v foo bin", "grep -o foo bin", "grep -I foo bin", "grep -l foo bin", "grep -q foo bin", "grep zzz bin", "grep '^two' bin", "grep --binary-files=text two bin",
	"grep --binary-files=without-match foo bin b.txt", "grep --binary-files=binary foo bin", "grep --binary-files=x foo bin", "grep -A1 foo bin", "grep -m1 foo bin", "grep -L foo bin",
	"grep foo bytes", "grep -n . bytes", "grep -c . bytes", "grep -o 'b.' bytes", "grep -z foo nul.txt", "grep -zc . nul.txt", "grep -zo 'b' nul.txt", "grep -zn a nul.txt", "grep -zc '^b' nul.txt", "grep -zv a nul.txt", "grep -zl foo nul.txt",
	"grep 'foo$' crlf", "grep -c 'foo.$' crlf", "grep -U foo crlf", "grep foo -x", "grep foo -- -x", "grep -e foo ./-x", "grep -T foo a.txt", "grep -nT foo a.txt", "grep -HnbT foo a.txt", "grep -cT foo a.txt", "grep -bT needle big", "grep -Z -l foo a.txt b.txt", "grep -ZH foo a.txt",
	"grep -Zc foo a.txt b.txt", "grep --label=in -H foo -", "grep foo -", "grep -H foo", "grep -c foo - a.txt", "grep -L zzz -", "grep --line-buffered foo a.txt",
	"grep foo d", "grep -d skip foo d a.txt", "grep -d read foo d", "grep -d recurse -l nothere d", "grep -d x foo d", "grep -D skip foo a.txt", "grep -D x foo a.txt", "grep -r nothere d", "grep -s foo d",
	"grep -r hidden d", "grep -r hidden", "grep -rl deep .", "grep -rl deep d/", "grep -R deep d/dirlink", "grep -r deep d/dirlink", "grep -rh deep d", "grep -rH foo d/x.c", "grep -r foo d/x.c", "grep -rc deep d/e", "grep -rn deep d/e a.txt",
	"grep -r --include='*.h' foo d", "grep -r --include=*.c --exclude=x* foo d", "grep -r --exclude='*.c' --exclude-dir=.h foo d", "grep -r --exclude-dir=e --include=*.h foo d", "grep -r --exclude-dir=d foo d", "grep --include=*.c foo a.txt b.txt", "grep --exclude=a* foo a.txt b.txt", "grep --exclude='*.txt' foo a.txt",
	"grep -r --exclude-from=pats hidden d", "grep -r --exclude-from=missing hidden d", "grep --color=always foo a.txt", "grep --color=always -n foo a.txt b.txt", "grep --color=always -o foo b.txt", "grep --color=always -A1 foo b.txt", "grep --color=always -v foo b.txt", "grep --color=always -c foo b.txt a.txt", "grep --color=always -l foo b.txt", "grep --color=always -i HELLO a.txt",
	"grep --color=always 'o*' a.txt", "grep --color=always -b foo a.txt", "grep --color=never foo a.txt", "grep --color=auto foo a.txt", "grep --color foo a.txt", "grep --colour=always -z foo nul.txt", "grep --color=always foo crlf",
	"grep", "grep -E", "grep -Q foo a.txt", "grep --foo", "grep --no foo a.txt", "grep --in x", "grep -A", "grep -A x foo a.txt", "grep -A -1 foo a.txt", "grep -m x foo a.txt", "grep -E -F foo a.txt", "grep -E -E foo a.txt", "grep -X egrep 'foo|bar' b.txt", "grep -X x foo", "grep -u foo a.txt", "grep --max-count", "grep --quiet=3 a",
	"grep -5 needle2 big", "grep -c needle big", "grep -c 'line 1.*needle' big", "grep -n needle$ big", "grep -vc needle big", "grep -m3 -n needle big", "grep -c foo longline", "grep -b foo longline", "grep -B1 -c foo longline", "grep -C2 1500 seq", "grep -n -m2 99 seq", "grep -B3 ^2999$ seq", "grep -A3 ^2999$ seq", "grep -c 1 seq", "grep -nx 3000 seq", "grep -v -m3 [1-5] seq",
	"egrep 'foo|bar' b.txt", "fgrep 'ba[' pats", "egrep", "fgrep -Q",
}

func Test_Grep_Does_As_The_Real_One(t *testing.T) {
	t.Parallel()
	var rows []programtest.Row
	for _, line := range grepLines {
		rows = append(rows, programtest.Row{Line: line, Stdin: "foo in\nbar in\n"})
	}
	utf8 := []string{"LC_ALL=C.UTF-8"}
	for _, line := range []string{
		"grep -o 'caf.' utf8", "grep -o '.t.' utf8", "grep -i \u00e9t\u00c9 utf8", "grep -o '\\w*' utf8", "grep -c '^....$' utf8",
		"grep foo bytes", "grep -n foo bytes", "grep -a foo bytes", "grep -c . bytes", "grep -o foo bytes", "grep 'b.foo' bytes", "grep -v zzz bytes", "grep '[[:alpha:]]$' utf8", "grep -w caf utf8", "grep -w caf\u00e9 utf8",
		"grep -io '\u00c9' utf8", "grep -P 'caf.' utf8", "grep -Po 'f.' utf8", "grep -Pi '^\u00e9' utf8", "grep -F -i CAF\u00c9 utf8", "grep -on '\u00ef' utf8", "grep -ob v utf8", "grep '[^a-z ]' utf8", "grep -E '(\u00e9).*\\1|\u00ef' utf8", "grep foo bin bytes a.txt",
	} {
		rows = append(rows, programtest.Row{Line: line, Env: utf8})
	}
	programtest.RunReadOnly(t, grepTree, rows)
}
