package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
)

// The colours of the output.
const (
	diffHeader  = "\x1b[1m"
	diffNumbers = "\x1b[36m"
	diffOld     = "\x1b[31m"
	diffNew     = "\x1b[32m"
	diffReset   = "\x1b[0m"
)

// in writes text in a colour when there are colours.
func (d *diffJob) in(color, text string) {
	if d.color {
		text = color + text + diffReset
	}
	_, _ = d.out.WriteString(text)
}

const noNewline = "\\ No newline at end of file\n"

// marked writes line i of file k behind a flag and a gap, which may be left out before
// empty lines, and says when its newline is missing.
func (p *diffPair) marked(color, flag, gap string, k, i int) {
	f := p.f[k]
	text := f.lines[i]
	if text == "" && p.suppressEmpty {
		gap = ""
	}
	colored := color != "" && p.color
	if colored {
		_, _ = p.out.WriteString(color)
	}
	_, _ = p.out.WriteString(flag + gap)
	p.writeExpanded(text, flag+gap)
	if colored {
		_, _ = p.out.WriteString(diffReset)
	}
	_ = p.out.WriteByte('\n')
	if f.incomplete && i == len(f.lines)-1 {
		_, _ = p.out.WriteString(noNewline)
	}
}

// writeExpanded writes the line, with spaces instead of tabs when that is asked for.
func (p *diffPair) writeExpanded(line, flag string) {
	b := p.out
	if !p.expandTabs || !strings.ContainsAny(line, "\t\r\b") {
		_, _ = b.WriteString(line)
		return
	}
	column := 0
	for i := range len(line) {
		switch c := line[i]; c {
		case '\t':
			n := p.tab - column%p.tab
			column += n
			if !program.WriteRepeated(b, ' ', n) {
				return
			}
		case '\r':
			_ = b.WriteByte(c)
			if i+1 < len(line) {
				_, _ = b.WriteString(flag)
			}
			column = 0
		case '\b':
			if column > 0 {
				column--
				_ = b.WriteByte(c)
			}
		default:
			if c >= ' ' && c <= '~' {
				column++
			}
			_ = b.WriteByte(c)
		}
	}
}

// diffRange shows lines from..from+n-1, which count from 0; an empty range shows the line before.
func diffRange(separator string, from, n int) string {
	if n > 1 {
		return fmt.Sprintf("%d%s%d", from+1, separator, from+n)
	}
	return fmt.Sprint(from + n)
}

func (c diffChange) letter() string {
	switch {
	case c.Del == 0:
		return "a"
	case c.Ins == 0:
		return "d"
	}
	return "c"
}

func (p *diffPair) writeNormal() {
	gap := " "
	if p.initialTab {
		gap = "\t"
	}
	for _, c := range p.changes {
		if c.ignore {
			continue
		}
		p.in(diffNumbers, diffRange(",", c.A, c.Del)+c.letter()+diffRange(",", c.B, c.Ins))
		_ = p.out.WriteByte('\n')
		for i := range c.Del {
			p.marked(diffOld, "<", gap, 0, c.A+i)
		}
		if c.Del > 0 && c.Ins > 0 {
			_, _ = p.out.WriteString("---\n")
		}
		for i := range c.Ins {
			p.marked(diffNew, ">", gap, 1, c.B+i)
		}
	}
}

func (p *diffPair) writeEd() {
	for _, c := range slices.Backward(p.changes) {

		if c.ignore {
			continue
		}
		fmt.Fprintf(p.out, "%s%s\n", diffRange(",", c.A, c.Del), c.letter())
		if c.Ins == 0 {
			continue
		}
		inserting := true
		for i := range c.Ins {
			if !inserting {
				_, _ = p.out.WriteString("a\n")
				inserting = true
			}
			line := p.f[1].lines[c.B+i]
			if line == "." {
				// A lone dot would end the text; ed makes one of two.
				_, _ = p.out.WriteString("..\n.\ns/.//\n")
				inserting = false
				continue
			}
			p.writeExpanded(line, "")
			_ = p.out.WriteByte('\n')
		}
		if inserting {
			_, _ = p.out.WriteString(".\n")
		}
	}
}

func (p *diffPair) writeForward() {
	for _, c := range p.changes {
		if c.ignore {
			continue
		}
		fmt.Fprintf(p.out, "%s%s\n", c.letter(), diffRange(" ", c.A, c.Del))
		if c.Ins == 0 {
			continue
		}
		for i := range c.Ins {
			p.writeExpanded(p.f[1].lines[c.B+i], "")
			_ = p.out.WriteByte('\n')
		}
		_, _ = p.out.WriteString(".\n")
	}
}

func (p *diffPair) writeRCS() {
	for _, c := range p.changes {
		if c.ignore {
			continue
		}
		if c.Del > 0 {
			fmt.Fprintf(p.out, "d%d %d\n", c.A+1, c.Del)
		}
		if c.Ins == 0 {
			continue
		}
		fmt.Fprintf(p.out, "a%d %d\n", c.A+c.Del, c.Ins)
		for i := range c.Ins {
			p.writeExpanded(p.f[1].lines[c.B+i], "")
			if !p.f[1].incomplete || c.B+i < len(p.f[1].lines)-1 {
				_ = p.out.WriteByte('\n')
			}
		}
	}
}
