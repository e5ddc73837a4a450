package shell_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
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

// randomSetup is the script that runs before random statements.
const randomSetup = "shopt -s extglob; set -f; x=5 y=-2 z=x i=1 w='a b' v=abcab e= p='a*'; a=(3 'q r' 7); declare -A m=([k]='v w'); set -- 'p q' '' abc"

// Test_Random_Scripts_Give_The_Same_As_In_Bash compares some statements of a fixed seed. With
// RANDOM_SCRIPTS_FOR=1h it goes on that long with other seeds.
func Test_Random_Scripts_Give_The_Same_As_In_Bash(t *testing.T) {
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

// scripts makes scripts by a grammar. Most of them ask for more than the limits allow.
type scripts struct {
	*rand.Rand
	left int // of the script's size
}

func (g *scripts) one(list ...string) string { return list[g.IntN(len(list))] }

func (g *scripts) name() string { return g.one("x", "y", "a", "m", "f", "i") }

func (g *scripts) word() string {
	if g.left--; g.left < 0 {
		return "w"
	}
	n := g.name()
	switch g.IntN(20) {
	case 0:
		return "$" + n
	case 1:
		return `"$` + n + `$` + g.name() + `"`
	case 2:
		return "$(" + g.command() + ")"
	case 3:
		return "$((" + g.arith() + "))"
	case 4:
		return "{" + g.word() + "," + g.word() + "}{1.." + strconv.Itoa(g.IntN(1000000)) + "}"
	case 5:
		return "${" + n + "//" + g.one("a", "?", "*", "x*y") + "/" + g.word() + "}"
	case 6:
		return "${" + n + g.one("##", "%%", "#", "%") + g.one("*a", "a*", "+(a)", "*(?|b)c") + "}"
	case 7:
		return `"${` + n + g.one("[@]", "[*]", "^^", "@Q", "@P", ":1:5", "[i]", "-$(f)", "-a") + `}"`
	case 8:
		return "*" + g.one("*", "/*", "?", "a")
	case 9:
		return "<(" + g.command() + ")"
	case 10:
		return "\"${@}$*\""
	case 11:
		return "$'\\x00\\xff'"
	}
	return g.one("a", "b", "'c d'", "1", "99999999999999999999", "-n", "--", "''", "/", "/dev/null", "é")
}

func (g *scripts) arith() string {
	n := g.name()
	return g.one("1", n, n+"++", n+"[i]", n+" = "+g.name()+" + 1", "1 << 63", "(1 << 63) / -1", "3 ** 99", n+" ? "+n+" : 2", n+" += "+n, "2#11", "1 / 0")
}

func (g *scripts) list() string {
	var b strings.Builder
	for range 1 + g.IntN(3) {
		b.WriteString(g.command() + g.one("; ", "\n", " && :; ", " || :; ", " & ", " | cat; ", " |& "+g.command()+"; "))
	}
	return b.String()
}

func (g *scripts) command() string {
	if g.left--; g.left < 0 {
		return ":"
	}
	n := g.name()
	switch g.IntN(26) {
	case 0:
		return n + "=" + g.word()
	case 1:
		return n + "+=" + g.word()
	case 2:
		return "a+=(" + g.word() + " " + g.word() + ` "${a[@]}")`
	case 3:
		return "while " + g.command() + "; do " + g.list() + " done"
	case 4:
		return "for " + n + " in " + g.word() + " " + g.word() + "; do " + g.list() + " done"
	case 5:
		return "for ((" + g.arith() + "; i < 100; i++)); do " + g.list() + " done"
	case 6:
		return "if " + g.command() + "; then " + g.list() + " else " + g.list() + " fi"
	case 7:
		return "case " + g.word() + " in " + g.one("*", "a*", "+(a|b)") + ") " + g.list() + " ;; esac"
	case 8:
		return "(" + g.list() + ")"
	case 9:
		return "{ " + g.list() + " }"
	case 10:
		return "f() { local x=" + g.word() + "; " + g.list() + " }"
	case 11:
		return "f " + g.word() + ` "$@"`
	case 12:
		return "eval " + g.word()
	case 13:
		return "printf " + g.one("-v x ", "") + g.one("'%s'", "'%1000000s'", "'%*d'", "'%b'", "'%q'") + " " + g.word()
	case 14:
		return "read " + g.one("-r ", "-N 100 ", "-d '' ", "-a ", "") + n + " <<< " + g.word()
	case 15:
		return "[[ " + g.one("a", "$x", `"$y"`) + g.one(" == ", " =~ ", " < ", " -eq ") + g.one("a*", "(a*)*b", "$x", "1") + " ]]"
	case 16:
		return "trap " + g.one("'f'", "'echo t'", "-", "''") + " " + g.one("EXIT", "ERR", "DEBUG", "USR1", "RETURN")
	case 17:
		return "kill -" + g.one("USR1", "0", "TERM", "STOP", "CONT") + " " + g.one("$$", "$!", "%1", "0")
	case 18:
		return g.one("wait", "jobs", "break", "continue 2", "return", "shift", "exit 3", "set -- a b", "set -eu", "set +e", "shopt -s extglob globstar lastpipe", "unset x", "unset a", "exec 5>&1", "local z", "umask 0", "ulimit -n 5", "history -s x", "pushd /", "mapfile y < <(echo a)", "getopts ab i", "declare -A m", "declare -n x=y", "alias x=y", "hash -r", "times")
	case 19:
		return "cat " + g.one("<", ">", ">>", "<<<", "2>&1 >", "<>") + " " + g.word()
	case 20:
		return "coproc " + g.command()
	case 21:
		return "(( " + g.arith() + " ))"
	case 22:
		return "m[" + g.word() + "]=" + g.word()
	case 23:
		return "cat <<E\n$x" + g.word() + "\nE\n"
	}
	return g.one("echo ", ": ", "cat ", "test ", "bash -c ", "type ") + g.word()
}

// Test_Random_Scripts_Under_Small_Limits_Neither_Fail_Nor_Leak runs scripts in machines with very small limits. None may panic,
// outlast its time, or leave a goroutine; the memory that a machine counts must come back, so that after all of them a new shell
// in it works.
func Test_Random_Scripts_Under_Small_Limits_Neither_Fail_Nor_Leak(t *testing.T) {
	seed := rand.Uint64() //nolint:gosec // A test needs no secret numbers.
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	goroutines := runtime.NumGoroutine()
	for i := range rounds {
		g := &scripts{Rand: rand.New(rand.NewPCG(seed, uint64(i))), left: 60} //nolint:gosec // The same.
		text := g.list()
		runSmall(t, text, seed, i)
		if t.Failed() {
			return
		}
	}
	deadline := time.NewTimer(10 * time.Second)
	defer deadline.Stop()
	for runtime.NumGoroutine() > goroutines {
		select {
		case <-deadline.C:
			stacks := make([]byte, 1<<16)
			t.Fatalf("seed %d: %d goroutines are left:\n%s", seed, runtime.NumGoroutine()-goroutines, stacks[:runtime.Stack(stacks, true)])
		default:
			runtime.Gosched()
		}
	}
}

func runSmall(t *testing.T, text string, seed uint64, round int) {
	t.Helper()
	sh := shell.New(shell.Options{
		Commands: []shell.Command{{Name: "cat", Run: func(p *shell.Proc) int {
			_, err := io.Copy(p.Stdout, p.Stdin)
			return p.Status(err) - 1
		}}},
		Limits: shell.Limits{Fuel: 200_000, Depth: 60, Bytes: 1 << 20, Processes: 12, Files: 32, Source: 1 << 16},
		Seed:   seed,
	})
	defer sh.Close()
	var stderr strings.Builder
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := sh.Run(ctx, text, shell.Stdio{Stdout: io.Discard, Stderr: &stderr})
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error: %v", err)
	}
	if took := time.Since(start); took > deadline.Scale(20*time.Second) {
		t.Errorf("it took %v", took)
	}
	if strings.Contains(stderr.String(), "internal error") {
		t.Errorf("it said %s", stderr.String())
	}
	if t.Failed() {
		t.Logf("seed %d, round %d:\n%s", seed, round, text)
	}
}

