package syntax

import "fmt"

// Error is a script that cannot be parsed.
type Error struct {
	Line   int
	Msg    string // as bash words it, without name and line
	Source string // the line it is in; "" when bash does not show it
	AtEnd  bool   // that line ends with the script, without a newline
	Then   []Message
	EOF    bool // the input ended too early
	Status int  // what the shell's status becomes; 0: it stays what it was
	Goes   bool // the script goes on behind the line

	Stopped bool // Parser.Step has ended the parse
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Msg) }

// Message is a further line about an error.
type Message struct {
	Line int
	Msg  string
}

// Unended is a here-document that the end of the input ended.
type Unended struct {
	Line  int // where the input ended
	Start int // where the document began
	Delim string
}

// The statuses of errors.
const (
	statusList  = 1 // in a list of array elements
	statusBad   = 2
	statusSubst = 127 // in a substitution
)

// fail ends the parse; Next recovers it.
func (p *Parser) fail(line int, format string, args ...any) {
	panic(&Error{Line: line, Msg: fmt.Sprintf(format, args...), Status: statusBad})
}

// unexpected ends the parse at a token that is not allowed there.
func (p *Parser) unexpected(t *token) {
	if t.kind == tokEOF && p.subst > 0 {
		p.unclosed(p.line, ")")
	}
	if t.kind == tokEOF {
		panic(&Error{Line: p.line, Msg: "syntax error: unexpected end of file", EOF: true, Status: statusBad})
	}
	e := &Error{Line: t.line, Msg: "syntax error near unexpected token `" + t.text() + "'", Status: statusBad}
	e.Source, e.AtEnd = p.lineAt(t.pos)
	switch {
	case p.elements:
		e.Status, e.Goes = statusList, true
	case p.subst > 0:
		e.Status = statusSubst
	}
	panic(e)
}

// unclosed ends the parse where the input ended inside a quote or bracket.
func (p *Parser) unclosed(line int, closer string) {
	e := &Error{Line: line, Msg: unclosedMsg(closer), EOF: true, Status: statusBad}
	if p.elements {
		e.Status = statusList
		e.Then = []Message{{p.line + 1, "syntax error: unexpected end of file"}}
	}
	panic(e)
}

// unclosedList ends the parse where the input ended between the elements of an array.
func (p *Parser) unclosedList(line int) {
	panic(&Error{Line: line, Msg: unclosedMsg(")"), EOF: true, Status: statusList})
}

func unclosedMsg(closer string) string {
	return "unexpected EOF while looking for matching `" + closer + "'"
}

// lineAt returns the source line around the offset; last says that no newline ends it.
func (p *Parser) lineAt(pos int) (line string, last bool) {
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
	return p.src[start:end], end == len(p.src)
}
