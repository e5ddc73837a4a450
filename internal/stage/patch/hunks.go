package patch

import (
	"bytes"
	"fmt"
	"io"
	"slices"
)

const (
	contextLines = 3
	// maxEdits bounds the search for a short difference, whose time and memory grow with
	// the square. Beyond it one edit replaces all lines between the first and the last
	// difference, which is correct but longer.
	maxEdits = 2000
)

// edit replaces the lines from, to of the old file with the lines newFrom, newTo
// of the new one.
type edit struct{ from, to, newFrom, newTo int }

// writeHunks writes the difference of two texts in unified format, without file headers.
func writeHunks(w io.Writer, before, after []byte) error {
	a, b := splitLines(before), splitLines(after)
	edits := diffLines(a, b)
	for len(edits) > 0 {
		n := 1
		for n < len(edits) && edits[n].from-edits[n-1].to <= 2*contextLines {
			n++
		}
		if err := writeHunk(w, a, b, edits[:n]); err != nil {
			return err
		}
		edits = edits[n:]
	}
	return nil
}

func writeHunk(w io.Writer, a, b [][]byte, edits []edit) error {
	first, last := edits[0], edits[len(edits)-1]
	lead := min(contextLines, first.from)
	trail := min(contextLines, len(a)-last.to)
	from, to := first.from-lead, last.to+trail
	newFrom, newTo := first.newFrom-lead, last.newTo+trail
	var out bytes.Buffer
	fmt.Fprintf(&out, "@@ -%s +%s @@\n", formatSpan(from, to), formatSpan(newFrom, newTo))
	at := from
	for _, e := range edits {
		writeLines(&out, ' ', a[at:e.from])
		writeLines(&out, '-', a[e.from:e.to])
		writeLines(&out, '+', b[e.newFrom:e.newTo])
		at = e.to
	}
	writeLines(&out, ' ', a[at:to])
	_, err := w.Write(out.Bytes())
	return err
}

// formatSpan returns a range of a hunk's header. An empty range names the line before it.
func formatSpan(from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(from + 1)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func writeLines(out *bytes.Buffer, sign byte, lines [][]byte) {
	for _, l := range lines {
		out.WriteByte(sign)
		out.Write(l)
		if !bytes.HasSuffix(l, []byte{'\n'}) {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

func splitLines(text []byte) [][]byte {
	return slices.Collect(bytes.Lines(text))
}

// diffLines returns the edits from a to b in order.
func diffLines(a, b [][]byte) []edit {
	head := 0
	for head < len(a) && head < len(b) && bytes.Equal(a[head], b[head]) {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && bytes.Equal(a[len(a)-1-tail], b[len(b)-1-tail]) {
		tail++
	}
	x, y := a[head:len(a)-tail], b[head:len(b)-tail]
	if len(x) == 0 && len(y) == 0 {
		return nil
	}
	edits, ok := findShortest(x, y)
	if !ok {
		edits = []edit{{0, len(x), 0, len(y)}}
	}
	for i := range edits {
		edits[i].from += head
		edits[i].to += head
		edits[i].newFrom += head
		edits[i].newTo += head
	}
	return edits
}

// findShortest returns a shortest edit script (Myers, "An O(ND) difference algorithm and
// its variations", 1986); false if it needs more than maxEdits edits.
func findShortest(a, b [][]byte) ([]edit, bool) {
	n, m := len(a), len(b)
	limit := min(n+m, maxEdits)
	v := make([]int, 2*limit+3) // furthest x on each diagonal, shifted by limit+1
	at := func(k int) int { return k + limit + 1 }
	var trace [][]int
	for d := 0; d <= limit; d++ {
		trace = append(trace, slices.Clone(v[at(-d):at(d)+1]))
		for k := -d; k <= d; k += 2 {
			x := v[at(k-1)] + 1
			if k == -d || k != d && v[at(k-1)] < v[at(k+1)] {
				x = v[at(k+1)]
			}
			for x < n && x-k < m && x-k >= 0 && bytes.Equal(a[x], b[x-k]) {
				x++
			}
			v[at(k)] = x
			if x >= n && x-k >= m {
				return backtrack(trace, n, m), true
			}
		}
	}
	return nil, false
}

// backtrack follows the search back from its end and joins adjacent steps.
// trace[d] has the diagonals -d to d before step d.
func backtrack(trace [][]int, n, m int) []edit {
	var edits []edit
	x, y := n, m
	for d := len(trace) - 1; d > 0; d-- {
		get := func(k int) int {
			if k < -d || k > d {
				return -1
			}
			return trace[d][k+d]
		}
		k := x - y
		down := k == -d || k != d && get(k-1) < get(k+1)
		px := get(k - 1)
		pk := k - 1
		if down {
			px, pk = get(k+1), k+1
		}
		py := px - pk
		e := edit{px, px + 1, py, py}
		if down {
			e = edit{px, px, py, py + 1}
		}
		if last := len(edits) - 1; last >= 0 && edits[last].from == e.to && edits[last].newFrom == e.newTo {
			edits[last].from, edits[last].newFrom = e.from, e.newFrom
		} else {
			edits = append(edits, e)
		}
		x, y = px, py
	}
	slices.Reverse(edits)
	return edits
}
