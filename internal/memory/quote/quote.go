// Package quote writes texts so that a shell reads them back unchanged.
package quote

import (
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/char"
)

// Shell quotes as ${x@Q} does: always.
func Shell(l char.Locale, s string) string {
	if NeedsANSI(l, s) {
		return ANSI(l, s)
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// NeedsANSI reports whether s has characters that only $'...' can show.
func NeedsANSI(l char.Locale, s string) bool {
	for i := 0; i < len(s); {
		if c := s[i]; c >= ' ' && c < 0x7f {
			i++
			continue
		}
		n, ok := l.Show(s[i:])
		if !ok {
			return true
		}
		i += n
	}
	return false
}

// ANSI writes s as $'...'.
func ANSI(l char.Locale, s string) string {
	var b strings.Builder
	b.WriteString("$'")
	for i := 0; i < len(s); {
		c := s[i]
		n, ok := l.Show(s[i:])
		switch k := strings.IndexByte("\a\b\t\n\v\f\r\x1b'\\", c); {
		case k >= 0:
			b.WriteByte('\\')
			b.WriteByte("abtnvfrE'\\"[k])
		case ok:
			b.WriteString(s[i : i+n])
		default:
			for j := range n {
				b.WriteString(`\` + octal(s[i+j]))
			}
		}
		i += n
	}
	b.WriteByte('\'')
	return b.String()
}

func octal(c byte) string {
	s := strconv.FormatUint(uint64(c), 8)
	return "000"[:3-len(s)] + s
}

// Value quotes as declare -p does for elements: always in double quotes.
func Value(l char.Locale, s string) string {
	if NeedsANSI(l, s) {
		return ANSI(l, s)
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		if strings.IndexByte("\"$`\\", s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	b.WriteByte('"')
	return b.String()
}

// Key writes a key as declare -p does: plain when that is safe.
func Key(l char.Locale, s string) string {
	if s == "@" || s == "*" || strings.ContainsAny(s, " \t\n'\"\\|&;()<>!{}*[?]^$`") || s == "" || s[0] == '#' || s[0] == '~' || NeedsANSI(l, s) {
		return Value(l, s)
	}
	return s
}

// Backslashes quotes as %q does: backslashes, or $'...' when there is something unprintable.
func Backslashes(l char.Locale, s string) string {
	if s == "" {
		return "''"
	}
	if NeedsANSI(l, s) {
		return ANSI(l, s)
	}
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if strings.IndexByte(" \t\n'\"\\|&;()<>!{}*[?]^$`,", c) >= 0 || i == 0 && (c == '#' || c == '~') || i > 0 && c == '~' && (s[i-1] == ':' || s[i-1] == '=') {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// Trace quotes as set -x does: only when it must.
func Trace(l char.Locale, s string) string {
	switch {
	case s == "":
		return "''"
	case strings.ContainsAny(s, " \t\n'\"\\|&;()<>!{}*[?]^$`") || s[0] == '#' || s[0] == '~':
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	case NeedsANSI(l, s):
		return ANSI(l, s)
	}
	return s
}

// Assigned quotes as set does: only when a shell would read the value differently.
func Assigned(l char.Locale, s string) string {
	switch {
	case s == "":
		return ""
	case NeedsANSI(l, s):
		return ANSI(l, s)
	case strings.ContainsAny(s, " \t\n'\"\\|&;()<>!{}*[?]^$`") || s[0] == '#' || s[0] == '~':
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}
