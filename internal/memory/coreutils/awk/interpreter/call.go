package interpreter

import "unsafe"

// argument is one argument of a call.
type argument struct {
	value valueCode // nil: an array
	array arrayCode
}

// call compiles a call of a function of the program.
func (c *compiler) call(x *callNode) valueCode {
	fn, pos := x.fn, x.pos
	args := make([]argument, len(x.args))
	for i, a := range x.args {
		if !fn.params[i].isArr {
			if n, ok := ungroup(a).(*nameNode); ok && n.sym.isArr {
				c.misuse(n)
			}
			args[i].value = c.value(a)
			continue
		}
		if !isReference(a) {
			c.fail(x.pos, "fatal: attempt to use scalar parameter `"+fn.params[i].name+"' as an array")
		}
		args[i].array = c.array(a)
	}
	return func(m *machine) value {
		m.spend(1)
		if m.depth++; m.depth > maxCalls {
			m.fatalAt(pos, "fatal: function `%s' called too deeply", fn.name)
		}
		base, arrBase := len(m.vals), len(m.arrs)
		for i := range args {
			if a := &args[i]; a.value != nil {
				v := a.value(m)
				m.pushValue(v)
			} else {
				m.pushArray(a.array(m))
			}
		}
		for len(m.vals) < base+fn.scalars {
			m.pushValue(value{})
		}
		for len(m.arrs) < arrBase+fn.arrays {
			m.grow(arrayMemory)
			m.pushArray(newArray())
		}
		fp, ap := m.fp, m.ap
		m.fp, m.ap = base, arrBase
		m.ret = value{}
		fn.code(m)
		m.fp, m.ap = fp, ap
		clear(m.arrs[arrBase:])
		m.vals, m.arrs = m.vals[:base], m.arrs[:arrBase]
		m.depth--
		v := m.ret
		m.ret = value{}
		return v
	}
}

// arrayMemory is about how many bytes an empty array takes.
const arrayMemory = 128

// pushValue adds a local variable of the calls; the list is charged before it grows.
func (m *machine) pushValue(v value) {
	if n := len(m.vals); n == cap(m.vals) && n > 0 {
		m.grow(2 * n * int(unsafe.Sizeof(v)))
	}
	m.vals = append(m.vals, v)
}

// pushArray is pushValue for an array.
func (m *machine) pushArray(a *array) {
	if n := len(m.arrs); n == cap(m.arrs) && n > 0 {
		m.grow(2 * n * int(unsafe.Sizeof(a)))
	}
	m.arrs = append(m.arrs, a)
}