// runFuzzed runs a script of the fuzzer: it ends, within its limits, without a panic.
func runFuzzed(t *testing.T, script string, args ...string) {
	t.Helper()
	sh := shell.New(shell.Options{
		Commands: coreutils.Commands(),
		Limits:   shell.Limits{Fuel: 200_000, Bytes: 32 << 20, Depth: 200},
	})
	defer sh.Close()
	ctx, cancel := context.WithTimeout(t.Context(), deadline.Scale(20*time.Second))
	defer cancel()
	var out, msg bytes.Buffer
	_, err := sh.RunScript(ctx, shell.Script{Text: script, Args: args, Exit: true, Wait: true}, shell.Stdio{Stdout: &out, Stderr: &msg})
	if err != nil {
		t.Fatalf("%v\n%q", err, script)
	}
	if strings.Contains(msg.String(), "internal error") {
		t.Fatalf("%q\n%s", script, msg.String())
	}
}

func addAll(f *testing.F, list ...string) {
	f.Helper()
	for _, s := range list {
		f.Add(s)
	}
}

func Fuzz_Expansion(f *testing.F) {
	addAll(f, paramOperators...)
	addAll(f, "a[@]:1:2", "!a[*]", "x//@(a|b)/${y}", "#", "@", "x:-${x:=~/{a,b}}", "a[$((1+1))]^^", "m[k]@Q")
	f.Fuzz(func(t *testing.T, s string) {
		if strings.ContainsAny(s, "}\n") {
			return
		}
		runFuzzed(t, "shopt -s extglob; x=abc y='a b' a=(1 'b c' 3); declare -A m=([k]=v)\necho ${"+s+"} \"${"+s+"}\"\nz=${"+s+"}; set -u; : ${"+s+"}", "p q", "")
	})
}

