package interpreter

// expr reads an expression of the lowest rank.
func (p *parser) expr() node {
	p.enter()
	defer p.leave()
	cond := p.or()
	if !p.is("?") {
		return cond
	}
	p.at++
	p.newlines()
	yes := p.expr()
	p.newlines()
	p.expect(":")
	p.newlines()
	return &condNode{cond, yes, p.expr()}
}

func (p *parser) or() node {
	x := p.and()
	for n := 0; p.is("||"); n++ {
		p.chain(n)
		pos := p.tok().pos
		p.at++
		p.newlines()
		x = &binaryNode{"||", x, p.and(), pos}
	}
	return x
}

func (p *parser) and() node {
	x := p.membership()
	for n := 0; p.is("&&"); n++ {
		p.chain(n)
		pos := p.tok().pos
		p.at++
		p.newlines()
		x = &binaryNode{"&&", x, p.membership(), pos}
	}
	return x
}

func (p *parser) membership() node {
	x := p.matching()
	for n := 0; p.noIn == 0 && p.accept("in"); n++ {
		p.chain(n)
		array := p.arrayRef()
		p.isArray(array)
		if l, ok := x.(*listNode); ok {
			x = &inNode{l.list, array}
		} else {
			x = &inNode{[]node{x}, array}
		}
	}
	if _, ok := x.(*listNode); ok {
		p.unexpected()
	}
	return x
}

func (p *parser) matching() node {
	x := p.comparison()
	for n := 0; p.is("~") || p.is("!~"); n++ {
		p.chain(n)
		neg := p.tok().text == "!~"
		p.at++
		x = &matchNode{neg, x, p.comparison()}
	}
	return x
}

func (p *parser) comparison() node {
	x := p.piped()
	t := p.tok()
	if t.kind != tokenPunct {
		return x
	}
	switch t.text {
	case ">":
		if p.noGt > 0 {
			return x
		}
	case "<", "<=", "==", "!=", ">=":
	default:
		return x
	}
	p.at++
	x = &binaryNode{t.text, x, p.piped(), t.pos}
	if p.is("|") && p.peek(1).is("getline") {
		return p.pipes(x)
	}
	return x
}

// piped reads a concatenation, and "| getline" behind it.
func (p *parser) piped() node { return p.pipes(p.concatenation()) }

func (p *parser) pipes(x node) node {
	for n := 0; (p.is("|") || p.is("|&")) && p.peek(1).is("getline"); n++ {
		p.chain(n)
		kind := byte('|')
		if p.is("|&") {
			kind = '&'
		}
		pos := p.tok().pos
		p.at += 2
		x = &getlineNode{kind: kind, source: x, target: p.target(), pos: pos}
	}
	return x
}

// target reads the variable that getline reads into; nil when there is none.
func (p *parser) target() node {
	if t := p.tok(); t.kind == tokenName || p.is("$") {
		x := p.lvalue()
		p.isScalar(x)
		return x
	}
	return nil
}

func (p *parser) concatenation() node {
	x := p.additive()
	for n := 0; p.startsOperand(); n++ {
		p.chain(n)
		x = &binaryNode{" ", x, p.additive(), 0}
	}
	return x
}

// startsOperand reports whether the next token begins the right side of a concatenation.
func (p *parser) startsOperand() bool {
	t := p.tok()
	switch t.kind {
	case tokenNumber, tokenString, tokenRegex, tokenName, tokenCall, tokenBuiltin:
		return true
	case tokenPunct:
		switch t.text {
		case "$", "(", "!", "++", "--", "-", "+":
			return true
		}
	default:
	}
	return false
}

func (p *parser) additive() node {
	x := p.multiplicative()
	for n := 0; p.is("+") || p.is("-"); n++ {
		p.chain(n)
		t := p.tok()
		p.at++
		x = &binaryNode{t.text, x, p.multiplicative(), t.pos}
	}
	return x
}

