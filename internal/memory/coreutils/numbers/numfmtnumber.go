package numbers

import (
	"math"
	"math/big"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/sizes"
)

// rounding is a way to make a whole number of another.
type rounding uint8

const (
	roundFromZero rounding = iota
	roundUp
	roundDown
	roundToZero
	roundNearest
)

const (
	numfmtDigits = 18 // digits of a number that are exact
	numfmtMost   = 27 // digits that a number may have
	numfmtBuffer = 128
)

// realNumber returns a number of 64 bits, as GNU's calculates on the machines that most people have.
func realNumber() *big.Float { return new(big.Float).SetPrec(64) }

func realOf(n uint64) *big.Float { return realNumber().SetUint64(n) }

// realPower returns base to the power of n.
func realPower(base uint64, n int) *big.Float {
	r, b := realOf(1), realOf(base)
	for range n {
		r.Mul(r, b)
	}
	return r
}

// scaleDown divides v by base until it is below that, and returns how often.
func scaleDown(v *big.Float, base uint64) (power int) {
	b := realOf(base)
	for realNumber().Abs(v).Cmp(b) >= 0 {
		v.Quo(v, b)
		power++
	}
	return power
}

// roundReal makes v a whole number.
func roundReal(v *big.Float, how rounding) {
	if how == roundNearest {
		half := big.NewFloat(0.5)
		if v.Sign() < 0 {
			half.Neg(half)
		}
		v.Add(v, half)
	}
	whole, accuracy := v.Int(nil)
	up := how == roundUp || how == roundFromZero && v.Sign() > 0
	down := how == roundDown || how == roundFromZero && v.Sign() < 0
	switch {
	case accuracy == big.Below && up:
		whole.Add(whole, big.NewInt(1))
	case accuracy == big.Above && down:
		whole.Sub(whole, big.NewInt(1))
	}
	v.SetInt(whole)
}

// field converts a field, or writes it as it is.
func (f *numfmt) field(text string, field int) {
	if !f.isChosen(field) {
		_, _ = f.out.WriteString(text)
		return
	}
	if len(text) > len(f.suffix) {
		text = strings.TrimSuffix(text, f.suffix)
	}
	number := strings.TrimLeft(text, " \t")
	if f.autoPadding {
		f.padding = 0
		if len(number) < len(text) || field > 1 {
			f.padding = int64(len(text))
		}
	}
	v, precision, ok := f.parseNumber(number)
	if ok {
		if f.fromUnit != 1 || f.toUnit != 1 {
			v.Mul(v, realOf(f.fromUnit))
			v.Quo(v, realOf(f.toUnit))
		}
		var shown string
		if shown, ok = f.show(v, precision); ok {
			f.write(shown)
			return
		}
	}
	if !f.ended {
		_, _ = f.out.WriteString(text)
	}
}

// write writes a number in its columns.
func (f *numfmt) write(shown string) {
	_, _ = f.out.WriteString(f.prefix)
	blanks := int(f.padding) - len(shown)
	if f.left {
		_, _ = f.out.WriteString(shown)
	}
	const piece = "                                                                "
	for ; blanks > 0 && !f.out.HasFailed(); blanks -= len(piece) {
		if err := f.p.Spend(1); err != nil {
			f.ended, f.status = true, f.p.Status(err)
			return
		}
		_, _ = f.out.WriteString(piece[:min(blanks, len(piece))])
	}
	if !f.left {
		_, _ = f.out.WriteString(shown)
	}
	_, _ = f.out.WriteString(f.behind)
}

// parseNumber reads a number with its unit. precision counts the digits behind the point.
func (f *numfmt) parseNumber(text string) (v *big.Float, precision int, ok bool) {
	quoted := quoting.Name(text)
	v, rest, precision, lossy, fault := realDecimal(text)
	if fault != "" {
		f.complain("%s: %s", fault, quoted)
		return nil, 0, false
	}
	if rest != "" {
		rest = strings.TrimLeft(rest, " \t")
		power := 0
		if rest != "" {
			power = strings.IndexByte(sizes.Units, rest[0]) + 1
		}
		switch {
		case rest != "" && power == 0:
			f.complain("invalid suffix in input: %s", quoted)
			return nil, 0, false
		case f.from == scaleNone:
			f.complain("rejecting suffix in input: %s (consider using --from)", quoted)
			return nil, 0, false
		}
		base := scaleBase(f.from)
		if rest != "" {
			rest = rest[1:]
		}
		switch {
		case f.from == scaleAuto && strings.HasPrefix(rest, "i"):
			base, rest = 1024, rest[1:]
		case f.from == scaleIECI && strings.HasPrefix(rest, "i"):
			rest = rest[1:]
		case f.from == scaleIECI:
			f.complain("missing 'i' suffix in input: %s (e.g Ki/Mi/Gi)", quoted)
			return nil, 0, false
		}
		v.Mul(v, realPower(base, power))
		precision = 0
	}
	if rest != "" {
		f.complain("invalid suffix in input %s: %s", quoted, quoting.Name(rest))
		return nil, 0, false
	}
	if lossy && f.debug {
		f.p.Warn("large input value %s: possible precision loss", quoted)
	}
	return v, precision, true
}

func scaleBase(s numberScale) uint64 {
	if s == scaleIEC || s == scaleIECI {
		return 1024
	}
	return 1000
}

