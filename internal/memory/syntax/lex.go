package syntax

import "strings"

type tokKind int8

const (
	tokEOF tokKind = iota
	tokNewline
	tokOp
	tokWord
	tokAssign
	tokNumber // the descriptor before a redirection
	tokVar    // {name} before a redirection
)

// token is a token of the grammar.
type token struct {
	kind   tokKind
	op     string
	word   *Word
	assign *Assign
	fd     int
	pos    int // where it begins
	line   int
	ctx    context
	end    int // where the next begins
	endLn  int
}

// context says what a word may be at its position.
type context int8

const (
	ctxArg     context = iota // nothing but a word
	ctxCommand                // an alias, a reserved word, an assignment
	ctxDecl                   // an assignment as argument
	ctxPattern                // of case
	ctxList                   // an argument that may be NAME=(list), stored as text
)

// text returns the token as messages show it.
func (t *token) text() string {
	switch t.kind {
	case tokEOF:
		return "EOF"
	case tokNewline:
		return "newline"
	case tokOp:
		return t.op
	case tokWord:
		return t.word.Text
	case tokAssign:
		return t.assign.Text
	default:
		return t.op
	}
}

// is reports whether the token is that operator.
func (t *token) is(op string) bool { return t.kind == tokOp && t.op == op }

// lit returns the text of a plain word, "" otherwise.
func (t *token) lit() string {
	if t.kind != tokWord {
		return ""
	}
	s, _ := t.word.Literal()
	return s
}

// peek returns the next byte, 0 at the end; a backslash before a newline is skipped.
func (p *Parser) peek() byte {
	for {
		if p.pos >= len(p.src) && !p.fill() {
			return 0
		}
		c := p.src[p.pos]
		if c != '\\' || p.raw {
			return c
		}
		if p.pos+1 >= len(p.src) && !p.fill() || p.src[p.pos+1] != '\n' {
			return c
		}
		p.mark(p.pos, mark{end: p.pos + 2})
		p.pos += 2
		p.line++
	}
}

// peek2 returns the byte after the next.
func (p *Parser) peek2() byte {
	if p.peek() == 0 {
		return 0
	}
	at := p.pos + 1
	for at+1 < len(p.src) && p.src[at] == '\\' && p.src[at+1] == '\n' {
		at += 2
	}
	if at >= len(p.src) {
		return 0
	}
	return p.src[at]
}

// fill asks for more input.
func (p *Parser) fill() bool {
	for p.opt.More != nil {
		more, ok := p.opt.More()
		if !ok {
			p.opt.More = nil
			return false
		}
		p.src += strings.ReplaceAll(more, "\x00", "")
		if p.Step != nil && !p.Step(len(p.src)>>10, len(more)) {
			panic(&Error{Line: p.line, Msg: "stopped", Stopped: true})
		}
		if p.pos < len(p.src) {
			return true
		}
	}
	return false
}

// skip moves past the byte that peek returned.
func (p *Parser) skip() {
	if p.src[p.pos] == '\n' {
		p.line++
	}
	p.pos++
}

// tok returns the next token, read for the context, without taking it.
func (p *Parser) tok(ctx context) *token {
	if p.have {
		if p.cur.ctx == ctx || p.cur.kind < tokWord {
			return &p.cur
		}
		p.pos, p.line, p.have = p.cur.pos, p.cur.line, false
	}
	p.lex(ctx)
	p.have = true
	return &p.cur
}

// take consumes the token that tok returned; a newline brings the here-documents.
func (p *Parser) take() {
	p.have = false
	if p.cur.kind == tokNewline && len(p.pending) > 0 {
		p.readHeredocs()
	}
}

// lex reads a token into cur.
func (p *Parser) lex(ctx context) {
	p.step()
	for {
		p.blanks()
		p.cur = token{pos: p.pos, line: p.line, ctx: ctx}
		if p.lexOne(ctx) {
			break
		}
	}
	p.cur.end, p.cur.endLn = p.pos, p.line
}

// blanks skips white space and comments.
func (p *Parser) blanks() {
	for {
		switch p.peek() {
		case ' ', '\t':
			p.pos++
		case '#':
			if p.opt.NoComments {
				return
			}
			for p.pos < len(p.src) && p.src[p.pos] != '\n' {
				p.pos++
			}
		default:
			return
		}
	}
}

