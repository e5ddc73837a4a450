package interpreter

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// matchFunction compiles match(s, r [, a]).
func (c *compiler) matchFunction(x *builtinNode) numCode {
	s, rx := c.text(x.args[0]), c.regex(x.args[1])
	var into arrayCode
	if len(x.args) == 3 {
		into = c.array(x.args[2])
	}
	return func(m *machine) float64 {
		t := s(m)
		r := rx(m)
		caps := make([]int, 2+2*b2i(into != nil)*r.groups) // bounded: two numbers for each group of an expression that is charged
		if into != nil {
			into(m).clear()
		}
		if !m.find(r, t, 0, caps) {
			m.globals[slotRSTART], m.globals[slotRLENGTH] = numberValue(0), numberValue(-1)
			return 0
		}
		start := m.length(t[:caps[0]]) + 1
		m.globals[slotRSTART] = numberValue(float64(start))
		m.globals[slotRLENGTH] = numberValue(float64(m.length(t[caps[0]:caps[1]])))
		if into != nil {
			m.groups(into(m), t, caps)
		}
		return float64(start)
	}
}

// groups stores the groups in the array of match.
func (m *machine) groups(a *array, t string, caps []int) {
	for i := 0; i < len(caps); i += 2 {
		if caps[i] < 0 {
			continue
		}
		key := strconv.Itoa(i / 2)
		m.set(a, key, inputValue(t[caps[i]:caps[i+1]]))
		m.set(a, key+m.subsep+"start", numberValue(float64(m.length(t[:caps[i]])+1)))
		m.set(a, key+m.subsep+"length", numberValue(float64(m.length(t[caps[i]:caps[i+1]]))))
	}
}

// replacement is a text with places for the match.
type replacement struct {
	src    string
	parts  []replacementPart
	groups int // how many it asks for
	plain  int // bytes of its texts
	refs   int // how often it asks for a group
}

type replacementPart struct {
	text  string
	group int // -1: text
}

