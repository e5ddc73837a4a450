package regex_test

import (
	"errors"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/regex"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// Fuzz_Pattern searches with implausible expressions: each search must end soon, the work of one without
// back-references is bounded by the lengths of expression and text, and all ways to search find the same match.
func Fuzz_Pattern(f *testing.F) {
	for _, s := range []string{
		`\(a*\)*\1`, `(a|ab)(c|bcd)(d*)`, `[[:alpha:]][^]a-]{2,5}`, `^(x+x+)+y$`, `\<w\w*\>\b.\B`, `(?i)a(?=b)(?<!c)\d+?`, `a{1`, `[[=a=]-z]`, `*a**`, `(?:(a)|b)*\2`, `x*|y+?|\`,
		`(?<n>.)\k<n>(?(1)a|b)`, `\x{1F600}\pL\R\K`, `((((a{1,9}){1,9}){1,9}){1,9})`, "é[à-ü]\xff", `(?>a+)b|(?R)`, `$^\n`, `[\]]\`,
	} {
		f.Add(s, "aaaabbcd wörd xxxxxxxxxxz\nabcd\x00\xffz", uint32(0), uint16(0))
		f.Add(s, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", uint32(regex.Extended), uint16(1))
		f.Add(s, "a1b2 É", uint32(regex.Perl|regex.IgnoreCase), uint16(2))
	}
	f.Fuzz(func(t *testing.T, pattern, text string, flags uint32, from uint16) {
		if len(pattern) > 200 || len(text) > 4096 {
			t.Skip("longer than the bounds below are for")
		}
		begun := time.Now()
		flags &= 1<<14 - 1
		re, err := regex.Compile(pattern, regex.Flags(flags))
		if err != nil {
			return
		}
		at := min(int(from), len(text))
		work := 0
		m := re.Matcher(func(n int) error { work += n; return nil })
		caps := make([]int, 2*(re.Groups()+1))
		all := m.Find([]byte(text), at, caps)
		failed := m.Err()
		pair := make([]int, 2)
		found := m.Find([]byte(text), at, pair)
		failed = errors.Join(failed, m.Err())
		some := m.Find([]byte(text), at, nil)
		failed = errors.Join(failed, m.Err())
		if took := time.Since(begun); took > deadline.Scale(20*time.Second) {
			t.Fatalf("%q takes %v", pattern, took)
		}
		// A search without backtracking takes at most a step for each state and byte; with it, it has a limit of its own.
		if work > 200_000_000 {
			t.Fatalf("%q takes %d steps", pattern, work)
		}
		if failed != nil {
			return
		}
		if all != found || all != some {
			t.Fatalf("%q in %q: %v with groups, %v without, %v alone", pattern, text, all, found, some)
		}
		if all && (caps[0] != pair[0] || caps[1] != pair[1]) {
			t.Fatalf("%q in %q: %v with groups, %v without", pattern, text, caps[:2], pair)
		}
		checkGroups(t, pattern, text, at, all, caps)
	})
}

func checkGroups(t *testing.T, pattern, text string, from int, found bool, caps []int) {
	t.Helper()
	if !found {
		return
	}
	for i := 0; i < len(caps); i += 2 {
		begin, end := caps[i], caps[i+1]
		if begin < 0 && end < 0 && i > 0 {
			continue
		}
		if begin < 0 || end > len(text) || begin > end && i == 0 || i == 0 && begin < from {
			t.Fatalf("%q in %q from %d: groups %v", pattern, text, from, caps)
		}
	}
}
