package syntax

import "strings"

// Options say how to read.
type Options struct {
	Alias      func(name string) (text string, ok bool) // nil: no aliases
	ExtGlob    func() bool                              // nil: off; asked for each word
	More       func() (text string, ok bool)            // further input, some lines at a time; nil: none
	Line       int                                      // number of the first line; 0: 1
	NoComments bool
}

// maxDepth bounds how deep constructs are nested, against stacks that
// grow with the input.
const maxDepth = 500

// Parser reads a script.
type Parser struct {
	// Step receives the number of new nodes of the tree, and of bytes of input that the parser has stored;
	// false ends the parse with an Error that is Stopped. Nil: no limit.
	Step func(n, bytes int) bool

	src  string
	pos  int
	line int
	opt  Options

	cur  token
	have bool // cur has been read and not taken
	raw  bool // a backslash before a newline is two bytes

	unended    []Unended
	pending    []*Redir // here-documents whose bodies come after this line
	aliases    []aliasMark
	aliasCount int
	aliased    bool
	blankLeft  int  // an alias that ended in a blank: where its text ends, from the end; -1: none
	again      bool // the next word begins the text of an argument's alias, and may be an alias too
	depth      int
	deepest    int  // the largest depth since the parser began, or since measure did
	subst      int  // substitutions around what is read
	elements   bool // the elements of an array are read
	lastLine   bool // the newline that the end of the input stands for has been read
	steps      int  // nodes of the tree, about
	trying     int  // constructs around the read text that may not be arithmetic after all
	tries      *tries
	marks      map[int]mark
	extGlob    int // inside [[ ]] patterns, where extglob is always on
}

// NewParser returns a parser of the script; bytes of value 0 are dropped, as bash does.
func NewParser(src string, o Options) *Parser {
	if strings.IndexByte(src, 0) >= 0 {
		src = strings.ReplaceAll(src, "\x00", "")
	}
	if o.Line == 0 {
		o.Line = 1
	}
	return &Parser{src: src, line: o.Line, opt: o, blankLeft: -1}
}

// Aliased reports whether an alias was replaced: the tree then belongs not only to the text.
func (p *Parser) Aliased() bool { return p.aliased }

// Pos returns the offset in the source after the read text, and its line.
func (p *Parser) Pos() (offset, line int) { return p.pos, p.line }

// Unended returns the here-documents read since the last call that have no end.
func (p *Parser) Unended() []Unended {
	list := p.unended
	p.unended = nil
	return list
}

// Since returns the source from the offset to the end of the read text.
func (p *Parser) Since(start int) string {
	if start > p.pos || p.pos > len(p.src) {
		return ""
	}
	return p.src[start:p.pos]
}

// Next returns the next complete command, which ends with a newline, or nil at the end
// of the script. An error is an *Error, after which the parser is at its end.
func (p *Parser) Next() (l *List, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			l, err = nil, e
			p.restart(e)
		}
	}()
	if p.opt.More != nil && !p.have && p.pos > 1<<12 { // What has run is not needed any more.
		p.src, p.pos = strings.Clone(p.src[p.pos:]), 0
	}
	p.trying, p.tries = 0, nil
	clear(p.marks)
	for p.tok(ctxCommand).kind == tokNewline {
		p.take()
	}
	if p.tok(ctxCommand).kind == tokEOF {
		return nil, nil
	}
	l = &List{}
	for {
		item := p.item()
		l.Items = append(l.Items, item)
		t := p.tok(ctxCommand)
		switch {
		case t.is(";"), t.is("&"):
			item.Background = t.op == "&"
			p.take()
			if t = p.tok(ctxCommand); t.kind == tokNewline || t.kind == tokEOF {
				p.take()
				p.endOfInput(t)
				return l, nil
			}
		case t.kind == tokNewline, t.kind == tokEOF:
			p.take()
			p.endOfInput(t)
			return l, nil
		default:
			p.unexpected(t)
		}
	}
}

// restart goes on behind the line of an error, if the error lets it.
func (p *Parser) restart(e *Error) {
	if !e.Goes {
		return
	}
	p.have, p.elements, p.subst, p.depth, p.extGlob, p.pending = false, false, 0, 0, 0, nil
	for p.pos < len(p.src) && p.src[p.pos] != '\n' {
		p.pos++
	}
}

// endOfInput reads here-documents that the end of the input left without a body.
func (p *Parser) endOfInput(t *token) {
	if t.kind == tokEOF && len(p.pending) > 0 {
		p.readHeredocs()
	}
}

// step counts a node.
func (p *Parser) step() {
	p.steps++
	p.count(1, 0)
}

