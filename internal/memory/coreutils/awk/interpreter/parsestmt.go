package interpreter

func (p *parser) block() statement {
	p.expect("{")
	p.enter()
	defer p.leave()
	var list []statement
	p.terminators()
	for !p.is("}") {
		if p.tok().kind == tokenEnd {
			p.unexpected()
		}
		list = append(list, p.statement()) // bounded: by the tokens of the program, which are charged
		p.terminators()
	}
	p.at++
	return &blockStmt{list}
}

// statement reads a statement with its terminator.
func (p *parser) statement() statement {
	p.enter()
	defer p.leave()
	t := p.tok()
	if t.kind == tokenPunct {
		switch t.text {
		case "{":
			return p.block()
		case ";":
			p.at++
			return &blockStmt{}
		}
	}
	if t.kind == tokenKeyword {
		switch t.text {
		case "if":
			return p.ifStatement()
		case "while":
			p.at++
			cond := p.condition()
			if p.accept(";") {
				return &whileStmt{cond: cond, body: &blockStmt{}}
			}
			return &whileStmt{cond: cond, body: p.body(true)}
		case "do":
			return p.doStatement()
		case "for":
			return p.forStatement()
		case "switch":
			return p.switchStatement()
		}
	}
	s := p.simple()
	p.endStatement()
	return s
}

// endStatement reads the terminator of a simple statement.
func (p *parser) endStatement() {
	switch t := p.tok(); {
	case t.kind == tokenNewline || p.is(";"):
		p.at++
	case p.is("}") || t.kind == tokenEnd:
	default:
		p.unexpected()
	}
}

// condition reads an expression in parentheses.
func (p *parser) condition() node {
	p.expect("(")
	x := p.inside(p.expr)
	p.expect(")")
	return x
}

// inside reads the text in parentheses with f, where "in" and ">" have their usual meaning again.
func (p *parser) inside(f func() node) node {
	noIn, noGt := p.noIn, p.noGt
	p.noIn, p.noGt = 0, 0
	p.newlines()
	x := f()
	p.newlines()
	p.noIn, p.noGt = noIn, noGt
	return x
}

// body reads the statement behind a condition.
func (p *parser) body(loop bool) statement {
	p.newlines()
	if loop {
		p.loops++
		defer func() { p.loops-- }()
	}
	return p.statement()
}

func (p *parser) ifStatement() statement {
	p.at++
	s := &ifStmt{cond: p.condition()}
	s.yes = p.body(false)
	back := p.at
	p.terminators()
	if !p.accept("else") {
		p.at = back
		return s
	}
	s.no = p.body(false)
	return s
}

func (p *parser) doStatement() statement {
	p.at++
	body := p.body(true)
	p.terminators()
	p.expect("while")
	s := &whileStmt{cond: p.condition(), body: body, post: true}
	p.endStatement()
	return s
}

func (p *parser) forStatement() statement {
	pos := p.tok().pos
	p.at++
	p.expect("(")
	p.newlines()
	if s := p.forIn(pos); s != nil {
		return s
	}
	s := &forStmt{}
	if !p.is(";") {
		s.init = p.simple()
	}
	p.expect(";")
	p.newlines()
	if !p.is(";") {
		s.cond = p.expr()
	}
	p.expect(";")
	p.newlines()
	if !p.is(")") {
		s.step = p.simple()
	}
	p.newlines()
	p.expect(")")
	if p.accept(";") {
		s.body = &blockStmt{}
		return s
	}
	s.body = p.body(true)
	return s
}

// forIn reads the rest of "for (x in a)"; nil when it is another loop.
func (p *parser) forIn(pos int) statement {
	if p.tok().kind != tokenName || !p.peek(1).is("in") || p.peek(2).kind != tokenName {
		return nil
	}
	back := p.at
	v := p.lvalueName()
	p.at++
	array := p.arrayRef()
	if !p.accept(")") {
		p.at = back
		return nil
	}
	s := &forInStmt{v: v, array: array, pos: pos}
	p.isArray(array)
	if p.accept(";") {
		s.body = &blockStmt{}
		return s
	}
	s.body = p.body(true)
	return s
}

func (p *parser) lvalueName() node {
	t := p.tok()
	if t.kind != tokenName {
		p.unexpected()
	}
	p.at++
	return &nameNode{name: t.text, pos: t.pos, sym: p.symbol(t)}
}

// arrayRef reads the name of an array, or of one in it.
func (p *parser) arrayRef() node {
	x := p.lvalueName()
	for p.is("[") {
		x = p.index(x)
	}
	return x
}

func (p *parser) switchStatement() statement {
	p.at++
	s := &switchStmt{x: p.condition()}
	p.newlines()
	p.expect("{")
	p.newlines()
	p.cases++
	defer func() { p.cases-- }()
	for !p.accept("}") {
		c := switchCase{}
		switch {
		case p.accept("case"):
			c.value = p.caseValue()
		case p.accept("default"):
		default:
			p.unexpected()
		}
		p.newlines()
		p.expect(":")
		p.terminators()
		for !p.is("case") && !p.is("default") && !p.is("}") {
			c.body = append(c.body, p.statement()) // bounded: by the tokens of the program, which are charged
			p.terminators()
		}
		s.cases = append(s.cases, c) // bounded: by the tokens of the program, which are charged
	}
	return s
}