func (p *parser) multiplicative() node {
	x := p.unary()
	for n := 0; p.is("*") || p.is("/") || p.is("%"); n++ {
		p.chain(n)
		t := p.tok()
		p.at++
		x = &binaryNode{t.text, x, p.unary(), t.pos}
	}
	return x
}

func (p *parser) unary() node {
	p.enter()
	defer p.leave()
	t := p.tok()
	if t.kind == tokenPunct && (t.text == "!" || t.text == "-" || t.text == "+") {
		p.at++
		return &unaryNode{t.text, p.unary()}
	}
	return p.power()
}

func (p *parser) power() node {
	x := p.postfix()
	if !p.is("^") {
		return x
	}
	pos := p.tok().pos
	p.at++
	p.enter()
	defer p.leave()
	// A sign is allowed here, and applies to the rest, also to further powers.
	if t := p.tok(); t.kind == tokenPunct && (t.text == "-" || t.text == "+" || t.text == "!") {
		p.at++
		return &binaryNode{"^", x, &unaryNode{t.text, p.power()}, pos}
	}
	return &binaryNode{"^", x, p.power(), pos}
}

// postfix reads an operand with its postfix operators.
func (p *parser) postfix() node {
	x := p.primary()
	if !isAssignable(x) {
		return x
	}
	t := p.tok()
	if t.kind != tokenPunct {
		return x
	}
	switch t.text {
	case "++", "--":
		p.at++
		return p.step(x, t.text, false)
	case "=", "+=", "-=", "*=", "/=", "%=", "^=":
		p.at++
		p.newlines()
		p.isScalar(x)
		return &assignNode{t.text[:len(t.text)-1], x, p.expr(), t.pos}
	}
	return x
}

func isAssignable(x node) bool {
	switch x.(type) {
	case *nameNode, *indexNode, *fieldNode:
		return true
	}
	return false
}

func (p *parser) step(x node, op string, prefix bool) node {
	p.isScalar(x)
	by := 1.0
	if op == "--" {
		by = -1
	}
	return &stepNode{x, by, prefix}
}

func (p *parser) primary() node {
	t := p.tok()
	switch t.kind {
	case tokenNumber:
		p.at++
		return &numberNode{t.number}
	case tokenString:
		p.at++
		return &textNode{t.text}
	case tokenRegex:
		p.at++
		return &regexNode{t.text, t.pos}
	case tokenName:
		return p.lvalue()
	case tokenCall:
		return p.call()
	case tokenBuiltin:
		return p.builtin()
	case tokenKeyword:
		if t.text == "getline" {
			return p.getline()
		}
	case tokenPunct:
		switch t.text {
		case "$":
			return p.lvalue()
		case "++", "--":
			p.at++
			x := p.lvalue()
			return p.step(x, t.text, true)
		case "(":
			return p.parens()
		case "-", "+", "!":
			return p.unary()
		}
	default:
	}
	p.unexpected()
	return nil
}

// parens reads the text in parentheses: an expression, or a list before "in".
func (p *parser) parens() node {
	p.at++
	noIn, noGt := p.noIn, p.noGt
	p.noIn, p.noGt = 0, 0
	list := p.list(")")
	p.expect(")")
	p.noIn, p.noGt = noIn, noGt
	switch {
	case len(list) == 0:
		p.at--
		p.unexpected()
	case len(list) == 1:
		return &groupNode{list[0]}
	case !p.is("in"):
		p.unexpected()
	}
	return &listNode{list}
}

// list reads expressions up to end, which stays.
func (p *parser) list(end string) []node {
	noIn, noGt := p.noIn, p.noGt
	p.noIn, p.noGt = 0, 0
	defer func() { p.noIn, p.noGt = noIn, noGt }()
	var list []node
	p.newlines()
	for !p.is(end) {
		list = append(list, p.expr()) // bounded: by the tokens of the program, which are charged
		p.newlines()
		if !p.accept(",") {
			break
		}
		p.newlines()
		if p.is(end) {
			p.unexpected()
		}
	}
	return list
}

