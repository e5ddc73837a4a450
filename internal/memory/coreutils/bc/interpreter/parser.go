package interpreter

import "slices"

// syntaxError ends the parsing of a line.
type syntaxError struct{ text string }

// maxNesting bounds the nesting of statements and expressions.
const maxNesting = 2000

// parser reads the input line by line. Its methods panic with a *syntaxError.
type parser struct {
	lex   *lexer
	tok   token
	depth int
	fn    *function
	loops int
	calls int // whose arguments are read
}

func (p *parser) next() { p.tok = p.lex.next() }

func (p *parser) fail() { panic(&syntaxError{"syntax error"}) }

func (p *parser) is(text string) bool {
	return (p.tok.kind == tokenPunct || p.tok.kind == tokenWord) && p.tok.text == text
}

func (p *parser) accept(text string) bool {
	if p.is(text) {
		p.next()
		return true
	}
	return false
}

func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.fail()
	}
}

func (p *parser) enter() {
	if p.depth++; p.depth > maxNesting {
		panic(&syntaxError{"nested too deeply"})
	}
}

// maxChain bounds the number of operators in a row, which make a tree of as many levels.
const maxChain = 10_000

// chain fails when an expression has n operators in a row already and n is too many.
func (p *parser) chain(n int) {
	if n >= maxChain {
		panic(&syntaxError{"nested too deeply"})
	}
}

func (p *parser) newlines() {
	for p.tok.kind == tokenNewline {
		p.next()
	}
}

// line reads a line: statements, or a function. The token that ends it stays.
func (p *parser) line() (list []statement, fn *function) {
	p.depth, p.loops, p.calls, p.fn = 0, 0, 0, nil
	if p.is("define") {
		fn = p.function()
		return nil, fn
	}
	for {
		for p.accept(";") {
		}
		if p.tok.kind == tokenNewline || p.tok.kind == tokenEnd {
			return list, nil
		}
		list = append(list, p.statement()) // bounded: by the tokens of the program, which are charged
		if !p.is(";") && p.tok.kind != tokenNewline && p.tok.kind != tokenEnd {
			p.fail()
		}
	}
}

func (p *parser) function() *function {
	p.next()
	fn := &function{}
	fn.void = p.accept("void")
	if p.tok.kind != tokenName {
		p.fail()
	}
	fn.name = p.tok.text
	p.next()
	p.expect("(")
	fn.params = p.locals(")")
	p.expect(")")
	p.newlines()
	p.expect("{")
	p.newlines()
	p.fn = fn
	if p.accept("auto") {
		fn.autos = p.locals("")
		if !p.accept(";") && p.tok.kind != tokenNewline {
			p.fail()
		}
	}
	fn.body = p.statements()
	return fn
}

// locals reads names, of which those with brackets are arrays.
func (p *parser) locals(end string) []local {
	var list []local
	for !p.is(end) || end == "" {
		var l local
		l.reference = p.accept("*")
		if p.tok.kind != tokenName {
			p.fail()
		}
		l.name = p.tok.text
		p.next()
		if p.accept("[") {
			p.expect("]")
			l.array = true
		}
		if slices.ContainsFunc(list, func(o local) bool { return o.name == l.name && o.array == l.array }) {
			panic(&syntaxError{"duplicate parameter names"})
		}
		list = append(list, l) // bounded: by the tokens of the program, which are charged
		if !p.accept(",") {
			break
		}
	}
	return list
}

// statements reads up to a closing brace, which it takes.
func (p *parser) statements() []statement {
	var list []statement
	for {
		for p.is(";") || p.tok.kind == tokenNewline {
			p.next()
		}
		if p.accept("}") {
			return list
		}
		if p.tok.kind == tokenEnd {
			p.fail()
		}
		list = append(list, p.statement()) // bounded: by the tokens of the program, which are charged
		if !p.is(";") && !p.is("}") && p.tok.kind != tokenNewline {
			p.fail()
		}
	}
}

func (p *parser) statement() statement {
	p.enter()
	defer func() { p.depth-- }()
	switch p.tok.kind {
	case tokenString:
		s := p.tok.text
		p.next()
		return &textStmt{s}
	case tokenWord:
		if s := p.word(); s != nil {
			return s
		}
	case tokenPunct:
		if p.accept("{") {
			return &blockStmt{p.statements()}
		}
	default:
	}
	x := p.expr()
	return &exprStmt{x, isShown(x)}
}

// isShown reports whether the value of an expression is written: that of an assignment is not.
func isShown(x node) bool {
	_, assigned := x.(*assignNode)
	return !assigned
}

// word reads a statement that begins with a word; nil when that is an expression.
func (p *parser) word() statement {
	switch p.tok.text {
	case "if":
		return p.ifStatement()
	case "while":
		p.next()
		p.expect("(")
		s := &loopStmt{cond: p.expr()}
		p.expect(")")
		s.body = p.loopBody()
		return s
	case "for":
		return p.forStatement()
	case "break", "continue":
		to := flowBreak
		if p.tok.text == "continue" {
			to = flowContinue
		}
		if p.loops == 0 {
			panic(&syntaxError{map[flow]string{flowBreak: "Break outside a for/while", flowContinue: "Continue outside a for"}[to]})
		}
		p.next()
		return &jumpStmt{to}
	case "return":
		return p.returnStatement()
	case "print":
		return p.print()
	case "halt":
		p.next()
		return &haltStmt{}
	case "limits":
		p.next()
		return &limitsStmt{}
	}
	return nil
}

func (p *parser) loopBody() statement {
	p.newlines()
	p.loops++
	defer func() { p.loops-- }()
	return p.statement()
}

func (p *parser) ifStatement() statement {
	p.next()
	p.expect("(")
	s := &ifStmt{cond: p.expr()}
	p.expect(")")
	p.newlines()
	s.yes = p.statement()
	if p.accept("else") {
		p.newlines()
		s.no = p.statement()
	}
	return s
}

func (p *parser) forStatement() statement {
	p.next()
	p.expect("(")
	s := &loopStmt{}
	part := func(end string) node {
		var x node
		if !p.is(end) {
			x = p.expr()
		}
		p.expect(end)
		return x
	}
	s.init, s.cond, s.step = part(";"), part(";"), part(")")
	s.body = p.loopBody()
	return s
}

func (p *parser) returnStatement() statement {
	if p.fn == nil {
		panic(&syntaxError{"Return outside of a function."})
	}
	p.next()
	if p.is(";") || p.is("}") || p.tok.kind == tokenNewline {
		return &returnStmt{}
	}
	return &returnStmt{p.expr()}
}

func (p *parser) print() statement {
	p.next()
	s := &printStmt{}
	for {
		if p.tok.kind == tokenString {
			s.list = append(s.list, p.tok.text) // bounded: by the tokens of the program, which are charged
			p.next()
		} else {
			s.list = append(s.list, p.expr()) // bounded: by the tokens of the program, which are charged
		}
		if !p.accept(",") {
			return s
		}
	}
}
