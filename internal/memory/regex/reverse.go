package regex

import (
	"encoding/binary"
)

// reverse reads a match backwards from its end: for each place in the text it knows
// from which instructions the end can be reached. That gives the beginning of the match,
// and then a way through the program without trying.
type reverse struct {
	p      *prog
	stride int
	words  int

	looksBack bool    // assertions look at the character before
	takes     []int32 // instructions that take a character
	passes    []int32 // the others, in the order in which they depend on each other

	sets  [][]uint64
	index map[string]int32
	moves []int32          // by set and kind, where assertions have nothing to see
	seen  map[uint64]int32 // by place in moves and context, elsewhere
	ends  map[context]int32
	cost  int
	work  []uint64
	key   []byte

	trail []int32 // sets of the text read, from its end
}

func newReverse(p *prog) *reverse {
	r := &reverse{p: p, stride: p.kinds + 1, words: (len(p.insts) + 63) / 64}
	for pc := range p.insts {
		if p.insts[pc].op == opClass {
			r.takes = append(r.takes, int32(pc))
		} else {
			r.passes = append(r.passes, int32(pc))
		}
	}
	r.looksBack = p.asserts&afterWord != 0 || p.asserts&afterLine != 0 && p.flags&Multiline != 0
	r.work = make([]uint64, r.words)
	r.reset()
	return r
}

func (r *reverse) reset() {
	r.sets, r.moves = r.sets[:0], r.moves[:0]
	r.index, r.seen, r.ends = map[string]int32{}, map[uint64]int32{}, map[context]int32{}
	clear(r.work)
	r.add() // the empty set is 0
}

func (r *reverse) holds(s, pc int32) bool { return r.sets[s][pc/64]>>(pc%64)&1 != 0 }

// add returns the number of the set in work.
func (r *reverse) add() int32 {
	r.key = r.key[:0]
	for _, w := range r.work {
		r.key = binary.LittleEndian.AppendUint64(r.key, w)
	}
	if s, ok := r.index[string(r.key)]; ok {
		return s
	}
	s := int32(len(r.sets))
	r.index[string(r.key)] = s
	r.sets = append(r.sets, append([]uint64(nil), r.work...))
	for range r.stride {
		r.moves = append(r.moves, unknown)
	}
	return s
}

// isFull reports whether the automaton should start afresh before the next text.
func (r *reverse) isFull() bool {
	return len(r.sets)*(r.words+8) > 1<<19 || len(r.moves) > maxMoves || len(r.seen) > 1<<17
}

// read goes back from end at most to from. It returns where the longest match that ends
// there begins, and how many characters it has.
func (r *reverse) read(b []byte, from, end int, keep bool) (begin, length int) {
	if r.isFull() {
		r.reset()
	}
	r.trail = r.trail[:0]
	s := r.last(b, end)
	begin = -1
	for i, n := end, 0; s != dead; n++ {
		if keep {
			r.trail = append(r.trail, s)
		}
		if r.holds(s, r.p.start) {
			begin, length = i, n
		}
		if i <= from {
			break
		}
		kind, width := r.p.decodeLast(b, i)
		i -= width
		s = r.step(b, i, s, int(kind))
	}
	return begin, length
}

// last returns the set at the match's end.
func (r *reverse) last(b []byte, end int) int32 {
	var c context
	if r.p.asserts != 0 {
		c = r.p.contextAt(b, end) & r.p.asserts
	}
	if s, ok := r.ends[c]; ok {
		return s
	}
	clear(r.work)
	// The first instruction is the match.
	r.work[0] = 1
	r.pass(c)
	s := r.add()
	r.ends[c] = s
	return s
}

// step returns the set in front of a character of that kind, which is at i.
func (r *reverse) step(b []byte, i int, s int32, kind int) int32 {
	var c context
	if r.p.asserts != 0 {
		c = r.contextBefore(b, i, kind)
	}
	at := int(s)*r.stride + kind
	if c == 0 {
		if m := r.moves[at]; m != unknown {
			return m
		}
		to := r.compute(s, kind, 0)
		r.moves[at] = to
		return to
	}
	key := uint64(at)<<8 | uint64(c)
	if to, ok := r.seen[key]; ok {
		return to
	}
	to := r.compute(s, kind, c)
	r.seen[key] = to
	return to
}

// contextBefore returns the context that the program's assertions see in front of i, where a
// character of that kind is.
func (r *reverse) contextBefore(b []byte, i, kind int) context {
	c := r.p.beforeKind(kind)
	switch {
	case i == 0:
		c |= afterText | afterLine
	case r.looksBack:
		before, _ := r.p.decodeLast(b, i)
		c |= r.p.afterKind(int(before))
	}
	return c & r.p.asserts
}

func (r *reverse) compute(s int32, kind int, c context) int32 {
	clear(r.work)
	some := false
	for _, pc := range r.takes {
		in := &r.p.insts[pc]
		if r.p.has[int(in.n)*r.stride+kind] && r.holds(s, in.x) {
			r.work[pc/64] |= 1 << (pc % 64)
			some = true
		}
	}
	r.cost += len(r.takes)
	if !some {
		return dead
	}
	r.pass(c)
	return r.add()
}

// pass adds the instructions that lead to those in work without taking a character.
func (r *reverse) pass(c context) {
	in := func(pc int32) uint64 { return r.work[pc/64] >> (pc % 64) & 1 }
	for changed := true; changed; {
		changed = false
		for _, pc := range r.passes {
			i := &r.p.insts[pc]
			var now uint64
			switch i.op {
			case opAlt:
				now = in(i.x) | in(i.y)
			case opSave:
				now = in(i.x)
			case opAssert:
				if assertion(i.n).holds(c) {
					now = in(i.x)
				}
			default:
			}
			if now&^in(pc) != 0 {
				r.work[pc/64] |= 1 << (pc % 64)
				changed = true
			}
		}
		r.cost += len(r.passes)
	}
}
