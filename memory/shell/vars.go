package shell

import (
	"strconv"
	"strings"
)

// place is where a value is stored: a variable, or an element of one.
type place struct {
	slot  int
	sub   string // the subscript as written, when elem
	elem  bool
	whole bool // "@" or "*": every element
}

// maxRefs is how many references may lead to each other.
const maxRefs = 8

// follow returns what a variable refers to, itself when it is no reference. False: the
// references go in a circle or name nothing that can be a variable.
func (sh *interp) follow(slot int) (place, bool) {
	for range maxRefs {
		c := sh.cell(slot)
		if c == nil || c.attr&attrRef == 0 || c.attr&attrSet == 0 {
			return place{slot: slot}, true
		}
		target := c.str
		name, sub, elem := splitSubscript(target)
		if !isName(name) {
			return place{slot: slot}, false
		}
		slot = sh.slot(name)
		if elem {
			return place{slot: slot, sub: sub, elem: true, whole: sub == "@" || sub == "*"}, true
		}
	}
	sh.warnCircular(slot)
	return place{slot: slot}, false
}

func (sh *interp) warnCircular(slot int) {
	sh.errorf("warning: %s: circular name reference", sh.m.lib.symbols.name(slot))
}

// splitSubscript cuts "a[i]" into its name and what is in the brackets.
func splitSubscript(s string) (name, sub string, elem bool) {
	if i := strings.IndexByte(s, '['); i > 0 && s[len(s)-1] == ']' {
		return s[:i], s[i+1 : len(s)-1], true
	}
	return s, "", false
}

// value returns $name, and whether it is set.
func (sh *interp) value(slot int) (string, bool) {
	c := sh.cell(slot)
	if c == nil {
		return "", false
	}
	if c.attr&(attrSet|attrNoText|attrRef|attrArray|attrAssoc|attrDynamic) == attrSet {
		return c.str, true
	}
	if c.attr&attrRef != 0 {
		pl, ok := sh.follow(slot)
		if !ok {
			return "", false
		}
		if pl.elem {
			return sh.element(pl)
		}
		if c = sh.cell(pl.slot); c != nil && c.attr&attrRef != 0 {
			return "", false
		}
	}
	if !c.isSet() {
		return "", false
	}
	return sh.text(c), true
}

// get returns the variable's value, "" when it is unset.
func (sh *interp) get(slot int) string {
	s, _ := sh.value(slot)
	return s
}

// assign sets a variable. False: it may not be, and the reason has been told.
func (sh *interp) assign(slot int, s string) bool {
	c := sh.cell(slot)
	if c != nil && c.epoch == sh.epoch && c.attr&attrNotPlain == 0 && sh.opt&optAllExport == 0 {
		if len(s) >= lightText || c.told != 0 {
			return sh.setText(c, s)
		}
		c.store(s)
		return true
	}
	return sh.assignTo(place{slot: slot}, s, false)
}

// assignInt sets a variable to a number without making its text.
func (sh *interp) assignInt(slot int, n int64) bool {
	c := sh.cell(slot)
	if c != nil && c.epoch == sh.epoch && c.attr&(attrNotPlain&^attrInteger) == 0 && sh.opt&optAllExport == 0 {
		c.storeInt(n)
		return true
	}
	return sh.assignTo(place{slot: slot}, strconv.FormatInt(n, 10), false)
}

// assignTo sets what the place leads to, honouring references and attributes.
func (sh *interp) assignTo(pl place, s string, more bool) bool {
	if !pl.elem {
		if c := sh.cell(pl.slot); c != nil && c.attr&attrRef != 0 {
			if c.attr&attrSet == 0 || c.str == "" {
				return sh.retarget(pl.slot, s)
			}
			target, ok := sh.follow(pl.slot)
			if !ok {
				return false
			}
			pl = target
		}
	}
	if pl.elem {
		return sh.assignElem(pl, s, more)
	}
	if c := sh.cell(pl.slot); c != nil && c.attr&attrReadonly != 0 {
		sh.readonlyError(pl.slot)
		return false
	}
	c := sh.own(pl.slot)
	if sh.opt&optAllExport != 0 {
		c.attr |= attrExport
	}
	if c.attr&attrDynamic != 0 {
		sh.assignDynamic(pl.slot, c, s, more)
		return true
	}
	old := ""
	if more && c.isSet() {
		old = sh.text(c)
	}
	v, ok := sh.convert(c, old, s, more)
	if !ok {
		return false
	}
	switch {
	case c.attr&attrArray != 0:
		return sh.setIndex(c, 0, v)
	case c.attr&attrAssoc != 0:
		return sh.setKey(c, "0", v)
	case more && c.attr&(attrInteger|attrLower|attrUpper|attrCapital) == 0:
		if !sh.grow(c, s) {
			return false
		}
	default:
		if !sh.setText(c, v) {
			return false
		}
	}
	if pl.slot == slotPOSIXLY {
		sh.opt |= optPosix
	}
	return true
}

