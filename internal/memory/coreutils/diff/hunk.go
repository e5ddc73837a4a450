package diff

import (
	"fmt"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
)

// diffHunk is a run of changes that are written together, with the lines around them.
type diffHunk struct {
	changes  []diffChange
	from, to [2]int // lines of both files, to is behind the last
}

// hunks joins changes that are near each other.
func (p *diffPair) hunks() []diffHunk {
	var all []diffHunk
	for k := 0; k < len(p.changes); {
		end := k + 1
		for end < len(p.changes) {
			before, next := p.changes[end-1], p.changes[end]
			near := 2*p.context + 1
			if before.ignore || next.ignore {
				near = p.context
			}
			if next.A-(before.A+before.Del) >= near {
				break
			}
			end++
		}
		if h, ok := p.hunk(p.changes[k:end]); ok {
			all = append(all, h) // bounded: a hunk for some lines, which are charged
		}
		k = end
	}
	return all
}

// hunk adds the context to changes; false when none of them counts.
func (p *diffPair) hunk(changes []diffChange) (diffHunk, bool) {
	counts := false
	for _, c := range changes {
		counts = counts || !c.ignore
	}
	first, last := changes[0], changes[len(changes)-1]
	h := diffHunk{changes: changes}
	h.from = [2]int{max(first.A-p.context, 0), max(first.B-p.context, 0)}
	h.to[0] = min(last.A+last.Del+p.context, len(p.f[0].lines))
	h.to[1] = min(last.B+last.Ins+p.context, len(p.f[1].lines))
	return h, counts
}

func (p *diffPair) writeHunks() {
	marks := [2]string{"---", "+++"}
	if p.style == diffContext {
		marks = [2]string{"***", "---"}
	}
	for i, mark := range marks {
		p.in(diffHeader, mark+" "+p.title(i))
		_ = p.out.WriteByte('\n')
	}
	for _, h := range p.hunks() {
		if p.style == diffContext {
			p.contextHunk(h)
		} else {
			p.unifiedHunk(h)
		}
		if p.out.HasFailed() {
			return
		}
	}
}

// title is the name and the time of a file.
func (p *diffPair) title(i int) string {
	if l := p.labels[i]; l != nil {
		return *l
	}
	layout := "2006-01-02 15:04:05.000000000 -0700"
	if p.style == diffContext {
		layout = "Mon Jan _2 15:04:05 2006"
	}
	return quoting.CName(p.f[i].name) + "\t" + p.f[i].info.Mtime.In(p.zone).Format(layout)
}

// function finds the line of -p or -F before a hunk.
func (p *diffPair) function(h diffHunk) string {
	if len(p.functions) == 0 {
		return ""
	}
	lines := p.f[0].lines
	for i := h.from[0] - 1; i >= p.functionAt; i-- {
		if p.isFunction(lines[i]) {
			p.functionSeen = i
			break
		}
	}
	p.functionAt = max(p.functionAt, h.from[0])
	if p.functionSeen < 0 {
		return ""
	}
	text := strings.TrimLeft(lines[p.functionSeen], " \t\r\v\f")
	return " " + strings.TrimRight(text[:min(len(text), 40)], " \t\r\v\f")
}

func (p *diffPair) isFunction(line string) bool {
	for _, matches := range p.functions {
		if matches(line) {
			return true
		}
	}
	return false
}

func unifiedRange(from, to int) string {
	switch n := to - from; n {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(to)
	default:
		return fmt.Sprintf("%d,%d", from+1, n)
	}
}

func (p *diffPair) unifiedHunk(h diffHunk) {
	p.in(diffNumbers, fmt.Sprintf("@@ -%s +%s @@", unifiedRange(h.from[0], h.to[0]), unifiedRange(h.from[1], h.to[1])))
	_, _ = p.out.WriteString(p.function(h) + "\n")
	flag := func(mark string) (string, string) {
		if p.initialTab {
			return mark, "\t"
		}
		return mark, ""
	}
	same := func(i int) {
		gap := " "
		if p.initialTab {
			gap = "\t"
		}
		p.marked("", "", gap, 0, i)
	}
	i := h.from[0]
	for _, c := range h.changes {
		for ; i < c.A; i++ {
			same(i)
		}
		for ; i < c.A+c.Del; i++ {
			mark, gap := flag("-")
			p.marked(diffOld, mark, gap, 0, i)
		}
		for k := range c.Ins {
			mark, gap := flag("+")
			p.marked(diffNew, mark, gap, 1, c.B+k)
		}
	}
	for ; i < h.to[0]; i++ {
		same(i)
	}
}

func contextRange(from, to int) string {
	if to-from <= 1 {
		return fmt.Sprint(to)
	}
	return fmt.Sprintf("%d,%d", from+1, to)
}

func (p *diffPair) contextHunk(h diffHunk) {
	deleted, inserted := 0, 0
	for _, c := range h.changes {
		deleted += c.Del
		inserted += c.Ins
	}
	_, _ = p.out.WriteString("***************" + p.function(h) + "\n")
	p.in(diffNumbers, "*** "+contextRange(h.from[0], h.to[0])+" ****")
	_ = p.out.WriteByte('\n')
	if deleted > 0 {
		p.contextSide(h, 0)
	}
	p.in(diffNumbers, "--- "+contextRange(h.from[1], h.to[1])+" ----")
	_ = p.out.WriteByte('\n')
	if inserted > 0 {
		p.contextSide(h, 1)
	}
}

// contextSide writes the lines of one file.
func (p *diffPair) contextSide(h diffHunk, k int) {
	gap := " "
	if p.initialTab {
		gap = "\t"
	}
	mark, color := "-", diffOld
	if k == 1 {
		mark, color = "+", diffNew
	}
	next := h.changes
	for i := h.from[k]; i < h.to[k]; i++ {
		for len(next) > 0 {
			if from, n := next[0].side(k); from+n > i {
				break
			}
			next = next[1:]
		}
		if len(next) > 0 {
			if from, _ := next[0].side(k); from <= i {
				flag := mark
				if next[0].Del > 0 && next[0].Ins > 0 {
					flag = "!"
				}
				p.marked(color, flag, gap, k, i)
				continue
			}
		}
		p.marked(color, " ", gap, k, i)
	}
}

// side returns where a change is in file k, and how many lines it has there.
func (c diffChange) side(k int) (from, n int) {
	if k == 0 {
		return c.A, c.Del
	}
	return c.B, c.Ins
}
