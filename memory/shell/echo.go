package shell

import "strings"

// echo writes its arguments.
func (sh *interp) echo(args []string) int {
	args = args[1:]
	escapes := sh.shopt&shXpgEcho != 0
	newline := true
	if !escapes || sh.opt&optPosix == 0 {
		for len(args) > 0 && isEchoFlag(args[0]) {
			for i := 1; i < len(args[0]); i++ {
				switch args[0][i] {
				case 'n':
					newline = false
				case 'e':
					escapes = true
				case 'E':
					escapes = false
				}
			}
			args = args[1:]
		}
	}
	b := sh.scratch[:0]
	for i, a := range args {
		if i > 0 {
			b = append(b, ' ')
		}
		if !escapes || strings.IndexByte(a, '\\') < 0 {
			b = append(b, a...)
			continue
		}
		var stop bool
		if b, stop = sh.appendEchoEscapes(b, a); stop {
			newline = false
			break
		}
	}
	if newline {
		b = append(b, '\n')
	}
	st := sh.out(b)
	if cap(b) <= 1<<16 {
		sh.scratch = b
	}
	return st
}

func isEchoFlag(s string) bool {
	if len(s) < 2 || s[0] != '-' {
		return false
	}
	for i := 1; i < len(s); i++ {
		if c := s[i]; c != 'n' && c != 'e' && c != 'E' {
			return false
		}
	}
	return true
}

// appendEchoEscapes appends s with the escapes of echo -e; stop after \c.
func (sh *interp) appendEchoEscapes(b []byte, s string) (_ []byte, stop bool) {
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
			v, n = baseDigits(s[i+1:], 3, 8)
			b = append(b, byte(v))
			i += n
			continue
		case 'x':
			if v, n = baseDigits(s[i+1:], 2, 16); n > 0 {
				b = append(b, byte(v))
				i += n
				continue
			}
		case 'u', 'U':
			width := 4
			if c == 'U' {
				width = 8
			}
			if v, n = baseDigits(s[i+1:], width, 16); n > 0 {
				b = append(b, sh.encoded(uint32(v))...)
				i += n
				continue
			}
		}
		b = append(b, '\\', c)
	}
	return b, false
}

// baseDigits reads at most width digits of the base.
func baseDigits(s string, width int, base uint64) (v uint64, n int) {
	for n < width && n < len(s) {
		d := digitValue(s[n]|0x20, 36)
		if s[n] >= '0' && s[n] <= '9' {
			d = uint64(s[n] - '0')
		}
		if d >= base {
			break
		}
		v = v*base + d
		n++
	}
	return v, n
}
