package patch

import "bytes"

// CountLines counts the lines that a patch of each change adds and removes, in the same order. It reads the files that
// [Sides.WritePatch] reads.
func (s Sides) CountLines(changes []Change) ([]Lines, error) {
	counts := make([]Lines, len(changes))
	for i, c := range changes {
		if c.Binary || !c.IsPatchable() {
			continue
		}
		counter := lineCounter{}
		if err := s.WritePatch(&counter, changes[i:i+1]); err != nil {
			return nil, err
		}
		counts[i] = counter.Lines
	}
	return counts, nil
}

// LinesOf counts the lines of a patch that [Sides.WritePatch] has written.
func LinesOf(patch []byte) Lines {
	counter := lineCounter{}
	_, _ = counter.Write(patch) // always succeeds
	return counter.Lines
}

// lineCounter counts the lines of a patch that is written to it. Every line of a hunk begins with a sign, so that no
// content looks like a header.
type lineCounter struct {
	Lines
	inHunk bool
	inLine bool // the last write ended inside a line
}

func (l *lineCounter) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		if !l.inLine {
			l.begin(line[0])
		}
		l.inLine = line[len(line)-1] != '\n'
	}
	return len(p), nil
}

func (l *lineCounter) begin(sign byte) {
	switch {
	case sign == 'd': // "diff --git"
		l.inHunk = false
	case sign == '@':
		l.inHunk = true
	case l.inHunk && sign == '+':
		l.Added++
	case l.inHunk && sign == '-':
		l.Removed++
	}
}
