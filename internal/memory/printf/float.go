package printf

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// floating understands C's constants.
func (p *printer) floating(a string) float64 {
	if a == "" {
		return 0
	}
	if a[0] == '\'' || a[0] == '"' {
		return float64(p.host.Locale().Code(a[1:]))
	}
	s := strings.TrimLeft(a, " \t\n")
	if v, err := strconv.ParseFloat(s, 64); err == nil && !strings.ContainsAny(s, "_pP") {
		return v
	}
	n := floatLen(s)
	text := s[:n]
	if strings.HasPrefix(strings.TrimLeft(text, "+-"), "0x") && !strings.ContainsAny(text, "pP") {
		text += "p0"
	}
	v, err := strconv.ParseFloat(text, 64)
	if n < len(s) || err != nil && !errors.Is(err, strconv.ErrRange) {
		p.invalid(a)
	}
	return v
}

// floatLen returns how long the beginning of s is that is a number; 0: none.
func floatLen(s string) int {
	i := 0
	if s != "" && (s[0] == '-' || s[0] == '+') {
		i++
	}
	for _, word := range [...]string{"infinity", "inf", "nan"} {
		if len(s) >= i+len(word) && strings.EqualFold(s[i:i+len(word)], word) {
			return i + len(word)
		}
	}
	if len(s) > i+2 && s[i] == '0' && s[i+1]|0x20 == 'x' {
		if n, digits := mantissaLen(s[i+2:], "0123456789abcdefABCDEF"); digits {
			i += 2 + n
			return i + exponentLen(s[i:], 'p')
		}
	}
	n, digits := mantissaLen(s[i:], "0123456789")
	if !digits {
		return 0
	}
	i += n
	return i + exponentLen(s[i:], 'e')
}

// mantissaLen returns how long digits with a point among them are, and whether there are any.
func mantissaLen(s, set string) (n int, digits bool) {
	point := false
	for ; n < len(s); n++ {
		switch {
		case s[n] == '.' && !point:
			point = true
		case strings.IndexByte(set, s[n]) >= 0:
			digits = true
		default:
			return n, digits
		}
	}
	return n, digits
}

// exponentLen returns how long the exponent is that s begins with; 0: there is none.
func exponentLen(s string, mark byte) int {
	if s == "" || s[0]|0x20 != mark {
		return 0
	}
	i := 1
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	n := i
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n == i {
		return 0
	}
	return n
}

// float writes a floating-point number.
func (p *printer) float(s spec, c byte, v float64) {
	prec := s.prec
	verb := c
	switch c {
	case 'F':
		verb = 'f'
	case 'a', 'A':
		verb = 'x'
		if c == 'A' {
			verb = 'X'
		}
	}
	if prec < 0 && verb != 'x' && verb != 'X' {
		prec = 6
	}
	if (verb == 'g' || verb == 'G') && prec == 0 {
		prec = 1
	}
	text := formatFloat(v, verb, prec, s.alt)
	if s.alt && prec == 0 && (verb == 'f' || verb == 'e' || verb == 'E') && !math.IsInf(v, 0) && !math.IsNaN(v) {
		if i := strings.IndexAny(text, "eE"); i >= 0 {
			text = text[:i] + "." + text[i:]
		} else {
			text += "."
		}
	}
	if c == 'F' || c >= 'A' && c <= 'Z' {
		text = strings.ToUpper(text)
	}
	prefix := ""
	switch {
	case strings.HasPrefix(text, "-"):
		prefix, text = "-", text[1:]
	case s.plus:
		prefix = "+"
	case s.space:
		prefix = " "
	}
	if s.zero && !s.minus && !math.IsInf(v, 0) && !math.IsNaN(v) {
		text = strings.Repeat("0", max(0, s.width-len(prefix)-len(text))) + text
	}
	p.pad(s, prefix+text)
}

// formatFloat formats as C does, which drops zeros behind the point under %g.
func formatFloat(v float64, verb byte, prec int, alt bool) string {
	switch {
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	case math.IsNaN(v):
		return "nan"
	}
	if verb != 'g' && verb != 'G' {
		if prec < 0 && v != 0 { // %a as C prints a long double: four bits before the point.
			frac, exp := math.Frexp(math.Abs(v))
			digits := strings.TrimRight(strconv.FormatUint(uint64(math.Ldexp(frac, 64)), 16), "0")
			if digits = digits[:1] + "." + digits[1:]; len(digits) == 2 {
				digits = digits[:1]
			}
			sign := ""
			if math.Signbit(v) {
				sign = "-"
			}
			return fmt.Sprintf("%s0x%sp%+d", sign, digits, exp-4)
		}
		s := strconv.FormatFloat(v, verb, prec, 64)
		if verb == 'x' || verb == 'X' {
			return hexFloat(s)
		}
		return s
	}
	exp := 0
	if v != 0 {
		e := strconv.FormatFloat(v, 'e', prec-1, 64)
		i := strings.IndexByte(e, 'e')
		exp, _ = strconv.Atoi(e[i+1:])
	}
	var s string
	if exp < -4 || exp >= prec {
		s = strconv.FormatFloat(v, 'e', prec-1, 64)
		if !alt {
			i := strings.IndexByte(s, 'e')
			s = trimZeros(s[:i]) + s[i:]
		}
	} else {
		s = strconv.FormatFloat(v, 'f', max(prec-1-exp, 0), 64)
		if !alt {
			s = trimZeros(s)
		}
	}
	return s
}

func trimZeros(s string) string {
	if strings.IndexByte(s, '.') < 0 {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// hexFloat writes the exponent of a hexadecimal number as C does: without a zero before it.
func hexFloat(s string) string {
	i := strings.IndexAny(s, "pP")
	if i < 0 {
		return s
	}
	exp := s[i+2:]
	if len(exp) > 1 && exp[0] == '0' {
		exp = exp[1:]
	}
	return s[:i+2] + exp
}
