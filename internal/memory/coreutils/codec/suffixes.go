package codec

// suffixArray returns the beginnings of the suffixes of text, whose symbols are 0 to top,
// in the order of the suffixes. It takes linear time: suffixes that are smaller than the
// next one and follow a larger one are sorted by recursion, the others are induced from them
// (Nong, Zhang, Chan: "Two Efficient Algorithms for Linear Time Suffix Array Construction").
func suffixArray(text []int32, top int32) []int32 {
	n := len(text)
	switch n {
	case 0:
		return nil
	case 1:
		return []int32{0}
	}
	s := newSuffixSorter(text, top)
	var starts []int32 // of the small suffixes after large ones
	number := make([]int32, n+1)
	for i := range number {
		number[i] = -1
	}
	for i := 1; i < n; i++ {
		if s.smaller[i] && !s.smaller[i-1] {
			number[i] = int32(len(starts))
			starts = append(starts, int32(i))
		}
	}
	s.induce(starts)
	if len(starts) > 0 {
		s.induce(s.sortStarts(starts, number))
	}
	return s.order
}

type suffixSorter struct {
	text    []int32
	smaller []bool  // the suffix is smaller than the next one
	large   []int32 // where in order the suffixes of a symbol begin
	small   []int32 // and where the smaller ones of these do
	next    []int32
	order   []int32
}

// newSuffixSorter returns a sorter of the suffixes of a text.
//
// bounded: a block of bzip2 has 900 kB, and bzip2WriterFactor is charged for each byte.
func newSuffixSorter(text []int32, top int32) *suffixSorter {
	n := len(text)
	s := &suffixSorter{
		text: text, smaller: make([]bool, n), large: make([]int32, top+2), small: make([]int32, top+1),
		next: make([]int32, top+2), order: make([]int32, n),
	}
	for i := n - 2; i >= 0; i-- {
		s.smaller[i] = text[i] < text[i+1] || text[i] == text[i+1] && s.smaller[i+1]
	}
	for i, c := range text {
		if s.smaller[i] {
			s.large[c+1]++
		} else {
			s.small[c]++
		}
	}
	for c := range s.small {
		s.small[c] += s.large[c]
		s.large[c+1] += s.small[c]
	}
	return s
}

// induce fills order from the given order of starts.
func (s *suffixSorter) induce(starts []int32) {
	for i := range s.order {
		s.order[i] = -1
	}
	n := int32(len(s.text))
	copy(s.next, s.small)
	for _, at := range starts {
		c := s.text[at]
		s.order[s.next[c]] = at
		s.next[c]++
	}
	copy(s.next, s.large)
	c := s.text[n-1]
	s.order[s.next[c]] = n - 1
	s.next[c]++
	for i := range s.order {
		if v := s.order[i]; v >= 1 && !s.smaller[v-1] {
			c := s.text[v-1]
			s.order[s.next[c]] = v - 1
			s.next[c]++
		}
	}
	copy(s.next, s.large)
	for i := n - 1; i >= 0; i-- {
		if v := s.order[i]; v >= 1 && s.smaller[v-1] {
			c := s.text[v-1] + 1
			s.next[c]--
			s.order[s.next[c]] = v - 1
		}
	}
}

// sortStarts sorts starts, whose parts of the text induce has just sorted.
func (s *suffixSorter) sortStarts(starts, number []int32) []int32 {
	sorted := make([]int32, 0, len(starts))
	for _, v := range s.order {
		if number[v] >= 0 {
			sorted = append(sorted, v)
		}
	}
	end := func(v int32) int32 {
		if i := number[v] + 1; int(i) < len(starts) {
			return starts[i]
		}
		return int32(len(s.text))
	}
	names := make([]int32, len(starts))
	top := int32(0)
	for i := 1; i < len(sorted); i++ {
		if !s.samePart(sorted[i-1], end(sorted[i-1]), sorted[i], end(sorted[i])) {
			top++
		}
		names[number[sorted[i]]] = top
	}
	for i, at := range suffixArray(names, top) {
		sorted[i] = starts[at]
	}
	return sorted
}

// samePart compares two parts, each with the symbol behind it.
func (s *suffixSorter) samePart(a, endA, b, endB int32) bool {
	if endA-a != endB-b {
		return false
	}
	n := int32(len(s.text))
	if endA == n || endB == n {
		return false
	}
	for ; a <= endA; a, b = a+1, b+1 {
		if s.text[a] != s.text[b] {
			return false
		}
	}
	return true
}

// leastRotation returns where the smallest rotation of text begins.
func leastRotation(text []byte) int {
	n := len(text)
	at := func(i int) byte {
		if i >= n {
			i -= n
		}
		return text[i]
	}
	i, j, k := 0, 1, 0
	for i < n && j < n && k < n {
		a, b := at(i+k), at(j+k)
		switch {
		case a == b:
			k++
			continue
		case a > b:
			i += k + 1
		default:
			j += k + 1
		}
		if i == j {
			j++
		}
		k = 0
	}
	return min(i, j)
}

// rotationSort returns the last column of the sorted rotations of text, and the position of text itself among them. In the
// smallest rotation the suffixes sort as the rotations do: what follows a shorter suffix, the beginning, is never larger than
// anything else.
func rotationSort(text []byte) (last []byte, origin int) {
	n := len(text)
	shift := leastRotation(text)
	symbols := make([]int32, n)
	for i := range symbols {
		symbols[i] = int32(text[(shift+i)%n])
	}
	last = make([]byte, n)
	for rank, at := range suffixArray(symbols, 255) {
		begin := int(at) + shift
		if begin >= n {
			begin -= n
		}
		if begin == 0 {
			origin = rank
			begin = n
		}
		last[rank] = text[begin-1]
	}
	return last, origin
}
