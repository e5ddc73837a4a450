package syntax

import "strings"

// mode says how the parts of a word are read.
type mode struct {
	stop   string // unquoted bytes that end it
	dq     bool   // the rules of double quotes: ' is a byte, a backslash escapes only esc
	esc    string
	here   bool // a here-document: " is a byte too
	nest   byte // this opens and the first byte of stop closes; 0: nothing nests
	meta   bool // a word of a command: blanks and operators end it
	procs  bool // <( and >( are substitutions
	noPat  bool // extglob parentheses do not count
	braced bool // the operand of ${ } in double quotes
}

const dqEscapes = "$`\"\\"

var (
	modeWord  = mode{meta: true, procs: true}
	modeDQ    = mode{stop: `"`, dq: true, esc: dqEscapes}
	modeHere  = mode{dq: true, esc: "$`\\", here: true}
	metaBytes = [256]bool{' ': true, '\t': true, '\n': true, ';': true, '&': true, '|': true, '(': true, ')': true, '<': true, '>': true}
)

// word reads a word of a command.
func (p *Parser) word() *Word {
	w := &Word{Line: p.line}
	start := p.pos
	w.Parts = p.parts(modeWord)
	w.Text, w.Shown = p.text(start)
	if len(w.Parts) == 0 {
		// A byte that begins no word, such as a lone "<(" that is cut.
		p.fail(p.line, "syntax error near unexpected token `%c'", p.peek())
	}
	return w
}

// parts reads up to a byte that ends the mode, which is not taken.
func (p *Parser) parts(m mode) []Part {
	p.enter()
	defer func() { p.depth-- }()
	var list joined
	nested := 0
	for {
		c := p.peek()
		if c == 0 || m.meta && metaBytes[c] && (!m.procs || c != '<' && c != '>' || p.peek2() != '(') {
			return list.parts()
		}
		if nested == 0 && m.stop != "" && strings.IndexByte(m.stop, c) >= 0 {
			return list.parts()
		}
		if m.nest != 0 {
			switch c {
			case m.nest:
				nested++
			case m.stop[0]:
				nested--
			}
		}
		p.step()
		list.add(p.part(m, c))
	}
}

// joined is a list of parts in which neighbours that are plain text become one.
type joined struct {
	list []Part
	text []byte // of the last part, when it has come in several pieces
}

func (j *joined) add(parts ...Part) {
	for _, part := range parts {
		l, ok := part.(*Lit)
		if !ok || len(j.list) == 0 {
			j.parts()
			j.list = append(j.list, part)
			continue
		}
		before, ok := j.list[len(j.list)-1].(*Lit)
		if !ok {
			j.list = append(j.list, part)
			continue
		}
		if j.text == nil {
			j.text = append(j.text, before.S...)
		}
		j.text = append(j.text, l.S...)
	}
}

// parts returns the list.
func (j *joined) parts() []Part {
	if j.text != nil {
		j.list[len(j.list)-1] = &Lit{string(j.text)}
		j.text = nil
	}
	return j.list
}

// part reads one part that begins with c.
func (p *Parser) part(m mode, c byte) Part {
	switch c {
	case '\\':
		return p.backslash(m)
	case '\'':
		switch {
		case !m.dq:
			return p.singleQuoted()
		case m.braced:
			return p.plainQuotes(m)
		}
	case '"':
		if !m.here {
			line := p.line
			p.skip()
			parts := p.parts(modeDQ)
			p.closer('"', line)
			return &DQ{Parts: parts}
		}
	case '$':
		if part := p.dollar(m); part != nil {
			return part
		}
	case '`':
		return p.backquote(m)
	case '<', '>':
		if m.procs && p.peek2() == '(' {
			return p.procSub(c)
		}
	case '?', '*', '+', '@', '!':
		if !m.dq && !m.noPat && p.peek2() == '(' && p.extGlobOn() {
			return p.extPattern(m)
		}
	}
	return p.literal(m)
}

// closer takes the byte that ends a quote or bracket opened on the line.
func (p *Parser) closer(c byte, line int) {
	if p.peek() != c {
		p.unclosed(line, string(c))
	}
	p.skip()
}

var stopsLiteral = [256]bool{'\\': true, '\'': true, '"': true, '$': true, '`': true, '?': true, '*': true, '+': true, '@': true, '!': true}

// literal reads a run of plain bytes, at least one.
func (p *Parser) literal(m mode) Part {
	start := p.pos
	braced := false
	c := p.src[p.pos]
	for {
		if m.meta && (c == '~' || c == '{' || c == ',' && braced) {
			braced = braced || c == '{'
			p.step() // Compiling makes a part of it.
		}
		p.skip()
		if p.pos >= len(p.src) {
			break
		}
		c = p.src[p.pos]
		if stopsLiteral[c] || metaBytes[c] && (m.meta || m.procs) || m.stop != "" && strings.IndexByte(m.stop, c) >= 0 || c == m.nest && c != 0 {
			break
		}
	}
	if n := p.pos - start; braced && n > 1<<10 {
		p.count(0, braceWeight*n)
	}
	return &Lit{p.src[start:p.pos]}
}

