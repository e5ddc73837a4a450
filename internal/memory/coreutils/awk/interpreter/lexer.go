package interpreter

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// syntaxError is an error in a program, with its position.
type syntaxError struct {
	pos  int
	text string
	bare bool // shown without the line
}

func (e *syntaxError) Error() string { return e.text }

// lexer cuts a program into tokens.
type lexer struct {
	src    string
	pos    int
	tokens []token
	warn   func(pos int, text string)
}

// lex returns all tokens of a program; the last one is the end.
func lex(src string, warn func(pos int, text string), take func() error) (tokens []token, err error) {
	l := &lexer{src: src, warn: warn}
	for {
		if err := take(); err != nil {
			return nil, err
		}
		t, err := l.next()
		if err != nil {
			return nil, err
		}
		l.tokens = append(l.tokens, t) // bounded: take has charged for the token
		if t.kind == tokenEnd {
			return l.tokens, nil
		}
	}
}

// skipBlanks passes over white space between tokens.
func (l *lexer) skipBlanks() {
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == ' ' || c == '\t' || c == '\r':
			l.pos++
		case c == '\\' && strings.HasPrefix(l.src[l.pos+1:], "\n"):
			l.pos += 2
		case c == '\\' && strings.HasPrefix(l.src[l.pos+1:], "\r\n"):
			l.pos += 3
		case c == '#':
			n := strings.IndexByte(l.src[l.pos:], '\n')
			if n < 0 {
				n = len(l.src) - l.pos
			}
			l.pos += n
		default:
			return
		}
	}
}

func (l *lexer) next() (token, error) {
	l.skipBlanks()
	if l.pos >= len(l.src) {
		return token{kind: tokenEnd, pos: len(l.src)}, nil
	}
	at := l.pos
	c := l.src[at]
	switch {
	case c == '\n':
		l.pos++
		return token{kind: tokenNewline, pos: at}, nil
	case c == '"':
		return l.text()
	case c >= '0' && c <= '9' || c == '.' && at+1 < len(l.src) && isDigit(l.src[at+1]):
		return l.number(), nil
	case isNameStart(c):
		return l.word(), nil
	case c == '/' && !l.afterOperand():
		return l.regex()
	}
	for _, p := range punctuation {
		if strings.HasPrefix(l.src[at:], p) {
			l.pos += len(p)
			switch p {
			case "**":
				p = "^"
			case "**=":
				p = "^="
			}
			return token{kind: tokenPunct, text: p, pos: at}, nil
		}
	}
	_, n := utf8.DecodeRuneInString(l.src[at:])
	return token{}, &syntaxError{pos: at, text: fmt.Sprintf("invalid char '%s' in expression", l.src[at:at+n])}
}

// punctuation has the longer ones first.
var punctuation = [...]string{
	"**=", "**", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "==", "<=", ">=", "!=", ">>", "!~", "|&",
	"{", "}", "(", ")", "[", "]", ";", ",", "+", "-", "*", "/", "%", "^", "!", ">", "<", "|", "?", ":", "~", "$", "=",
}

