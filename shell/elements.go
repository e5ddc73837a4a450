package shell

import "math"

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
		i += a.end()
	}
	if i < 0 || i > maxIndex {
		sh.errorf("%s[%s]: bad array subscript", sh.m.lib.symbols.name(slot), sub)
		return false
	}
	old, ok := a.at(i)
	if !ok {
		sh.charge(32)
	}
	v, ok := sh.convert(c, old, s, more)
	if !ok {
		return false
	}
	sh.charge(len(v) - len(old))
	a.set(i, v)
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
		sh.array(c).set(0, s)
	} else {
		c.arr = &indexed{epoch: sh.epoch}
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
	old, ok := t.at(key)
	if !ok {
		sh.charge(96 + len(key))
	}
	v, ok := sh.convert(c, old, s, more)
	if !ok {
		return false
	}
	sh.charge(len(v) - len(old))
	t.set(key, v)
	c.attr |= attrSet
	return true
}

// setList makes the variable an array of the values.
func (sh *interp) setList(slot int, list []string) bool {
	_, c := sh.writable(slot)
	if c == nil {
		return false
	}
	n := 0
	for _, s := range list {
		n += 16 + len(s)
	}
	sh.charge(n - c.weight())
	c.str, c.room, c.assoc = "", 0, nil
	c.arr = &indexed{vals: list, epoch: sh.epoch}
	c.attr = c.attr&^(attrNum|attrNoText|attrAssoc|attrDynamic) | attrArray | attrSet
	return true
}

// weight is about how many bytes the value takes.
func (c *cell) weight() int {
	n := len(c.str)
	if c.arr != nil {
		for _, s := range c.arr.vals {
			n += 16 + len(s)
		}
	}
	if c.assoc != nil {
		for k, v := range c.assoc.m {
			n += 96 + len(k) + len(v.s)
		}
	}
	return n
}
