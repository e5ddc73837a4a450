package diff

import (
	"fmt"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/linediff"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
)

// diffPair is a comparison of two files.
type diffPair struct {
	*diffJob
	f       [2]*diffFile
	within  bool // from directories
	changes []diffChange
	depth   int // of conditions that are being read
	begun   bool

	functionAt, functionSeen int // where -p looks next, and what it found last
}

// diffChange is a change that may be one that an option leaves out.
type diffChange struct {
	linediff.Change
	ignore bool
}

// files compares two files that are not directories.
func (d *diffJob) files(a, b *diffFile, within bool) int {
	p := &diffPair{diffJob: d, f: [2]*diffFile{a, b}, within: within, functionSeen: -1}
	same := !a.absent && !b.absent && (a.name == b.name || a.info.Ino == b.info.Ino && a.info.Ino != 0 && a.info.Mode.IsRegular())
	if same && !d.showsAll() {
		return p.report(false)
	}
	okA, okB := d.read(a), d.read(b)
	if !okA || !okB {
		return 2
	}
	strict := d.brief && !d.ignoreBlank && !d.foldCase && !d.stripCR && d.space == spaceCounts && len(d.ignoreLines) == 0
	binary := !d.text && (isBinary(a.text) || isBinary(b.text))
	if binary || strict {
		differ := a.text != b.text
		if differ && !d.brief {
			d.message("Binary files %s and %s differ\n", p.label(0), p.label(1))
			return 1
		}
		return p.report(differ)
	}
	a.split(d.stripCR)
	b.split(d.stripCR)
	if err := p.find(); err != nil {
		d.ended = err
		return 2
	}
	differ := p.differ()
	if d.brief {
		return p.report(differ)
	}
	status := 0
	if differ {
		status = 1
	}
	if differ || d.showsAll() {
		p.write()
	}
	if !d.exact() {
		for _, f := range p.f {
			if f.incomplete {
				_ = d.out.Flush()
				d.p.Warn("%s: No newline at end of file\n", f.name)
				status = 2
			}
		}
	}
	if !differ {
		_ = p.report(false)
	}
	return status
}

// report says briefly whether the files differ.
func (p *diffPair) report(differ bool) int {
	switch {
	case differ && p.brief:
		p.message("Files %s and %s differ\n", p.label(0), p.label(1))
	case !differ && p.sayIdentical:
		p.message("Files %s and %s are identical\n", p.label(0), p.label(1))
	}
	if differ {
		return 1
	}
	return 0
}

func (p *diffPair) label(i int) string { return p.shown(i, p.f[i]) }

// isBinary looks for a NUL where GNU diff does: in the first block.
func isBinary(text string) bool {
	return strings.IndexByte(text[:min(len(text), 4096)], 0) >= 0
}

// find computes the changes. It leaves out the common lines at both ends, except for those of the horizon.
func (p *diffPair) find() error {
	a, b := p.f[0], p.f[1]
	prefix := 0
	whole := func(f *diffFile, i int) bool { return i < len(f.lines)-1 || !f.incomplete }
	for prefix < len(a.lines) && prefix < len(b.lines) && a.lines[prefix] == b.lines[prefix] && whole(a, prefix) && whole(b, prefix) {
		prefix++
	}
	prefix = max(prefix-p.horizon, 0)
	suffix := 0
	if !p.exact() || a.incomplete == b.incomplete {
		x, y := len(a.lines)-1, len(b.lines)-1
		for x-suffix >= prefix && y-suffix >= prefix && a.lines[x-suffix] == b.lines[y-suffix] {
			suffix++
		}
		suffix = max(suffix-p.horizon, 0)
	}
	x, y, err := p.classes(prefix, suffix)
	if err != nil {
		return err
	}
	found, err := linediff.Changes(x, y, linediff.Options{Minimal: p.minimal, Spend: p.p.Spend})
	if err != nil {
		return err
	}
	for _, c := range found {
		c.A += prefix
		c.B += prefix
		p.changes = append(p.changes, diffChange{Change: c})
	}
	p.markIgnored()
	return nil
}

