// Package cformat formats numbers as C's printf(3) does.
package cformat

import (
	"math"
	"strconv"
	"strings"
)

// Float formats x as printf(3) does for %e, %f, %g, %a and their capitals: prec below
// zero is the default of 6. Width and sign flags are the caller's.
func Float(x float64, verb byte, prec int, alternate bool) string {
	upper := verb >= 'A' && verb <= 'Z'
	s := cFloatLower(x, verb|0x20, prec, alternate)
	if upper {
		s = strings.ToUpper(s)
	}
	return s
}

func cFloatLower(x float64, verb byte, prec int, alternate bool) string {
	switch {
	case math.IsNaN(x):
		if math.Signbit(x) {
			return "-nan"
		}
		return "nan"
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	}
	if verb == 'a' {
		return cHexFloat(x, prec)
	}
	if prec < 0 {
		prec = 6
	}
	switch verb {
	case 'e', 'f':
		s := strconv.FormatFloat(x, verb, prec, 64)
		if prec == 0 && alternate {
			mantissa, exp, _ := strings.Cut(s, "e")
			s = mantissa + "."
			if verb == 'e' {
				s += "e" + exp
			}
		}
		return s
	}
	return ShortFloat(x, max(prec, 1), alternate)
}

// ShortFloat is %g: without the zeros at the end unless alternate.
func ShortFloat(x float64, prec int, alternate bool) string {
	e := strconv.FormatFloat(x, 'e', prec-1, 64)
	mantissa, exponent, _ := strings.Cut(e, "e")
	exp, _ := strconv.Atoi(exponent)
	if exp < -4 || exp >= prec {
		if !alternate {
			mantissa = TrimZeros(mantissa)
		}
		return mantissa + "e" + exponent
	}
	s := strconv.FormatFloat(x, 'f', prec-1-exp, 64)
	if alternate {
		if !strings.Contains(s, ".") {
			s += "."
		}
		return s
	}
	return TrimZeros(s)
}

// TrimZeros takes away the zeros at the end of a fraction, and a point that is left without digits.
func TrimZeros(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// cHexFloat is %a, whose exponent has as few digits as it needs.
func cHexFloat(x float64, prec int) string {
	s := strconv.FormatFloat(x, 'x', prec, 64)
	mantissa, exponent, _ := strings.Cut(s, "p")
	sign, digits := exponent[:1], strings.TrimLeft(exponent[1:], "0")
	if digits == "" {
		digits = "0"
	}
	return mantissa + "p" + sign + digits
}

// ShortestFloat is the shortest %g that reads back as the same number, beginning at
// the digits that its type always keeps.
func ShortestFloat(x float64, bits int) string {
	from, normal := 15, 0x1p-1022
	if bits == 32 {
		from, normal = 6, 0x1p-126
	}
	if math.Abs(x) < normal {
		from = 1
	}
	for prec := from; prec < 18; prec++ {
		s := Float(x, 'g', prec, false)
		back, err := strconv.ParseFloat(s, bits)
		if err != nil || back == x {
			return s
		}
	}
	return Float(x, 'g', 17, false)
}
