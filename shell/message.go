package shell

import (
	"fmt"
	"strings"
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

// Quote returns s as GNU's messages show a name: always in single quotes, and with
// control characters as a shell would have to be given them.
func Quote(s string) string {
	if !strings.ContainsFunc(s, unprintable) && !strings.Contains(s, "'") {
		return "'" + s + "'"
	}
	if !strings.ContainsFunc(s, unprintable) && !strings.ContainsAny(s, "\"`$\\") {
		return `"` + s + `"`
	}
	return quoteMixed(s)
}

// QuoteIfNeeded returns s as it is when a shell would read it back unchanged, and
// Quote(s) otherwise.
func QuoteIfNeeded(s string) string {
	if s == "" {
		return "''"
	}
	if strings.ContainsFunc(s, unprintable) || strings.ContainsAny(s, " \"'`$\\|&;()<>*?[!^=~#") && needsQuote(s) {
		return Quote(s)
	}
	return s
}

// needsQuote tells whether GNU's shell-escape style quotes s: '#' and '~' count
// only at the start, '=' only there too.
func needsQuote(s string) bool {
	if strings.ContainsAny(s, " \"'`$\\|&;()<>*?[!^=") {
		return true
	}
	return s[0] == '#' || s[0] == '~'
}

func unprintable(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' }

// quoteMixed writes runs of printable text in '...' and the rest in $'...'.
func quoteMixed(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && (s[j] < ' ' || s[j] == 0x7f) {
			j++
		}
		if j > i {
			b.WriteString(`'$'`)
			for _, c := range []byte(s[i:j]) {
				b.WriteString(escapeByte(c))
			}
			b.WriteString(`''`)
			i = j
			continue
		}
		if s[i] == '\'' {
			b.WriteString(`'\''`)
		} else {
			b.WriteByte(s[i])
		}
		i++
	}
	b.WriteByte('\'')
	return b.String()
}

func escapeByte(c byte) string {
	if i := strings.IndexByte("\a\b\t\n\v\f\r", c); i >= 0 {
		return `\` + "abtnvfr"[i:i+1]
	}
	return fmt.Sprintf(`\%03o`, c)
}
