package syntax

// compound reads the command that begins with the reserved word; false when it is none.
func (p *Parser) compound(word string, c *Command) bool {
	switch word {
	case "if":
		c.Body = p.ifClause()
	case "while", "until":
		p.take()
		cond := p.body("do")
		c.Body = &Loop{Until: word == "until", Cond: cond, Body: p.doGroup()}
	case "for", "select":
		p.take()
		c.Body = p.forClause(word == "select")
	case "case":
		c.Body = p.caseClause()
	case "{":
		p.take()
		l := p.body("}")
		p.expect("}")
		c.Body = &Group{List: l}
	case "[[":
		c.Body = p.condCommand()
	case "function":
		c.Body = p.functionKeyword()
	case "coproc":
		c.Body = p.coproc()
	default:
		return false
	}
	return true
}

func (p *Parser) doGroup() *List {
	p.expect("do")
	l := p.body("done")
	p.expect("done")
	return l
}

func (p *Parser) ifClause() *If {
	n := &If{}
	for {
		n.CondAt = append(n.CondAt, p.cur.line)
		p.take() // if or elif
		n.Conds = append(n.Conds, p.body("then"))
		p.expect("then")
		n.Thens = append(n.Thens, p.body("elif", "else", "fi"))
		t := p.tok(ctxCommand)
		switch t.lit() {
		case "elif":
			continue
		case "else":
			p.take()
			n.Else = p.body("fi")
		}
		p.expect("fi")
		return n
	}
}

// forClause reads the clause after for or select.
func (p *Parser) forClause(sel bool) Node {
	t := p.tok(ctxArg)
	if t.is("(") && !sel && p.pos < len(p.src) && p.src[p.pos] == '(' {
		p.pos++
		p.have = false
		return p.cFor(t.line)
	}
	if t.kind != tokWord {
		p.unexpected(t)
	}
	n := &For{Name: t.word.Text, Select: sel}
	p.take()
	t = p.tok(ctxArg)
	if t.is(";") {
		p.take()
		n.Body = p.forBody()
		return n
	}
	for t.kind == tokNewline {
		p.take()
		t = p.tok(ctxArg)
	}
	if t.lit() == "in" {
		p.take()
		n.In = true
		for t = p.tok(ctxArg); t.kind == tokWord || t.kind == tokNumber; t = p.tok(ctxArg) {
			if t.kind == tokNumber {
				p.unexpected(t)
			}
			n.Words = append(n.Words, t.word)
			p.take()
		}
		if !t.is(";") && t.kind != tokNewline {
			p.unexpected(t)
		}
		p.take()
	}
	n.Body = p.forBody()
	return n
}

// forBody reads do ... done or { ... }.
func (p *Parser) forBody() *List {
	p.newlines()
	if p.tok(ctxCommand).lit() == "{" {
		p.take()
		l := p.body("}")
		p.expect("}")
		return l
	}
	return p.doGroup()
}

// cFor reads (( init; cond; post )) and the body.
func (p *Parser) cFor(line int) Node {
	p.cForWhole(line)
	n := &CFor{}
	fields := []**Arith{&n.Init, &n.Cond, &n.Post}
	for i, f := range fields {
		end := ";"
		if i == 2 {
			end = "))"
		}
		*f = p.arith(end, line)
		if *f != nil && (*f).Text == "" {
			*f = nil
		}
	}
	if t := p.tok(ctxCommand); t.is(";") {
		p.take()
	}
	n.Body = p.forBody()
	return n
}

