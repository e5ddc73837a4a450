package coreutils

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// units are the letters of powers, from the first.
const units = "KMGTPEZY"

var (
	errNotSize      = errors.New("not a number")
	errSizeSuffix   = errors.New("invalid suffix")
	errSizeTooLarge = errors.New("value too large")
)

// parseUnits reads a whole number with an optional unit: K and KiB are 1024, KB 1000, and so on;
// b is 512 and B nothing where allowed names them. plain tells that there was no number.
func parseUnits(s, allowed string) (n int64, plain bool, err error) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	if plain = i == 0; plain {
		n = 1
		if s == "" {
			return 0, true, errNotSize
		}
	} else if n, err = strconv.ParseInt(s[:i], 10, 64); err != nil {
		err = errSizeTooLarge
	}
	multiplier, ok := unitOf(s[i:], allowed)
	switch {
	case !ok && plain:
		return 0, true, errNotSize
	case !ok:
		return n, plain, errSizeSuffix
	case err != nil:
		return math.MaxInt64, plain, err
	}
	if multiplier.Mul(multiplier, big.NewInt(n)); !multiplier.IsInt64() {
		return math.MaxInt64, plain, errSizeTooLarge
	}
	return multiplier.Int64(), plain, nil
}

// unitOf returns what a unit multiplies by.
func unitOf(unit, allowed string) (*big.Int, bool) {
	switch {
	case unit == "":
		return big.NewInt(1), true
	case unit == "b" && strings.Contains(allowed, "b"):
		return big.NewInt(512), true
	case (unit == "B" || unit == "c") && strings.Contains(allowed, unit):
		return big.NewInt(1), true
	}
	letter := unit[0]
	if letter == 'k' || letter == 'm' || letter == 'g' || letter == 't' {
		letter -= 'a' - 'A'
	}
	power := strings.IndexByte(units, letter) + 1
	if power == 0 {
		return nil, false
	}
	switch unit[1:] {
	case "", "iB":
		return power2(1024, power), true
	case "B":
		return power2(1000, power), true
	}
	return nil, false
}

func power2(base int64, n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(base), big.NewInt(int64(n)), nil)
}

// sizeFormat says how numbers of bytes are shown.
type sizeFormat struct {
	unit   int64 // of what is shown; 0: the largest that gives less than three digits before the point
	base   int64 // 1024 or 1000
	suffix bool  // the unit is written behind the number
	bytes  bool  // a B behind that
}

// parseBlockSize reads the argument of --block-size.
func parseBlockSize(s string) (f sizeFormat, err error) {
	s = strings.TrimPrefix(s, "'") // Groups of thousands: there are none in the C locale.
	switch s {
	case "human-readable":
		return sizeFormat{base: 1024, suffix: true}, nil
	case "si":
		return sizeFormat{base: 1000, suffix: true}, nil
	}
	n, plain, err := parseUnits(s, "")
	if err != nil {
		return f, err
	}
	if n == 0 {
		return f, errNotSize
	}
	f = sizeFormat{unit: n, base: 1024, suffix: plain}
	if plain && strings.HasSuffix(s, "B") {
		f.bytes = true
		if !strings.HasSuffix(s, "iB") {
			f.base = 1000
		}
	}
	return f, nil
}

// show writes n bytes, rounded up.
func (f sizeFormat) show(n int64) string {
	if f.unit == 0 {
		return f.scaled(n)
	}
	s := strconv.FormatInt(ceilDiv(n, f.unit), 10)
	if !f.suffix {
		return s
	}
	power := 0
	for u := f.unit; u >= f.base; u /= f.base {
		power++
	}
	return s + f.letter(power)
}

func (f sizeFormat) letter(power int) string {
	s := ""
	if power > 0 {
		s = units[power-1 : power]
	}
	if power == 1 && f.base == 1000 {
		s = "k"
	}
	if f.bytes && power > 0 {
		if f.base == 1024 {
			s += "i"
		}
		s += "B"
	}
	return s
}

// scaled writes n as 1.5K: one digit behind the point below 10, rounded up.
func (f sizeFormat) scaled(n int64) string {
	if n < f.base {
		return strconv.FormatInt(n, 10)
	}
	power, unit := 1, f.base
	for n/unit >= f.base && power < len(units) {
		unit *= f.base
		power++
	}
	// Tenths, in whole numbers so that nothing is lost: n is below base times unit.
	if n/unit < 10 {
		tenths := n/unit*10 + ceilDiv(n%unit*10, unit)
		if tenths < 100 {
			return strconv.FormatInt(tenths/10, 10) + "." + strconv.FormatInt(tenths%10, 10) + f.letter(power)
		}
	}
	whole := ceilDiv(n, unit)
	if whole == f.base && power < len(units) {
		return "1.0" + f.letter(power+1)
	}
	return strconv.FormatInt(whole, 10) + f.letter(power)
}

func ceilDiv(a, b int64) int64 {
	if a <= 0 {
		return a / b
	}
	return (a-1)/b + 1
}
