package numbers

import (
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/sizes"
)

// parseFormat reads what --format has; fault is its error.
func (f *numfmt) parseFormat(format string) (fault string) {
	quoted := quoting.Name(format)
	i, prefix := 0, 0
	for ; ; prefix++ {
		if i >= len(format) {
			return "format " + quoted + " has no % directive"
		}
		if format[i] != '%' {
			i++
			continue
		}
		if !strings.HasPrefix(format[i+1:], "%") {
			break
		}
		i += 2
	}
	// As GNU's, %% counts once here but stays as it is.
	f.prefix = format[:prefix]
	rest, zero := f.flags(format[i+1:])
	width, after, ok := leadingInt(rest)
	if !ok || width == math.MinInt64 {
		return "invalid format " + quoted + " (width overflow)"
	}
	if width != 0 {
		if f.debug && f.padding != 0 && (!zero || width < 0) {
			f.p.Warn("--format padding overriding --padding")
		}
		if zero && width > 0 {
			f.zeros = width
		} else {
			f.pad(width)
		}
	}
	if after == "" {
		return "format " + quoted + " ends in %"
	}
	if digits, ok := strings.CutPrefix(after, "."); ok {
		f.precision, after, ok = leadingInt(digits)
		if !ok || f.precision < 0 || digits != "" && strings.IndexByte(" \t+", digits[0]) >= 0 {
			return "invalid precision in format " + quoted
		}
	}
	if !strings.HasPrefix(after, "f") {
		return "invalid format " + quoted + ", directive must be %[0]['][-][N][.][N]f"
	}
	f.behind = after[1:]
	if strings.Contains(strings.ReplaceAll(f.behind, "%%", ""), "%") {
		return "format " + quoted + " has too many % directives"
	}
	return ""
}

// flags reads the text in front of the width.
func (f *numfmt) flags(s string) (rest string, zero bool) {
	for s != "" {
		switch s[0] {
		case ' ':
		case '\'':
			f.grouping = true
		case '0':
			zero = true
		default:
			return s, zero
		}
		s = s[1:]
	}
	return s, zero
}

// leadingInt reads the number that s begins with, 0 for none; ok is false when it is too large.
func leadingInt(s string) (n int64, rest string, ok bool) {
	digits := strings.TrimLeft(s, " \t\n\v\f\r")
	end := 0
	if digits != "" && (digits[0] == '-' || digits[0] == '+') {
		end = 1
	}
	first := end
	for end < len(digits) && ascii.IsDigit(digits[end]) {
		end++
	}
	if end == first {
		return 0, s, true
	}
	n, err := strconv.ParseInt(digits[:end], 10, 64)
	return n, digits[end:], err == nil
}

// numfmtUnit reads the argument of --from-unit or --to-unit: K is 1000 and Ki is 1024.
func numfmtUnit(o *program.Options) uint64 {
	n, ok := unitNumber(o.Value)
	if !ok {
		o.RejectQuietly("invalid unit size: %s", quoting.Name(o.Value))
		return 1
	}
	return n
}

func unitNumber(s string) (n uint64, ok bool) {
	number := strings.TrimRight(s, sizes.Units+"i")
	unit := s[len(number):]
	n = 1
	if number != "" {
		var err error
		if n, err = strconv.ParseUint(strings.TrimPrefix(strings.TrimLeft(number, " \t\n\v\f\r"), "+"), 10, 64); err != nil {
			return 0, false
		}
	}
	if unit == "" {
		return n, number != "" && n != 0
	}
	base := uint64(1000)
	if len(unit) == 2 && unit[1] == 'i' {
		base, unit = 1024, unit[:1]
	}
	power := strings.IndexByte(sizes.Units, unit[0]) + 1
	if len(unit) > 1 || power == 0 {
		return 0, false
	}
	for range power {
		high, low := bits.Mul64(n, base)
		if high != 0 {
			return 0, false
		}
		n = low
	}
	return n, n != 0
}
