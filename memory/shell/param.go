package shell

import (
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
)

// paramKind is what a name in ${ } names.
type paramKind uint8

const (
	paramVar     paramKind = iota
	paramPos               // $1
	paramSpecial           // $? $# $$ $! $- $0
	paramAll               // $@ $*
)

// varPart is $name.
type varPart struct {
	slot int
	name string
}

// value returns the variable's value; unset is an error under set -u.
func (v *varPart) value(sh *interp) string {
	if v.slot < len(sh.vars) {
		if c := sh.vars[v.slot]; c != nil && c.attr&(attrSet|attrNoText|attrRef|attrArray|attrAssoc|attrDynamic) == attrSet {
			return c.str
		}
	}
	s, ok := sh.value(v.slot)
	if !ok && sh.opt&optNoUnset != 0 {
		sh.unbound(v.name)
	}
	return s
}

func (v *varPart) expand(f *fields, quoted bool) {
	if c := f.sh.cell(v.slot); c != nil && c.attr&attrRef != 0 {
		f.value(f.sh.variable(v.slot, nil), quoted)
		return
	}
	s := v.value(f.sh)
	if quoted {
		f.quoted(s)
	} else {
		f.expanded(s)
	}
}

// posPart is $1 and its like without operators; specialPart $? and its like; allPart $@ and $*.
type (
	posPart struct {
		n      int
		braces bool
	}
	specialPart struct {
		c      byte
		braces bool
	}
	allPart struct{ star bool }
)

func (p *posPart) expand(f *fields, quoted bool) {
	sh := f.sh
	var s string
	if p.n <= len(sh.params) {
		s = sh.params[p.n-1]
	} else if sh.opt&optNoUnset != 0 {
		sh.unboundNamed(strconv.Itoa(p.n), p.braces)
		return
	}
	if quoted {
		f.quoted(s)
	} else {
		f.expanded(s)
	}
}

func (p *specialPart) expand(f *fields, quoted bool) {
	s, ok := f.sh.special(p.c)
	if !ok && f.sh.opt&optNoUnset != 0 {
		f.sh.unboundNamed(string(p.c), p.braces)
	}
	if quoted {
		f.quoted(s)
	} else {
		f.expanded(s)
	}
}

func (p *allPart) expand(f *fields, quoted bool) { f.list(f.sh.params, quoted, p.star) }

// special returns $? and its like, and whether it is set.
func (sh *interp) special(c byte) (string, bool) {
	switch c {
	case '?':
		return strconv.Itoa(sh.status), true
	case '#':
		return strconv.Itoa(len(sh.params)), true
	case '$':
		return strconv.Itoa(sh.shellPID()), true
	case '!':
		if sh.lastBg == 0 {
			return "", false
		}
		return strconv.Itoa(sh.lastBg), true
	case '-':
		return sh.flags(), true
	case '0':
		return sh.name, true
	}
	return "", false
}

// paramPart is ${...} with a subscript or an operator.
type paramPart struct {
	kind     paramKind
	name     string
	slot     int
	pos      int
	index    *subscript
	indirect bool
	length   bool
	names    byte
	op       string
	arg      *word
	arg2     *word
	off      *arithCode
	size     *arithCode
	bad      bool
	text     string
}

// subscript is what stands in brackets.
type subscript struct {
	all  byte
	text string
	key  *word
	code *arithCode
}

