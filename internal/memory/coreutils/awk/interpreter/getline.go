package interpreter

import "github.com/seed434b0696/agent-sandbox/memory/shell"

// readMain is getline without a redirection.
func (m *machine) readMain(set func(m *machine, v value)) float64 {
	if m.over && m.main == nil {
		return 0
	}
	rec, ok := m.nextMain()
	if !ok {
		return 0
	}
	m.deliver(rec, set)
	return 1
}

// readFrom is getline from a file or command; NR does not count it.
func (m *machine) readFrom(r *reader, set func(m *machine, v value)) float64 {
	if r == nil {
		return -1
	}
	rec, end, ok := r.next()
	m.spend(1)
	if !ok {
		if err := r.failed(); err != nil {
			m.globals[slotERRNO] = textValue(shell.Strerror(err))
			return -1
		}
		return 0
	}
	m.globals[slotRT] = value{s: end, k: input}
	m.deliver(rec, set)
	return 1
}

func (m *machine) deliver(rec string, set func(m *machine, v value)) {
	if set == nil {
		m.setRecord(rec)
		return
	}
	set(m, inputValue(rec))
}

func (c *compiler) getline(x *getlineNode) numCode {
	var set func(m *machine, v value)
	if x.target != nil {
		set = c.setter(x.target)
	}
	pos := x.pos
	if x.kind == 0 {
		return func(m *machine) float64 { return m.readMain(set) }
	}
	source := c.text(x.source)
	switch x.kind {
	case '<':
		return func(m *machine) float64 {
			name := source(m)
			if name == "" {
				m.fatalAt(pos, "fatal: expression for `<' redirection has null string value")
			}
			return m.readFrom(m.inputFile(name, pos), set)
		}
	case '|':
		return func(m *machine) float64 { return m.readFrom(m.command(source(m), pos), set) }
	}
	return func(m *machine) float64 {
		p := m.coprocess(source(m), pos)
		if p.w != nil {
			m.flush(p.w)
		}
		return m.readFrom(p.r, set)
	}
}
