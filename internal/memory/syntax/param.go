package syntax

import "strings"

// braced reads ${...}. Text that is not a parameter expansion becomes one that is Bad: bash
// complains only when it comes to expand it.
func (p *Parser) braced(m mode) Part {
	return p.once(m, func() Part { return p.readBraced(m) })
}

func (p *Parser) readBraced(m mode) Part {
	start, line := p.pos, p.line
	p.pos++
	p.peek()
	p.pos++
	if c := p.peek(); c == ' ' || c == '\t' || c == '\n' || c == '|' {
		return p.badParam(start, line)
	}
	x := &Param{Quoted: m.dq}
	p.trying++
	good := p.paramHead(x) && p.paramOp(x, m) && p.peek() == '}'
	p.trying--
	if !good {
		if p.peek() == 0 && p.pos >= len(p.src) {
			p.unclosed(line, "}")
		}
		return p.badParam(start, line)
	}
	p.pos++
	x.Text = p.src[start:p.pos]
	return x
}

// badParam skips to the end of the braces.
func (p *Parser) badParam(start, line int) Part {
	p.pos, p.line = start+2, line
	p.parts(mode{stop: "}", nest: '{', noPat: true})
	p.closer('}', line)
	return &Param{Bad: true, Text: p.src[start:p.pos]}
}

// paramHead reads up to the operator: #, !, the name and a subscript.
func (p *Parser) paramHead(x *Param) bool {
	switch p.peek() {
	case '#':
		if p.lengthFollows() {
			x.Length = true
			p.pos++
		}
	case '!':
		c := p.peek2()
		if isNameByte(c) || c == '@' || c == '*' || c == '#' || c == '?' || c == '$' || c == '-' && false {
			x.Indirect = true
			p.pos++
		}
	}
	if !p.paramName(x) {
		return false
	}
	if p.peek() == '[' && IsName(x.Name) {
		start, line := p.pos, p.line
		if x.Index = p.subscript(); x.Index == nil {
			p.pos, p.line = start, line
			return false
		}
		if x.Index.Text == "" {
			return false
		}
	}
	if c := p.peek(); x.Indirect && x.Index == nil && (c == '@' || c == '*') && p.peek2() == '}' {
		x.Indirect, x.Names = false, c
		p.pos++
	}
	return true
}

// lengthFollows reports whether ${# begins a length: a parameter and then the end.
func (p *Parser) lengthFollows() bool {
	rest := p.src[p.pos+1:]
	if rest == "" || rest[0] == '}' {
		return false
	}
	if n := nameLen(rest); n > 0 {
		return true
	}
	if rest[0] >= '0' && rest[0] <= '9' || rest[0] == '@' || rest[0] == '*' {
		return true
	}
	return len(rest) > 1 && rest[1] == '}' && strings.IndexByte("#?$!-", rest[0]) >= 0
}

func (p *Parser) paramName(x *Param) bool {
	c := p.peek()
	switch {
	case isNameByte(c):
		digit := c >= '0' && c <= '9'
		var name []byte
		for c = p.peek(); isNameByte(c) && (!digit || c >= '0' && c <= '9'); c = p.peek() {
			name = append(name, c)
			p.pos++
		}
		x.Name = string(name)
		if digit { // ${01} is ${1}
			if x.Name = strings.TrimLeft(x.Name, "0"); x.Name == "" {
				x.Name = "0"
			}
		}
		return true
	case c != 0 && strings.IndexByte("@*#?-$!", c) >= 0:
		x.Name = string(c)
		p.pos++
		return true
	}
	return false
}

// paramOp reads the operator and its operands.
func (p *Parser) paramOp(x *Param, m mode) bool {
	c := p.peek()
	if c == '}' {
		return true
	}
	if x.Length || x.Names != 0 {
		return false
	}
	switch c {
	case ':':
		p.pos++
		if c2 := p.peek(); c2 != 0 && strings.IndexByte("-=?+", c2) >= 0 {
			p.pos++
			x.Op = ":" + string(c2)
			x.Arg = p.operand(m, false, "}")
			return true
		}
		if c2 := p.peek(); c2 == '}' {
			return false
		}
		x.Op = ":"
		x.Arg = p.sliceExpr(":}")
		if p.peek() == ':' {
			p.pos++
			x.Arg2 = p.sliceExpr("}")
		}
		return true
	case '-', '=', '?', '+':
		p.pos++
		x.Op = string(c)
		x.Arg = p.operand(m, false, "}")
		return true
	case '#', '%', '^', ',', '~':
		p.pos++
		x.Op = string(c)
		if p.peek() == c {
			p.pos++
			x.Op += string(c)
		}
		x.Arg = p.operand(m, true, "}")
		return true
	case '/':
		p.replaceOp(x, m)
		return true
	case '@':
		p.pos++
		return p.transformOp(x)
	}
	return false
}

// transformOp reads the letter behind @. Other text is an error only when the parameter is set.
func (p *Parser) transformOp(x *Param) bool {
	start := p.pos
	p.parts(mode{stop: "}", noPat: true})
	letter := p.src[start:p.pos]
	x.Op = "@" + letter
	if len(letter) != 1 || strings.IndexByte("QEPAKakUuL", letter[0]) < 0 {
		x.Op = "@?"
	}
	return true
}

// operand reads the word behind an operator. Inside double quotes it follows their rules,
// except that a pattern may quote.
func (p *Parser) operand(o mode, pattern bool, stop string) *Word {
	w := &Word{Line: p.line}
	start := p.pos
	m := mode{stop: stop, procs: !o.dq, noPat: true}
	if o.dq && !pattern {
		m.dq, m.braced, m.esc = true, !o.here, dqEscapes+"}"
	}
	w.Parts = p.parts(m)
	w.Text = p.src[start:p.pos]
	return w
}

// replaceOp reads /pattern/string.
func (p *Parser) replaceOp(x *Param, m mode) {
	p.pos++
	x.Op = "/"
	if c := p.peek(); c == '/' || c == '#' || c == '%' {
		if c != '/' || p.peek2() != '}' {
			x.Op += string(c)
			p.pos++
		}
	}
	if p.peek() == '/' && x.Op == "//" { // ${x///y}: the pattern is "/"
		w := &Word{Line: p.line}
		p.pos++
		rest := p.operand(m, true, "/}")
		var list joined
		list.add(&Lit{"/"})
		list.add(rest.Parts...)
		w.Parts, w.Text = list.parts(), "/"+rest.Text
		x.Arg = w
	} else {
		x.Arg = p.operand(m, true, "/}")
	}
	if p.peek() == '/' {
		p.pos++
		x.Arg2 = p.operand(m, true, "}")
	}
}

// sliceExpr reads an arithmetic operand of ${x:a:b}; ?: and brackets keep their colons.
func (p *Parser) sliceExpr(stop string) *Word {
	p.enter()
	defer func() { p.depth-- }()
	w := &Word{Line: p.line}
	var list joined
	start := p.pos
	question := 0
	for {
		c := p.peek()
		if c == 0 || c == '}' || c == ':' && question == 0 && stop[0] == ':' {
			break
		}
		p.step()
		switch c {
		case '?':
			question++
		case ':':
			question--
		case '(':
			p.skip()
			list.add(&Lit{"("})
			list.add(p.parts(mode{stop: ")", nest: '(', dq: true, esc: dqEscapes})...)
			continue
		}
		list.add(p.part(mode{stop: stop + "?:(", dq: true, esc: dqEscapes}, c))
	}
	w.Parts = list.parts()
	w.Text = p.src[start:p.pos]
	return w
}
