package sed_test

import (
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
)

const sedTree = `printf 'x\n' > one
seq 10 > s10
seq 5 > s5
printf 'x\ny\n' > xy
printf 'one' > noend
printf '1\n2' > ne2
printf 'a\0b\0c\nd\0' > z
printf 'a\\b/cn]d\n' > br
printf 'a*b.c[d]e^f$g\n' > sp
printf 'abcdefghij\033\001\\\t\303\251\377z\n' > nonp
printf 'a\nfoo\n' > sc1
printf '1i\\\n  foo\\\n  bar\\\\baz\\tq\\q\n$d\n' > sc2
printf 'p\n{p\np' > sc3
printf '#n\np' > sc4
printf 's/a/b' > sc5
printf 'y/a/\n' > sc6
printf 'the cat sat on the mat\nThe dog  ran\n\nfoo=1 bar=22\n  indented\nend\n' > text
: > empty
mkdir d`

// sedLines runs scripts, each a line of the list, on the files that follow sed's options.
func sedRows(before, after string, scripts []string, env ...string) []programtest.Row {
	var rows []programtest.Row
	for _, s := range scripts {
		line := strings.TrimSpace(strings.TrimSpace("sed "+before) + " " + quoteWord(s) + " " + after)
		rows = append(rows, programtest.Row{Line: line, Stdin: "in 1\nin 2\n", Env: env})
	}
	return rows
}

func quoteWord(s string) string {
	if strings.Contains(s, "'") {
		return `"` + s + `"`
	}
	return "'" + s + "'"
}

