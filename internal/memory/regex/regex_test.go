package regex_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/regex"
)

// none stands for an expression that does not match.
const none = "none"

var matches = []struct {
	name    string
	pattern string
	flags   regex.Flags
	text    string
	want    string // pairs of beginnings and ends
}{
	{"a text", "b", 0, "abc", "1-2"},
	{"no match", "x", 0, "abc", none},
	{"the empty expression", "", 0, "abc", "0-0"},
	{"the leftmost match", "b*c", 0, "abc bbbc", "1-3"},
	{"the longest of alternatives", "a|ab|abc", regex.Extended, "abcd", "0-3"},
	{"Perl takes the first alternative", "a|ab|abc", regex.Perl, "abcd", "0-1"},
	{"groups of the way that the C library goes", "(a|ab)(c|bcd)(d*)", regex.Extended, "abcd", "0-4 0-1 1-4 4-4"},
	{"a group keeps its last turn", "(a|b)*", regex.Extended, "abab", "0-4 3-4"},
	{"a group inside keeps what an earlier turn set", "((a)|b)*", regex.Extended, "ab", "0-2 1-2 0-1"},
	{"a star over what can be empty", "(a*)*", regex.Extended, "b", "0-0 0-0"},
	{"a basic expression's operators need backslashes", `a\+b\?`, 0, "aab a+b?", "0-3"},
	{"plus is a character in a basic expression", "a+", 0, "aa+", "1-3"},
	{"an alternation in a basic expression", `ab\|cd`, 0, "xcd", "1-3"},
	{"an interval", `a\{2,3\}`, 0, "aaaa", "0-3"},
	{"an interval from nought", "a{,2}b", regex.Extended, "aaab", "1-4"},
	{"a caret inside is a character", "a^b", 0, "a^b", "0-3"},
	{"a caret after a group's beginning is an anchor", `\(^a\)`, 0, "ba a", none},
	{"a dollar inside is a character", "a$b", 0, "a$b", "0-3"},
	{"a star at the beginning is a character", "*a", 0, "a*a", "1-3"},
	{"a back-reference", `(.)\1`, regex.Extended, "abccd", "2-4 2-3"},
	{"a back-reference without regard to case", `(.)\1`, regex.Extended | regex.IgnoreCase, "abCcd", "2-4 2-3"},
	{"a class", "[[:digit:]]+", regex.Extended, "ab12", "2-4"},
	{"a class negated", "[^[:digit:]b-]", 0, "1b-x", "3-4"},
	{"a bracket first in brackets", "[]a]*", 0, "]a]b", "0-3"},
	{"an equivalence class", "[[=a=]b]*", 0, "abc", "0-2"},
	{"a collating symbol", "[[.-.]a]*", 0, "a-b", "0-2"},
	{"a backslash in brackets", `[\n]*`, 0, `\nx`, "0-2"},
	{"the beginning of a word", `\<b`, 0, "ab b", "3-4"},
	{"the end of a word", `b\>`, 0, "ba ab", "4-5"},
	{"inside a word", `\Bb\B`, 0, "b abc", "3-4"},
	{"a letter beyond ASCII is one character", "^.$", 0, "é", "0-2"},
	{"and two bytes in the C locale", "^.$", regex.Bytes, "é", none},
	{"a stray byte is no character", "^.$", 0, "\xff", none},
	{"and one in the C locale", "^.$", regex.Bytes, "\xff", "0-1"},
	{"a letter beyond ASCII is part of a word", `\w*`, 0, "aéb c", "0-4"},
	{"case beyond ASCII", "É", regex.IgnoreCase, "é", "0-2"},
	{"a range beyond ASCII", "[а-я]*", 0, "мир!", "0-6"},
	{"anchors at lines", "^b$", regex.Multiline, "a\nb\nc", "2-3"},
	{"no anchors at lines", "^b$", 0, "a\nb\nc", none},
	{"a dot takes a newline", "a.b", 0, "a\nb", "0-3"},
	{"unless it may not", "a.b", regex.NoNewline, "a\nb", none},
	{"nor a class", "a[^x]b", regex.NoNewline, "a\nb", none},
	{"a NUL is a character", "a.b", 0, "a\x00b", "0-3"},
	{"whole words", "b|ab", regex.Extended | regex.WholeWord, "abc ab", "4-6"},
	{"whole lines", "a|ab", regex.Extended | regex.WholeLine, "ab", "0-2"},
	{"literal text", "a.*[", regex.Literal, "xa.*[", "1-5"},
	{"literal text without regard to case", "aB", regex.Literal | regex.IgnoreCase, "xAb", "1-3"},
	{"lazy", "a+?b*?", regex.Perl, "aabb", "0-1"},
	{"possessive", "a++a", regex.Perl, "aaa", none},
	{"atomic", "(?>a|ab)c", regex.Perl, "abc", none},
	{"looking ahead", "a(?=b)", regex.Perl, "acab", "2-3"},
	{"looking ahead for nothing", "a(?!c)", regex.Perl, "acab", "2-3"},
	{"looking behind", `(?<=\$)\d+`, regex.Perl, "1 $23", "3-5"},
	{"looking behind for nothing", `(?<![a-z])b`, regex.Perl, "ab b", "3-4"},
	{"a named group", `(?<x>.)\k<x>`, regex.Perl, "abb", "1-3 1-2"},
	{"a reference from here", `(.)(.)\g{-1}`, regex.Perl, "abb", "0-3 0-1 1-2"},
	{"keeping what is before", `foo\Kbar`, regex.Perl, "foobar", "3-6"},
	{"options inside", "a(?i)b(?-i)c", regex.Perl, "aBc", "0-3"},
	{"a condition", "(a)?(?(1)b|c)", regex.Perl, "xc ab", "1-2 none"},
	{"a property", `\p{Lu}+`, regex.Perl, "aÉB", "1-4"},
	{"quoted text", `\Qa.b\E+`, regex.Perl, "a.bb", "0-4"},
}

