package interpreter

import "strings"

// value compiles an expression to code that returns its value.
func (c *compiler) value(x node) valueCode {
	x = ungroup(x)
	switch typeOf(x) {
	case typeNumber:
		if n, ok := x.(*numberNode); ok {
			v := numberValue(n.v)
			return func(*machine) value { return v }
		}
		f := c.num(x)
		return func(m *machine) value { return value{n: f(m), k: number} }
	case typeText:
		if t, ok := x.(*textNode); ok {
			v := textValue(t.s)
			return func(*machine) value { return v }
		}
		f := c.text(x)
		return func(m *machine) value { return value{s: f(m), k: text} }
	case typeUnknown:
	}
	switch x := x.(type) {
	case *nameNode:
		return c.variable(x)
	case *indexNode:
		e := c.element(x)
		return func(m *machine) value { return *e(m) }
	case *fieldNode:
		return c.field(x)
	case *assignNode:
		return c.assign(x)
	case *condNode:
		cond, yes, no := c.cond(x.cond), c.value(x.yes), c.value(x.no)
		return func(m *machine) value {
			if cond(m) {
				return yes(m)
			}
			return no(m)
		}
	case *callNode:
		return c.call(x)
	}
	c.fail(0, "syntax error")
	return nil
}

func (c *compiler) variable(x *nameNode) valueCode {
	if x.sym.isArr {
		c.misuse(x)
	}
	slot := x.sym.slot
	switch {
	case x.sym.local:
		return func(m *machine) value { return m.vals[m.fp+slot] }
	case slot <= slotFNR:
		return func(m *machine) value { return m.hooked(slot) }
	}
	return func(m *machine) value { return m.globals[slot] }
}

// element compiles a reference to an element, which is made when it is missing.
func (c *compiler) element(x *indexNode) refCode {
	a, key := c.array(x.array), c.keys(x.subs)
	pos := x.pos
	if n, ok := x.array.(*nameNode); ok && !n.sym.local {
		slot := n.sym.slot
		return func(m *machine) *value {
			e := m.at(m.garrays[slot], key(m))
			if e.sub != nil {
				m.fatalAt(pos, "fatal: attempt to use array `%s' in a scalar context", n.name+"[\""+e.key+"\"]")
			}
			return &e.value
		}
	}
	return func(m *machine) *value {
		arr := a(m)
		e := m.at(arr, key(m))
		if e.sub != nil {
			m.fatalAt(pos, "fatal: attempt to use array `[\"%s\"]' in a scalar context", e.key)
		}
		return &e.value
	}
}

func (c *compiler) fieldNumber(x *fieldNode) func(m *machine) int {
	f, pos := c.num(x.n), x.pos
	return func(m *machine) int {
		n := f(m)
		if !(n > -1) {
			m.fatalAt(pos, "fatal: attempt to access field %d", int(clampInt(n)))
		}
		if n > maxField {
			return maxField + 1
		}
		return int(n)
	}
}

func (c *compiler) field(x *fieldNode) valueCode {
	if n, ok := x.n.(*numberNode); ok {
		if i := fieldIndex(n.v); i >= 0 {
			return func(m *machine) value { return m.field(i) }
		}
	}
	if n, ok := x.n.(*nameNode); ok && !n.sym.local && n.sym.slot == slotNF {
		return func(m *machine) value { return m.field(m.cutAll()) }
	}
	f := c.fieldNumber(x)
	return func(m *machine) value { return m.field(f(m)) }
}

// text compiles an expression to code that returns it as a text.
func (c *compiler) text(x node) textCode {
	x = ungroup(x)
	switch x := x.(type) {
	case *textNode:
		s := x.s
		return func(*machine) string { return s }
	case *numberNode:
		f := x.v
		return func(m *machine) string { return m.numberText(f, m.convfmt) }
	case *binaryNode:
		if x.op == " " {
			return c.concat(x)
		}
	case *fieldNode:
		if n, ok := x.n.(*numberNode); ok {
			if i := fieldIndex(n.v); i >= 0 {
				return func(m *machine) string { return m.fieldText(i) }
			}
		}
		f := c.fieldNumber(x)
		return func(m *machine) string { return m.fieldText(f(m)) }
	case *indexNode:
		e := c.element(x)
		return func(m *machine) string { return m.text(e(m), m.convfmt) }
	case *builtinNode:
		if f := c.textBuiltin(x); f != nil {
			return f
		}
	case *assignNode:
		if typeOf(x) == typeText {
			f := c.assign(x)
			return func(m *machine) string { return f(m).s }
		}
	case *condNode:
		cond, yes, no := c.cond(x.cond), c.text(x.yes), c.text(x.no)
		return func(m *machine) string {
			if cond(m) {
				return yes(m)
			}
			return no(m)
		}
	}
	if typeOf(x) == typeNumber {
		f := c.num(x)
		return func(m *machine) string { return m.numberText(f(m), m.convfmt) }
	}
	f := c.value(x)
	return func(m *machine) string {
		v := f(m)
		return m.text(&v, m.convfmt)
	}
}

