package system

import (
	"fmt"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
)

// wordMemory is about how many bytes a word takes beside its text, in a list that grows.
const wordMemory = 48

// split takes the argument of -S apart as a shell would: quotes, backslashes, ${NAME} and
// comments. fault is the error.
func (e *environment) split(s string) (words []string, fault string) {
	if e.proc.Reserve(wordMemory*(len(s)/2+1)) != nil {
		return nil, "memory exhausted"
	}
	var word strings.Builder
	in := false // a word has begun
	quote := byte(0)
	end := func() {
		if in {
			words = append(words, word.String()) // bounded: charged above
			word.Reset()
		}
		in = false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\'' && quote != '"', c == '"' && quote != '\'':
			in = true
			if quote == c {
				quote = 0
			} else {
				quote = c
			}
		case strings.IndexByte(" \t\n\v\f\r", c) >= 0 && quote == 0:
			end()
		case c == '#' && !in && quote == 0:
			return words, ""
		case c == '\\' && (quote != '\'' || i+1 < len(s) && (s[i+1] == '\\' || s[i+1] == '\'')):
			text, stop, f := splitEscape(s, &i, quote)
			if f != "" {
				return nil, f
			}
			if stop {
				end()
				return words, ""
			}
			if text == " " && quote == 0 && s[i] == '_' {
				end()
				continue
			}
			in = true
			word.WriteString(text)
		case c == '$' && quote != '\'':
			name, n, f := splitVariable(s[i:])
			if f != "" {
				return nil, f
			}
			if value, ok := e.proc.LookupEnv(name); ok {
				in = true
				word.WriteString(value)
			}
			i += n - 1
		default:
			in = true
			word.WriteByte(c)
		}
	}
	if quote != 0 {
		return nil, "no terminating quote in -S string"
	}
	end()
	return words, ""
}

// splitEscape reads the text after the backslash at *i; stop is \c.
func splitEscape(s string, i *int, quote byte) (text string, stop bool, fault string) {
	*i++
	if *i >= len(s) {
		return "", false, "invalid backslash at end of string in -S"
	}
	c := s[*i]
	if n := strings.IndexByte("fnrtv", c); n >= 0 {
		return "\f\n\r\t\v"[n : n+1], false, ""
	}
	switch c {
	case '"', '#', '$', '\'', '\\':
		return string(c), false, ""
	case '_':
		return " ", false, ""
	case 'c':
		if quote == '"' {
			return "", false, "'\\c' must not appear in double-quoted -S string"
		}
		return "", true, ""
	}
	return "", false, fmt.Sprintf("invalid sequence '\\%c' in -S", c)
}

// splitVariable reads ${NAME} at the start of s, and its length.
func splitVariable(s string) (name string, n int, fault string) {
	end := strings.IndexByte(s, '}')
	if len(s) < 3 || s[1] != '{' || end < 3 || strings.Trim(s[2:end], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" || ascii.IsDigit(s[2]) {
		return "", 0, fmt.Sprintf("only ${VARNAME} expansion is supported, error at: %s", s)
	}
	return s[2:end], end + 1, ""
}
