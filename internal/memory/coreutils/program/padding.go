package program

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// AppendPadded appends n right-aligned in width columns.
func AppendPadded(b []byte, n, width int) []byte {
	var digits [20]byte
	i := len(digits)
	for {
		i--
		digits[i] = byte('0' + n%10)
		if n /= 10; n == 0 {
			break
		}
	}
	for pad := width - (len(digits) - i); pad > 0; pad-- {
		b = append(b, ' ')
	}
	return append(b, digits[i:]...)
}

// PadLeft puts blanks before s until it has width characters.
func PadLeft(s string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s))) + s
}

// WriteRepeated writes n times the byte. For many it takes fuel; when there is none it writes less,
// and the next call that takes some fails.
func WriteRepeated(out *Output, c byte, n int) {
	if n <= 64 {
		for range n {
			_ = out.WriteByte(c)
		}
		return
	}
	chunk := bytes.Repeat([]byte{c}, min(n, BufferSize))
	for n > 0 {
		part := chunk[:min(n, len(chunk))]
		if out.proc.Spend(len(part)>>6) != nil {
			return
		}
		if _, err := out.Write(part); err != nil {
			return
		}
		n -= len(part)
	}
}
