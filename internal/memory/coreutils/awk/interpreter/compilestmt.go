package interpreter

import "bufio"

func (c *compiler) statements(list []statement) stmtCode {
	var out []stmtCode
	for _, s := range list {
		out = append(out, c.statement(s))
	}
	if s := sequence(out); s != nil {
		return s
	}
	return doNothing
}

func (c *compiler) statement(s statement) stmtCode {
	switch s := s.(type) {
	case nil:
		return doNothing
	case *exprStmt:
		return c.effect(s.x)
	case *printStmt:
		if s.printf {
			return c.printf(s)
		}
		return c.print(s)
	case *blockStmt:
		return c.statements(s.list)
	case *ifStmt:
		return c.ifElse(s)
	case *whileStmt:
		return c.while(s)
	case *forStmt:
		return c.forLoop(s)
	case *forInStmt:
		return c.forIn(s)
	case *switchStmt:
		return c.choose(s)
	case *jumpStmt:
		return c.jump(s)
	case *exitStmt:
		return c.exit(s)
	case *returnStmt:
		if s.x == nil {
			return func(m *machine) ctl { m.ret = value{}; return ctlReturn }
		}
		f := c.value(s.x)
		return func(m *machine) ctl {
			m.ret = f(m)
			return ctlReturn
		}
	case *deleteStmt:
		return c.remove(s)
	}
	return doNothing
}

// effect compiles an expression for its effect; the value is dropped.
func (c *compiler) effect(x node) stmtCode {
	switch t := ungroup(x).(type) {
	case *assignNode, *callNode:
		if typeOf(x) != typeNumber {
			f := c.value(x)
			return func(m *machine) ctl { f(m); return ctlGo }
		}
	case *builtinNode:
		if typeOf(x) == typeText {
			f := c.text(t)
			return func(m *machine) ctl { f(m); return ctlGo }
		}
	}
	if typeOf(x) == typeNumber {
		f := c.num(x)
		return func(m *machine) ctl { f(m); return ctlGo }
	}
	f := c.value(x)
	return func(m *machine) ctl { f(m); return ctlGo }
}

func (c *compiler) ifElse(s *ifStmt) stmtCode {
	cond, yes := c.cond(s.cond), c.statement(s.yes)
	if s.no == nil {
		return func(m *machine) ctl {
			if cond(m) {
				return yes(m)
			}
			return ctlGo
		}
	}
	no := c.statement(s.no)
	return func(m *machine) ctl {
		if cond(m) {
			return yes(m)
		}
		return no(m)
	}
}

func (c *compiler) while(s *whileStmt) stmtCode {
	cond, body, post := c.cond(s.cond), c.statement(s.body), s.post
	return func(m *machine) ctl {
		for post || cond(m) {
			m.spend(1)
			switch r := body(m); r {
			case ctlGo, ctlContinue:
			case ctlBreak:
				return ctlGo
			default:
				return r
			}
			if post && !cond(m) {
				break
			}
		}
		return ctlGo
	}
}

func (c *compiler) forLoop(s *forStmt) stmtCode {
	init, step, body := c.statement(s.init), c.statement(s.step), c.statement(s.body)
	cond := func(*machine) bool { return true }
	if s.cond != nil {
		cond = c.cond(s.cond)
	}
	return func(m *machine) ctl {
		for init(m); cond(m); step(m) {
			m.spend(1)
			switch r := body(m); r {
			case ctlGo, ctlContinue:
			case ctlBreak:
				return ctlGo
			default:
				return r
			}
		}
		return ctlGo
	}
}

func (c *compiler) forIn(s *forInStmt) stmtCode {
	set, a, body := c.setter(s.v), c.array(s.array), c.statement(s.body)
	return func(m *machine) ctl {
		arr := a(m)
		m.grow(arr.live * 8)
		for _, e := range m.inOrder(arr) {
			m.spend(1)
			set(m, inputValue(e.key))
			switch r := body(m); r {
			case ctlGo, ctlContinue:
			case ctlBreak:
				return ctlGo
			default:
				return r
			}
		}
		return ctlGo
	}
}

