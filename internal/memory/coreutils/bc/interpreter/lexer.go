package interpreter

import (
	"fmt"
	"io"
	"strings"
)

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenNewline
	tokenNumber
	tokenString
	tokenName
	tokenWord  // a word of the language
	tokenPunct // an operator
)

type token struct {
	kind tokenKind
	text string
}

// lexer cuts the input into tokens, no further than is asked for.
type lexer struct {
	in   io.ByteScanner
	name string
	line int
	tell func(text string) // of what is wrong
	hold func(n int)       // counts memory; nil: nothing counts
	quit bool
}

func (l *lexer) read() (byte, bool) {
	c, err := l.in.ReadByte()
	if err != nil {
		return 0, false
	}
	if c == '\n' {
		l.line++
	}
	return c, true
}

func (l *lexer) back(c byte) {
	if c == '\n' {
		l.line--
	}
	_ = l.in.UnreadByte()
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' || c >= 'A' && c <= 'F' }

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' }

// next returns the next token.
func (l *lexer) next() token {
	for {
		c, ok := l.read()
		if !ok {
			return token{kind: tokenEnd}
		}
		switch {
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
		case c == '\n':
			return token{kind: tokenNewline}
		case c == '\\':
			if d, ok := l.read(); ok && d != '\n' {
				l.back(d)
				l.illegal(c)
			}
		case c == '#':
			for ok && c != '\n' {
				c, ok = l.read()
			}
			if ok {
				return token{kind: tokenNewline}
			}
		case c == '"':
			return l.text()
		case isDigit(c) || c == '.':
			return l.number(c)
		case isLetter(c):
			return l.word(c)
		case c == '/' && l.follows('*'):
			l.comment()
		default:
			if t := l.punct(c); t.text != "" {
				return t
			}
			l.illegal(c)
		}
	}
}

func (l *lexer) illegal(c byte) {
	if c < ' ' || c >= 127 {
		l.tell(fmt.Sprintf("illegal character: \\%03o", c))
		return
	}
	l.tell("illegal character: " + string(rune(c)))
}

// follows reads c if it comes next.
func (l *lexer) follows(c byte) bool {
	d, ok := l.read()
	if ok && d != c {
		l.back(d)
	}
	return ok && d == c
}

func (l *lexer) comment() {
	for {
		c, ok := l.read()
		if !ok {
			l.tell("EOF encountered in a comment.")
			return
		}
		if c == '*' && l.follows('/') {
			return
		}
	}
}

// maxText bounds a string or a number of the program.
const maxText = 1 << 24

func (l *lexer) text() token {
	var b strings.Builder
	for {
		if n := b.Len(); n&4095 == 4095 && l.hold != nil {
			l.hold(2 * 4096) // A text that grows is there twice.
		}
		c, ok := l.read()
		if !ok {
			l.illegal('"')
			return token{kind: tokenEnd}
		}
		if c == '"' || b.Len() > maxText {
			return token{tokenString, b.String()}
		}
		b.WriteByte(c) // bounded: maxText, charged above
	}
}

// number reads a number, which may go on in the next line behind a backslash.
func (l *lexer) number(c byte) token {
	var b strings.Builder
	dot := false
	for ok := true; ok && b.Len() < maxText; c, ok = l.read() {
		switch {
		case c == '.' && !dot:
			dot = true
		case isDigit(c):
		case c == '\\' && l.follows('\n'):
			continue
		default:
			l.back(c)
			return l.trimmed(b.String())
		}
		b.WriteByte(c)
	}
	return l.trimmed(b.String())
}

// trimmed returns the token of a number; zeros before it do not count.
func (l *lexer) trimmed(s string) token {
	if t := strings.TrimLeft(s, "0"); t != "" && t[0] != '.' || len(t) > 1 {
		return token{tokenNumber, t}
	} else if t == "" {
		return token{tokenNumber, "0"}
	}
	if s != "." { // "0."
		return token{tokenNumber, "0"}
	}
	return token{tokenNumber, s}
}

func (l *lexer) word(c byte) token {
	var b strings.Builder
	for ok := true; ok && b.Len() < maxText; c, ok = l.read() {
		if !isLetter(c) && (c < '0' || c > '9') && c != '_' {
			l.back(c)
			break
		}
		b.WriteByte(c)
	}
	name := b.String()
	switch name {
	case "quit":
		l.quit = true
		return token{kind: tokenEnd}
	case "define", "auto", "if", "else", "while", "for", "break", "continue", "return", "print", "halt", "void",
		"length", "sqrt", "scale", "ibase", "obase", "last", "read", "limits", "warranty", "random", "history":
		return token{tokenWord, name}
	}
	return token{tokenName, name}
}

// punct reads an operator; with no text when it is none.
func (l *lexer) punct(c byte) token {
	s := string(rune(c))
	switch c {
	case '(', ')', '{', '}', '[', ']', ';', ',':
		return token{tokenPunct, s}
	case '+', '-':
		if l.follows(c) {
			return token{tokenPunct, s + s}
		}
	case '&', '|':
		if l.follows(c) {
			return token{tokenPunct, s + s}
		}
	case '*', '/', '%', '^', '<', '>', '=', '!':
	default:
		return token{}
	}
	if c != '&' && c != '|' && l.follows('=') {
		s += "="
	}
	return token{tokenPunct, s}
}
