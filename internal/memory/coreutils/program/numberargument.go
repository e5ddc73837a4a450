package program

import (
	"errors"
	"math"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/sizes"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// CountArgument reads a number with a unit.
func CountArgument(o *Options, text, what string) (n int64, ok bool) {
	n, _, err := sizes.Parse(text, "b")
	switch {
	case errors.Is(err, sizes.ErrSizeTooLarge):
		o.RejectQuietly("invalid number of %s: %s: %s", what, quoting.Name(text), shell.Strerror(syscall.EOVERFLOW))
		return 0, false
	case err != nil:
		o.RejectQuietly("invalid number of %s: %s", what, quoting.Name(text))
		return 0, false
	}
	return n, true
}

// LimitedNumber reads a whole number with a unit, from least to most. Other text is reported as
// "what: 'text'", and ends the options.
func LimitedNumber(o *Options, text, what, allowed string, least, most int64) (n int64, ok bool) {
	digits, negative := strings.CutPrefix(strings.TrimLeft(text, " \t\n\v\f\r"), "-")
	if !negative {
		digits = strings.TrimPrefix(digits, "+")
	}
	plain := true
	var err error
	if digits == "" || digits[0] < '0' || digits[0] > '9' {
		err = sizes.ErrNotSize
	} else {
		n, plain, err = sizes.Parse(digits, allowed)
	}
	if negative {
		n = -n
	}
	large := errors.Is(err, sizes.ErrSizeTooLarge)
	switch {
	case err != nil && !large || plain || allowed == NoUnits && strings.Trim(digits, "0123456789") != "":
		o.RejectQuietly("%s: %s", what, quoting.Name(text))
		return 0, false
	case large || n > math.MaxInt32/2 && n > most || n < math.MinInt32/2 && n < least:
		if large && most == math.MaxInt64 && !negative {
			return most, true
		}
		o.RejectQuietly("%s: %s: %s", what, quoting.Name(text), shell.Strerror(syscall.EOVERFLOW))
		return 0, false
	case n < least || n > most:
		o.RejectQuietly("%s: %s: %s", what, quoting.Name(text), shell.Strerror(syscall.ERANGE))
		return 0, false
	}
	return n, true
}

// UnsignedNumber is LimitedNumber for commands that know no sign: a minus is not part of a number.
func UnsignedNumber(o *Options, text, what, allowed string, least, most int64) (n int64, ok bool) {
	if strings.HasPrefix(strings.TrimLeft(text, " \t\n\v\f\r"), "-") {
		o.RejectQuietly("%s: %s", what, quoting.Name(text))
		return 0, false
	}
	return LimitedNumber(o, text, what, allowed, least, most)
}

// NoUnits allows no units at all.
const NoUnits = "-"
