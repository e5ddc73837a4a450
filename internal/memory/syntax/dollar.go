package syntax

import "strings"

// dollar reads an expansion that begins with $; nil when the $ is a plain byte.
func (p *Parser) dollar(m mode) Part {
	line := p.line
	switch c := p.peek2(); {
	case c == '{':
		return p.braced(m)
	case c == '(':
		return p.once(mode{}, p.substitution)
	case c == '[':
		p.pos++
		p.peek()
		p.pos++
		x := p.arith("]", line)
		return &ArithSub{X: x}
	case c == '\'' && (!m.dq || m.braced):
		p.pos++
		return p.ansiQuoted()
	case c == '"' && (!m.dq || m.braced):
		p.pos++
		p.peek()
		p.pos++
		parts := p.parts(modeDQ)
		p.closer('"', line)
		return &DQ{Parts: parts}
	case isNameByte(c) && (c < '0' || c > '9'):
		p.pos++
		p.peek()
		return p.nameParam(p.pos - 1)
	case c >= '0' && c <= '9' || c != 0 && strings.IndexByte("@*#?-$!", c) >= 0:
		p.pos++
		p.peek()
		p.pos++
		return &Param{Name: string(c), Text: "$" + string(c)}
	}
	return nil
}

// substitution reads $(...) or $((...)).
func (p *Parser) substitution() Part {
	line := p.line
	p.pos++
	p.peek()
	p.pos++
	if p.peek() == '(' {
		return p.arithSub(line)
	}
	start := p.pos
	l := p.inner()
	return &CmdSub{List: l, Text: p.src[start : p.pos-1], Line: line}
}

// nameParam reads $name; the name may go on behind a line continuation.
func (p *Parser) nameParam(int) Part {
	var name []byte
	for {
		c := p.peek()
		if !isNameByte(c) {
			break
		}
		name = append(name, c)
		p.pos++
	}
	return &Param{Name: string(name), Text: "$" + string(name)}
}

// arith reads an expression up to end, which it takes: "))", ";" or "]".
func (p *Parser) arith(end string, line int) *Arith {
	m := mode{stop: ")", nest: '(', dq: true, esc: dqEscapes}
	switch end {
	case "]":
		m.stop, m.nest = "]", '['
	case ";":
		m.stop = ");"
	}
	lead := p.pos
	for c := p.peek(); c == ' ' || c == '\t' || c == '\n'; c = p.peek() {
		p.skip()
	}
	start := p.pos
	w := &Word{Line: p.line}
	w.Parts = p.parts(m)
	w.Text = strings.TrimRight(p.src[start:p.pos], " \t\n")
	for range len(w.Text) / 8 {
		p.step()
	}
	x := &Arith{Lead: p.src[lead:start], Text: w.Text, Tail: p.src[start+len(w.Text) : p.pos], X: w, Line: line}
	for i := range len(end) {
		if p.peek() != end[i] {
			p.unclosed(line, end[len(end)-1:])
		}
		p.skip()
	}
	return x
}

// backquote reads `...`; the commands are read when it is expanded, as bash does.
func (p *Parser) backquote(m mode) Part {
	line := p.line
	p.pos++
	var b strings.Builder
	for {
		if p.pos >= len(p.src) && !p.fill() {
			p.unclosed(line, "`")
		}
		c := p.src[p.pos]
		if c == '`' {
			p.pos++
			return &CmdSub{Text: b.String(), Line: line, Quote: true}
		}
		if c == '\\' && p.pos+1 < len(p.src) {
			next := p.src[p.pos+1]
			if next == '$' || next == '`' || next == '\\' || next == '"' && m.dq && !m.here {
				p.pos++
				c = next
			} else if next == '\n' {
				p.pos += 2
				p.line++
				continue
			}
		}
		b.WriteByte(c)
		p.pos++
		if c == '\n' {
			p.line++
		}
	}
}

// ansiQuoted reads $'...' behind the $.
func (p *Parser) ansiQuoted() Part {
	line := p.line
	p.pos++
	start := p.pos
	for {
		if p.pos >= len(p.src) && !p.fill() {
			p.unclosed(line, "'")
		}
		switch p.src[p.pos] {
		case '\\':
			p.pos++
			if p.pos < len(p.src) {
				p.skip()
			}
			continue
		case '\'':
			p.pos++
			s := ANSI(p.src[start:p.pos-1], Rune)
			p.mark(start-2, mark{p.pos, "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"})
			return &Quoted{s}
		}
		p.skip()
	}
}
