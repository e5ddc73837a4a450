package interpreter

import (
	"fmt"
	"strings"
)

// tokenKind is the kind of a token, named as messages call it.
type tokenKind string

const (
	tEnd     tokenKind = "end of file"
	tInvalid tokenKind = "INVALID_CHARACTER"
	tIdent   tokenKind = "IDENT"
	tField   tokenKind = "FIELD"
	tBinding tokenKind = "BINDING"
	tLiteral tokenKind = "LITERAL"
	tFormat  tokenKind = "FORMAT"
	tString  tokenKind = "QQSTRING_START"
	tKeyword tokenKind = "keyword"
	tOp      tokenKind = "operator"
)

// token is a word of a program.
type token struct {
	kind  tokenKind
	text  string
	parts []expr // of a string: string or []token to be parsed
	num   Value
	pos   int
}

var keywords = map[string]bool{
	"def": true, "if": true, "then": true, "elif": true, "else": true, "end": true, "as": true, "reduce": true, "foreach": true,
	"try": true, "catch": true, "label": true, "import": true, "include": true, "and": true, "or": true, "__loc__": true, "module": true,
}

// SyntaxError is a program that cannot be compiled. Its text is what jq prints.
type SyntaxError struct{ Text string }

func (e *SyntaxError) Error() string { return e.Text }

// lexer makes tokens of a program.
type lexer struct {
	src  string
	at   int
	toks []token
	deep int
	take func() error // called for each token
}

func lex(src string, take func() error) ([]token, error) {
	l := &lexer{src: src, take: take}
	if err := l.until(0); err != nil {
		return nil, err
	}
	return l.toks, nil
}

// until reads up to the end, or to the parenthesis that closes an interpolation.
func (l *lexer) until(end byte) error {
	depth := 0
	for {
		l.space()
		if l.at >= len(l.src) {
			l.toks = append(l.toks, token{kind: tEnd, pos: l.at}) // bounded: one at the end of each text
			return nil
		}
		c := l.src[l.at]
		if end != 0 {
			switch {
			case c == '(':
				depth++
			case c == ')' && depth == 0:
				l.toks = append(l.toks, token{kind: tEnd, pos: l.at}) // bounded: one at the end of each text
				return nil
			case c == ')':
				depth--
			}
		}
		if err := l.token(c); err != nil {
			return err
		}
		if err := l.take(); err != nil {
			return err
		}
	}
}

func (l *lexer) space() {
	for l.at < len(l.src) {
		switch l.src[l.at] {
		case ' ', '\t', '\n', '\r':
			l.at++
		case '#':
			for l.at < len(l.src) && l.src[l.at] != '\n' {
				// A backslash takes the next character with it, a newline too.
				if l.src[l.at] == '\\' && l.at+1 < len(l.src) {
					l.at++
				}
				l.at++
			}
		default:
			return
		}
	}
}

