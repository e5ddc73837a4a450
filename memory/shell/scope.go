package shell

import (
	"slices"

	"github.com/seed434b0696/agent-sandbox/internal/memory/array"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/shopt"
)

// attr holds the attributes of a variable, and how its value is stored.
type attr uint32

const (
	attrSet      attr = 1 << iota // it has a value
	attrExport                    // -x
	attrReadonly                  // -r
	attrInteger                   // -i
	attrLower                     // -l
	attrUpper                     // -u
	attrCapital                   // -c
	attrRef                       // -n
	attrArray                     // -a
	attrAssoc                     // -A
	attrTrace                     // -t
	attrDynamic                   // the value is computed
	attrLocal                     // made by local in the running function
	attrNum                       // num is the value as an integer
	attrNoText                    // str does not hold the value; num does
	attrTemp                      // of an assignment before a command
	attrNoImport                  // the name cannot be in an environment

	// attrPlain are the attributes without which a value is simply stored.
	attrNotPlain = attrReadonly | attrInteger | attrLower | attrUpper | attrCapital | attrRef | attrArray | attrAssoc | attrDynamic
	attrValue    = attrSet | attrNum | attrNoText
)

// cell is a variable. It belongs to the epoch of the process that made it; others
// read it and make their own to write.
type cell struct {
	str     string
	num     int64
	room    int // bytes that str's array has; what is behind str may be appended to
	attr    attr
	charged int // bytes charged for the value
	epoch   uint64
	arr     *array.Indexed
	assoc   *array.Assoc
	dyn     *dynamic
}

// isSet reports whether $name has a value.
func (c *cell) isSet() bool {
	switch {
	case c == nil:
		return false
	case c.attr&attrDynamic != 0:
		return true
	case c.attr&attrArray != 0:
		_, ok := c.arr.At(0)
		return ok
	case c.attr&attrAssoc != 0:
		_, ok := c.assoc.At("0")
		return ok
	}
	return c.attr&attrSet != 0
}

// store sets the value of a plain variable.
func (c *cell) store(s string) {
	c.str, c.room = s, 0
	c.attr = c.attr&^(attrNum|attrNoText) | attrSet
}

func (c *cell) storeInt(n int64) {
	c.num = n
	c.attr |= attrValue
}

// weight is about how many bytes the elements of a variable take.
func (c *cell) weight() int {
	n := 0
	if c.arr != nil {
		for _, s := range c.arr.List() {
			n += elemWeight + len(s)
		}
	}
	if c.assoc != nil {
		n += keyWeight*c.assoc.Len() + c.assoc.Bytes()
	}
	return n
}

// The weights of values: texts below lightText count nothing by themselves.
const (
	lightText  = 256
	elemWeight = 32  // of an element of an array beside its text
	keyWeight  = 112 // of one of an associative array
	nameWeight = 200 // of the name of a variable or function, which is never forgotten
)

func textWeight(n int) int {
	if n < lightText {
		return 0
	}
	return n
}

// cells holds the variables of a process, by slot of their name, and those that local variables and temporary
// assignments hide. Only a cell of the epoch is written; own copies another one first. The memory that a cell has
// charged is released when the cell goes away.
type cells struct {
	vars       []*cell
	varsShared bool        // vars belongs to another process too
	saved      []savedCell // the hidden variables, the oldest first
	epoch      uint64      // cells of this epoch may be written
	birth      uint64      // the parent counts the memory of cells older than this
	escapes    uint64      // how often a concurrent process was given the cells

	// sh accounts for the memory, writes the messages, and expands and computes the texts that an assignment or a
	// subscript has.
	sh *interp
}

// savedCell is the variable that a local one hides.
type savedCell struct {
	slot int
	old  *cell
	temp bool // hidden by an assignment before a command
}

// cell returns the variable in the slot, nil when there is none. References are not followed.
func (v *cells) cell(slot int) *cell {
	if slot < len(v.vars) {
		return v.vars[slot]
	}
	return nil
}

