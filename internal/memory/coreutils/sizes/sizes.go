// Package sizes reads and writes sizes with units, such as 10K and 1.5MB.
package sizes

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Units are the letters of powers, from the first.
const Units = "KMGTPEZY"

// What Parse and ParseBlock return for text that is not a size.
var (
	ErrNotSize      = errors.New("not a number")
	ErrSizeSuffix   = errors.New("invalid suffix")
	ErrSizeTooLarge = errors.New("value too large")
)

// Parse reads a whole number with an optional unit: K and KiB are 1024, KB 1000, and so on;
// b is 512 and B nothing where allowed names them. plain reports that there was no number.
func Parse(s, allowed string) (n int64, plain bool, err error) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	if plain = i == 0; plain {
		n = 1
		if s == "" {
			return 0, true, ErrNotSize
		}
	} else if n, err = strconv.ParseInt(s[:i], 10, 64); err != nil {
		err = ErrSizeTooLarge
	}
	multiplier, ok := unitOf(s[i:], allowed)
	switch {
	case !ok && plain:
		return 0, true, ErrNotSize
	case !ok:
		return n, plain, ErrSizeSuffix
	case err != nil:
		return math.MaxInt64, plain, err
	}
	if multiplier.Mul(multiplier, big.NewInt(n)); !multiplier.IsInt64() {
		return math.MaxInt64, plain, ErrSizeTooLarge
	}
	return multiplier.Int64(), plain, nil
}

// unitOf returns the factor of a unit.
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
	power := strings.IndexByte(Units, letter) + 1
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

// Format says how numbers of bytes are shown.
type Format struct {
	Unit   int64 // of what is shown; 0: the largest that gives less than three digits before the point
	Base   int64 // 1024 or 1000
	Suffix bool  // the unit is written behind the number
	Bytes  bool  // a B behind that
}

// ParseBlock reads the argument of --block-size.
func ParseBlock(s string) (f Format, err error) {
	s = strings.TrimPrefix(s, "'") // Groups of thousands: there are none in the C locale.
	switch s {
	case "human-readable":
		return Format{Base: 1024, Suffix: true}, nil
	case "si":
		return Format{Base: 1000, Suffix: true}, nil
	}
	n, plain, err := Parse(s, "")
	if err != nil {
		return f, err
	}
	if n == 0 {
		return f, ErrNotSize
	}
	f = Format{Unit: n, Base: 1024, Suffix: plain}
	if plain && strings.HasSuffix(s, "B") {
		f.Bytes = true
		if !strings.HasSuffix(s, "iB") {
			f.Base = 1000
		}
	}
	return f, nil
}

// Show writes n bytes, rounded up.
func (f Format) Show(n int64) string {
	if f.Unit == 0 {
		return f.scaled(n)
	}
	s := strconv.FormatInt(CeilDiv(n, f.Unit), 10)
	if !f.Suffix {
		return s
	}
	power := 0
	for u := f.Unit; u >= f.Base; u /= f.Base {
		power++
	}
	return s + f.Letter(power)
}

// Letter returns the unit of the given power of the base, as the format writes it.
func (f Format) Letter(power int) string {
	s := ""
	if power > 0 {
		s = Units[power-1 : power]
	}
	if power == 1 && f.Base == 1000 {
		s = "k"
	}
	if f.Bytes && power > 0 {
		if f.Base == 1024 {
			s += "i"
		}
		s += "B"
	}
	return s
}

// scaled writes n as 1.5K: one digit behind the point below 10, rounded up.
func (f Format) scaled(n int64) string {
	if n < f.Base {
		return strconv.FormatInt(n, 10)
	}
	power, unit := 1, f.Base
	for n/unit >= f.Base && power < len(Units) {
		unit *= f.Base
		power++
	}
	// Tenths, in whole numbers so that nothing is lost: n is below base times unit.
	if n/unit < 10 {
		tenths := n/unit*10 + CeilDiv(n%unit*10, unit)
		if tenths < 100 {
			return strconv.FormatInt(tenths/10, 10) + "." + strconv.FormatInt(tenths%10, 10) + f.Letter(power)
		}
	}
	whole := CeilDiv(n, unit)
	if whole == f.Base && power < len(Units) {
		return "1.0" + f.Letter(power+1)
	}
	return strconv.FormatInt(whole, 10) + f.Letter(power)
}

// CeilDiv returns a/b, rounded up.
func CeilDiv(a, b int64) int64 {
	if a <= 0 {
		return a / b
	}
	return (a-1)/b + 1
}
