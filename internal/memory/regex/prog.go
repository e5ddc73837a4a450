package regex

import (
	"slices"
	"strings"
	"unsafe"
)

// opcode is the operation of an instruction.
type opcode uint8

const (
	opMatch    opcode = iota
	opClass           // takes a character of class n, then x
	opAlt             // x, or else y
	opSave            // remembers the place in slot n, then x
	opAssert          // x where assertion n holds
	opFail            // nothing
	opBack            // takes what group n matched, then x
	opLook            // x where the program from y matches (ahead, or behind ending here)
	opAtomic          // takes the first match of the program from y, then x
	opMark            // remembers in slot n where a turn of a loop begins, then x
	opProgress        // x unless the turn that began at slot n took nothing, then y
	opRun             // takes as many of class n as there are, fewer if need be, then x
	opKeep            // the match begins here, then x
	opCond            // x if group n has matched, else y
)

// inst is an instruction. Characters are taken by opClass, opRun and opBack only.
type inst struct {
	op    opcode
	flag  bool // opSave: of a group repeated from nought; opBack: ignores case; opLook: negative
	other bool // opLook: behind; opRun: takes no second thoughts
	n     int32
	x, y  int32
	min   int32 // opRun: at least so many
	max   int32 // opRun: at most so many; -1 for any number
}

// prog is a compiled tree.
type prog struct {
	insts   []inst
	start   int32
	classes []*set
	alphabet
	slots   int // of groups and loops
	groups  int
	asserts context // what assertions look at
	names   []string
}

// size returns about how many bytes a program holds; nil holds none.
func (p *prog) size() int {
	if p == nil {
		return 0
	}
	n := len(p.insts)*int(unsafe.Sizeof(inst{})) + 6*len(p.from) + len(p.has)
	for _, s := range p.classes {
		n += 40 + 4*len(s.ranges)
	}
	return n
}

// maxInsts bounds a program: nested intervals multiply.
const maxInsts = 1 << 18

type emitter struct {
	*prog
	backtrack bool // emit what backtracking needs: marks of loops, runs, look-around
	perl      bool
	copied    bool // in a copy of what is repeated
	err       error
	ids       map[string]int32
	sets      map[*set]int32 // of the copies of repeated expressions
}

// emit compiles the tree; with backtrack false it leaves out parts that automata cannot match, so that
// the program matches more.
func emit(t *tree, flags Flags, backtrack bool) (*prog, error) {
	e := &emitter{prog: &prog{groups: t.groups, slots: 2 * (t.groups + 1), names: t.names}, backtrack: backtrack, perl: flags&Perl != 0}
	e.ids, e.sets = map[string]int32{}, map[*set]int32{}
	end := e.add(inst{op: opMatch})
	e.start = e.node(t.root, end)
	if e.err != nil {
		return nil, e.err
	}
	e.alphabet = newAlphabet(e.prog, flags)
	return e.prog, nil
}

func (e *emitter) add(i inst) int32 {
	if len(e.insts) >= maxInsts {
		e.err = &Error{Text: errSize}
		return 0
	}
	e.insts = append(e.insts, i)
	return int32(len(e.insts) - 1)
}

// node emits n so that next follows it, and returns where it begins.
func (e *emitter) node(n *node, next int32) int32 {
	if n == nil || e.err != nil {
		return next
	}
	switch n.kind {
	case kindClass:
		return e.add(inst{op: opClass, n: e.class(n.set), x: next})
	case kindConcat:
		return e.concat(n, next)
	case kindAlt:
		return e.alt(n, next)
	case kindRepeat:
		return e.repeat(n, next)
	case kindGroup:
		end := e.add(inst{op: opSave, n: int32(2*n.n + 1), x: next})
		return e.add(inst{op: opSave, n: int32(2 * n.n), x: e.node(n.left, end)})
	case kindAssert:
		return e.assert(assertion(n.n), next)
	case kindBack:
		if !e.backtrack {
			return e.anything(next)
		}
		return e.add(inst{op: opBack, n: int32(n.n), flag: n.fold, x: next})
	case kindLook:
		if !e.backtrack {
			return next
		}
		return e.add(inst{op: opLook, flag: n.negative, other: n.behind, x: next, y: e.sub(n), n: int32(n.min)})
	case kindAtomic:
		if !e.backtrack {
			return e.node(n.left, next)
		}
		return e.add(inst{op: opAtomic, x: next, y: e.sub(n)})
	case kindCond:
		i := inst{op: opAlt, x: e.node(n.left, next), y: e.node(n.right, next)}
		if e.backtrack {
			i.op, i.n = opCond, int32(n.n)
		}
		return e.add(i)
	case kindKeep:
		if !e.backtrack {
			return next
		}
		return e.add(inst{op: opKeep, x: next})
	default:
		return e.add(inst{op: opFail})
	}
}

