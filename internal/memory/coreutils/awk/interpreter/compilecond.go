package interpreter

// isCond reports whether the value of an expression is always a truth value.
func isCond(x node) bool {
	switch x := x.(type) {
	case *matchNode, *inNode, *regexNode:
		return true
	case *unaryNode:
		return x.op == "!"
	case *binaryNode:
		switch x.op {
		case "&&", "||", "<", "<=", "==", "!=", ">", ">=":
			return true
		}
	}
	return false
}

// cond compiles an expression to code that returns its truth.
func (c *compiler) cond(x node) condCode {
	x = ungroup(x)
	switch x := x.(type) {
	case *regexNode:
		rx := c.constRegex(x)
		return func(m *machine) bool { return m.find(rx(m), m.recordText(), 0, nil) }
	case *matchNode:
		return c.match(x)
	case *unaryNode:
		if x.op == "!" {
			f := c.cond(x.x)
			return func(m *machine) bool { return !f(m) }
		}
	case *binaryNode:
		switch x.op {
		case "&&":
			a, b := c.cond(x.x), c.cond(x.y)
			return func(m *machine) bool { return a(m) && b(m) }
		case "||":
			a, b := c.cond(x.x), c.cond(x.y)
			return func(m *machine) bool { return a(m) || b(m) }
		case "<", "<=", "==", "!=", ">", ">=":
			return c.comparison(x)
		}
	case *inNode:
		a, key := c.array(x.array), c.keys(x.subs)
		return func(m *machine) bool {
			arr := a(m)
			ok := findKey(arr, key(m)) != nil
			return ok
		}
	}
	switch typeOf(x) {
	case typeNumber:
		f := c.num(x)
		return func(m *machine) bool { return f(m) != 0 }
	case typeText:
		f := c.text(x)
		return func(m *machine) bool { return f(m) != "" }
	case typeUnknown:
	}
	f := c.value(x)
	return func(m *machine) bool {
		v := f(m)
		return v.truth()
	}
}

func (c *compiler) match(x *matchNode) condCode {
	s, rx, neg := c.text(x.x), c.regex(x.y), x.neg
	return func(m *machine) bool {
		t := s(m)
		return m.find(rx(m), t, 0, nil) != neg
	}
}

// relation returns the orders of its sides for which an operator is true: bits for below, equal
// and above.
func relation(op string) uint {
	switch op {
	case "<":
		return 1
	case "<=":
		return 1 | 2
	case "==":
		return 2
	case "!=":
		return 1 | 4
	case ">":
		return 4
	}
	return 2 | 4
}

func (c *compiler) comparison(x *binaryNode) condCode {
	tx, ty := typeOf(x.x), typeOf(x.y)
	switch {
	case tx == typeNumber && ty == typeNumber:
		return numComparison(x.op, c.num(x.x), c.num(x.y))
	case tx == typeText || ty == typeText:
		return c.textComparison(x)
	case ty == typeNumber:
		return c.comparisonWithNumber(x.op, c.value(x.x), c.num(x.y))
	}
	a, b, want := c.value(x.x), c.value(x.y), relation(x.op)
	return func(m *machine) bool {
		l := a(m)
		r := b(m)
		return want>>uint(m.compare(&l, &r)+1)&1 != 0
	}
}

func numComparison(op string, a, b numCode) condCode {
	switch op {
	case "<":
		return func(m *machine) bool { return a(m) < b(m) }
	case "<=":
		return func(m *machine) bool { return a(m) <= b(m) }
	case "==":
		return func(m *machine) bool { return a(m) == b(m) }
	case "!=":
		return func(m *machine) bool { return a(m) != b(m) }
	case ">":
		return func(m *machine) bool { return a(m) > b(m) }
	}
	return func(m *machine) bool { return a(m) >= b(m) }
}

func (c *compiler) textComparison(x *binaryNode) condCode {
	a, b := c.text(x.x), c.text(x.y)
	switch x.op {
	case "==":
		return func(m *machine) bool { l := a(m); return m.same(l, b(m)) }
	case "!=":
		return func(m *machine) bool { l := a(m); return !m.same(l, b(m)) }
	}
	want := relation(x.op)
	return func(m *machine) bool {
		l := a(m)
		return want>>uint(m.order(l, b(m))+1)&1 != 0
	}
}

func (c *compiler) comparisonWithNumber(op string, a valueCode, b numCode) condCode {
	want := relation(op)
	return func(m *machine) bool {
		l := a(m)
		r := b(m)
		if f, ok := l.numeric(); ok {
			return want>>uint(compareNumbers(f, r)+1)&1 != 0
		}
		return want>>uint(m.order(l.s, m.numberText(r, m.convfmt))+1)&1 != 0
	}
}

func (m *machine) same(a, b string) bool {
	if m.ignoreCase {
		return m.order(a, b) == 0
	}
	return a == b
}
