package pattern

import "strings"

// Meter limits the work and memory of a match.
type Meter interface {
	// Spend takes n units of work. False: give up.
	Spend(n int) bool
	// HasRoom reports whether a result of n bytes may be made. False: give up.
	HasRoom(n int) bool
	// TooComplex is called before a match gives up that would take too much stack.
	TooComplex(source string)
}

// matcher is one match. After stopped is set its results mean nothing.
type matcher struct {
	meter   Meter
	owed    int // units of work that the meter has not seen
	depth   int // trials inside each other
	stopped bool
}

// workBatch is the number of units of work that a match collects before it asks the meter.
const workBatch = 64

// spend takes n units of work. False: give up.
func (m *matcher) spend(n int) bool {
	m.owed += n
	return m.owed < workBatch && !m.stopped || m.settle()
}

// settle passes the work on to the meter.
func (m *matcher) settle() bool {
	if m.owed > 0 && !m.stopped && !m.meter.Spend(m.owed) {
		m.stopped = true
	}
	m.owed = 0
	return !m.stopped
}

// hasRoom is that of the meter.
func (m *matcher) hasRoom(n int) bool {
	if !m.stopped && !m.meter.HasRoom(n) {
		m.stopped = true
	}
	return !m.stopped
}

// Match reports whether the pattern matches all of s. When the meter ends the match the answer means nothing.
func (p *Pattern) Match(meter Meter, s string) bool {
	if p.isLit {
		return s == p.lit
	}
	m := matcher{meter: meter}
	ok := p.match(&m, s)
	m.settle()
	return ok
}

// match reports whether the pattern matches all of s.
func (p *Pattern) match(m *matcher, s string) bool {
	switch {
	case p.isLit:
		return s == p.lit
	case p.ext:
		return p.matchExt(m, 0, s)
	}
	return p.matchStars(m, s)
}

// matchStars matches without extended patterns: only the last star can have to give up characters.
func (p *Pattern) matchStars(m *matcher, s string) bool {
	i, star, mark := 0, -1, 0
	for pos := 0; ; {
		switch {
		case i < len(p.nodes) && p.nodes[i].kind == nodeStar:
			star, mark = i, pos
			i++
			continue
		case pos == len(s):
			return i == len(p.nodes)
		case i < len(p.nodes):
			if r, n := p.decode(s[pos:]); p.nodes[i].matchesOne(r, p.fold) {
				i++
				pos += n
				continue
			}
		}
		if star < 0 {
			return false
		}
		if star == len(p.nodes)-1 {
			return true
		}
		if !m.spend((pos-mark)>>6 + 1) {
			return false
		}
		_, n := p.decode(s[mark:])
		mark += n
		pos, i = mark, star+1
	}
}

// matchExt matches by trying: nodes from i on against all of s.
func (p *Pattern) matchExt(m *matcher, i int, s string) bool {
	if m.depth > maxTries {
		if !m.stopped {
			m.meter.TooComplex(p.source)
		}
		m.stopped = true
		return false
	}
	m.depth++
	ok := p.tryExt(m, i, s)
	m.depth--
	return ok
}

// maxTries bounds the nested trials of a match, which take stack. A group that matches a character at a time takes
// two for each.
const maxTries = 20_000

func (p *Pattern) tryExt(m *matcher, i int, s string) bool {
	for ; i < len(p.nodes); i++ {
		if !m.spend(1) {
			return false
		}
		n := &p.nodes[i]
		switch n.kind {
		case nodeStar:
			if i == len(p.nodes)-1 {
				return true
			}
			for pos := 0; ; {
				if p.matchExt(m, i+1, s[pos:]) {
					return true
				}
				if pos == len(s) || m.stopped {
					return false
				}
				_, w := p.decode(s[pos:])
				pos += w
			}
		case nodeExt:
			return p.matchGroup(m, i, s)
		default:
			if s == "" {
				return false
			}
			r, w := p.decode(s)
			if !n.matchesOne(r, p.fold) {
				return false
			}
			s = s[w:]
		}
	}
	return s == ""
}

// matchGroup matches the extended pattern at node i, and what follows, against s.
func (p *Pattern) matchGroup(m *matcher, i int, s string) bool {
	n := &p.nodes[i]
	if (n.op == '*' || n.op == '+') && n.isSingle() {
		return p.matchRun(m, i, s)
	}
	if (n.op == '?' || n.op == '*') && p.matchExt(m, i+1, s) {
		return true
	}
	for pos := 0; ; {
		head, tail := s[:pos], s[pos:]
		one := false
		for _, a := range n.alts {
			if a.match(m, head) {
				one = true
				break
			}
		}
		if m.stopped {
			return false
		}
		switch {
		case n.op == '!':
			if !one && p.matchExt(m, i+1, tail) {
				return true
			}
		case one:
			if p.matchExt(m, i+1, tail) {
				return true
			}
			// Once more, unless that would go on forever.
			if (n.op == '*' || n.op == '+') && pos > 0 && p.matchGroup(m, i, tail) {
				return true
			}
		}
		if pos == len(s) {
			return false
		}
		_, w := p.decode(tail)
		pos += w
	}
}

