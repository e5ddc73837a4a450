package coreutils

import (
	"errors"
	"math"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// limitedNumber reads a whole number with a unit, from least to most. What it is not is told as
// "what: 'text'", and ends the options.
func limitedNumber(o *options, text, what, allowed string, least, most int64) (n int64, ok bool) {
	digits, negative := strings.CutPrefix(strings.TrimLeft(text, " \t\n\v\f\r"), "-")
	if !negative {
		digits = strings.TrimPrefix(digits, "+")
	}
	plain := true
	var err error
	if digits == "" || digits[0] < '0' || digits[0] > '9' {
		err = errNotSize
	} else {
		n, plain, err = parseUnits(digits, allowed)
	}
	if negative {
		n = -n
	}
	large := errors.Is(err, errSizeTooLarge)
	switch {
	case err != nil && !large || plain || allowed == noUnits && strings.Trim(digits, "0123456789") != "":
		o.RejectQuietly("%s: %s", what, quoteLocaleName(text))
		return 0, false
	case large || n > math.MaxInt32/2 && n > most || n < math.MinInt32/2 && n < least:
		if large && most == math.MaxInt64 && !negative {
			return most, true
		}
		o.RejectQuietly("%s: %s: %s", what, quoteLocaleName(text), shell.Strerror(syscall.EOVERFLOW))
		return 0, false
	case n < least || n > most:
		o.RejectQuietly("%s: %s: %s", what, quoteLocaleName(text), shell.Strerror(syscall.ERANGE))
		return 0, false
	}
	return n, true
}

// unsignedNumber is limitedNumber for commands that know no sign: a minus is no part of a number.
func unsignedNumber(o *options, text, what, allowed string, least, most int64) (n int64, ok bool) {
	if strings.HasPrefix(strings.TrimLeft(text, " \t\n\v\f\r"), "-") {
		o.RejectQuietly("%s: %s", what, quoteLocaleName(text))
		return 0, false
	}
	return limitedNumber(o, text, what, allowed, least, most)
}

// noUnits allows no units at all.
const noUnits = "-"