// newReplacement reads the replacement of sub and gsub, where & is the match, or with groups that
// of gensub.
func (m *machine) newReplacement(s string, groups bool) *replacement {
	r := &replacement{src: s}
	if len(s) > 64 {
		n := strings.Count(s, "&") + strings.Count(s, `\`)
		m.grow(2*len(s) + 4*n*int(unsafe.Sizeof(replacementPart{}))) // A list that grows is there twice.
		m.spend(len(s) >> 4)
	}
	var b strings.Builder
	flush := func(group int) {
		if b.Len() > 0 {
			r.parts = append(r.parts, replacementPart{b.String(), -1})
			b.Reset()
		}
		if group >= 0 {
			r.parts = append(r.parts, replacementPart{"", group})
		}
	}
	for i := 0; i < len(s); i++ {
		switch ch := s[i]; {
		case ch == '&':
			flush(0)
		case ch == '\\' && groups && i+1 < len(s):
			i++
			if isDigit(s[i]) {
				flush(int(s[i] - '0'))
			} else {
				b.WriteByte(s[i])
			}
		case ch == '\\' && !groups && strings.HasPrefix(s[i:], `\\\&`):
			b.WriteString(`\&`)
			i += 3
		case ch == '\\' && !groups && strings.HasPrefix(s[i:], `\\&`):
			b.WriteByte('\\')
			flush(0)
			i += 2
		case ch == '\\' && !groups && strings.HasPrefix(s[i:], `\&`):
			b.WriteByte('&')
			i++
		default:
			b.WriteByte(ch)
		}
	}
	flush(-1)
	for _, p := range r.parts {
		r.groups = max(r.groups, p.group)
		if r.plain += len(p.text); p.group >= 0 {
			r.refs++
		}
	}
	return r
}

func (r *replacement) appendTo(b []byte, s string, caps []int) []byte {
	for _, p := range r.parts {
		switch {
		case p.group < 0:
			b = append(b, p.text...)
		case 2*p.group+1 < len(caps) && caps[2*p.group] >= 0:
			b = append(b, s[caps[2*p.group]:caps[2*p.group+1]]...)
		}
	}
	return b
}

// replace replaces the n-th match and, with all, those behind it. It returns how many.
func (m *machine) replace(rx *matcher, r *replacement, s string, n int, all bool) (string, int) {
	caps := slices.Grow(m.caps[:0], 2+2*min(r.groups, rx.groups))[:2+2*min(r.groups, rx.groups)]
	m.caps = caps
	if !m.find(rx, s, 0, caps) {
		return s, 0
	}
	b := m.replaced[:0]
	done, seen, copied, from := 0, 0, 0, 0
	for ok := true; ok; ok = from <= len(s) && m.find(rx, s, from, caps) {
		begin, end := caps[0], caps[1]
		if begin == end && begin == copied && seen > 0 && begin > 0 && from == begin {
			// An empty match right behind the last one does not count.
			from = m.step(s, from)
			continue
		}
		if seen++; seen >= n {
			if need := len(b) + end - copied + r.plain + r.refs*(end-begin); need > maxReplaced && need > cap(b) {
				m.grow(need)
			}
			b = append(b, s[copied:begin]...)
			b = r.appendTo(b, s, caps)
			copied = end
			if done++; !all {
				break
			}
			if len(b) > len(m.buf)+1<<16 {
				m.spend(1)
			}
		} else if seen < n {
			b = append(b, s[copied:end]...)
			copied = end
		}
		if from = end; begin == end {
			from = m.step(s, end)
		}
		if len(b) > 1<<20 && done&1023 == 0 {
			m.grow(len(b))
		}
	}
	b = append(b, s[copied:]...)
	if m.taken(len(b)); cap(b) <= maxReplaced {
		m.replaced = b
	}
	return string(b), done
}

// maxReplaced bounds the buffer that is reused.
const maxReplaced = 64 << 10

// step returns the place behind the character at i.
func (m *machine) step(s string, i int) int {
	if m.o.Bytes || i >= len(s) {
		return i + 1
	}
	_, n := utf8.DecodeRuneInString(s[i:])
	return i + n
}

// substitute compiles sub and gsub.
func (c *compiler) substitute(x *builtinNode) numCode {
	rx, with, all := c.regex(x.args[0]), c.text(x.args[1]), x.name == "gsub"
	var target node = &fieldNode{n: &numberNode{}}
	if len(x.args) == 3 {
		target = ungroup(x.args[2])
	}
	load := c.text(target)
	var set func(m *machine, v value)
	if isAssignable(target) {
		set = c.setter(target)
	}
	if f, ok := target.(*fieldNode); ok {
		return c.substituteField(f, rx, with, all)
	}
	var last *replacement
	return func(m *machine) float64 {
		r := rx(m)
		w := with(m)
		if last == nil || last.src != w {
			last = m.newReplacement(w, false)
		}
		s, n := m.replace(r, last, load(m), 1, all)
		if n > 0 && set != nil {
			set(m, textValue(s))
		}
		return float64(n)
	}
}

func (c *compiler) substituteField(f *fieldNode, rx func(m *machine) *matcher, with textCode, all bool) numCode {
	number, pos := c.fieldNumber(f), f.pos
	var last *replacement
	return func(m *machine) float64 {
		r := rx(m)
		w := with(m)
		if last == nil || last.src != w {
			last = m.newReplacement(w, false)
		}
		i := number(m)
		s, n := m.replace(r, last, m.fieldText(i), 1, all)
		if n > 0 {
			m.setField(i, textValue(s), pos)
		}
		return float64(n)
	}
}

// gensub compiles gensub(r, s, h [, t]).
func (c *compiler) gensub(x *builtinNode) textCode {
	rx, with, how := c.regex(x.args[0]), c.text(x.args[1]), c.value(x.args[2])
	target := func(m *machine) string { return m.recordText() }
	if len(x.args) == 4 {
		target = c.text(x.args[3])
	}
	pos := x.pos
	return func(m *machine) string {
		r := rx(m)
		w := m.newReplacement(with(m), true)
		h := how(m)
		n, all := 1, false
		if t := m.text(&h, m.convfmt); t != "" && (t[0] == 'g' || t[0] == 'G') {
			all = true
		} else if n = int(clampInt(h.number())); n < 1 {
			m.warnAt(pos, "gensub: third argument `%s' treated as 1", t)
			n = 1
		}
		s, _ := m.replace(r, w, target(m), n, all)
		return s
	}
}

