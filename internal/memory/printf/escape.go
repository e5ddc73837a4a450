package printf

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/char"
)

// escape decodes an escape, and warns of a number without digits.
func (p *printer) escape(s string, arg bool) (n int, out []byte, stop bool) {
	n, out, stop = escape(p.host.Locale(), s, arg)
	if len(out) == 2 && out[0] == '\\' {
		switch out[1] {
		case 'x':
			p.host.Warn("missing hex digit for \\x")
		case 'u', 'U':
			p.host.Warn("missing unicode digit for \\%c", out[1])
		}
	}
	return n, out, stop
}

// escape decodes the text behind a backslash, of which it takes n bytes; arg says that it is in the argument of %b.
// Stop is set for \c.
func escape(l char.Locale, s string, arg bool) (n int, out []byte, stop bool) {
	if s == "" {
		return 0, []byte{'\\'}, false
	}
	c := s[0]
	if k := strings.IndexByte("abefnrtvE\\", c); k >= 0 {
		return 1, []byte{"\a\b\x1b\f\n\r\t\v\x1b\\"[k]}, false
	}
	switch {
	case c == '"' || c == '\'' || c == '?':
		if arg {
			return 1, []byte{'\\', c}, false
		}
		return 1, []byte{c}, false
	case c == 'c' && arg:
		return 1, nil, true
	case c >= '0' && c <= '7':
		width := 3
		if arg && c == '0' {
			width = 4
		}
		v, n := char.Digits(s, width, 8)
		return n, []byte{byte(v)}, false
	case c == 'x':
		if v, n := char.Digits(s[1:], 2, 16); n > 0 {
			return 1 + n, []byte{byte(v)}, false
		}
	case c == 'u' || c == 'U':
		width := 4
		if c == 'U' {
			width = 8
		}
		if v, n := char.Digits(s[1:], width, 16); n > 0 {
			return 1 + n, l.Encode(uint32(v)), false
		}
	}
	return 1, []byte{'\\', c}, false
}

func (p *printer) decodeB(s string) (out []byte, stop bool) {
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			out = append(out, s[i])
			i++
			continue
		}
		n, piece, stop := p.escape(s[i+1:], true)
		out = append(out, piece...)
		if stop {
			return out, true
		}
		i += 1 + n
	}
	return out, false
}

// AppendEcho appends s with the escapes of echo -e decoded. Stop is set when it has \c, which ends the output.
func AppendEcho(b []byte, l char.Locale, s string) (_ []byte, stop bool) {
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b = append(b, s[i])
			continue
		}
		i++
		c := s[i]
		if k := strings.IndexByte("abefnrtvE\\", c); k >= 0 {
			b = append(b, "\a\b\x1b\f\n\r\t\v\x1b\\"[k])
			continue
		}
		n, v := 0, uint64(0)
		switch c {
		case 'c':
			return b, true
		case '0':
			v, n = char.Digits(s[i+1:], 3, 8)
			b = append(b, byte(v))
			i += n
			continue
		case 'x':
			if v, n = char.Digits(s[i+1:], 2, 16); n > 0 {
				b = append(b, byte(v))
				i += n
				continue
			}
		case 'u', 'U':
			width := 4
			if c == 'U' {
				width = 8
			}
			if v, n = char.Digits(s[i+1:], width, 16); n > 0 {
				b = append(b, l.Encode(uint32(v))...)
				i += n
				continue
			}
		}
		b = append(b, '\\', c)
	}
	return b, false
}
