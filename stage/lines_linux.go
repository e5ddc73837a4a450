package stage

import (
	"bufio"
	"bytes"
)

// CountLines says for each change how many lines a patch of it adds and removes, in the
// same order. It reads what [Stage.WritePatch] reads.
func (s *Stage) CountLines(changes []Change) ([]Lines, error) {
	d, err := s.openDiff()
	if err != nil {
		return nil, err
	}
	defer d.close()
	counts := make([]Lines, len(changes))
	for i, c := range changes {
		if c.Binary || !c.Patchable() {
			continue
		}
		counter := lineCounter{}
		out := bufio.NewWriter(&counter)
		if err := d.patch(out, c); err != nil {
			return nil, err
		}
		if err := out.Flush(); err != nil {
			return nil, err
		}
		counts[i] = counter.Lines
	}
	return counts, nil
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