// count takes memory for nodes and bytes.
func (p *Parser) count(nodes, bytes int) {
	if p.Step != nil && !p.Step(nodes, bytes) {
		panic(&Error{Line: p.line, Msg: "stopped", Stopped: true})
	}
}

// enter counts a construct inside another.
func (p *Parser) enter() {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.line, "too many levels of commands")
	}
	p.deepest = max(p.deepest, p.depth)
}

// Levels returns the deepest nesting of the constructs that the parser has read since the last call.
func (p *Parser) Levels() int {
	n := p.deepest
	p.deepest = 0
	return n
}

// measure calls read and returns how many levels of constructs it has read.
func (p *Parser) measure(read func()) (levels int) {
	before := p.deepest
	p.deepest = p.depth
	defer func() {
		levels = p.deepest - p.depth
		p.deepest = max(p.deepest, before)
	}()
	read()
	return
}

// list reads commands up to one of the reserved words or operators, which is not taken.
func (p *Parser) list(until ...string) *List {
	p.enter()
	defer func() { p.depth-- }()
	l := &List{}
	for {
		p.newlines()
		t := p.tok(ctxCommand)
		if p.ends(t, until) {
			return l
		}
		item := p.item()
		l.Items = append(l.Items, item)
		t = p.tok(ctxCommand)
		switch {
		case t.is(";"), t.is("&"):
			item.Background = t.op == "&"
			p.take()
		case t.kind == tokNewline:
			p.take()
		case p.ends(t, until):
			return l
		default:
			p.unexpected(t)
		}
	}
}

// body is a list that must not be empty.
func (p *Parser) body(until ...string) *List {
	l := p.list(until...)
	if len(l.Items) == 0 {
		p.unexpected(p.tok(ctxCommand))
	}
	return l
}

func (p *Parser) newlines() {
	for p.tok(ctxCommand).kind == tokNewline {
		p.take()
	}
}

// ends reports whether the token is one that the list may end with.
func (p *Parser) ends(t *token, until []string) bool {
	var s string
	switch t.kind {
	case tokEOF:
		return len(until) == 0
	case tokOp:
		s = t.op
	case tokWord:
		s = t.lit()
	default:
		return false
	}
	for _, u := range until {
		if s == u && s != "" {
			return true
		}
	}
	return false
}

// item reads an and-or list.
func (p *Parser) item() *Item {
	it := &Item{Line: p.tok(ctxCommand).line}
	it.First = p.pipeline()
	for {
		t := p.tok(ctxCommand)
		if !t.is("&&") && !t.is("||") {
			return it
		}
		or := t.op == "||"
		p.take()
		p.newlines()
		it.Rest = append(it.Rest, AndOr{Or: or, Pipe: p.pipeline()})
	}
}

// pipeline reads commands joined by |, with ! and time before them.
func (p *Parser) pipeline() *Pipeline {
	pl := &Pipeline{Line: p.tok(ctxCommand).line}
	for {
		t := p.tok(ctxCommand)
		switch t.lit() {
		case "!":
			pl.Bang = !pl.Bang
			p.take()
			if p.endsPipeline() {
				return pl
			}
			continue
		case "time":
			p.take()
			pl.Time = true
			if p.tok(ctxCommand).lit() == "-p" {
				pl.TimePosix = true
				p.take()
			}
			if p.tok(ctxCommand).lit() == "--" {
				p.take()
			}
			if p.endsPipeline() {
				return pl
			}
			continue
		}
		break
	}
	for {
		c := p.command()
		pl.Cmds = append(pl.Cmds, c)
		t := p.tok(ctxCommand)
		if !t.is("|") && !t.is("|&") {
			return pl
		}
		c.Stderr = t.op == "|&"
		p.take()
		p.newlines()
	}
}

// endsPipeline reports whether nothing follows "!" or "time".
func (p *Parser) endsPipeline() bool {
	t := p.tok(ctxCommand)
	return t.kind == tokEOF || t.kind == tokNewline || t.is(";") || t.is("&") || t.is(")") || t.is("&&") || t.is("||")
}

// Text reads s as the inside of a subscript: blanks and operators are plain, quotes and
// expansions count. Step is that of Parser.
func Text(s string, step func(n, bytes int) bool) (w *Word, err error) {
	return readWhole(s, mode{noPat: true}, step)
}

// QuotedText reads s as the inside of double quotes, in which " is plain.
func QuotedText(s string, step func(n, bytes int) bool) (w *Word, err error) {
	return readWhole(s, modeHere, step)
}

func readWhole(s string, m mode, step func(n, bytes int) bool) (w *Word, err error) {
	p := NewParser(s, Options{})
	p.Step = step
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			w, err = nil, e
		}
	}()
	w = &Word{Parts: p.parts(m), Text: s, Line: 1}
	w.Levels = p.deepest
	return w, nil
}
