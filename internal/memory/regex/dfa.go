package regex

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// automaton is a deterministic automaton over a program, built as texts need it. It
// reads a character, or the text's end, before it knows whether there was a match
// in front of that: assertions see both sides.
//
// A state is the set of places in the program where matches may be, in the order of where
// they began: that finds the leftmost match, and of those the longest.
type automaton struct {
	p      *prog
	search search

	stride int
	states []state
	moves  []int32 // by state and kind; see move
	index  map[string]int32
	cost   int                      // work done since the last look
	starts [1 + contextBefore]int32 // by context; 0 when not known

	// Skipping ends when it saves no time on the text.
	skips, skipped int
	plain          bool

	list  []int32 // class instructions reached by the current group
	stack []int32
	next  []int32 // the next state's places
	seen  marks   // instructions visited in this step
	taken marks   // places in next
	key   []byte
}

// search is the kind of match that an automaton searches for.
type search uint8

const (
	exists   search = iota // any match: it stops at the first end
	leftmost               // the end of the leftmost-longest
	anchored               // the end of the longest that begins here
)

// state is a set of places, groups of one beginning divided by groupEnd.
type state struct {
	places  []int32
	before  context // what assertions need to know of the character read last
	matched bool    // a match was found: none that begins later counts
	skip    *skip
}

const groupEnd = -1

// dead is the state that no character leaves.
const dead = 0

// A move is a state times stride, or below 0 something to look at: unknown, or
// event(state, match, skip).
const unknown = -1

func event(to int32, match, skip bool) int32 {
	k := to << 2
	if match {
		k |= 1
	}
	if skip {
		k |= 2
	}
	return -2 - k
}

// maxStates bounds the memory of an automaton; it starts afresh then.
const maxStates, maxMoves = 4000, 1 << 20

// marks is a set of instructions that is emptied in constant time.
type marks struct {
	round []uint32
	now   uint32
}

func (m *marks) clear(n int) {
	if m.round == nil {
		m.round = make([]uint32, n)
	}
	if m.now++; m.now == 0 {
		clear(m.round)
		m.now = 1
	}
}

// put adds i and reports whether it was not there.
func (m *marks) put(i int32) bool {
	if m.round[i] == m.now {
		return false
	}
	m.round[i] = m.now
	return true
}

func newAutomaton(p *prog, s search) *automaton {
	a := &automaton{p: p, search: s, stride: p.kinds + 1}
	a.reset()
	return a
}

func (a *automaton) reset() {
	a.states, a.moves = a.states[:0], a.moves[:0]
	a.index = map[string]int32{}
	a.starts = [1 + contextBefore]int32{}
	a.add(nil, 0, true) // dead
}

// add returns the state of these places, which are copied.
func (a *automaton) add(places []int32, before context, matched bool) int32 {
	a.key = a.key[:0]
	for _, pc := range places {
		a.key = binary.LittleEndian.AppendUint32(a.key, uint32(pc))
	}
	a.key = append(a.key, byte(before))
	if matched {
		a.key = append(a.key, 1)
	}
	if s, ok := a.index[string(a.key)]; ok {
		return s
	}
	s := int32(len(a.states))
	a.index[string(a.key)] = s
	a.states = append(a.states, state{places: slices.Clone(places), before: before, matched: matched})
	for range a.stride {
		a.moves = append(a.moves, unknown)
	}
	return s
}

// start returns the state in front of b[i:].
func (a *automaton) start(b []byte, i int) int32 {
	before := a.p.asserts & contextBefore
	if before != 0 {
		before &= a.p.before(b, i)
	}
	s := a.starts[before]
	if s == 0 {
		var places []int32
		if a.search == anchored {
			places = []int32{a.p.start}
		}
		s = a.add(places, before, false)
		a.starts[before] = s
	}
	return s
}

// run reads b from i on and returns the end of the match, -1 for none.
func (a *automaton) run(b []byte, i int) int {
	end := -1
	at := a.start(b, i)
	if a.canSkip(at) {
		i = a.skip(at, b, i)
	}
	base := int(at) * a.stride
	table, moves := &a.p.table, a.moves
	for i < len(b) {
		kind, width := table[b[i]], 1
		if kind == multi {
			kind, width = a.p.decode(b, i)
		}
		move := moves[base+int(kind)]
		if move >= 0 {
			base = int(move)
			i += width
			continue
		}
		if move == unknown {
			base = a.learn(base, int(kind))
			moves = a.moves
			continue
		}
		to, match, skips := parts(move)
		if match {
			end = i
		}
		if to == dead {
			return end
		}
		base = int(to) * a.stride
		i += width
		if skips {
			from := i
			i = a.skip(to, b, i)
			base = a.weigh(to, i-from)
			moves = a.moves
		}
	}
	kind := a.p.kinds
	if a.moves[base+kind] == unknown {
		base = a.learn(base, kind)
	}
	if _, match, _ := parts(a.moves[base+kind]); match {
		end = len(b)
	}
	return end
}

func parts(move int32) (to int32, match, skip bool) {
	k := -2 - move
	return k >> 2, k&1 != 0, k&2 != 0
}

// learn finds a move that is not known. It returns the place of the state's moves, which
// changes when the automaton starts afresh.
func (a *automaton) learn(base, kind int) int {
	at := int32(base / a.stride)
	if len(a.states) >= maxStates || len(a.moves) >= maxMoves {
		keep := a.states[at]
		a.reset()
		at = a.add(keep.places, keep.before, keep.matched)
		base = int(at) * a.stride
	}
	to, match := a.step(at, kind)
	move := to * int32(a.stride)
	if match || to == dead || a.canSkip(to) {
		move = event(to, match, a.canSkip(to))
	}
	a.moves[base+kind] = move
	return base
}

