package shell

import (
	"fmt"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
)

// bytewise tells whether characters are bytes: the locale is C. Without one they are UTF-8.
func (sh *interp) bytewise() bool {
	for _, slot := range [...]int{slotLCALL, slotLCCTYPE, slotLANG} {
		if s := sh.get(slot); s != "" {
			return s == "C" || s == "POSIX"
		}
	}
	return false
}

// encoded returns what \u and \U make of a number: the character, or where the locale has none how it is written.
func (sh *interp) encoded(v uint32) []byte {
	switch {
	case v < 0x80 || !sh.bytewise():
		return syntax.Rune(v)
	case v < 0x10000:
		return fmt.Appendf(nil, "\\u%04X", v)
	}
	return fmt.Appendf(nil, "\\U%08X", v)
}

// runeCount counts characters; a byte that belongs to none counts as one.
func (sh *interp) runeCount(s string) int {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			if sh.bytewise() {
				break
			}
			return utf8.RuneCountInString(s)
		}
	}
	return len(s)
}

// decode returns the first character as the pattern's locale has it.
func (p *pattern) decode(s string) (rune, int) {
	if p.bytes && s[0] >= utf8.RuneSelf {
		return -1 - rune(s[0]), 1
	}
	return decodeRune(s)
}

// lastWidth returns how many bytes the last character has; one that is no UTF-8 has one.
func (p *pattern) lastWidth(s string) int {
	if s[len(s)-1] < utf8.RuneSelf || p.bytes {
		return 1
	}
	_, n := utf8.DecodeLastRuneInString(s)
	return n
}
