package shell

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/internal/memory/pattern"
	"github.com/seed434b0696/agent-sandbox/internal/memory/quote"
	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/ifs"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/option"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/shopt"
)

// paramKind is the kind of a parameter in ${ }.
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
	if !ok && sh.opt&option.NoUnset != 0 {
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
	} else if sh.opt&option.NoUnset != 0 {
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
	if !ok && f.sh.opt&option.NoUnset != 0 {
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
func (ex *execution) special(c byte) (string, bool) {
	switch c {
	case '?':
		return strconv.Itoa(ex.status), true
	case '#':
		return strconv.Itoa(len(ex.params)), true
	case '$':
		return strconv.Itoa(ex.shellPID()), true
	case '!':
		if ex.lastBg == 0 {
			return "", false
		}
		return strconv.Itoa(ex.lastBg), true
	case '-':
		return ex.opt.Letters(), true
	case '0':
		return ex.name, true
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

// subscript is the text in brackets.
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

// paramName finds the kind of the parameter.
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
	key := c.word(s.X, wordText)
	return &subscript{
		all: s.All, text: s.Text, key: key,
		code: c.arithOf(&syntax.Arith{Text: s.Text, X: s.X}, key.parts),
	}
}

// index is a subscript outside of lists: as a number it may not be in single quotes.
func (c *compiler) index(s *syntax.Subscript) *subscript {
	x := c.subscript(s)
	if text := strings.TrimSpace(s.Text); len(text) > 1 && text[0] == '\'' && strings.Count(text, "'") == 2 && text[len(text)-1] == '\'' {
		x.code = &arithCode{text: text, err: &arithError{text: text, msg: "syntax error: operand expected", token: text}}
	}
	return x
}

// arith compiles an expression with expansions in it.
func (c *compiler) arith(a *syntax.Arith) *arithCode { return c.arithOf(a, c.parts(a.X.Parts)) }

// arithOf compiles an expression whose parts have been compiled: a subscript that compiled its parts twice would
// compile those of a subscript inside it four times.
func (c *compiler) arithOf(a *syntax.Arith, parts []wpart) *arithCode {
	code := &arithCode{}
	var b strings.Builder
	arithText(code, &b, a.X.Parts, parts)
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

// arithText writes the parts as text, expansions as marks. compiled are the parts compiled.
func arithText(code *arithCode, b *strings.Builder, list []syntax.Part, compiled []wpart) {
	for i, p := range list {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(p.S, "\x01", ""))
		case *syntax.Quoted:
			b.WriteString(strings.ReplaceAll(p.S, "\x01", ""))
		case *syntax.DQ:
			if dq, ok := compiled[i].(*dqPart); ok {
				arithText(code, b, p.Parts, dq.parts)
			}
		default:
			b.WriteByte(1)
			b.WriteByte(byte(min(len(code.args), 255)))
			b.WriteByte(2)
			code.args = append(code.args, compiled[i]) // bounded: by the nodes of the script, which are charged
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
func (ex *execution) arithAbort() {
	if ex.ctl == ctlNone {
		ex.abort()
	}
}

// pval is the value of a parameter: one value, or a list.
type pval struct {
	s     string
	set   bool
	list  []string
	all   byte // '@' or '*': list counts
	slot  int  // for ${x=y}; -1: cannot be assigned
	sub   *subscript
	text  string // the subscript of an indirection
	named bool   // the list was found by an indirection
}

// base returns the parameter without operators.
func (p *paramPart) base(sh *interp) pval {
	if p.indirect {
		return p.indirection(sh)
	}
	switch p.kind {
	case paramPos:
		if p.pos <= len(sh.params) {
			return pval{s: sh.params[p.pos-1], set: true, slot: -1}
		}
		return pval{slot: -1}
	case paramSpecial:
		s, ok := sh.special(p.name[0])
		return pval{s: s, set: ok, slot: -1}
	case paramAll:
		return pval{list: sh.params, all: p.name[0], set: len(sh.params) > 0, slot: -1}
	default:
	}
	return sh.variable(p.slot, p.index)
}

// variable returns a variable or its elements.
func (e *expansion) variable(slot int, index *subscript) pval {
	v := pval{slot: slot, sub: index}
	if index == nil {
		if c := e.sh.cell(slot); c != nil && c.attr&attrRef != 0 {
			if pl, ok := e.sh.follow(slot); ok && pl.whole {
				v.list, v.all = e.sh.elements(pl.slot), pl.sub[0]
				v.set = len(v.list) > 0
				return v
			}
		}
		v.s, v.set = e.sh.value(slot)
		return v
	}
	if c := e.sh.cell(slot); c != nil && c.attr&attrRef != 0 {
		if pl, ok := e.sh.follow(slot); ok && pl.elem { // An element has none.
			v.all = index.all
			return v
		}
	}
	if index.all != 0 {
		v.list, v.all = e.sh.elements(slot), index.all
		v.set = len(v.list) > 0
		return v
	}
	v.s, v.set = e.at(slot, index)
	return v
}

// at returns the element that a subscript names.
func (e *expansion) at(slot int, index *subscript) (string, bool) {
	if e.sh.isAssoc(slot) {
		pl, _ := e.sh.follow(slot)
		return e.sh.cell(pl.slot).assoc.At(e.str(index.key))
	}
	i, ok := e.sh.evalIndex(index)
	if !ok {
		return "", false
	}
	return e.sh.indexedAt(slot, e.sh.cell(slot), i)
}

// indirection returns the parameter that the value of another names.
func (p *paramPart) indirection(sh *interp) pval {
	if p.kind == paramVar && p.index == nil {
		if c := sh.cell(p.slot); c != nil && c.attr&attrRef != 0 {
			if c.attr&attrSet == 0 {
				return pval{slot: -1}
			}
			return pval{s: c.str, set: true, slot: -1}
		}
	}
	q := *p
	q.indirect = false
	v := q.base(sh)
	name := v.s
	if v.all != 0 {
		name = strings.Join(v.list, " ")
	}
	if !v.set && p.kind != paramVar {
		return pval{slot: -1}
	}
	if !v.set {
		sh.errorf("%s: invalid indirect expansion", strings.TrimPrefix(p.paramText(), "!"))
		sh.abort()
		return pval{slot: -1}
	}
	return sh.named(name)
}

// named returns the parameter of a name made at run time: x, a[i], 1, @.
func (e *expansion) named(name string) pval {
	if n, err := strconv.Atoi(name); err == nil && n >= 0 {
		switch {
		case n == 0:
			return pval{s: e.sh.name, set: true, slot: -1}
		case n <= len(e.sh.params):
			return pval{s: e.sh.params[n-1], set: true, slot: -1}
		}
		return pval{slot: -1}
	}
	if len(name) == 1 && strings.IndexByte("@*", name[0]) >= 0 {
		return pval{list: e.sh.params, all: name[0], set: len(e.sh.params) > 0, slot: -1}
	}
	if len(name) == 1 && strings.IndexByte("?#$!-", name[0]) >= 0 {
		s, ok := e.sh.special(name[0])
		return pval{s: s, set: ok, slot: -1}
	}
	base, sub, elem := splitSubscript(name)
	if !isName(base) {
		e.sh.errorf("%s: invalid variable name", name)
		e.sh.abort()
		return pval{slot: -1}
	}
	slot := e.sh.slot(base)
	if !elem {
		return e.variable(slot, nil)
	}
	v := pval{slot: slot, text: sub, sub: &subscript{text: sub}}
	if sub == "@" || sub == "*" {
		v.list, v.all, v.named = e.sh.elements(slot), sub[0], true
		v.set = len(v.list) > 0
		return v
	}
	v.s, v.set = e.sh.element(place{slot: slot, sub: sub, elem: true})
	return v
}

// paramText returns the parameter as messages name it.
func (p *paramPart) paramText() string {
	s := p.name
	if p.index != nil {
		s += "[" + p.index.text + "]"
	}
	if p.indirect {
		s = "!" + s
	}
	return s
}

// unboundNamed ends the shell for a parameter whose message says how it was written.
func (ex *execution) unboundNamed(name string, braces bool) {
	if !braces {
		name = "$" + name
	}
	ex.unbound(name)
}

// unbound ends the shell: set -u and a parameter without value.
func (ex *execution) unbound(name string) {
	ex.errorf("%s: unbound variable", name)
	ex.fatal()
}

// fatal ends the shell after an error of an expansion that ends a script.
func (ex *execution) fatal() {
	status := 1
	if ex.opt&option.Command != 0 && ex.opt&option.ErrExit == 0 && ex.subshell == 0 && ex.sourceLevel == 0 {
		status = 127
	}
	if ex.opt&option.Interactive != 0 {
		ex.abort()
		return
	}
	ex.exit(status)
}

// expand adds the parameter to f.
func (p *paramPart) expand(f *fields, quoted bool) {
	sh := f.sh
	switch {
	case p.bad:
		sh.errorf("%s: bad substitution", p.text)
		sh.abort()
		return
	case p.names != 0:
		f.list(sh.varNames(p.name), quoted, p.names == '*')
		return
	case p.indirect && p.index != nil && p.index.all != 0 && p.op == "":
		f.list(sh.keys(p.slot), quoted, p.index.all == '*')
		return
	case p.length:
		s := p.lengthOf(sh)
		if quoted {
			f.quoted(s)
		} else {
			f.expanded(s)
		}
		return
	}
	v := p.base(sh)
	if sh.ctl != ctlNone {
		return
	}
	p.operate(f, v, quoted)
}

// lengthOf is ${#x}.
func (p *paramPart) lengthOf(sh *interp) string {
	if p.kind == paramAll {
		return strconv.Itoa(len(sh.params))
	}
	if p.index != nil && p.index.all != 0 {
		c := sh.cell(p.slot)
		if c != nil && c.attr&attrAssoc != 0 {
			return strconv.Itoa(c.assoc.Len())
		}
		return strconv.Itoa(len(sh.elements(p.slot)))
	}
	if c := sh.cell(p.slot); p.kind == paramVar && !p.indirect && c != nil && c.attr&attrRef != 0 {
		if pl, ok := sh.follow(p.slot); ok && pl.elem {
			return "0"
		}
	}
	v := p.base(sh)
	if v.all != 0 {
		return strconv.Itoa(len(v.list))
	}
	if !v.set && sh.opt&option.NoUnset != 0 && sh.ctl == ctlNone {
		sh.unbound(p.paramText())
	}
	return strconv.Itoa(sh.runeCount(v.s))
}

// operate applies the operator and adds the result.
func (p *paramPart) operate(f *fields, v pval, quoted bool) {
	sh := f.sh
	switch p.op {
	case "-", ":-", "+", ":+", "=", ":=", "?", ":?":
		p.conditional(f, v, quoted)
		return
	}
	if !v.set && v.all == 0 && sh.opt&option.NoUnset != 0 && p.op != "@a" && p.op != "@A" {
		sh.unbound(p.paramText())
		return
	}
	f.joined = p.op != "" && (quoted || p.op != ":")
	defer func() { f.joined = false }()
	switch {
	case p.op == "":
		f.value(v, quoted)
	case p.op == ":":
		p.slice(f, v, quoted)
	case p.op[0] == '@':
		p.transform(f, v, quoted)
	default:
		change := p.change(sh)
		if sh.ctl != ctlNone {
			return
		}
		switch {
		case v.all == 0 && !v.set:
		case v.all == 0:
			v.s = sh.changed(v.s, change)
		default:
			v.list = sh.each(v.list, change)
		}
		f.value(v, quoted)
	}
}

// value adds a value or a list.
func (f *fields) value(v pval, quoted bool) {
	switch {
	case v.all != 0:
		f.list(v.list, quoted, v.all == '*')
	case quoted:
		f.quoted(v.s)
	default:
		f.expanded(v.s)
	}
}

// each changes every value of a list.
func (e *expansion) each(list []string, change func(string) string) []string {
	if !e.sh.hold(16 * len(list)) {
		return nil
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = change(s)
		if !e.sh.hold(len(out[i])) || !e.sh.spend(len(s)>>6) {
			return nil
		}
	}
	return out
}

// null reports whether the value counts as empty under ":-" and its like.
func (v *pval) null(sh *interp, quoted bool) bool {
	if v.all == 0 {
		return v.s == ""
	}
	if len(v.list) == 0 {
		return true
	}
	if quoted && v.named {
		return false
	}
	if quoted && v.all == '*' {
		return strings.Join(v.list, sh.ifsJoin()) == ""
	}
	return (!v.named || v.all == '*') && len(v.list) == 1 && v.list[0] == ""
}

// conditional is ${x-y} and its like.
func (p *paramPart) conditional(f *fields, v pval, quoted bool) {
	sh := f.sh
	have := v.set
	if p.op[0] == ':' {
		have = have && !v.null(sh, quoted)
	}
	switch p.op[len(p.op)-1] {
	case '-':
		if have {
			f.value(v, quoted)
		} else {
			p.operand(f, quoted)
		}
	case '+':
		switch {
		case have:
			p.operand(f, quoted)
		case v.all == '@':
			f.list(nil, quoted, false)
		}
	case '=':
		if have {
			f.value(v, quoted)
			return
		}
		p.assignDefault(f, v, quoted)
	case '?':
		if have {
			f.value(v, quoted)
			return
		}
		msg := "parameter null or not set"
		if p.op[0] != ':' {
			msg = "parameter not set"
		}
		if p.arg != nil && len(p.arg.parts) > 0 {
			msg = sh.operandText(p.arg, quoted)
		}
		if sh.ctl != ctlNone {
			return
		}
		sh.errorf("%s: %s", p.paramText(), msg)
		sh.fatal()
	}
}

// operand adds the word behind an operator, as if it stood in the place of the parameter.
func (p *paramPart) operand(f *fields, quoted bool) {
	split := f.split
	f.split = true
	for _, part := range p.arg.parts {
		part.expand(f, quoted)
	}
	f.split = split
}

// operandText returns the word behind an operator as one string.
func (e *expansion) operandText(w *word, quoted bool) string {
	f := &fields{sh: e.sh}
	f.begin(forText)
	for _, part := range w.parts {
		part.expand(f, quoted)
	}
	return f.text()
}

// assignDefault is ${x=y} when x has no value.
func (p *paramPart) assignDefault(f *fields, v pval, quoted bool) {
	sh := f.sh
	s := sh.operandText(p.arg, quoted)
	if sh.ctl != ctlNone {
		return
	}
	if v.slot < 0 {
		sh.errorf("$%s: cannot assign in this way", p.name)
		sh.abort()
		return
	}
	ok := false
	switch {
	case v.sub == nil:
		ok = sh.assignTo(place{slot: v.slot}, s, false)
		if ok {
			s = sh.get(v.slot)
		}
	case v.sub.all != 0:
		sh.errorf("%s[%s]: bad array subscript", p.name, v.sub.text)
	case sh.isAssoc(v.slot) && v.sub.key != nil:
		ok = sh.assignKey(v.slot, sh.str(v.sub.key), s, false)
	case v.sub.code != nil:
		if i, fine := sh.evalIndex(v.sub); fine {
			ok = sh.assignIndex(v.slot, i, s, false, v.sub.text)
		}
	default:
		ok = sh.assignElem(place{slot: v.slot, sub: v.text, elem: true}, s, false)
	}
	if !ok {
		if sh.ctl == ctlNone {
			sh.abort()
		}
		return
	}
	if quoted {
		f.quoted(s)
	} else {
		f.expanded(s)
	}
}

// change returns the result of an operator such as # or / for one value.
func (p *paramPart) change(sh *interp) func(string) string {
	switch p.op {
	case "^", "^^", ",", ",,", "~", "~~":
		return p.changeCase(sh)
	case "/", "//", "/#", "/%":
		return p.replace(sh)
	}
	pat := sh.pattern(p)
	switch p.op {
	case "#":
		return func(s string) string { return ifs.Cut(s, pat.Prefix(work{sh}, s, false), len(s)) }
	case "##":
		return func(s string) string { return ifs.Cut(s, pat.Prefix(work{sh}, s, true), len(s)) }
	case "%":
		return func(s string) string { return ifs.Cut(s, 0, pat.Suffix(work{sh}, s, false)) }
	}
	return func(s string) string { return ifs.Cut(s, 0, pat.Suffix(work{sh}, s, true)) }
}

// pattern compiles the operand, once when it is constant.
func (e *expansion) pattern(p *paramPart) *pattern.Pattern {
	return e.wordPattern(p.arg, 0)
}

// wordPattern compiles a word as a pattern.
func (e *expansion) wordPattern(w *word, f pattern.Flags) *pattern.Pattern {
	return e.patternOf(e.patternText(w), f|e.sh.patternFlags())
}

// localeFlags reports whether patterns match bytes.
func (v *settings) localeFlags() pattern.Flags {
	if v.bytewise() {
		return pattern.Bytes
	}
	return 0
}

// patternFlags returns how patterns are read now: extended ones count where extglob is on.
func (v *settings) patternFlags() pattern.Flags {
	f := v.localeFlags()
	if v.sh.shopt&shopt.ExtGlob != 0 {
		f |= pattern.Ext
	}
	return f
}

func (p *paramPart) changeCase(sh *interp) func(string) string {
	var pat *pattern.Pattern
	if p.arg != nil && len(p.arg.parts) > 0 {
		pat = sh.pattern(p)
	}
	all := len(p.op) == 2
	return func(s string) string { return changeCase(sh, s, p.op[0], all, pat) }
}

// replace is ${x/pattern/string}.
func (p *paramPart) replace(sh *interp) func(string) string {
	var flags pattern.Flags
	if sh.shopt&shopt.NoCaseMatch != 0 {
		flags = pattern.Fold
	}
	text := sh.patternText(p.arg)
	anchor := byte(0)
	if len(p.op) == 2 && p.op[1] != '/' {
		anchor = p.op[1]
	}
	if sh.ctl != ctlNone {
		return func(s string) string { return s }
	}
	pat := sh.patternOf(text, flags|sh.patternFlags())
	var pieces []string // between the places where the match goes
	if p.arg2 != nil {
		pieces = sh.replacement(p.arg2)
	} else {
		pieces = []string{""}
	}
	if text == "" && anchor == 0 {
		return func(s string) string { return s }
	}
	return func(s string) string {
		return pat.Replace(work{sh}, s, pattern.Replacement{Anchor: anchor, All: p.op == "//", Pieces: pieces})
	}
}

// replacement expands the string of a replacement; an "&" without quotes is the match.
func (e *expansion) replacement(w *word) []string {
	if e.sh.shopt&shopt.PatsubReplacement == 0 {
		return []string{e.str(w)}
	}
	if w.constant && !strings.Contains(w.lit, "&") {
		return []string{w.lit}
	}
	text := e.expandParts(w.parts, forPatsub)
	if !e.sh.hold(2 * wordWeight * strings.Count(text, "&")) {
		return []string{""}
	}
	var pieces []string // bounded: charged above
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text) && (text[i+1] == '&' || text[i+1] == '\\'):
			i++
			b.WriteByte(text[i])
		case text[i] == '&':
			pieces = append(pieces, b.String())
			b.Reset()
		default:
			b.WriteByte(text[i])
		}
	}
	return append(pieces, b.String())
}

// slice is ${x:a:b}.
func (p *paramPart) slice(f *fields, v pval, quoted bool) {
	sh := f.sh
	if !v.set && v.all == 0 {
		f.value(v, quoted)
		return
	}
	before := sh.builtinName
	sh.builtinName = strings.TrimSuffix(p.paramText(), "!")
	off, ok := p.off.eval(sh)
	size, have := int64(0), p.size != nil
	if ok && have {
		size, ok = p.size.eval(sh)
	}
	sh.builtinName = before
	if !ok {
		sh.arithAbort()
		return
	}
	if v.all != 0 {
		list, ok := p.sliceList(sh, v, off, size, have)
		if !ok {
			sh.errorf("%d: substring expression < 0", size)
			sh.abort()
			return
		}
		v.list = list
		f.value(v, quoted)
		return
	}
	s, ok := sh.substring(v.s, off, size, have)
	if !ok {
		sh.errorf("%d: substring expression < 0", size)
		sh.abort()
		return
	}
	v.s = s
	f.value(v, quoted)
}

// sliceList cuts a list; false: the length is negative.
func (p *paramPart) sliceList(sh *interp, v pval, off, size int64, have bool) ([]string, bool) {
	list := v.list
	if have && size < 0 {
		return nil, false
	}
	if v.slot < 0 { // $@: element 0 is $0
		if off == 0 {
			list = append([]string{sh.name}, list...)
		} else if off > 0 {
			off--
		} else if off += int64(len(list)); off < 0 {
			if off == -1 {
				list, off = append([]string{sh.name}, list...), 0
			} else {
				return nil, true
			}
		}
		return sliceElements(list, off, size, have), true
	}
	c := sh.cell(v.slot)
	if c != nil && c.attr&attrArray != 0 && c.arr != nil && c.attr&attrRef == 0 {
		if off < 0 {
			if off += c.arr.End(); off < 0 {
				return nil, true
			}
		}
		at, _ := c.arr.Find(off) // The offset is an index, the length a number of elements.
		return sliceElements(list, int64(at), size, have), true
	}
	assoc := c != nil && c.attr&attrAssoc != 0
	end := int64(len(list))
	if assoc { // bash counts from 1 here, and looks at the length when it has taken one.
		size = max(size, 1)
		end++
	}
	if off < 0 {
		if off += end; off < 0 {
			return nil, true
		}
	}
	if assoc && off > 0 {
		off--
	}
	return sliceElements(list, off, size, have), true
}

func sliceElements(list []string, off, size int64, have bool) []string {
	if off >= int64(len(list)) {
		return nil
	}
	list = list[off:]
	if have && size < int64(len(list)) {
		list = list[:size]
	}
	return list
}

// varNames returns the names of variables that begin with the prefix, sorted.
func (v *variables) varNames(prefix string) []string {
	var list []string
	for slot, c := range v.vars {
		if c == nil || !c.visible() {
			continue
		}
		if n := v.sh.m.lib.symbols.name(slot); strings.HasPrefix(n, prefix) {
			list = append(list, n)
		}
	}
	sortStrings(list)
	return list
}

// visible reports whether the variable has a value, an element at least.
func (c *cell) visible() bool {
	return c.attr&(attrSet|attrDynamic) != 0
}

func itoa(n int) string { return strconv.Itoa(n) }

func sortStrings(list []string) { slices.Sort(list) }

// transform is ${x@op}.
func (p *paramPart) transform(f *fields, v pval, quoted bool) {
	sh := f.sh
	switch op := p.op[1]; op {
	case 'a':
		p.attributes(f, v, quoted)
		return
	case 'A':
		p.declaration(f, v, quoted)
		return
	case 'K', 'k':
		if v.all != 0 && v.slot >= 0 {
			p.pairs(f, v, quoted, op)
			return
		}
		if !v.set && v.all == 0 {
			return
		}
		p.apply(f, v, quoted, sh.quoteShell)
	case 'Q':
		if !v.set && v.all == 0 {
			return
		}
		p.apply(f, v, quoted, sh.quoteShell)
	case 'E':
		p.apply(f, v, quoted, func(s string) string { return syntax.ANSI(s, sh.encoded) })
	case 'P':
		p.apply(f, v, quoted, sh.prompt)
	case 'U':
		p.apply(f, v, quoted, toUpper)
	case 'u':
		p.apply(f, v, quoted, func(s string) string { return changeCase(sh, s, '^', false, nil) })
	case 'L':
		p.apply(f, v, quoted, toLower)
	case '?':
		if v.set || v.all != 0 && len(v.list) > 0 {
			sh.errorf("%s: bad substitution", p.text)
			sh.fatal()
		}
	}
}

func (p *paramPart) apply(f *fields, v pval, quoted bool, change func(string) string) {
	sh := f.sh
	if v.all != 0 {
		v.list = sh.each(v.list, change)
	} else {
		v.s = sh.changed(v.s, change)
	}
	f.value(v, quoted)
}

// changed applies a change that makes a text up to some times as long.
func (e *expansion) changed(s string, change func(string) string) string {
	if len(s) > 1<<12 && (!e.sh.room(6*len(s)) || !e.sh.spend(len(s)>>4)) {
		return ""
	}
	s = change(s)
	if len(s) > 1<<12 {
		e.sh.hold(len(s))
	}
	return s
}

// attributes is ${x@a}.
func (p *paramPart) attributes(f *fields, v pval, quoted bool) {
	sh := f.sh
	if v.slot < 0 {
		if v.all != 0 {
			v.list = sh.each(v.list, func(string) string { return "" })
			f.value(v, quoted)
		}
		return
	}
	c := sh.cell(v.slot)
	if c == nil {
		if v.all == '@' {
			f.list(nil, quoted, false)
		} else if sh.opt&option.NoUnset != 0 && v.all == 0 {
			sh.unbound(p.paramText())
		}
		return
	}
	letters := c.letters()
	if v.all != 0 {
		v.list = sh.each(v.list, func(string) string { return letters })
		f.value(v, quoted)
		return
	}
	v.s = letters
	f.value(v, quoted)
}

// letters are the attributes as declare shows them.
func (c *cell) letters() string {
	var b []byte
	for _, a := range attrLetters {
		if c.attr&a.bit != 0 {
			b = append(b, a.letter)
		}
	}
	if c.attr&attrDynamic != 0 && c.dyn.list != nil {
		b = append([]byte{'a'}, b...)
	}
	return string(b)
}

var attrLetters = []struct {
	bit    attr
	letter byte
}{
	{attrArray, 'a'},
	{attrAssoc, 'A'},
	{attrInteger, 'i'},
	{attrRef, 'n'},
	{attrReadonly, 'r'},
	{attrTrace, 't'},
	{attrExport, 'x'},
	{attrCapital, 'c'},
	{attrLower, 'l'},
	{attrUpper, 'u'},
}

// declaration is ${x@A}: a command that makes the variable.
func (p *paramPart) declaration(f *fields, v pval, quoted bool) {
	sh := f.sh
	if v.slot < 0 {
		if p.kind == paramAll && len(v.list) > 0 {
			v.s = "set -- " + strings.Join(sh.each(v.list, sh.quoteShell), " ")
			v.all = 0
			f.value(v, quoted)
		}
		return
	}
	c := sh.cell(v.slot)
	if c == nil {
		return
	}
	name := sh.m.lib.symbols.name(v.slot)
	switch {
	case v.all != 0:
		v.s = sh.declareText(v.slot, c)
	case c.attr&(attrArray|attrAssoc) != 0:
		v.s = "declare -" + c.letters() + " " + name
		if v.set {
			v.s += "=" + sh.quoteShell(v.s2(sh, p))
		}
	case c.letters() != "":
		v.s = "declare -" + c.letters() + " " + name
		if v.set {
			v.s += "=" + sh.quoteShell(sh.text(c))
		}
	case v.set:
		v.s = name + "=" + sh.quoteShell(sh.text(c))
	default:
		return
	}
	v.all = 0
	f.value(v, quoted)
}

func (v *pval) s2(sh *interp, p *paramPart) string {
	b := p.base(sh)
	return b.s
}

// pairs is ${a[@]@K}: keys and values.
func (p *paramPart) pairs(f *fields, v pval, quoted bool, op byte) {
	sh := f.sh
	keys, vals := sh.keys(v.slot), v.list
	list := make([]string, 0, 2*len(keys))
	for i, k := range keys {
		if op == 'K' {
			if sh.isAssoc(v.slot) {
				k = quote.Key(sh.locale(), k)
			}
			list = append(list, k, quote.Value(sh.locale(), vals[i]))
			continue
		}
		list = append(list, k, vals[i])
	}
	if op == 'K' {
		v.s, v.all = strings.Join(list, " "), 0
		if sh.isAssoc(v.slot) && len(list) > 0 {
			v.s += " "
		}
	} else {
		v.list = list
	}
	f.value(v, quoted)
}

// substring cuts characters; false: the end is before the start.
func (e *expansion) substring(s string, off, size int64, have bool) (string, bool) {
	n := int64(e.sh.runeCount(s))
	if off < 0 {
		if off += n; off < 0 {
			return "", true
		}
	}
	if off > n {
		return "", true
	}
	end := n
	if have {
		switch {
		case size < 0:
			if end = n + size; end < off {
				return "", false
			}
		case size < n-off:
			end = off + size
		}
	}
	if n == int64(len(s)) {
		return ifs.Cut(s, int(off), int(end)), true
	}
	from := byteOffset(s, off)
	return ifs.Cut(s, from, from+byteOffset(s[from:], end-off)), true
}

// byteOffset returns where the n-th character begins.
func byteOffset(s string, n int64) int {
	i := 0
	for ; n > 0 && i < len(s); n-- {
		_, w := utf8.DecodeRuneInString(s[i:])
		i += w
	}
	return i
}

func toLower(s string) string { return mapCase(s, unicode.ToLower) }
func toUpper(s string) string { return mapCase(s, unicode.ToUpper) }

// mapCase preserves bytes that are not UTF-8, which strings.Map would replace.
func mapCase(s string, f func(rune) rune) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			b.WriteByte(s[i])
		} else {
			b.WriteRune(f(r))
		}
		i += n
	}
	return b.String()
}

func capitalize(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return toUpper(s[:n]) + toLower(s[n:])
}

// changeCase is ${x^pattern} and its like.
func changeCase(sh *interp, s string, op byte, all bool, pat *pattern.Pattern) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if n > 1 && sh.bytewise() {
			r, n = utf8.RuneError, 1
		}
		piece := s[i : i+n]
		if (all || i == 0) && (r != utf8.RuneError || n > 1) && (pat == nil || pat.Match(work{sh}, piece)) {
			switch {
			case op == '^', op == '~' && unicode.IsLower(r):
				piece = string(unicode.ToUpper(r))
			default:
				piece = string(unicode.ToLower(r))
			}
		}
		b.WriteString(piece)
		i += n
		if !all {
			b.WriteString(s[i:])
			break
		}
	}
	return b.String()
}
