// Package linediff finds what differs between two sequences of lines, with the
// linear-space variant of Myers' algorithm ("An O(ND) Difference Algorithm and its
// Variations", 1986) and the way GNU diff goes about it: lines without a partner are
// put aside first, and runs of changes slide to where people expect them. That makes
// hunks begin and end where GNU's do.
package linediff

// Change says that del lines of the first sequence from line a on are replaced by ins
// lines of the second from line b on. Lines count from 0.
type Change struct {
	A, B     int
	Del, Ins int
}

// Options say how to compare. The zero value is GNU's default.
type Options struct {
	Minimal bool // look for the smallest script at any cost
	// Spend takes fuel; an error ends the comparison. nil: there is enough.
	Spend func(n int) error
}

// Changes returns what turns a into b, in order. Equal numbers stand for equal lines.
func Changes(a, b []int, o Options) ([]Change, error) {
	f := [2]*side{newSide(a), newSide(b)}
	discardConfusing(f, o.Minimal)
	c := &comparison{a: f[0].kept, b: f[1].kept, sides: f, minimal: o.Minimal, spend: o.Spend}
	if err := c.run(); err != nil {
		return nil, err
	}
	f[0].slide(f[1])
	f[1].slide(f[0])
	return script(f), nil
}

// side is one of the two sequences.
type side struct {
	lines   []int
	changed []bool // changed[i+1] is line i; one more at both ends is always false
	kept    []int  // lines that take part in the comparison
	index   []int  // where they are in lines
}

func newSide(lines []int) *side {
	return &side{lines: lines, changed: make([]bool, len(lines)+2)}
}

func (s *side) mark(i int)         { s.changed[i+1] = true }
func (s *side) is(i int) bool      { return s.changed[i+1] }
func (s *side) set(i int, on bool) { s.changed[i+1] = on }

// script lists the runs of changed lines.
func script(f [2]*side) []Change {
	var changes []Change
	i, j := 0, 0
	for i < len(f[0].lines) || j < len(f[1].lines) {
		if !f[0].is(i) && !f[1].is(j) {
			i++
			j++
			continue
		}
		c := Change{A: i, B: j}
		for f[0].is(i) {
			i++
		}
		for f[1].is(j) {
			j++
		}
		c.Del, c.Ins = i-c.A, j-c.B
		changes = append(changes, c)
	}
	return changes
}
