package coreutils

import (
	"strconv"
	"strings"
)

// printField is the flags, the width and the precision of a conversion of printf(3).
type printField struct {
	flags       string
	width, prec int // prec -1: none
}

// pad brings s, a number or a text, to the precision and the width.
func (f printField) pad(s string, number bool) string {
	if number && f.prec > 0 {
		sign := ""
		if strings.HasPrefix(s, "-") {
			sign, s = "-", s[1:]
		}
		if n := f.prec - len(s); n > 0 {
			s = strings.Repeat("0", n) + s
		}
		s = sign + s
	}
	n := f.width - len(s)
	switch {
	case n <= 0:
		return s
	case strings.Contains(f.flags, "-"):
		return s + strings.Repeat(" ", n)
	case number && f.prec < 0 && strings.Contains(f.flags, "0"):
		sign := ""
		if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
			sign, s = s[:1], s[1:]
		}
		return sign + strings.Repeat("0", n) + s
	}
	return strings.Repeat(" ", n) + s
}

// leadingNumber returns the number at the front, -1 when it is beyond use, and the rest.
func leadingNumber(s string) (int, string) {
	end := 0
	for end < len(s) && isDigit(s[end]) {
		end++
	}
	n, err := strconv.Atoi(s[:end])
	if err != nil || n > 1<<20 {
		n = -1
	}
	return n, s[end:]
}
