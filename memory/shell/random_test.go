package shell_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// scripter makes random scripts that are valid, of expansions and arithmetic.
type scripter struct {
	r     *rand.Rand
	depth int
}

func (s *scripter) pick(list ...string) string { return list[s.r.IntN(len(list))] }

// expr is an arithmetic expression.
func (s *scripter) expr() string {
	if s.depth++; s.depth > 4 {
		s.depth--
		return s.pick("0", "1", "2", "7", "-3", "x", "y", "z", "0x1f", "010", "2#101", "a[1]", "9223372036854775807", "$x", "${#w}", "u")
	}
	defer func() { s.depth-- }()
	switch s.r.IntN(9) {
	case 0:
		return s.pick(" -", " +", "!", "~", " ++", " --") + s.pick("x", "y", "a[2]", "z")
	case 1:
		return s.pick("x", "y", "a[i]") + s.pick("++ ", "-- ")
	case 2:
		return s.expr() + " ? " + s.expr() + " : " + s.expr()
	case 3:
		return "(" + s.expr() + s.pick(",", ", ") + s.expr() + ")"
	case 4:
		return "(" + s.pick("x", "y", "z", "a[1]", "n") + s.pick("=", "+=", "-=", "*=", "|=", "^=", "<<=", "%=", "/=") + s.expr() + ")"
	case 5:
		return "(" + s.expr() + ")"
	case 6:
		return s.pick("x", "y", "3", "0", "12")
	}
	return s.expr() + s.pick("+", " - ", "*", "/", "%", "<<", ">>", "&", "|", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||") + s.expr()
}

// word is text with expansions.
func (s *scripter) word() string {
	var b strings.Builder
	for range 1 + s.r.IntN(3) {
		switch s.r.IntN(8) {
		case 0:
			b.WriteString("'" + s.pick("a b", "*", "$x", "", "\\", "{a,b}") + "'")
		case 1:
			b.WriteString(`"` + s.pick("a  b", s.param(), "", "*", "x"+s.param()) + `"`)
		case 2, 3:
			b.WriteString(s.param())
		case 4:
			b.WriteString("$((" + s.expr() + "))")
		case 5:
			b.WriteString(s.pick("a", "b c", "-", "xyz", `\ `, `\*`, "{1,2}", "{a..c}", ":", "~x")[:1])
		case 6:
			b.WriteString(s.pick("$(printf '%s ' a b)", "$(echo "+s.param()+")", "`echo q`", "$'t\\tn'"))
		case 7:
			b.WriteString(s.pick("a", "b", "c", "{a,b}", "{1..3}", "=", "%"))
		}
	}
	return b.String()
}

// param is an expansion of a parameter.
func (s *scripter) param() string {
	if s.depth++; s.depth > 4 {
		s.depth--
		return "$" + s.pick("x", "w", "v", "#", "?", "1", "@", "*")
	}
	defer func() { s.depth-- }()
	name := s.pick("x", "w", "v", "e", "u", "a[@]", "a[*]", "a[1]", "a", "1", "2", "@", "*", "m[k]", "m[@]", "p")
	switch s.r.IntN(8) {
	case 0:
		return "${#" + name + "}"
	case 1:
		return "${" + name + s.pick(":-", "-", ":+", "+") + s.plain() + "}"
	case 2:
		return "${" + name + s.pick("#", "##", "%", "%%") + s.pattern() + "}"
	case 3:
		return "${" + name + s.pick("/", "//", "/#", "/%") + s.pattern() + "/" + s.plain() + "}"
	case 4:
		return "${" + name + ":" + s.pick("0", "1", "2", "3", "x") + s.pick("", ":1", ":2", ":0") + "}"
	case 5:
		return "${" + name + s.pick("^", "^^", ",", ",,", "@Q", "@U", "@L", "@u") + "}"
	}
	return "${" + name + "}"
}

func (s *scripter) plain() string {
	return s.pick("q", "r s", "", "$w", "\"$v\"", "'z'", "$((x))", "\\}", "*")
}

func (s *scripter) pattern() string {
	return s.pick("a", "*", "?", "b*", "*c", "[a-c]", "[!a]", "$p", "\"$p\"", "'*'", "\\*", "?b", "*(a|b)", "+(a)", "@(ab|c)", "!(a)", "[[:alpha:]]", "ab")
}

// statement is one command to compare. bash leaves expansions behind a tilde and a colon as they are.
func (s *scripter) statement() string {
	for {
		if text := s.anyStatement(); !strings.Contains(text, "~:") {
			return text
		}
	}
}

func (s *scripter) anyStatement() string {
	switch s.r.IntN(6) {
	case 0, 1:
		return "echo $((" + s.expr() + ")); echo $x $y $z ${a[@]}"
	case 2:
		return "((" + s.expr() + ")); echo $? $x $y $z ${a[@]}"
	case 3:
		return "q=" + s.word() + "; printf '<%s>' \"$q\"; [[ $q == " + s.pattern() + " ]]; echo $?"
	case 4:
		return "IFS=" + s.pick(":", "-", "a", "' b'", "' '") + "; printf '<%s>' " + s.word() + " " + s.word()
	}
	return "printf '<%s>' " + s.word() + " " + s.word() + "; for i in " + s.word() + "; do echo \"[$i]\"; done"
}

// randomSetup is what random statements find.
const randomSetup = "shopt -s extglob; set -f; x=5 y=-2 z=x i=1 w='a b' v=abcab e= p='a*'; a=(3 'q r' 7); declare -A m=([k]='v w'); set -- 'p q' '' abc"

// Test_Random_Scripts_Give_What_They_Give_In_Bash compares some statements of a fixed seed. With
// RANDOM_SCRIPTS_FOR=1h it goes on that long with other seeds.
func Test_Random_Scripts_Give_What_They_Give_In_Bash(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	n := 0
	round := func(seed uint64) bool {
		s := &scripter{r: rand.New(rand.NewPCG(seed, 0))} //nolint:gosec // Repeatable on purpose.
		list := make([]string, 400)
		for i := range list {
			list[i] = s.statement()
		}
		n += len(list)
		texts := b.differing(t, randomSetup, list)
		for _, d := range texts {
			t.Errorf("seed %d: %s", seed, d)
		}
		return len(texts) == 0
	}
	for seed := range uint64(5) {
		round(seed)
	}
	if long, err := time.ParseDuration(os.Getenv("RANDOM_SCRIPTS_FOR")); err == nil {
		for end := time.Now().Add(long); time.Now().Before(end) && round(rand.Uint64()); { //nolint:gosec // Any will do.
		}
	}
	t.Log(strconv.Itoa(n) + " statements")
}

// Fuzz_Random_Scripts compares statements of the seeds that the fuzzer finds.
func Fuzz_Random_Scripts(f *testing.F) {
	b := newBench(f)
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		s := &scripter{r: rand.New(rand.NewPCG(seed, 1))} //nolint:gosec // Repeatable on purpose.
		list := make([]string, 20)
		for i := range list {
			list[i] = s.statement()
		}
		for _, d := range b.differing(t, randomSetup, list) {
			t.Error(fmt.Sprint("seed ", seed, ": ", d))
		}
	})
}
