package shell

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/array"
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
