package regex

import (
	"bytes"
	"errors"
)

// ErrSteps is the error of a search that takes more steps than are allowed. Only
// expressions with back-references or Perl's additions can come to that.
var ErrSteps = errors.New("exceeded the backtracking limit")

// maxSteps bounds the backtracking of one search.
const maxSteps = 10_000_000

// Matcher searches with an expression and caches automata. It belongs to one
// goroutine.
type Matcher struct {
	r     *Regexp
	spend func(n int) error
	err   error

	any, left *automaton
	rev       *reverse
	walker    walker
	back      *backtracker

	// How often the required text was in a line without a match, and over how many bytes: when the text is everywhere, searching
	// for it saves no time.
	vain, looked int
}

// Matcher returns a matcher. It reports its work to spend, about a unit for 64 bytes or
// a state, and stops at its error; nil lets it work.
func (r *Regexp) Matcher(spend func(n int) error) *Matcher {
	return &Matcher{r: r, spend: spend}
}

// Err returns why a search ended early: ErrSteps, or the error of spend. Find then reported that there
// is no match.
func (m *Matcher) Err() error { return m.err }

// Match reports whether the expression matches anywhere in b.
func (m *Matcher) Match(b []byte) bool { return m.Find(b, 0, nil) }

// Find is Regexp.Find.
func (m *Matcher) Find(b []byte, from int, caps []int) bool {
	r := m.r
	m.err = nil
	if from < 0 || from > len(b) {
		return false
	}
	if r.isLit {
		return m.findLiteral(b, from, caps)
	}
	at := from
	if len(r.must) > 0 {
		n := r.find.index(b[from:])
		if n < 0 {
			return false
		}
		if r.head {
			at = from + n
		}
	}
	if r.exact && !r.perl {
		return m.findExact(b, at, caps)
	}
	if m.existing().run(b, at) < 0 || !m.paid(m.any.cost, len(b)-at) {
		return false
	}
	if r.exact && len(caps) == 0 {
		return true
	}
	return m.backtrack(b, at, from, caps)
}

func (m *Matcher) findLiteral(b []byte, from int, caps []int) bool {
	n := m.r.find.index(b[from:])
	if n < 0 {
		return false
	}
	setMatch(caps, from+n, from+n+len(m.r.lit))
	return true
}

func setMatch(caps []int, begin, end int) {
	for i := range caps {
		caps[i] = -1
	}
	if len(caps) > 1 {
		caps[0], caps[1] = begin, end
	}
}

func (m *Matcher) findExact(b []byte, from int, caps []int) bool {
	if len(caps) < 2 {
		found := m.existing().run(b, from) >= 0
		return m.paid(m.any.cost, 0) && found
	}
	if m.left == nil {
		m.left = newAutomaton(m.r.prog, leftmost)
	}
	end := m.left.run(b, from)
	if !m.paid(m.left.cost, 0) || end < 0 {
		return false
	}
	m.left.cost = 0
	if m.rev == nil {
		m.rev = newReverse(m.r.prog)
	}
	groups := len(caps) > 2 && m.r.groups > 0
	begin, length := m.rev.read(b, from, end, groups)
	if !m.paid(m.rev.cost, 0) {
		return false
	}
	m.rev.cost = 0
	setMatch(caps, begin, end)
	if groups {
		m.walker.walk(m.rev, b, begin, length, caps)
	}
	return true
}

func (m *Matcher) existing() *automaton {
	if m.any == nil {
		m.any = newAutomaton(m.r.prog, exists)
	}
	m.any.cost = 0
	return m.any
}

// paid reports work: the cost of building states, and bytes.
func (m *Matcher) paid(cost, n int) bool {
	if m.spend == nil || cost == 0 && n < 64 {
		return true
	}
	if err := m.spend(cost>>4 + n>>6); err != nil {
		m.err = err
		return false
	}
	return true
}

// Line looks for the first line of b from from on, where a line has to begin, that has a match.
// It returns the line without its end. The expression must have been compiled with
// Multiline and NoNewline, and can match no end of a line itself.
func (m *Matcher) Line(b []byte, from int) (begin, end int, ok bool) {
	r := m.r
	m.err = nil
	eol := byte(lineEndOf(r.flags))
	for from < len(b) {
		begin, end = m.candidate(b, from, eol)
		if begin < 0 || m.err != nil {
			return 0, 0, false
		}
		if m.isCertain() || m.Find(b[begin:end], 0, nil) {
			return begin, end, true
		}
		m.vain++
		m.looked += end - from
		if m.err != nil || end >= len(b) {
			return 0, 0, false
		}
		from = end + 1
	}
	return 0, 0, false
}

// isCertain reports whether a candidate is a match.
func (m *Matcher) isCertain() bool {
	return m.r.isLit || m.r.exact && !m.filters() && m.streams()
}

// filters reports whether lines are found by the text that has to be in them.
func (m *Matcher) filters() bool {
	if len(m.r.must) == 0 {
		return false
	}
	return m.vain < 64 || m.looked > 400*m.vain || m.r.prog == nil || !m.streams()
}

// streams reports whether the automaton may run over many lines at once.
func (m *Matcher) streams() bool { return m.r.prog.asserts&(afterText|beforeEnd) == 0 }

// candidate returns the next line that may match; -1 for none.
func (m *Matcher) candidate(b []byte, from int, eol byte) (begin, end int) {
	r := m.r
	at := from
	switch {
	case m.filters():
		n := r.find.index(b[from:])
		if n < 0 {
			return -1, -1
		}
		at += n
	case r.prog != nil && m.streams():
		a := m.existing()
		if at = a.run(b, from); at < 0 || !m.paid(a.cost, 0) {
			return -1, -1
		}
		if at > from && at == len(b) && b[at-1] == eol {
			// Only the empty place behind the last line has matched.
			return -1, -1
		}
	}
	begin = bytes.LastIndexByte(b[from:at], eol) + 1 + from
	if n := bytes.IndexByte(b[at:], eol); n >= 0 {
		return begin, at + n
	}
	return begin, len(b)
}
