package cformat

import (
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
)

// Field is the flags, the width and the precision of a conversion of printf(3).
type Field struct {
	Flags       string
	Width, Prec int // prec -1: none
}

// Pad brings s, a number or a text, to the precision and the width.
func (f Field) Pad(s string, number bool) string {
	if number && f.Prec > 0 {
		sign := ""
		if strings.HasPrefix(s, "-") {
			sign, s = "-", s[1:]
		}
		if n := f.Prec - len(s); n > 0 {
			s = strings.Repeat("0", n) + s // bounded: by LeadingNumber, or a number that the caller bounds
		}
		s = sign + s
	}
	n := f.Width - len(s)
	switch {
	case n <= 0:
		return s
	case strings.Contains(f.Flags, "-"):
		return s + strings.Repeat(" ", n) // bounded: by LeadingNumber, or a number that the caller bounds
	case number && f.Prec < 0 && strings.Contains(f.Flags, "0"):
		sign := ""
		if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
			sign, s = s[:1], s[1:]
		}
		return sign + strings.Repeat("0", n) + s // bounded: by LeadingNumber, or a number that the caller bounds
	}
	return strings.Repeat(" ", n) + s // bounded: by LeadingNumber, or a number that the caller bounds
}

// LeadingNumber returns the number at the front, -1 when it is beyond use, and the rest.
func LeadingNumber(s string) (int, string) {
	end := 0
	for end < len(s) && ascii.IsDigit(s[end]) {
		end++
	}
	n, err := strconv.Atoi(s[:end])
	if err != nil || n > 1<<20 {
		n = -1
	}
	return n, s[end:]
}
