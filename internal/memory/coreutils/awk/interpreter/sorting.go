package interpreter

import (
	"slices"
	"strconv"
	"strings"
)

// ordering returns how elements are sorted by a name: one of "@ind_str_asc" and its like,
// or a function of the program. nil: not at all.
func (m *machine) ordering(how string) func(a, b *element) int {
	by, down := strings.CutSuffix(how, "_desc")
	if !down {
		by = strings.TrimSuffix(how, "_asc")
	}
	var f func(a, b *element) int
	switch by {
	case "", "@unsorted":
		return nil
	case "@ind_str":
		f = func(a, b *element) int { return strings.Compare(a.key, b.key) }
	case "@ind_num":
		f = func(a, b *element) int {
			if c := compareNumbers(toNumber(a.key), toNumber(b.key)); c != 0 {
				return c
			}
			return strings.Compare(a.key, b.key)
		}
	case "@val_str":
		f = func(a, b *element) int {
			return firstDifference(arraysLast(a, b), m.compareTexts(a, b), strings.Compare(a.key, b.key))
		}
	case "@val_num":
		f = func(a, b *element) int {
			return firstDifference(arraysLast(a, b), compareNumbers(a.number(), b.number()), m.compareTexts(a, b), strings.Compare(a.key, b.key))
		}
	case "@val_type":
		f = func(a, b *element) int {
			return firstDifference(arraysLast(a, b), m.compareTypes(&a.value, &b.value), strings.Compare(a.key, b.key))
		}
	default:
		return m.orderingFunction(how)
	}
	if down {
		return func(a, b *element) int { return f(b, a) }
	}
	return f
}

// firstDifference returns the first difference.
func firstDifference(list ...int) int {
	for _, c := range list {
		if c != 0 {
			return c
		}
	}
	return 0
}

func arraysLast(a, b *element) int { return b2i(a.sub != nil) - b2i(b.sub != nil) }

func (m *machine) compareTexts(a, b *element) int {
	return m.order(m.text(&a.value, m.convfmt), m.text(&b.value, m.convfmt))
}

// compareTypes puts numbers before texts.
func (m *machine) compareTypes(a, b *value) int {
	x, numA := a.numeric()
	y, numB := b.numeric()
	switch {
	case numA && numB:
		return compareNumbers(x, y)
	case numA:
		return -1
	case numB:
		return 1
	}
	return m.order(m.text(a, m.convfmt), m.text(b, m.convfmt))
}

// orderingFunction calls a function of the program with key, value, key, value.
func (m *machine) orderingFunction(name string) func(a, b *element) int {
	fn := m.prog.funcs[name]
	if fn == nil || fn.arrays > 0 || len(fn.params) < 4 {
		m.fatalAt(0, "fatal: sort comparison function `%s' is not defined", name)
		return nil
	}
	return func(a, b *element) int {
		m.spend(1)
		base := len(m.vals)
		for _, v := range [...]value{inputValue(a.key), a.value, inputValue(b.key), b.value} {
			m.pushValue(v)
		}
		for len(m.vals) < base+fn.scalars {
			m.pushValue(value{})
		}
		fp := m.fp
		m.fp, m.ret = base, value{}
		fn.code(m)
		m.fp = fp
		m.vals = m.vals[:base]
		return compareNumbers(m.ret.number(), 0)
	}
}

// sorted returns the elements of an array in an order.
func (m *machine) sorted(a *array, f func(a, b *element) int) []*element {
	list := m.elements(a)
	if f != nil {
		m.spend(len(list))
		slices.SortStableFunc(list, f)
	}
	return list
}

// inOrder returns the elements for a loop, as PROCINFO["sorted_in"] says.
func (m *machine) inOrder(a *array) []*element {
	how := m.garrays[arrayPROCINFO].find("sorted_in")
	if how == nil {
		return m.elements(a)
	}
	return m.sorted(a, m.ordering(m.text(&how.value, m.convfmt)))
}

// sortFunction compiles asort and asorti.
func (c *compiler) sortFunction(x *builtinNode) numCode {
	from := c.array(x.args[0])
	to := from
	if len(x.args) > 1 {
		to = c.array(x.args[1])
	}
	indices := x.name == "asorti"
	how := func(*machine) string { return "" }
	if len(x.args) > 2 {
		how = c.text(x.args[2])
	}
	return func(m *machine) float64 {
		order := how(m)
		if order == "" {
			if order = "@val_type_asc"; indices {
				order = "@ind_str_asc"
			}
		}
		src, dst := from(m), to(m)
		m.grow(src.live * 8)
		list := m.sorted(src, m.ordering(order))
		dst.clear()
		for i, e := range list {
			n := m.insert(dst, strconv.Itoa(i+1))
			if indices {
				n.value = textValue(e.key)
			} else {
				n.value, n.sub = e.value, e.sub
			}
		}
		return float64(len(list))
	}
}
