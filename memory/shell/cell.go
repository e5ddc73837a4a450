package shell

import (
	"strconv"
	"unsafe"

	"github.com/seed434b0696/agent-sandbox/internal/memory/array"
)

// attr is what declare can say of a variable, and how its value is kept.
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
	str   string
	num   int64
	room  int // bytes that str's array has; what is behind str may be appended to
	attr  attr
	told  int // bytes charged for the value
	epoch uint64
	arr   *array.Indexed
	assoc *array.Assoc
	dyn   *dynamic
}

// text returns the value of a scalar; of an array that of element 0.
func (sh *interp) text(c *cell) string {
	switch {
	case c.attr&(attrNoText|attrDynamic|attrArray|attrAssoc) == 0:
		return c.str
	case c.attr&attrNoText != 0:
		s := strconv.FormatInt(c.num, 10)
		if c.epoch == sh.epoch {
			c.str, c.room = s, 0
			c.attr &^= attrNoText
		}
		return s
	case c.attr&attrDynamic != 0:
		if c.dyn.list != nil {
			return c.dyn.first(sh)
		}
		return c.dyn.value(sh)
	case c.attr&attrArray != 0:
		s, _ := c.arr.At(0)
		return s
	}
	s, _ := c.assoc.At("0")
	return s
}

// isSet tells whether $name has a value.
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

// cell returns the variable in the slot, nil when there is none. References are not followed.
func (sh *interp) cell(slot int) *cell {
	if slot < len(sh.vars) {
		return sh.vars[slot]
	}
	return nil
}

// put makes c the variable of the slot.
func (sh *interp) put(slot int, c *cell) {
	if slot >= len(sh.vars) || sh.varsShared {
		n := max(len(sh.vars), slot+1)
		if slot >= len(sh.vars) {
			n = max(n+n/4, 64)
		}
		if n > manyWords {
			sh.charge(8 * n)
		}
		vars := make([]*cell, n)
		copy(vars, sh.vars)
		sh.vars, sh.varsShared = vars, false
	}
	sh.vars[slot] = c
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

// copied returns this process's own copy of a variable.
func (sh *interp) copied(c *cell) *cell {
	d := *c
	d.epoch, d.room = sh.epoch, 0
	if c.epoch < sh.birth {
		d.told = 0
	}
	return &d
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

// grow appends to a plain variable, in place when the array of the string has room
// that only it can see. False: there is no memory for it.
func (sh *interp) grow(c *cell, s string) bool {
	old := sh.text(c)
	n := len(old) + len(s)
	if n < 64 {
		return sh.setText(c, old+s)
	}
	var b []byte
	if c.room > len(old) && c.attr&attrNoText == 0 {
		// The bytes behind len(old) belong to no other string: room is 0 in each copy of a cell.
		b = unsafe.Slice(unsafe.StringData(old), c.room)[:len(old)]
	}
	if b == nil || cap(b) < n {
		if !sh.tell(c, textWeight(2*n)-c.told) {
			return false
		}
		b = append(make([]byte, 0, 2*n), old...)
	}
	b = append(b, s...)
	c.str = unsafe.String(unsafe.SliceData(b), len(b))
	c.room = cap(b)
	c.attr = c.attr&^(attrNum|attrNoText) | attrSet
	return true
}

// array returns the elements for writing.
func (sh *interp) array(c *cell) *array.Indexed {
	switch {
	case c.arr == nil:
		c.arr = array.NewIndexed(nil, sh.epoch)
	case c.arr.Epoch != sh.epoch:
		c.arr = c.arr.Clone(sh.epoch)
		sh.retell(c)
	}
	return c.arr
}

// table returns the elements of an associative array for writing.
func (sh *interp) table(c *cell) *array.Assoc {
	switch {
	case c.assoc == nil:
		c.assoc = array.NewAssoc(sh.epoch)
	case c.assoc.Epoch != sh.epoch:
		c.assoc = c.assoc.Clone(sh.epoch)
		sh.retell(c)
	}
	return c.assoc
}
