package shell

import (
	"strconv"
	"strings"
)

// quoteShell quotes as ${x@Q} does.
func (sh *interp) quoteShell(s string) string {
	if sh.needsANSI(s) {
		return sh.quoteANSI(s)
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// needsANSI tells whether s has characters that only $'...' can show.
func (sh *interp) needsANSI(s string) bool {
	for i := 0; i < len(s); {
		if c := s[i]; c >= ' ' && c < 0x7f {
			i++
			continue
		}
		n, ok := sh.shows(s[i:])
		if !ok {
			return true
		}
		i += n
	}
	return false
}

// shows tells how long the first character of s is, and whether the locale can show it.
func (sh *interp) shows(s string) (n int, ok bool) {
	r, n := decodeRune(s)
	if n > 1 && sh.bytewise() {
		return 1, false
	}
	return n, printable(r)
}

// quoteANSI writes s as $'...'.
func (sh *interp) quoteANSI(s string) string {
	var b strings.Builder
	b.WriteString("$'")
	for i := 0; i < len(s); {
		c := s[i]
		n, ok := sh.shows(s[i:])
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

// quoteValue quotes as declare -p does for elements: always in double quotes.
func (sh *interp) quoteValue(s string) string {
	if sh.needsANSI(s) {
		return sh.quoteANSI(s)
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

// quoteKey writes a key as declare -p does: plain when that is safe.
func (sh *interp) quoteKey(s string) string {
	if s == "@" || s == "*" || strings.ContainsAny(s, " \t\n'\"\\|&;()<>!{}*[?]^$`") || s == "" || s[0] == '#' || s[0] == '~' || sh.needsANSI(s) {
		return sh.quoteValue(s)
	}
	return s
}

// quotePrintf quotes as %q does: backslashes, or $'...' when there is something unprintable.
func (sh *interp) quotePrintf(s string) string {
	if s == "" {
		return "''"
	}
	if sh.needsANSI(s) {
		return sh.quoteANSI(s)
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

// traceQuote quotes as set -x does: only when it must.
func (sh *interp) traceQuote(s string) string {
	switch {
	case s == "":
		return "''"
	case strings.ContainsAny(s, " \t\n'\"\\|&;()<>!{}*[?]^$`") || s[0] == '#' || s[0] == '~':
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	case sh.needsANSI(s):
		return sh.quoteANSI(s)
	}
	return s
}

// setQuote quotes as set does: only when a shell would read the value differently.
func (sh *interp) setQuote(s string) string {
	switch {
	case s == "":
		return ""
	case sh.needsANSI(s):
		return sh.quoteANSI(s)
	case strings.ContainsAny(s, " \t\n'\"\\|&;()<>!{}*[?]^$`") || s[0] == '#' || s[0] == '~':
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}
