package linediff

// What happens to a line before the comparison.
const (
	keep        = 0
	drop        = 1 // it has no partner
	provisional = 2 // it has too many: dropped only in the middle of others
)

// discardConfusing marks the lines that cannot be in a common subsequence, and those
// that are so common that they would only mislead, as changed and leaves them out.
func discardConfusing(f [2]*side, minimal bool) {
	count := [2]map[int]int{occurrences(f[0].lines), occurrences(f[1].lines)}
	for k, s := range f {
		other := count[1-k]
		many := tooMany(len(s.lines))
		verdict := make([]byte, len(s.lines))
		for i, line := range s.lines {
			switch n := other[line]; {
			case n == 0:
				verdict[i] = drop
			case n > many:
				verdict[i] = provisional
			}
		}
		reconsiderLines(verdict)
		for i, v := range verdict {
			if minimal || v == keep {
				s.kept = append(s.kept, s.lines[i]) // bounded: the reader of the lines charges for them
				s.index = append(s.index, i)        // bounded: the reader of the lines charges for them
			} else {
				s.mark(i)
			}
		}
	}
}

func occurrences(lines []int) map[int]int {
	m := make(map[int]int, len(lines))
	for _, l := range lines {
		m[l]++
	}
	return m
}

// tooMany returns the number of occurrences in the other file from which a line is too common:
// about the square root of the number of lines.
func tooMany(lines int) int {
	many := 5
	for n := lines / 64 >> 2; n > 0; n >>= 2 {
		many *= 2
	}
	return many
}

// reconsiderLines keeps provisional lines but for those well inside a run of others.
func reconsiderLines(v []byte) {
	for i := 0; i < len(v); i++ {
		switch v[i] {
		case provisional:
			v[i] = keep
		case drop:
			end, common := i, 0
			for end < len(v) && v[end] != keep {
				if v[end] == provisional {
					common++
				}
				end++
			}
			for end > i && v[end-1] == provisional {
				end--
				v[end] = keep
				common--
			}
			reconsiderRun(v[i:end], common)
			i = end - 1
		}
	}
}

// reconsiderRun looks at a run that begins and ends with lines to drop.
func reconsiderRun(run []byte, common int) {
	if common*4 > len(run) {
		for i := range run {
			if run[i] == provisional {
				run[i] = keep
			}
		}
		return
	}
	keepSubruns(run)
	at := func(i int) *byte { return &run[i] }
	keepEdge(len(run), at)
	keepEdge(len(run), func(i int) *byte { return &run[len(run)-1-i] })
}

// keepSubruns keeps provisional lines when there are too many of them in a row: about the square
// root of a quarter of the run.
func keepSubruns(run []byte) {
	least := 1
	for n := len(run) >> 2 >> 2; n > 0; n >>= 2 {
		least <<= 1
	}
	least++
	for i := 0; i < len(run); {
		if run[i] != provisional {
			i++
			continue
		}
		end := i
		for end < len(run) && run[end] == provisional {
			end++
		}
		if end-i >= least {
			for k := i; k < end; k++ {
				run[k] = keep
			}
		}
		i = end
	}
}

// keepEdge keeps the provisional lines near the beginning of a run: up to three lines to
// drop in a row, or the first one that is eight lines in.
func keepEdge(n int, at func(int) *byte) {
	row := 0
	for i := range n {
		v := at(i)
		if i >= 8 && *v == drop {
			return
		}
		switch *v {
		case provisional:
			row, *v = 0, keep
		case keep:
			row = 0
		default:
			row++
		}
		if row == 3 {
			return
		}
	}
}
