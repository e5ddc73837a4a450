package shell

import "strings"

// match tells whether the pattern matches all of s.
func (p *pattern) match(sh *interp, s string) bool {
	switch {
	case p.isLit:
		return s == p.lit
	case p.ext:
		return p.matchExt(sh, 0, s)
	}
	return p.matchStars(sh, s)
}

// matchStars matches without extended patterns: only the last star can have to give up characters.
func (p *pattern) matchStars(sh *interp, s string) bool {
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
			if r, n := p.decode(s[pos:]); p.nodes[i].matchOne(r, p.fold) {
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
		if sh.gas -= (pos-mark)>>6 + 1; sh.gas < 0 && !sh.tick() {
			return false
		}
		_, n := p.decode(s[mark:])
		mark += n
		pos, i = mark, star+1
	}
}

// matchExt matches by trying: nodes from i on against all of s.
func (p *pattern) matchExt(sh *interp, i int, s string) bool {
	if sh.patterns > maxPatternTries {
		sh.errorf("%s: pattern too complex", p.source[:min(len(p.source), 64)])
		sh.abort()
		return false
	}
	sh.patterns++
	ok := p.tryExt(sh, i, s)
	sh.patterns--
	return ok
}

// maxPatternTries bounds the trials inside each other of a match, which take stack. What a group
// matches a character at a time takes two for each.
const maxPatternTries = 20_000

func (p *pattern) tryExt(sh *interp, i int, s string) bool {
	for ; i < len(p.nodes); i++ {
		if !sh.tick() {
			return false
		}
		n := &p.nodes[i]
		switch n.kind {
		case nodeStar:
			if i == len(p.nodes)-1 {
				return true
			}
			for pos := 0; ; {
				if p.matchExt(sh, i+1, s[pos:]) {
					return true
				}
				if pos == len(s) || sh.ctl != ctlNone {
					return false
				}
				_, w := p.decode(s[pos:])
				pos += w
			}
		case nodeExt:
			return p.matchGroup(sh, i, s)
		default:
			if s == "" {
				return false
			}
			r, w := p.decode(s)
			if !n.matchOne(r, p.fold) {
				return false
			}
			s = s[w:]
		}
	}
	return s == ""
}

