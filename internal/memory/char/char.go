// Package char reads characters as the C library does in the locales C and C.UTF-8.
package char

import (
	"unicode"
	"unicode/utf8"
)

// Decode returns the first character of s, which is not empty, and its length in bytes. A byte that belongs to no
// character is a negative number of its own: -1 minus the byte.
func Decode(s string) (rune, int) {
	if c := s[0]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n == 1 {
		return -1 - rune(s[0]), 1
	}
	return r, n
}

// IsPrintable is iswprint(3).
func IsPrintable(r rune) bool {
	if r < 0x7f {
		return r >= ' '
	}
	return unicode.IsPrint(r) || unicode.In(r, unicode.Zs, unicode.Cf, unicode.Co)
}

// Digits reads at most width digits of a base up to 36, upper or lower case. It returns their value and number.
func Digits(s string, width int, base uint64) (v uint64, n int) {
	for n < width && n < len(s) {
		d := base
		switch c := s[n]; {
		case c >= '0' && c <= '9':
			d = uint64(c - '0')
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			d = uint64(c|0x20-'a') + 10
		}
		if d >= base {
			break
		}
		v = v*base + d
		n++
	}
	return v, n
}
