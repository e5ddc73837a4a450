package shell

import (
	"math"
	"strings"
)

// expr is a compiled arithmetic expression. After an error sh.arithErr is set and the value
// means nothing.
type expr func(sh *interp) int64

// arithError is an expression that cannot be evaluated.
type arithError struct {
	text  string // the expression
	msg   string
	token string // what is left of it where the error is
	quiet bool   // already told
	fatal bool   // of a subscript: the command around it ends
}

func (e *arithError) Error() string {
	return strings.TrimLeft(e.text, " \t\n") + ": " + e.msg + " (error token is \"" + e.token + "\")"
}

// arithParser compiles an expression. An argument, the value of an expansion in the text, is
// written as \x01, its number as a byte, \x02.
type arithParser struct {
	lib   *library
	text  string
	pos   int
	tok   string // operator; "n" a number, "v" a variable, "a" an argument, "" the end
	num   int64
	name  string
	sub   string
	index bool // the variable has a subscript
	start int  // of tok
	last  int  // of the token before
	depth int

	changed bool    // the number before is what ++x or --x came to
	seen    *lvalue // the one compiled last
}

// maxArithDepth is how deep parentheses and evaluations of variables may go.
const maxArithDepth = 1024

// compileArith compiles the text; empty text is 0.
func compileArith(lib *library, text string) (x expr, err *arithError) {
	p := &arithParser{lib: lib, text: text}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*arithError)
			if !ok {
				panic(r)
			}
			x, err = nil, e
		}
	}()
	p.next()
	if p.tok == "" {
		return func(*interp) int64 { return 0 }, nil
	}
	x = p.comma()
	if p.tok != "" {
		p.fail("syntax error in expression")
	}
	return x, nil
}

// fail ends the compilation at the current token.
func (p *arithParser) fail(msg string) { panic(p.fault(msg, p.start)) }

// fault is an error at a place of the text.
func (p *arithParser) fault(msg string, at int) *arithError {
	return &arithError{text: p.text, msg: msg, token: p.text[at:]}
}

// arithOperators, longest first.
var arithOperators = []string{
	"<<=", ">>=", "**", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>", "+=", "-=", "*=", "/=", "%=", "&=", "^=", "|=", "++", "--",
}

// next reads a token.
func (p *arithParser) next() {
	p.last = p.start
	for p.pos < len(p.text) && (p.text[p.pos] == ' ' || p.text[p.pos] == '\t' || p.text[p.pos] == '\n' || p.text[p.pos] == '\r') {
		p.pos++
	}
	if p.pos >= len(p.text) {
		p.tok = "" // Messages show the last token there is.
		return
	}
	p.start = p.pos
	c := p.text[p.pos]
	switch {
	case c == 1 && p.pos+2 < len(p.text):
		p.tok, p.num = "a", int64(p.text[p.pos+1])
		p.pos += 3
		if p.pos < len(p.text) && (isNameByte(p.text[p.pos]) || p.text[p.pos] == 1 || p.text[p.pos] == '#' || p.text[p.pos] == '[') {
			p.fail("syntax error in expression") // The value joins its neighbour: only the text can tell.
		}
	case c >= '0' && c <= '9':
		p.number()
	case isNameByte(c):
		p.variable()
	default:
		p.operator()
	}
}

func isNameByte(c byte) bool {
	return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
}

func (p *arithParser) operator() {
	rest := p.text[p.pos:]
	for _, op := range arithOperators {
		if !strings.HasPrefix(rest, op) {
			continue
		}
		if op == "++" || op == "--" { // "2--1": two operators unless a name can take them
			after := strings.TrimLeft(rest[2:], " \t\n")
			prefix := after != "" && isNameByte(after[0]) && (after[0] < '0' || after[0] > '9')
			if p.tok == "n" && p.changed {
				p.fail(op + ": assignment requires lvalue")
			}
			if p.tok != "v" && !prefix {
				break
			}
		}
		p.tok = op
		p.pos += len(op)
		return
	}
	if strings.IndexByte("+-*/%<>=!~&|^?:,()", rest[0]) < 0 {
		if p.tok == "n" || p.tok == "v" || p.tok == "a" {
			p.fail("syntax error: invalid arithmetic operator")
		}
		p.fail("syntax error: operand expected")
	}
	p.tok = rest[:1]
	p.pos++
}