func (c *compiler) choose(s *switchStmt) stmtCode {
	x := c.value(s.x)
	tests := make([]func(m *machine, v *value) bool, len(s.cases))
	bodies := make([]stmtCode, len(s.cases))
	other := len(s.cases)
	for i, k := range s.cases {
		bodies[i] = c.statements(k.body)
		switch v := k.value.(type) {
		case nil:
			other = i
		case *regexNode:
			rx := c.constRegex(v)
			tests[i] = func(m *machine, v *value) bool { return m.find(rx(m), m.text(v, m.convfmt), 0, nil) }
		case *numberNode:
			tests[i] = func(_ *machine, x *value) bool { f, ok := x.numeric(); return ok && f == v.v && x.k != unset }
		case *textNode:
			tests[i] = func(_ *machine, x *value) bool { return x.k != number && x.s == v.s }
		}
	}
	return func(m *machine) ctl {
		v := x(m)
		at := other
		for i, t := range tests {
			if t != nil && t(m, &v) {
				at = i
				break
			}
		}
		for ; at < len(bodies); at++ {
			switch r := bodies[at](m); r {
			case ctlGo:
			case ctlBreak:
				return ctlGo
			default:
				return r
			}
		}
		return ctlGo
	}
}

func (c *compiler) jump(s *jumpStmt) stmtCode {
	to := s.to
	if c.fn != nil && (to == ctlNext || to == ctlNextFile) {
		c.code.leaves = true
		pos := s.pos
		return func(m *machine) ctl {
			if m.main == nil {
				m.fatalAt(pos, "fatal: `next' cannot be called from a BEGIN rule")
			}
			panic(&unwind{to})
		}
	}
	return func(*machine) ctl { return to }
}

func (c *compiler) exit(s *exitStmt) stmtCode {
	var status numCode
	if s.x != nil {
		status = c.num(s.x)
	}
	inside := c.fn != nil
	if inside {
		c.code.leaves = true
	}
	return func(m *machine) ctl {
		if status != nil {
			m.status = int(clampInt(status(m))) & 0xff
		}
		if inside {
			panic(&unwind{ctlExit})
		}
		return ctlExit
	}
}

func (c *compiler) remove(s *deleteStmt) stmtCode {
	a := c.array(s.array)
	if s.subs == nil {
		return func(m *machine) ctl { a(m).clear(); return ctlGo }
	}
	key := c.keys(s.subs)
	return func(m *machine) ctl {
		arr := a(m)
		arr.remove(string(key(m)))
		return ctlGo
	}
}

// destination compiles where a print goes.
func (c *compiler) destination(s *printStmt) func(m *machine) *writer {
	if s.kind == 0 {
		return nil
	}
	name, kind, pos := c.text(s.dest), s.kind, s.pos
	return func(m *machine) *writer { return m.output(kind, name(m), pos) }
}

func (c *compiler) print(s *printStmt) stmtCode {
	dest, pos := c.destination(s), s.pos
	args := make([]valueCode, len(s.args))
	for i, a := range s.args {
		args[i] = c.value(a)
	}
	if len(args) == 0 {
		args = []valueCode{func(m *machine) value { return value{s: m.recordText(), k: input} }}
	}
	return func(m *machine) ctl {
		if len(args) == 1 && dest == nil {
			v := args[0](m)
			w := m.out
			m.printValue(w, &v)
			if _, err := w.WriteString(m.ors); err != nil {
				m.outFailed(err)
			}
			return ctlGo
		}
		var few [8]value
		list := few[:0]
		for _, a := range args {
			list = append(list, a(m))
		}
		w, to := m.out, (*writer)(nil)
		if dest != nil {
			to = dest(m)
			w = to.w
		}
		for i := range list {
			if i > 0 {
				_, _ = w.WriteString(m.ofs)
			}
			m.printValue(w, &list[i])
		}
		_, err := w.WriteString(m.ors)
		if to != nil {
			m.wrote(to, err, pos)
		} else if err != nil {
			m.outFailed(err)
		}
		return ctlGo
	}
}

// printValue writes a value as print does.
func (m *machine) printValue(w *bufio.Writer, v *value) {
	if v.k == number {
		m.buf = m.appendNumber(m.buf[:0], v.n, m.ofmt)
		_, _ = w.Write(m.buf)
		return
	}
	if len(v.s) > 4096 {
		m.spend(len(v.s) >> 6)
	}
	_, _ = w.WriteString(v.s)
}

func (c *compiler) printf(s *printStmt) stmtCode {
	dest, pos := c.destination(s), s.pos
	format := c.formatted(s.args, pos)
	return func(m *machine) ctl {
		text := format(m)
		if dest == nil {
			if _, err := m.out.WriteString(text); err != nil {
				m.outFailed(err)
			}
			return ctlGo
		}
		w := dest(m)
		_, err := w.w.WriteString(text)
		m.wrote(w, err, pos)
		return ctlGo
	}
}
