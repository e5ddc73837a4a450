// Package quoting quotes names for messages and listings as GNU programs do.
package quoting

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/choice"
)

// CName writes a name as diff does in its headers: as a string of C when it has blanks, quotes, backslashes or
// bytes that are not printable ASCII.
func CName(s string) string {
	plain := true
	for _, c := range []byte(s) {
		if c <= ' ' || c >= 0x7f || c == '"' || c == '\\' {
			plain = false
		}
	}
	if plain {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(s) {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c >= '\a' && c <= '\r':
			b.WriteByte('\\')
			b.WriteByte("abtnvfr"[c-'\a'])
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Style is a way to write a name that may hold anything.
type Style uint8

// The styles, in the order of GNU ls.
const (
	Literal    Style = iota // as it is
	quoteShell              // only where a shell would not read it back
	quoteShellAlways
	ShellEscape       // as quoteShell, unprintable bytes as $'\n'
	ShellEscapeAlways // as ShellEscape, always in quotes
	C                 // "a\nb"
	quoteCMaybe       // the same, without quotes where nothing needs them
	Escape            // a\nb
	quoteLocale       // 'a\nb'
	quoteCLocale      // "a\nb"
)

// Styles are the names that --quoting-style takes.
var Styles = []choice.Choice[Style]{
	{Name: "literal", Value: Literal},
	{Name: "shell", Value: quoteShell},
	{Name: "shell-always", Value: quoteShellAlways},
	{Name: "shell-escape", Value: ShellEscape},
	{Name: "shell-escape-always", Value: ShellEscapeAlways},
	{Name: "c", Value: C},
	{Name: "c-maybe", Value: quoteCMaybe},
	{Name: "escape", Value: Escape},
	{Name: "locale", Value: quoteLocale},
	{Name: "clocale", Value: quoteCLocale},
}

// Quote writes s in a style; the bytes of extra count as special besides.
func Quote(s string, style Style, extra string) string {
	switch style {
	case Literal:
		return s
	case C, quoteCLocale:
		return `"` + EscapeC(s, `"`+extra) + `"`
	case quoteCMaybe:
		if e := EscapeC(s, `"`+extra); e != s {
			return `"` + e + `"`
		}
		return s
	case quoteLocale:
		return "'" + EscapeC(s, `'`+extra) + "'"
	case Escape:
		return EscapeC(s, extra)
	case quoteShell, ShellEscape:
		if !isShellSpecial(s, extra, style == ShellEscape) {
			return s
		}
	case quoteShellAlways, ShellEscapeAlways:
	}
	return quoteForShell(s, style == ShellEscape || style == ShellEscapeAlways)
}

// EachPrintable calls fn for each printable run of s, and for each byte that cannot be printed.
func EachPrintable(s string, fn func(text string, raw byte)) {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || !unicode.IsPrint(r) {
			for _, c := range []byte(s[i : i+n]) {
				fn("", c)
			}
		} else {
			fn(s[i:i+n], 0)
		}
		i += n
	}
}

// EscapeC writes s with the escapes of C; the bytes of special get a backslash.
func EscapeC(s, special string) string {
	var b strings.Builder
	EachPrintable(s, func(text string, raw byte) {
		switch {
		case text == "":
			b.WriteString(EscapedByte(raw)) // bounded: by four times the text
		case text == `\` || len(text) == 1 && strings.Contains(special, text):
			b.WriteString(`\` + text) // bounded: by twice the text
		default:
			b.WriteString(text) // bounded: by the text
		}
	})
	return b.String()
}

// EscapedByte writes c as an escape of C: one letter, or three octal digits.
func EscapedByte(c byte) string {
	if i := strings.IndexByte("\a\b\t\n\v\f\r", c); i >= 0 {
		return `\` + "abtnvfr"[i:i+1]
	}
	return fmt.Sprintf(`\%03o`, c)
}

// isShellSpecial reports whether a shell would not read s back unchanged.
func isShellSpecial(s, extra string, escape bool) bool {
	if s == "" || s == "{" || s == "}" || s[0] == '#' || s[0] == '~' {
		return true
	}
	if strings.ContainsAny(s, " !\"$&()*;<=>?[^`|'\\\t\n\r\v\f\a\b") || extra != "" && strings.ContainsAny(s, extra) {
		return true
	}
	odd := false
	EachPrintable(s, func(text string, _ byte) { odd = odd || text == "" })
	return odd && escape
}

// quoteForShell writes s in single quotes, or in double quotes where that is plainer.
func quoteForShell(s string, escape bool) string {
	if strings.Contains(s, "'") && isPlainInDoubleQuotes(s) {
		return `"` + s + `"`
	}
	var b strings.Builder
	b.WriteByte('\'')
	escaping := false
	EachPrintable(s, func(text string, raw byte) {
		switch {
		case text == "" && escape:
			if !escaping {
				b.WriteString("'$'") // bounded: by seven times the text
			}
			escaping = true
			b.WriteString(EscapedByte(raw)) // bounded: by seven times the text
			return
		case escaping:
			b.WriteString("''") // bounded: by seven times the text
			escaping = false
		}
		switch text {
		case "":
			b.WriteByte(raw) // bounded: by the text
		case "'":
			b.WriteString(`'\''`) // bounded: by four times the text
		default:
			b.WriteString(text) // bounded: by the text
		}
	})
	b.WriteByte('\'')
	return b.String()
}

// isPlainInDoubleQuotes reports whether s means the same in "..." and in a C string.
func isPlainInDoubleQuotes(s string) bool {
	plain := true
	EachPrintable(s, func(text string, _ byte) {
		if text == "" || len(text) == 1 && strings.Contains("!\"$&()*;<=>?[^`|\\{}", text) {
			plain = false
		}
	})
	return plain && !strings.ContainsAny(s[1:], "#~")
}

// Name quotes s as messages that name a file in the C locale do: 'x'.
func Name(s string) string { return Quote(s, quoteLocale, "") }
