package split

import (
	"fmt"
	"strconv"
	"strings"
)

// csplitSuffix is the format of a file's number.
type csplitSuffix struct {
	before, after string
	left, zero    bool
	alternate     bool
	width         int
	precision     int // -1: none
	verb          byte
}

// csplitMost bounds the digits of a number: longer names are not possible.
const csplitMost = 4096

// parseCsplitSuffix reads a format of printf(3) that has one number; fault is its error.
func parseCsplitSuffix(format string) (s csplitSuffix, fault string) {
	var text strings.Builder
	for rest := format; rest != ""; {
		if rest[0] != '%' || strings.HasPrefix(rest, "%%") {
			text.WriteByte(rest[0])
			rest = rest[min(len(rest), 1+strings.Count(rest[:1], "%")):]
			continue
		}
		if s.verb != 0 {
			return s, "too many % conversion specifications in suffix"
		}
		s.before = text.String()
		text.Reset()
		if rest, fault = s.conversion(rest[1:]); fault != "" {
			return s, fault
		}
	}
	if s.verb == 0 {
		return s, "missing % conversion specification in suffix"
	}
	s.after = text.String()
	return s, ""
}

// conversion reads the text after the %.
func (s *csplitSuffix) conversion(text string) (rest, fault string) {
	thousands := false
	flags := strings.TrimLeft(text, "-0'#")
	for _, c := range []byte(text[:len(text)-len(flags)]) {
		switch c {
		case '-':
			s.left = true
		case '0':
			s.zero = true
		case '\'':
			thousands = true
		case '#':
			s.alternate = true
		}
	}
	s.width, rest = csplitNumber(flags)
	s.precision = -1
	if digits, ok := strings.CutPrefix(rest, "."); ok {
		s.precision, rest = csplitNumber(digits)
	}
	if rest == "" {
		return "", "missing conversion specifier in suffix"
	}
	s.verb = rest[0]
	wrong := ""
	switch s.verb {
	case 'd', 'i', 'u':
		if s.alternate {
			wrong = "#"
		}
		s.verb = 'd'
	case 'o', 'x', 'X':
		if thousands {
			wrong = "'"
		}
	default:
		if s.verb < ' ' || s.verb > '~' {
			return "", fmt.Sprintf(`invalid conversion specifier in suffix: \%.3o`, s.verb)
		}
		return "", "invalid conversion specifier in suffix: " + rest[:1]
	}
	if wrong != "" {
		return "", "invalid flags in conversion specification: %" + wrong + rest[:1]
	}
	return rest[1:], ""
}

// csplitNumber reads the digits that text begins with.
func csplitNumber(text string) (n int, rest string) {
	rest = strings.TrimLeft(text, "0123456789")
	digits := strings.TrimLeft(text[:len(text)-len(rest)], "0")
	if digits == "" {
		return 0, rest
	}
	n, err := strconv.Atoi(digits)
	if err != nil {
		n = csplitMost
	}
	return min(n, csplitMost), rest
}

// of returns the end of the name of file n.
func (s *csplitSuffix) of(n int) string {
	base := map[byte]int{'d': 10, 'o': 8, 'x': 16, 'X': 16}[s.verb]
	digits := strconv.FormatInt(int64(n), base)
	sign := ""
	switch {
	case s.precision == 0 && n == 0:
		digits = ""
	case s.alternate && base == 16 && n != 0:
		sign = "0x"
	}
	digits = strings.Repeat("0", max(min(s.precision, csplitMost)-len(digits), 0)) + digits
	if s.alternate && base == 8 && !strings.HasPrefix(digits, "0") {
		digits = "0" + digits
	}
	room := max(s.width-len(sign)-len(digits), 0)
	switch {
	case s.left:
		digits += strings.Repeat(" ", room) // bounded: csplitMost
	case s.zero && s.precision < 0:
		digits = strings.Repeat("0", room) + digits // bounded: csplitMost
	default:
		sign = strings.Repeat(" ", room) + sign // bounded: csplitMost
	}
	if digits = sign + digits; s.verb == 'X' {
		digits = strings.ToUpper(digits)
	}
	return s.before + digits + s.after
}
