package char

import (
	"fmt"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
)

// Locale says which bytes form a character. The zero value is UTF-8.
type Locale struct {
	Bytes bool // each byte is a character, and only those of ASCII can be shown: the locale C
}

// Encode returns the character with a number; where the locale has none, its escape such as \u00E4.
func (l Locale) Encode(v uint32) []byte {
	switch {
	case v < 0x80 || !l.Bytes:
		return syntax.Rune(v)
	case v < 0x10000:
		return fmt.Appendf(nil, "\\u%04X", v)
	}
	return fmt.Appendf(nil, "\\U%08X", v)
}

// Count returns the number of characters; a byte that belongs to none counts as one.
func (l Locale) Count(s string) int {
	if l.Bytes {
		return len(s)
	}
	return utf8.RuneCountInString(s)
}

// Show returns the length of the first character of s in bytes, and whether it can be printed.
func (l Locale) Show(s string) (n int, ok bool) {
	r, n := Decode(s)
	if n > 1 && l.Bytes {
		return 1, false
	}
	return n, IsPrintable(r)
}

// Code returns the number of the first character of s, 0 when s is empty.
func (l Locale) Code(s string) int64 {
	if s == "" {
		return 0
	}
	r, _ := Decode(s)
	if r < 0 || l.Bytes {
		return int64(s[0])
	}
	return int64(r)
}
