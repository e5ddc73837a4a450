package jsonc

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// maxNesting bounds nested brackets. The parser is recursive: a file
// with a million of them would exhaust the stack, which ends the process without a chance to recover.
const maxNesting = 64

// invalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// tooDeep returns the offset of the bracket that exceeds maxNesting, or -1. It
// reads strings and comments only to skip the brackets in them.
func tooDeep(data []byte) int {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '[', '{':
			if depth++; depth > maxNesting {
				return i
			}
		case ']', '}':
			depth--
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case '/':
			i = skipComment(data, i)
		}
	}
	return -1
}

// skipComment returns the offset of the last byte of the comment at i, or i when
// there is none.
func skipComment(data []byte, i int) int {
	end := "\n"
	switch {
	case bytes.HasPrefix(data[i:], []byte("/*")):
		end = "*/"
	case !bytes.HasPrefix(data[i:], []byte("//")):
		return i
	}
	if n := bytes.Index(data[i+2:], []byte(end)); n >= 0 {
		return i + 2 + n + len(end) - 1
	}
	return len(data)
}

// hasLoneSurrogate reports whether a valid JSON string escapes half of a surrogate pair. Decoding
// would replace it, and a path would differ from the one in the file.
func hasLoneSurrogate(lit []byte) bool {
	unit := func(i int) rune {
		if i+6 > len(lit) || lit[i] != '\\' || lit[i+1] != 'u' {
			return -1
		}
		n, err := strconv.ParseUint(string(lit[i+2:i+6]), 16, 16)
		if err != nil {
			return -1
		}
		return rune(n)
	}
	for i := 0; i < len(lit); i++ {
		if lit[i] != '\\' {
			continue
		}
		switch r := unit(i); {
		case r >= 0xd800 && r < 0xdc00:
			if low := unit(i + 6); low < 0xdc00 || low > 0xdfff {
				return true
			}
			i += 11
		case r >= 0xdc00 && r <= 0xdfff:
			return true
		default:
			i++
		}
	}
	return false
}
