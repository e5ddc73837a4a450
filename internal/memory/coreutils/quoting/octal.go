package quoting

import (
	"strings"
)

// OctalByte writes c as a backslash and three octal digits.
func OctalByte(c byte) string {
	return string([]byte{'\\', '0' + c>>6, '0' + c>>3&7, '0' + c&7})
}

// EscapeOctal writes what cannot be printed as file(1) does.
func EscapeOctal(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			b.WriteString(OctalByte(s[i]))
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
