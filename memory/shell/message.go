package shell

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Warn writes "NAME: text" and a newline to Stderr.
func (p *Proc) Warn(format string, args ...any) {
	// One write, so that lines of processes that share a stream stay whole.
	_, _ = fmt.Fprintf(p.Stderr, "%s: %s\n", p.Name(), fmt.Sprintf(format, args...))
}

// Error writes what GNU's error(3) says of a file: "NAME: PATH: No such file or directory".
func (p *Proc) Error(path string, err error) {
	p.Warn("%s: %s", QuoteIfNeeded(path), Strerror(err))
}

// Errorf writes a sentence about what failed, then why:
// p.Errorf(err, "cannot access %s", Quote(path)) is "NAME: cannot access 'x': No such file or directory".
func (p *Proc) Errorf(err error, format string, args ...any) {
	p.Warn("%s: %s", fmt.Sprintf(format, args...), Strerror(err))
}

// Quote returns s as GNU's messages show a name: always in quotes, and with what cannot be
// printed as a shell would have to be given it.
func Quote(s string) string {
	if strings.Contains(s, "'") && plainInDoubleQuotes(s) {
		return `"` + s + `"`
	}
	var b strings.Builder
	b.WriteByte('\'')
	escaping := false
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if unprintable(r, n) {
			if !escaping {
				b.WriteString("'$'")
			}
			escaping = true
			for _, c := range []byte(s[i : i+n]) {
				b.WriteString(escapeByte(c))
			}
			i += n
			continue
		}
		if escaping {
			b.WriteString("''")
			escaping = false
		}
		if r == '\'' {
			b.WriteString(`'\''`)
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	b.WriteByte('\'')
	return b.String()
}

// QuoteIfNeeded returns s as it is when a shell would read it back unchanged and no
// colon could be taken for the message's, and Quote(s) otherwise.
func QuoteIfNeeded(s string) string {
	if s == "" || s == "{" || s == "}" || s[0] == '#' || s[0] == '~' || strings.ContainsAny(s, " !\"$&()*:;<=>?[^`|'\\") {
		return Quote(s)
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if unprintable(r, n) {
			return Quote(s)
		}
		i += n
	}
	return s
}

// unprintable tells whether a character of n bytes cannot be shown.
func unprintable(r rune, n int) bool { return r == utf8.RuneError && n <= 1 || !unicode.IsPrint(r) }

// plainInDoubleQuotes tells whether s stands for itself between double quotes, in a
// shell and in C.
func plainInDoubleQuotes(s string) bool {
	if strings.ContainsAny(s, "!\"$&()*;<=>?[^`|\\{}") || strings.ContainsAny(s[1:], "#~") {
		return false
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if unprintable(r, n) {
			return false
		}
		i += n
	}
	return true
}

func escapeByte(c byte) string {
	if i := strings.IndexByte("\a\b\t\n\v\f\r", c); i >= 0 {
		return `\` + "abtnvfr"[i:i+1]
	}
	return fmt.Sprintf(`\%03o`, c)
}
