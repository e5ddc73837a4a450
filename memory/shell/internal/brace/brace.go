// Package brace generates the elements of a brace sequence such as {1..9}.
package brace

import (
	"math"
	"strconv"
	"strings"
)

// Sequence is {from..to} or {from..to..step}.
type Sequence struct {
	from, to, step int64
	chars          bool
	width          int // of numbers with leading zeros
}

// Parse reads the text between the braces. It returns nil for text that is not a sequence or has too many elements.
func Parse(text string) *Sequence {
	f := strings.SplitN(text, "..", 4)
	if len(f) < 2 || len(f) > 3 {
		return nil
	}
	s := &Sequence{step: 1}
	if len(f) == 3 {
		n, err := strconv.ParseInt(f[2], 10, 64)
		if err != nil || n == -1<<63 {
			return nil
		}
		s.step = max(n, -n)
		if n == 0 {
			s.step = 1
		}
	}
	from, err1 := strconv.ParseInt(f[0], 10, 64)
	to, err2 := strconv.ParseInt(f[1], 10, 64)
	switch {
	case err1 == nil && err2 == nil:
		s.from, s.to = from, to
		if isZeroPadded(f[0]) || isZeroPadded(f[1]) {
			s.width = max(len(f[0]), len(f[1]))
		}
	case len(f[0]) == 1 && len(f[1]) == 1 && isLetter(f[0][0]) && isLetter(f[1][0]):
		s.from, s.to, s.chars = int64(f[0][0]), int64(f[1][0]), true
	default:
		return nil
	}
	if distance(s.from, s.to)/uint64(s.step) > math.MaxInt32-3 {
		return nil
	}
	return s
}

// HasChars reports whether the elements are characters, not numbers.
func (s *Sequence) HasChars() bool { return s.chars }

// First returns the number of the first element.
func (s *Sequence) First() int64 { return s.from }

// Next returns the number of the element after n; false means that n is the last.
func (s *Sequence) Next(n int64) (int64, bool) {
	if distance(n, s.to) < uint64(s.step) {
		return 0, false
	}
	if s.to < s.from {
		return n - s.step, true
	}
	return n + s.step, true
}

// Text returns the element with the number n. That of a backslash is empty, because bash takes it for a quote.
func (s *Sequence) Text(n int64) string {
	if s.chars {
		if n == '\\' {
			return ""
		}
		return string(byte(n))
	}
	t := strconv.FormatInt(n, 10)
	if s.width <= len(t) {
		return t
	}
	if n < 0 {
		return "-" + strings.Repeat("0", s.width-len(t)) + t[1:] // bounded: by the text of the sequence
	}
	return strings.Repeat("0", s.width-len(t)) + t // bounded: by the text of the sequence
}

func distance(a, b int64) uint64 {
	if b < a {
		a, b = b, a
	}
	return uint64(b) - uint64(a)
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isZeroPadded(s string) bool {
	s = strings.TrimLeft(s, "+-")
	return len(s) > 1 && s[0] == '0'
}
