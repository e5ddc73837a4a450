package shell_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// runFuzzed runs a script of the fuzzer: it ends, within its limits, without a panic.
func runFuzzed(t *testing.T, script string, args ...string) {
	t.Helper()
	sh := shell.New(shell.Options{
		Commands: coreutils.Commands(),
		Limits:   shell.Limits{Fuel: 200_000, Bytes: 32 << 20, Depth: 200},
	})
	defer sh.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
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