// cForWhole checks that there are both parentheses and three expressions.
func (p *Parser) cForWhole(line int) {
	start, startLine := p.pos, p.line
	semicolons := 0
	m := mode{stop: ";()", noPat: true, dq: true, esc: dqEscapes}
	for depth := 1; depth > 0; {
		p.parts(m)
		switch p.peek() {
		case 0:
			p.unclosed(line, ")")
		case '(':
			depth++
		case ')':
			depth--
		case ';':
			semicolons++
		}
		p.skip()
	}
	text := "((" + p.src[start:p.pos] + ")"
	if p.peek() != ')' {
		panic(&Error{Line: line, Status: statusBad})
	}
	e := &Error{Line: line, Msg: "syntax error: arithmetic expression required", Then: []Message{{line, "syntax error: `" + text + "'"}}, Status: statusBad}
	switch {
	case semicolons > 2:
		e.Msg = "syntax error: `;' unexpected"
		fallthrough
	case semicolons < 2:
		panic(e)
	}
	p.pos, p.line = start, startLine
}

func (p *Parser) caseClause() *Case {
	p.take()
	t := p.tok(ctxArg)
	if t.kind != tokWord {
		p.unexpected(t)
	}
	n := &Case{Word: t.word}
	p.take()
	t = p.tok(ctxArg)
	for t.kind == tokNewline {
		p.take()
		t = p.tok(ctxArg)
	}
	if t.lit() != "in" {
		p.unexpected(t)
	}
	p.take()
	for {
		t = p.tok(ctxPattern)
		for t.kind == tokNewline {
			p.take()
			t = p.tok(ctxPattern)
		}
		if t.lit() == "esac" {
			p.take()
			return n
		}
		n.Clauses = append(n.Clauses, p.clause())
	}
}

// clause reads "pattern | pattern) list ;;".
func (p *Parser) clause() *Clause {
	c := &Clause{End: ";;"}
	if p.tok(ctxPattern).is("(") {
		p.take()
	}
	for {
		t := p.tok(ctxPattern)
		if t.kind != tokWord {
			p.unexpected(t)
		}
		c.Patterns = append(c.Patterns, t.word)
		p.take()
		t = p.tok(ctxPattern)
		switch {
		case t.is("|"):
			p.take()
			continue
		case t.is(")"):
			p.take()
		default:
			p.unexpected(t)
		}
		break
	}
	c.Body = p.list(";;", ";&", ";;&", "esac")
	if t := p.tok(ctxCommand); t.kind == tokOp {
		c.End = t.op
		p.take()
	}
	return c
}

// functionKeyword reads "function name [()] body".
func (p *Parser) functionKeyword() Node {
	p.take()
	t := p.tok(ctxArg)
	if t.kind != tokWord {
		p.unexpected(t)
	}
	n := &FuncDecl{Name: t.word.Text, Bad: !isPlain(t.word), Keyword: true}
	p.take()
	if p.tok(ctxArg).is("(") && p.closes() {
		p.take()
		p.tok(ctxArg)
		p.take()
	}
	steps := p.steps
	n.Levels = p.measure(func() { n.Body = p.functionBody() })
	n.Nodes = p.steps - steps
	return n
}

// coproc reads "coproc [NAME] command"; only a compound command has a name.
func (p *Parser) coproc() Node {
	p.take()
	n := &Coproc{Name: "COPROC"}
	t := p.tok(ctxCommand)
	if t.is("(") || t.kind == tokWord && compounds[t.lit()] {
		n.Cmd = p.command()
		return n
	}
	if t.kind == tokWord {
		pos, line, w := t.pos, t.line, t.word
		p.take()
		t = p.tok(ctxCommand)
		if name, ok := w.Literal(); ok && (t.is("(") || t.kind == tokWord && compounds[t.lit()]) {
			n.Name = name
			n.Cmd = p.command()
			return n
		}
		p.pos, p.line, p.have = pos, line, false
	}
	n.Cmd = p.command()
	return n
}

// compounds are the words that begin a compound command.
var compounds = map[string]bool{
	"if": true, "while": true, "until": true, "for": true, "select": true,
	"case": true, "{": true, "[[": true,
}

// closes reports whether the next byte behind blanks is ")".
func (p *Parser) closes() bool {
	p.blanks()
	return p.peek() == ')'
}