// isSingle reports whether each alternative of a group takes exactly one character.
func (n *node) isSingle() bool {
	for _, a := range n.alts {
		if len(a.nodes) != 1 || a.nodes[0].kind == nodeStar || a.nodes[0].kind == nodeExt {
			return false
		}
	}
	return true
}

// matchRun is matchGroup for any number of single characters, which needs no trial for each.
func (p *Pattern) matchRun(m *matcher, i int, s string) bool {
	n := &p.nodes[i]
	if n.op == '*' && p.matchExt(m, i+1, s) {
		return true
	}
	for pos := 0; pos < len(s) && m.spend(1); {
		r, w := p.decode(s[pos:])
		one := false
		for _, a := range n.alts {
			one = one || a.nodes[0].matchesOne(r, a.fold)
		}
		if !one {
			return false
		}
		if pos += w; p.matchExt(m, i+1, s[pos:]) {
			return true
		}
	}
	return false
}

// Prefix returns the length of the shortest or longest beginning of s that matches, 0 for none.
func (p *Pattern) Prefix(meter Meter, s string, longest bool) int {
	if p.isLit {
		if strings.HasPrefix(s, p.lit) {
			return len(p.lit)
		}
		return 0
	}
	if n := p.starLit(); n != "" && !p.fold { // "*x": what ends at the first or last x
		i := strings.Index(s, n)
		if longest {
			i = strings.LastIndex(s, n)
		}
		if i < 0 {
			return 0
		}
		return i + len(n)
	}
	m := matcher{meter: meter}
	n, ok := p.matchFrom(&m, s, longest)
	m.settle()
	if !ok {
		return 0
	}
	return n
}

// starLit returns x of a pattern "*x", "" for other patterns.
func (p *Pattern) starLit() string {
	if len(p.nodes) < 2 || p.nodes[0].kind != nodeStar {
		return ""
	}
	for _, n := range p.nodes[1:] {
		if n.kind != nodeLit {
			return ""
		}
	}
	return p.lit
}

// litStar returns x of a pattern "x*".
func (p *Pattern) litStar() string {
	k := len(p.nodes) - 1
	if k < 1 || p.nodes[k].kind != nodeStar {
		return ""
	}
	for _, n := range p.nodes[:k] {
		if n.kind != nodeLit {
			return ""
		}
	}
	return p.lit
}

// matchFrom returns how much of the beginning of s matches.
func (p *Pattern) matchFrom(m *matcher, s string, longest bool) (int, bool) {
	if p.ext || len(p.nodes) > 62 {
		return p.tryPrefixes(m, s, longest)
	}
	best := -1
	state := p.closure(1)
	final := uint64(1) << len(p.nodes)
	if state&final != 0 {
		if !longest {
			return 0, true
		}
		best = 0
	}
	if !m.spend(len(s) >> 6) {
		return 0, false
	}
	for pos := 0; pos < len(s) && state != 0; {
		r, w := p.decode(s[pos:])
		pos += w
		if pos&0xfff == 0 && !m.spend(len(p.nodes)<<4) {
			return 0, false
		}
		if state = p.step(state, r); state&final != 0 {
			if !longest {
				return pos, true
			}
			best = pos
			if p.nodes[len(p.nodes)-1].kind == nodeStar {
				return len(s), true
			}
		}
	}
	return best, best >= 0
}

// closure adds the states that stars lead to without a character.
func (p *Pattern) closure(state uint64) uint64 {
	for i := range p.nodes {
		if state&(1<<i) != 0 && p.nodes[i].kind == nodeStar {
			state |= 1 << (i + 1)
		}
	}
	return state
}

// step returns the states after a character.
func (p *Pattern) step(state uint64, r rune) uint64 {
	var next uint64
	for i := range p.nodes {
		if state&(1<<i) == 0 {
			continue
		}
		n := &p.nodes[i]
		if n.kind == nodeStar {
			next |= 1 << i
		} else if n.matchesOne(r, p.fold) {
			next |= 1 << (i + 1)
		}
	}
	return p.closure(next)
}