// sub emits the inside of n as a program of its own.
func (e *emitter) sub(n *node) int32 { return e.node(n.left, e.add(inst{op: opMatch})) }

// concat emits a chain from its end, without recursion along it.
func (e *emitter) concat(n *node, next int32) int32 {
	var parts []*node
	for ; n != nil && n.kind == kindConcat; n = n.right {
		parts = append(parts, n.left)
	}
	next = e.node(n, next)
	for _, part := range slices.Backward(parts) {
		next = e.node(part, next)
	}
	return next
}

// alt emits a chain of alternatives without recursion along it, whether it leans to the left, as parsers build it, or to the
// right, as lists of words are built: a pattern of a megabyte must not become a stack of a hundred.
func (e *emitter) alt(n *node, next int32) int32 {
	var rights []*node
	for ; isAlt(n.left); n = n.left {
		rights = append(rights, n.right)
	}
	at := e.altRight(n, next)
	for _, right := range slices.Backward(rights) {
		if e.err != nil {
			return at
		}
		at = e.add(inst{op: opAlt, x: at, y: e.node(right, next)})
	}
	return at
}

// altRight emits a chain that leans to the right.
func (e *emitter) altRight(n *node, next int32) int32 {
	var lefts []*node
	for ; isAlt(n.right); n = n.right {
		lefts = append(lefts, n.left)
	}
	at := e.add(inst{op: opAlt, x: e.node(n.left, next), y: e.node(n.right, next)})
	for _, left := range slices.Backward(lefts) {
		if e.err != nil {
			return at
		}
		at = e.add(inst{op: opAlt, x: e.node(left, next), y: at})
	}
	return at
}

func isAlt(n *node) bool { return n != nil && n.kind == kindAlt }

func (e *emitter) assert(a assertion, next int32) int32 {
	e.asserts |= a.needs()
	return e.add(inst{op: opAssert, n: int32(a), x: next})
}

// anything emits any number of any characters.
func (e *emitter) anything(next int32) int32 {
	loop := e.add(inst{op: opAlt, y: next})
	all := &set{ranges: []rune{0, strayByte + 255}}
	e.insts[loop].x = e.add(inst{op: opClass, n: e.class(all), x: loop})
	return loop
}

func (e *emitter) class(s *set) int32 {
	if id, ok := e.sets[s]; ok {
		return id
	}
	id := e.classOf(s)
	e.sets[s] = id
	return id
}

// classOf returns the number of the class with the ranges of s.
func (e *emitter) classOf(s *set) int32 {
	var key strings.Builder
	key.WriteString(string(s.ranges))
	for _, r := range s.ranges {
		if r > 0x10FFFF || r >= 0xD800 && r < 0xE000 {
			// A string does not distinguish these.
			key.WriteString(string([]byte{byte(r), byte(r >> 8), byte(r >> 16), 0xFF}))
		}
	}
	id, ok := e.ids[key.String()]
	if !ok {
		id = int32(len(e.classes))
		e.ids[key.String()] = id
		e.classes = append(e.classes, s)
	}
	return id
}

