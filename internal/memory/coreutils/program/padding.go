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
	for { // bounded: the digits of a number
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
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s))) + s // bounded: by a column, or a width that the caller bounds
}

// WriteRepeated writes n times the byte. For many it takes fuel; when there is none it writes less and returns false,
// and the next call that takes some fails. A failed write returns false too.
func WriteRepeated(out *Output, c byte, n int) bool {
	if n <= 64 {
		for range n {
			if out.WriteByte(c) != nil {
				return false
			}
		}
		return true
	}
	var chunk []byte
	for n > 0 {
		size := min(n, BufferSize)
		if out.proc.Spend(size>>6) != nil {
			return false
		}
		if chunk == nil {
			chunk = bytes.Repeat([]byte{c}, size)
		}
		if _, err := out.Write(chunk[:size]); err != nil {
			return false
		}
		n -= size
	}
	return true
}
