package shell

import "strings"

// escape is printfEscape, and tells of a number that has no digits.
func (p *printer) escape(s string, arg bool) (n int, out []byte, stop bool) {
	n, out, stop = p.sh.printfEscape(s, arg)
	if len(out) == 2 && out[0] == '\\' {
		switch out[1] {
		case 'x':
			p.sh.fail("missing hex digit for \\x")
		case 'u', 'U':
			p.sh.fail("missing unicode digit for \\%c", out[1])
		}
	}
	return n, out, stop
}

// printfEscape decodes what stands behind a backslash; arg says that it is in the argument of %b.
func (sh *interp) printfEscape(s string, arg bool) (n int, out []byte, stop bool) {
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
		v, n := baseDigits(s, width, 8)
		return n, []byte{byte(v)}, false
	case c == 'x':
		if v, n := baseDigits(s[1:], 2, 16); n > 0 {
			return 1 + n, []byte{byte(v)}, false
		}
	case c == 'u' || c == 'U':
		width := 4
		if c == 'U' {
			width = 8
		}
		if v, n := baseDigits(s[1:], width, 16); n > 0 {
			return 1 + n, sh.encoded(uint32(v)), false
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