// matchGroup matches the extended pattern at node i, and what follows, against s.
func (p *pattern) matchGroup(sh *interp, i int, s string) bool {
	n := &p.nodes[i]
	if (n.op == '*' || n.op == '+') && n.single() {
		return p.matchRun(sh, i, s)
	}
	if (n.op == '?' || n.op == '*') && p.matchExt(sh, i+1, s) {
		return true
	}
	for pos := 0; ; {
		head, tail := s[:pos], s[pos:]
		one := false
		for _, a := range n.alts {
			if a.match(sh, head) {
				one = true
				break
			}
		}
		if sh.ctl != ctlNone {
			return false
		}
		switch {
		case n.op == '!':
			if !one && p.matchExt(sh, i+1, tail) {
				return true
			}
		case one:
			if p.matchExt(sh, i+1, tail) {
				return true
			}
			// Once more, unless that would go on forever.
			if (n.op == '*' || n.op == '+') && pos > 0 && p.matchGroup(sh, i, tail) {
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

// single tells whether each alternative of a group takes exactly one character.
func (n *patNode) single() bool {
	for _, a := range n.alts {
		if len(a.nodes) != 1 || a.nodes[0].kind == nodeStar || a.nodes[0].kind == nodeExt {
			return false
		}
	}
	return true
}

// matchRun is matchGroup for any number of single characters, which needs no trial for each.
func (p *pattern) matchRun(sh *interp, i int, s string) bool {
	n := &p.nodes[i]
	if n.op == '*' && p.matchExt(sh, i+1, s) {
		return true
	}
	for pos := 0; pos < len(s) && sh.tick(); {
		r, w := p.decode(s[pos:])
		one := false
		for _, a := range n.alts {
			one = one || a.nodes[0].matchOne(r, a.fold)
		}
		if !one {
			return false
		}
		if pos += w; p.matchExt(sh, i+1, s[pos:]) {
			return true
		}
	}
	return false
}

// prefix returns the length of the shortest or longest beginning of s that matches, 0 for none.
func (p *pattern) prefix(sh *interp, s string, longest bool) int {
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
	n, ok := p.matchFrom(sh, s, longest)
	if !ok {
		return 0
	}
	return n
}

// starLit returns x of a pattern "*x", "" for other patterns.
func (p *pattern) starLit() string {
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
func (p *pattern) litStar() string {
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
func (p *pattern) matchFrom(sh *interp, s string, longest bool) (int, bool) {
	if p.ext || len(p.nodes) > 62 {
		return p.tryPrefixes(sh, s, longest)
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
	if !sh.spend(len(s) >> 6) {
		return 0, false
	}
	for pos := 0; pos < len(s) && state != 0; {
		r, w := p.decode(s[pos:])
		pos += w
		if pos&0xfff == 0 && !sh.spend(len(p.nodes)<<4) {
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
func (p *pattern) closure(state uint64) uint64 {
	for i := range p.nodes {
		if state&(1<<i) != 0 && p.nodes[i].kind == nodeStar {
			state |= 1 << (i + 1)
		}
	}
	return state
}

// step returns the states after a character.
func (p *pattern) step(state uint64, r rune) uint64 {
	var next uint64
	for i := range p.nodes {
		if state&(1<<i) == 0 {
			continue
		}
		n := &p.nodes[i]
		if n.kind == nodeStar {
			next |= 1 << i
		} else if n.matchOne(r, p.fold) {
			next |= 1 << (i + 1)
		}
	}
	return p.closure(next)
}

// tryPrefixes tries each beginning of s.
func (p *pattern) tryPrefixes(sh *interp, s string, longest bool) (int, bool) {
	if longest {
		for n := len(s); ; {
			if p.match(sh, s[:n]) {
				return n, true
			}
			if n == 0 || !sh.tick() {
				return 0, false
			}
			w := p.lastWidth(s[:n])
			n -= w
		}
	}
	for n := 0; ; {
		if p.match(sh, s[:n]) {
			return n, true
		}
		if n == len(s) || !sh.tick() {
			return 0, false
		}
		_, w := p.decode(s[n:])
		n += w
	}
}

// suffix returns where the shortest or longest end of s that matches begins, len(s) for none.
func (p *pattern) suffix(sh *interp, s string, longest bool) int {
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
		if p.match(sh, s[n:]) {
			if !longest {
				return n
			}
			best = n
		}
		if n == 0 || !sh.spend((len(s)-n)>>6) {
			return best
		}
		w := p.lastWidth(s[:n])
		n -= w
	}
}

// replace puts pieces, joined by what matched, in the place of the first or each match;
// anchor is '#' or '%' for a match at the beginning or end.
func (p *pattern) replace(sh *interp, s string, anchor byte, all bool, pieces []string) string {
	var b strings.Builder
	put := func(m string) bool {
		n := len(m) * (len(pieces) - 1)
		for _, piece := range pieces {
			n += len(piece)
		}
		if b.Len()+n > max(b.Cap(), 1<<12) { // Its double is what the buffer grows to.
			if !sh.room(2*(b.Len()+n)) || !sh.tick() {
				return false
			}
			b.Grow(b.Len() + n)
		}
		for i, piece := range pieces {
			if i > 0 {
				b.WriteString(m)
			}
			b.WriteString(piece)
		}
		return true
	}
	switch anchor {
	case '#':
		if s == "" && p.source != "" && p.source[0] != '*' {
			return s
		}
		n, ok := p.matchFrom(sh, s, true)
		if !ok {
			return s
		}
		if !put(s[:n]) {
			return ""
		}
		return b.String() + s[n:]
	case '%':
		n := p.suffix(sh, s, true)
		if n == len(s) && !p.match(sh, "") {
			return s
		}
		if !put(s[n:]) {
			return ""
		}
		return s[:n] + b.String()
	}
	if s == "" {
		if strings.HasPrefix(p.source, "*") && p.match(sh, "") { // bash looks at no other pattern
			put("")
		}
		return b.String()
	}
	if p.odd && p.fixed() {
		return s
	}
	for pos := 0; pos < len(s); {
		start, n := p.find(sh, s, pos)
		if start < 0 || sh.ctl != ctlNone {
			b.WriteString(s[pos:])
			break
		}
		b.WriteString(s[pos:start])
		if !put(s[start : start+n]) {
			return ""
		}
		pos = start + n
		if n == 0 && all { // The character behind an empty match is no part of the next.
			_, w := p.decode(s[start:])
			b.WriteString(s[start : start+w])
			pos += w
		}
		if !all {
			b.WriteString(s[pos:])
			break
		}
	}
	return b.String()
}

// find returns the first longest match from pos on; -1 for none.
func (p *pattern) find(sh *interp, s string, pos int) (start, n int) {
	if p.isLit {
		i := strings.Index(s[pos:], p.lit)
		if i < 0 {
			return -1, 0
		}
		return pos + i, len(p.lit)
	}
	for pos < len(s) {
		if n, ok := p.matchFrom(sh, s[pos:], true); ok {
			return pos, n
		}
		if !sh.tick() {
			break
		}
		_, w := p.decode(s[pos:])
		pos += w
	}
	return -1, 0
}

// fixed tells whether all that the pattern matches is of the same length.
func (p *pattern) fixed() bool {
	for _, n := range p.nodes {
		if n.kind == nodeStar || n.kind == nodeExt {
			return false
		}
	}
	return true
}
