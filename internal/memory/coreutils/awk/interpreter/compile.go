package interpreter

import "errors"

// The kinds of code: an expression is compiled to one for the type that its user needs.
type (
	numCode   func(m *machine) float64
	textCode  func(m *machine) string
	valueCode func(m *machine) value
	condCode  func(m *machine) bool
	stmtCode  func(m *machine) ctl
	refCode   func(m *machine) *value
	arrayCode func(m *machine) *array
)

// code is a compiled program.
type code struct {
	begin, main, end, beginFile, endFile stmtCode

	reads           bool // the input is read
	leaves          bool // functions may leave a rule
	scalars, arrays int
}

// compiler makes code of a tree. Its methods panic with a *syntaxError.
type compiler struct {
	m    *machine
	prog *program
	fn   *function
	code *code
}

func compile(m *machine) (out *code, err error) {
	c := &compiler{m: m, prog: m.prog, code: &code{scalars: int(ownSlots), arrays: ownArrays}}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *syntaxError:
			err = r
		default:
			panic(r)
		}
	}()
	c.slots()
	for _, f := range c.prog.order {
		c.fn = f
		f.code = c.statement(f.body)
	}
	c.fn = nil
	c.rules()
	return c.code, nil
}

// slots numbers the global variables.
func (c *compiler) slots() {
	for i, name := range ownArrayNames {
		c.prog.globals[name].slot = i
	}
	for _, s := range c.prog.globals {
		if s.slot >= 0 {
			continue
		}
		if s.isArr {
			s.slot = c.code.arrays
			c.code.arrays++
		} else {
			s.slot = c.code.scalars
			c.code.scalars++
		}
	}
}

func (c *compiler) rules() {
	lists := map[string][]stmtCode{}
	for _, r := range c.prog.rules {
		var s stmtCode
		if r.kind == "" {
			c.code.reads = true
			s = c.rule(r)
		} else {
			s = c.statement(r.body)
		}
		lists[r.kind] = append(lists[r.kind], s)
	}
	if len(lists["END"]) > 0 || len(lists["BEGINFILE"]) > 0 || len(lists["ENDFILE"]) > 0 {
		c.code.reads = true
	}
	c.code.begin, c.code.main, c.code.end = sequence(lists["BEGIN"]), sequence(lists[""]), sequence(lists["END"])
	c.code.beginFile, c.code.endFile = sequence(lists["BEGINFILE"]), sequence(lists["ENDFILE"])
}

func (c *compiler) rule(r *rule) stmtCode {
	var body stmtCode
	if r.noAction {
		body = c.print(&printStmt{})
	} else {
		body = c.statement(r.body)
	}
	switch {
	case r.from == nil:
		return body
	case r.to == nil:
		cond := c.cond(r.from)
		return func(m *machine) ctl {
			if cond(m) {
				return body(m)
			}
			return ctlGo
		}
	}
	from, to, inside := c.cond(r.from), c.cond(r.to), false
	return func(m *machine) ctl {
		if !inside && !from(m) {
			return ctlGo
		}
		inside = !to(m)
		return body(m)
	}
}

// sequence runs statements one after another; nil for none.
func sequence(list []stmtCode) stmtCode {
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	case 2:
		a, b := list[0], list[1]
		return func(m *machine) ctl {
			if c := a(m); c != ctlGo {
				return c
			}
			return b(m)
		}
	}
	return func(m *machine) ctl {
		for _, s := range list {
			if c := s(m); c != ctlGo {
				return c
			}
		}
		return ctlGo
	}
}

func doNothing(*machine) ctl { return ctlGo }

func (c *compiler) fail(pos int, text string) { panic(&syntaxError{pos: pos, text: text, bare: true}) }

// constRegex compiles a regular expression literal. The matcher is made again when IGNORECASE changes.
func (c *compiler) constRegex(x *regexNode) func(m *machine) *matcher {
	exact, err := c.m.regexes.compile(c.m, x.src, false)
	if err != nil {
		c.fail(x.pos, "error: "+err.Error()+": /"+x.src+"/")
	}
	return func(m *machine) *matcher {
		if m.ignoreCase {
			return m.regexes.of(m, x.src)
		}
		return exact
	}
}

