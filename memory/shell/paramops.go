package shell

import (
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/pattern"
)

// operate applies the operator and adds the result.
func (p *paramPart) operate(f *fields, v pval, quoted bool) {
	sh := f.sh
	switch p.op {
	case "-", ":-", "+", ":+", "=", ":=", "?", ":?":
		p.conditional(f, v, quoted)
		return
	}
	if !v.set && v.all == 0 && sh.opt&optNoUnset != 0 && p.op != "@a" && p.op != "@A" {
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
func (sh *interp) each(list []string, change func(string) string) []string {
	if !sh.hold(16 * len(list)) {
		return nil
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = change(s)
		if !sh.hold(len(out[i])) || !sh.spend(len(s)>>6) {
			return nil
		}
	}
	return out
}

// null tells whether the value counts as empty under ":-" and its like.
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
func (sh *interp) operandText(w *word, quoted bool) string {
	f := &fields{sh: sh}
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

// change returns what an operator like # or / does to one value.
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
		return func(s string) string { return part(s, pat.Prefix(work{sh}, s, false), len(s)) }
	case "##":
		return func(s string) string { return part(s, pat.Prefix(work{sh}, s, true), len(s)) }
	case "%":
		return func(s string) string { return part(s, 0, pat.Suffix(work{sh}, s, false)) }
	}
	return func(s string) string { return part(s, 0, pat.Suffix(work{sh}, s, true)) }
}

// pattern compiles the operand, once when it is constant.
func (sh *interp) pattern(p *paramPart) *pattern.Pattern {
	return sh.wordPattern(p.arg, 0)
}

// wordPattern compiles a word as a pattern.
func (sh *interp) wordPattern(w *word, f pattern.Flags) *pattern.Pattern {
	return sh.patternOf(sh.patternText(w), f|sh.patternFlags())
}

// localeFlags tells whether patterns match bytes.
func (sh *interp) localeFlags() pattern.Flags {
	if sh.bytewise() {
		return pattern.Bytes
	}
	return 0
}

// patternFlags returns how patterns are read now: extended ones count where extglob is on.
func (sh *interp) patternFlags() pattern.Flags {
	f := sh.localeFlags()
	if sh.shopt&shExtGlob != 0 {
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
	if sh.shopt&shNoCaseMatch != 0 {
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
func (sh *interp) replacement(w *word) []string {
	if sh.shopt&shPatsubReplacement == 0 {
		return []string{sh.str(w)}
	}
	if w.constant && !strings.Contains(w.lit, "&") {
		return []string{w.lit}
	}
	text := sh.expandParts(w.parts, forPatsub)
	var pieces []string
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
		return cut(list, off, size, have), true
	}
	c := sh.cell(v.slot)
	if c != nil && c.attr&attrArray != 0 && c.arr != nil && c.attr&attrRef == 0 {
		if off < 0 {
			if off += c.arr.End(); off < 0 {
				return nil, true
			}
		}
		at, _ := c.arr.Find(off) // The offset is an index, the length a number of elements.
		return cut(list, int64(at), size, have), true
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
	return cut(list, off, size, have), true
}

func cut(list []string, off, size int64, have bool) []string {
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
func (sh *interp) varNames(prefix string) []string {
	var list []string
	for slot, c := range sh.vars {
		if c == nil || !c.visible() {
			continue
		}
		if n := sh.m.lib.symbols.name(slot); strings.HasPrefix(n, prefix) {
			list = append(list, n)
		}
	}
	sortStrings(list)
	return list
}

// visible tells whether the variable has a value, an element at least.
func (c *cell) visible() bool {
	return c.attr&(attrSet|attrDynamic) != 0
}

func itoa(n int) string { return strconv.Itoa(n) }
