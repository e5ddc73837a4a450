package syntax

import "fmt"

// Error is a script that cannot be parsed.
type Error struct {
	Line   int
	Msg    string // as bash words it, without name and line
	Source string // the line it is in; "" when bash does not show it
	EOF    bool   // the input ended too early
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Msg) }

// fail ends the parse; Next recovers it.
func (p *Parser) fail(line int, format string, args ...any) {
	panic(&Error{Line: line, Msg: fmt.Sprintf(format, args...)})
}

// unexpected ends the parse at a token that cannot stand where it does.
func (p *Parser) unexpected(t *token) {
	if t.kind == tokEOF && p.closers > 0 {
		line := p.line
		if p.closeLine > 0 {
			line = p.closeLine
		}
		p.unclosed(line, ")")
	}
	if t.kind == tokEOF {
		panic(&Error{Line: p.line, Msg: "syntax error: unexpected end of file", EOF: true})
	}
	panic(&Error{Line: t.line, Msg: "syntax error near unexpected token `" + t.text() + "'", Source: p.lineAt(t.pos)})
}

// unclosed ends the parse where the input ended inside a quote or bracket.
func (p *Parser) unclosed(line int, closer string) {
	panic(&Error{Line: line, Msg: "unexpected EOF while looking for matching `" + closer + "'", EOF: true})
}

// lineAt returns the source line around the offset.
func (p *Parser) lineAt(pos int) string {
	if pos > len(p.src) {
		pos = len(p.src)
	}
	start, end := pos, pos
	for start > 0 && p.src[start-1] != '\n' {
		start--
	}
	for end < len(p.src) && p.src[end] != '\n' {
		end++
	}
	return p.src[start:end]
}
