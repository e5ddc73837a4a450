package shell_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// batchSize is how many statements share a process of each side.
const batchSize = 80

// endOfStatement comes before the number and the status of a statement; no statement prints it.
const endOfStatement = "\x1e"

// differing runs statements on both sides, each in a subshell, and tells of those that differ.
func (b *bench) differing(tb testing.TB, setup string, list []string) (texts []string) {
	tb.Helper()
	for len(list) > 0 {
		n := min(batchSize, len(list))
		texts = append(texts, b.batch(tb, setup, list[:n])...)
		list = list[n:]
	}
	return texts
}

func (b *bench) batch(tb testing.TB, setup string, list []string) (texts []string) {
	tb.Helper()
	var script strings.Builder
	script.WriteString(setup + "\n")
	for i, s := range list {
		fmt.Fprintf(&script, "( eval %s ) 2>&1; echo %s%d $?\n", quoteWord(s), endOfStatement, i)
	}
	r := corpusRow{script: script.String()}
	dir := b.newDir()
	want, got := statements(b.there(tb, r, dir).out), statements(b.here(tb, r, dir).out)
	for i, s := range list {
		key := strconv.Itoa(i)
		if want[key] == "" {
			tb.Fatalf("bash did not run %q", s)
		}
		if got[key] != want[key] {
			texts = append(texts, fmt.Sprintf("%s\n%s\ngives\n%s\nwant\n%s", setup, s, shown(got[key]), shown(want[key])))
		}
	}
	return texts
}

// statements cuts the output of a batch by number; the status is at the end of each text.
func statements(out string) map[string]string {
	m := map[string]string{}
	for {
		text, rest, ok := strings.Cut(out, endOfStatement)
		if !ok {
			return m
		}
		line, after, _ := strings.Cut(rest, "\n")
		number, status, _ := strings.Cut(line, " ")
		m[number] = text + "status " + status
		out = after
	}
}

func quoteWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