func Fuzz_Arithmetic(f *testing.F) {
	addAll(f, "1+2*3", "x=5,y--", "a[1]++ ? 2#101 : 0x1f", "1<<63>>2**3", "9223372036854775807+1", "x**-1", "(((((1)))))", "m[k]", "a[a[0]]=$x", "08", "64#@_", "\x0100")
	f.Fuzz(func(t *testing.T, s string) {
		runFuzzed(t, "x=3 y=x a=(1 2); declare -A m=([k]=7)\necho $((\"$1\"))\n((x+=$1))\nlet \"$1\"\ndeclare -i n; n=$1\necho ${a[$1]}\n[[ $1 -eq 1 ]]", s)
	})
}

func Fuzz_Printf(f *testing.F) {
	for _, s := range []string{"%d %s\n", "%5.3f|%-*s", "%b%q", "%(%Y-%m-%d)T", "%x%%\\x41\\u20ac\\0", "%'d%#o%c", "%5", "%1$s", "%ld%.10s"} {
		f.Add(s, "12", "a'b")
	}
	f.Fuzz(func(t *testing.T, format, a, b string) {
		runFuzzed(t, "printf \"$1\" \"$2\" \"$3\"; printf -v x -- \"$1\" \"$2\"; echo -e \"$1\"; printf %q \"$1\"; printf %b \"$1\"", format, a, b)
	})
}

func Fuzz_Patterns(f *testing.F) {
	for _, s := range []string{"a*b?[c-e]", "!(a|b)*", "+(@(x|y)z)", "[[:alpha:][.a.]]", "[", `\`, "*(*(a))", "[!]-]", "**/", "?(a"} {
		f.Add(s, "abcabc")
	}
	f.Fuzz(func(t *testing.T, pattern, s string) {
		runFuzzed(t, "shopt -s extglob globstar; mkdir -p d/e; touch ab d/e/b\n[[ $2 == $1 ]]; echo ${2#$1} ${2##$1} ${2%$1} ${2%%$1} ${2//$1/x} ${2/#$1/y}\necho $1; case $2 in $1) ;; esac; [[ $2 =~ $1 ]]", pattern, s)
	})
}

func Fuzz_Braces(f *testing.F) {
	addAll(f, "{a,b}{1..3}", "{1..1000000000}", "{a..z..3}{,}", "x{a,{b,c}d}y", "{,,,,}{,,,,}{,,,,}{,,,,}{,,,,}{,,,,}", "{01..-5..2}", "{", "{a,b", "}{", "{9223372036854775807..1}")
	f.Fuzz(func(t *testing.T, s string) {
		if strings.ContainsAny(s, "`$()<>;&|#\n") {
			return
		}
		runFuzzed(t, "set -- "+s+"\necho $#")
	})
}

func Fuzz_Scripts(f *testing.F) {
	addAll(f, wholeScripts...)
	addAll(f, "f() { f; }; f", "while :; do :; done", "trap 'echo x' EXIT; exit 3", "eval eval eval echo x", "a=(1 2 3); unset 'a[1]'", "exec 3<>f; echo x >&3")
	f.Fuzz(func(t *testing.T, s string) { runFuzzed(t, s) })
}