// splitFunction compiles split(s, a [, fs [, seps]]).
func (c *compiler) splitFunction(x *builtinNode) numCode {
	s, into := c.text(x.args[0]), c.array(x.args[1])
	how := func(m *machine) (mode int, sep string, rx *matcher) {
		fs := m.globals[slotFS]
		sep = m.text(&fs, m.convfmt)
		if m.fsMode >= fsWidths && m.fsMode != fsCSV {
			mode, rx = m.separator(sep)
			return mode, sep, rx
		}
		return m.fsMode, sep, m.fsRegex
	}
	if len(x.args) > 2 {
		how = c.separatorCode(x.args[2])
	}
	var seps arrayCode
	if len(x.args) > 3 {
		seps = c.array(x.args[3])
	}
	return func(m *machine) float64 {
		t := s(m)
		mode, sep, rx := how(m)
		a := into(m)
		a.clear()
		var between *array
		if seps != nil {
			between = seps(m)
			between.clear()
		}
		n := 0
		m.scanned(t)
		if between != nil && mode == fsBlanks {
			if lead := len(t) - len(strings.TrimLeft(t, " \t\n")); lead > 0 {
				m.set(between, "0", textValue(t[:lead]))
			}
		}
		m.split(t, mode, sep, rx, func(field, sep string) {
			n++
			key := strconv.Itoa(n)
			e := m.insert(a, key)
			e.value = inputValue(field)
			if between != nil && sep != "" {
				m.set(between, key, textValue(sep))
			}
		})
		return float64(n)
	}
}

// separatorCode compiles the third argument of split.
func (c *compiler) separatorCode(x node) func(m *machine) (mode int, sep string, rx *matcher) {
	if _, ok := ungroup(x).(*regexNode); ok {
		rx := c.regex(x)
		return func(m *machine) (mode int, sep string, r *matcher) { return fsPattern, "", rx(m) }
	}
	f := c.text(x)
	return func(m *machine) (mode int, sep string, rx *matcher) {
		sep = f(m)
		mode, rx = m.separator(sep)
		return mode, sep, rx
	}
}

// patsplit compiles patsplit(s, a [, pattern [, seps]]).
func (c *compiler) patsplit(x *builtinNode) numCode {
	s, into := c.text(x.args[0]), c.array(x.args[1])
	rx := func(m *machine) *matcher { return m.regexes.of(m, m.text(&m.globals[slotFPAT], m.convfmt)) }
	if len(x.args) > 2 {
		rx = c.regex(x.args[2])
	}
	var seps arrayCode
	if len(x.args) > 3 {
		seps = c.array(x.args[3])
	}
	return func(m *machine) float64 {
		t := s(m)
		r := rx(m)
		a := into(m)
		a.clear()
		var between *array
		if seps != nil {
			between = seps(m)
			between.clear()
		}
		n, k := 0, 0
		m.splitFPAT(t, r, func(field, _ string) {
			n++
			m.insert(a, strconv.Itoa(n)).value = inputValue(field)
		}, func(sep string) {
			if between != nil {
				m.set(between, strconv.Itoa(k), textValue(sep))
			}
			k++
		})
		return float64(n)
	}
}