// afterOperand reports whether a slash is a division here.
func (l *lexer) afterOperand() bool {
	if len(l.tokens) == 0 {
		return false
	}
	switch t := l.tokens[len(l.tokens)-1]; t.kind {
	case tokenNumber, tokenString, tokenName, tokenBuiltin, tokenRegex:
		return true
	case tokenPunct:
		switch t.text {
		case ")", "]", "$", "++", "--":
			return true
		}
	default:
	}
	return false
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isNameStart(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }

func (l *lexer) word() token {
	at := l.pos
	for l.pos < len(l.src) && (isNameStart(l.src[l.pos]) || isDigit(l.src[l.pos])) {
		l.pos++
	}
	t := token{kind: tokenName, text: l.src[at:l.pos], pos: at}
	if isKeyword(t.text) {
		t.kind = tokenKeyword
		if t.text == "func" {
			t.text = "function"
		}
	} else if _, ok := builtinArity(t.text); ok {
		t.kind = tokenBuiltin
	} else if l.pos < len(l.src) && l.src[l.pos] == '(' {
		t.kind = tokenCall
	}
	return t
}

// number reads a number of the program, which may be octal or hexadecimal.
func (l *lexer) number() token {
	at := l.pos
	t := token{kind: tokenNumber, pos: at}
	if v, n := radixNumber(l.src[at:]); n > 0 {
		l.pos += n
		t.number = v
		return t
	}
	v, n := scanNumber(l.src[at:])
	t.number = v
	l.pos += n
	return t
}

// radixNumber reads 0x1F or 017; n is 0 when s does not begin with such a number.
func radixNumber(s string) (v float64, n int) {
	if len(s) < 2 || s[0] != '0' {
		return 0, 0
	}
	base, n := 8, 1
	if s[1]|0x20 == 'x' {
		base, n = 16, 2
	}
	begin := n
	for n < len(s) {
		d := hexDigit(s[n])
		if d >= base {
			break
		}
		v = v*float64(base) + float64(d)
		n++
	}
	if n == begin || base == 8 && n < len(s) && (isDigit(s[n]) || s[n] == '.' || s[n]|0x20 == 'e') {
		return 0, 0
	}
	return v, n
}

// hexDigit returns the value of a digit, 99 for another character.
func hexDigit(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return 99
}

func (l *lexer) text() (token, error) {
	at := l.pos
	l.pos++
	begin := l.pos
	for l.pos < len(l.src) {
		switch l.src[l.pos] {
		case '"':
			raw := l.src[begin:l.pos]
			l.pos++
			return token{kind: tokenString, text: unescape(raw, func(c byte) { l.plainEscape(at, c) }), pos: at}, nil
		case '\n':
			return token{}, &syntaxError{pos: at, text: "unterminated string"}
		case '\\':
			l.pos++
		}
		l.pos++
	}
	l.pos = len(l.src)
	return token{}, &syntaxError{pos: at, text: "unterminated string"}
}

func (l *lexer) plainEscape(at int, c byte) {
	l.warn(at, fmt.Sprintf("warning: escape sequence `\\%c' treated as plain `%c'", c, c))
}

// regex reads an expression between slashes; a slash in brackets does not end it.
func (l *lexer) regex() (token, error) {
	at := l.pos
	l.pos++
	begin, bracket := l.pos, -1
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		switch {
		case c == '\n':
			return token{}, &syntaxError{pos: at + 1, text: "unterminated regexp"}
		case c == '\\':
			l.pos++
		case bracket >= 0:
			switch {
			case c == '[' && l.pos+1 < len(l.src) && strings.IndexByte(":.=", l.src[l.pos+1]) >= 0:
				if n := strings.Index(l.src[l.pos+2:], string(l.src[l.pos+1])+"]"); n >= 0 && !strings.Contains(l.src[l.pos:l.pos+n+2], "\n") {
					l.pos += n + 3
				}
			case c == ']' && l.pos > bracket:
				bracket = -1
			}
		case c == '[':
			bracket = l.pos + 1
			if strings.HasPrefix(l.src[bracket:], "^") {
				bracket++
				l.pos++
			}
		case c == '/':
			t := token{kind: tokenRegex, text: l.src[begin:l.pos], pos: at}
			l.pos++
			return t, nil
		}
		l.pos++
	}
	l.pos = len(l.src)
	return token{}, &syntaxError{pos: at + 1, text: "unterminated regexp"}
}

// unescape resolves the escapes of a string. plain is called with unknown ones; it may be nil.
func unescape(s string, plain func(c byte)) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b = append(b, s[i])
			continue
		}
		if i+1 == len(s) {
			return string(append(b, '\\'))
		}
		c, n := escapedByte(s[i+1:])
		switch {
		case n > 0:
			b = append(b, c)
			i += n
		case s[i+1] == '\n':
			i++
		case s[i+1] == '\r' && strings.HasPrefix(s[i+2:], "\n"):
			i += 2
		case s[i+1] == '"':
			i++
			b = append(b, s[i])
		default:
			i++
			if plain != nil {
				plain(s[i])
			}
			b = append(b, s[i])
		}
	}
	return string(b)
}

// escapedByte returns the value of the escape whose text after the backslash is s, and
// its length; 0 when it is none.
func escapedByte(s string) (c byte, n int) {
	switch s[0] {
	case '\\':
		return '\\', 1
	case 'a':
		return 7, 1
	case 'b':
		return 8, 1
	case 'f':
		return 12, 1
	case 'n':
		return '\n', 1
	case 'r':
		return '\r', 1
	case 't':
		return '\t', 1
	case 'v':
		return 11, 1
	case 'x':
		n = 1
		for n < len(s) && n < 3 && hexDigit(s[n]) < 16 {
			n++
		}
		if n == 1 {
			return 0, 0
		}
		v, _ := strconv.ParseUint(s[1:n], 16, 8)
		return byte(v), n
	}
	for n < len(s) && n < 3 && s[n] >= '0' && s[n] <= '7' {
		c = c<<3 | s[n] - '0'
		n++
	}
	return c, n
}