// classes gives equal lines equal numbers.
func (p *diffPair) classes(prefix, suffix int) (a, b []int, err error) {
	known := map[string]int{}
	number := func(f *diffFile) ([]int, error) {
		lines := f.lines[prefix : len(f.lines)-suffix]
		out := make([]int, len(lines))
		for i, line := range lines {
			key, err := p.key(line)
			if err != nil {
				return nil, err
			}
			if f.incomplete && prefix+i == len(f.lines)-1 && p.exact() && p.space < spaceTrailing {
				// No other key contains a newline.
				key += "\n"
			}
			n, ok := known[key]
			if !ok {
				n = len(known) + 1
				known[key] = n
			}
			out[i] = n
		}
		return out, nil
	}
	if a, err = number(p.f[0]); err == nil {
		b, err = number(p.f[1])
	}
	return a, b, err
}

// key returns the line without ignored parts. The error is ENOMEM if its expanded tabs do not fit into the machine's memory.
func (p *diffPair) key(line string) (string, error) {
	if !p.foldCase && p.space == spaceCounts {
		return line, nil
	}
	b := make([]byte, 0, len(line))
	column, blanks := 0, 0
	for i := range len(line) {
		c := line[i]
		if p.foldCase && c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if !ascii.IsSpace(c) {
			if blanks > 0 && p.space == spaceChange {
				b = append(b, ' ')
			}
			b = append(b, c)
			blanks = 0
			column++
			continue
		}
		blanks++
		switch {
		case p.space == spaceAll || p.space == spaceChange:
		case c == '\t' && p.space&spaceTabs != 0:
			blank := p.tab - column%p.tab
			var err error
			if b, err = program.GrowBuffer(p.p, b, blank); err != nil {
				return "", err
			}
			for range blank {
				b = append(b, ' ')
			}
			column += blank
		default:
			b = append(b, c)
			column++
		}
	}
	if p.space < spaceChange && p.space&spaceTrailing != 0 {
		for len(b) > 0 && ascii.IsSpace(b[len(b)-1]) {
			b = b[:len(b)-1]
		}
	}
	return string(b), nil
}

// markIgnored marks the changes that consist of ignored lines.
func (p *diffPair) markIgnored() {
	if !p.ignoreBlank && len(p.ignoreLines) == 0 {
		return
	}
	for i := range p.changes {
		c := &p.changes[i]
		c.ignore = p.trivial(p.f[0].lines[c.A:c.A+c.Del]) && p.trivial(p.f[1].lines[c.B:c.B+c.Ins])
	}
}

func (p *diffPair) trivial(lines []string) bool {
	for _, line := range lines {
		if !p.trivialLine(line) {
			return false
		}
	}
	return true
}

func (p *diffPair) trivialLine(line string) bool {
	if p.ignoreBlank {
		text := line
		if p.space >= spaceTrailing {
			text = strings.TrimLeft(line, " \t\r\v\f")
		}
		if text == "" {
			return true
		}
	}
	for _, matches := range p.ignoreLines {
		if matches(line) {
			return true
		}
	}
	return false
}

func (p *diffPair) differ() bool {
	for _, c := range p.changes {
		if !c.ignore {
			return true
		}
	}
	return false
}

// begin writes the heading of the differences of two files of directories.
func (p *diffPair) begin() {
	if p.begun {
		return
	}
	p.begun = true
	if p.within {
		fmt.Fprintf(p.out, "diff%s %s %s\n", p.switches, p.quoted(0), p.quoted(1))
	}
}

// quoted returns the name for a header, in quotes when it has blanks or control characters.
func (p *diffPair) quoted(i int) string { return quoting.CName(p.label(i)) }

func (p *diffPair) write() {
	p.begin()
	switch p.style {
	case diffContext, diffUnified:
		p.writeHunks()
	case diffEd:
		p.writeEd()
	case diffForward:
		p.writeForward()
	case diffRCS:
		p.writeRCS()
	case diffSide:
		p.writeSide()
	case diffGroups:
		p.writeGroups()
	default:
		p.writeNormal()
	}
}