// replace makes c the variable of the slot, and returns the length of the list of variables if it made a new one.
func (v *cells) replace(slot int, c *cell) (made int) {
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
func (v *cells) copied(c *cell) *cell {
	d := *c
	d.epoch, d.room = v.epoch, 0
	if c.epoch < v.birth {
		d.charged = 0
	}
	return &d
}

// isRef reports whether the variable is a reference, which may mean a list.
func (v *cells) isRef(slot int) bool {
	c := v.cell(slot)
	return c != nil && c.attr&attrRef != 0
}

// ownWeight returns the weight of a function that this process has defined, 0 for another.
func (v *cells) ownWeight(f *function) int {
	if f == nil || f.birth != v.birth {
		return 0
	}
	return f.weight()
}

// put makes c the variable of the slot.
func (v *cells) put(slot int, c *cell) {
	if n := v.replace(slot, c); n > manyWords {
		v.sh.charge(8 * n)
	}
}

// own returns the slot's variable for writing, made when there is none.
func (v *cells) own(slot int) *cell {
	c := v.cell(slot)
	switch {
	case c == nil:
		c = &cell{epoch: v.epoch}
		v.put(slot, c)
	case c.epoch != v.epoch:
		c = v.copied(c)
		v.put(slot, c)
	}
	return c
}

// hide puts the variable aside until the running function, or the command with the temporary assignments, ends. The new variable
// is c, nil for none.
func (v *cells) hide(slot int, c *cell, temp bool) {
	v.saved = append(v.saved, savedCell{slot, v.cell(slot), temp})
	v.put(slot, c)
}

// restore brings back all variables that have been put aside since there were n.
func (v *cells) restore(n int) {
	for len(v.saved) > n {
		s := v.saved[len(v.saved)-1]
		v.saved = v.saved[:len(v.saved)-1]
		v.drop(v.cell(s.slot))
		v.put(s.slot, s.old)
	}
}

// isLocal reports whether the running function has made the variable local.
func (v *cells) isLocal(slot int) bool {
	for _, s := range v.saved[v.sh.localBase():] {
		if s.slot == slot && !s.temp {
			return true
		}
	}
	return false
}

// makeLocal makes the variable one of the running function, without a value unless it
// had a temporary one or localvar_inherit is on.
func (v *cells) makeLocal(slot int) *cell {
	if v.isLocal(slot) {
		return v.own(slot)
	}
	old := v.cell(slot)
	c := &cell{epoch: v.epoch, attr: attrLocal}
	if old != nil && (v.sh.shopt&shopt.LocalVarInherit != 0 || old.attr&attrTemp != 0) && old.attr&attrDynamic == 0 {
		*c = *old
		v.cloned(c)
		c.attr = c.attr&^(attrTemp|attrRef) | attrLocal
	}
	v.hide(slot, c, false)
	return c
}

// cloned makes a copy of a variable one of its own.
func (v *cells) cloned(c *cell) {
	c.epoch, c.room, c.charged = v.epoch, 0, 0
	if c.arr != nil {
		c.arr = c.arr.Clone(v.epoch)
	}
	if c.assoc != nil {
		c.assoc = c.assoc.Clone(v.epoch)
	}
	v.chargeCell(c, c.weight()+textWeight(len(c.str)))
}

// unsetVar removes a variable: a local one of this function stays local without value, one of a
// caller uncovers the variables that it hid.
func (v *cells) unsetVar(slot int) bool {
	c := v.cell(slot)
	if c == nil {
		return true
	}
	if c.attr&attrReadonly != 0 {
		return false
	}
	v.drop(c)
	base := v.sh.localBase()
	for i, s := range slices.Backward(v.saved) {
		if s.slot != slot {
			continue
		}
		if i >= base && !s.temp {
			v.put(slot, &cell{epoch: v.epoch, attr: attrLocal})
			return true
		}
		v.put(slot, s.old)
		v.saved = slices.Delete(slices.Clone(v.saved), i, i+1)
		v.sh.shiftSaved(i)
		return true
	}
	v.put(slot, nil)
	return true
}

// drop releases the memory of a variable that is going away.
func (v *cells) drop(c *cell) {
	if c != nil && c.charged != 0 && c.epoch >= v.birth {
		v.sh.charge(-c.charged)
	}
}

// keepTemps makes temporary assignments stay: those before a special builtin in POSIX mode.
func (v *cells) keepTemps(n int) {
	for len(v.saved) > n {
		s := v.saved[len(v.saved)-1]
		v.saved = v.saved[:len(v.saved)-1]
		c := v.cell(s.slot)
		if !s.temp || c == nil {
			continue
		}
		d := v.copied(c)
		v.drop(s.old)
		d.attr &^= attrTemp
		if s.old == nil || s.old.attr&attrExport == 0 {
			d.attr &^= attrExport
		}
		v.put(s.slot, d)
	}
}

// restoreTemps restores the variables that temporary assignments hid. Variables that the command made local in the function
// around it stays.
func (v *cells) restoreTemps(n int) {
	var keep []savedCell
	for len(v.saved) > n {
		s := v.saved[len(v.saved)-1]
		v.saved = v.saved[:len(v.saved)-1]
		if !s.temp {
			keep = append(keep, s)
			continue
		}
		if hiddenBy(keep, s.slot) != nil {
			k := hiddenBy(keep, s.slot)
			v.drop(k.old)
			k.old = s.old
			continue
		}
		v.drop(v.cell(s.slot))
		v.put(s.slot, s.old)
	}
	for _, k := range slices.Backward(keep) {
		v.saved = append(v.saved, k)
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
