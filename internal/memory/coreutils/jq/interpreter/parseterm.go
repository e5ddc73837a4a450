package interpreter

// postfix reads a term with its postfix operators.
func (p *parser) postfix() expr {
	e := p.term()
	for {
		t := p.cur()
		switch {
		case t.kind == tField:
			p.at++
			e = index{e, literal{t.text[1:]}}
		case p.is("."):
			p.at++
			switch {
			case p.cur().kind == tString:
				e = index{e, p.str(p.next())}
			case p.is("["):
				p.at++
				e = p.bracket(e)
			default:
				p.unexpected("FORMAT or QQSTRING_START or '['")
			}
		case p.is("["):
			p.at++
			e = p.bracket(e)
		case p.is("?"):
			p.at++
			e = try{body: e}
		case p.is("?//"):
			p.toks[p.at].text = "//"
			e = try{body: e}
		case p.is("as"):
			return p.binding(e)
		default:
			return e
		}
	}
}

// bracket reads the text in [] behind a term.
func (p *parser) bracket(target expr) expr {
	defer p.nested()()
	if p.accept("]") {
		return iter{target}
	}
	if p.accept(":") {
		to := p.pipe()
		p.expect("]")
		return slice{target, nil, to}
	}
	at := p.pipe()
	if !p.accept(":") {
		p.expect("]")
		return index{target, at}
	}
	if p.accept("]") {
		return slice{target, at, nil}
	}
	to := p.pipe()
	p.expect("]")
	return slice{target, at, to}
}

func (p *parser) term() expr {
	defer p.nested()()
	t := p.cur()
	switch t.kind {
	case tLiteral:
		p.at++
		return literal{t.num}
	case tString:
		return p.str(p.next())
	case tFormat:
		p.at++
		if next := p.cur(); next.kind == tString && next.text == "" {
			p.at++
			next.text = t.text
			return p.str(next)
		}
		return format{t.text}
	case tField:
		p.at++
		return index{identity{}, literal{t.text[1:]}}
	case tBinding:
		p.at++
		if t.text == "$__loc__" {
			return location{lineOf(p.src, t.pos)}
		}
		return variable{t.text[1:], t.pos}
	case tIdent:
		return p.callTerm()
	case tKeyword:
		return p.keywordTerm(t)
	case tOp:
		return p.opTerm(t)
	default:
	}
	p.unexpected("")
	return nil
}

func lineOf(src string, pos int) int {
	n := 1
	for i := range min(pos, len(src)) {
		if src[i] == '\n' {
			n++
		}
	}
	return n
}

func (p *parser) callTerm() expr {
	t := p.next()
	if t.text == "break" {
		b := p.next()
		if b.kind != tBinding {
			p.at--
			p.fail("break requires a label to break to", b.pos)
		}
		return breakTo{b.text[1:], b.pos}
	}
	if !p.is("(") {
		switch t.text {
		case "null":
			return literal{nil}
		case "true":
			return literal{true}
		case "false":
			return literal{false}
		}
	}
	c := call{name: t.text, pos: t.pos}
	if p.accept("(") {
		for {
			c.args = append(c.args, p.pipe()) // bounded: by the tokens of the program, which are charged
			if !p.accept(";") {
				break
			}
		}
		p.expect(")")
	}
	return c
}

func (p *parser) keywordTerm(t token) expr {
	switch t.text {
	case "if":
		return p.branch()
	case "try":
		p.at++
		e := try{body: p.postfixNoTry()}
		if p.accept("catch") {
			e.handler = p.postfixNoTry()
		}
		return e
	case "reduce":
		p.at++
		r := reduce{source: p.postfixNoBind()}
		p.expect("as")
		r.patterns = p.patterns()
		p.expect("(")
		r.init = p.pipe()
		p.expect(";")
		r.update = p.pipe()
		p.expect(")")
		return r
	case "foreach":
		p.at++
		f := foreach{source: p.postfixNoBind()}
		p.expect("as")
		f.patterns = p.patterns()
		p.expect("(")
		f.init = p.pipe()
		p.expect(";")
		f.update = p.pipe()
		if p.accept(";") {
			f.extract = p.pipe()
		}
		p.expect(")")
		return f
	case "def":
		return p.pipe()
	case "label":
		return p.pipe()
	}
	p.unexpected("")
	return nil
}

// postfixNoTry parses the operand of try and catch: a term with its postfixes, but without "as".
func (p *parser) postfixNoTry() expr { return p.postfixNoBind() }

