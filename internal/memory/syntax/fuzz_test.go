package syntax_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
)

// sources are scripts with every construct.
var sources = []string{
	"echo a 'b c' \"d $e ${f:-g}\" $(h i) `j` $((1+2)) <(k) >(l) {m,n} @(o|p) $'q' $\"r\"",
	"if a; then b; elif c; then d; else e; fi > f 2>&1 < g",
	"while a; do b; done; until c; do d; done; for x in a b; do c; done; for ((i=0;i<3;i++)); do d; done; select y in a; do b; done",
	"case x in (a|b) c;; d) e;& f) ;;& esac",
	"f() { local a=1; }; function g { b; }; function h() ( c )",
	"a=(1 [2]=3 4) b+=5 c[1]=6 declare -A d=([k]=v); ((x++)); [[ a == b* && ! ( c =~ d|e ) || -f g ]]",
	"cat <<EOF <<-'X' <<< y\na $b\nEOF\n\tc\n\tX\necho done",
	"! time -p a | b |& c && d || e & coproc N { f; }; { g; } ; ( h )",
	"echo ${x/a/b} ${y##*/} ${!z@} ${a[@]:1:2} ${#b} ${c^^} ${d@Q} ${e:?f}",
}

// all reads a script to its end.
func all(src string) (lists []*syntax.List, err error) {
	p := syntax.NewParser(src, syntax.Options{ExtGlob: func() bool { return true }})
	for {
		l, err := p.Next()
		if err != nil || l == nil {
			return lists, err
		}
		lists = append(lists, l)
	}
}

// printed prints the parsed tree.
func printed(lists []*syntax.List) string {
	var b strings.Builder
	for _, l := range lists {
		for _, it := range l.Items {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(syntax.ItemText(it))
		}
	}
	return b.String()
}

func Test_Printed_Trees_Parse_To_The_Same_Tree(t *testing.T) {
	t.Parallel()
	for _, src := range sources {
		checkPrinted(t, src)
	}
}

// checkPrinted parses the printed form of a script: it must give the same tree.
func checkPrinted(t *testing.T, src string) {
	t.Helper()
	lists, err := all(src)
	if err != nil {
		return
	}
	was := treeOf(lists)
	if was.lossy {
		return
	}
	once := printed(lists)
	again, err := all(once)
	if err != nil {
		t.Fatalf("%q prints as %q: %v", src, once, err)
	}
	if was, is := was.String(), treeOf(again).String(); was != is {
		t.Fatalf("%q prints as %q\nwhich is\n%s\nand was\n%s", src, once, is, was)
	}
}

func Test_Reading_Ends_At_Every_Cut(t *testing.T) {
	t.Parallel()
	for _, src := range sources {
		for at := range len(src) {
			_, err := all(src[:at])
			if err != nil && err.Error() == "" {
				t.Errorf("%q: an error without text", src[:at])
			}
		}
	}
}

// Fuzz_Parser parses any text without a panic; its printed form prints the same after another parse.
func Fuzz_Parser(f *testing.F) {
	for _, s := range sources {
		f.Add(s)
	}
	f.Fuzz(checkPrinted)
}

// Test_Reading_Is_Not_Repeated_At_Every_Level reads text that may be an expression or commands at each of many levels.
func Test_Reading_Is_Not_Repeated_At_Every_Level(t *testing.T) {
	t.Parallel()
	for name, src := range map[string]string{
		"parameters that end elsewhere":  "echo " + strings.Repeat("${a[", 60) + strings.Repeat("}", 60),
		"subscripts of no assignment":    strings.Repeat("a[$(", 60) + ":" + strings.Repeat(")]x", 60),
		"subscripts of no element":       "a=(" + strings.Repeat("[$(b=(", 60) + strings.Repeat("))]x", 60) + ")",
		"lists that are words":           "echo " + strings.Repeat("a=($(declare -a x ", 60) + strings.Repeat("))", 60),
		"operands of bad parameters":     "echo " + strings.Repeat("${a@\"${b?${c:", 60) + strings.Repeat("}}\"x}", 60),
		"open expressions":               "echo " + strings.Repeat("$((", 200),
		"substitutions of subshells":     "echo " + strings.Repeat("$((a) ", 60) + strings.Repeat("; b)", 60),
		"subshells of substitutions":     strings.Repeat("(( $( ", 60) + "a" + strings.Repeat(" ) ) )", 60),
		"open subshells":                 strings.Repeat("(( $( ", 200),
		"expressions and substitutions":  "echo " + strings.Repeat("$(( $( (( $((", 40),
		"parentheses that do not belong": "echo " + strings.Repeat("$(( (", 60) + "1" + strings.Repeat(") )", 60),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			p := syntax.NewParser(src, syntax.Options{ExtGlob: func() bool { return true }})
			p.Step = func(nodes, _ int) bool { n += nodes; return n < 1_000_000 }
			_, err := p.Next()
			if e, ok := errors.AsType[*syntax.Error](err); ok && e.Stopped {
				t.Errorf("%d bytes took %d steps", len(src), n)
			}
			_, _ = syntax.QuotedText(src, nil)
		})
	}
}
