package stage

import "bytes"

// CountLines says for each change how many lines a patch of it adds and removes, in the
// same order. It reads what [Sides.WritePatch] reads.
func (s Sides) CountLines(changes []Change) ([]Lines, error) {
	counts := make([]Lines, len(changes))
	for i, c := range changes {
		if c.Binary || !c.Patchable() {
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

// LinesOf counts in a patch that [Sides.WritePatch] has written.
func LinesOf(patch []byte) Lines {
	counter := lineCounter{}
	_, _ = counter.Write(patch) // it cannot fail
	return counter.Lines
}

// lineCounter counts the lines of a patch that is written to it. In a hunk every line
// has a sign of its own in front, so that no content looks like a header.
type lineCounter struct {
	Lines
	hunk bool // in one
	rest bool // of a line that began in an earlier write
}

func (l *lineCounter) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		if !l.rest {
			l.begin(line[0])
		}
		l.rest = line[len(line)-1] != '\n'
	}
	return len(p), nil
}

func (l *lineCounter) begin(sign byte) {
	switch {
	case sign == 'd': // "diff --git"
		l.hunk = false
	case sign == '@':
		l.hunk = true
	case l.hunk && sign == '+':
		l.Added++
	case l.hunk && sign == '-':
		l.Removed++
	}
}