func (p *parser) postfixNoBind() expr {
	e := p.term()
	for {
		t := p.cur()
		switch {
		case t.kind == tField:
			p.at++
			e = index{e, literal{t.text[1:]}}
		case p.is(".") && p.toks[min(p.at+1, len(p.toks)-1)].kind == tString:
			p.at++
			e = index{e, p.str(p.next())}
		case p.is(".") && p.toks[min(p.at+1, len(p.toks)-1)].text == "[":
			p.at += 2
			e = p.bracket(e)
		case p.is("["):
			p.at++
			e = p.bracket(e)
		case p.is("?"):
			p.at++
			e = try{body: e}
		case p.is("?//"):
			// Outside of patterns it is a ? and a //.
			p.toks[p.at].text = "//"
			e = try{body: e}
		default:
			return e
		}
	}
}

func (p *parser) branch() expr {
	defer p.nested()()
	p.at++ // if or elif
	b := branch{cond: p.pipe()}
	p.expect("then")
	b.then = p.pipe()
	switch {
	case p.is("elif"):
		b.other = p.branch()
		return b
	case p.accept("else"):
		b.other = p.pipe()
	}
	p.expect("end")
	return b
}

func (p *parser) opTerm(t token) expr {
	switch t.text {
	case ".":
		p.at++
		switch {
		case p.cur().kind == tString:
			return index{identity{}, p.str(p.next())}
		case p.is("["):
			p.at++
			return p.bracket(identity{})
		}
		return identity{}
	case "..":
		p.at++
		return recurse{}
	case "(":
		p.at++
		e := p.pipe()
		p.expect(")")
		return e
	case "[":
		p.at++
		if p.accept("]") {
			return list{}
		}
		e := p.pipe()
		p.expect("]")
		return list{e}
	case "{":
		return p.object()
	case "-":
		return p.unary()
	}
	p.unexpected("")
	return nil
}

// str makes an expression of a string token.
func (p *parser) str(t token) expr {
	e := text{format: t.text}
	for _, part := range t.parts {
		toks, ok := part.([]token)
		if !ok {
			e.parts = append(e.parts, part)
			continue
		}
		inner := &parser{src: p.src, toks: toks, deep: p.deep + 1}
		if inner.deep > maxNesting {
			p.fail("program is nested too deep", t.pos)
		}
		x := inner.pipe()
		if inner.cur().kind != tEnd {
			inner.unexpected("QQSTRING_INTERP_END")
		}
		e.parts = append(e.parts, x)
	}
	if e.format == "" {
		if s, ok := constantOf(e); ok {
			return literal{s}
		}
	}
	return e
}

func (p *parser) object() expr {
	p.expect("{")
	o := object{}
	if p.accept("}") {
		return o
	}
	for {
		o.entries = append(o.entries, p.entry()) // bounded: by the tokens of the program, which are charged
		if !p.accept(",") {
			break
		}
		if p.is("}") {
			p.unexpected("")
		}
	}
	p.expect("}")
	return o
}

func (p *parser) entry() entry {
	t := p.cur()
	var e entry
	switch {
	case t.kind == tBinding:
		p.at++
		if t.text == "$__loc__" {
			e.key = literal{"__loc__"}
			e.value = location{lineOf(p.src, t.pos)}
			return e
		}
		e.key, e.variable = literal{t.text[1:]}, t.text[1:]
		e.value = variable{t.text[1:], t.pos}
		return e
	case t.kind == tIdent || t.kind == tKeyword:
		p.at++
		e.key = literal{t.text}
	case t.kind == tLiteral:
		p.at++
		e.key = literal{t.num}
		p.fail("Object keys must be strings", t.pos)
	case t.kind == tString:
		e.key = p.str(p.next())
	case t.kind == tFormat:
		p.at++
		e.key = format{t.text}
		if next := p.cur(); next.kind == tString && next.text == "" {
			p.at++
			next.text = t.text
			e.key = p.str(next)
		}
	case p.accept("("):
		e.key = p.pipe()
		p.expect(")")
		p.expect(":")
		e.value = p.objectValue()
		return e
	default:
		p.unexpected("")
	}
	if p.accept(":") {
		e.value = p.objectValue()
	}
	return e
}

// objectValue has no commas and no operators but | outside of parentheses.
func (p *parser) objectValue() expr {
	defer p.nested()()
	var l expr
	if p.accept("-") {
		l = negate{p.postfixNoBind()}
	} else {
		l = p.postfixNoBind()
	}
	if p.accept("|") {
		return pipe{l, p.objectValue()}
	}
	return l
}
