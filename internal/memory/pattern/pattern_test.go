package pattern_test

import (
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/pattern"
)

// meter allows a number of units of work.
type meter struct {
	left    int
	complex bool
}

func (m *meter) Spend(n int) bool   { m.left -= n; return m.left >= 0 }
func (m *meter) HasRoom(n int) bool { return n < 1<<20 }
func (m *meter) TooComplex(string)  { m.complex = true }

func newMeter() *meter { return &meter{left: 1 << 30} }

func Test_A_Pattern_Matches_All_Of_A_Text(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		pattern, text string
		flags         pattern.Flags
		want          bool
	}{
		{"abc", "abc", 0, true},
		{"abc", "abcd", 0, false},
		{"a*c", "abbc", 0, true},
		{"a*b*c", "axbxbc", 0, true},
		{"a?c", "aäc", 0, true},
		{"a?c", "aäc", pattern.Bytes, false},
		{`a\*`, "a*", 0, true},
		{`a\*`, "ab", 0, false},
		{"[[:digit:]-x]", "-", 0, true},
		{"[!a-c]", "b", 0, false},
		{"[]]", "]", 0, true},
		{"[a", "[a", 0, true},
		{"ABC", "abc", pattern.Fold, true},
		{"@(a|b)c", "bc", pattern.Ext, true},
		{"@(a|b)c", "bc", 0, false},
		{"!(a|b)", "c", pattern.Ext, true},
		{"+(ab)", "ababab", pattern.Ext, true},
		{"*(a|b)c", "abbac", pattern.Ext, true},
		{"?(a)b", "b", pattern.Ext, true},
		{"a\xff?", "a\xff\xfe", 0, true},
	} {
		if got := pattern.Compile(row.pattern, row.flags).Match(newMeter(), row.text); got != row.want {
			t.Errorf("%q against %q with %b: %v, want %v", row.pattern, row.text, row.flags, got, row.want)
		}
	}
}

func Test_Prefixes_And_Suffixes_Are_Shortest_Or_Longest(t *testing.T) {
	t.Parallel()
	const text = "/a/b/c.tar.gz"
	for _, row := range []struct {
		pattern          string
		short, long      int // length of the prefix
		shortEnd, longAt int // where the suffix begins
	}{
		{"*/", 1, 5, 13, 13},
		{".*", 0, 0, 10, 6},
		{"x", 0, 0, 13, 13},
		{"*", 0, 13, 13, 0},
	} {
		p, m := pattern.Compile(row.pattern, 0), newMeter()
		got := [4]int{p.Prefix(m, text, false), p.Prefix(m, text, true), p.Suffix(m, text, false), p.Suffix(m, text, true)}
		if want := [4]int{row.short, row.long, row.shortEnd, row.longAt}; got != want {
			t.Errorf("%q: %v, want %v", row.pattern, got, want)
		}
	}
}

func Test_Replace_Puts_Pieces_Around_Matches(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		pattern, text, want string
		r                   pattern.Replacement
	}{
		{"a", "banana", "bonana", pattern.Replacement{Pieces: []string{"o"}}},
		{"a", "banana", "bonono", pattern.Replacement{All: true, Pieces: []string{"o"}}},
		{"?n", "banana", "b<an><an>a", pattern.Replacement{All: true, Pieces: []string{"<", ">"}}},
		{"b*n", "banana", "-a", pattern.Replacement{Anchor: '#', Pieces: []string{"-"}}},
		{"na", "banana", "bana-", pattern.Replacement{Anchor: '%', Pieces: []string{"-"}}},
		{"x", "banana", "banana", pattern.Replacement{All: true, Pieces: []string{"-"}}},
	} {
		if got := pattern.Compile(row.pattern, 0).Replace(newMeter(), row.text, row.r); got != row.want {
			t.Errorf("%q in %q: %q, want %q", row.pattern, row.text, got, row.want)
		}
	}
}

func Test_A_Meter_Ends_A_Match_That_Takes_Too_Long(t *testing.T) {
	t.Parallel()
	m := &meter{left: 100_000}
	pattern.Compile("+(a|aa|aaa)b", pattern.Ext).Match(m, strings.Repeat("a", 100))
	if m.left >= 0 {
		t.Errorf("the match ended with %d units left", m.left)
	}
	if m.left < -1000 {
		t.Errorf("the match took %d units more than it had", -m.left)
	}
}

func Test_A_Match_That_Takes_Too_Much_Stack_Is_Refused(t *testing.T) {
	t.Parallel()
	m := newMeter()
	pattern.Compile(strings.Repeat("*a", 25_000)+"@(x)", pattern.Ext).Match(m, strings.Repeat("a", 30_000))
	if !m.complex {
		t.Error("it was not refused")
	}
}

func Test_Paths_And_Lists_Are_Cut_Outside_Of_Brackets(t *testing.T) {
	t.Parallel()
	if got := strings.Join(pattern.SplitColons(`a:[:x:]:b\:c`), " "); got != `a [:x:] b\:c` {
		t.Errorf("colons: %q", got)
	}
	if got := strings.Join(pattern.SplitComponents("a/*//b/@(c|d)"), " "); got != "a */ b @(c|d)" {
		t.Errorf("components: %q", got)
	}
	if got := pattern.Escape("a*b"); got != `a\*b` || pattern.Unescape(got) != "a*b" {
		t.Errorf("escaped: %q", got)
	}
}
