package interpreter

import (
	"maps"
	"slices"
)

func (x *numberNode) eval(m *machine) Number {
	if x.base != m.ibase {
		x.base, x.val = m.ibase, parseNumber(x.text, m.ibase)
	}
	return x.val
}

func (x *varNode) eval(m *machine) Number {
	if x.index == nil {
		if v, ok := m.vars[x.name]; ok {
			return v
		}
		return whole(0)
	}
	i := m.subscript(x)
	if a := m.arrs[x.name]; a != nil {
		if v, ok := a.elems[i]; ok {
			return v
		}
	}
	return whole(0)
}

// eval of an array that is not an argument.
func (wholeNode) eval(m *machine) Number {
	m.fail("array used as a number")
	return Number{}
}

// maxIndex is BC_DIM_MAX.
const maxIndex = 16777215

func (m *machine) subscript(x *varNode) int {
	i, ok := toBoundedInt(x.index.eval(m), maxIndex)
	if !ok || i < 0 {
		m.fail("Array %s subscript out of bounds.", x.name)
	}
	return i
}

// store assigns to a variable.
func (m *machine) store(target node, n Number) {
	switch t := target.(type) {
	case *ownNode:
		m.setOwn(t.name, n)
	case *varNode:
		if t.index == nil {
			m.vars[t.name] = n
			return
		}
		i := m.subscript(t)
		m.array(t.name).elems[i] = n
		if err := m.h.Take(64); err != nil {
			panic(&stop{err})
		}
	}
}

func (m *machine) array(name string) *array {
	a := m.arrs[name]
	if a == nil {
		a = &array{map[int]Number{}}
		m.arrs[name] = a
	}
	return a
}

func (x *ownNode) eval(m *machine) Number { return m.own(x.name) }

func truth(b bool) Number {
	if b {
		return whole(1)
	}
	return whole(0)
}

func (x *unaryNode) eval(m *machine) Number {
	v := x.x.eval(m)
	switch x.op {
	case '-':
		return v.neg()
	case '!':
		return truth(v.isZero())
	}
	return v
}

func (x *binaryNode) eval(m *machine) Number {
	a := x.x.eval(m)
	b := x.y.eval(m)
	switch x.op {
	case "&&":
		return truth(!a.isZero() && !b.isZero())
	case "||":
		return truth(!a.isZero() || !b.isZero())
	case "<":
		return truth(a.cmp(b) < 0)
	case "<=":
		return truth(a.cmp(b) <= 0)
	case ">":
		return truth(a.cmp(b) > 0)
	case ">=":
		return truth(a.cmp(b) >= 0)
	case "==":
		return truth(a.cmp(b) == 0)
	case "!=":
		return truth(a.cmp(b) != 0)
	}
	return m.arithmetic(x.op[0], a, b)
}

func (m *machine) arithmetic(op byte, a, b Number) Number {
	m.work(a.size() + b.size())
	switch op {
	case '+':
		return m.take(a.add(b))
	case '-':
		return m.take(a.sub(b))
	case '*':
		return m.take(a.mul(b, m.scale))
	case '/', '%':
		if b.isZero() {
			if op == '/' {
				m.fail("Divide by zero")
			}
			m.fail("Modulo by zero")
		}
		m.work(m.scale / 2)
		if op == '/' {
			return m.take(a.div(b, m.scale))
		}
		return m.take(a.mod(b, m.scale))
	}
	return m.take(m.exponent(a, b))
}

func (x *assignNode) eval(m *machine) Number {
	v := x.x.eval(m)
	if x.op != 0 {
		v = m.arithmetic(x.op, x.target.eval(m), v)
	}
	m.store(x.target, v)
	return v
}

func (x *stepNode) eval(m *machine) Number {
	old := x.target.eval(m)
	v := m.take(old.add(whole(x.by)))
	m.store(x.target, v)
	if x.prefix {
		return v
	}
	return old
}

