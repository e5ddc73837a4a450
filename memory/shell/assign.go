package shell

import (
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/array"
	"github.com/seed434b0696/agent-sandbox/internal/memory/quote"
	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
)

// assignCode is a compiled assignment.
type assignCode struct {
	name  string
	slot  int
	index *subscript
	more  bool // +=
	value *word
	arith *arithCode // the value is just $((...))
	array bool
	elems []elemCode
	text  string
}

// elemCode is an element of an array literal.
type elemCode struct {
	index *subscript
	more  bool
	value *word
}

func (c *compiler) assign(a *syntax.Assign) *assignCode {
	x := &assignCode{name: a.Name, slot: c.lib.symbols.slot(a.Name), more: a.Append, array: a.Array, text: a.Text}
	if a.Index != nil {
		x.index = c.index(a.Index)
	}
	if a.Array {
		for _, e := range a.Elems {
			el := elemCode{more: e.Append}
			if e.Index != nil {
				el.index = c.subscript(e.Index)
				el.value = c.word(e.Value, wordAssign)
			} else {
				el.value = c.word(e.Value, wordArg)
			}
			x.elems = append(x.elems, el) // bounded: by the nodes of the script, which are charged
		}
		return x
	}
	x.value = c.word(a.Value, wordAssign)
	if len(x.value.parts) == 1 && !x.more && x.index == nil {
		if p, ok := x.value.parts[0].(*arithPart); ok {
			x.arith = p.code
		}
	}
	return x
}

// run makes the assignment; false: it failed.
func (a *assignCode) run(sh *interp) bool {
	if a.array {
		return a.index == nil && a.runArray(sh) || a.index != nil && a.arrayToElement(sh)
	}
	if a.index != nil {
		return a.runElement(sh)
	}
	if a.arith != nil {
		n, ok := a.arith.eval(sh)
		if !ok {
			sh.arithAbort()
			return false
		}
		return sh.assignInt(a.slot, n)
	}
	s := sh.str(a.value)
	if sh.ctl != ctlNone {
		return false
	}
	if !a.more {
		return sh.assign(a.slot, s)
	}
	if c := sh.cell(a.slot); c != nil && c.epoch == sh.epoch && c.attr&attrNotPlain == 0 {
		return sh.grow(c, s)
	}
	return sh.assignTo(place{slot: a.slot}, s, true)
}

func (a *assignCode) arrayToElement(sh *interp) bool {
	sh.errorf("%s[%s]: cannot assign list to array member", a.name, a.index.text)
	return false
}

// runElement is a[i]=value: the subscript is evaluated before the value.
func (a *assignCode) runElement(sh *interp) bool {
	if (a.index.all != 0 || strings.TrimSpace(a.index.text) == "") && !sh.isAssoc(a.slot) {
		sh.errorf("%s[%s]: bad array subscript", a.name, a.index.text)
		return false
	}
	if sh.isAssoc(a.slot) {
		key := sh.str(a.index.key)
		s := sh.str(a.value)
		return sh.ctl == ctlNone && sh.assignKey(a.slot, key, s, a.more)
	}
	s := sh.str(a.value)
	if sh.ctl != ctlNone {
		return false
	}
	i, ok := sh.evalIndex(a.index)
	if !ok {
		return false
	}
	return sh.assignIndex(a.slot, i, s, a.more, a.index.text)
}

// runArray is a=(...).
func (a *assignCode) runArray(sh *interp) bool {
	slot, c := sh.writable(a.slot)
	if c == nil {
		return false
	}
	if c.attr&attrAssoc != 0 {
		return a.runTable(sh, slot)
	}
	if c.attr&attrDynamic != 0 {
		return true
	}
	base := len(sh.stack)
	plain := !a.more
	for _, e := range a.elems {
		plain = plain && e.index == nil
	}
	if plain && c.attr&(attrInteger|attrLower|attrUpper|attrCapital) == 0 {
		for _, e := range a.elems {
			if sh.fields(e.value); sh.ctl != ctlNone {
				sh.pop(base)
				return false
			}
		}
		list := append([]string(nil), sh.stack[base:]...)
		sh.pop(base)
		return sh.spend(len(list)) && sh.setList(slot, list)
	}
	return a.mixedArray(sh, slot)
}

// mixedArray sets elements one by one: some have subscripts, or the array is extended.
func (a *assignCode) mixedArray(sh *interp, slot int) bool {
	// The values may read the old array.
	type item struct {
		index *subscript
		more  bool
		s     string
	}
	var items []item
	for _, e := range a.elems {
		if e.index == nil {
			base := len(sh.stack)
			sh.fields(e.value)
			for _, s := range sh.stack[base:] {
				items = append(items, item{s: s})
			}
			sh.pop(base)
		} else {
			s := sh.str(e.value)
			if sh.ctl != ctlNone {
				return false
			}
			items = append(items, item{e.index, e.more, s})
		}
		if sh.ctl != ctlNone {
			return false
		}
	}
	c := sh.own(slot)
	next := int64(0)
	if a.more {
		sh.makeArray(c)
		next = c.arr.End()
	} else {
		sh.empty(c)
		c.arr = array.NewIndexed(nil, sh.epoch)
		c.attr = c.attr&^(attrNum|attrNoText) | attrArray
	}
	c.attr |= attrSet
	for _, it := range items {
		if it.index != nil {
			i, ok := sh.elementIndex(slot, it.index)
			if !ok {
				if sh.ctl != ctlNone {
					return false
				}
				sh.errorf("[%s]=%s: bad array subscript", it.index.text, it.s)
				continue
			}
			next = i
		}
		if !sh.assignIndex(slot, next, it.s, it.more, strconv.FormatInt(next, 10)) {
			return false
		}
		next++
	}
	return true
}

