package syntax

import (
	"fmt"
	"strings"
)

// condCommand reads [[ expression ]].
func (p *Parser) condCommand() Node {
	line := p.cur.line
	p.take()
	x := p.condOr()
	t := p.condTok()
	switch name := condName(t); {
	case t.lit() == "]]":
	case t.kind == tokEOF:
		p.condFail(t, line, "unexpected EOF while looking for `]]'")
	case name != "":
		p.condFail(t, line, "syntax error in conditional expression: unexpected token `%s'", name)
	default:
		p.condFail(t, line, "syntax error in conditional expression")
	}
	p.take()
	return &CondCmd{X: x}
}

// condTok returns the next token of an expression; newlines do not count before operands.
func (p *Parser) condTok() *token { return p.tok(ctxPattern) }

func (p *Parser) condSkip() *token {
	for p.condTok().kind == tokNewline {
		p.take()
	}
	return p.condTok()
}

// condFail ends the parse inside [[ ]]. bash prints the error but keeps the status, unless the
// input is over.
func (p *Parser) condFail(t *token, line int, format string, args ...any) {
	e := &Error{Line: line, Msg: fmt.Sprintf(format, args...)}
	if t.kind == tokEOF || p.pos >= len(p.src) && t.kind == tokNewline {
		e.EOF, e.Status = true, statusBad
	}
	if p.subst > 0 {
		e.Status = statusSubst
	}
	panic(e)
}

// condName returns a token as messages about [[ ]] show it, "" for a word.
func condName(t *token) string {
	if t.kind == tokWord && t.lit() != "]]" {
		return ""
	}
	return t.text()
}

// condMissing ends the parse at a token in an operand's place.
func (p *Parser) condMissing(t *token, op string) {
	if name := condName(t); name != "" {
		p.condFail(t, t.line, "unexpected argument `%s' to conditional %s operator", name, op)
	}
	p.condFail(t, t.line, "unexpected argument to conditional %s operator", op)
}

func (p *Parser) condOr() Cond {
	p.enter()
	defer func() { p.depth-- }()
	x := p.condAnd()
	for p.condSkipBefore("||") {
		p.take()
		x = &CondLogic{Or: true, X: x, Y: p.condAnd()}
	}
	return x
}

// condSkipBefore reports whether the operator follows, newlines apart.
func (p *Parser) condSkipBefore(op string) bool { return p.condSkip().is(op) }

func (p *Parser) condAnd() Cond {
	x := p.condTerm()
	for p.condSkipBefore("&&") {
		p.take()
		x = &CondLogic{X: x, Y: p.condTerm()}
	}
	return x
}

func (p *Parser) condTerm() Cond {
	t := p.condSkip()
	switch {
	case t.is("("):
		line := t.line
		p.take()
		x := p.condGroup(line)
		t = p.condSkip()
		switch name := condName(t); {
		case t.is(")"):
		case name != "":
			p.condFail(t, line, "unexpected token `%s', expected `)'", name)
		default:
			p.condFail(t, line, "expected `)'")
		}
		p.take()
		return &CondGroup{X: x}
	case t.lit() == "!":
		p.take()
		p.enter()
		defer func() { p.depth-- }()
		return &CondNot{X: p.condTerm()}
	case t.lit() == "]]":
		p.condFail(t, 0, "")
	case t.kind != tokWord:
		p.condFail(t, t.line, "unexpected token `%s' in conditional command", t.text())
	case isUnary(t.lit()):
		return p.condUnary(t)
	}
	return p.condBinary(t)
}

// condGroup reads the inside of ( ); an error there is also an error here.
func (p *Parser) condGroup(line int) Cond {
	defer func() {
		if r := recover(); r != nil {
			if e, ok := r.(*Error); ok && !strings.HasPrefix(e.Msg, "syntax error near") && p.subst == 0 {
				e.Then = append(e.Then, Message{line, "expected `)'"})
			}
			panic(r)
		}
	}()
	return p.condOr()
}

// isUnary reports whether s is an operator like -f.
func isUnary(s string) bool {
	return len(s) == 2 && s[0] == '-' && strings.IndexByte("abcdefghknoprstuvwxzGLNORS", s[1]) >= 0
}

// condUnary reads "-f word"; without a word behind it the operator is a word itself.
func (p *Parser) condUnary(t *token) Cond {
	op := t.word
	p.take()
	t = p.condTok()
	if t.kind == tokWord && t.lit() != "]]" {
		w := t.word
		p.take()
		return &CondUnary{Op: op.Text, X: w}
	}
	p.condMissing(t, "unary")
	return nil
}

func (p *Parser) condBinary(t *token) Cond {
	x := t.word
	p.take()
	t = p.condTok()
	op := ""
	switch {
	case t.is("<"), t.is(">"):
		op = t.op
	case t.kind == tokWord:
		op = t.lit()
	case t.is("&&"), t.is("||"), t.is(")"):
		return &CondWord{X: x}
	}
	switch op {
	case "=", "==", "!=", "=~", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef":
	case "]]":
		return &CondWord{X: x}
	default:
		if name := condName(t); name != "" {
			p.condFail(t, t.line, "unexpected token `%s', conditional binary operator expected", name)
		}
		p.condFail(t, t.line, "conditional binary operator expected")
	}
	p.take()
	return &CondBinary{Op: op, X: x, Y: p.condOperand(op)}
}

// condOperand reads the right side of a binary operator.
func (p *Parser) condOperand(op string) *Word {
	switch op {
	case "=~":
		p.blanks()
		if c := p.peek(); c == 0 || c == '\n' {
			p.have = false
			p.condMissing(p.condTok(), "binary")
		}
		return p.regexWord()
	case "=", "==", "!=":
		p.extGlob++
		defer func() { p.extGlob-- }()
	}
	p.have = false
	t := p.condTok()
	if t.kind != tokWord || t.lit() == "]]" {
		p.condMissing(t, "binary")
	}
	w := t.word
	p.take()
	return w
}