// braceWeight is about how many bytes of memory the search for braces takes for each byte of a text.
const braceWeight = 64

func (p *Parser) backslash(m mode) Part {
	p.pos++
	if p.pos >= len(p.src) && !p.fill() {
		p.mark(p.pos-1, mark{p.pos, `\\`}) // What is printed behind it must not join it.
		return &Quoted{`\`}
	}
	c := p.src[p.pos]
	if m.dq && strings.IndexByte(m.esc, c) < 0 {
		if m.braced && c == '\'' {
			p.skip()
			return &Lit{`\'`}
		}
		return &Lit{`\`}
	}
	p.skip()
	return &Quoted{string(c)}
}

func (p *Parser) singleQuoted() Part {
	line := p.line
	p.pos++
	start := p.pos
	for {
		i := strings.IndexByte(p.src[p.pos:], '\'')
		if i >= 0 {
			p.line += strings.Count(p.src[p.pos:p.pos+i], "\n")
			p.pos += i + 1
			return &Quoted{p.src[start : p.pos-1]}
		}
		p.line += strings.Count(p.src[p.pos:], "\n")
		p.pos = len(p.src)
		if !p.fill() {
			p.unclosed(line, "'")
		}
	}
}

// plainQuotes reads '...' in the operand of ${ } in double quotes: the quotes are bytes like others,
// but a brace between them does not end the operand.
func (p *Parser) plainQuotes(m mode) Part {
	line := p.line
	p.skip()
	if p.opt.More == nil && strings.IndexByte(p.src[p.pos:], '\'') < 0 {
		p.unclosed(line, "'")
	}
	var list joined
	list.add(&Lit{"'"})
	list.add(p.parts(mode{stop: "'", dq: true, esc: m.esc})...)
	p.closer('\'', line)
	list.add(&Lit{"'"})
	return &DQ{Parts: list.parts()}
}

func (p *Parser) extGlobOn() bool {
	return p.extGlob > 0 || p.opt.ExtGlob != nil && p.opt.ExtGlob()
}

// extPattern reads @(...) and its like as the text of a pattern.
func (p *Parser) extPattern(m mode) Part {
	line := p.line
	open := string(p.peek()) + "("
	p.skip()
	p.peek()
	p.skip()
	inner := mode{stop: ")", dq: m.dq, esc: m.esc, here: m.here, nest: '('}
	var list joined
	list.add(&Lit{open})
	list.add(p.parts(inner)...)
	p.closer(')', line)
	list.add(&Lit{")"})
	return &Pattern{Parts: list.parts()}
}

func (p *Parser) procSub(c byte) Part {
	return p.once(mode{}, func() Part { return p.readProcSub(c) })
}

func (p *Parser) readProcSub(c byte) Part {
	p.skip()
	p.peek()
	p.skip()
	start := p.pos
	l := p.inner()
	return &ProcSub{Out: c == '>', List: l, Text: p.src[start : p.pos-1]}
}

// inner reads commands up to ")" as if at the start of a script, and takes it.
func (p *Parser) inner() *List {
	saved, have, ext, elements := p.cur, p.have, p.extGlob, p.elements
	pending := p.pending
	p.pending, p.have, p.extGlob, p.elements = nil, false, 0, false
	p.subst++
	l := p.list(")")
	if t := p.tok(ctxCommand); !t.is(")") {
		p.unexpected(t)
	}
	p.have, p.elements = false, elements
	p.subst--
	if len(p.pending) > 0 { // a here-document whose line has not ended: it comes with the outer line
		pending = append(pending, p.pending...)
	}
	p.cur, p.have, p.extGlob, p.pending = saved, have, ext, pending
	return l
}

// regexWord reads the right side of =~, where parentheses and | are plain.
func (p *Parser) regexWord() *Word {
	p.have = false
	w := &Word{Line: p.line}
	var list joined
	start := p.pos
	depth := 0
	for {
		c := p.peek()
		if c == 0 || c == '\n' || depth == 0 && (c == ' ' || c == '\t') {
			break
		}
		if depth == 0 && (c == '&' && p.peek2() == '&' || c == '|' && p.peek2() == '|' || c == ';' || c == ')') {
			break
		}
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		list.add(p.part(mode{stop: " \t\n()|&;", noPat: true}, c))
	}
	w.Parts = list.parts()
	if len(w.Parts) == 0 {
		p.condMissing(p.condTok(), "binary")
	}
	w.Text, w.Shown = p.text(start)
	return w
}