// elementIndex evaluates the subscript of an element, which sees the elements before it.
func (sh *interp) elementIndex(slot int, index *subscript) (int64, bool) {
	if strings.TrimSpace(index.text) == "" || index.all != 0 {
		return 0, false
	}
	i, ok := sh.evalIndex(index)
	if !ok {
		return 0, false
	}
	if i < 0 {
		i += sh.own(slot).arr.End()
	}
	return i, i >= 0
}

// runTable is m=([k]=v ...), or m=(k v k v).
func (a *assignCode) runTable(sh *interp, slot int) bool {
	type pair struct {
		key, s string
		more   bool
	}
	var pairs []pair
	if len(a.elems) > 0 && a.elems[0].index == nil {
		base := len(sh.stack)
		for _, e := range a.elems {
			if e.index != nil {
				continue
			}
			sh.push(sh.str(e.value))
		}
		for i := base; i < len(sh.stack); i += 2 {
			p := pair{key: sh.stack[i]}
			if i+1 < len(sh.stack) {
				p.s = sh.stack[i+1]
			}
			pairs = append(pairs, p)
		}
		sh.pop(base)
	} else {
		for _, e := range a.elems {
			if e.index == nil {
				sh.errorf("%s: '%s': must use subscript when assigning associative array", a.name, e.value.text)
				continue
			}
			pairs = append(pairs, pair{sh.str(e.index.key), sh.str(e.value), e.more})
		}
	}
	if sh.ctl != ctlNone {
		return false
	}
	c := sh.own(slot)
	var old *array.Assoc
	if !a.more {
		old = c.assoc
		sh.empty(c)
		c.assoc = array.NewAssoc(sh.epoch)
	}
	c.attr |= attrSet
	for _, p := range pairs {
		if p.more && old != nil {
			if _, have := c.assoc.At(p.key); !have {
				if s, ok := old.At(p.key); ok {
					p.s = s + p.s
				}
			}
		}
		if p.key == "" {
			sh.errorf("%s[%s]: bad array subscript", a.name, a.index.text)
			continue
		}
		if !sh.assignKey(slot, p.key, p.s, p.more) {
			return false
		}
	}
	return true
}

// temporary makes the assignment for one command.
func (a *assignCode) temporary(sh *interp) bool {
	if a.index != nil {
		sh.errorf("`%s[%s]': not a valid identifier", a.name, a.index.text)
		return true
	}
	var s string
	if a.array { // bash has no temporary arrays: the list is the value.
		_, s, _ = strings.Cut(a.text, "=")
	} else {
		s = sh.str(a.value)
	}
	if sh.ctl != ctlNone {
		return false
	}
	slot := a.slot
	old := sh.cell(slot)
	if old != nil && old.attr&attrRef != 0 {
		pl, ok := sh.follow(slot)
		if !ok {
			return false
		}
		if !pl.elem {
			slot, old = pl.slot, sh.cell(pl.slot)
		}
	}
	if old != nil && old.attr&attrReadonly != 0 {
		sh.readonlyError(slot)
		return false
	}
	c := &cell{epoch: sh.epoch, attr: attrExport | attrTemp}
	if old != nil {
		c.attr |= old.attr & (attrInteger | attrLower | attrUpper | attrCapital | attrDynamic)
		c.dyn = old.dyn
	}
	if c.attr&attrDynamic != 0 {
		c.attr &^= attrDynamic
	}
	before := ""
	if a.more && old.isSet() {
		before = sh.text(old)
	}
	v, ok := sh.convert(c, before, s, a.more)
	if !ok {
		return false
	}
	if a.more && c.attr&(attrInteger|attrLower|attrUpper|attrCapital) == 0 {
		v = before + v
	}
	if !sh.setText(c, v) {
		return false
	}
	sh.hide(slot, c, true)
	return true
}

// expandedText is a list with its values, as set -x shows it before declare.
func (a *assignCode) expandedText(sh *interp) string {
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	var list []string
	for _, e := range a.elems {
		if e.index != nil {
			list = append(list, "["+quote(sh.str(e.index.key))+"]="+quote(sh.str(e.value)))
			continue
		}
		base := len(sh.stack)
		sh.fields(e.value)
		for _, s := range sh.stack[base:] {
			list = append(list, quote(s))
		}
		sh.pop(base)
	}
	op := "=("
	if a.more {
		op = "+=("
	}
	return a.name + op + strings.Join(list, " ") + ")"
}

// argText is the assignment as an argument of declare.
func (a *assignCode) argText(sh *interp) string {
	name := a.name
	if a.index != nil {
		name += "[" + a.index.text + "]"
	}
	op := "="
	if a.more {
		op = "+="
	}
	if a.array {
		return name + op + "("
	}
	return name + op + sh.str(a.value)
}

// traceText is the assignment as set -x shows it.
func (a *assignCode) traceText(sh *interp) string {
	name := a.name
	if a.index != nil {
		name += "[" + a.index.text + "]"
	}
	op := "="
	if a.more {
		op = "+="
	}
	if a.array {
		return a.text
	}
	s := sh.get(a.slot)
	if a.index != nil || a.more {
		s = sh.str(a.value)
	}
	if s == "" {
		return name + op
	}
	return name + op + quote.Trace(sh.locale(), s)
}