func Test_Sed_Reads_Scripts_As_The_Real_One(t *testing.T) {
	t.Parallel()
	rows := sedRows("", "one", []string{
		`a hello\nworld`, `a hello\tworld\q\\z`, `a\  hello`, `a\hello`, `a\\hello`, `a\thello`, `a \thello`, `a  hello`, "a\\\n  hello", `a   \  hello`, "a hello\\\nworld", "a\\\nhello\\\nworld\\", `a\`, `a \`, "a\\\n", "a\n", "a ", "a", "i", "c", `i\`, `$!{a foo`, "{a foo\n}", "a foo}", "a foo;p",
		"i\\\n\\  foo", `i\  \  foo`, `c\`, "1c foo", "1!c foo", `a\x41\o101\d065\cA`, `a \x41\o101\d065\cA\x`, `a q\qr\`, "a q\\\n\\w\\", `a foo\x5cnbar`, "a\\\n\\tfoo", "a\\\n\tfoo", "a\tfoo", "1i\\foo\\\nbar", "a\\\n\nfoo", `$a\`, "a foo # bar", "a foo\np", "a\\\nfoo\np", "i\\\nfoo\\\n\\\nbar\\tbaz",
		`s/x/\x26/`, `s/x/a\tb\nc\fd/`, `s/\x78/y/`, `s/x/\cA\c\\/`, `s/x/\c/`, `s/x/\d300\o777\xfff/`, `s/[\n]/y/`, `s/[\x78]/y/`, `s/[\d120x]/y/`, `s/\x5e/y/`, `s/\x2a//`, `s/x/\c\d/`, `s/x/[\x5c]/`, `s/x/[\d38\d92n]/`, `s/x/\0\0/`, `s/x/\`, `s/x/a\`, `s/x/[&]\&/`, `s/x/\\/`, `s/x/\/`,
		`y/x\n/\ny/`, `y/\x78/y/`, `y/x/\\/`, `y/x\y/123/`, `y/x/\q/`, `y,x\,,ab,`, `y/x/\t/`, `y/a\`, `y/x/\x5c/`, `y/x\\/ab/`, `y/\x5cx/ab/`, `y/xx/ab/`, `y/x/`, `y//`, `y///`, `y/x/y/p`, `y/x/y/ }`, `y/x/y/;p`, `y/x/[/`, `y/[x/]/ab/`,
		"b", "b;p", "bx;p;:x", ":x;p", ": x y;bx", "b x y; :x y", ":x}", "t;T;b}", "{b};p", "{:a};p", "{s/x/y/};p", "{y/x/y/};p", "{p};p", "{p}p", "{p;};;p", ";;p", "{;}", "{}", "}p", "p;}", "{{p}", "p#x", "p #x", "#n", "#n\np", "#nx\np", "#no\np", "# n\np", " #n\np", "b foo", "t foo", "T foo", ":a;:a", ":", ":  ", "1:a", "1,2:a", "{p", "}", "1}", "1,2}", "1#x", "#", "p;#n", "b a;p;:a\np", "ba\n:a", "b a b;:a", ":a\nta",
		"s/x/y/#c", "s/x/y/ p", "s/x/y/ ;p", "s/x/y/\tp", "s/x/y/\r", "p\r", "s/x/y/\r\np", "s/x/y/w", "s/x/y/w ", "s/x/a\nb/", "s/x/a\\\nb/", "s/a\nb/x/", "/a\n/p", `\,x,p`, `\,\,,p`, `\nanp`, `\nx\nnp`, `s,x,\,,`, `s&x&a\&b&`, `s&x&[&]&`, `s1x1\11`, `s1\(x\)1\111`, "snxnyn", "s x y ", "s;x;y;", `s\x\y\`, "s\nx\ny\n", "s", "s/", "y", "y/", "sx", "s/x", "s/x/", "s/x/y", "s/x/y/x", "s/x/y/pp", "s/x/y/gg", "s/x/y/12 3", "s/x/y/0", "s/x/y/1g", "s/x/y/g1", "s/x/y/2p", "s/x/y/Ig", "s/X/y/i", "s/x/y/mM", "s/x/y/ g", "s/x/y/}", "{s/x/y/}", "{s/x/y/p}", "s/x/y/p;p",
		"l 1", "l1;p", "l;l 0", "L", "q 5", "Q 7", "q;p", "=p", "=;=", "d;p", "D", "G;l", "H;x;l", "F", "z;l", "k", "1~0p", "0~1p", "0~0p", "2~p", "1,~0p", "1,+p", "1,+1p", "1,+0p", "1,~1p", "1 , 2 p", "1\tp", "1 !  p", "1! !p", "1!!p", "$!N", "$p", "/x/I,/y/M p", "/x/ I p", "/x/IMp", "/x/g", "1,2,3p", ",2p", "1,p", "1,", "1", "1!", "/x/", "!p", "0,/x/p", "0,/x/!p", "0!p", "0p", "0,3p", "0,$p", "1,0p", "2,1p", "1,1p", "+1p", "~2p", "1,2=", "1,2q", "1,2Q", "1,2a foo", "1,2i foo", "1,2r one", "p x", "px", "q x", "q5 x", "l x", "/a", "/x/,", "/x/,/y", "0,/x/d", "99999999999999999999p", "1,99999999999999999999p",
		"r", "r one", "R one", "R one\nR one", "r nosuch", "w", "W", "R", "w /dev/stdout", "s/x/y/w /dev/stdout", "r /dev/stdin", "R /dev/stdin", "W /dev/stdout", "v", "v x", "v4.9;p", "va", "v 4.2", "v 9.0", "v 4.9.1", "4.9v", "r one\np", "{r one\n}",
		`s//x/`, `//p`, `//Ip`, `s//x/I`, `s/\(a/b/`, `s/a\)/b/`, `s/a/\1/`, `s/\(a\)/\2/`, `s/a\{1/b/`, `s/[a/b/`, "e", "e echo hi", "1e echo hi", "s/x/echo hi/e", "s/x/echo hi/ep", "s/x/echo hi/pe", "",
	})
	for i := range rows {
		// What the shell says of a command that is not there is its own.
		if rows[i].Line == "sed 'e' one" {
			rows[i].Loose |= programtest.SloppyOutput
		}
	}
	rows = append(rows, sedRows("--sandbox", "one", []string{"w x", "r x", "e ls", "s/a/b/e", "s/a/b/w x", "W x", "R x", "p"})...)
	rows = append(rows, sedRows("--posix", "xy", []string{
		`s/\x78/y/`, `s/[\n]/y/`, `s/x/\t/`, `s/x\|y/z/`, `s/x\+/z/`, "a foo", "e", "1,2=", "s/x/y/I", "/X/Ip", "1~2p", "1,+1p", `s/x/\U&/`, ":a b;p", "b a;p;:a", `y/x/\t/`, "p}", "{p}", "s/x/y/;p", "l 1", "q1", "F", "0,/x/p", "N", "n", "$!N", "a\\\nfoo", "1,2i\\\nfoo", "z", "Q", "L", "v",
	})...)
	rows = append(rows, programtest.TextRows([]string{
		"sed -f sc1 one", "sed -f sc2 one", "sed -f sc3 one", "sed -f sc4 one", "sed -n -f sc5 one", "sed -f sc6 one", "sed -e 'a\\' -e foo one", "sed -e 'a foo' -e p one", "sed -e 'i\\' -f sc1 one", "sed -e 's/x/y\\' -e z/ one", "sed -e {p -e } one", "sed -e { -e k one", "sed -e p -e k one", "sed -e p -e 's/x/y\\(/' one", "sed -e {p -e p one", "sed -f nosuch one", "sed -nf sc4 one", "sed --file=sc4 one", "sed -e p -f sc4 one", "sed -e '#n' -e p one", "sed -e 'i\\' -e '  foo' one",
		"sed p nosuch one", "sed p d one", "sed -n l d", "sed p -", "sed p - one", "sed -l 5 -n l nonp", "sed -l x -n l nonp", "sed -l 1 -n l nonp", "sed -l 0 -n l nonp", "sed -l -1 l one", "sed --line-length=3 l nonp", "sed --quiet p one", "sed --nul p one", "sed -E -n --expression=p one", "sed -n p one -s", "sed -zn p one", "sed -r 's/(x)/\\1\\1/' one", "sed -u 1q s5", "sed -b p one", "sed -n '$=' s10 xy", "sed -s -n '$=' s10 xy", "sed p empty one", "sed -n '$p' one empty", "sed '$d' one empty nosuch", "sed -n '$=' empty",
	})...)
	programtest.RunReadOnly(t, sedTree, rows)
}

func Test_Sed_Edits_As_The_Real_One(t *testing.T) {
	t.Parallel()
	rows := sedRows("", "sp", []string{
		`s/a\x2ab/X/`, `s/\x2e/X/`, `s/\x5b/X/`, `s/[\x5d]/X/`, `s/[\x5e]/X/`, `s/[\x5ef]/X/`, `s/b\x24/X/`, `s/\*b/X/`, `s/\d42/X/`, `s/a\x5c*/X/`, `s/[\.]/X/g`, `s/[\]]/X/`, `s/[]]/X/`, `s/[^]]/X/g`, `s/[[:alpha:]/]/X/g`, `s/[\/]/X/`, `s/[[.].]]/X/`, `s/\//X/`, `s/[[/]/X/`, `s/[[:/:]]/X/`, `s,[,],X,`, `s/\[/]/X/`, `s/\[x]/X/`, `s/\n*/X/`,
		`s/\(a\)\2/X/`, `s/a**/X/`, `s/*a/X/`, `s/^*a/X/`, `s/\(*\)/X/`, `s/a\{2,1\}/X/`, `s/a\{99999\}/X/`, `s/a\{/X/`, `s/[b-a]/X/`, `s/[[:foo:]]/X/`, `s/[[:alpha:/X/`, `s/\/X/`, `s/a\|b/X/g`, `s/a\+\?/X/`, "s/\\`a/X/", `s/g\'/X/`, `s/\bf/X/`, `s/\<e/X/`, `s/\w/X/g`, `s/\W/X/g`, `s/\s/X/`, `s/.\{3\}/X/2`, `s/./X/3g`, `s/./X/100`, `s/x*/-/g`, `s/x*/-/2`, `s/x*/-/3g`, `s/b*/-/g`, `s/b*/-/2`, `s/b*$/-/g`, `s/$/X/g`, `s/^/X/g`, `s/^./X/g`, `s/\(^a\)/X/`, `s/a\(^b\)/X/`, `s/$g/X/`, `s/\($\)/X/`, `s/f\$g/X/`, `s/f$g/X/`, `s/^^/X/`,
		`s+a\*b+X+`, `s|a\|b|X|g`, `s.a\*b\.c.X.`, `s*a\*b*X*`, `s^a\^b^X^`, `s/a/\n/;l`, `s/\(.\)\(.\)/\2\1/g`, `s/.*/"&"/`, `s/\(a\)\|b/[\1]/g`, `s/b\|\(a\)/[\1]/g`, `s/.\b/<&>/g`, `s/\b/|/g`, `s/\B/|/g`, `s/\</</g`, `s/\>/>/g`, "s/\\`/X/g", `s/\'/X/g`,
	})
	rows = append(rows, sedRows("-E", "sp", []string{
		`s/(a|b)+/<&>/g`, `s/a|b|/<&>/g`, `s/()/X/g`, `s/a{1}/X/`, `s/a{,2}/X/`, `s/a{1/X/`, `s/{/X/`, `s/a{x/X/`, `s/+/X/`, `s/a|*b/X/`, `s/(*a)/X/`, `s/^*/X/`, `s/\(/X/`, `s/\</X/`, `s/a\b/X/`, `s/(a)(\*)(b)/\3\2\1\0/`, `s/\.|\*/X/g`, `s/()\1/x/`, `s/(a)\2/x/`, `s/a**/x/`, `s/a+*/x/`, `s/\+/X/`, `s/a??/X/`, `s/|a/X/`, `s/(|a)/X/`, `s/a||b/X/`, `s/(/X/`, `s/)/X/`, `s/a)/X/`, `s/[/X/`, `s/\n/X/`, `s(a\(b(X(`, `s|a\|b|X|g`, `s/(.)(.)(.)(.)(.)(.)(.)(.)(.)(.)/\9\8\7/`, `s/((a)|(b))*/[\1\2\3]/`, `s/(a*)*/<\1>/g`, `s/(a|ab)(c|bcd)*/<\1\2>/`,
	})...)
	rows = append(rows, sedRows("", "br", []string{`s/[\/]/X/g`, `s/[\n/]/X/g`, `s/[]/]/X/g`, `s/[^]/]/X/g`, `s/[[./.]]/X/`, `s/[[=/=]]/X/`, `s/[a[]/X/`, `s/\\[/]/X/`, `s/[\]/X/`, `s/[\]/]/X/g`, `s/[a\]/X/g`, `s|[\|]|X|g`, `s,[\,n],X,g`, `snb\nX\nn`, `sb[\b]bXbg`, `s/[[]/X/`, `s/[\t]/X/`, `s/[[:alpha:]\n]/X/g`, `s/[\x5c]/X/g`, `/[/]/d`, `\,[,],d`, "s/[a\n]/X/", "s/[\\\n]/X/", `s/[\\n]/X/g`, `s/[\\t]/X/g`, `s/[\\]/X/g`, `s/[^\n]/X/g`, `s/[]\n]/X/g`, `s[a[X[`, `s]a]X]`, `s/[^]/X/`, `s/[]/X/`})...)
	rows = append(rows, sedRows("-n", "nonp", []string{"l", "l 5", "l 0", "l 1", "l 2", "l 20", "s/./X/g;p", `s/.*/\U&/;p`, "s/[^a]/X/g;p", "y/é/e/;p", "s/é/e/;p", "y/ab/éx/;p", `s/\xe9/e/p`, `y/a\tb/xyz/;l`}, "LC_ALL=C.UTF-8")...)
	rows = append(rows, sedRows("-n", "nonp", []string{"l", `s/\o303/X/;p`, "s/./X/g;p", "s/[^a]/X/g;p", "y/é/e/;p", "s/é/e/;p", "y/ab/éx/;p", "s/é*/X/gp"})...)
	rows = append(rows, sedRows("", "one", []string{
		`s/\(.\)/\u\1/;s/$/\Uabc\ldEf\Eghi/`, `s/x/\uabc\LDEF\uGHI/`, `s/\(x\)\(z*\)/\u\2\1\l\2ABC/`, `s/x/\l\UABC/;s/$/\u\LABC/;s/$/\U\lABC/;s/$/\L\uABC/`, `s/x/\Ua\Eb\Lc\n\U&d/`, `s/x/\U\tabc\x41b/`, `s/\(z*\)\(x\)/\u\1\2/`, `s/\(z*\)\(x\)/\u\1a\2/`, `s/x/\u&\u&\U&&\l&/`, `s/x/\u/`, `s/x/\Eabc/`, `s/x/\u\u\u&/`, `s/x/a\Ub&c\n/`, `s/x/\l\u&/`, `s/x/\u\l&/`, `s/\(x\)/\L\u\1BC \1/`,
	})...)
	programtest.RunReadOnly(t, sedTree, rows)
}

func Test_Sed_Goes_Through_Lines_As_The_Real_One(t *testing.T) {
	t.Parallel()
	var rows []programtest.Row
	for _, f := range []string{"s5", "s10", "ne2", "noend", "text", "ne2 ne2", "xy s5"} {
		rows = append(rows, sedRows("", f, []string{
			"N", "G", "i foo", "a foo", "r s5", "p", "$!d", "w /dev/stdout", "c foo", "$!N;P;D", "n;d", "2q", "2,3c foo", "2,3!c foo", "$c foo", "2{c foo\n}", "/2/,/3/{c foo\n}", "2D", "2i foo", "2r xy", "2R xy\n3R xy\n4R xy", "2!{s/$/x/}", "2,4{2,3p}", "2,/2/p", "/2/,2p", "/2/,1p", "/2/,+1p", "/2/,~2p", "/3/,~2p", "2,~0p", "$!{h;d};H;x", "x;p;x", "1~2d", "0~2d", "2~0p", "5,$p", "1d;n;d", ":a;N;$!ba;s/\\n/,/g", "N;N;s/^./x/mg", "N;N;s/.$/x/mg", "N;N;s/.*/x/m", "N;N;s/[^1]*/x/m",
			"N;N;s/\\`./x/mg", `N;N;s/.\'/x/mg`, "F;=", "/1/{s//x/;s//y/}", `/2/s//\(/`, `s/\(2\)/<&>/;s//[\1]/`, `s/2/<&>/;s//[\1]/`, "x", "x;G", "H;x", "g", "h;g", "l", "=", "1!G;h;$!d", "s/1/x/;n;t;s/$/!/", "s/1/x/;N;t;s/$/!/", "s/./X/;ta;s/$/no/;:a;s/$/yes/", "s/z/X/;Ta;s/$/no/;:a;s/$/yes/", "$!N;s/\\n/ /", "n;n;s/./x/", "/^$/d", "/./!d", "$!N;/^\\(.*\\)\\n\\1$/!P;D", "a one\ni two\nr xy\nc three", "a foo\nn", "a foo\nN", "a foo\nD", "a foo\n$!N;D", "i foo\nD", "r xy\nn\na bar", "2Q3", "2q3", "$q9", "a x\nq", "a x\nQ", "=;l;p;P", "W /dev/stdout", "z;s/^/x/", "D;p", "N;D", "N;N;D", "N;P", "h;H;x;P",
			"2,~2p", "2,+0p", "2,~4p", "/2/,+0p", "1r noend", "1R noend\n2R noend", "$r noend", "R xy", "R nosuch", "r d", "y/12/ab/", "1,3{n;s/^/>/}", "2,4{N;N;N;=}", "1!{1!p}", "$!{$!p}", "/1/,/1/p", "/1/,$p", "1,/z/p", "0,/1/d", "0,/2/d", "1,/1/d", "$!{N;N};P", "$s/^/end/", "1~3s/^/3/", "2,~4s/^/4/", "2,+2s/^/2/", "/2/,+2{N;N;N;s/^/>/}", "2,+2{N;N;N;s/^/>/}", "/2/,~4{N;N;N;s/^/>/}", "/2/,4{N;N;N;s/^/>/}", "N;N;N;N;N;2,4s/^/>/", "N;N;2,1s/^/>/", "N;N;2,2s/^/>/", "N;N;3,2s/^/>/", "2{N;N;N};2,4s/^/>/", "/[13579]/,2s/^/>/",
			"s/e/E/g", "s/e/E/2", "s/the/THE/I", "s/\\bt/T/g", "s/[aeiou]//g", "s/^ *//", "s/ *$//", "s/\\([a-z]*\\)=\\([0-9]*\\)/\\2=\\1/g", "/the/s/a/A/g", "/the/!s/a/A/g", "/dog/,/end/s/^/> /", "/the/d", "/THE/Id", "/the/{s/cat/dog/;s/mat/rug/}", "s/.*/(&)/", "/nothing/p", "/dog/{N;s/\\n/+/}", "/dog/q", "/o/{/f/d}", "s/o/0/w /dev/stdout",
		})...)
		rows = append(rows, sedRows("-n", f, []string{
			"$p", "N;N;s/\\n/+/gp", "2{p;q}", "/2/,/4/{//!p}", "N;N;2,4p", "2,4{N;N;N;p}", "/2/,4{N;N;N;p}", "1,3{n;n;n;n;p}", "/1/,3{n;n;n;n;p}", "/[13]/=", "$=", "2p", "2,3p", "/o/p", "s/o/0/p", "s/o/0/gp", "/a/{p;p}", "/a/!p", "n;p", "$!N;l", "H;${x;s/\\n/,/g;p}", "H;1h;$!d;x;l", "1!G;h;$p", "/^$/=", "p;n;p", "i foo", "a foo", "c foo", "2c foo", "$!c foo", "2,3c foo", "r xy", "q", "/x/,/y/p", "x;p",
		})...)
		rows = append(rows, sedRows("-s", f, []string{"$!d", "H;$!d;x", "F;=", "1i head", "$a tail", "2q", "N", "n;d", "1,2d", "R xy", "0,/1/s/^/>/", "$!N;P;D", "a x", "N;N;N;s/\\n/+/g"})...)
		rows = append(rows, sedRows("--posix", f, []string{"N", "n;d", "$!N;P;D"})...)
		rows = append(rows, sedRows("-z", f, []string{"s/\\n/,/g", "s/^/x/mg", "s/$/x/mg", "s/^./x/mg", "=;l", "N", "c foo", "$!d", "/1/d"})...)
	}
	rows = append(rows, sedRows("-z", "z", []string{"=", "N;l", "N;s/^/x/mg;s/$/y/mg", "G", "i foo", "a foo", "F", "N;P;D", "y/\\n/,/", "R one", "s/.*/x/m", "s/[^a]*/x/m", "s/\\n/x/m", "c foo", "W /dev/stdout", "H;x", "/b/d", "s/b/X/", "$d", "2r one", "s/^/x/", "s/$/x/"})...)
	programtest.RunReadOnly(t, sedTree, rows)
}

func Test_Sed_Writes_Files_As_The_Real_One(t *testing.T) {
	t.Parallel()
	var rows []programtest.Row
	for _, line := range []string{
		"sed -i p one", "sed -i.bak s/x/y/ one", "sed -i p", "sed -i p -", "sed -s -i.b p nosuch", "sed -i p nosuch one", "sed -i p d", "sed -i p d one", "sed -i*.bk p one", "sed -ibk/ p one", "sed -id/* p one", "sed --in-place=.k p one xy", "sed -i -e 1d -e '$a end' s5 xy", "sed -i 2q s5 xy", "sed -i -n 2p s5", "sed -n -i '$=' s5 xy", "sed -i 'w out' one", "sed -i 's/x/y/w out' one xy", "sed -i 'w /dev/stdout' one xy", "sed -i d one", "sed -i 2Q7 s5", "sed -i 'a foo' noend", "sed -i 's/o/0/' noend noend", "sed -i 's/x/y/' link", "sed -i --follow-symlinks 's/x/y/' link", "sed -i.bak --follow-symlinks 's/x/y/' link", "sed -i -E 's/(x)/<\\1>/' d/../one", "sed -i 1i\\head one xy", "sed -i '1r noend' s5", "sed -i -s 'F;=' one xy", "sed -i k one", "sed -i N ne2", "sed -i '$!N;P;D' s5 s10", "sed -i 'R xy' s5 s10", "sed -i '1,2d' ro",
		"sed -n '/1/w out1\n/2/w out2' s10", "sed 'w out' noend", "sed 'w out\nw out' ne2", "sed -n 'w out\nr out' s5", "sed 'w nodir/out' one", "sed -n 's/./&/gpw out' text", "sed 'W out\nN\nW out' s5", "sed k one 'w out'", "sed -e 'w out' -e k one", "sed 'w out1' nosuch", "sed -n '1!{w out\n}' s5", "sed 'w /dev/null' one", "sed 'w out;p' one", "sed '$!{w a\nb\n};w b' s5", "sed 'R out\nw out' s5",
	} {
		rows = append(rows, programtest.Row{Setup: sedTree + "\nln -s one link\ncp one ro\nchmod 640 ro", Line: line, Stdin: "in\n"})
	}
	programtest.RunRows(t, rows)
}

func Test_Sed_Options_That_Are_Wrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, want string }{
		{"sed", "Usage: sed"},
		{"sed -Q", "sed: invalid option -- 'Q'\nUsage: sed"},
		{"sed -e", "sed: option requires an argument -- 'e'\nUsage: sed"},
		{"sed --nosuch", "sed: unrecognized option '--nosuch'\nUsage: sed"},
		{"sed --debug p", "sed: --debug is not supported"},
	} {
		got := virtualOutcome(t, c.line, "", nil)
		if !strings.HasPrefix(got.Stderr, c.want) || got.Status != 1 || got.Stdout != "" {
			t.Errorf("%s: %+v", c.line, got)
		}
	}
}

// virtualOutcome runs a line on a tree with files.
func virtualOutcome(t *testing.T, line, stdin string, content map[string]string) programtest.Outcome {
	t.Helper()
	f := programtest.NewVirtualTree(t, content)
	return programtest.RunVirtual(t, f, "/w", programtest.SplitWords(t, line), programtest.Row{Stdin: stdin})
}
