package session

import "strings"

// Printable returns a text of another program that cannot change lines or control a terminal: control characters and
// invalid UTF-8 become question marks.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}
