package interpreter

import (
	"slices"
	"strings"
)

// comparison compares values. Values share their parts, so that walking through a small value may take very long: each part takes
// fuel.
type comparison struct {
	vm    *machine // nil: at most mostCompared parts
	count int
	depth int
	err   error // why it ended early; its result then means nothing
}

// mostCompared is the number of parts that are compared without a machine.
const mostCompared = 1 << 26

// Compare orders values as jq does. Those with too many parts are equal.
func Compare(a, b Value) int { return (&comparison{}).order(a, b) }

// compare is Compare with fuel of the program.
func (vm *machine) compare(a, b Value) (int, error) {
	c := comparison{vm: vm}
	n := c.order(a, b)
	return n, c.err
}

func (vm *machine) equal(a, b Value) (bool, error) {
	n, err := vm.compare(a, b)
	return n == 0, err
}

func (c *comparison) equal(a, b Value) bool { return c.order(a, b) == 0 && c.err == nil }

// step takes fuel for a part.
func (c *comparison) step(parts int) bool {
	switch {
	case c.err != nil:
	case c.depth > maxParseDepth:
		c.err = errTooBig
	case c.vm != nil:
		c.vm.gas -= parts
		c.err = c.vm.tick()
	default:
		if c.count += 1 + parts; c.count > mostCompared {
			c.err = errTooBig
		}
	}
	return c.err == nil
}

func (c *comparison) order(a, b Value) int {
	if ra, rb := rank(a), rank(b); ra != rb {
		return ra - rb
	}
	if !c.step(0) {
		return 0
	}
	c.depth++
	defer func() { c.depth-- }()
	switch x := a.(type) {
	case float64, *Number:
		return compareNumbers(a, b)
	case string:
		y, _ := b.(string)
		return strings.Compare(x, y)
	case *Array:
		y, _ := b.(*Array)
		for i := range min(len(x.v), len(y.v)) {
			if n := c.order(x.v[i], y.v[i]); n != 0 || c.err != nil {
				return n
			}
		}
		return len(x.v) - len(y.v)
	case *Object:
		y, _ := b.(*Object)
		return c.objects(x, y)
	}
	return 0
}

func (c *comparison) objects(x, y *Object) int {
	if !c.step(len(x.keys) + len(y.keys)) {
		return 0
	}
	kx, ky := x.sorted(), y.sorted()
	if n := slices.Compare(kx, ky); n != 0 {
		return n
	}
	for _, k := range kx {
		vx, _ := x.Get(k)
		vy, _ := y.Get(k)
		if n := c.order(vx, vy); n != 0 || c.err != nil {
			return n
		}
	}
	return 0
}
