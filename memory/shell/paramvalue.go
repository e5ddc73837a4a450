package shell

import (
	"strconv"
	"strings"
)

// pval is what a parameter has: one value, or a list.
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
func (sh *interp) variable(slot int, index *subscript) pval {
	v := pval{slot: slot, sub: index}
	if index == nil {
		if c := sh.cell(slot); c != nil && c.attr&attrRef != 0 {
			if pl, ok := sh.follow(slot); ok && pl.whole {
				v.list, v.all = sh.elements(pl.slot), pl.sub[0]
				v.set = len(v.list) > 0
				return v
			}
		}
		v.s, v.set = sh.value(slot)
		return v
	}
	if c := sh.cell(slot); c != nil && c.attr&attrRef != 0 {
		if pl, ok := sh.follow(slot); ok && pl.elem { // An element has none.
			v.all = index.all
			return v
		}
	}
	if index.all != 0 {
		v.list, v.all = sh.elements(slot), index.all
		v.set = len(v.list) > 0
		return v
	}
	v.s, v.set = sh.at(slot, index)
	return v
}

// at returns the element that a subscript names.
func (sh *interp) at(slot int, index *subscript) (string, bool) {
	if sh.isAssoc(slot) {
		pl, _ := sh.follow(slot)
		return sh.cell(pl.slot).assoc.At(sh.str(index.key))
	}
	i, ok := sh.evalIndex(index)
	if !ok {
		return "", false
	}
	return sh.indexedAt(slot, sh.cell(slot), i)
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
func (sh *interp) named(name string) pval {
	if n, err := strconv.Atoi(name); err == nil && n >= 0 {
		switch {
		case n == 0:
			return pval{s: sh.name, set: true, slot: -1}
		case n <= len(sh.params):
			return pval{s: sh.params[n-1], set: true, slot: -1}
		}
		return pval{slot: -1}
	}
	if len(name) == 1 && strings.IndexByte("@*", name[0]) >= 0 {
		return pval{list: sh.params, all: name[0], set: len(sh.params) > 0, slot: -1}
	}
	if len(name) == 1 && strings.IndexByte("?#$!-", name[0]) >= 0 {
		s, ok := sh.special(name[0])
		return pval{s: s, set: ok, slot: -1}
	}
	base, sub, elem := splitSubscript(name)
	if !isName(base) {
		sh.errorf("%s: invalid variable name", name)
		sh.abort()
		return pval{slot: -1}
	}
	slot := sh.slot(base)
	if !elem {
		return sh.variable(slot, nil)
	}
	v := pval{slot: slot, text: sub, sub: &subscript{text: sub}}
	if sub == "@" || sub == "*" {
		v.list, v.all, v.named = sh.elements(slot), sub[0], true
		v.set = len(v.list) > 0
		return v
	}
	v.s, v.set = sh.element(place{slot: slot, sub: sub, elem: true})
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
func (sh *interp) unboundNamed(name string, braces bool) {
	if !braces {
		name = "$" + name
	}
	sh.unbound(name)
}

// unbound ends the shell: set -u and a parameter without value.
func (sh *interp) unbound(name string) {
	sh.errorf("%s: unbound variable", name)
	sh.fatal()
}

// fatal leaves the shell after an error of an expansion that a script does not survive.
func (sh *interp) fatal() {
	status := 1
	if sh.opt&optCommand != 0 && sh.opt&optErrExit == 0 && sh.subshell == 0 && sh.sourceLevel == 0 {
		status = 127
	}
	if sh.opt&optInteractive != 0 {
		sh.abort()
		return
	}
	sh.exit(status)
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
	if !v.set && sh.opt&optNoUnset != 0 && sh.ctl == ctlNone {
		sh.unbound(p.paramText())
	}
	return strconv.Itoa(sh.runeCount(v.s))
}
