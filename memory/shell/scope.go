package shell

import "slices"

// hide puts the variable aside until the running function, or the command that temporary
// assignments stand before, ends. The new variable is c, nil for none.
func (sh *interp) hide(slot int, c *cell, temp bool) {
	sh.saved = append(sh.saved, savedCell{slot, sh.cell(slot), temp})
	sh.put(slot, c)
}

// restore brings back all variables that have been put aside since there were n.
func (sh *interp) restore(n int) {
	for len(sh.saved) > n {
		s := sh.saved[len(sh.saved)-1]
		sh.saved = sh.saved[:len(sh.saved)-1]
		sh.drop(sh.cell(s.slot))
		sh.put(s.slot, s.old)
	}
}

// localBase returns how much of saved is older than the running function.
func (sh *interp) localBase() int {
	for _, v := range slices.Backward(sh.frames) {
		if v.fn != nil {
			return v.saved
		}
	}
	return 0
}

// isLocal tells whether the running function has made the variable local.
func (sh *interp) isLocal(slot int) bool {
	for _, s := range sh.saved[sh.localBase():] {
		if s.slot == slot && !s.temp {
			return true
		}
	}
	return false
}

// makeLocal makes the variable one of the running function, without a value unless it
// had a temporary one or localvar_inherit is on.
func (sh *interp) makeLocal(slot int) *cell {
	if sh.isLocal(slot) {
		return sh.own(slot)
	}
	old := sh.cell(slot)
	c := &cell{epoch: sh.epoch, attr: attrLocal}
	if old != nil && (sh.shopt&shLocalVarInherit != 0 || old.attr&attrTemp != 0) && old.attr&attrDynamic == 0 {
		*c = *old
		sh.cloned(c)
		c.attr = c.attr&^(attrTemp|attrRef) | attrLocal
	}
	sh.hide(slot, c, false)
	return c
}

// cloned makes a copy of a variable one of its own.
func (sh *interp) cloned(c *cell) {
	c.epoch, c.room, c.told = sh.epoch, 0, 0
	if c.arr != nil {
		c.arr = c.arr.Clone(sh.epoch)
	}
	if c.assoc != nil {
		c.assoc = c.assoc.Clone(sh.epoch)
	}
	sh.tell(c, c.weight()+textWeight(len(c.str)))
}

// unsetVar removes a variable: a local one of this function stays local without value, one of a
// caller uncovers what it hid.
func (sh *interp) unsetVar(slot int) bool {
	c := sh.cell(slot)
	if c == nil {
		return true
	}
	if c.attr&attrReadonly != 0 {
		return false
	}
	sh.drop(c)
	base := sh.localBase()
	for i, s := range slices.Backward(sh.saved) {

		if s.slot != slot {
			continue
		}
		if i >= base && !s.temp && sh.shopt&shLocalVarUnset == 0 || i >= base && !s.temp {
			sh.put(slot, &cell{epoch: sh.epoch, attr: attrLocal})
			return true
		}
		sh.put(slot, s.old)
		sh.dropSaved(i)
		return true
	}
	sh.put(slot, nil)
	return true
}

// dropSaved forgets an entry of saved; calls that are running keep counting right.
func (sh *interp) dropSaved(i int) {
	sh.saved = slices.Delete(slices.Clone(sh.saved), i, i+1)
	if sh.framesShared {
		sh.frames, sh.framesShared = slices.Clone(sh.frames), false
	}
	for j := range sh.frames {
		if sh.frames[j].saved > i {
			sh.frames[j].saved--
		}
	}
}
