package shell

import (
	"math"

	"github.com/seed434b0696/agent-sandbox/internal/memory/array"
)

// maxIndex bounds subscripts as bash's int does not: one element at a high index takes no room.
const maxIndex = math.MaxInt64

// assignElem sets an element; pl.sub is expanded as a key or evaluated as a number.
func (sh *interp) assignElem(pl place, s string, more bool) bool {
	if sh.isAssoc(pl.slot) {
		return sh.assignKey(pl.slot, sh.expandText(pl.sub), s, more)
	}
	if pl.whole {
		sh.errorf("%s[%s]: bad array subscript", sh.m.lib.symbols.name(pl.slot), pl.sub)
		return false
	}
	i, ok := sh.subscriptText(pl.sub)
	return ok && sh.assignIndex(pl.slot, i, s, more, pl.sub)
}

// writable returns the cell behind references for an element to be written, nil when
// that must not be.
func (sh *interp) writable(slot int) (int, *cell) {
	if c := sh.cell(slot); c != nil && c.attr&attrRef != 0 && c.attr&attrSet == 0 {
		sh.errorf("warning: %s: removing nameref attribute", sh.m.lib.symbols.name(slot))
		sh.own(slot).attr &^= attrRef
	}
	if c := sh.cell(slot); c != nil && c.attr&attrRef != 0 {
		pl, ok := sh.follow(slot)
		if !ok {
			return slot, nil
		}
		if pl.elem {
			sh.errorf("`%s': not a valid identifier", c.str)
			return slot, nil
		}
		slot = pl.slot
	}
	if c := sh.cell(slot); c != nil && c.attr&attrReadonly != 0 {
		sh.readonlyError(slot)
		return slot, nil
	}
	c := sh.own(slot)
	if sh.opt&optAllExport != 0 {
		c.attr |= attrExport
	}
	return slot, c
}

// assignIndex sets element i, making the variable an array.
func (sh *interp) assignIndex(slot int, i int64, s string, more bool, sub string) bool {
	slot, c := sh.writable(slot)
	if c == nil {
		return false
	}
	if c.attr&attrDynamic != 0 {
		if c.dyn.setAt != nil {
			c.dyn.setAt(sh, i, s)
		}
		return true
	}
	sh.makeArray(c)
	a := sh.array(c)
	if i < 0 {
		i += a.End()
	}
	if i < 0 || i > maxIndex {
		sh.errorf("%s[%s]: bad array subscript", sh.m.lib.symbols.name(slot), sub)
		return false
	}
	old, _ := a.At(i)
	v, ok := sh.convert(c, old, s, more)
	return ok && sh.setIndex(c, i, v)
}

// setIndex stores an element of an array.
func (sh *interp) setIndex(c *cell, i int64, v string) bool {
	a := sh.array(c)
	old, ok := a.At(i)
	n := len(v) - len(old)
	if !ok {
		n += elemWeight
	}
	if !sh.tell(c, n) || !sh.spend(a.Moves(i)) {
		return false
	}
	a.Set(i, v)
	c.attr |= attrSet
	return true
}

// setKey stores an element of an associative array.
func (sh *interp) setKey(c *cell, key, v string) bool {
	t := sh.table(c)
	old, ok := t.At(key)
	n := len(v) - len(old)
	if !ok {
		n += keyWeight + len(key)
	}
	if !sh.tell(c, n) {
		return false
	}
	t.Set(key, v)
	c.attr |= attrSet
	return true
}

// makeArray turns a scalar into an array with that element.
func (sh *interp) makeArray(c *cell) {
	if c.attr&(attrArray|attrAssoc) != 0 {
		return
	}
	if c.isSet() {
		s := sh.text(c)
		sh.array(c).Set(0, s)
		sh.tell(c, elemWeight+len(s)-c.told)
	} else {
		c.arr = array.NewIndexed(nil, sh.epoch)
	}
	c.str, c.room = "", 0
	c.attr = c.attr&^(attrNum|attrNoText) | attrArray
}

// assignKey sets an element of an associative array.
func (sh *interp) assignKey(slot int, key, s string, more bool) bool {
	slot, c := sh.writable(slot)
	if c == nil {
		return false
	}
	if key == "" {
		sh.errorf("%s[%s]: bad array subscript", sh.m.lib.symbols.name(slot), key)
		return false
	}
	t := sh.table(c)
	old, _ := t.At(key)
	v, ok := sh.convert(c, old, s, more)
	return ok && sh.setKey(c, key, v)
}

// setList makes the variable an array of the values.
func (sh *interp) setList(slot int, list []string) bool {
	_, c := sh.writable(slot)
	if c == nil {
		return false
	}
	n := 0
	for _, s := range list {
		n += elemWeight + len(s)
	}
	if !sh.tell(c, n-c.told) {
		return false
	}
	c.str, c.room, c.assoc = "", 0, nil
	c.arr = array.NewIndexed(list, sh.epoch)
	c.attr = c.attr&^(attrNum|attrNoText|attrAssoc|attrDynamic) | attrArray | attrSet
	return true
}

// retell charges for all elements of an array that this process has just made its own.
func (sh *interp) retell(c *cell) { sh.tell(c, c.weight()-c.told) }

// empty takes all elements, and the text, from a variable.
func (sh *interp) empty(c *cell) {
	sh.tell(c, -c.told)
	c.str, c.room, c.arr, c.assoc = "", 0, nil, nil
}
