package regex

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// backtracker tries ways through a program one after another: for back-references and
// what Perl adds.
type backtracker struct {
	m     *Matcher
	p     *prog
	b     []byte
	from  int // where the search began, for \G
	steps int

	slots []int
	best  []int // of the longest match so far
	stack []frame
	first []bool // by kind: a match can begin with it; nil when it can be empty
}

// frame is a way not yet tried, or something to put back before that.
type frame struct {
	kind frameKind
	pc   int32 // or the slot
	at   int   // or its value
	low  int   // frameRun: where the run may be cut back to
}

type frameKind uint8

const (
	frameTry  frameKind = iota // go on with pc at at
	frameSlot                  // slot pc was at
	frameRun                   // the run of pc ended at at
)

// backtrack finds a match of r.back from at on.
func (m *Matcher) backtrack(b []byte, at, from int, caps []int) bool {
	k := m.back
	if k == nil {
		k = &backtracker{m: m, p: m.r.back}
		k.first = k.beginnings()
		m.back = k
	}
	k.b, k.from, k.steps = b, from, 0
	defer func() { k.b = nil }()
	for i := at; i <= len(b); {
		if k.first != nil {
			for i < len(b) {
				kind, width := k.p.decode(b, i)
				if k.first[kind] {
					break
				}
				i += width
			}
			if i == len(b) {
				return false
			}
		}
		if k.matchAt(i) {
			setMatch(caps, k.best[0], k.best[1])
			if len(caps) > 2 {
				copy(caps[2:], k.best[2:2*(m.r.groups+1)])
			}
			return true
		}
		if m.err != nil || i == len(b) {
			return false
		}
		_, width := k.p.decode(b, i)
		i += width
	}
	return false
}

// matchAt looks for a match that begins at i: the first one for Perl, else the longest.
func (k *backtracker) matchAt(i int) bool {
	k.slots = reset(k.slots, k.p.slots)
	k.slots[0], k.slots[1] = i, -1
	k.stack = k.stack[:0]
	k.best = append(k.best[:0], k.slots...)
	goal := goalLongest
	if k.m.r.perl {
		goal = goalFirst
	}
	return k.run(k.p.start, i, goal) || k.m.err == nil && k.best[1] >= 0
}

// goal is the purpose of a run.
type goal uint8

const (
	goalFirst   goal = iota // the first match, in best
	goalLongest             // the longest, in best; the run ends in failure unless it takes all
	goalInner               // the first match inside a look-around; its end is left in slot 1
)

// matched records a match that ends at i, and reports whether to stop.
func (k *backtracker) matched(i int, g goal) bool {
	if g == goalInner {
		k.slots[1] = i
		return true
	}
	if g == goalLongest && i <= k.best[1] {
		return false
	}
	copy(k.best, k.slots)
	k.best[1] = i
	return g == goalFirst || i == len(k.b)
}

// run goes through the program from pc at i, and through all ways that it has put on the stack.
func (k *backtracker) run(pc int32, i int, g goal) bool {
	floor := len(k.stack)
	for {
		in, ok := &k.p.insts[pc], false
		if in.op != opMatch {
			pc, i, ok = k.step(in, pc, i)
		} else if k.matched(i, g) {
			return true
		}
		if k.steps++; k.steps&1023 == 0 && !k.pay() {
			return false
		}
		if !ok {
			if pc, i, ok = k.retry(floor); !ok {
				return false
			}
		}
	}
}

func (k *backtracker) pay() bool {
	if k.steps > maxSteps {
		k.m.err = ErrSteps
		return false
	}
	return k.m.paid(0, 1024)
}

// retry takes back what was done since the last choice, and goes another way.
func (k *backtracker) retry(floor int) (pc int32, i int, ok bool) {
	for len(k.stack) > floor {
		f := &k.stack[len(k.stack)-1]
		switch f.kind {
		case frameSlot:
			k.slots[f.pc] = f.at
		case frameTry:
			pc, i = f.pc, f.at
			k.stack = k.stack[:len(k.stack)-1]
			return pc, i, true
		case frameRun:
			if f.at > f.low {
				_, width := k.p.decodeLast(k.b, f.at)
				f.at -= width
				return k.p.insts[f.pc].x, f.at, true
			}
		}
		k.stack = k.stack[:len(k.stack)-1]
	}
	return 0, 0, false
}

func (k *backtracker) set(slot int32, i int) {
	k.stack = append(k.stack, frame{kind: frameSlot, pc: slot, at: k.slots[slot]})
	k.slots[slot] = i
}

