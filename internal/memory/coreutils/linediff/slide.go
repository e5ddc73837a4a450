package linediff

// slide moves runs of changed lines: a run that is followed by a copy of its first line may
// as well be one line later. Runs that meet become one; the run then goes as far to the
// end as it can, or back to where the other file has changes too.
func (s *side) slide(other *side) {
	i, j, end := 0, 0, len(s.lines)
	for { // bounded: each round passes over lines, which are charged
		for i < end && !s.is(i) {
			for other.is(j) {
				j++
			}
			j++
			i++
		}
		if i == end {
			return
		}
		start := i
		for s.is(i) {
			i++
		}
		for other.is(j) {
			j++
		}
		partner := end
		for length := -1; length != i-start; { // bounded: each round makes the run longer
			length = i - start
			for start > 0 && s.lines[start-1] == s.lines[i-1] {
				start--
				i--
				s.set(start, true)
				s.set(i, false)
				for s.is(start - 1) {
					start--
				}
				j--
				for other.is(j) {
					j--
				}
			}
			partner = end
			if other.is(j - 1) {
				partner = i
			}
			for i != end && s.lines[start] == s.lines[i] {
				s.set(start, false)
				s.set(i, true)
				start++
				i++
				for s.is(i) {
					i++
				}
				j++
				for other.is(j) {
					partner = i
					j++
				}
			}
		}
		for partner < i {
			start--
			i--
			s.set(start, true)
			s.set(i, false)
			j--
			for other.is(j) {
				j--
			}
		}
	}
}
