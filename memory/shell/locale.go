package shell

import (
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/internal/memory/char"
	"github.com/seed434b0696/agent-sandbox/internal/memory/quote"
)

// bytewise reports whether characters are bytes: the locale is C. Without one they are UTF-8.
func (sh *interp) bytewise() bool {
	for _, slot := range [...]int{slotLCALL, slotLCCTYPE, slotLANG} {
		if s := sh.get(slot); s != "" {
			return s == "C" || s == "POSIX"
		}
	}
	return false
}

// locale returns the locale of LC_ALL, LC_CTYPE and LANG.
func (sh *interp) locale() char.Locale { return char.Locale{Bytes: sh.bytewise()} }

// encoded returns the character with a number, as \u and \U write it.
func (sh *interp) encoded(v uint32) []byte { return sh.locale().Encode(v) }

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

// quoteShell quotes as ${x@Q} does.
func (sh *interp) quoteShell(s string) string { return quote.Shell(sh.locale(), s) }
