package diff

// sideWriter writes two columns.
type sideWriter struct {
	*diffPair
	half, second int // width of a column; where the second one begins
	next         [2]int
}

// minGutter is the least space between the columns.
const minGutter = 3

func (p *diffPair) writeSide() {
	s := &sideWriter{diffPair: p}
	tab := p.tab
	if p.expandTabs {
		tab = 1
	}
	// The second column begins at a tab, so that tabs in it line up.
	sum := tab + minGutter
	off := p.width>>1 + sum>>1 + p.width&sum&1
	off -= off % tab
	s.half = max(0, min(off-minGutter, p.width-off))
	s.second = off
	if s.half == 0 {
		s.second = p.width
	}
	for _, c := range p.changes {
		if !c.ignore {
			s.change(c)
		}
	}
	s.common(len(p.f[0].lines), len(p.f[1].lines))
}

// common writes lines up to those, which are equal apart from ignored parts.
func (s *sideWriter) common(a, b int) {
	if !s.suppressCommon {
		if !s.leftColumn {
			for s.next[0] < a && s.next[1] < b {
				s.row(s.next[0], ' ', s.next[1])
				s.next[0]++
				s.next[1]++
			}
			for ; s.next[1] < b; s.next[1]++ {
				s.row(-1, ')', s.next[1])
			}
		}
		for ; s.next[0] < a; s.next[0]++ {
			s.row(s.next[0], '(', -1)
		}
	}
	s.next = [2]int{a, b}
}

func (s *sideWriter) change(c diffChange) {
	s.common(c.A, c.B)
	i, j := c.A, c.B
	for i < c.A+c.Del && j < c.B+c.Ins {
		s.row(i, '|', j)
		i++
		j++
	}
	for ; j < c.B+c.Ins; j++ {
		s.row(-1, '>', j)
	}
	for ; i < c.A+c.Del; i++ {
		s.row(i, '<', -1)
	}
	s.next = [2]int{c.A + c.Del, c.B + c.Ins}
}

// row writes a line of each file, -1 for none.
func (s *sideWriter) row(left int, mark byte, right int) {
	if s.out.HasFailed() {
		return
	}
	color := ""
	if s.color {
		color = map[byte]string{'<': diffOld, '>': diffNew}[mark]
	}
	_, _ = s.out.WriteString(color)
	ends := func(k, i int) bool { return !s.f[k].incomplete || i < len(s.f[k].lines)-1 }
	newline := false
	column := 0
	if left >= 0 {
		newline = ends(0, left)
		column = s.text(s.f[0].lines[left], 0)
	}
	if mark != ' ' {
		column = s.tabTo(column, (s.half+s.second-1)/2) + 1
		if mark == '|' && newline != ends(1, right) {
			mark = '\\'
			if newline {
				mark = '/'
			}
		}
		_ = s.out.WriteByte(mark)
	}
	if right >= 0 {
		newline = newline || ends(1, right)
		if s.f[1].lines[right] != "" {
			column = s.tabTo(column, s.second)
			s.text(s.f[1].lines[right], column)
		}
	}
	if newline {
		_ = s.out.WriteByte('\n')
	}
	if color != "" {
		_, _ = s.out.WriteString(diffReset)
	}
}

// tabTo goes on to a column, with tabs where they fit.
func (s *sideWriter) tabTo(from, to int) int {
	if !s.expandTabs {
		for stop := from + s.tab - from%s.tab; stop <= to; stop += s.tab {
			_ = s.out.WriteByte('\t')
			from = stop
		}
	}
	for ; from < to; from++ {
		_ = s.out.WriteByte(' ')
	}
	return to
}

// text writes a line as far as a column goes and returns where it ended.
func (s *sideWriter) text(line string, indent int) int {
	in, out := 0, 0
	for i := range len(line) {
		switch c := line[i]; {
		case c == '\t':
			spaces := s.tab - in%s.tab
			if in == out {
				stop := out + spaces
				if s.expandTabs {
					for stop = min(stop, s.half); out < stop; out++ {
						_ = s.out.WriteByte(' ')
					}
				} else if stop < s.half {
					out = stop
					_ = s.out.WriteByte(c)
				}
			}
			in += spaces
		case c == '\r':
			_ = s.out.WriteByte(c)
			s.tabTo(0, indent)
			in, out = 0, 0
		case c == '\b':
			if in == 0 {
				continue
			}
			if in--; in < s.half {
				if out <= in {
					for ; out < in; out++ {
						_ = s.out.WriteByte(' ')
					}
				} else {
					out = in
					_ = s.out.WriteByte(c)
				}
			}
		case c < ' ' || c > '~':
			if in < s.half {
				_ = s.out.WriteByte(c)
			}
		default:
			if in++; in <= s.half {
				out = in
				_ = s.out.WriteByte(c)
			}
		}
	}
	return out
}
