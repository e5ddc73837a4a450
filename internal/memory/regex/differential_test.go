package regex_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/regex"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// generator writes random expressions that have no assertions but at their ends: for others
// the C library is known to go wrong.
type generator struct {
	*rand.Rand
	extended bool
	backs    bool
}

func (g *generator) pick(s ...string) string { return s[g.IntN(len(s))] }

func (g *generator) op(s string) string {
	if g.extended {
		return s
	}
	return `\` + s
}

func (g *generator) atom(depth int) string {
	switch n := g.IntN(20); {
	case n < 9 || depth == 0 && n > 13:
		return g.pick("a", "a", "a", "b", "b", "c")
	case n == 9:
		return "."
	case n < 13:
		return g.pick("[ab]", "[^a]", "[a-c]", "[[:alpha:]]", "[^b-c]", `\w`, `\W`, `\s`, `\S`, "é")
	case n == 13 && g.backs:
		return `\1`
	default:
		return g.op("(") + g.alternation(depth-1) + g.op(")")
	}
}

func (g *generator) repeated(depth int) string {
	a := g.atom(depth)
	switch g.IntN(8) {
	case 0, 1:
		return a + "*"
	case 2:
		return a + g.op(g.pick("+", "?"))
	case 3:
		return a + g.op("{") + g.pick("2", "1,2", "0,2", "1,", ",2") + g.op("}")
	}
	return a
}

func (g *generator) alternation(depth int) string {
	var b strings.Builder
	for {
		for range 1 + g.IntN(3) {
			b.WriteString(g.repeated(max(depth, 0)))
		}
		if g.IntN(3) > 0 {
			return b.String()
		}
		b.WriteString(g.op("|"))
	}
}

func (g *generator) text() string {
	var b strings.Builder
	for range g.IntN(10) {
		b.WriteString(g.pick("a", "a", "b", "b", "c", "d", "-", "é", "A"))
	}
	return b.String()
}

// Test_Groups_Are_Those_Of_The_C_Library asks bash, whose [[ =~ ]] is regexec(3).
func Test_Groups_Are_Those_Of_The_C_Library(t *testing.T) {
	t.Parallel()
	const script = `while IFS= read -r p && IFS= read -r s; do
		if [[ $s =~ $p ]]; then printf '%s|' "${BASH_REMATCH[@]}"; echo
		elif (($? == 2)); then echo E; else echo -; fi; done`
	g := &generator{Rand: rand.New(rand.NewPCG(1, 2)), extended: true} //nolint:gosec // The same rows each time.
	late := 0
	for range batches {
		var in, want bytes.Buffer
		for range 100 {
			p, s := g.alternation(1), g.text()
			fmt.Fprintf(&in, "%s\n%s\n", p, s)
			want.WriteString(answer(t, p, s) + "\n")
		}
		got, ok := run(t, &in, "bash", "-c", script)
		if !ok {
			late++
			continue
		}
		same(t, got, want.String())
	}
	if late > batches/10 {
		t.Errorf("%d of %d batches were not answered in time", late, batches)
	}
}

// batches is the number of batches that bash gets. The C library takes exponential time for some
// expressions; those that it does not answer in time are left out.
const batches = 20

func answer(t *testing.T, pattern, text string) string {
	t.Helper()
	r, err := regex.Compile(pattern, regex.Extended)
	if err != nil {
		return "E"
	}
	caps := make([]int, 2*(r.Groups()+1))
	if !r.Find([]byte(text), 0, caps) {
		return "-"
	}
	var b strings.Builder
	for i := 0; i < len(caps); i += 2 {
		if caps[i] >= 0 {
			b.WriteString(text[caps[i]:caps[i+1]])
		}
		b.WriteByte('|')
	}
	return b.String()
}

// Test_Lines_Are_Those_Of_Grep asks grep for all matches of random lines.
func Test_Lines_Are_Those_Of_Grep(t *testing.T) {
	t.Parallel()
	g := &generator{Rand: rand.New(rand.NewPCG(3, 4))} //nolint:gosec // The same rows each time.
	lines := make([]string, 100)
	for i := range lines {
		lines[i] = g.text()
	}
	text := strings.Join(lines, "\n") + "\n"
	file := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	late := 0
	for range 300 {
		g.extended, g.backs = g.IntN(2) == 0, g.IntN(4) == 0
		p := g.alternation(2)
		mode, flags := "-G", regex.Grep|regex.Multiline|regex.NoNewline
		if g.extended {
			mode, flags = "-E", flags|regex.Extended
		}
		if g.backs {
			p = g.op("(") + p + g.op(")") + `\1`
		}
		t.Run(mode+" "+p, func(t *testing.T) {
			got, ok := run(t, nil, "grep", "-n", mode, "-e", p, file)
			if !ok {
				late++
				return
			}
			same(t, got, found(t, p, flags, text))
		})
	}
	if late > 30 {
		t.Errorf("%d of 300 expressions were not answered in time", late)
	}
}

// found returns the lines that match, with their numbers.
func found(t *testing.T, p string, flags regex.Flags, text string) string {
	t.Helper()
	r, err := regex.Compile(p, flags)
	if err != nil {
		return ""
	}
	m := r.Matcher(nil)
	var b strings.Builder
	for at, number := 0, 1; ; {
		begin, end, ok := m.Line([]byte(text), at)
		if !ok {
			return b.String()
		}
		number += strings.Count(text[at:begin], "\n")
		fmt.Fprintf(&b, "%d:%s\n", number, text[begin:end])
		at = end + 1
		number++
	}
}

// run returns the output of a tool; ok is false when it takes too long.
func run(t *testing.T, in *bytes.Buffer, args ...string) (out string, ok bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline.Scale(5*time.Second))
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = []string{"LC_ALL=C.UTF-8", "PATH=/usr/bin:/bin"}
	if in != nil {
		cmd.Stdin = in
	}
	var all bytes.Buffer
	cmd.Stdout = &all
	// grep's 1 for no match is as good as 0; its 2 comes with a message, and no lines.
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return all.String(), ctx.Err() == nil
}

func same(t *testing.T, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("line %d: the tool says %q, we %q", i+1, g[i], w[i])
		}
	}
	t.Fatalf("the tool has %d lines, we %d", len(g), len(w))
}
