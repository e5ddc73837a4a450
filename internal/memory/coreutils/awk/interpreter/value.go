package interpreter

import (
	"math"
	"strconv"
	"strings"
)

// kind is the kind of a value.
type kind uint8

const (
	unset kind = iota // neither: "" and 0
	text
	number
	input // a text from outside, which is a number too if it looks like one
)

// value is the value of a scalar.
type value struct {
	s string
	n float64
	k kind
}

func numberValue(f float64) value { return value{n: f, k: number} }

func textValue(s string) value { return value{s: s, k: text} }

func inputValue(s string) value { return value{s: s, k: input} }

// number returns the value as a number.
func (v *value) number() float64 {
	switch v.k {
	case number:
		return v.n
	case unset:
		return 0
	default:
		return toNumber(v.s)
	}
}

// truth reports whether the value counts as true.
func (v *value) truth() bool {
	switch v.k {
	case number:
		return v.n != 0
	case input:
		if f, ok := parseNumeric(v.s); ok {
			return f != 0
		}
	case unset:
		return false
	case text:
	}
	return v.s != ""
}

// numeric returns the value as a number if it compares as one.
func (v *value) numeric() (f float64, ok bool) {
	switch v.k {
	case number:
		return v.n, true
	case unset:
		return 0, true
	case input:
		return parseNumeric(v.s)
	default:
		return 0, false
	}
}

// text returns the value as a text; numbers are written with format, which is CONVFMT or OFMT.
func (m *machine) text(v *value, format string) string {
	if v.k == number {
		return m.numberText(v.n, format)
	}
	return v.s
}

// numberText writes a number as print does.
func (m *machine) numberText(f float64, format string) string {
	if i := int64(f); float64(i) == f && i > -1e15 && i < 1e15 {
		return strconv.FormatInt(i, 10)
	}
	return string(m.appendNumber(nil, f, format))
}

func (m *machine) appendNumber(b []byte, f float64, format string) []byte {
	if i := int64(f); float64(i) == f && i > -1e15 && i < 1e15 {
		return strconv.AppendInt(b, i, 10)
	}
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return append(b, specialNumber(f)...)
	case f == math.Trunc(f):
		return strconv.AppendFloat(b, f, 'f', 0, 64)
	case format == "%.6g":
		return appendShort(b, f)
	}
	return append(b, m.sprintf(format, []value{numberValue(f)}, -1)...)
}

// appendShort is %.6g of a number that is not whole.
func appendShort(b []byte, f float64) []byte {
	if a := math.Abs(f); a < 1e-4 || a >= 999999.5 {
		at := len(b)
		b = strconv.AppendFloat(b, f, 'e', 5, 64)
		e := strings.IndexByte(string(b[at:]), 'e') + at
		end := e
		for b[end-1] == '0' {
			end--
		}
		if b[end-1] == '.' {
			end--
		}
		return append(b[:end], b[e:]...)
	}
	digits := 6
	for a := math.Abs(f); a >= 1; a /= 10 {
		digits--
	}
	for a := math.Abs(f); a < 0.1; a *= 10 {
		digits++
	}
	at := len(b)
	b = strconv.AppendFloat(b, f, 'f', max(digits, 0), 64)
	if strings.IndexByte(string(b[at:]), '.') < 0 {
		return b
	}
	for b[len(b)-1] == '0' {
		b = b[:len(b)-1]
	}
	if b[len(b)-1] == '.' {
		b = b[:len(b)-1]
	}
	return b
}

// specialNumber matches the spellings of NaN and infinity.
func specialNumber(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "+inf"
	case math.IsInf(f, -1):
		return "-inf"
	case math.Signbit(f):
		return "-nan"
	}
	return "+nan"
}

// compare orders two values: as numbers if both are numbers, otherwise as texts.
func (m *machine) compare(x, y *value) int {
	if a, ok := x.numeric(); ok {
		if b, ok := y.numeric(); ok {
			return compareNumbers(a, b)
		}
	}
	return m.order(m.text(x, m.convfmt), m.text(y, m.convfmt))
}

// order orders two texts.
func (m *machine) order(a, b string) int {
	if m.ignoreCase {
		return strings.Compare(m.changeCase(a, false), m.changeCase(b, false))
	}
	return strings.Compare(a, b)
}

// compareNumbers orders numbers; NaN is above all others.
func compareNumbers(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	case math.IsNaN(a) && math.IsNaN(b):
		return 0
	case math.IsNaN(a):
		return 1
	}
	return -1
}