// realDecimal reads digits, with a point among them. lossy reports that there are more than fit.
func realDecimal(text string) (v *big.Float, rest string, precision int, lossy bool, fault string) {
	text, negative := strings.CutPrefix(text, "-")
	v, rest, lossy, fault = parseDigits(text)
	if fault != "" {
		return nil, "", 0, false, fault
	}
	if digits, ok := strings.CutPrefix(rest, "."); ok {
		part, after, partLossy, fault := parseDigits(digits)
		if fault != "" {
			if strings.HasPrefix(digits, "-") {
				fault = faultOfMinus(digits)
			}
			return nil, "", 0, false, fault
		}
		precision, rest, lossy = len(digits)-len(after), after, lossy || partLossy
		part.Quo(part, realPower(10, precision))
		v.Add(v, part)
	}
	if negative {
		v.Neg(v)
	}
	return v, rest, precision, lossy, ""
}

// faultOfMinus returns the error for a minus after the point.
func faultOfMinus(digits string) string {
	if _, _, _, fault := parseDigits(digits[1:]); fault != "" {
		return fault
	}
	return "invalid number"
}

// parseDigits reads digits. There have to be some, if no point follows.
func parseDigits(text string) (v *big.Float, rest string, lossy bool, fault string) {
	v, ten := realNumber(), realOf(10)
	i, count := 0, 0
	for ; i < len(text) && ascii.IsDigit(text[i]); i++ {
		if count > 0 || text[i] != '0' {
			count++
		}
		if count > numfmtMost {
			return nil, "", false, "value too large to be converted"
		}
		v.Mul(v, ten)
		v.Add(v, realOf(uint64(text[i]-'0')))
	}
	if rest = text[i:]; i == 0 && !strings.HasPrefix(rest, ".") {
		return nil, "", false, "invalid number"
	}
	return v, rest, count > numfmtDigits, ""
}

// show returns the text of a number.
func (f *numfmt) show(v *big.Float, precision int) (text string, ok bool) {
	if f.precision >= 0 {
		precision = int(min(f.precision, math.MaxInt32))
	}
	x := scaleDown(realNumber().Copy(v), 10)
	switch {
	case f.to == scaleNone && x+precision > numfmtDigits && precision > 0:
		shown := uint64(precision)
		if f.precision >= 0 {
			shown = uint64(f.precision)
		}
		f.complain("value/precision too large to be printed: '%s/%d' (consider using --to)", v.Text('g', 6), shown)
		return "", false
	case f.to == scaleNone && x > numfmtDigits:
		f.complain("value too large to be printed: '%s' (consider using --to)", v.Text('g', 6))
		return "", false
	case x > numfmtMost-1:
		f.complain("value too large to be printed: '%s' (cannot handle values > 999Y)", v.Text('g', 6))
		return "", false
	}
	suffix := ""
	if f.to == scaleNone {
		f.roundAt(v, precision)
	} else {
		precision, suffix = f.scale(v)
	}
	room := numfmtBuffer
	if f.to != scaleNone {
		room--
	}
	if precision < room && f.zeros < int64(room) {
		text = zeroFilled(v.Text('f', precision), int(f.zeros)) + strings.TrimSuffix(suffix, "i")
	}
	if text == "" || len(text) >= room {
		f.p.Warn("failed to prepare value '%s' for printing", v.Text('f', 6))
		f.ended, f.status = true, 1
		return "", false
	}
	if strings.HasSuffix(suffix, "i") {
		text += "i"
	}
	text += f.suffix
	return text[:min(len(text), numfmtBuffer-1)], true
}

// roundAt rounds v behind some digits after the point.
func (f *numfmt) roundAt(v *big.Float, digits int) {
	unit := realPower(10, digits)
	v.Mul(v, unit)
	roundReal(v, f.round)
	v.Quo(v, unit)
}

// scale divides v by its unit, which it returns, and rounds it.
func (f *numfmt) scale(v *big.Float) (precision int, unit string) {
	base, ten := scaleBase(f.to), realOf(10)
	power := scaleDown(v, base)
	digits := 0
	switch {
	case f.precision >= 0:
		digits = int(min(int64(power*3), f.precision))
	case realNumber().Abs(v).Cmp(ten) < 0:
		digits = 1
	}
	f.roundAt(v, digits)
	if realNumber().Abs(v).Cmp(realOf(base)) >= 0 {
		v.Quo(v, realOf(base))
		power++
	}
	if f.precision >= 0 {
		precision = int(min(f.precision, numfmtBuffer))
	} else if v.Sign() != 0 && realNumber().Abs(v).Cmp(ten) < 0 && power > 0 {
		precision = 1
	}
	switch {
	case power == 0:
		return precision, ""
	case power > len(sizes.Units):
		unit = "(error)"
	default:
		unit = sizes.Units[power-1 : power]
	}
	if f.to == scaleIECI {
		unit += "i"
	}
	return precision, unit
}

// zeroFilled puts zeros between the sign and the digits.
func zeroFilled(text string, width int) string {
	if len(text) >= width {
		return text
	}
	digits, negative := strings.CutPrefix(text, "-")
	if negative {
		return "-" + strings.Repeat("0", width-len(text)) + digits // bounded: by numfmtBuffer
	}
	return strings.Repeat("0", width-len(text)) + digits // bounded: by numfmtBuffer
}
