package interpreter

// expr reads an expression. Assignments bind tighter than comparisons, as in GNU bc.
func (p *parser) expr() node {
	p.enter()
	defer func() { p.depth-- }()
	x := p.and()
	for n := 0; p.accept("||"); n++ {
		p.chain(n)
		x = &binaryNode{"||", x, p.and()}
	}
	return x
}

func (p *parser) and() node {
	x := p.not()
	for n := 0; p.accept("&&"); n++ {
		p.chain(n)
		x = &binaryNode{"&&", x, p.not()}
	}
	return x
}

func (p *parser) not() node {
	if p.is("!") {
		p.enter()
		defer func() { p.depth-- }()
		p.next()
		return &unaryNode{'!', p.not()}
	}
	return p.relation()
}

func (p *parser) relation() node {
	x := p.sum()
	for n := 0; p.tok.kind == tokenPunct; n++ {
		p.chain(n)
		switch p.tok.text {
		case "<", "<=", ">", ">=", "==", "!=":
		default:
			return x
		}
		op := p.tok.text
		p.next()
		x = &binaryNode{op, x, p.sum()}
	}
	return x
}

func (p *parser) sum() node {
	x := p.product()
	for n := 0; p.is("+") || p.is("-"); n++ {
		p.chain(n)
		op := p.tok.text
		p.next()
		x = &binaryNode{op, x, p.product()}
	}
	return x
}

func (p *parser) product() node {
	x := p.power()
	for n := 0; p.is("*") || p.is("/") || p.is("%"); n++ {
		p.chain(n)
		op := p.tok.text
		p.next()
		x = &binaryNode{op, x, p.power()}
	}
	return x
}

func (p *parser) power() node {
	x := p.unary()
	if p.is("^") {
		p.enter()
		defer func() { p.depth-- }()
		p.next()
		return &binaryNode{"^", x, p.power()}
	}
	return x
}

func (p *parser) unary() node {
	p.enter()
	defer func() { p.depth-- }()
	switch {
	case p.accept("-"):
		return &unaryNode{'-', p.unary()}
	case p.is("++") || p.is("--"):
		by := int64(1)
		if p.tok.text == "--" {
			by = -1
		}
		p.next()
		x := p.primary()
		if !isAssignable(x) {
			p.fail()
		}
		return &stepNode{x, by, true}
	}
	return p.postfix()
}

func isAssignable(x node) bool {
	switch x.(type) {
	case *varNode, *ownNode:
		return true
	}
	return false
}

func (p *parser) postfix() node {
	x := p.primary()
	if !isAssignable(x) || p.tok.kind != tokenPunct {
		return x
	}
	switch p.tok.text {
	case "++":
		p.next()
		return &stepNode{x, 1, false}
	case "--":
		p.next()
		return &stepNode{x, -1, false}
	case "=":
		p.next()
		return &assignNode{0, x, p.assigned()}
	case "+=", "-=", "*=", "/=", "%=", "^=":
		op := p.tok.text[0]
		p.next()
		return &assignNode{op, x, p.assigned()}
	}
	return x
}

// assigned reads the right side of an assignment.
func (p *parser) assigned() node { return p.sum() }

func (p *parser) primary() node {
	t := p.tok
	switch t.kind {
	case tokenNumber:
		p.next()
		if t.text == "." {
			return &ownNode{"last"}
		}
		return &numberNode{text: t.text}
	case tokenName:
		p.next()
		return p.named(t.text)
	case tokenWord:
		return p.builtin()
	case tokenPunct:
		if p.accept("(") {
			x := p.expr()
			p.expect(")")
			if _, ok := x.(*assignNode); ok || isAssignable(x) {
				return &unaryNode{'+', x} // Shown, and no variable.
			}
			return x
		}
	default:
	}
	p.fail()
	return nil
}

func (p *parser) named(name string) node {
	switch {
	case p.accept("["):
		if p.calls > 0 && p.accept("]") {
			return &varNode{name, wholeNode{}}
		}
		x := p.expr()
		p.expect("]")
		return &varNode{name, x}
	case p.accept("("):
		c := &callNode{name: name}
		p.calls++
		for !p.is(")") {
			c.args = append(c.args, p.argument()) // bounded: by the tokens of the program, which are charged
			if !p.accept(",") {
				break
			}
		}
		p.calls--
		p.expect(")")
		return c
	}
	return &varNode{name: name}
}

// argument reads an argument: an expression, or the name of an array with empty brackets.
func (p *parser) argument() argument {
	x := p.expr()
	if v, ok := x.(*varNode); ok {
		if _, ok := v.index.(wholeNode); ok {
			return argument{array: v.name}
		}
	}
	return argument{x: x}
}

func (p *parser) builtin() node {
	name := p.tok.text
	switch name {
	case "length", "sqrt", "scale":
		p.next()
		if name == "scale" && !p.is("(") {
			return &ownNode{name}
		}
		p.expect("(")
		x := p.expr()
		p.expect(")")
		return &builtinNode{name, x}
	case "ibase", "obase", "last":
		p.next()
		return &ownNode{name}
	case "read":
		p.next()
		p.expect("(")
		p.expect(")")
		return &builtinNode{name, nil}
	}
	p.fail()
	return nil
}
