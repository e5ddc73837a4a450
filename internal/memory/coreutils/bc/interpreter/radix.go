package interpreter

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// digit returns the value of a digit.
func digit(c byte) int {
	if c >= 'A' {
		return int(c-'A') + 10
	}
	return int(c - '0')
}

// parseNumber reads the text of a number in a base. Digits that are too large for the base count
// as its largest one; a single digit keeps its own value.
func parseNumber(text string, base int) Number {
	if len(text) == 1 && text != "." {
		return whole(int64(digit(text[0])))
	}
	intPart, frac, _ := strings.Cut(text, ".")
	clamp := func(c byte) byte {
		if d := digit(c); d >= base {
			return strconv.FormatInt(int64(base-1), 36)[0]
		}
		return c
	}
	convert := func(s string) *big.Int {
		b := make([]byte, len(s))
		for i := range len(s) {
			b[i] = clamp(s[i])
		}
		v := new(big.Int)
		if len(b) > 0 {
			v.SetString(strings.ToLower(string(b)), base)
		}
		return v
	}
	if base == 10 {
		return Number{convert(intPart + frac), len(frac)}
	}
	n := Number{convert(intPart), 0}
	if frac == "" {
		return n
	}
	scale := len(frac)
	den := new(big.Int).Exp(big.NewInt(int64(base)), big.NewInt(int64(scale)), nil)
	return n.add(Number{convert(frac), 0}.div(Number{den, 0}, scale))
}

// appendNumber writes a number in a base.
func appendNumber(b []byte, a Number, base int) []byte {
	if a.isZero() {
		return append(b, '0')
	}
	if a.v.Sign() < 0 {
		b = append(b, '-')
		a = a.neg()
	}
	if base == 10 {
		return appendDecimal(b, a)
	}
	return appendBase(b, a, base)
}

func appendDecimal(b []byte, a Number) []byte {
	s := a.v.String()
	if len(s) <= a.scale {
		b = append(b, '.')
		for range a.scale - len(s) {
			b = append(b, '0') // bounded: by the digits of a number, which are charged
		}
		return append(b, s...)
	}
	b = append(b, s[:len(s)-a.scale]...)
	if a.scale > 0 {
		b = append(append(b, '.'), s[len(s)-a.scale:]...)
	}
	return b
}

func appendBase(b []byte, a Number, base int) []byte {
	one := func(b []byte, d int) []byte {
		if base <= 16 {
			return append(b, "0123456789ABCDEF"[d])
		}
		s := strconv.Itoa(d)
		b = append(b, ' ')
		for range len(strconv.Itoa(base-1)) - len(s) {
			b = append(b, '0')
		}
		return append(b, s...)
	}
	i := a.integer()
	if i.Sign() > 0 {
		if base <= 16 {
			b = append(b, strings.ToUpper(i.Text(base))...)
		} else {
			var digits []int
			radix, d := big.NewInt(int64(base)), new(big.Int)
			for n := new(big.Int).Set(i); n.Sign() > 0; {
				n.QuoRem(n, radix, d)
				digits = append(digits, int(d.Int64())) // bounded: by the digits of a number, which are charged
			}
			for _, d := range slices.Backward(digits) {
				b = one(b, d)
			}
		}
	}
	if a.scale == 0 {
		return b
	}
	b = append(b, '.')
	// As many digits as the scale needs in this base.
	limit := powerOfTen(a.scale)
	frac := new(big.Int).Sub(a.v, new(big.Int).Mul(i, limit))
	radix, d := big.NewInt(int64(base)), new(big.Int)
	first := len(b)
	for t := big.NewInt(1); t.Cmp(limit) < 0; t.Mul(t, radix) {
		frac.Mul(frac, radix)
		d.QuoRem(frac, limit, frac)
		b = one(b, int(d.Int64()))
	}
	if base > 16 && len(b) > first {
		b = slices.Delete(b, first, first+1) // There is no blank right behind the point.
	}
	return b
}
