package interpreter

import "strings"

func (s *exprStmt) exec(m *machine) flow {
	v := s.x.eval(m)
	if c, ok := s.x.(*callNode); ok {
		if fn := m.funcs[c.name]; fn != nil && fn.void {
			return flowGo
		}
	}
	if s.shown {
		m.show(v)
		m.put("\n")
	}
	return flowGo
}

func (s *textStmt) exec(m *machine) flow {
	m.put(s.s)
	return flowGo
}

func (s *printStmt) exec(m *machine) flow {
	for _, x := range s.list {
		switch x := x.(type) {
		case string:
			m.put(resolveEscapes(x))
		case node:
			m.show(x.eval(m))
		}
	}
	return flowGo
}

// resolveEscapes resolves the escapes of print.
func resolveEscapes(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'a':
			b.WriteByte(7)
		case 'b':
			b.WriteByte(8)
		case 'f':
			b.WriteByte(12)
		case 'n':
			b.WriteByte('\n')
		case 'q':
			b.WriteByte('"')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case '\\':
			b.WriteByte('\\')
		}
	}
	return b.String()
}

func (s *blockStmt) exec(m *machine) flow {
	for _, x := range s.list {
		if f := x.exec(m); f != flowGo {
			return f
		}
	}
	return flowGo
}

func (s *ifStmt) exec(m *machine) flow {
	if !s.cond.eval(m).isZero() {
		return s.yes.exec(m)
	}
	if s.no != nil {
		return s.no.exec(m)
	}
	return flowGo
}

func (s *loopStmt) exec(m *machine) flow {
	if s.init != nil {
		s.init.eval(m)
	}
	for s.cond == nil || !s.cond.eval(m).isZero() {
		m.spend(1)
		switch f := s.body.exec(m); f {
		case flowBreak:
			return flowGo
		case flowReturn:
			return f
		default:
		}
		if s.step != nil {
			s.step.eval(m)
		}
	}
	return flowGo
}

func (s *jumpStmt) exec(*machine) flow { return s.to }

func (s *returnStmt) exec(m *machine) flow {
	m.ret = whole(0)
	if s.x != nil {
		m.ret = s.x.eval(m)
	}
	return flowReturn
}

func (s *haltStmt) exec(*machine) flow { panic(&stop{errHalt}) }

func (s *limitsStmt) exec(m *machine) flow {
	m.put("BC_BASE_MAX     = 2147483647\nBC_DIM_MAX      = 16777215\nBC_SCALE_MAX    = 100000\n" +
		"BC_STRING_MAX   = 16777216\nMAX Exponent    = 2147483647\nNumber of vars  = 32767\n")
	return flowGo
}