// lvalue reads something that can be assigned to.
func (p *parser) lvalue() node {
	p.enter()
	defer p.leave()
	t := p.tok()
	if p.accept("$") {
		return &fieldNode{p.fieldNumber(), t.pos}
	}
	if t.kind != tokenName {
		p.unexpected()
	}
	x := p.lvalueName()
	for p.is("[") {
		x = p.index(x)
	}
	return x
}

// fieldNumber reads the text after a dollar: ++ binds it before the field.
func (p *parser) fieldNumber() node {
	p.enter()
	defer p.leave()
	t := p.tok()
	if t.kind == tokenPunct {
		switch t.text {
		case "++", "--":
			p.at++
			return p.step(p.lvalue(), t.text, true)
		case "-", "+", "!":
			p.at++
			return &unaryNode{t.text, p.fieldNumber()}
		}
	}
	return p.primary()
}

func (p *parser) index(array node) node {
	pos := p.tok().pos
	p.at++
	p.isArray(array)
	subs := p.list("]")
	if len(subs) == 0 {
		p.unexpected()
	}
	p.expect("]")
	return &indexNode{array, subs, pos}
}

func (p *parser) getline() node {
	p.enter()
	defer p.leave()
	t := p.tok()
	p.at++
	x := &getlineNode{target: p.target(), pos: t.pos}
	if p.accept("<") {
		x.kind = '<'
		x.source = p.redirected()
	}
	return x
}

// redirected reads the name of a file behind "getline <", which joins with nothing.
func (p *parser) redirected() node {
	x := p.primary()
	if t := p.tok(); isAssignable(x) && (p.is("++") || p.is("--")) {
		p.at++
		return p.step(x, t.text, false)
	}
	return x
}

func (p *parser) call() node {
	t := p.tok()
	p.at += 2
	x := &callNode{name: t.text, pos: t.pos, fn: p.prog.funcs[t.text]}
	x.args = p.list(")")
	p.expect(")")
	if p.locals[t.text] != nil {
		p.failBare(t.pos, "fatal: attempt to use non-function `%s' in function call", t.text)
	}
	p.calls = append(p.calls, x) // bounded: by the tokens of the program, which are charged
	return x
}

func (p *parser) builtin() node {
	t := p.tok()
	p.at++
	x := &builtinNode{name: t.text, pos: t.pos}
	if !p.is("(") {
		if t.text != "length" {
			p.unexpected()
		}
		return x
	}
	p.at++
	x.args = p.list(")")
	n, _ := builtinArity(t.text)
	if len(x.args) < n.least || len(x.args) > n.most {
		p.fail(p.tok().pos, "%d is invalid as number of arguments for %s", len(x.args), t.text)
	}
	if (t.text == "sub" || t.text == "gsub") && len(x.args) == 3 && !isChangeable(x.args[2]) {
		p.fail(p.tok().pos, "%s third parameter is not a changeable object", t.text)
	}
	p.expect(")")
	for _, i := range arrayArguments(t.text) {
		if i < len(x.args) {
			if !isReference(x.args[i]) {
				p.fail(t.pos, "%s: %s argument is not an array", t.text, []string{"first", "second", "third", "fourth"}[i])
			}
			p.isArray(x.args[i])
		}
	}
	if (t.text == "sub" || t.text == "gsub") && len(x.args) == 3 && isAssignable(x.args[2]) {
		p.isScalar(x.args[2])
	}
	return x
}

// isChangeable reports whether sub may replace in an expression; in a constant it does so in vain.
func isChangeable(x node) bool {
	switch ungroup(x).(type) {
	case *textNode, *numberNode:
		return true
	}
	return isAssignable(ungroup(x))
}

// arrayArguments returns which arguments of a function are arrays.
func arrayArguments(name string) []int {
	switch name {
	case "split", "patsplit":
		return []int{1, 3}
	case "asort", "asorti":
		return []int{0, 1}
	case "match":
		return []int{2}
	}
	return nil
}

// isReference reports whether an expression can mean an array.
func isReference(x node) bool {
	switch x := x.(type) {
	case *nameNode, *indexNode:
		return true
	case *groupNode:
		return isReference(x.x)
	}
	return false
}