// regex compiles an expression that is used as a regular expression.
func (c *compiler) regex(x node) func(m *machine) *matcher {
	if r, ok := ungroup(x).(*regexNode); ok {
		return c.constRegex(r)
	}
	if t, ok := ungroup(x).(*textNode); ok {
		if _, err := c.m.regexes.compile(c.m, t.s, false); err != nil {
			return func(m *machine) *matcher { return m.regexes.of(m, t.s) }
		}
		return c.constRegex(&regexNode{src: t.s})
	}
	src := c.text(x)
	var last *matcher
	var lastFold bool
	return func(m *machine) *matcher {
		s := src(m)
		if last == nil || last.src != s || lastFold != m.ignoreCase {
			last, lastFold = m.regexes.of(m, s), m.ignoreCase
		}
		return last
	}
}

func ungroup(x node) node {
	for { // bounded: the parser bounds the depth of the tree
		g, ok := x.(*groupNode)
		if !ok {
			return x
		}
		x = g.x
	}
}

// array compiles a reference to an array.
func (c *compiler) array(x node) arrayCode {
	switch x := ungroup(x).(type) {
	case *nameNode:
		if !x.sym.isArr {
			c.misuse(x)
		}
		slot := x.sym.slot
		if x.sym.local {
			return func(m *machine) *array { return m.arrs[m.ap+slot] }
		}
		return func(m *machine) *array { return m.garrays[slot] }
	case *indexNode:
		outer, key := c.array(x.array), c.keys(x.subs)
		return func(m *machine) *array {
			a := outer(m)
			e := m.at(a, key(m))
			if e.sub == nil {
				e.sub = newArray()
			}
			return e.sub
		}
	}
	panic(errors.New("awk: no array"))
}

func (c *compiler) misuse(x *nameNode) {
	p := &parser{}
	p.misuse(x)
}

// keys compiles subscripts to the key they make, which is valid up to the next one.
func (c *compiler) keys(subs []node) func(m *machine) []byte {
	if len(subs) == 1 {
		return c.key(subs[0])
	}
	parts := make([]valueCode, len(subs))
	for i, s := range subs {
		parts[i] = c.value(s)
	}
	return func(m *machine) []byte {
		var few [4]value
		list := few[:0]
		for _, p := range parts {
			list = append(list, p(m))
		}
		b := m.key[:0]
		for i := range list {
			if i > 0 {
				b = append(b, m.subsep...)
			}
			b = m.appendKey(b, &list[i])
		}
		m.key = b
		return b
	}
}

func (c *compiler) key(x node) func(m *machine) []byte {
	x = ungroup(x)
	if t, ok := x.(*textNode); ok {
		b := []byte(t.s)
		return func(*machine) []byte { return b }
	}
	switch typeOf(x) {
	case typeNumber:
		f := c.num(x)
		return func(m *machine) []byte {
			n := f(m)
			m.key = m.appendNumberKey(m.key[:0], n)
			return m.key
		}
	case typeText:
		f := c.text(x)
		return func(m *machine) []byte { return bytesOf(f(m)) }
	case typeUnknown:
	}
	if f, ok := x.(*fieldNode); ok {
		if n, ok := f.n.(*numberNode); ok {
			i := fieldIndex(n.v)
			return func(m *machine) []byte { return bytesOf(m.fieldText(i)) }
		}
	}
	f := c.value(x)
	return func(m *machine) []byte {
		v := f(m)
		if v.k == number {
			m.key = m.appendNumberKey(m.key[:0], v.n)
			return m.key
		}
		return bytesOf(v.s)
	}
}

// fieldIndex returns the number of a constant field; -1 for other expressions.
func fieldIndex(f float64) int {
	if f < 0 || f > maxField {
		return -1
	}
	return int(f)
}

// typ is the static type of an expression.
type typ uint8

const (
	typeUnknown typ = iota
	typeNumber
	typeText
)

func typeOf(x node) typ {
	switch x := ungroup(x).(type) {
	case *numberNode, *unaryNode, *stepNode, *matchNode, *inNode, *regexNode, *getlineNode:
		return typeNumber
	case *textNode:
		return typeText
	case *binaryNode:
		if x.op == " " {
			return typeText
		}
		return typeNumber
	case *assignNode:
		if x.op != "" {
			return typeNumber
		}
		return typeOf(x.rhs)
	case *condNode:
		if t := typeOf(x.yes); t == typeOf(x.no) {
			return t
		}
	case *builtinNode:
		switch x.name {
		case "substr", "sprintf", "tolower", "toupper", "gensub", "strftime", "typeof":
			return typeText
		}
		return typeNumber
	}
	return typeUnknown
}
