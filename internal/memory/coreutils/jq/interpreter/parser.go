package interpreter

import (
	"slices"
	"strings"
)

// parser makes a tree of tokens.
type parser struct {
	src  string
	toks []token
	at   int
	deep int
}

// parse reads a program. It calls take for each token.
func parse(src string, take func() error) (m *module, err error) {
	toks, err := lex(src, take)
	if err != nil {
		return nil, err
	}
	p := &parser{src: src, toks: toks}
	defer p.recover(&err)
	return p.module(), nil
}

// stop carries a syntax error out of the parser.
type stop struct{ err error }

func (p *parser) recover(err *error) {
	switch r := recover().(type) {
	case nil:
	case stop:
		*err = r.err
	default:
		panic(r)
	}
}

func (p *parser) cur() token { return p.toks[p.at] }

func (p *parser) next() token {
	t := p.toks[p.at]
	if t.kind != tEnd {
		p.at++
	}
	return t
}

func (p *parser) is(text string) bool {
	t := p.cur()
	return (t.kind == tOp || t.kind == tKeyword) && t.text == text
}

func (p *parser) accept(text string) bool {
	if p.is(text) {
		p.at++
		return true
	}
	return false
}

func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.unexpected("'" + text + "'")
	}
}

// describe returns a token's name in messages.
func (t token) describe() string {
	switch t.kind {
	case tOp:
		if len(t.text) == 1 {
			return "'" + t.text + "'"
		}
		return `"` + t.text + `"`
	case tKeyword:
		return `"` + t.text + `"`
	default:
	}
	return string(t.kind)
}

func (p *parser) unexpected(expecting string) {
	t := p.cur()
	msg := "syntax error, unexpected " + t.describe()
	if expecting != "" {
		msg += ", expecting " + expecting
	}
	p.fail(msg+" (Unix shell quoting issues?)", t.pos)
}

func (p *parser) fail(msg string, pos int) { panic(stop{syntaxError(p.src, msg, pos)}) }

// nested guards against programs that are nested so deep that reading them takes all memory.
func (p *parser) nested() func() {
	if p.deep++; p.deep > maxNesting {
		p.fail("program is nested too deep", p.cur().pos)
	}
	return func() { p.deep-- }
}

func (p *parser) module() *module {
	m := &module{}
	if p.accept("module") {
		meta := p.constant(p.object())
		p.expect(";")
		m.meta = meta
	}
	for p.is("import") || p.is("include") {
		m.imports = append(m.imports, p.importing()) // bounded: by the tokens of the program, which are charged
	}
	for p.is("def") {
		at := p.at
		m.defs = append(m.defs, p.def()) // bounded: by the tokens of the program, which are charged
		if p.cur().kind != tEnd && !p.is("def") {
			// It belongs to the expression behind it.
			m.defs = m.defs[:len(m.defs)-1]
			p.at = at
			break
		}
	}
	if p.cur().kind != tEnd {
		m.body = p.pipe()
	}
	if p.cur().kind != tEnd {
		p.unexpected("end of file")
	}
	return m
}

func (p *parser) importing() importing {
	imp := importing{include: p.next().text == "include"}
	t := p.next()
	if t.kind != tString || t.text != "" || len(t.parts) > 1 {
		p.at--
		p.fail("Import path must be constant", t.pos)
	}
	if len(t.parts) == 1 {
		s, ok := t.parts[0].(string)
		if !ok {
			p.fail("Import path must be constant", t.pos)
		}
		imp.path = s
	}
	if !imp.include {
		p.expect("as")
		name := p.next()
		switch name.kind {
		case tBinding:
			imp.isData, imp.name = true, name.text[1:]
		case tIdent:
			imp.name = name.text
		default:
			p.at--
			p.unexpected("BINDING or '$' or IDENT or keyword")
		}
	}
	if p.is("{") {
		imp.meta, _ = p.constant(p.object()).(*Object)
	}
	p.expect(";")
	return imp
}

// constant is the value of an expression that may have no variable parts.
func (p *parser) constant(e expr) Value {
	if v, ok := constantOf(e); ok {
		return v
	}
	p.fail("Module metadata must be constant", p.cur().pos)
	return nil
}

func constantOf(e expr) (Value, bool) {
	switch e := e.(type) {
	case literal:
		return e.v, true
	case text:
		var s strings.Builder
		for _, part := range e.parts {
			str, ok := part.(string)
			if !ok {
				return nil, false
			}
			s.WriteString(str)
		}
		return s.String(), e.format == ""
	case negate:
		v, ok := constantOf(e.of)
		f, isNum := number(v)
		return -f, ok && isNum
	case list:
		return constantList(e)
	case object:
		o := NewObject()
		for _, en := range e.entries {
			k, ok := constantOf(en.key)
			key, isStr := k.(string)
			if !ok || !isStr || en.value == nil {
				return nil, false
			}
			v, ok := constantOf(en.value)
			if !ok {
				return nil, false
			}
			o.put(key, v)
		}
		return o, true
	}
	return nil, false
}

func constantList(e list) (Value, bool) {
	a := &Array{}
	var walk func(e expr) bool
	walk = func(e expr) bool {
		if c, ok := e.(comma); ok {
			return walk(c.l) && walk(c.r)
		}
		v, ok := constantOf(e)
		a.v = append(a.v, v) // bounded: by the tokens of the program, which are charged
		return ok
	}
	return a, e.of == nil || walk(e.of)
}