// repeat emits {min,max}, as the C library unrolls it: the copies that may be left out nest
// to the left.
func (e *emitter) repeat(n *node, next int32) int32 {
	if e.backtrack && n.possessive {
		plain := *n
		plain.possessive = false
		if n.left != nil && n.left.kind == kindClass {
			return e.run(&plain, next, true)
		}
		return e.add(inst{op: opAtomic, x: next, y: e.node(&plain, e.add(inst{op: opMatch}))})
	}
	if e.backtrack && !n.lazy && n.left != nil && n.left.kind == kindClass {
		return e.run(n, next, false)
	}
	copied := e.copied
	defer func() { e.copied = copied }()
	switch {
	case n.max == -1:
		next = e.loop(n, next)
	case e.perl:
		next = e.optionalRight(n, next)
	default:
		next = e.optionalLeft(n, next)
	}
	for i := n.min; i > 0 && e.err == nil; i-- {
		e.copied = copied || i > 1
		next = e.node(n.left, next)
	}
	return next
}

// turn emits one of the repetitions of n that may be left out. The C library marks the group of the
// first of them as optional, and loses the marks inside the copies.
func (e *emitter) turn(n *node, first bool, next int32) int32 {
	was := e.copied
	e.copied = was || n.min > 0 || !first
	defer func() { e.copied = was }()
	g := n.left
	if g == nil || g.kind != kindGroup {
		return e.node(g, next)
	}
	mark := first && !was
	end := e.add(inst{op: opSave, n: int32(2*g.n + 1), flag: mark, x: next})
	return e.add(inst{op: opSave, n: int32(2 * g.n), flag: mark, x: e.node(g.left, end)})
}

func (e *emitter) run(n *node, next int32, atomic bool) int32 {
	return e.add(inst{op: opRun, n: e.class(n.left.set), x: next, min: int32(n.min), max: int32(n.max), other: atomic})
}

// loop emits a body that may follow itself.
func (e *emitter) loop(n *node, next int32) int32 {
	at := e.add(inst{op: opAlt})
	var entry int32
	if e.backtrack && isNullable(n.left) {
		slot := int32(e.slots)
		e.slots++
		mark := e.add(inst{op: opMark, n: slot})
		end := e.add(inst{op: opProgress, n: slot, x: at, y: next})
		entry = e.turn(n, true, end)
		e.insts[mark].x, entry = entry, mark
	} else {
		entry = e.turn(n, true, at)
	}
	e.choose(at, entry, next, n.lazy)
	return at
}

// choose makes the instruction at a choice of going on with body or with next.
func (e *emitter) choose(at, body, next int32, lazy bool) {
	if lazy {
		body, next = next, body
	}
	e.insts[at].x, e.insts[at].y = body, next
}

// optionalRight emits (x(x(x)?)?)?.
func (e *emitter) optionalRight(n *node, next int32) int32 {
	at := next
	for range n.max - n.min {
		choice := e.add(inst{op: opAlt})
		e.choose(choice, e.turn(n, false, at), next, n.lazy)
		if at = choice; e.err != nil {
			return 0
		}
	}
	return at
}

// optionalLeft emits (((x)?x)?x)?.
func (e *emitter) optionalLeft(n *node, next int32) int32 {
	first, last := int32(-1), int32(-1)
	follow := next
	for i := n.max - n.min; i > 0; i-- {
		choice := e.add(inst{op: opAlt, y: follow})
		if last >= 0 {
			e.insts[last].x = choice
		} else {
			first = choice
		}
		last = choice
		if follow = e.turn(n, i == 1, follow); e.err != nil {
			return 0
		}
	}
	if first < 0 {
		return next
	}
	e.insts[last].x = follow
	return first
}

// isNullable reports whether n can match nothing at all.
func isNullable(n *node) bool {
	for n != nil {
		switch n.kind {
		case kindClass, kindFail:
			return false
		case kindConcat:
			if !isNullable(n.left) {
				return false
			}
			n = n.right
		case kindAlt:
			// The side that goes on with the chain is followed, the other one asked.
			side, chain := n.left, n.right
			if isAlt(n.left) {
				side, chain = n.right, n.left
			}
			if isNullable(side) {
				return true
			}
			n = chain
		case kindRepeat:
			if n.min == 0 {
				return true
			}
			n = n.left
		case kindGroup, kindAtomic:
			n = n.left
		default:
			return true
		}
	}
	return true
}
