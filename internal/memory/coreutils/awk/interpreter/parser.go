package interpreter

import (
	"fmt"
	"strings"
)

// maxNesting bounds the depth of expressions and statements.
const maxNesting = 1000

// parser reads a program. Its methods panic with a *syntaxError, which parse recovers.
type parser struct {
	prog   *program
	tokens []token
	at     int
	depth  int

	fn     *function
	locals map[string]*symbol
	calls  []*callNode
	noIn   int
	noGt   int
	where  string // the kind of the rule
	loops  int
	cases  int
}

// parse reads the whole program.
// It calls take for each token.
func parse(prog *program, warn func(pos int, text string), take func() error) (err error) {
	tokens, err := lex(prog.text, warn, take)
	if err != nil {
		return err
	}
	p := &parser{prog: prog, tokens: tokens}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*syntaxError)
			if !ok {
				panic(r)
			}
			err = e
		}
	}()
	prog.funcs, prog.globals = map[string]*function{}, map[string]*symbol{}
	p.declareFunctions()
	p.terminators()
	for p.tok().kind != tokenEnd {
		p.item()
		p.terminators()
	}
	return p.resolve()
}

func (p *parser) tok() token { return p.tokens[p.at] }

func (p *parser) peek(n int) token { return p.tokens[min(p.at+n, len(p.tokens)-1)] }

func (p *parser) is(text string) bool { return p.tokens[p.at].is(text) }

func (p *parser) accept(text string) bool {
	if p.is(text) {
		p.at++
		return true
	}
	return false
}

func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.unexpected()
	}
}

func (p *parser) fail(pos int, format string, args ...any) {
	panic(&syntaxError{pos: pos, text: fmt.Sprintf(format, args...)})
}

// failBare is fail for an error that is shown without the line.
func (p *parser) failBare(pos int, format string, args ...any) {
	panic(&syntaxError{pos: pos, text: fmt.Sprintf(format, args...), bare: true})
}

func (p *parser) unexpected() {
	switch t := p.tok(); t.kind {
	case tokenEnd, tokenNewline:
		p.fail(min(t.pos, len(p.prog.text)-1), "unexpected newline or end of string")
	default:
		p.fail(t.pos, "syntax error")
	}
}

func (p *parser) enter() {
	if p.depth++; p.depth > maxNesting {
		p.fail(p.tok().pos, "nested too deeply")
	}
}

// maxChain bounds the number of operators in a row, which make a tree of as many levels.
const maxChain = 10_000

// chain fails when an expression has n operators in a row already and n is too many.
func (p *parser) chain(n int) {
	if n >= maxChain {
		p.fail(p.tok().pos, "nested too deeply")
	}
}

func (p *parser) leave() { p.depth-- }

func (p *parser) newlines() {
	for p.tok().kind == tokenNewline { // bounded: the tokens end with another one
		p.at++
	}
}

// terminators passes over newlines and semicolons.
func (p *parser) terminators() {
	for p.tok().kind == tokenNewline || p.is(";") { // bounded: the tokens end with another one
		p.at++
	}
}

// declareFunctions makes the names of functions known before calls of them are read.
func (p *parser) declareFunctions() {
	for i, t := range p.tokens {
		if !t.is("function") || i+1 >= len(p.tokens) {
			continue
		}
		name := p.tokens[i+1]
		if name.kind != tokenName && name.kind != tokenCall {
			continue
		}
		if _, ok := p.prog.funcs[name.text]; ok {
			p.fail(name.pos, "function name `%s' previously defined", name.text)
		}
		p.prog.funcs[name.text] = &function{name: name.text, pos: name.pos}
	}
}

// item reads a rule or a function.
func (p *parser) item() {
	if p.accept("function") {
		p.function()
		return
	}
	r := &rule{}
	t := p.tok()
	switch {
	case t.kind == tokenKeyword && (t.text == "BEGIN" || t.text == "END" || t.text == "BEGINFILE" || t.text == "ENDFILE"):
		p.at++
		r.kind = t.text
		if !p.is("{") {
			p.failBare(t.pos, "%s blocks must have an action part", t.text)
		}
	case !p.is("{"):
		r.from = p.expr()
		if p.accept(",") {
			p.newlines()
			r.to = p.expr()
		}
	}
	p.where = r.kind
	if p.is("{") {
		r.body = p.block()
	} else {
		r.noAction = true
		if k := p.tok().kind; k != tokenNewline && k != tokenEnd && !p.is(";") {
			p.unexpected()
		}
	}
	p.where = ""
	p.prog.rules = append(p.prog.rules, r) // bounded: by the tokens of the program, which are charged
}

func (p *parser) function() {
	name := p.tok()
	if name.kind != tokenName && name.kind != tokenCall {
		if name.kind == tokenBuiltin {
			p.fail(name.pos, "`%s' is a built-in function, it cannot be redefined", name.text)
		}
		p.unexpected()
	}
	p.at++
	fn := p.prog.funcs[name.text]
	p.expect("(")
	p.newlines()
	p.locals = map[string]*symbol{}
	for !p.is(")") {
		t := p.tok()
		if t.kind != tokenName {
			p.unexpected()
		}
		p.at++
		switch {
		case t.text == fn.name:
			p.failBare(t.pos, "error: function `%s': cannot use function name as parameter name", fn.name)
		case p.locals[t.text] != nil:
			p.failBare(t.pos, "error: function `%s': parameter #%d, `%s', duplicates parameter #%d", fn.name, len(fn.params)+1, t.text, 1)
		}
		s := &symbol{name: t.text, local: true, fn: fn}
		fn.params = append(fn.params, s) // bounded: by the tokens of the program, which are charged
		p.locals[t.text] = s             // bounded: by the tokens of the program, which are charged
		p.newlines()
		if !p.accept(",") {
			break
		}
		p.newlines()
	}
	p.expect(")")
	p.newlines()
	p.fn = fn
	fn.body = p.block()
	p.fn, p.locals = nil, nil
	p.prog.order = append(p.prog.order, fn) // bounded: by the tokens of the program, which are charged
}

// symbol returns the variable of a name.
func (p *parser) symbol(t token) *symbol {
	if s := p.locals[t.text]; s != nil {
		return s
	}
	if p.prog.funcs[t.text] != nil {
		p.failBare(t.pos, "error: function `%s' called with space between name and `('\nor used as a variable or an array", t.text)
	}
	return p.prog.global(t.text)
}

// global returns the variable of a name outside of functions.
func (g *program) global(name string) *symbol {
	s := g.globals[name]
	if s == nil {
		s = &symbol{name: name, slot: -1}
		g.globals[name] = s // bounded: by the tokens of the program, which are charged
	}
	return s
}

// position returns the source and line of a place in the program.
func (g *program) position(pos int) (name string, line int) {
	src := g.sources[0]
	for _, s := range g.sources {
		if s.begin <= pos {
			src = s
		}
	}
	return src.name, 1 + strings.Count(g.text[src.begin:min(pos, len(g.text))], "\n")
}
