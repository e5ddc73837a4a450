package shell

import (
	"slices"

	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/shopt"
)

// variables holds the variables of a process, by slot of their name, and those that local variables and temporary
// assignments hide.
type variables struct {
	vars       []*cell
	varsShared bool        // vars belongs to another process too
	saved      []savedCell // the hidden variables, the oldest first
	epoch      uint64      // cells of this epoch may be written
	birth      uint64      // the parent counts the memory of cells older than this
	escapes    uint64      // how often a concurrent process was given the cells
}

// savedCell is the variable that a local one hides.
type savedCell struct {
	slot int
	old  *cell
	temp bool // hidden by an assignment before a command
}

// cell returns the variable in the slot, nil when there is none. References are not followed.
func (v *variables) cell(slot int) *cell {
	if slot < len(v.vars) {
		return v.vars[slot]
	}
	return nil
}

// replace makes c the variable of the slot, and returns the length of the list of variables if it made a new one.
func (v *variables) replace(slot int, c *cell) (made int) {
	if slot >= len(v.vars) || v.varsShared {
		n := max(len(v.vars), slot+1)
		if slot >= len(v.vars) {
			n = max(n+n/4, 64)
		}
		vars := make([]*cell, n)
		copy(vars, v.vars)
		v.vars, v.varsShared = vars, false
		made = n
	}
	v.vars[slot] = c
	return made
}

// copied returns this process's own copy of a variable.
func (v *variables) copied(c *cell) *cell {
	d := *c
	d.epoch, d.room = v.epoch, 0
	if c.epoch < v.birth {
		d.charged = 0
	}
	return &d
}

// isRef reports whether the variable is a reference, which may mean a list.
func (v *variables) isRef(slot int) bool {
	c := v.cell(slot)
	return c != nil && c.attr&attrRef != 0
}

// ownWeight returns the weight of a function that this process has defined, 0 for another.
func (v *variables) ownWeight(f *function) int {
	if f == nil || f.birth != v.birth {
		return 0
	}
	return f.weight()
}

// put makes c the variable of the slot.
func (sh *interp) put(slot int, c *cell) {
	if n := sh.replace(slot, c); n > manyWords {
		sh.charge(8 * n)
	}
}

// own returns the slot's variable for writing, made when there is none.
func (sh *interp) own(slot int) *cell {
	c := sh.cell(slot)
	switch {
	case c == nil:
		c = &cell{epoch: sh.epoch}
		sh.put(slot, c)
	case c.epoch != sh.epoch:
		c = sh.copied(c)
		sh.put(slot, c)
	}
	return c
}

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

// isLocal reports whether the running function has made the variable local.
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
	if old != nil && (sh.shopt&shopt.LocalVarInherit != 0 || old.attr&attrTemp != 0) && old.attr&attrDynamic == 0 {
		*c = *old
		sh.cloned(c)
		c.attr = c.attr&^(attrTemp|attrRef) | attrLocal
	}
	sh.hide(slot, c, false)
	return c
}

// cloned makes a copy of a variable one of its own.
func (sh *interp) cloned(c *cell) {
	c.epoch, c.room, c.charged = sh.epoch, 0, 0
	if c.arr != nil {
		c.arr = c.arr.Clone(sh.epoch)
	}
	if c.assoc != nil {
		c.assoc = c.assoc.Clone(sh.epoch)
	}
	sh.chargeCell(c, c.weight()+textWeight(len(c.str)))
}

// unsetVar removes a variable: a local one of this function stays local without value, one of a
// caller uncovers the variables that it hid.
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
		if i >= base && !s.temp {
			sh.put(slot, &cell{epoch: sh.epoch, attr: attrLocal})
			return true
		}
		sh.put(slot, s.old)
		sh.saved = slices.Delete(slices.Clone(sh.saved), i, i+1)
		sh.shiftSaved(i)
		return true
	}
	sh.put(slot, nil)
	return true
}

// drop releases the memory of a variable that is going away.
func (sh *interp) drop(c *cell) {
	if c != nil && c.charged != 0 && c.epoch >= sh.birth {
		sh.charge(-c.charged)
	}
}

// keepTemps makes temporary assignments stay: those before a special builtin in POSIX mode.
func (sh *interp) keepTemps(n int) {
	for len(sh.saved) > n {
		s := sh.saved[len(sh.saved)-1]
		sh.saved = sh.saved[:len(sh.saved)-1]
		c := sh.cell(s.slot)
		if !s.temp || c == nil {
			continue
		}
		d := sh.copied(c)
		sh.drop(s.old)
		d.attr &^= attrTemp
		if s.old == nil || s.old.attr&attrExport == 0 {
			d.attr &^= attrExport
		}
		sh.put(s.slot, d)
	}
}

// restoreTemps restores the variables that temporary assignments hid. Variables that the command made local in the function
// around it stays.
func (sh *interp) restoreTemps(n int) {
	var keep []savedCell
	for len(sh.saved) > n {
		s := sh.saved[len(sh.saved)-1]
		sh.saved = sh.saved[:len(sh.saved)-1]
		if !s.temp {
			keep = append(keep, s)
			continue
		}
		if hiddenBy(keep, s.slot) != nil {
			k := hiddenBy(keep, s.slot)
			sh.drop(k.old)
			k.old = s.old
			continue
		}
		sh.drop(sh.cell(s.slot))
		sh.put(s.slot, s.old)
	}
	for _, k := range slices.Backward(keep) {
		sh.saved = append(sh.saved, k)
	}
}

func hiddenBy(list []savedCell, slot int) *savedCell {
	for i := range list {
		if list[i].slot == slot {
			return &list[i]
		}
	}
	return nil
}