// step computes the state after a character of that kind, and whether there is a
// match in front of it.
func (a *automaton) step(at int32, kind int) (to int32, match bool) {
	st := a.states[at]
	c := st.before | a.p.beforeKind(kind)
	n := len(a.p.insts)
	a.seen.clear(n)
	a.taken.clear(n)
	a.next = a.next[:0]
	a.list = a.list[:0]
	for i := 0; i < len(st.places) && !match; i++ {
		if pc := st.places[i]; pc != groupEnd {
			if a.closure(pc, c) {
				match = true
				// Those of the same beginning may still be longer.
				for i++; a.search != exists && i < len(st.places) && st.places[i] != groupEnd; i++ {
					a.closure(st.places[i], c)
				}
			}
		}
		if i >= len(st.places) || st.places[i] == groupEnd {
			a.take(kind, a.search == leftmost)
		}
	}
	if a.search != leftmost {
		a.take(kind, false)
	}
	if a.search != anchored && !st.matched && !match {
		match = a.closure(a.p.start, c)
		a.take(kind, a.search == leftmost)
	}
	a.cost += 8 + len(st.places)
	if kind == a.p.kinds || match && a.search == exists {
		return dead, match
	}
	if a.search != leftmost {
		slices.Sort(a.next)
	}
	matched := st.matched || match
	if len(a.next) == 0 && (matched || a.search == anchored) {
		return dead, match
	}
	return a.add(a.next, a.p.afterKind(kind)&a.p.asserts, matched && a.search == leftmost), match
}

// closure follows pc to the instructions that take a character, and reports whether a match
// is reached.
func (a *automaton) closure(pc int32, c context) (match bool) {
	a.stack = append(a.stack[:0], pc)
	for len(a.stack) > 0 {
		pc := a.stack[len(a.stack)-1]
		a.stack = a.stack[:len(a.stack)-1]
		if !a.seen.put(pc) {
			continue
		}
		a.cost++
		in := &a.p.insts[pc]
		switch in.op {
		case opMatch:
			match = true
		case opClass:
			a.list = append(a.list, pc)
		case opAlt:
			a.stack = append(a.stack, in.y, in.x)
		case opAssert:
			if assertion(in.n).holds(c) {
				a.stack = append(a.stack, in.x)
			}
		case opSave:
			a.stack = append(a.stack, in.x)
		default:
		}
	}
	return match
}

// take moves the current group over a character of that kind into the next state.
func (a *automaton) take(kind int, divide bool) {
	first := len(a.next)
	for _, pc := range a.list {
		in := &a.p.insts[pc]
		if a.p.has[int(in.n)*a.stride+kind] && a.taken.put(in.x) {
			a.next = append(a.next, in.x)
		}
	}
	a.cost += len(a.list)
	a.list = a.list[:0]
	if divide && len(a.next) > first {
		slices.Sort(a.next[first:])
		a.next = append(a.next, groupEnd)
	}
}

// skip says how to pass text that leaves a state unchanged.
type skip struct {
	leave [256]bool // bytes that lead elsewhere
	few   []byte    // the same when there are few of them
}

// canSkip reports whether nothing of a match has been seen in the state.
func (a *automaton) canSkip(s int32) bool {
	st := &a.states[s]
	return len(st.places) == 0 && !st.matched && a.search != anchored && !a.plain
}

// weigh notes how far a skip from state s went. It returns the place of the state's moves,
// which changes when skipping is given up.
func (a *automaton) weigh(s int32, n int) (base int) {
	a.skips++
	a.skipped += n
	if a.skips < 256 || a.skipped > a.skips*10 {
		return int(s) * a.stride
	}
	keep := a.states[s]
	a.plain = true
	a.reset()
	return int(a.add(keep.places, keep.before, keep.matched)) * a.stride
}

// skip returns the next place from i on where the state is left.
func (a *automaton) skip(s int32, b []byte, i int) int {
	sk := a.states[s].skip
	if sk == nil {
		sk = a.newSkip(s)
	}
	switch len(sk.few) {
	case 0:
		return len(b)
	case 1:
		if n := bytes.IndexByte(b[i:], sk.few[0]); n >= 0 {
			return i + n
		}
		return len(b)
	}
	for ; i+4 <= len(b); i += 4 {
		if sk.leave[b[i]] || sk.leave[b[i+1]] || sk.leave[b[i+2]] || sk.leave[b[i+3]] {
			break
		}
	}
	for i < len(b) && !sk.leave[b[i]] {
		i++
	}
	return i
}

func (a *automaton) newSkip(s int32) *skip {
	sk := &skip{}
	stays := make([]bool, a.p.kinds)
	for kind := range stays {
		to, match := a.step(s, kind)
		stays[kind] = to == s && !match
	}
	others := true // all kinds beyond one byte stay
	for i, id := range a.p.ids {
		if i+1 == len(a.p.from) || a.p.from[i+1] > 0x80 {
			others = others && stays[id]
		}
	}
	for c := range 256 {
		kind := a.p.table[c]
		sk.leave[c] = kind == multi && !others || kind != multi && !stays[kind]
		if sk.leave[c] {
			sk.few = append(sk.few, byte(c))
		}
	}
	a.states[s].skip = sk
	return sk
}