func (p *parser) caseValue() node {
	t := p.tok()
	p.at++
	switch {
	case t.kind == tokenNumber:
		return &numberNode{t.number}
	case t.kind == tokenString:
		return &textNode{t.text}
	case t.kind == tokenRegex:
		return &regexNode{t.text, t.pos}
	case t.is("-") && p.tok().kind == tokenNumber:
		p.at++
		return &numberNode{-p.peek(-1).number}
	case t.is("+") && p.tok().kind == tokenNumber:
		p.at++
		return &numberNode{p.peek(-1).number}
	}
	p.at--
	p.unexpected()
	return nil
}

// simple reads a statement without its terminator.
func (p *parser) simple() statement {
	t := p.tok()
	if t.kind != tokenKeyword {
		return &exprStmt{p.expr()}
	}
	switch t.text {
	case "print", "printf":
		return p.print()
	case "break", "continue", "next", "nextfile":
		return p.jump()
	case "exit":
		p.at++
		return &exitStmt{p.optional()}
	case "return":
		if p.fn == nil {
			p.fail(t.pos, "`return' used outside function context")
		}
		p.at++
		return &returnStmt{p.optional()}
	case "delete":
		return p.remove()
	}
	return &exprStmt{p.expr()}
}

// optional reads an expression if there is one before the end of the statement.
func (p *parser) optional() node {
	if t := p.tok(); t.kind == tokenNewline || t.kind == tokenEnd || p.is(";") || p.is("}") {
		return nil
	}
	return p.expr()
}

func (p *parser) jump() statement {
	t := p.tok()
	p.at++
	switch t.text {
	case "break":
		if p.loops == 0 && p.cases == 0 {
			p.failBare(t.pos, "error: `break' is not allowed outside a loop or switch")
		}
		return &jumpStmt{ctlBreak, t.pos}
	case "continue":
		if p.loops == 0 {
			p.failBare(t.pos, "error: `continue' is not allowed outside a loop")
		}
		return &jumpStmt{ctlContinue, t.pos}
	}
	if p.where == "BEGIN" || p.where == "END" || p.where != "" && (t.text == "next" || p.where == "ENDFILE") {
		p.failBare(t.pos, "error: `%s' used in %s action", t.text, p.where)
	}
	if t.text == "next" {
		return &jumpStmt{ctlNext, t.pos}
	}
	return &jumpStmt{ctlNextFile, t.pos}
}

func (p *parser) remove() statement {
	p.at++
	open := p.accept("(")
	x := p.arrayRef()
	if open {
		p.expect(")")
	}
	if i, ok := x.(*indexNode); ok {
		p.isArray(i.array)
		return &deleteStmt{i.array, i.subs}
	}
	p.isArray(x)
	return &deleteStmt{x, nil}
}

func (p *parser) print() statement {
	t := p.tok()
	p.at++
	s := &printStmt{printf: t.text == "printf", pos: t.pos}
	p.noGt++
	if p.is("(") && p.listInParens() {
		p.at++
		s.args = p.list(")")
		p.expect(")")
	} else if k := p.tok().kind; k != tokenNewline && k != tokenEnd && !p.printEnds() {
		for {
			s.args = append(s.args, p.expr()) // bounded: by the tokens of the program, which are charged
			if !p.accept(",") {
				break
			}
			p.newlines()
		}
	}
	if len(s.args) == 0 && s.printf {
		p.fail(p.tok().pos, "syntax error")
	}
	switch {
	case p.accept(">"):
		s.kind = '>'
	case p.accept(">>"):
		s.kind = 'a'
	case p.accept("|"):
		s.kind = '|'
	case p.accept("|&"):
		s.kind = '&'
	}
	if s.kind != 0 {
		s.dest = p.concatenation()
	}
	p.noGt--
	return s
}

// printEnds reports whether a print has no more expressions.
func (p *parser) printEnds() bool {
	t := p.tok()
	if t.kind == tokenNewline || t.kind == tokenEnd {
		return true
	}
	switch t.text {
	case ";", "}", ">", ">>", "|", "|&":
		return t.kind == tokenPunct
	}
	return false
}

// listInParens reports whether the parentheses here hold all that is printed.
func (p *parser) listInParens() bool {
	depth := 0
	for i := p.at; i < len(p.tokens); i++ {
		switch t := p.tokens[i]; {
		case t.is("("):
			depth++
		case t.is(")"):
			if depth--; depth == 0 {
				back := p.at
				p.at = i + 1
				ends := p.printEnds()
				p.at = back
				return ends
			}
		}
	}
	return false
}