// convert applies the attributes to a new value; old is what it is appended to.
func (sh *interp) convert(c *cell, old, s string, more bool) (string, bool) {
	if c.attr&attrInteger != 0 {
		n, ok := sh.arithText(s)
		if !ok {
			sh.arithAbort()
			return "", false
		}
		if more {
			m, ok := sh.arithText(old)
			if !ok {
				sh.arithAbort()
				return "", false
			}
			n += m
		}
		return strconv.FormatInt(n, 10), true
	}
	if more {
		if c.attr&(attrLower|attrUpper|attrCapital|attrArray|attrAssoc) != 0 {
			s = old + s
		}
	}
	switch {
	case c.attr&attrLower != 0:
		s = toLower(s)
	case c.attr&attrUpper != 0:
		s = toUpper(s)
	case c.attr&attrCapital != 0:
		s = capitalize(s)
	}
	return s, true
}

// retarget gives a reference that has none its target.
func (sh *interp) retarget(slot int, s string) bool {
	name, _, _ := splitSubscript(s)
	if s != "" && !isName(name) {
		sh.errorf("`%s': not a valid identifier", s)
		return false
	}
	if name == sh.m.lib.symbols.name(slot) {
		sh.errorf("warning: %s: circular name reference", name)
		return false
	}
	return sh.setText(sh.own(slot), s)
}

func (sh *interp) readonlyError(slot int) {
	sh.errorf("%s: readonly variable", sh.m.lib.symbols.name(slot))
}

// elemKind tells how the subscripts of a variable count: whether it is associative.
func (sh *interp) isAssoc(slot int) bool {
	c := sh.cell(slot)
	if c != nil && c.attr&attrRef != 0 {
		if pl, ok := sh.follow(slot); ok && !pl.elem {
			c = sh.cell(pl.slot)
		}
	}
	return c != nil && c.attr&attrAssoc != 0
}

// element returns ${name[sub]} for a subscript as text, which is expanded.
func (sh *interp) element(pl place) (string, bool) {
	c := sh.cell(pl.slot)
	if pl.whole {
		list := sh.elements(pl.slot)
		return strings.Join(list, " "), len(list) > 0
	}
	if c != nil && c.attr&attrAssoc != 0 {
		key := sh.expandText(pl.sub)
		return c.assoc.At(key)
	}
	i, ok := sh.subscriptText(pl.sub)
	if !ok {
		return "", false
	}
	return sh.indexedAt(pl.slot, c, i)
}

// indexedAt returns element i of a variable that is not associative; a negative one counts from the end.
func (sh *interp) indexedAt(slot int, c *cell, i int64) (string, bool) {
	if c != nil && c.attr&attrRef != 0 {
		pl, ok := sh.follow(slot)
		if !ok || pl.elem {
			return "", false
		}
		slot, c = pl.slot, sh.cell(pl.slot)
	}
	if c == nil {
		return "", false
	}
	if c.attr&attrDynamic != 0 && c.dyn.list != nil {
		list := c.dyn.list(sh)
		if i < 0 {
			i += int64(len(list))
		}
		if i < 0 || i >= int64(len(list)) {
			return "", false
		}
		return list[i], true
	}
	if c.attr&attrArray == 0 {
		if i < 0 {
			i++
		}
		if i == 0 && c.isSet() {
			return sh.text(c), true
		}
		if i < 0 {
			sh.badSubscript(slot)
		}
		return "", false
	}
	if i < 0 {
		if i += c.arr.End(); i < 0 {
			sh.badSubscript(slot)
			return "", false
		}
	}
	return c.arr.At(i)
}

func (sh *interp) badSubscript(slot int) {
	sh.errorf("%s: bad array subscript", sh.m.lib.symbols.name(slot))
}

// elements returns all values of a variable; the list must not be changed.
func (sh *interp) elements(slot int) []string {
	c := sh.cell(slot)
	if c != nil && c.attr&attrRef != 0 {
		pl, ok := sh.follow(slot)
		if !ok {
			return nil
		}
		if pl.elem && !pl.whole {
			if s, ok := sh.element(pl); ok {
				return []string{s}
			}
			return nil
		}
		c = sh.cell(pl.slot)
	}
	switch {
	case c == nil:
		return nil
	case c.attr&attrDynamic != 0 && c.dyn.list != nil:
		return c.dyn.list(sh)
	case c.attr&attrArray != 0:
		return c.arr.List()
	case c.attr&attrAssoc != 0:
		keys := c.assoc.Keys(sh.epoch)
		list := make([]string, len(keys))
		for i, k := range keys {
			list[i], _ = c.assoc.At(k)
		}
		return list
	case c.isSet():
		return []string{sh.text(c)}
	}
	return nil
}

// keys returns the subscripts of a variable.
func (sh *interp) keys(slot int) []string {
	c := sh.cell(slot)
	if c != nil && c.attr&attrRef != 0 {
		pl, ok := sh.follow(slot)
		if !ok || pl.elem {
			return nil
		}
		c = sh.cell(pl.slot)
	}
	switch {
	case c == nil:
		return nil
	case c.attr&attrAssoc != 0:
		return c.assoc.Keys(sh.epoch)
	case c.attr&attrDynamic != 0 && c.dyn.list != nil:
		return indexes(len(c.dyn.list(sh)))
	case c.attr&attrArray != 0:
		list := make([]string, c.arr.Len())
		for j := range list {
			list[j] = strconv.FormatInt(c.arr.Key(j), 10)
		}
		return list
	case c.isSet():
		return []string{"0"}
	}
	return nil
}

func indexes(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = strconv.Itoa(i)
	}
	return list
}

// isName tells whether s can be a variable's name.
func isName(s string) bool {
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}