// step executes an instruction that is not a match.
func (k *backtracker) step(in *inst, pc int32, i int) (next int32, to int, ok bool) {
	switch in.op {
	case opClass:
		if i == len(k.b) {
			return 0, 0, false
		}
		kind, width := k.p.decode(k.b, i)
		return in.x, i + width, k.has(in.n, kind)
	case opAlt:
		k.stack = append(k.stack, frame{kind: frameTry, pc: in.y, at: i})
		return in.x, i, true
	case opSave, opMark:
		k.set(in.n, i)
		return in.x, i, true
	case opKeep:
		k.set(0, i)
		return in.x, i, true
	case opAssert:
		return in.x, i, k.asserted(assertion(in.n), i)
	case opBack:
		to, ok := k.reference(in, i)
		return in.x, to, ok
	case opProgress:
		if k.slots[in.n] == i {
			return in.y, i, true
		}
		return in.x, i, true
	case opCond:
		if k.slots[2*in.n+1] >= 0 {
			return in.x, i, true
		}
		return in.y, i, true
	case opRun:
		to, ok := k.take(in, pc, i)
		return in.x, to, ok
	case opLook:
		return in.x, i, k.look(in, i)
	case opAtomic:
		to, ok := k.atomic(in.y, i)
		return in.x, to, ok
	default:
	}
	return 0, 0, false
}

func (k *backtracker) has(class int32, kind uint16) bool {
	return k.p.has[int(class)*(k.p.kinds+1)+int(kind)]
}

// take runs over as many characters as it can.
func (k *backtracker) take(in *inst, pc int32, i int) (to int, ok bool) {
	n, low := int32(0), i
	for ; i < len(k.b) && n != in.max; n++ {
		kind, width := k.p.decode(k.b, i)
		if !k.has(in.n, kind) {
			break
		}
		if i += width; n < in.min {
			low = i
		}
	}
	k.steps += int(n >> 4)
	if n < in.min {
		return 0, false
	}
	if i > low && !in.other {
		k.stack = append(k.stack, frame{kind: frameRun, pc: pc, at: i, low: low})
	}
	return i, true
}

// atomic runs the program at pc and keeps what it set, but no other ways.
func (k *backtracker) atomic(pc int32, i int) (to int, ok bool) {
	floor := len(k.stack)
	if !k.run(pc, i, goalInner) {
		k.undo(floor)
		return 0, false
	}
	to = k.slots[1]
	kept := k.stack[:floor]
	for _, f := range k.stack[floor:] {
		if f.kind == frameSlot {
			kept = append(kept, f)
		}
	}
	k.stack = kept
	return to, true
}

// look reports whether the program of look-around matches (or not, when negative).
func (k *backtracker) look(in *inst, i int) bool {
	at := i
	if in.other {
		for range in.n {
			if at == 0 {
				return in.flag
			}
			_, width := k.p.decodeLast(k.b, at)
			at -= width
		}
	}
	floor := len(k.stack)
	_, ok := k.atomic(in.y, at)
	if in.flag || !ok {
		// Undo what a failed or a negative look-around has set.
		k.undo(floor)
	}
	return ok != in.flag && k.m.err == nil
}

func (k *backtracker) undo(floor int) {
	for len(k.stack) > floor {
		f := k.stack[len(k.stack)-1]
		if f.kind == frameSlot {
			k.slots[f.pc] = f.at
		}
		k.stack = k.stack[:len(k.stack)-1]
	}
}

func (k *backtracker) asserted(a assertion, i int) bool {
	switch a {
	case searchStart:
		return i == k.from
	case lastLineEnd:
		return i == len(k.b) || i == len(k.b)-1 && k.b[i] == '\n'
	default:
		return a.holds(k.p.contextAt(k.b, i))
	}
}

// reference takes what a group has matched.
func (k *backtracker) reference(in *inst, i int) (to int, ok bool) {
	begin, end := k.slots[2*in.n], k.slots[2*in.n+1]
	if begin < 0 || end < begin {
		return 0, false
	}
	k.steps += (end - begin) >> 4
	was := k.b[begin:end]
	if !in.flag {
		return i + len(was), bytes.HasPrefix(k.b[i:], was)
	}
	for len(was) > 0 {
		if i == len(k.b) {
			return 0, false
		}
		r, n := utf8.DecodeRune(was)
		s, width := utf8.DecodeRune(k.b[i:])
		if !isSameFold(r, s) {
			return 0, false
		}
		was, i = was[n:], i+width
	}
	return i, true
}

func isSameFold(r, s rune) bool {
	for f := unicode.SimpleFold(r); ; f = unicode.SimpleFold(f) {
		if f == s {
			return true
		}
		if f == r {
			return false
		}
	}
}

// beginnings returns the kinds of characters that a match can begin with; nil when
// that is of no help.
func (k *backtracker) beginnings() []bool {
	first := make([]bool, k.p.kinds+1)
	seen := make([]bool, len(k.p.insts))
	stack := []int32{k.p.start}
	for len(stack) > 0 {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[pc] {
			continue
		}
		seen[pc] = true
		in := &k.p.insts[pc]
		switch in.op {
		case opMatch, opBack:
			return nil
		case opClass, opRun:
			for kind := range k.p.kinds {
				first[kind] = first[kind] || k.has(in.n, uint16(kind))
			}
			if in.op == opRun && in.min == 0 {
				stack = append(stack, in.x)
			}
		case opAlt, opProgress, opCond:
			stack = append(stack, in.x, in.y)
		case opAtomic:
			// Its end is a match of its own.
			return nil
		default:
			stack = append(stack, in.x)
		}
	}
	return first
}
