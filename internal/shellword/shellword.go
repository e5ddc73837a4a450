// Package shellword quotes words for command lines that people read.
package shellword

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:=@%"

// Join returns words as one command line, and quotes words where necessary.
func Join(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = Quote(w)
	}
	return strings.Join(quoted, " ")
}

// Quote returns s as one word of bash. It escapes characters that could control a terminal or forge a line, because
// names and arguments can come from a hostile repository. Without such characters the result is a word of every POSIX
// shell.
func Quote(s string) string {
	switch {
	case s != "" && strings.Trim(s, plain) == "":
		return s
	case !strings.ContainsFunc(s, func(r rune) bool { return r == utf8.RuneError || !strconv.IsPrint(r) }):
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == '\'' || r == '\\':
			b.WriteString(`\` + s[:n])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r != utf8.RuneError && strconv.IsPrint(r):
			b.WriteString(s[:n])
		default:
			for _, c := range []byte(s[:n]) {
				fmt.Fprintf(&b, `\%03o`, c)
			}
		}
		s = s[n:]
	}
	return b.String() + "'"
}