// tryPrefixes tries each beginning of s.
func (p *Pattern) tryPrefixes(m *matcher, s string, longest bool) (int, bool) {
	if longest {
		for n := len(s); ; {
			if p.match(m, s[:n]) {
				return n, true
			}
			if n == 0 || !m.spend(1) {
				return 0, false
			}
			w := p.lastWidth(s[:n])
			n -= w
		}
	}
	for n := 0; ; {
		if p.match(m, s[:n]) {
			return n, true
		}
		if n == len(s) || !m.spend(1) {
			return 0, false
		}
		_, w := p.decode(s[n:])
		n += w
	}
}

// Suffix returns where the shortest or longest end of s that matches begins, len(s) for none.
func (p *Pattern) Suffix(meter Meter, s string, longest bool) int {
	m := matcher{meter: meter}
	n := p.suffix(&m, s, longest)
	m.settle()
	return n
}

func (p *Pattern) suffix(m *matcher, s string, longest bool) int {
	if p.isLit {
		if strings.HasSuffix(s, p.lit) {
			return len(s) - len(p.lit)
		}
		return len(s)
	}
	if n := p.litStar(); n != "" && !p.fold {
		i := strings.LastIndex(s, n)
		if longest {
			i = strings.Index(s, n)
		}
		if i < 0 {
			return len(s)
		}
		return i
	}
	best := len(s)
	for n := len(s); ; {
		if p.match(m, s[n:]) {
			if !longest {
				return n
			}
			best = n
		}
		if n == 0 || !m.spend((len(s)-n)>>6) {
			return best
		}
		w := p.lastWidth(s[:n])
		n -= w
	}
}

// Replacement says which matches Replace replaces, and with which text.
type Replacement struct {
	Anchor byte     // '#', '%': only a match at the beginning or end; 0: anywhere
	All    bool     // each match, not only the first
	Pieces []string // not empty; the matched text goes between two pieces
}

// Replace returns s with its matches replaced. When the meter ends the match the text means nothing.
func (p *Pattern) Replace(meter Meter, s string, r Replacement) string {
	m := matcher{meter: meter}
	s = p.replace(&m, s, r)
	m.settle()
	return s
}

func (p *Pattern) replace(m *matcher, s string, r Replacement) string {
	var b strings.Builder
	put := func(match string) bool {
		n := len(match) * (len(r.Pieces) - 1)
		for _, piece := range r.Pieces {
			n += len(piece)
		}
		if b.Len()+n > max(b.Cap(), 1<<12) { // Its double is what the buffer grows to.
			if !m.hasRoom(2*(b.Len()+n)) || !m.spend(1) {
				return false
			}
			b.Grow(b.Len() + n)
		}
		for i, piece := range r.Pieces {
			if i > 0 {
				b.WriteString(match)
			}
			b.WriteString(piece)
		}
		return true
	}
	switch r.Anchor {
	case '#':
		if s == "" && p.source != "" && p.source[0] != '*' {
			return s
		}
		n, ok := p.matchFrom(m, s, true)
		if !ok {
			return s
		}
		if !put(s[:n]) {
			return ""
		}
		return b.String() + s[n:]
	case '%':
		n := p.suffix(m, s, true)
		if n == len(s) && !p.match(m, "") {
			return s
		}
		if !put(s[n:]) {
			return ""
		}
		return s[:n] + b.String()
	}
	if s == "" {
		if strings.HasPrefix(p.source, "*") && p.match(m, "") { // bash tries no other pattern
			put("")
		}
		return b.String()
	}
	if p.odd && p.hasFixedLength() {
		return s
	}
	for pos := 0; pos < len(s); {
		start, n := p.find(m, s, pos)
		if start < 0 || m.stopped {
			b.WriteString(s[pos:])
			break
		}
		b.WriteString(s[pos:start])
		if !put(s[start : start+n]) {
			return ""
		}
		pos = start + n
		if n == 0 && r.All { // The character behind an empty match is not part of the next.
			_, w := p.decode(s[start:])
			b.WriteString(s[start : start+w])
			pos += w
		}
		if !r.All {
			b.WriteString(s[pos:])
			break
		}
	}
	return b.String()
}

// find returns the first longest match from pos on; -1 for none.
func (p *Pattern) find(m *matcher, s string, pos int) (start, n int) {
	if p.isLit {
		i := strings.Index(s[pos:], p.lit)
		if i < 0 {
			return -1, 0
		}
		return pos + i, len(p.lit)
	}
	for pos < len(s) {
		if n, ok := p.matchFrom(m, s[pos:], true); ok {
			return pos, n
		}
		if !m.spend(1) {
			break
		}
		_, w := p.decode(s[pos:])
		pos += w
	}
	return -1, 0
}

// hasFixedLength reports whether all that the pattern matches is of the same length.
func (p *Pattern) hasFixedLength() bool {
	for _, n := range p.nodes {
		if n.kind == nodeStar || n.kind == nodeExt {
			return false
		}
	}
	return true
}
