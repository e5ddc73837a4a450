package session

import "strings"

// Printable keeps what another program says on its line and off the controls of a terminal: control
// characters and what is no UTF-8 become question marks.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}