// variable reads a name with its subscript.
func (p *arithParser) variable() {
	start := p.pos
	for p.pos < len(p.text) && isNameByte(p.text[p.pos]) {
		p.pos++
	}
	if p.pos < len(p.text) && p.text[p.pos] == 1 {
		p.fail("syntax error in expression")
	}
	p.tok, p.name, p.index = "v", p.text[start:p.pos], false
	if p.pos < len(p.text) && p.text[p.pos] == '[' {
		end := subscriptEnd(p.text, p.pos)
		if end < 0 {
			p.start = start
			p.fail("bad array subscript")
		}
		p.sub, p.index = p.text[p.pos+1:end], true
		p.pos = end + 1
	}
}

// subscriptEnd returns where the bracket that opens at i closes, -1 when it does not.
func subscriptEnd(s string, i int) int {
	depth := 0
	for ; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '\'', '"':
			j := strings.IndexByte(s[i+1:], s[i])
			if j < 0 {
				return -1
			}
			i += j + 1
		case '$':
			if i+1 < len(s) && (s[i+1] == '{' || s[i+1] == '(') {
				if i = closing(s, i+1); i < 0 {
					return -1
				}
			}
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// closing returns where the brace or parenthesis at i closes, -1 when it does not.
func closing(s string, i int) int {
	open, shut := s[i], byte('}')
	if open == '(' {
		shut = ')'
	}
	depth := 0
	for ; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '\'':
			j := strings.IndexByte(s[i+1:], '\'')
			if j < 0 {
				return -1
			}
			i += j + 1
		case open:
			depth++
		case shut:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// number reads a constant: decimal, 0octal, 0xhex or base#digits.
func (p *arithParser) number() {
	start := p.pos
	for p.pos < len(p.text) && (isNameByte(p.text[p.pos]) || p.text[p.pos] == '#' || p.text[p.pos] == '@') {
		p.pos++
	}
	if p.pos < len(p.text) && p.text[p.pos] == 1 {
		p.fail("syntax error in expression")
	}
	n, msg := parseNumber(p.text[start:p.pos])
	if msg != "" {
		panic(p.fault(msg, start))
	}
	p.tok, p.num, p.changed = "n", n, false
}

// parseNumber returns the value of a constant, or what is wrong with it. Too large ones wrap.
func parseNumber(s string) (n int64, msg string) {
	base := uint64(10)
	digits := s
	if before, after, ok := strings.Cut(s, "#"); ok {
		if s[0] == '0' {
			return 0, "invalid number"
		}
		b, msg := parseNumber(before)
		if msg != "" || b < 2 || b > 64 {
			return 0, "invalid arithmetic base"
		}
		base, digits = uint64(b), after
		if digits == "" {
			return 0, "invalid integer constant"
		}
		if strings.IndexByte(digits, '#') >= 0 {
			return 0, "invalid number"
		}
	} else if len(s) > 1 && s[0] == '0' {
		base, digits = 8, s[1:]
		if s[1] == 'x' || s[1] == 'X' {
			base, digits = 16, s[2:]
			if digits == "" {
				return 0, ""
			}
		}
	}
	var v uint64
	for i := range len(digits) {
		d := digitValue(digits[i], base)
		if d >= base {
			return 0, "value too great for base"
		}
		v = v*base + d
	}
	return int64(v), ""
}

// digitValue returns what a digit stands for, a large number for no digit.
func digitValue(c byte, base uint64) uint64 {
	switch {
	case c >= '0' && c <= '9':
		return uint64(c - '0')
	case c >= 'a' && c <= 'z':
		return uint64(c-'a') + 10
	case c >= 'A' && c <= 'Z' && base <= 36:
		return uint64(c-'A') + 10
	case c >= 'A' && c <= 'Z':
		return uint64(c-'A') + 36
	case c == '@':
		return 62
	case c == '_':
		return 63
	}
	return math.MaxUint64
}
