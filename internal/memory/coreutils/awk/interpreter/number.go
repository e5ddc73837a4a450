package interpreter

import (
	"math"
	"strconv"
)

func isBlank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// toNumber returns the number at the beginning of a text, or 0 when there is none.
func toNumber(s string) float64 {
	i := 0
	for i < len(s) && isBlank(s[i]) {
		i++
	}
	f, _ := scanNumber(s[i:])
	return f
}

// parseNumeric returns the number that a whole text spells; blanks around it do not count.
func parseNumeric(s string) (f float64, ok bool) {
	i := 0
	for i < len(s) && isBlank(s[i]) {
		i++
	}
	if i == len(s) || s[i] > '9' {
		return 0, false
	}
	f, n := scanNumber(s[i:])
	if n == 0 {
		return 0, false
	}
	for i += n; i < len(s) && isBlank(s[i]); i++ {
	}
	return f, i == len(s)
}

// scanNumber reads a decimal number at the beginning of s and returns how long it is; 0 for none.
func scanNumber(s string) (f float64, n int) {
	i := 0
	neg := false
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		neg = s[i] == '-'
		i++
	}
	var mant uint64
	digits, exp := 0, 0
	begin := i
	for i < len(s) && s[i]-'0' < 10 {
		mant = mant*10 + uint64(s[i]-'0')
		i++
	}
	digits = i - begin
	if i < len(s) && s[i] == '.' {
		i++
		dot := i
		for i < len(s) && s[i]-'0' < 10 {
			mant = mant*10 + uint64(s[i]-'0')
			i++
		}
		exp = i - dot
		digits += exp
	}
	if digits == 0 {
		if begin > 0 {
			return signedSpecial(s, begin, neg)
		}
		return 0, 0
	}
	simple := digits <= 15
	if i < len(s) && s[i]|0x20 == 'e' {
		e := i + 1
		if e < len(s) && (s[e] == '-' || s[e] == '+') {
			e++
		}
		if e < len(s) && isDigit(s[e]) {
			for e < len(s) && isDigit(s[e]) {
				e++
			}
			i, simple = e, false
		}
	}
	if !simple {
		f, _ = strconv.ParseFloat(s[:i], 64)
		return f, i
	}
	f = float64(mant)
	if exp > 0 {
		f /= powersOfTen[exp]
	}
	if neg {
		f = -f
	}
	return f, i
}

// powersOfTen are exact.
var powersOfTen = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// signedSpecial reads +inf, -nan and the like, which need their sign.
func signedSpecial(s string, at int, neg bool) (f float64, n int) {
	if len(s) < at+3 || len(s) > at+3 && !isBlank(s[at+3]) {
		return 0, 0
	}
	var word [3]byte
	for i := range word {
		word[i] = s[at+i] | 0x20
	}
	switch string(word[:]) {
	case "inf":
		f = math.Inf(1)
	case "nan":
		f = math.NaN()
	default:
		return 0, 0
	}
	if neg {
		f = math.Copysign(f, -1)
	}
	return f, at + 3
}
