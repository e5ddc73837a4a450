package syntax

import "strings"

// condCommand reads [[ expression ]].
func (p *Parser) condCommand() Node {
	p.take()
	x := p.condOr()
	t := p.condTok()
	if t.lit() != "]]" {
		p.condError(t)
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

func (p *Parser) condError(t *token) {
	if t.kind == tokEOF {
		p.unexpectedCondEOF()
	}
	panic(&Error{
		Line: t.line, Msg: "syntax error near `" + t.text() + "'", Source: p.lineAt(t.pos),
	})
}

func (p *Parser) unexpectedCondEOF() {
	panic(&Error{Line: p.line, Msg: "unexpected EOF while looking for `]]'", EOF: true})
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

// condSkipBefore tells whether the operator follows, newlines apart.
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
		p.take()
		x := p.condOr()
		if t = p.condSkip(); !t.is(")") {
			p.condError(t)
		}
		p.take()
		return &CondGroup{X: x}
	case t.lit() == "!":
		p.take()
		return &CondNot{X: p.condTerm()}
	case t.kind != tokWord || t.lit() == "]]":
		p.condError(t)
	case isUnary(t.lit()):
		return p.condUnary(t)
	}
	return p.condBinary(t)
}

// isUnary tells whether s is an operator like -f.
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
	if t.kind == tokWord || t.is("&&") || t.is("||") || t.is(")") {
		// bash takes -f as an operator whatever follows.
		panic(&Error{
			Line: t.line, Msg: "unexpected argument `" + t.text() + "' to conditional unary operator", Source: p.lineAt(t.pos),
		})
	}
	p.condError(t)
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
	case t.is("&&"), t.is("||"), t.is(")"), t.kind == tokNewline:
		return &CondWord{X: x}
	}
	switch op {
	case "=", "==", "!=", "=~", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef":
	case "]]":
		return &CondWord{X: x}
	default:
		if t.kind == tokEOF {
			p.unexpectedCondEOF()
		}
		if t.kind == tokWord || t.is("(") {
			panic(&Error{Line: t.line, Msg: "conditional binary operator expected", Source: p.lineAt(t.pos)})
		}
		p.condError(t)
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
			p.condError(p.condTok())
		}
		return p.regexWord()
	case "=", "==", "!=":
		p.extGlob++
		defer func() { p.extGlob-- }()
	}
	p.have = false
	t := p.condTok()
	if t.kind != tokWord || t.lit() == "]]" {
		panic(&Error{
			Line: t.line, Msg: "unexpected argument `" + t.text() + "' to conditional binary operator", Source: p.lineAt(t.pos),
		})
	}
	w := t.word
	p.take()
	return w
}
