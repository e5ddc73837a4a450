package shell_test

import (
	"fmt"
	"strings"
	"testing"
)

// Every operator over every kind of value: what nobody would write out row by row.

func Test_Every_Operator_Of_Parameters_Over_Values(t *testing.T) {
	t.Parallel()
	values := []string{
		"unset x", "x=", "x=a", "x=abcabc", "x='a b  c'", "x=' a '", "x='*'", "x=/p/q.tar.gz", "x=$'a\\nb'", "x=héllo", `x='\x'`,
		`x="q'q"`, `x='"d"'`, "x=ABC", "x=0", "x='[a]'", "x='a/b'", "x='$y'",
	}
	var list []string
	for _, v := range values {
		for _, op := range paramOperators {
			list = append(list, fmt.Sprintf("%s; y=z; printf '<%%s>' ${%s}; printf '<%%s>' \"${%s}\"; echo; y=${%[2]s}; echo \"$y\"", v, op, op))
		}
	}
	checkTable(t, "", list)
}

// paramOperators are expansions of x without the braces.
var paramOperators = []string{
	"x", "#x", "x-d", "x:-d e", "x+d", "x:+'d e'", "x=d", "x:=d e", "x?e", "x:?", "x#a", "x#*b", "x##*b", "x##*/", "x%c", "x%b*", "x%%b*", "x%.*", "x#\\*",
	"x#'*'", "x/b/X", "x//b/X", "x/#a/X", "x/%c/X", "x/b", "x//b", "x//[ab]/-", "x//?/<&>", "x/*/", "x///-", "x//\\//-", "x/\\*/S", "x:1", "x:1:1", "x:0:1", "x: -2",
	"x: -2:1", "x:0:-1", "x:9", "x:0:0", "x^", "x^^", "x,", "x,,", "x~", "x~~", "x^^[a-b]", "x^[b]", "x@Q", "x@U", "x@u", "x@L", "x@E", "x@a", "x@A", "x@K", "x@P",
	"!x", "!x-d", "!x*", "x-$y", "x:-$(echo s)", "x:-\"q w\"", "x+\"$x\"", "x//$y/_", "x#\"$y\"", "x:$((1))", "x:y", "#x:1", "x[0]", "x[1]-n", "x[@]", "#x[@]", "!x[@]",
}

func Test_Every_Operator_Of_Parameters_Over_Lists(t *testing.T) {
	t.Parallel()
	lists := []string{"a=()", "a=('')", "a=(x)", "a=(ab 'c d' '')", "a=([2]=p [5]='q r' [9]=abc)", "declare -A a=([k]='v w')", "unset a", "a=('*' \"q'q\" ' ')"}
	operators := []string{
		"", "-d", ":-d e", "+d", ":+'d e'", ":1", ":1:1", ": -1", ":0:2", "#a", "##*b", "%d", "%%c*", "/b/X", "//[a-c]/-", "/#/p", "/%/s", "^", "^^", ",,", "@Q", "@U", "@a", "@A", "@K", "@k", "@E",
	}
	var list []string
	for _, l := range lists {
		for _, op := range operators {
			for _, form := range []string{"a[@]", "a[*]", "a[0]", "a[2]", "a", "@", "*"} {
				set := "set --"
				if form == "@" || form == "*" {
					set = `set -- "${a[@]}"`
				}
				exp := "${" + form + op + "}"
				list = append(list, fmt.Sprintf("%s; %s; printf '<%%s>' %s; printf '<%%s>' \"%s\"; echo; IFS=-; y=\"%[3]s\"; printf '<%%s>' \"$y\" x\"%[3]s\"y", l, set, exp, exp))
			}
		}
		list = append(list, l+`; echo ${#a[@]} ${#a[*]} ${#a} "${!a[@]}" ${!a[*]}; for i in "${a[@]}"; do echo "<$i>"; done`)
	}
	checkTable(t, "", list, "@A}") // bash splits it though it is in quotes
}

