package syntax

import "strings"

// maxAliases bounds how often one script's text is replaced, against aliases that
// grow each other.
const maxAliases = 10_000

// aliasMark is an alias whose text is being read; it is not replaced again inside.
type aliasMark struct {
	name string
	left int // bytes of the source behind its text
}

// alias puts the alias that the word names in its place in the source.
func (p *Parser) alias(w *Word) bool {
	next := p.blankLeft >= 0 && len(p.src)-p.cur.pos <= p.blankLeft
	if next {
		p.blankLeft = -1
	}
	next = next || p.again
	p.again = false
	if p.opt.Alias == nil || p.cur.ctx != ctxCommand && !next {
		return false
	}
	name := w.Text
	if name == "" || strings.ContainsAny(name, "\\'\"$`/") {
		return false
	}
	for len(p.aliases) > 0 && len(p.src)-p.cur.pos <= p.aliases[len(p.aliases)-1].left {
		p.aliases = p.aliases[:len(p.aliases)-1]
	}
	for _, a := range p.aliases {
		if a.name == name {
			return false
		}
	}
	text, ok := p.opt.Alias(name)
	if !ok {
		return false
	}
	if p.aliasCount++; p.aliasCount > maxAliases {
		p.fail(p.line, "too many aliases")
	}
	rest := p.src[p.pos:]
	p.aliases = append(p.aliases, aliasMark{name, len(rest)})
	p.aliased, p.again = true, next
	if strings.HasSuffix(text, " ") || strings.HasSuffix(text, "\t") {
		p.blankLeft = len(rest)
	}
	p.src = p.src[:p.cur.pos] + text + rest
	clear(p.marks)
	if p.tries != nil {
		p.tries.clear()
	}
	p.pos, p.line = p.cur.pos, p.cur.line-strings.Count(text, "\n") // Its lines do not count as lines of the script.
	return true
}