// operators, longest first.
var operators = []string{
	"&>>", ";;&", "<<<", "<<-",
	"&&", "||", ";;", ";&", "|&", "&>", "<<", ">>", "<&", ">&", "<>", ">|",
	";", "&", "|", "(", ")", "<", ">",
}

// lexOne reads one token; false when an alias has been put in its place.
func (p *Parser) lexOne(ctx context) bool {
	c := p.peek()
	switch c {
	case 0:
		p.cur.kind = tokEOF
		if n := len(p.src); n > 0 && p.src[n-1] != '\n' && !p.lastLine {
			p.cur.kind, p.lastLine = tokNewline, true
			p.line++
		}
		return true
	case '\n':
		p.cur.kind = tokNewline
		p.skip()
		return true
	case '<', '>':
		if p.peek2() == '(' {
			break
		}
		fallthrough
	case ';', '&', '|', '(', ')':
		p.cur.kind, p.cur.op = tokOp, p.operator()
		return true
	}
	return p.lexWord(ctx)
}

// operator reads the longest operator; it may contain line continuations.
func (p *Parser) operator() string {
	rest := p.src[p.pos:]
	if strings.Contains(rest[:min(len(rest), 8)], "\\\n") {
		rest = strings.ReplaceAll(rest[:min(len(rest), 16)], "\\\n", "")
	}
	for _, op := range operators {
		if strings.HasPrefix(rest, op) {
			for range op {
				p.peek()
				p.pos++
			}
			return op
		}
	}
	return ""
}

// lexWord reads a word, an assignment or the descriptor of a redirection.
func (p *Parser) lexWord(ctx context) bool {
	t := &p.cur
	if ctx == ctxList {
		if w := p.listWord(); w != nil {
			t.kind, t.word = tokWord, w
			return true
		}
	}
	if ctx == ctxCommand || ctx == ctxDecl {
		if a := p.assignment(ctx); a != nil {
			if ctx == ctxCommand {
				t.kind, t.assign = tokAssign, a
			} else {
				t.kind, t.word = tokWord, &Word{Text: a.Text, Shown: a.Shown, Line: t.line, Assign: a}
			}
			return true
		}
	}
	if ctx != ctxPattern && p.redirPrefix() {
		return true
	}
	w := p.word()
	t.kind, t.word = tokWord, w
	return ctx == ctxPattern || !p.alias(w)
}

// redirPrefix reads "2" or "{name}" right before < or >.
func (p *Parser) redirPrefix() bool {
	i := p.pos
	switch c := p.src[i]; {
	case c >= '0' && c <= '9':
		fd := 0
		for i < len(p.src) && p.src[i] >= '0' && p.src[i] <= '9' && i-p.pos < 9 {
			fd = fd*10 + int(p.src[i]-'0')
			i++
		}
		if i < len(p.src) && (p.src[i] == '<' || p.src[i] == '>') {
			p.cur.kind, p.cur.fd, p.cur.op = tokNumber, fd, p.src[p.pos:i]
			p.pos = i
			return true
		}
	case c == '{':
		n := nameLen(p.src[i+1:])
		end := i + 1 + n
		if n > 0 && end < len(p.src) && p.src[end] == '[' {
			if k := strings.IndexByte(p.src[end:], ']'); k > 0 {
				end += k + 1
			}
		}
		if n > 0 && end+1 < len(p.src) && p.src[end] == '}' && (p.src[end+1] == '<' || p.src[end+1] == '>') {
			p.cur.kind, p.cur.op = tokVar, p.src[i+1:end]
			p.pos = end + 1
			return true
		}
	}
	return false
}

// nameLen returns how many bytes of s are a variable's name.
func nameLen(s string) int {
	i := 0
	for i < len(s) && (isNameByte(s[i]) && (i > 0 || s[i] < '0' || s[i] > '9')) {
		i++
	}
	return i
}

func isNameByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// IsName reports whether s can be a variable's name.
func IsName(s string) bool { return s != "" && nameLen(s) == len(s) }
