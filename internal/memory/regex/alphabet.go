package regex

import (
	"slices"
	"unicode/utf8"
)

// strayByte is added to a byte that is not part of a character, to distinguish it from all
// characters.
const strayByte = utf8.MaxRune + 1

// alphabet divides the characters into kinds that a program treats alike; the
// automata work on kinds. The number kinds stands for the end of the text.
type alphabet struct {
	flags Flags
	kinds int
	table [256]uint16 // of a byte; multi for one that begins a longer character or none
	from  []rune      // ranges begin here and go up to the next
	ids   []uint16    // and have these kinds

	word []bool // by kind: a word character
	eol  []bool // ends a line
	has  []bool // by class and kind
}

// multi marks a byte that has to be decoded.
const multi = 0xFFFF

// newAlphabet divides characters by the classes of p and by the ones that its assertions test.
func newAlphabet(p *prog, flags Flags) alphabet {
	sets := slices.Clone(p.classes)
	word, eol := -1, -1
	if p.asserts&(afterWord|beforeWord) != 0 {
		word = len(sets)
		sets = append(sets, ctype("word", flags&(Bytes|Perl) != 0))
	}
	if p.asserts&(afterLine|beforeLineEnd) != 0 && flags&Multiline != 0 {
		eol = len(sets)
		end := lineEndOf(flags)
		sets = append(sets, &set{ranges: []rune{end, end}})
	}
	a := alphabet{flags: flags}
	members := a.divide(sets)
	a.word, a.eol = make([]bool, a.kinds+1), make([]bool, a.kinds+1)
	a.has = make([]bool, len(p.classes)*(a.kinds+1))
	for kind, in := range members {
		for _, s := range in {
			switch s {
			case word:
				a.word[kind] = true
			case eol:
				a.eol[kind] = true
			default:
				a.has[s*(a.kinds+1)+kind] = true
			}
		}
	}
	a.fillTable()
	return a
}

// edge is a boundary of a set: its first character, or the one after its last.
type edge struct {
	at    rune
	set   int
	begin bool
}

// divide finds the kinds, and returns which sets each is in.
func (a *alphabet) divide(sets []*set) [][]int {
	var edges []edge
	for i, s := range sets {
		for j := 0; j < len(s.ranges); j += 2 {
			edges = append(edges, edge{s.ranges[j], i, true}, edge{s.ranges[j+1] + 1, i, false})
		}
	}
	slices.SortFunc(edges, func(x, y edge) int { return int(x.at - y.at) })
	var members [][]int
	known := map[string]uint16{}
	inside := make([]byte, (len(sets)+7)/8)
	put := func(from rune) {
		id, ok := known[string(inside)]
		if !ok {
			id = uint16(len(members))
			known[string(inside)] = id
			members = append(members, setsIn(inside))
		}
		if n := len(a.ids); n > 0 && a.ids[n-1] == id {
			return
		}
		a.from, a.ids = append(a.from, from), append(a.ids, id)
	}
	put(0)
	for i := 0; i < len(edges); {
		at := edges[i].at
		for ; i < len(edges) && edges[i].at == at; i++ {
			// Ranges of one set are apart, so that each edge turns its bit.
			inside[edges[i].set/8] ^= 1 << (edges[i].set % 8)
		}
		if n := len(a.from); n > 0 && a.from[n-1] == at {
			a.from, a.ids = a.from[:n-1], a.ids[:n-1]
		}
		put(at)
	}
	a.kinds = len(members)
	return members
}

func setsIn(bits []byte) []int {
	var in []int
	for i, b := range bits {
		for j := range 8 {
			if b&(1<<j) != 0 {
				in = append(in, 8*i+j)
			}
		}
	}
	return in
}

func (a *alphabet) fillTable() {
	for b := range 256 {
		switch {
		case b < utf8.RuneSelf || a.flags&Bytes != 0:
			a.table[b] = a.kindOf(rune(b))
		default:
			a.table[b] = multi
		}
	}
}

func (a *alphabet) kindOf(r rune) uint16 {
	lo, hi := 0, len(a.from)
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		if r < a.from[mid] {
			hi = mid
		} else {
			lo = mid
		}
	}
	return a.ids[lo]
}

// decode returns the kind of the character at i and its width.
func (a *alphabet) decode(b []byte, i int) (kind uint16, width int) {
	if k := a.table[b[i]]; k != multi {
		return k, 1
	}
	r, width := utf8.DecodeRune(b[i:])
	if r == utf8.RuneError && width == 1 {
		return a.kindOf(strayByte + rune(b[i])), 1
	}
	return a.kindOf(r), width
}

// decodeLast returns the kind of the character that ends before i, and its width.
func (a *alphabet) decodeLast(b []byte, i int) (kind uint16, width int) {
	if k := a.table[b[i-1]]; k != multi {
		return k, 1
	}
	r, width := utf8.DecodeLastRune(b[:i])
	if r == utf8.RuneError && width == 1 {
		return a.kindOf(strayByte + rune(b[i-1])), 1
	}
	return a.kindOf(r), width
}

// before returns the context that assertions see in front of i.
func (a *alphabet) before(b []byte, i int) context {
	if i == 0 {
		return afterText | afterLine
	}
	k, _ := a.decodeLast(b, i)
	return a.afterKind(int(k))
}

func (a *alphabet) afterKind(k int) context {
	var c context
	if a.eol[k] {
		c |= afterLine
	}
	if a.word[k] {
		c |= afterWord
	}
	return c
}

func (a *alphabet) beforeKind(k int) context {
	if k == a.kinds {
		return beforeEnd | beforeLineEnd
	}
	var c context
	if a.eol[k] {
		c |= beforeLineEnd
	}
	if a.word[k] {
		c |= beforeWord
	}
	return c
}

// contextAt returns the context that assertions see at i.
func (a *alphabet) contextAt(b []byte, i int) context {
	c := a.before(b, i)
	if i == len(b) {
		return c | beforeEnd | beforeLineEnd
	}
	k, _ := a.decode(b, i)
	return c | a.beforeKind(int(k))
}