func (p *parser) def() *function {
	defer p.nested()()
	p.expect("def")
	f := &function{}
	t := p.next()
	if t.kind != tIdent && t.kind != tKeyword {
		p.at--
		p.unexpected("IDENT")
	}
	f.name = t.text
	if p.accept("(") {
		for {
			t := p.next()
			if t.kind != tIdent && t.kind != tBinding && t.kind != tKeyword {
				p.at--
				p.unexpected("")
			}
			f.params = append(f.params, t.text) // bounded: by the tokens of the program, which are charged
			if !p.accept(";") {
				break
			}
		}
		p.expect(")")
	}
	p.expect(":")
	f.body = p.pipe()
	p.expect(";")
	return f
}

// pipe reads the loosest expression.
func (p *parser) pipe() expr {
	defer p.nested()()
	switch {
	case p.is("def"):
		f := p.def()
		return define{f, p.pipe()}
	case p.is("label"):
		p.at++
		t := p.next()
		if t.kind != tBinding {
			p.at--
			p.unexpected("'$'")
		}
		p.expect("|")
		return label{t.text[1:], p.pipe()}
	}
	l := p.comma()
	if p.is("as") {
		return p.binding(l)
	}
	if p.accept("|") {
		return pipe{l, p.pipe()}
	}
	return l
}

func (p *parser) binding(source expr) expr {
	p.expect("as")
	b := bind{source: source, patterns: p.patterns()}
	p.expect("|")
	b.body = p.pipe()
	return b
}

func (p *parser) patterns() []*pattern {
	list := []*pattern{p.pattern()}
	for p.accept("?//") {
		list = append(list, p.pattern()) // bounded: by the tokens of the program, which are charged
	}
	return list
}

func (p *parser) pattern() *pattern {
	defer p.nested()()
	t := p.next()
	switch {
	case t.kind == tBinding:
		return &pattern{name: t.text[1:]}
	case t.kind == tOp && t.text == "[":
		pt := &pattern{isArray: true}
		for {
			pt.array = append(pt.array, p.pattern()) // bounded: by the tokens of the program, which are charged
			if !p.accept(",") {
				break
			}
		}
		p.expect("]")
		return pt
	case t.kind == tOp && t.text == "{":
		pt := &pattern{}
		for {
			pt.object = append(pt.object, p.patternEntry()) // bounded: by the tokens of the program, which are charged
			if !p.accept(",") {
				break
			}
		}
		p.expect("}")
		return pt
	}
	p.at--
	p.unexpected("BINDING or '[' or '{'")
	return nil
}

func (p *parser) patternEntry() patternEntry {
	t := p.cur()
	switch {
	case t.kind == tBinding:
		p.at++
		e := patternEntry{key: literal{t.text[1:]}, bound: t.text[1:]}
		if p.accept(":") {
			e.value = p.pattern()
		}
		return e
	case t.kind == tIdent || t.kind == tKeyword:
		p.at++
		p.expect(":")
		return patternEntry{key: literal{t.text}, value: p.pattern()}
	case t.kind == tString:
		e := p.str(p.next())
		p.expect(":")
		return patternEntry{key: e, value: p.pattern()}
	case p.accept("("):
		e := p.pipe()
		p.expect(")")
		p.expect(":")
		return patternEntry{key: e, value: p.pattern()}
	}
	p.unexpected("")
	return patternEntry{}
}

func (p *parser) comma() expr {
	l := p.operators(0)
	for p.accept(",") {
		l = comma{l, p.operators(0)}
	}
	return l
}

// level is a level of operators, from loose to tight.
type level struct {
	ops   []string
	right bool // binds to the right
	none  bool // not associative: a == b == c is an error
}

var levels = []level{
	{ops: []string{"//"}, right: true},
	{ops: []string{"=", "|=", "+=", "-=", "*=", "/=", "%=", "//="}, none: true},
	{ops: []string{"or"}},
	{ops: []string{"and"}},
	{ops: []string{"==", "!=", "<", "<=", ">", ">="}, none: true},
	{ops: []string{"+", "-"}},
	{ops: []string{"*", "/", "%"}},
}

func (p *parser) operators(n int) expr {
	if n == len(levels) {
		return p.unary()
	}
	lv := &levels[n]
	l := p.operators(n + 1)
	for {
		t := p.cur()
		if t.kind != tOp && t.kind != tKeyword || !slices.Contains(lv.ops, t.text) {
			return l
		}
		p.at++
		var r expr
		if lv.right {
			defer p.nested()()
			r = p.operators(n)
		} else {
			r = p.operators(n + 1)
		}
		if n == 1 {
			l = assign{t.text, l, r}
		} else {
			l = binary{t.text, l, r}
		}
		if lv.none {
			if t := p.cur(); (t.kind == tOp) && slices.Contains(lv.ops, t.text) {
				p.unexpected("end of file")
			}
			return l
		}
	}
}

func (p *parser) unary() expr {
	if p.is("-") {
		defer p.nested()()
		p.at++
		return negate{p.unary()}
	}
	return p.postfix()
}
