package regex

import (
	"slices"
	"unicode"
)

// set is a set of characters: sorted, disjoint ranges, each a pair of first and last. With
// Bytes they are numbers of bytes.
type set struct {
	ranges []rune
}

func (s *set) add(lo, hi rune) {
	if lo <= hi {
		s.ranges = append(s.ranges, lo, hi)
	}
}

func (s *set) addSet(t *set) { s.ranges = append(s.ranges, t.ranges...) }

// normalize sorts and joins the ranges.
func (s *set) normalize() {
	if len(s.ranges) <= 2 {
		return
	}
	pairs := make([][2]rune, 0, len(s.ranges)/2)
	for i := 0; i < len(s.ranges); i += 2 {
		pairs = append(pairs, [2]rune{s.ranges[i], s.ranges[i+1]})
	}
	slices.SortFunc(pairs, func(a, b [2]rune) int { return int(a[0] - b[0]) })
	out := s.ranges[:0]
	for _, p := range pairs {
		if n := len(out); n > 0 && p[0] <= out[n-1]+1 {
			out[n-1] = max(out[n-1], p[1])
			continue
		}
		out = append(out, p[0], p[1])
	}
	s.ranges = out
}

// negate makes it the complement among all characters. It has to be normalized.
func (s *set) negate(bytes bool) {
	last := rune(unicode.MaxRune)
	if bytes {
		last = 255
	}
	var out []rune
	next := rune(0)
	for i := 0; i < len(s.ranges); i += 2 {
		if s.ranges[i] > next {
			out = append(out, next, s.ranges[i]-1)
		}
		next = s.ranges[i+1] + 1
	}
	if next <= last {
		out = append(out, next, last)
	}
	s.ranges = out
}

func (s *set) has(r rune) bool {
	lo, hi := 0, len(s.ranges)/2
	for lo < hi {
		mid := (lo + hi) / 2
		switch {
		case r < s.ranges[2*mid]:
			hi = mid
		case r > s.ranges[2*mid+1]:
			lo = mid + 1
		default:
			return true
		}
	}
	return false
}

// single returns the only character of the set.
func (s *set) single() (rune, bool) {
	if len(s.ranges) == 2 && s.ranges[0] == s.ranges[1] {
		return s.ranges[0], true
	}
	return 0, false
}

// fold adds the other case of every letter.
func (s *set) fold(bytes bool) {
	for i, n := 0, len(s.ranges); i < n; i += 2 {
		lo, hi := s.ranges[i], s.ranges[i+1]
		if bytes {
			s.foldASCII(lo, hi)
			continue
		}
		s.foldRange(lo, hi)
	}
	s.normalize()
}

func (s *set) foldASCII(lo, hi rune) {
	if a, b := max(lo, 'a'), min(hi, 'z'); a <= b {
		s.add(a-32, b-32)
	}
	if a, b := max(lo, 'A'), min(hi, 'Z'); a <= b {
		s.add(a+32, b+32)
	}
}

// lastFold is the last character that has another case.
const lastFold = 0x1E943

func (s *set) foldRange(lo, hi rune) {
	if lo == 0 && hi >= lastFold {
		return
	}
	for r := lo; r <= min(hi, lastFold); r++ {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			if f < lo || f > hi {
				s.add(f, f)
			}
		}
	}
}
