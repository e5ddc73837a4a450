package session

import "strings"

// Printable makes a text of another program safe for a terminal: it replaces control characters, line ends included,
// and invalid UTF-8 by question marks.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}
