package interpreter

import (
	"math"
	"strconv"
	"strings"
)

// formatNumber writes a number as jq does: with up to 17 digits, so that it reads back
// as the same; infinities as the largest numbers.
func formatNumber(f float64) string {
	switch {
	case math.IsNaN(f):
		return "null"
	case f > math.MaxFloat64:
		f = math.MaxFloat64
	case f < -math.MaxFloat64:
		f = -math.MaxFloat64
	}
	if f == math.Trunc(f) && math.Abs(f) < 1e15 && (f != 0 || !math.Signbit(f)) {
		return strconv.FormatInt(int64(f), 10)
	}
	s := strconv.FormatFloat(f, 'e', -1, 64)
	mantissa, exponent, _ := strings.Cut(s, "e")
	sign := ""
	if strings.HasPrefix(mantissa, "-") {
		sign, mantissa = "-", mantissa[1:]
	}
	digits := strings.Replace(mantissa, ".", "", 1)
	exp, _ := strconv.Atoi(exponent)
	point := exp + 1 // digits before the point
	switch {
	case point <= -4 || point > len(digits)+15:
		s := digits[:1]
		if len(digits) > 1 {
			s += "." + digits[1:]
		}
		e := strconv.Itoa(abs(exp))
		if len(e) < 2 {
			e = "0" + e
		}
		if exp < 0 {
			return sign + s + "e-" + e
		}
		return sign + s + "e+" + e
	case point <= 0:
		return sign + "0." + strings.Repeat("0", -point) + digits // bounded: by three zeros
	case point >= len(digits):
		return sign + digits + strings.Repeat("0", point-len(digits)) // bounded: by fifteen zeros
	}
	return sign + digits[:point] + "." + digits[point:]
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

// parseNumber reads the text of a number. One whose canonical text is not what its
// float64 would be written as keeps it.
func parseNumber(s string) (Value, bool) {
	switch s {
	case "nan", "-nan", "NaN", "-NaN":
		return math.NaN(), true
	}
	if len(s) <= 15 && isPlainInteger(s) {
		n, err := strconv.ParseInt(s, 10, 64)
		if err == nil && (n != 0 || s[0] != '-') {
			return float64(n), true
		}
	}
	if !isNumber(s) {
		return nil, false
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && f == 0 {
		return nil, false
	}
	text, ok := canonicalNumber(s)
	if !ok || text == formatNumber(f) {
		return f, true
	}
	return &Number{f, text}, true
}

func isPlainInteger(s string) bool {
	if s != "" && s[0] == '-' {
		s = s[1:]
	}
	if s == "" || len(s) > 1 && s[0] == '0' {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// isNumber takes what strtod(3) takes of decimal numbers.
func isNumber(s string) bool {
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	digits := 0
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		digits++
	}
	if i < len(s) && s[i] == '.' {
		for i++; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
			digits++
		}
	}
	if digits == 0 {
		return false
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '-' || s[i] == '+') {
			i++
		}
		start := i
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		if i == start {
			return false
		}
	}
	return i == len(s)
}

// canonicalNumber writes a decimal number with all its digits: "to-scientific-string" of
// the General Decimal Arithmetic. False: it is beyond its range.
func canonicalNumber(s string) (string, bool) {
	sign := ""
	if s[0] == '-' || s[0] == '+' {
		if s[0] == '-' {
			sign = "-"
		}
		s = s[1:]
	}
	exp := 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		n, err := strconv.Atoi(s[i+1:])
		if err != nil || abs(n) > 999_999_999 {
			return "", false
		}
		exp, s = n, s[:i]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	exp -= len(fraction)
	if digits == "" {
		digits = "0"
	}
	adjusted := exp + len(digits) - 1
	// Beyond the range of a float64 it becomes the largest number.
	if adjusted > 308 {
		return "", false
	}
	if exp <= 0 && adjusted >= -6 {
		if exp == 0 {
			return sign + digits, true
		}
		if point := len(digits) + exp; point > 0 {
			return sign + digits[:point] + "." + digits[point:], true
		} else {
			return sign + "0." + strings.Repeat("0", -point) + digits, true // bounded: by six zeros
		}
	}
	text := digits[:1]
	if len(digits) > 1 {
		text += "." + digits[1:]
	}
	if adjusted >= 0 {
		return sign + text + "E+" + strconv.Itoa(adjusted), true
	}
	return sign + text + "E" + strconv.Itoa(adjusted), true
}
