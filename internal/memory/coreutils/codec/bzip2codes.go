package codec

import "slices"

const (
	groupSize   = 50 // symbols that share a code
	codeRounds  = 4  // how often codes and groups are fitted to each other
	longestCode = 17
)

// codeTable is a prefix code. A stream contains only the lengths.
type codeTable struct {
	lengths []uint8
	codes   []uint32
}

// writeSymbols writes symbols, of which there are count different ones, with up to six codes: each group of fifty symbols uses
// the code that makes it shortest.
func writeSymbols(b *bitWriter, symbols []uint16, count int) {
	tables := firstTables(symbols, count)
	groups := (len(symbols) + groupSize - 1) / groupSize
	choice := make([]uint8, groups)
	for range codeRounds {
		frequency := make([][]int, len(tables))
		for i := range frequency {
			frequency[i] = make([]int, count)
		}
		for g := range choice {
			part := symbols[g*groupSize : min((g+1)*groupSize, len(symbols))]
			choice[g] = cheapest(tables, part)
			for _, s := range part {
				frequency[choice[g]][s]++
			}
		}
		for i := range tables {
			tables[i].lengths = codeLengths(frequency[i], longestCode)
		}
	}
	for i := range tables {
		tables[i].assign()
	}
	writeCodes(b, tables, choice)
	for g, c := range choice {
		t := &tables[c]
		for _, s := range symbols[g*groupSize : min((g+1)*groupSize, len(symbols))] {
			b.write(uint64(t.codes[s]), uint(t.lengths[s]))
		}
		if len(b.out) > 1<<16 {
			b.flush()
		}
	}
}

// firstTables shares the symbols out among the tables, so that each covers a range that
// is about as frequent as the others'.
func firstTables(symbols []uint16, count int) []codeTable {
	n := 6
	for i, least := range []int{200, 600, 1200, 2400} {
		if len(symbols) < least {
			n = i + 2
			break
		}
	}
	frequency := make([]int, count) // bounded: 258 symbols
	for _, s := range symbols {
		frequency[s]++
	}
	tables := make([]codeTable, n) // bounded: six tables
	left, from := len(symbols), 0
	for i := range tables {
		want, sum, to := left/(n-i), 0, from
		for to < count && (sum < want || to == from) {
			sum += frequency[to]
			to++
		}
		left -= sum
		lengths := make([]uint8, count) // bounded: 258 symbols
		for s := range lengths {
			if s < from || s >= to {
				lengths[s] = 15
			}
		}
		tables[i].lengths = lengths
		from = to
	}
	return tables
}

func cheapest(tables []codeTable, part []uint16) uint8 {
	best, at := 1<<30, 0
	for i := range tables {
		cost, lengths := 0, tables[i].lengths
		for _, s := range part {
			cost += int(lengths[s])
		}
		if cost < best {
			best, at = cost, i
		}
	}
	return uint8(at)
}

// writeCodes writes the code that each group uses, and the codes.
func writeCodes(b *bitWriter, tables []codeTable, choice []uint8) {
	b.write(uint64(len(tables)), 3)
	b.write(uint64(len(choice)), 15)
	recent := []uint8{0, 1, 2, 3, 4, 5}
	for _, c := range choice {
		at := slices.Index(recent, c)
		for range at {
			b.write(1, 1)
		}
		b.write(0, 1)
		copy(recent[1:], recent[:at])
		recent[0] = c
	}
	for _, t := range tables {
		now := t.lengths[0]
		b.write(uint64(now), 5)
		for _, length := range t.lengths {
			for ; now < length; now++ {
				b.write(0b10, 2)
			}
			for ; now > length; now-- {
				b.write(0b11, 2)
			}
			b.write(0, 1)
		}
	}
}

// assign numbers the codes: shorter ones first, and equal ones in the order of the symbols.
func (t *codeTable) assign() {
	t.codes = make([]uint32, len(t.lengths))
	code := uint32(0)
	for length := uint8(1); length <= longestCode; length++ {
		for s, l := range t.lengths {
			if l == length {
				t.codes[s] = code
				code++
			}
		}
		code <<= 1
	}
}

// codeLengths returns the lengths of the best prefix code for the frequencies in which no
// code is longer than longest: packages of the rarest symbols are merged level by level
// (Larmore and Hirschberg). A symbol that does not occur counts as very rare.
func codeLengths(frequency []int, longest int) []uint8 {
	type packet struct {
		weight  int
		symbols []uint16
	}
	single := make([]packet, len(frequency))
	for s, f := range frequency {
		single[s] = packet{max(f, 1), []uint16{uint16(s)}}
	}
	byWeight := func(a, b packet) int { return a.weight - b.weight }
	slices.SortStableFunc(single, byWeight)
	level := single
	for range longest - 1 {
		merged := slices.Clone(single)
		for i := 0; i+1 < len(level); i += 2 {
			merged = append(merged, packet{level[i].weight + level[i+1].weight, slices.Concat(level[i].symbols, level[i+1].symbols)})
		}
		slices.SortStableFunc(merged, byWeight)
		level = merged
	}
	lengths := make([]uint8, len(frequency))
	for _, p := range level[:2*len(frequency)-2] {
		for _, s := range p.symbols {
			lengths[s]++
		}
	}
	return lengths
}
