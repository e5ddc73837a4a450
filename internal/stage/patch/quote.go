package patch

import (
	"bytes"
	"fmt"
	"strings"
)

const (
	// binaryHead is the number of bytes in which git searches for a NUL byte.
	binaryHead = 8000
	// maxText is the size of the largest file that a patch shows line by line.
	maxText = 16 << 20
)

func isBinaryHead(head []byte) bool {
	return bytes.IndexByte(head[:min(len(head), binaryHead)], 0) >= 0
}

// Quote returns a path as git writes it in patches: in double quotes with C escapes if it has control characters,
// quotes, backslashes or bytes beyond ASCII. So a name cannot end its line or control the terminal.
func Quote(name string) string {
	plain := !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r >= 0x7f })
	if plain {
		return name
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c >= '\a' && c <= '\r':
			b.WriteByte('\\')
			b.WriteByte("abtnvfr"[c-'\a'])
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
