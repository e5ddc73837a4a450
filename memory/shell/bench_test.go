package shell_test

import (
	"io"
	"testing"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

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
