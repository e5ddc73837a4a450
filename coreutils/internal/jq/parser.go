package jq

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

func parse(src string) (m *module, err error) {
	toks, err := lex(src)
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

// describe is what messages call a token.
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
		m.imports = append(m.imports, p.importing())
	}
	for p.is("def") {
		at := p.at
		m.defs = append(m.defs, p.def())
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
		a.v = append(a.v, v)
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
			f.params = append(f.params, t.text)
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
		list = append(list, p.pattern())
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
			pt.array = append(pt.array, p.pattern())
			if !p.accept(",") {
				break
			}
		}
		p.expect("]")
		return pt
	case t.kind == tOp && t.text == "{":
		pt := &pattern{}
		for {
			pt.object = append(pt.object, p.patternEntry())
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
	none  bool // may stand only once
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

// postfix reads a term with what may stand behind it.
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

// bracket reads what stands in [] behind a term.
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
			c.args = append(c.args, p.pipe())
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

// postfixNoTry is what try and catch take: a term with what stands behind it, but no "as".
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
		o.entries = append(o.entries, p.entry())
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
