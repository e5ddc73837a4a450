package interpreter

import "math"

// num compiles an expression to code that returns it as a number.
func (c *compiler) num(x node) numCode {
	x = ungroup(x)
	switch x := x.(type) {
	case *numberNode:
		f := x.v
		return func(*machine) float64 { return f }
	case *textNode:
		f := toNumber(x.s)
		return func(*machine) float64 { return f }
	case *nameNode:
		return c.numVariable(x)
	case *fieldNode:
		if n, ok := x.n.(*numberNode); ok {
			if i := fieldIndex(n.v); i >= 0 {
				return func(m *machine) float64 { return m.fieldNumber(i) }
			}
		}
		f := c.fieldNumber(x)
		return func(m *machine) float64 { return m.fieldNumber(f(m)) }
	case *indexNode:
		e := c.element(x)
		return func(m *machine) float64 { return e(m).number() }
	case *unaryNode:
		if x.op != "!" {
			return c.sign(x)
		}
	case *binaryNode:
		if f := c.arithmetic(x); f != nil {
			return f
		}
	case *assignNode:
		return c.numAssign(x)
	case *stepNode:
		return c.step(x)
	case *condNode:
		cond, yes, no := c.cond(x.cond), c.num(x.yes), c.num(x.no)
		return func(m *machine) float64 {
			if cond(m) {
				return yes(m)
			}
			return no(m)
		}
	case *getlineNode:
		return c.getline(x)
	case *builtinNode:
		if typeOf(x) == typeNumber {
			return c.numBuiltin(x)
		}
	}
	if isCond(x) {
		f := c.cond(x)
		return func(m *machine) float64 {
			if f(m) {
				return 1
			}
			return 0
		}
	}
	if typeOf(x) == typeText {
		f := c.text(x)
		return func(m *machine) float64 { return toNumber(f(m)) }
	}
	f := c.value(x)
	return func(m *machine) float64 {
		v := f(m)
		return v.number()
	}
}

func (c *compiler) numVariable(x *nameNode) numCode {
	if x.sym.isArr {
		c.misuse(x)
	}
	slot := x.sym.slot
	switch {
	case x.sym.local:
		return func(m *machine) float64 { return m.vals[m.fp+slot].number() }
	case slot == slotNF:
		return func(m *machine) float64 { return float64(m.cutAll()) }
	case slot == slotNR:
		return func(m *machine) float64 { return m.nr }
	case slot == slotFNR:
		return func(m *machine) float64 { return m.fnr }
	}
	return func(m *machine) float64 { return m.globals[slot].number() }
}

func (c *compiler) sign(x *unaryNode) numCode {
	f := c.num(x.x)
	if x.op == "-" {
		if n, ok := ungroup(x.x).(*numberNode); ok {
			v := -n.v
			return func(*machine) float64 { return v }
		}
		return func(m *machine) float64 { return -f(m) }
	}
	return f
}

// operation returns the function of an operator; pos is for messages.
func operation(op string, pos int) func(m *machine, a, b float64) float64 {
	switch op {
	case "+":
		return func(_ *machine, a, b float64) float64 { return a + b }
	case "-":
		return func(_ *machine, a, b float64) float64 { return a - b }
	case "*":
		return func(_ *machine, a, b float64) float64 { return a * b }
	case "/":
		return func(m *machine, a, b float64) float64 {
			if b == 0 {
				m.fatalAt(pos, "fatal: division by zero attempted")
			}
			return a / b
		}
	case "%":
		return func(m *machine, a, b float64) float64 {
			if b == 0 {
				m.fatalAt(pos, "fatal: division by zero attempted in `%%'")
			}
			return modulo(a, b)
		}
	case "^":
		return func(_ *machine, a, b float64) float64 { return power(a, b) }
	}
	return nil
}

// modulo is fmod(3); whole numbers need no more than a division.
func modulo(a, b float64) float64 {
	if math.Abs(a) < 1<<53 && math.Abs(b) < 1<<53 {
		if i, j := int64(a), int64(b); float64(i) == a && float64(j) == b && i >= 0 {
			return float64(i % j)
		}
	}
	return math.Mod(a, b)
}

func power(a, b float64) float64 {
	if n := int(b); float64(n) == b && n >= 0 && n <= 64 {
		r := 1.0
		for ; n > 0; n >>= 1 {
			if n&1 != 0 {
				r *= a
			}
			a *= a
		}
		return r
	}
	return math.Pow(a, b)
}

