package shell_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// scripts makes scripts by a grammar, most of which want more than they may have.
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

// Test_Random_Scripts_Under_Small_Limits_Neither_Fail_Nor_Leak runs scripts in machines that have next to
// nothing. None may panic, outlast its time, or leave a goroutine; the memory that a machine counts must come
// back, so that after all of them a new shell in it works.
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
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	if strings.Contains(stderr.String(), "internal error") {
		t.Errorf("it said %s", stderr.String())
	}
	if t.Failed() {
		t.Logf("seed %d, round %d:\n%s", seed, round, text)
	}
}