func isWordStart(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isWord(c byte) bool      { return isWordStart(c) || c >= '0' && c <= '9' }
func isDigit(c byte) bool     { return c >= '0' && c <= '9' }

// peek is the byte behind the one that is being read.
func (l *lexer) peek() byte {
	if l.at+1 < len(l.src) {
		return l.src[l.at+1]
	}
	return 0
}

func (l *lexer) word(from int) int {
	i := from
	for i < len(l.src) && isWord(l.src[i]) {
		i++
	}
	return i
}

// name reads an identifier with modules before it: a::b.
func (l *lexer) name(from int) int {
	i := l.word(from)
	for strings.HasPrefix(l.src[i:], "::") && i+2 < len(l.src) && isWordStart(l.src[i+2]) {
		i = l.word(i + 2)
	}
	return i
}

func (l *lexer) add(kind tokenKind, end int) {
	l.toks = append(l.toks, token{kind: kind, text: l.src[l.at:end], pos: l.at}) // bounded: take has charged for the token
	l.at = end
}

func (l *lexer) token(c byte) error {
	switch {
	case c == '"':
		return l.str("")
	case isDigit(c) || c == '.' && isDigit(l.peek()):
		l.number()
	case c == '.' && isWordStart(l.peek()):
		l.add(tField, l.word(l.at+1))
	case c == '$' && isWordStart(l.peek()):
		l.add(tBinding, l.name(l.at+1))
	case c == '@' && isWord(l.peek()):
		end := l.word(l.at + 1)
		if end < len(l.src) && l.src[end] == '"' {
			name := l.src[l.at:end]
			l.at = end
			return l.str(name)
		}
		l.add(tFormat, end)
	case isWordStart(c):
		end := l.name(l.at)
		kind := tIdent
		if keywords[l.src[l.at:end]] {
			kind = tKeyword
		}
		l.add(kind, end)
	default:
		l.operator()
	}
	return nil
}

func (l *lexer) operator() {
	for _, op := range []string{"?//=", "?//", "//=", "//", "|=", "+=", "-=", "*=", "/=", "%=", "==", "!=", "<=", ">=", ".."} {
		if strings.HasPrefix(l.src[l.at:], op) && op != "?//=" {
			l.add(tOp, l.at+len(op))
			return
		}
	}
	if strings.IndexByte(".[]{}()|,:;=<>+-*/%?$", l.src[l.at]) >= 0 {
		l.add(tOp, l.at+1)
		return
	}
	l.add(tInvalid, l.at+1)
}

func (l *lexer) number() {
	i := l.at
	for i < len(l.src) && isDigit(l.src[i]) {
		i++
	}
	if i < len(l.src) && l.src[i] == '.' {
		for i++; i < len(l.src) && isDigit(l.src[i]); {
			i++
		}
	}
	if i < len(l.src) && l.src[i]|0x20 == 'e' {
		k := i + 1
		if k < len(l.src) && (l.src[k] == '+' || l.src[k] == '-') {
			k++
		}
		if k < len(l.src) && isDigit(l.src[k]) {
			for i = k; i < len(l.src) && isDigit(l.src[i]); {
				i++
			}
		}
	}
	v, ok := parseNumber(l.src[l.at:i])
	if !ok {
		v = 0.0
	}
	l.toks = append(l.toks, token{kind: tLiteral, text: l.src[l.at:i], num: v, pos: l.at}) // bounded: take has charged for the token
	l.at = i
}

// maxNesting bounds how deep a program is nested: it is read by recursion.
const maxNesting = 1000

// str reads a string up to its closing quote; its interpolations become lists of tokens.
func (l *lexer) str(format string) error {
	if l.deep++; l.deep > maxNesting {
		return l.fail("program is nested too deep", l.at)
	}
	defer func() { l.deep-- }()
	t := token{kind: tString, text: format, pos: l.at}
	l.at++
	var plain []byte
	flush := func() error {
		if len(plain) == 0 {
			return nil
		}
		s, msg := unquote(plain)
		if msg != "" {
			return l.fail(msg, t.pos)
		}
		if err := l.take(); err != nil {
			return err
		}
		t.parts = append(t.parts, s) // bounded: take has charged for it
		plain = nil
		return nil
	}
	for {
		if l.at >= len(l.src) {
			return l.fail("syntax error, unexpected end of file, expecting QQSTRING_TEXT or QQSTRING_INTERP_START or QQSTRING_END (Unix shell quoting issues?)", l.at)
		}
		switch c := l.src[l.at]; {
		case c == '"':
			l.at++
			if err := flush(); err != nil {
				return err
			}
			l.toks = append(l.toks, t) // bounded: take has charged for the token
			return nil
		case c == '\\' && l.peek() == '(':
			if err := flush(); err != nil {
				return err
			}
			l.at += 2
			inner := &lexer{src: l.src, at: l.at, deep: l.deep, take: l.take}
			if err := inner.until(')'); err != nil {
				return err
			}
			if inner.at >= len(l.src) {
				return l.fail("syntax error, unexpected end of file (Unix shell quoting issues?)", inner.at)
			}
			t.parts = append(t.parts, inner.toks) // bounded: a list of tokens, which are charged
			l.at = inner.at + 1
		case c == '\\' && l.at+1 < len(l.src):
			plain = append(plain, c, l.src[l.at+1]) // bounded: by the text of the program
			l.at += 2
		default:
			plain = append(plain, c) // bounded: by the text of the program
			l.at++
		}
	}
}

func (l *lexer) fail(msg string, pos int) error { return syntaxError(l.src, msg, pos) }

// syntaxError returns the error at a position, with its line.
func syntaxError(src, msg string, pos int) error {
	pos = min(pos, len(src))
	line := strings.Count(src[:pos], "\n") + 1
	start := strings.LastIndexByte(src[:pos], '\n') + 1
	end := strings.IndexByte(src[start:], '\n')
	if end < 0 {
		end = len(src)
	} else {
		end += start
	}
	return &SyntaxError{fmt.Sprintf("%s at <top-level>, line %d:\n%s", msg, line, src[start:end])}
}
