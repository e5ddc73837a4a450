package syntax

import (
	"strings"
	"unicode/utf8"
)

// ANSI decodes the escapes of $'...'; encode writes characters that a number names. What follows a NUL is dropped, as bash's strings end there.
func ANSI(s string, encode func(uint32) []byte) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			b = append(b, s[i])
			i++
			continue
		}
		n, out := ansiEscape(s[i+1:], encode)
		if len(out) == 1 && out[0] == 0 {
			return string(b)
		}
		b = append(b, out...)
		i += 1 + n
	}
	return string(b)
}

// ansiEscape decodes the text after a backslash: its length in bytes, and its value.
func ansiEscape(s string, encode func(uint32) []byte) (n int, out []byte) {
	c := s[0]
	if i := strings.IndexByte("abefnrtvE\\'\"?", c); i >= 0 {
		return 1, []byte{"\a\b\x1b\f\n\r\t\v\x1b\\'\"?"[i]}
	}
	switch {
	case c >= '0' && c <= '7':
		v, n := digits(s, 3, 8)
		return n, []byte{byte(v)}
	case c == 'x':
		if len(s) > 1 && s[1] == '{' {
			v, n := digits(s[2:], 16, 16)
			if n > 0 {
				if 2+n < len(s) && s[2+n] == '}' {
					n++
				}
				return 2 + n, []byte{byte(v)}
			}
		}
		if v, n := digits(s[1:], 2, 16); n > 0 {
			return 1 + n, []byte{byte(v)}
		}
	case c == 'u', c == 'U':
		width := 4
		if c == 'U' {
			width = 8
		}
		if v, n := digits(s[1:], width, 16); n > 0 {
			return 1 + n, encode(uint32(v))
		}
	case c == 'c' && len(s) > 1:
		x := s[1]
		if x == '\\' && len(s) > 2 && s[2] == '\\' {
			return 3, []byte{'\\' & 0x1f}
		}
		if x == '?' {
			return 2, []byte{0x7f}
		}
		return 2, []byte{x & 0x1f}
	}
	return 1, []byte{'\\', c}
}

// digits reads at most width digits of the base.
func digits(s string, width, base int) (v uint64, n int) {
	for n < width && n < len(s) {
		d := strings.IndexByte("0123456789abcdef", s[n]|0x20)
		if s[n] >= '0' && s[n] <= '9' {
			d = int(s[n] - '0')
		}
		if d < 0 || d >= base {
			break
		}
		v = v*uint64(base) + uint64(d)
		n++
	}
	return v, n
}

// Rune encodes a code point as bash does: also surrogates and numbers beyond Unicode.
func Rune(v uint32) []byte {
	switch {
	case v < 0x80:
		return []byte{byte(v)}
	case v <= utf8.MaxRune && (v < 0xd800 || v > 0xdfff):
		return utf8.AppendRune(nil, rune(v))
	case v < 0x10000:
		return []byte{0xe0 | byte(v>>12), 0x80 | byte(v>>6)&0x3f, 0x80 | byte(v)&0x3f}
	case v < 0x200000:
		return []byte{0xf0 | byte(v>>18), 0x80 | byte(v>>12)&0x3f, 0x80 | byte(v>>6)&0x3f, 0x80 | byte(v)&0x3f}
	case v < 0x4000000:
		return []byte{0xf8 | byte(v>>24), 0x80 | byte(v>>18)&0x3f, 0x80 | byte(v>>12)&0x3f, 0x80 | byte(v>>6)&0x3f, 0x80 | byte(v)&0x3f}
	case v < 0x80000000:
		return []byte{
			0xfc | byte(v>>30), 0x80 | byte(v>>24)&0x3f, 0x80 | byte(v>>18)&0x3f,
			0x80 | byte(v>>12)&0x3f, 0x80 | byte(v>>6)&0x3f, 0x80 | byte(v)&0x3f,
		}
	}
	return nil
}
