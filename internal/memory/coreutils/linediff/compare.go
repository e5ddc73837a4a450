package linediff

import "math"

// comparison looks for the longest common subsequence of a and b.
type comparison struct {
	a, b    []int
	sides   [2]*side
	minimal bool
	spend   func(int) error

	forward, backward []int // furthest x of each diagonal x-y, which may be below 0
	zero              int   // index of diagonal 0
	limit             int   // rounds after which a good middle is good enough
}

// leastLimit keeps the comparison of short files exact.
const leastLimit = 4096

func (c *comparison) run() error {
	diagonals := len(c.a) + len(c.b) + 3
	c.forward, c.backward = make([]int, diagonals), make([]int, diagonals)
	c.zero = len(c.b) + 1
	c.limit = 1
	for n := diagonals; n != 0; n >>= 2 {
		c.limit <<= 1
	}
	c.limit = max(c.limit, leastLimit)
	return c.compare(box{0, len(c.a), 0, len(c.b)}, c.minimal)
}

// box is a part of the problem: lines [x0, x1) of a and [y0, y1) of b.
type box struct{ x0, x1, y0, y1 int }

// compare marks what differs inside the box.
func (c *comparison) compare(r box, minimal bool) error {
	for {
		for r.x0 < r.x1 && r.y0 < r.y1 && c.a[r.x0] == c.b[r.y0] {
			r.x0++
			r.y0++
		}
		for r.x0 < r.x1 && r.y0 < r.y1 && c.a[r.x1-1] == c.b[r.y1-1] {
			r.x1--
			r.y1--
		}
		if r.x0 == r.x1 {
			for y := r.y0; y < r.y1; y++ {
				c.sides[1].mark(c.sides[1].index[y])
			}
			return nil
		}
		if r.y0 == r.y1 {
			for x := r.x0; x < r.x1; x++ {
				c.sides[0].mark(c.sides[0].index[x])
			}
			return nil
		}
		m, err := c.middle(r, minimal)
		if err != nil {
			return err
		}
		if err := c.compare(box{r.x0, m.x, r.y0, m.y}, m.lowMinimal); err != nil {
			return err
		}
		r.x0, r.y0, minimal = m.x, m.y, m.highMinimal
	}
}

// split is a point through which a shortest path goes, or a good one when the search
// was given up; each half says whether it is worth an exact search.
type split struct {
	x, y                    int
	lowMinimal, highMinimal bool
}

// span is the range of diagonals of one search.
type span struct{ low, high int }

// widen goes to the next round: a diagonal more on either side unless it is outside of
// the box. Diagonals beyond get an impossible value.
func (s *span) widen(v []int, zero, lowest, highest, impossible int) {
	if s.low > lowest {
		s.low--
		v[zero+s.low-1] = impossible
	} else {
		s.low++
	}
	if s.high < highest {
		s.high++
		v[zero+s.high+1] = impossible
	} else {
		s.high--
	}
}

// middle searches from both ends until the paths meet.
func (c *comparison) middle(r box, minimal bool) (split, error) {
	fd, bd, zero := c.forward, c.backward, c.zero
	lowest, highest := r.x0-r.y1, r.x1-r.y0
	fmid, bmid := r.x0-r.y0, r.x1-r.y1
	f, b := span{fmid, fmid}, span{bmid, bmid}
	odd := (fmid-bmid)&1 != 0
	fd[zero+fmid], bd[zero+bmid] = r.x0, r.x1
	for round := 1; ; round++ {
		if c.spend != nil {
			if err := c.spend(1 + (f.high-f.low+b.high-b.low)>>2); err != nil {
				return split{}, err
			}
		}
		f.widen(fd, zero, lowest, highest, -1)
		for d := f.high; d >= f.low; d -= 2 {
			x := max(fd[zero+d-1]+1, fd[zero+d+1])
			y := x - d
			for x < r.x1 && y < r.y1 && c.a[x] == c.b[y] {
				x++
				y++
			}
			fd[zero+d] = x
			if odd && b.low <= d && d <= b.high && bd[zero+d] <= x {
				return split{x, y, true, true}, nil
			}
		}
		b.widen(bd, zero, lowest, highest, math.MaxInt)
		for d := b.high; d >= b.low; d -= 2 {
			x := bd[zero+d-1]
			if above := bd[zero+d+1]; x >= above {
				x = above - 1
			}
			y := x - d
			for r.x0 < x && r.y0 < y && c.a[x-1] == c.b[y-1] {
				x--
				y--
			}
			bd[zero+d] = x
			if !odd && f.low <= d && d <= f.high && x <= fd[zero+d] {
				return split{x, y, true, true}, nil
			}
		}
		if !minimal && round >= c.limit {
			return c.giveUp(r, f, b), nil
		}
	}
}

// giveUp takes the point that got furthest from either end.
func (c *comparison) giveUp(r box, f, b span) split {
	ahead, aheadX := -1, 0
	for d := f.high; d >= f.low; d -= 2 {
		x := min(c.forward[c.zero+d], r.x1)
		y := x - d
		if r.y1 < y {
			x, y = r.y1+d, r.y1
		}
		if ahead < x+y {
			ahead, aheadX = x+y, x
		}
	}
	behind, behindX := math.MaxInt, 0
	for d := b.high; d >= b.low; d -= 2 {
		x := max(r.x0, c.backward[c.zero+d])
		y := x - d
		if y < r.y0 {
			x, y = r.y0+d, r.y0
		}
		if x+y < behind {
			behind, behindX = x+y, x
		}
	}
	if r.x1+r.y1-behind < ahead-(r.x0+r.y0) {
		return split{aheadX, ahead - aheadX, true, false}
	}
	return split{behindX, behind - behindX, false, true}
}
