package regex

// walker follows the way that the C library takes through a program once it knows the
// match: at a choice the first branch from which the end can be reached. It sets the
// groups on the way.
type walker struct {
	now, last []int // groups, and those before a turn of a loop that took nothing
	seen      marks
}

// walk sets caps from the trail that rev.read recorded of b[begin:], length characters.
func (w *walker) walk(rev *reverse, b []byte, begin, length int, caps []int) {
	p := rev.p
	w.now, w.last = reset(w.now, p.slots), reset(w.last, p.slots)
	w.seen.clear(len(p.insts))
	pc, i, n := p.start, begin, length
	// Every instruction is passed at most twice without taking a character.
	for still := 0; still <= 2*len(p.insts); still++ {
		in := &p.insts[pc]
		switch in.op {
		case opMatch:
			copy(caps[2:], w.now[2:])
			return
		case opClass:
			_, width := p.decode(b, i)
			i += width
			n--
			still = 0
			w.seen.clear(len(p.insts))
			pc = in.x
			continue
		case opSave:
			w.save(in, i)
		default:
		}
		w.seen.put(pc)
		pc = in.x
		if in.op == opAlt {
			pc = w.choose(rev, in, rev.trail[n])
		}
	}
}

func reset(s []int, n int) []int {
	s = append(s[:0], make([]int, n)...)
	for i := range s {
		s[i] = -1
	}
	return s
}

// choose returns the first of two branches that leads to the end; the second if that
// would go round without taking anything.
func (w *walker) choose(rev *reverse, in *inst, set int32) int32 {
	switch {
	case !rev.holds(set, in.x):
		return in.y
	case rev.holds(set, in.y) && w.seen.round[in.x] == w.seen.now:
		return in.y
	}
	return in.x
}

// save sets the beginning or end of a group.
func (w *walker) save(in *inst, i int) {
	n := in.n
	if n%2 == 0 {
		w.now[n], w.now[n+1] = i, -1
		return
	}
	switch begin := n - 1; {
	case w.now[begin] < i:
		w.now[n] = i
		copy(w.last, w.now)
	case in.flag && w.last[begin] != -1:
		// An empty turn of a loop that is not the first one: its captures are undone.
		copy(w.now, w.last)
	default:
		w.now[n] = i
	}
}
