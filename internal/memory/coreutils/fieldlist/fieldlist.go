// Package fieldlist reads lists of ranges as cut takes them: N, N-, N-M and -M.
package fieldlist

import (
	"math"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
)

// Span is a range of places, counted from 1, both ends in it.
type Span struct{ Lo, Hi int }

// Memory returns about how many bytes Parse takes for a list; its callers charge for them.
func Memory(list string) int { return spanMemory * (len(list)/2 + 1) }

// spanMemory is the size of a span in a list that grows.
const spanMemory = 48

// Parse reads a list; fault is its error.
func Parse(list string, fields bool) (spans []Span, fault string) {
	what, place := "byte/character", "byte/character positions"
	if fields {
		what, place = "field", "fields"
	}
	for part := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		low, high, ranged := strings.Cut(part, "-")
		if strings.Trim(low+high, "0123456789") != "" {
			return nil, badSpan(part, low, high, fields)
		}
		s := Span{1, math.MaxInt}
		var ok bool
		if low != "" {
			if s.Lo, ok = spanEnd(low); !ok {
				return nil, tooLarge(low, fields)
			}
		}
		if high != "" {
			if s.Hi, ok = spanEnd(high); !ok {
				return nil, tooLarge(high, fields)
			}
		}
		switch {
		case low == "" && high == "" && ranged:
			return nil, "invalid range with no endpoint: -"
		case s.Lo == 0 || high != "" && s.Hi == 0 && low == "":
			return nil, place + " are numbered from 1"
		case !ranged:
			s.Hi = s.Lo
		case s.Hi < s.Lo:
			return nil, "invalid decreasing range"
		}
		spans = append(spans, s) // bounded: Memory
	}
	if spans == nil || strings.HasPrefix(list, ",") || strings.HasSuffix(list, ",") || strings.Contains(list, ",,") {
		return nil, place + " are numbered from 1"
	}
	_ = what
	return spans, ""
}

func badSpan(part, low, high string, fields bool) string {
	for _, s := range []string{low, high} {
		if i := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
			part = s[i:]
			break
		}
	}
	if strings.Count(part, "-") > 0 && high != "" {
		return "invalid " + map[bool]string{true: "field", false: "byte or character"}[fields] + " range"
	}
	if fields {
		return "invalid field value " + quoting.Name(part)
	}
	return "invalid byte/character position " + quoting.Name(part)
}

func tooLarge(n string, fields bool) string {
	if fields {
		return "field number " + quoting.Name(n) + " is too large"
	}
	return "byte/character offset " + quoting.Name(n) + " is too large"
}

func spanEnd(s string) (n int, ok bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n < math.MaxInt
}