func (x *builtinNode) eval(m *machine) Number {
	if x.name == "read" {
		return m.read()
	}
	v := x.x.eval(m)
	switch x.name {
	case "length":
		return whole(int64(v.length()))
	case "scale":
		return whole(int64(v.scale))
	}
	if v.v.Sign() < 0 {
		m.fail("Square root of a negative number")
	}
	m.work(v.size() + m.scale)
	return m.take(v.sqrt(m.scale))
}

// read reads a number from the input, after the part that the program was read from.
func (m *machine) read() Number {
	for {
		t := m.lex.next()
		neg := t.kind == tokenPunct && t.text == "-"
		if neg {
			t = m.lex.next()
		}
		switch t.kind {
		case tokenNumber:
			n := parseNumber(t.text, m.ibase)
			if neg {
				return n.neg()
			}
			return n
		case tokenEnd:
			return whole(0)
		default:
			m.spend(1)
		}
	}
}

// maxCalls bounds the depth of recursion.
const maxCalls = 10000

// saved is a variable that a call has put aside.
type saved struct {
	l   local
	num Number
	set bool
	arr *array
}

func (x *callNode) eval(m *machine) Number {
	fn := m.funcs[x.name]
	if fn == nil {
		if m.h.Library {
			if v, ok := m.library(x); ok {
				return v
			}
		}
		m.fail("Function %s not defined.", x.name)
	}
	if len(x.args) != len(fn.params) {
		m.fail("Parameter number mismatch")
	}
	if m.depth >= maxCalls {
		m.fail("Function stack too deep.")
	}
	nums, arrs := make([]Number, len(x.args)), make([]*array, len(x.args))
	for i, a := range x.args {
		if fn.params[i].array != (a.array != "") {
			m.fail("Parameter type mismatch, parameter %s.", fn.params[i].name)
		}
		if a.array == "" {
			nums[i] = a.x.eval(m)
		} else if arrs[i] = m.array(a.array); !fn.params[i].reference {
			arrs[i] = m.copyArray(arrs[i])
		}
	}
	return m.call(fn, nums, arrs)
}

func (m *machine) copyArray(a *array) *array {
	m.spend(len(a.elems))
	c := &array{make(map[int]Number, len(a.elems))}
	maps.Copy(c.elems, a.elems)
	return c
}

func (m *machine) call(fn *function, nums []Number, arrs []*array) Number {
	m.spend(1)
	outside := m.in
	m.depth++
	var list []saved
	defer func() { // Also when an error ends the line.
		for _, s := range slices.Backward(list) {
			m.restore(s)
		}
	}()
	for i, p := range fn.params {
		list = append(list, m.save(p))
		if p.array {
			m.arrs[p.name] = arrs[i]
		} else {
			m.vars[p.name] = nums[i]
		}
	}
	for _, a := range fn.autos {
		list = append(list, m.save(a))
		if a.array {
			delete(m.arrs, a.name)
		} else {
			delete(m.vars, a.name)
		}
	}
	m.in, m.ret = fn.name, whole(0)
	for _, s := range fn.body {
		if s.exec(m) == flowReturn {
			break
		}
	}
	m.in = outside
	m.depth--
	v := m.ret
	m.ret = whole(0)
	return v
}

func (m *machine) save(l local) saved {
	s := saved{l: l}
	if l.array {
		s.arr = m.arrs[l.name]
	} else {
		s.num, s.set = m.vars[l.name]
	}
	return s
}

func (m *machine) restore(s saved) {
	switch {
	case s.l.array && s.arr != nil:
		m.arrs[s.l.name] = s.arr // bounded: by the letters and names of the program, which are charged
	case s.l.array:
		delete(m.arrs, s.l.name)
	case s.set:
		m.vars[s.l.name] = s.num // bounded: by the letters and names of the program, which are charged
	default:
		delete(m.vars, s.l.name)
	}
}
