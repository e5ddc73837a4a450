package mcp

import (
	"strings"
	"unicode"
)

// oneLine makes the end of an untrusted text a fragment of one line of at most so many bytes.
func oneLine(s string, most int) string {
	s = strings.TrimSpace(strings.ToValidUTF8(s, "?"))
	cut := len(s) > most
	if cut {
		s = strings.ToValidUTF8(s[len(s)-most:], "")
	}
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, s)
	if cut {
		s = "..." + s
	}
	return s
}
