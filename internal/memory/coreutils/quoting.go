package coreutils

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// quoting is a way to write a name that may hold anything.
type quoting uint8

const (
	quoteLiteral quoting = iota
	quoteShell           // only where a shell would not read it back
	quoteShellAlways
	quoteShellEscape // as quoteShell, unprintable bytes as $'\n'
	quoteShellEscapeAlways
	quoteC       // "a\nb"
	quoteCMaybe  // the same, without quotes where nothing needs them
	quoteEscape  // a\nb
	quoteLocale  // 'a\nb'
	quoteCLocale // "a\nb"
)

// quotings are the names that --quoting-style takes.
var quotings = []word[quoting]{
	{"literal", quoteLiteral},
	{"shell", quoteShell},
	{"shell-always", quoteShellAlways},
	{"shell-escape", quoteShellEscape},
	{"shell-escape-always", quoteShellEscapeAlways},
	{"c", quoteC},
	{"c-maybe", quoteCMaybe},
	{"escape", quoteEscape},
	{"locale", quoteLocale},
	{"clocale", quoteCLocale},
}

// quoteAs writes s in a style; the bytes of extra count as special besides.
func quoteAs(s string, style quoting, extra string) string {
	switch style {
	case quoteLiteral:
		return s
	case quoteC, quoteCLocale:
		return `"` + escapeC(s, `"`+extra) + `"`
	case quoteCMaybe:
		if e := escapeC(s, `"`+extra); e != s {
			return `"` + e + `"`
		}
		return s
	case quoteLocale:
		return "'" + escapeC(s, `'`+extra) + "'"
	case quoteEscape:
		return escapeC(s, extra)
	case quoteShell, quoteShellEscape:
		if !shellSpecial(s, extra, style == quoteShellEscape) {
			return s
		}
	case quoteShellAlways, quoteShellEscapeAlways:
	}
	return quoteForShell(s, style == quoteShellEscape || style == quoteShellEscapeAlways)
}

// runes calls fn for each printable run of s, and for each byte that cannot be printed.
func printables(s string, fn func(text string, raw byte)) {
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

// escapeC writes s with the escapes of C; the bytes of special get a backslash.
func escapeC(s, special string) string {
	var b strings.Builder
	printables(s, func(text string, raw byte) {
		switch {
		case text == "":
			b.WriteString(escapedByte(raw))
		case text == `\` || len(text) == 1 && strings.Contains(special, text):
			b.WriteString(`\` + text)
		default:
			b.WriteString(text)
		}
	})
	return b.String()
}

func escapedByte(c byte) string {
	if i := strings.IndexByte("\a\b\t\n\v\f\r", c); i >= 0 {
		return `\` + "abtnvfr"[i:i+1]
	}
	return fmt.Sprintf(`\%03o`, c)
}

// shellSpecial tells whether a shell would not read s back as it stands.
func shellSpecial(s, extra string, escape bool) bool {
	if s == "" || s == "{" || s == "}" || s[0] == '#' || s[0] == '~' {
		return true
	}
	if strings.ContainsAny(s, " !\"$&()*;<=>?[^`|'\\\t\n\r\v\f\a\b") || extra != "" && strings.ContainsAny(s, extra) {
		return true
	}
	odd := false
	printables(s, func(text string, _ byte) { odd = odd || text == "" })
	return odd && escape
}

// quoteForShell writes s in single quotes, or in double quotes where that is plainer.
func quoteForShell(s string, escape bool) string {
	if strings.Contains(s, "'") && plainInDoubleQuotes(s) {
		return `"` + s + `"`
	}
	var b strings.Builder
	b.WriteByte('\'')
	escaping := false
	printables(s, func(text string, raw byte) {
		switch {
		case text == "" && escape:
			if !escaping {
				b.WriteString("'$'")
			}
			escaping = true
			b.WriteString(escapedByte(raw))
			return
		case escaping:
			b.WriteString("''")
			escaping = false
		}
		switch text {
		case "":
			b.WriteByte(raw)
		case "'":
			b.WriteString(`'\''`)
		default:
			b.WriteString(text)
		}
	})
	b.WriteByte('\'')
	return b.String()
}

// plainInDoubleQuotes tells whether s means the same in "..." and in a C string.
func plainInDoubleQuotes(s string) bool {
	plain := true
	printables(s, func(text string, _ byte) {
		if text == "" || len(text) == 1 && strings.Contains("!\"$&()*;<=>?[^`|\\{}", text) {
			plain = false
		}
	})
	return plain && !strings.ContainsAny(s[1:], "#~")
}

// quoteName quotes as messages that name a file in the C locale do: 'x'.
func quoteLocaleName(s string) string { return quoteAs(s, quoteLocale, "") }
