package printf

import (
	"math"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/char"
)

// integer understands C's constants and 'c for the code of a character.
func (p *printer) integer(a string) int64 {
	if a == "" {
		return 0
	}
	if a[0] == '\'' || a[0] == '"' {
		return p.host.Locale().Code(a[1:])
	}
	s := strings.TrimLeft(a, " \t\n")
	neg := false
	if s != "" && (s[0] == '-' || s[0] == '+') {
		neg, s = s[0] == '-', s[1:]
	}
	base := uint64(10)
	digits := s
	switch {
	case strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X"):
		base, digits = 16, s[2:]
	case len(s) > 1 && s[0] == '0':
		base, digits = 8, s[1:]
	}
	v, n, over := uint64(0), 0, false
	for n < len(digits) {
		d, one := char.Digits(digits[n:], 1, base)
		if one == 0 {
			break
		}
		if v > (math.MaxUint64-d)/base {
			over = true
		}
		v = v*base + d
		n++
	}
	if n < len(digits) || len(digits) == 0 {
		p.invalid(a)
	}
	switch {
	case p.unsigned:
		if over {
			p.complainRange(a)
			return -1
		}
		if neg {
			v = -v
		}
		return int64(v)
	case over || v > 1<<63 && neg:
		p.complainRange(a)
		if neg {
			return math.MinInt64
		}
		return math.MaxInt64
	case neg:
		return -int64(v)
	}
	if v > math.MaxInt64 {
		p.complainRange(a)
		return math.MaxInt64
	}
	return int64(v)
}

// invalid warns of an argument that is not a number.
func (p *printer) invalid(a string) {
	kind := ""
	switch {
	case len(a) > 1 && a[0] == '0' && a[1] >= '0' && a[1] <= '9':
		kind = "octal "
	case strings.HasPrefix(a, "0x"):
		kind = "hex "
	}
	p.complain("%s: invalid %snumber", a, kind)
}

func (p *printer) complainRange(a string) {
	p.host.Warn("warning: %s: Numerical result out of range", a)
}

// number writes an integer.
func (p *printer) number(s spec, c byte, n int64) {
	var digits, prefix string
	switch c {
	case 'd', 'i':
		digits = strconv.FormatInt(n, 10)
		if n < 0 {
			prefix, digits = "-", digits[1:]
		} else if s.plus {
			prefix = "+"
		} else if s.space {
			prefix = " "
		}
	case 'u':
		digits = strconv.FormatUint(uint64(n), 10)
	case 'o':
		digits = strconv.FormatUint(uint64(n), 8)
		if s.alt && digits[0] != '0' {
			digits = "0" + digits
		}
	default:
		digits = strconv.FormatUint(uint64(n), 16)
		if s.alt && n != 0 {
			prefix = "0x"
		}
		if c == 'X' {
			digits, prefix = strings.ToUpper(digits), strings.ToUpper(prefix)
		}
	}
	if s.prec >= 0 {
		s.zero = false
		if s.prec == 0 && n == 0 {
			digits = ""
		}
		digits = strings.Repeat("0", max(0, s.prec-len(digits))) + digits
	}
	if s.zero && !s.minus {
		digits = strings.Repeat("0", max(0, s.width-len(prefix)-len(digits))) + digits
	}
	p.pad(s, prefix+digits)
}