func Test_Every_Arithmetic_Operator_Over_Numbers(t *testing.T) {
	t.Parallel()
	numbers := []string{"-7", "-1", "0", "1", "2", "3", "64", "0x10", "9223372036854775807", "-9223372036854775807-1", "x"}
	var list []string
	for _, op := range []string{"+", "-", "*", "/", "%", "**", "<<", ">>", "&", "|", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||", ","} {
		for _, a := range numbers {
			for _, b := range numbers {
				list = append(list, fmt.Sprintf("x=5; echo $(( (%s) %s (%s) ))", a, op, b))
			}
		}
	}
	for _, op := range []string{"=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^="} {
		for _, b := range numbers {
			list = append(list, fmt.Sprintf("x=5; y=12; ((y %s (%s))); echo $? $y; let \"y %s %[2]s\"; echo $? $y", op, b, op))
		}
	}
	for _, a := range numbers {
		list = append(list, "x=5; echo $((-("+a+"))) $((+("+a+"))) $((!("+a+"))) $((~("+a+"))) $(("+a+"?1:2)) $((("+a+")*3-1))")
	}
	checkTable(t, "", list)
}

func Test_Every_Condition_Over_Words(t *testing.T) {
	t.Parallel()
	words := []string{"''", "a", "b", "1", "10", "010", "'a b'", "'*'", "-n", "A", "'('", "é"}
	var list []string
	for _, op := range []string{"=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-gt", "-le", "-ge", "=~", "-nt", "-ef"} {
		for _, a := range words {
			for _, b := range words {
				bracket := op
				if op == "<" || op == ">" {
					bracket = `\` + op
				}
				line := fmt.Sprintf("[[ %s %s %s ]]; echo $?", a, op, b)
				if op != "=~" {
					line += fmt.Sprintf("; [ %s %s %s ]; echo $?; test ! %[1]s %[2]s %[3]s; echo $?", a, bracket, b)
				}
				list = append(list, line)
			}
		}
	}
	for op := range strings.FieldsSeq("-n -z -e -f -d -s -r -w -x -v -L -h -p -S -b -c -g -u -k -O -G -t -o -R") {
		for _, a := range []string{"''", "x", "/", "nofile", "1", "errexit", "$x"} {
			list = append(list, fmt.Sprintf("x='a b'; [[ %s %s ]]; echo $?; [ %s %s ]; echo $?", op, a, op, a))
		}
	}
	checkTable(t, "", list)
}

func Test_Every_Pattern_Over_Words(t *testing.T) {
	t.Parallel()
	patterns := []string{
		"*", "?", "a*", "*a", "*a*", "[ab]", "[!ab]", "[^ab]*", "[a-c]?", "[]a]", "[!]]", "[a-]", "[[:alpha:]]*", "[[:digit:][:space:]]*", `\*`, `a\b`, "'*'*", `"a"?`, "a?(b)", "*(a|b)", "+([a-c])",
		"@(a|ab|abc)", "!(a*)", "!(a)", "?(a)b", "*(a)*(b)", "@(a|@(b|c))*", "+(a|b)c", "[[.a.]]*", "[[=a=]]", "a**b", "[", "[a", "a]", "[[:nope:]]", "**/", "é", "?é*", "[à-ü]", `[\]]`, `[\a]`, "[z-a]",
		"@()", "+()", "!()", "*(*(a))", "!(!(a))", "a@(b)c", "$p", `"$p"`,
	}
	words := []string{"''", "a", "b", "ab", "abc", "aab", "A", "'*'", "'a b'", "']'", "-", "1", "é", "'[a'", `'\'`, "a/b", ".a", "$'a\\nb'", "aaab"}
	var list []string
	for _, p := range patterns {
		for _, w := range words {
			list = append(list, fmt.Sprintf("p='a*'; case %s in %s) echo y;; *) echo n;; esac; x=%[1]s; echo \"<${x#%[2]s}><${x##%[2]s}><${x%%%[2]s}><${x%%%%%[2]s}>\" ${x//%[2]s/_}", w, p))
		}
	}
	checkTable(t, "shopt -s extglob", list)
}

func Test_Every_Format_Of_Printf(t *testing.T) {
	t.Parallel()
	formats := strings.Fields("%d %i %u %o %x %X %c %s %q %b %5d %-5d| %05d %+d %.3d %e %f %g %G %5.1f %.0s %.2s %10s| %-10q| %#x %#o %ld %(%Y)T %Q %% %5% %z %")
	args := []string{"''", "0", "1", "-1", "010", "0x1F", "abc", "'a b'", `"'a"`, "1.5", "1e3", "9223372036854775807", "9223372036854775808", "é", `'\n\t\x41\101'`, "'%d'", "-", "+1", "' 7'", "'7 '", "'\\'"}
	var list []string
	for _, f := range formats {
		for _, a := range args {
			list = append(list, fmt.Sprintf("printf '[%s]' %s; echo $?", f, a))
		}
	}
	checkTable(t, "", list, "%f]' 922", "%5.1f]' 922", "%(%Y)T]' 922") // 64 bits, not 80; years beyond C's int
}

func Test_Every_Way_To_Split_Words(t *testing.T) {
	t.Parallel()
	separators := []string{"unset IFS", "IFS=", "IFS=:", "IFS=' '", "IFS=' :'", "IFS=$' \\t\\n'", "IFS=a", "IFS=:x", "IFS='*'", "IFS=$'\\n'"}
	values := []string{"''", "a", "' a b '", "a:b::c", ":a:", "' a : b '", "'a*b'", "$'a\\nb\\n'", "::", "xaxb:c", "'  '", "'a  b'"}
	forms := []string{"$v", `"$v"`, "x$v", "$v$v", `"$v"$v`, `$v""`, `''$v''`, "$(printf %s \"$v\")", "${v:-d}", "${u:-$v}", "${u-x $v}"}
	var list []string
	for _, s := range separators {
		for _, v := range values {
			for _, f := range forms {
				list = append(list, fmt.Sprintf("v=%s; %s; set -f; set -- %s; printf '%%s' $#; printf '<%%s>' \"$@\"", v, s, f))
			}
			list = append(list, fmt.Sprintf("v=%s; %s; read a b c <<< \"$v\"; printf '<%%s>' \"$a\" \"$b\" \"$c\"; read -ra w <<< \"$v\"; printf '{%%s}' \"${w[@]}\"; set -f; set -- $v; printf '<%%s>' \"$*\"", v, s))
		}
	}
	checkTable(t, "", list)
}

func Test_Every_Sequence_In_Braces(t *testing.T) {
	t.Parallel()
	ends := []string{"1", "5", "-3", "a", "e", "01", "10", "Z", "007", "", "x1", "0"}
	var list []string
	for _, a := range ends {
		for _, b := range ends {
			for _, step := range []string{"", "..1", "..2", "..-2", "..0", "..x", ".."} {
				list = append(list, fmt.Sprintf("echo {%s..%s%s} p{%[1]s..%[2]s%[3]s}s", a, b, step))
			}
		}
	}
	checkTable(t, "", list)
}

// checkTable compares statements. Those with a text of except in them need not be the same, but if all
// of them are the text has to go.
func checkTable(t *testing.T, setup string, list []string, except ...string) {
	t.Helper()
	b := newBench(t)
	differ := 0
	for _, part := range except {
		n := len(b.differing(t, setup, having(list, part, true)))
		if differ += n; n == 0 {
			t.Errorf("%q agrees now", part)
		}
	}
	rest := list
	for _, part := range except {
		rest = having(rest, part, false)
	}
	for _, d := range b.differing(t, setup, rest) {
		t.Error(d)
	}
	t.Logf("%d statements, %d knowingly differ", len(list), differ)
}

// having returns the statements with the text in them, or the others.
func having(list []string, part string, with bool) (out []string) {
	for _, s := range list {
		if strings.Contains(s, part) == with {
			out = append(out, s)
		}
	}
	return out
}
