// Package ascii classifies and converts ASCII characters.
package ascii

// IsSpace reports whether c is white space, as isspace(3) in the C locale.
func IsSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// IsLetter reports whether c is a letter.
func IsLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// IsDigit reports whether c is an ASCII digit.
func IsDigit[T byte | int | rune](c T) bool { return c >= '0' && c <= '9' }

// DigitValue returns the value of a digit of a base up to 36, and 99 for any other character.
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

// ToLower returns the lower-case letter of an upper-case one; other bytes stay as they are.
func ToLower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 32
	}
	return c
}

// ToUpper returns the upper-case letter of a lower-case one; other bytes stay as they are.
func ToUpper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - 32
	}
	return c
}

// CountDigits returns how many decimal digits s begins with.
func CountDigits(s string) int {
	n := 0
	for n < len(s) && IsDigit(s[n]) {
		n++
	}
	return n
}

// HexValue returns the value of a hexadecimal digit, and -1 for any other character.
func HexValue(c byte) int {
	if v := DigitValue(c); v < 16 {
		return v
	}
	return -1
}
