package sizes

import (
	"errors"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
)

// IsRangeError reports whether the text was a number that is too large, and not invalid.
func IsRangeError(err error) bool { return errors.Is(err, strconv.ErrRange) }

// ParseBytes reads a count with a suffix; the text is the error: "invalid", "suffix" or "large".
func ParseBytes(s string) (int64, string) {
	base, digits := 10, s
	switch {
	case strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X"):
		base, digits = 16, s[2:]
	case strings.HasPrefix(s, "0"):
		base = 8
	}
	end := 0
	for end < len(digits) && ascii.DigitValue(digits[end]) < base {
		end++
	}
	if end == 0 {
		return 0, "invalid"
	}
	n, err := strconv.ParseInt(digits[:end], base, 64)
	if err != nil {
		return 0, "large"
	}
	suffix := digits[end:]
	mult, ok := byteSuffix(suffix)
	if !ok {
		return 0, "suffix"
	}
	if mult != 0 && n > (1<<63-1)/mult {
		return 0, "large"
	}
	return n * mult, ""
}

func byteSuffix(s string) (int64, bool) {
	switch s {
	case "":
		return 1, true
	case "b":
		return 512, true
	}
	i := strings.IndexByte("KMGTPE", s[0]&^0x20)
	if i < 0 || s[0] != 'k' && s[0] != 'm' && (s[0]|0x20) == s[0] {
		return 0, false
	}
	base := int64(1024)
	switch s[1:] {
	case "", "iB":
	case "B", "D":
		base = 1000
	default:
		return 0, false
	}
	n := int64(1)
	for range i + 1 {
		n *= base
	}
	return n, true
}