// param compiles an expansion of a parameter.
func (c *compiler) param(p *syntax.Param) wpart {
	x := &paramPart{
		name: p.Name, indirect: p.Indirect, length: p.Length, names: p.Names, op: p.Op, bad: p.Bad, text: p.Text,
	}
	if p.Bad {
		return x
	}
	c.paramName(x)
	if p.Index == nil && p.Op == "" && !p.Indirect && !p.Length && p.Names == 0 {
		switch x.kind {
		case paramVar:
			return &varPart{x.slot, x.name}
		case paramPos:
			return &posPart{x.pos, strings.HasPrefix(p.Text, "${")}
		case paramAll:
			return &allPart{p.Name == "*"}
		case paramSpecial:
			return &specialPart{p.Name[0], strings.HasPrefix(p.Text, "${")}
		}
	}
	if p.Index != nil {
		x.index = c.index(p.Index)
	}
	switch p.Op {
	case "":
	case ":":
		x.off = c.arith(&syntax.Arith{Text: p.Arg.Text, X: p.Arg})
		if p.Arg2 != nil {
			x.size = c.arith(&syntax.Arith{Text: p.Arg2.Text, X: p.Arg2})
		}
	default:
		kind := wordTilde
		if p.Quoted && strings.IndexByte("/#%^,~", p.Op[0]) < 0 {
			kind = wordText
		} else if c.inAssign {
			kind = wordAssign
		}
		if p.Arg != nil {
			x.arg = c.word(p.Arg, kind)
		}
		if p.Arg2 != nil {
			x.arg2 = c.word(p.Arg2, kind)
		}
	}
	return x
}

// paramName finds out what the name names.
func (c *compiler) paramName(x *paramPart) {
	switch n := x.name; {
	case n == "@" || n == "*":
		x.kind = paramAll
	case n[0] >= '1' && n[0] <= '9':
		x.kind = paramPos
		pos, err := strconv.Atoi(n)
		if err != nil {
			pos = 1 << 30
		}
		x.pos = pos
	case isName(n):
		x.kind = paramVar
		x.slot = c.lib.symbols.slot(n)
	default:
		x.kind = paramSpecial
	}
}

func (c *compiler) subscript(s *syntax.Subscript) *subscript {
	return &subscript{
		all: s.All, text: s.Text, key: c.word(s.X, wordText),
		code: c.arith(&syntax.Arith{Text: s.Text, X: s.X}),
	}
}

// index is a subscript outside of lists: as a number it may not stand in single quotes.
func (c *compiler) index(s *syntax.Subscript) *subscript {
	x := c.subscript(s)
	if text := strings.TrimSpace(s.Text); len(text) > 1 && text[0] == '\'' && strings.Count(text, "'") == 2 && text[len(text)-1] == '\'' {
		x.code = &arithCode{text: text, err: &arithError{text: text, msg: "syntax error: operand expected", token: text}}
	}
	return x
}

// arith compiles an expression with expansions in it.
func (c *compiler) arith(a *syntax.Arith) *arithCode {
	code := &arithCode{}
	var b strings.Builder
	c.arithText(code, &b, a.X.Parts)
	code.text = b.String()
	if len(code.args) > 200 {
		code.err = &arithError{text: a.Text, msg: "expression too long"}
		code.args = nil
		return code
	}
	x, err := compileArith(c.lib, code.text)
	code.x = x
	if len(code.args) == 0 {
		code.err = err
	}
	return code
}

// arithText writes the parts as text, expansions as marks.
func (c *compiler) arithText(code *arithCode, b *strings.Builder, list []syntax.Part) {
	for _, p := range list {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(p.S, "\x01", ""))
		case *syntax.Quoted:
			b.WriteString(strings.ReplaceAll(p.S, "\x01", ""))
		case *syntax.DQ:
			c.arithText(code, b, p.Parts)
		default:
			b.WriteByte(1)
			b.WriteByte(byte(min(len(code.args), 255)))
			b.WriteByte(2)
			code.args = append(code.args, c.part(p))
		}
	}
}

// arithString evaluates to text.
func (sh *interp) arithString(code *arithCode) (string, bool) {
	n, ok := code.eval(sh)
	if !ok {
		sh.arithAbort()
		return "", false
	}
	return strconv.FormatInt(n, 10), true
}

// arithAbort leaves the command after an error in an expansion.
func (sh *interp) arithAbort() {
	if sh.ctl == ctlNone {
		sh.abort()
	}
}
