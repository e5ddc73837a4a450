package syntax

import "strings"

// mark is a stretch of the source that bash remembers in another way: $'...', and newlines that join lines.
type mark struct {
	end  int
	text string
}

func (p *Parser) mark(at int, m mark) {
	if p.marks == nil {
		p.marks = map[int]mark{}
	}
	p.marks[at] = m
}

// text returns the source from start to here, and how bash remembers it when that is something else.
func (p *Parser) text(start int) (text, shown string) {
	text = p.src[start:p.pos]
	if len(p.marks) == 0 {
		return text, ""
	}
	var b strings.Builder
	from := start
	for i := start; i < p.pos; i++ {
		if c := p.src[i]; c != '$' && c != '\\' {
			continue
		}
		if m, ok := p.marks[i]; ok && m.end <= p.pos {
			b.WriteString(p.src[from:i] + m.text)
			from, i = m.end, m.end-1
		}
	}
	if from == start {
		return text, ""
	}
	b.WriteString(p.src[from:p.pos])
	return text, b.String()
}
