// Package ascii classifies and converts ASCII characters.
package ascii

func IsSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func IsLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// IsDigit reports whether c is an ASCII digit.
func IsDigit[T byte | int | rune](c T) bool { return c >= '0' && c <= '9' }

func DigitValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'z':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'Z':
		return int(c-'A') + 10
	}
	return 99
}

func ToLower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 32
	}
	return c
}

func ToUpper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - 32
	}
	return c
}

func CountDigits(s string) int {
	n := 0
	for n < len(s) && IsDigit(s[n]) {
		n++
	}
	return n
}

func HexValue(c byte) int {
	if v := DigitValue(c); v < 16 {
		return v
	}
	return -1
}
