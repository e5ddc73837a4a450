package syntax

// command reads one command with its redirections.
func (p *Parser) command() *Command {
	p.enter()
	defer func() { p.depth-- }()
	t := p.tok(ctxCommand)
	c := &Command{Line: t.line}
	if t.is("(") {
		p.paren(c)
		p.redirs(c)
		return c
	}
	if t.kind == tokWord {
		if read := p.compound(t.lit(), c); read {
			if _, isFunc := c.Body.(*FuncDecl); !isFunc {
				p.redirs(c)
			}
			return c
		}
	}
	p.simple(c)
	return c
}

// paren reads (( )) or ( ).
func (p *Parser) paren(c *Command) {
	start, line := p.cur.pos, p.cur.line
	if p.pos < len(p.src) && p.src[p.pos] == '(' {
		p.pos++
		p.have = false
		if x := p.tryArith(line); x != nil {
			c.Body = &ArithCmd{X: x}
			return
		}
		p.pos, p.line = start+2, line
		p.matched(line)
		p.pos, p.line, p.have = start+1, line, false
	} else {
		p.take()
	}
	l := p.body(")")
	p.expectOp(")")
	c.Body = &Subshell{List: l}
}

func (p *Parser) expectOp(op string) {
	t := p.tok(ctxCommand)
	if !t.is(op) {
		p.unexpected(t)
	}
	p.take()
}

// expect takes a reserved word.
func (p *Parser) expect(word string) {
	t := p.tok(ctxCommand)
	if t.lit() != word {
		p.unexpected(t)
	}
	p.take()
}

// redirs reads redirections behind a compound command.
func (p *Parser) redirs(c *Command) {
	for {
		r := p.redir(ctxCommand)
		if r == nil {
			return
		}
		c.Redirs = append(c.Redirs, r)
	}
}

// redir reads a redirection, nil when there is none.
func (p *Parser) redir(ctx context) *Redir {
	t := p.tok(ctx)
	r := &Redir{Fd: -1, Line: t.line}
	switch t.kind {
	case tokNumber:
		r.Fd = t.fd
		p.take()
		t = p.tok(ctx)
	case tokVar:
		r.Var = t.op
		p.take()
		t = p.tok(ctx)
	default:
	}
	if t.kind != tokOp {
		return nil
	}
	switch t.op {
	case "<", ">", ">>", ">|", "<>", "<&", ">&", "&>", "&>>", "<<", "<<-", "<<<":
	default:
		return nil
	}
	r.Op = t.op
	p.take()
	t = p.tok(ctxArg)
	if t.kind == tokNumber || t.kind == tokVar { // "> 2>" is an error at the operator
		p.unexpected(t)
	}
	if t.kind != tokWord {
		p.unexpected(t)
	}
	w := t.word
	p.take()
	if r.Op == "<<" || r.Op == "<<-" {
		r.Delim, r.Quoted = delimiter(w)
		p.pending = append(p.pending, r)
		return r
	}
	r.Target = w
	return r
}

// declaring are the builtins that take assignments as arguments.
var declaring = map[string]bool{
	"declare": true, "typeset": true, "local": true, "export": true, "readonly": true,
}

// simple reads a simple command, or a function definition that begins like one.
func (p *Parser) simple(c *Command) {
	s := &Simple{}
	c.Body = s
	ctx := ctxCommand
	for {
		if r := p.redir(ctx); r != nil {
			c.Redirs = append(c.Redirs, r)
			continue
		}
		t := p.tok(ctx)
		switch t.kind {
		case tokAssign:
			s.Assigns = append(s.Assigns, t.assign)
			p.take()
			continue
		case tokWord:
			w := t.word
			if len(s.Words) == 0 && p.isReservedHere(t, s, c) {
				p.unexpected(t)
			}
			p.take()
			s.Words = append(s.Words, w)
			if len(s.Words) == 1 && len(s.Assigns) == 0 && len(c.Redirs) == 0 && p.function(c, w) {
				return
			}
			ctx = p.argContext(s, ctx)
			continue
		default:
		}
		break
	}
	if len(s.Words) == 0 && len(s.Assigns) == 0 && len(c.Redirs) == 0 {
		p.unexpected(p.tok(ctx))
	}
}

// isReservedHere reports whether there is a reserved word where a command should begin.
func (p *Parser) isReservedHere(t *token, s *Simple, c *Command) bool {
	if len(s.Assigns) > 0 || len(c.Redirs) > 0 {
		return false
	}
	switch t.lit() {
	case "then", "do", "done", "fi", "esac", "elif", "else", "}", "!":
		return true
	}
	return false
}

// argContext returns how the words behind those read so far are read.
func (p *Parser) argContext(s *Simple, ctx context) context {
	if ctx == ctxDecl || ctx == ctxList {
		return ctx
	}
	name, ok := s.Words[len(s.Words)-1].Literal()
	if !ok {
		return ctxArg
	}
	if len(s.Words) > 1 {
		return ctxArg
	}
	if name == "let" || name == "eval" {
		return ctxList
	}
	if declaring[name] {
		s.Decl = true
		return ctxDecl
	}
	return ctxArg
}

// function reads "() body" behind a name.
func (p *Parser) function(c *Command, w *Word) bool {
	t := p.tok(ctxArg)
	if !t.is("(") {
		return false
	}
	p.take()
	if t = p.tok(ctxArg); !t.is(")") {
		p.unexpected(t)
	}
	p.take()
	d, steps := &FuncDecl{Name: w.Text, Bad: !isPlain(w)}, p.steps
	d.Levels = p.measure(func() { d.Body = p.functionBody() })
	d.Nodes = p.steps - steps
	c.Body = d
	return true
}

// isPlain reports whether the word is written without quotes and expansions.
func isPlain(w *Word) bool {
	for _, part := range w.Parts {
		if _, ok := part.(*Lit); !ok {
			return false
		}
	}
	return true
}

// functionBody reads the command that is a function's body.
func (p *Parser) functionBody() *Command {
	p.newlines()
	t := p.tok(ctxCommand)
	c := &Command{Line: t.line}
	switch {
	case t.is("("):
		p.paren(c)
	case t.kind == tokWord && t.lit() != "function" && t.lit() != "coproc" && p.compound(t.lit(), c):
	default:
		p.unexpected(t)
	}
	p.redirs(c)
	return c
}
