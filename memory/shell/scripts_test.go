package shell_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// Test_Long_Hostile_Texts_Run_In_Little_Time runs long texts, of brackets that do not close above all, in
// the places where they are taken apart. Code that searches for the end again at each bracket would take minutes.
func Test_Long_Hostile_Texts_Run_In_Little_Time(t *testing.T) {
	t.Parallel()
	scripts := map[string]string{
		"a pattern":     `shopt -s extglob; x=abcabc; [[ $x == $1 ]]; : ${x#$1} ${x%%$1} ${x//$1/z}`,
		"a value":       `x=$1; : "${x##*a}" "${x%%b*}" "${x//a/bb}" "${x/%z/y}" "${#x}"`,
		"names":         `shopt -s extglob; : $1`,
		"an expression": `: $(($1))`,
		"a subscript":   `a=(1 2); : ${a[$1]}`,
		"a script":      `eval "$1"`,
		"a word":        `eval ": $1"`,
		"a prompt":      `x=$1; : ${x@P}`,
		"a number":      `printf %d%f%x "$1" "$1" "$1"`,
		"a declaration": `declare "a[$1]=1"; unset "a[$1]"; declare -i n=$1`,
	}
	for name, script := range scripts {
		for _, piece := range []string{"[", "[[:", "[a-", "*(", "*([", "a[", "a['", "(", "$((", "${a[", "1", "1+", "\\", "{a,", "`", "a=($("} {
			t.Run(name+" of "+piece, func(t *testing.T) {
				t.Parallel()
				sh := shell.New(shell.Options{Commands: coreutils.Commands()})
				defer sh.Close()
				ctx, cancel := context.WithTimeout(t.Context(), deadline.Scale(time.Minute))
				defer cancel()
				text := strings.Repeat(piece, 100_000/len(piece))
				if _, err := sh.RunScript(ctx, shell.Script{Text: script, Args: []string{text}, Exit: true}, shell.Stdio{Stdout: io.Discard}); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// wholeScripts are cut at every byte: the shell ends with the status that bash ends with, wherever.
var wholeScripts = []string{
	`for i in a "b c" $x; do echo "$i" ${i#a} >&2 | cat; done; echo $((1+(2*3))) && [[ a == b* ]] || (exit 3)`,
	"if true; then echo a; elif false; then :; else echo b; fi; until true; do :; done; case x in (a|b) echo 1;; *) echo 2;& y) ;; esac",
	"f() { local a=(1 '2 3' [5]=x); echo ${a[@]:1:2} \"${#a[@]}\"; }; function g { f; }; g > ./file; declare -A m=([k]=v); echo ${m[k]//v/w}",
	"cat <<EOF\na $(echo b) `echo c` ${x:-d}\nEOF\ncat <<-'E F' <<<\"s $x\"\n\tq\n\tE F\necho $'a\\tb' \\\n  end",
	"coproc { :; }; select x in a; do break; done <<<1; for ((i=0;i<2;i++)); do ((i++)); done; { echo x; } 2>&1 | { cat; }; time -p ! true 2>./file",
	"echo ${x:=a} ${x:?b} ${!x*} ${x@Q} ${x^^} ${x:0:1} ${#x} $(( x[0]++ ? 1 : 2 )) <(echo) >(cat) $[1+1] \"$@\" '$x' \"a\\\"b\" {1..3} @(a|b)",
}

func Test_A_Script_That_Is_Cut_Anywhere_Ends_As_In_Bash(t *testing.T) {
	t.Parallel()
	step := 1
	if testing.Short() {
		step = 11
	}
	b := newBench(t)
	differ, n := 0, 0
	for _, s := range wholeScripts {
		for at := 0; at < len(s); at += step {
			n++
			r := corpusRow{script: s[:at], anyStderr: "where the end shows first is not always the same"}
			dir := b.newDir()
			want, got := b.there(t, r, dir), b.here(t, r, dir)
			if cutClass(got.status) == cutClass(want.status) && (got.err == "") == (want.err == "") {
				continue
			}
			if differ++; differ <= 20 {
				t.Errorf("%s<cut>\nstatus %d, want %d\n%s\nwant\n%s", s[:at], got.status, want.status, got.err, want.err)
			}
		}
	}
	t.Logf("%d cuts, %d differ", n, differ)
}

// cutClass maps statuses that count as equal to one of them.
func cutClass(status int) string {
	switch status {
	case 0:
		return "fine"
	case 1, 2:
		return "wrong"
	}
	return "other"
}

func Test_Binary_Scripts_Run_As_In_Bash(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	rows := map[string]string{
		"bytes that are no UTF-8":     "x=$'\\xff\\xfe'; echo \"$x\" ${#x} \"${x#?}\" | od -An -tx1; echo \xff\xfe; case $x in ??) echo two;; esac",
		"bytes in names of commands":  "\xff\x80; echo $?",
		"control characters":          "echo \x01\x02\x1b \x7f | od -An -tx1; x=\x01; echo ${#x} \"$x\"",
		"carriage returns":            "echo a\r\necho b\r\n",
		"a carriage return in if":     "if true; then\r\necho a\nfi",
		"NUL in a substitution":       "x=$(printf 'a\\0b'); echo ${#x} 2>/dev/null",
		"NUL in what read reads":      "printf 'a\\0b\\n' | { read -r x; echo $x; }",
		"an argument of a megabyte":   "x=" + long + "; echo ${#x}; set -- $x $x; echo ${#1} $#; printf %s \"$x\" | wc -c",
		"a word of a megabyte":        "echo " + long + " | wc -c",
		"100,000 arguments":           "set -- {1..100000}; echo $# ${100000}; a=(\"$@\"); echo ${#a[@]}; echo \"$*\" | wc -c",
		"a line of quotes":            "echo " + strings.Repeat("'a'\"b\"", 20000) + " | wc -c",
		"names with newlines":         "touch $'a\\nb' 'c d'; for f in *; do printf '<%s>' \"$f\"; done; ls | wc -l",
		"empty arguments":             "set -- '' '' a; echo $#; shift; echo $#; printf '<%s>' \"$@\"; '' ; echo $?",
		"reading a directory":         "cat .; echo $?; read x < .; echo $?; . .; echo $?; echo x > .; echo $?",
		"cycles of links":             "ln -s a b; ln -s b a; cat a; echo $?; cd a; echo $?; echo x > a; echo $?; [ -e a ]; echo $?; [ -L a ]; echo $?; echo *",
		"a long pipeline":             "echo x " + strings.Repeat("| cat ", 60),
		"deep substitutions":          strings.Repeat("$(echo ", 30) + "echo x" + strings.Repeat(")", 30),
		"deep groups":                 strings.Repeat("{ ", 100) + "echo x; " + strings.Repeat("}; ", 99) + "}",
		"deep expressions":            "echo $((" + strings.Repeat("(", 100) + "1" + strings.Repeat(")", 100) + "))",
		"a byte order mark":           "\xef\xbb\xbfecho a 2>/dev/null; echo $?",
		"a script of only newlines":   strings.Repeat("\n", 1000),
		"a script of only a comment":  "# " + strings.Repeat("x", 10000),
		"a here-document of binary":   "cat <<'E' | od -An -tx1 | head -3\n\x01\x02\xff\xfe\x80\nE\n",
		"a pattern over invalid text": "x=$'a\\xffb'; echo ${x/$'\\xff'/-} ${x//?/.}; [[ $x == a?b ]]; echo $?; [[ $x =~ a.b ]]; echo $?",
	}
	b := newBench(t)
	for name, script := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if why := b.compare(t, corpusRow{name: name, script: script, way: byFile}); why != "" {
				t.Error(why)
			}
		})
	}
}

// What a stage of a pipeline leaves running shares its variables with the shell, which must not write to them in place: the
// race detector sees it when it does.
func Test_Background_Jobs_Of_A_Pipeline_Stage_Keep_Their_Variables(t *testing.T) {
	t.Parallel()
	sh := shell.New(shell.Options{})
	defer sh.Close()
	script := `for n in 1 2 3 4 5 6 7 8 9 10; do
	: | { { for ((i = 0; i < 50; i++)); do x=$i; done; } & } | :
	for ((j = 0; j < 200; j++)); do v=$j; unset w; w=$j; done
done; wait; echo $v $w`
	var out, msg bytes.Buffer
	if _, err := sh.Run(t.Context(), script, shell.Stdio{Stdout: &out, Stderr: &msg}); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "199 199\n" {
		t.Errorf("%q %q", got, msg.String())
	}
}

func Test_Incomplete_Scripts_Are_Recognized(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": false, "\n": false, "echo hi\n": false, "# comment\n": false, "a; b & c\n": false,
		"echo 'open\n": true, "echo \"open\n": true, "for i in 1 2; do\n": true, "if true; then echo; fi\n": false,
		"cat <<E\nline\n": true, "cat <<E\nline\nE\n": false, "echo a \\\n": true, "f() {\n": true, "a |\n": true, "a &&\n": true,
		"echo $(\n": true, "echo $((1 +\n": true, "x=(1\n": true, "case x in\n": true, "if then\n": false, "echo )\n": false, "[[ a &&\n": true,
		"for i in 1; do echo; done; while true\n": true,
	} {
		if got := shell.Incomplete(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// Scripts whose speed is promised: docs/benchmarks.md.
var speeds = []struct{ name, script string }{
	{"echo", "echo hi"},
	{"c loop, a turn", "for ((i=0;i<1000;i++)); do ((s+=i)); done"},
	{"while loop, a turn", "i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done"},
	{"function call", "f() { :; }; for ((i=0;i<1000;i++)); do f $i; done"},
	{"substitution", "for ((i=0;i<1000;i++)); do x=$(echo hi); done"},
	{"subshell", "for ((i=0;i<1000;i++)); do (:); done"},
	{"pipeline", "for ((i=0;i<1000;i++)); do echo hi | read x; done"},
	{"string append", "s=; for ((i=0;i<1000;i++)); do s+=x$i; done"},
	{"array append", "a=(); for ((i=0;i<1000;i++)); do a+=($i); done"},
	{"fib", "fib() { local n=$1; if [ $n -lt 2 ]; then r=$n; return; fi; fib $((n-1)); local a=$r; fib $((n-2)); r=$((a+r)); }; fib 12"},
}

func Benchmark_Scripts(b *testing.B) {
	for _, s := range speeds {
		b.Run(s.name, func(b *testing.B) {
			sh := shell.New(shell.Options{Limits: shell.Limits{Fuel: -1}})
			defer sh.Close()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := sh.Run(b.Context(), s.script, shell.Stdio{Stdout: io.Discard, Stderr: io.Discard}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func Benchmark_Create(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		sh := shell.New(shell.Options{})
		if _, err := sh.Run(b.Context(), "echo hi", shell.Stdio{Stdout: io.Discard}); err != nil {
			b.Fatal(err)
		}
		sh.Close()
	}
}