// arithmetic compiles an operator on numbers; nil for others.
func (c *compiler) arithmetic(x *binaryNode) numCode {
	op := operation(x.op, x.pos)
	if op == nil {
		return nil
	}
	if n, ok := ungroup(x.y).(*numberNode); ok {
		if f := c.withConstant(x, n.v); f != nil {
			return f
		}
	}
	a, b := c.num(x.x), c.num(x.y)
	switch x.op {
	case "+":
		return func(m *machine) float64 { return a(m) + b(m) }
	case "-":
		return func(m *machine) float64 { return a(m) - b(m) }
	case "*":
		return func(m *machine) float64 { return a(m) * b(m) }
	}
	return func(m *machine) float64 {
		l := a(m)
		return op(m, l, b(m))
	}
}

// withConstant compiles an operator whose right side is known.
func (c *compiler) withConstant(x *binaryNode, n float64) numCode {
	if n == 0 && (x.op == "/" || x.op == "%") {
		text := "error: division by zero attempted"
		if x.op == "%" {
			text += " in `%'"
		}
		c.fail(x.pos, text)
	}
	a := c.num(x.x)
	switch x.op {
	case "+":
		return func(m *machine) float64 { return a(m) + n }
	case "-":
		return func(m *machine) float64 { return a(m) - n }
	case "*":
		return func(m *machine) float64 { return a(m) * n }
	case "/":
		return func(m *machine) float64 { return a(m) / n }
	case "%":
		return func(m *machine) float64 { return modulo(a(m), n) }
	}
	return nil
}

func (c *compiler) numAssign(x *assignNode) numCode {
	if x.op != "" {
		return c.update(x)
	}
	if typeOf(x.rhs) == typeNumber {
		if r := c.ref(x.lhs); r != nil {
			rhs := c.num(x.rhs)
			return func(m *machine) float64 {
				f := rhs(m)
				v := r(m)
				v.n, v.k, v.s = f, number, ""
				return f
			}
		}
	}
	f := c.assign(x)
	return func(m *machine) float64 {
		v := f(m)
		return v.number()
	}
}

// update compiles += and its like.
func (c *compiler) update(x *assignNode) numCode {
	rhs := c.num(x.rhs)
	if r := c.ref(x.lhs); r != nil {
		if x.op == "+" {
			return func(m *machine) float64 {
				f := rhs(m)
				v := r(m)
				v.n += f
				if v.k != number {
					v.n = v.number() + f
					v.k, v.s = number, ""
				}
				return v.n
			}
		}
		op := operation(x.op, x.pos)
		return func(m *machine) float64 {
			f := rhs(m)
			v := r(m)
			f = op(m, v.number(), f)
			v.n, v.k, v.s = f, number, ""
			return f
		}
	}
	op := operation(x.op, x.pos)
	if f, ok := x.lhs.(*fieldNode); ok {
		n, pos := c.fieldNumber(f), f.pos
		return func(m *machine) float64 {
			i := n(m)
			b := rhs(m)
			r := op(m, m.fieldNumber(i), b)
			m.setField(i, numberValue(r), pos)
			return r
		}
	}
	load, set := c.num(x.lhs), c.setter(x.lhs)
	return func(m *machine) float64 {
		b := rhs(m)
		r := op(m, load(m), b)
		set(m, numberValue(r))
		return r
	}
}

// step compiles ++ and --.
func (c *compiler) step(x *stepNode) numCode {
	by, back := x.by, x.by
	if x.prefix {
		back = 0
	}
	if r := c.ref(x.x); r != nil {
		return func(m *machine) float64 {
			v := r(m)
			if v.k != number {
				v.n = v.number()
				v.k, v.s = number, ""
			}
			v.n += by
			return v.n - back
		}
	}
	if f, ok := x.x.(*fieldNode); ok {
		n, pos := c.fieldNumber(f), f.pos
		return func(m *machine) float64 {
			i := n(m)
			r := m.fieldNumber(i) + by
			m.setField(i, numberValue(r), pos)
			return r - back
		}
	}
	load, set := c.num(x.x), c.setter(x.x)
	return func(m *machine) float64 {
		r := load(m) + by
		set(m, numberValue(r))
		return r - back
	}
}