// concat joins all texts of a chain at once.
func (c *compiler) concat(x *binaryNode) textCode {
	var nodes []node
	var flatten func(x node)
	flatten = func(x node) {
		if b, ok := x.(*binaryNode); ok && b.op == " " {
			flatten(b.x)
			nodes = append(nodes, b.y) // bounded: by the tokens of the program, which are charged
			return
		}
		nodes = append(nodes, x) // bounded: by the tokens of the program, which are charged
	}
	flatten(x)
	parts := make([]textCode, len(nodes))
	for i, n := range nodes {
		parts[i] = c.text(n)
	}
	return joinTexts(parts)
}

func joinTexts(parts []textCode) textCode {
	if len(parts) == 2 {
		a, b := parts[0], parts[1]
		return func(m *machine) string {
			s := a(m)
			t := b(m)
			m.taken(len(s) + len(t))
			return s + t
		}
	}
	return func(m *machine) string {
		var few [8]string
		list, size := few[:0], 0
		for _, p := range parts {
			s := p(m)
			size += len(s)
			list = append(list, s)
		}
		m.taken(size)
		return strings.Join(list, "")
	}
}

// ref compiles a reference to a variable that is nothing but a cell; nil for others. It is to be
// called after the assigned expression was evaluated, since calls may move cells.
func (c *compiler) ref(x node) refCode {
	switch x := x.(type) {
	case *nameNode:
		if x.sym.isArr {
			c.misuse(x)
		}
		slot := x.sym.slot
		if x.sym.local {
			return func(m *machine) *value { return &m.vals[m.fp+slot] }
		}
		if slot >= hookedSlots {
			return func(m *machine) *value { return &m.globals[slot] }
		}
	case *indexNode:
		return c.element(x)
	}
	return nil
}

// setter compiles an assignment to x.
func (c *compiler) setter(x node) func(m *machine, v value) {
	if r := c.ref(x); r != nil {
		return func(m *machine, v value) { *r(m) = v }
	}
	switch x := x.(type) {
	case *nameNode:
		slot, pos := x.sym.slot, x.pos
		return func(m *machine, v value) { m.setGlobal(slot, v, pos) }
	case *fieldNode:
		f, pos := c.fieldNumber(x), x.pos
		return func(m *machine, v value) { m.setField(f(m), v, pos) }
	}
	c.fail(0, "syntax error")
	return nil
}

// assign compiles an assignment.
func (c *compiler) assign(x *assignNode) valueCode {
	if x.op != "" {
		f := c.update(x)
		return func(m *machine) value { return value{n: f(m), k: number} }
	}
	if r := c.ref(x.lhs); r != nil {
		if f := c.appending(x, r); f != nil {
			return f
		}
		rhs := c.value(x.rhs)
		return func(m *machine) value {
			v := rhs(m)
			*r(m) = v
			return v
		}
	}
	rhs := c.value(x.rhs)
	if f, ok := x.lhs.(*fieldNode); ok {
		n, pos := c.fieldNumber(f), f.pos
		return func(m *machine) value {
			i := n(m)
			v := rhs(m)
			m.setField(i, v, pos)
			return v
		}
	}
	set := c.setter(x.lhs)
	return func(m *machine) value {
		v := rhs(m)
		set(m, v)
		return v
	}
}

// appending compiles x = x ..., which needs no copy of a long x; nil for other assignments.
func (c *compiler) appending(x *assignNode, r refCode) valueCode {
	b, ok := x.rhs.(*binaryNode)
	if !ok || b.op != " " {
		return nil
	}
	var rest []textCode
	var first node = b
	for {
		j, ok := first.(*binaryNode)
		if !ok || j.op != " " {
			break
		}
		rest = append(rest, c.text(j.y))
		first = j.x
	}
	lhs, ok := x.lhs.(*nameNode)
	old, ok2 := first.(*nameNode)
	if !ok || !ok2 || lhs.sym != old.sym {
		return nil
	}
	parts := make([]textCode, 0, len(rest))
	for i := range rest {
		parts = append(parts, rest[len(rest)-1-i])
	}
	more := parts[0]
	if len(parts) > 1 {
		more = joinTexts(parts)
	}
	return func(m *machine) value {
		before := m.text(r(m), m.convfmt)
		v := textValue(m.appendText(before, more(m)))
		*r(m) = v
		return v
	}
}