func Test_Expressions_Match_Where_They_Should(t *testing.T) {
	t.Parallel()
	for _, c := range matches {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, err := regex.Compile(c.pattern, c.flags)
			if err != nil {
				t.Fatal(err)
			}
			if got := find(r, c.text); got != c.want {
				t.Errorf("%q on %q: %s, want %s", c.pattern, c.text, got, c.want)
			}
			if got := r.MatchString(c.text); got != (c.want != none) {
				t.Errorf("%q on %q: match is %v", c.pattern, c.text, got)
			}
		})
	}
}

func find(r *regex.Regexp, text string) string {
	caps := make([]int, 2*(r.Groups()+1))
	if !r.Find([]byte(text), 0, caps) {
		return none
	}
	var out []string
	for i := 0; i < len(caps); i += 2 {
		if caps[i] < 0 {
			out = append(out, none)
			continue
		}
		out = append(out, fmt.Sprintf("%d-%d", caps[i], caps[i+1]))
	}
	return strings.Join(out, " ")
}

var faults = []struct {
	pattern string
	flags   regex.Flags
	want    string
}{
	{"a**", 0, "Invalid preceding regular expression"},
	{"*a", regex.Extended, "Invalid preceding regular expression"},
	{`\(a`, 0, `Unmatched ( or \(`},
	{`a\)`, 0, `Unmatched ( or \(`},
	{`a)`, regex.Extended | regex.Sed, `Unmatched ) or \)`},
	{`a\)`, regex.Expr, `Unmatched ) or \)`},
	{"[a", 0, "Unmatched [, [^, [:, [., or [="},
	{"[", 0, "Invalid regular expression"},
	{"[b-a]", 0, "Invalid range end"},
	{"[[:foo:]]", 0, "Invalid character class name"},
	{"[[.hyphen.]]", 0, "Invalid collation character"},
	{`a\`, 0, "Trailing backslash"},
	{`\1`, 0, "Invalid back reference"},
	{`(a|\1)`, regex.Extended, "Invalid back reference"},
	{`a\{1`, 0, `Unmatched \{`},
	{`a\{x\}`, 0, `Invalid content of \{\}`},
	{"a{2,1}", regex.Extended, `Invalid content of \{\}`},
	{"a{99999}", regex.Extended, "Regular expression too big"},
	{"((a{1,255}){1,255}){1,255}", regex.Extended, "Regular expression too big"},
	{strings.Repeat("(", 100000), regex.Extended, "Regular expression too big"},
	{"(a", regex.Perl, "missing closing parenthesis"},
	{"a)", regex.Perl, "unmatched closing parenthesis"},
	{"(?<=a+)b", regex.Perl, "lookbehind assertion is not fixed length"},
	{`\2(a)`, regex.Perl, "reference to non-existent subpattern"},
	{strings.Repeat("(?:", 100000), regex.Perl, "regular expression is too large"},
}

func Test_Wrong_Expressions_Are_Named_As_The_Libraries_Name_Them(t *testing.T) {
	t.Parallel()
	for _, c := range faults {
		t.Run(c.pattern[:min(len(c.pattern), 30)], func(t *testing.T) {
			t.Parallel()
			_, err := regex.Compile(c.pattern, c.flags)
			if e, ok := errors.AsType[*regex.Error](err); !ok || e.Text != c.want {
				t.Errorf("%q: %v, want %s", c.pattern, err, c.want)
			}
		})
	}
}

func Test_A_Bomb_Is_Given_Up(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{`^(a+)+\1b`, `^((a+)+x?)+\1b`} {
		r, err := regex.Compile(pattern, regex.Extended)
		if err != nil {
			t.Fatal(err)
		}
		m := r.Matcher(nil)
		if m.Match([]byte(strings.Repeat("a", 60)+"cb")) || !errors.Is(m.Err(), regex.ErrSteps) {
			t.Errorf("%q: %v, want the end of steps", pattern, m.Err())
		}
	}
}

func Test_Nested_Stars_Take_Linear_Time(t *testing.T) {
	t.Parallel()
	r, err := regex.Compile("^((a*)*)*b$", regex.Extended)
	if err != nil {
		t.Fatal(err)
	}
	if r.Match(make([]byte, 1<<20)) || r.MatchString(strings.Repeat("a", 1<<20)) {
		t.Error("matched without a b")
	}
	if !r.MatchString(strings.Repeat("a", 1<<20) + "b") {
		t.Error("did not match")
	}
}

func Test_A_Spent_Budget_Ends_A_Search(t *testing.T) {
	t.Parallel()
	stop := errors.New("spent")
	r, err := regex.Compile(`(a|b)*a(a|b){12}c`, regex.Extended)
	if err != nil {
		t.Fatal(err)
	}
	m := r.Matcher(func(int) error { return stop })
	if m.Match([]byte(strings.Repeat("abaab", 1000)+"c")) || !errors.Is(m.Err(), stop) {
		t.Errorf("ended with %v", m.Err())
	}
}

func Test_Many_States_Do_Not_Pile_Up(t *testing.T) {
	t.Parallel()
	// Each text of 16 letters needs its own state: more than the automaton keeps.
	r, err := regex.Compile(`a(a|b){16}c`, regex.Extended)
	if err != nil {
		t.Fatal(err)
	}
	text := make([]byte, 0, 1<<17+1)
	x := uint32(1)
	for range 1 << 17 {
		x = x*1664525 + 1013904223
		text = append(text, 'a'+byte(x>>31))
	}
	text = append(text, 'c')
	want := slices.Equal(text[len(text)-18:len(text)-17], []byte("a"))
	if r.Match(text) != want {
		t.Errorf("match is %v, want %v", !want, want)
	}
}

func Test_Lines_Are_Found_One_By_One(t *testing.T) {
	t.Parallel()
	text := []byte("one\ntwo\n\nthree\nfour")
	for pattern, want := range map[string][]string{
		"o": {"one", "two", "four"}, "^t": {"two", "three"}, "e$": {"one", "three"}, "^$": {""}, "x*": {"one", "two", "", "three", "four"},
		"[^o]": {"one", "two", "three", "four"}, `\(e\)\1`: {"three"}, "r$": {"four"}, "w.": {"two"}, "\\`f": {"four"},
	} {
		r, err := regex.Compile(pattern, regex.Grep|regex.Multiline|regex.NoNewline)
		if err != nil {
			t.Fatal(err)
		}
		m := r.Matcher(nil)
		got := []string(nil)
		for at := 0; ; {
			begin, end, ok := m.Line(text, at)
			if !ok {
				break
			}
			got = append(got, string(text[begin:end]))
			at = end + 1
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: lines %q, want %q", pattern, got, want)
		}
	}
}

func Test_A_Repetition_Of_Nothing_Is_Warned_Of(t *testing.T) {
	t.Parallel()
	r, err := regex.Compile("*a|+b|({1}c)", regex.Extended|regex.Grep)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"* at start of expression", "+ at start of expression", "{...} at start of expression"}
	if got := r.Warnings(); !slices.Equal(got, want) {
		t.Errorf("warnings %q, want %q", got, want)
	}
}
