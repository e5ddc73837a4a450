package assistant

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// checks collects the problems of one decoded file.
type checks struct {
	top      jsonc.Value
	prefix   string // the path of top in the file; "": top is the whole file
	lines    map[string]int
	problems []jsonc.Problem
}

// fail adds a problem with a key. Its line is that of the key or, if that is missing,
// of its parent.
func (c *checks) fail(key, format string, args ...any) *jsonc.Problem {
	p := c.top.Problem(key, format, args...)
	for at := key; at != ""; at = at[:max(0, strings.LastIndexAny(at, ".["))] {
		if line := c.lines[at]; line > 0 {
			p.Line = line
			break
		}
	}
	c.problems = append(c.problems, p)
	return &c.problems[len(c.problems)-1]
}

// has reports whether the file has a key whose value was valid so far.
func (c *checks) has(key string) bool {
	full := jsonc.JoinKey(c.prefix, key)
	return c.lines[key] > 0 && !slices.ContainsFunc(c.problems, func(p jsonc.Problem) bool { return p.Key == full })
}

// sorted returns the problems in the order of the file.
func (c *checks) sorted() []jsonc.Problem {
	slices.SortStableFunc(c.problems, func(a, b jsonc.Problem) int { return cmp.Compare(a.Line, b.Line) })
	return c.problems[:min(len(c.problems), jsonc.MaxProblems)]
}

// isPrintableLine reports whether s is printable, short and on one line.
func isPrintableLine(s string) bool { return len(s) <= maxText && (s == "" || jsonc.OneLine(s) == s) }

// line checks that the value of a key is one line of text. A missing key is valid.
func (c *checks) line(key, text string) {
	if c.has(key) && (text == "" || !isPrintableLine(text)) {
		c.fail(key, "found no text, or more than a short line, expected one line of at most %d bytes", maxText)
	}
}

// choice checks that the value of a key is one of the words. A missing key is valid.
func (c *checks) choice(key, word string, words ...string) {
	if !c.has(key) || slices.Contains(words, word) {
		return
	}
	p := c.fail(key, "found %s, expected one of %s", jsonc.Clip(word), strings.Join(words, ", "))
	if near := jsonc.Nearest(word, words); near != "" {
		p.Hint = `did you mean "` + near + `"?`
	}
}

// count checks that the value of a key is a whole number from 1 to most. A missing key
// is valid.
func (c *checks) count(key string, n, most int64) {
	if c.has(key) && (n < 1 || n > most) {
		c.fail(key, "found %d, expected a whole number from 1 to %d", n, most)
	}
}

// number checks that the value of a key is a number from least to most. A missing key
// is valid.
func (c *checks) number(key string, n, least, most float64) {
	if c.has(key) && (math.IsNaN(n) || n < least || n > most) {
		c.fail(key, "found %v, expected a number from %v to %v", n, least, most)
	}
}

// amount checks that the value of a key is an amount of US dollars. A missing key is
// valid.
func (c *checks) amount(key string, n float64) {
	if c.has(key) && !(n > 0 && n <= maxAmount) {
		c.fail(key, "found %v, expected US dollars above 0 and up to %d", n, maxAmount)
	}
}

// words checks that the elements of a key are lines of text that are not flags.
func (c *checks) words(key string, words []string) {
	if len(words) > maxArguments {
		c.fail(key, "found %d, expected at most %d", len(words), maxArguments)
		return
	}
	for i, w := range words {
		if w == "" || !isPrintableLine(w) || strings.HasPrefix(w, "-") {
			c.fail(jsonc.IndexKey(key, i), "found %s, expected one line that does not begin with '-'", jsonc.Clip(w))
		}
	}
}

// expectation describes the expected value of a Go type.
func expectation(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[sandbox.Duration]():
		return `a positive duration such as "90s" or "10m"`
	case reflect.TypeFor[sandbox.Bytes]():
		return `a positive size such as "4g" or "512MiB"`
	}
	return ""
}

// failFile adds a problem with a file as a whole.
func (l *loading) failFile(name, text string) *Problem {
	l.add(jsonc.Problem{File: l.t.abs(name), Text: text})
	return &l.problems[len(l.problems)-1]
}

// read reads a file of the assistant and reports its problems.
func (l *loading) read(name string, limit int64) ([]byte, bool) {
	data, err := l.t.read(name, limit)
	if err != nil {
		l.add(convertError(l.t.abs(name), err))
		return nil, false
	}
	l.a.sums[name] = hashContent(data)
	return data, true
}
