package column

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/runewidth"
)

// fields divides a line.
func (c *column) fields(line string) (fields []string) {
	for {
		if c.greedy {
			line = strings.TrimLeft(line, c.separators)
			if line == "" {
				return fields
			}
		}
		if c.limit > 0 && len(fields) == c.limit-1 {
			return append(fields, line)
		}
		i := strings.IndexAny(line, c.separators)
		if i < 0 {
			return append(fields, line)
		}
		fields = append(fields, line[:i])
		_, n := utf8.DecodeRuneInString(line[i:])
		if line = line[i+n:]; line == "" && !c.greedy {
			return fields
		}
	}
}

const (
	fieldWeight  = 16 // of a field of a line, in bytes
	columnWeight = 96 // of what a table has for each column
)

// chargeFields charges the machine for the fields of a line, of which there may be one for each byte.
func (c *column) chargeFields(line string) bool {
	most := 1
	for _, sep := range c.separators {
		most += strings.Count(line, string(sep))
	}
	if c.limit > 0 {
		most = min(most, c.limit)
	}
	if c.p.Spend(1+len(line)>>6) != nil {
		return false
	}
	if c.p.Reserve(2*fieldWeight*most) != nil { // A list grows to twice its length at most.
		c.p.Warn("memory exhausted")
		return false
	}
	return true
}

// cells returns the width of a text in columns of a terminal.
func cells(s string) int {
	n := 0
	for _, r := range s {
		n += max(runewidth.Of(r), 0)
	}
	return n
}

// columnTable is a table before it is written.
type columnTable struct {
	*column
	rows     [][]string
	count    int
	shown    []int // the columns that are written, in their order
	right    []bool
	truncate []bool
	wrap     []bool
	tree     *columnTree
	order    []int // of the lines in the tree
}

// writeTable writes the lines as a table. It returns false after a message.
func (c *column) writeTable() bool {
	t := &columnTable{column: c, count: len(c.names)}
	for i, line := range c.lines {
		if !c.chargeFields(line) {
			return false
		}
		fields := c.fields(line)
		if c.json && len(fields) > len(c.names) {
			c.p.Warn("line %d: for JSON the name of the column %d is required", i+2, len(c.names)+1)
			return false
		}
		t.rows = append(t.rows, fields)
		t.count = max(t.count, len(fields))
	}
	if c.p.Reserve(columnWeight*t.count) != nil {
		c.p.Warn("memory exhausted")
		return false
	}
	if !t.settle() {
		return false
	}
	if len(t.rows) == 0 {
		return true
	}
	if c.json {
		t.writeJSON()
		return true
	}
	order := t.order
	if t.tree == nil {
		for i := range t.rows {
			order = append(order, i)
		}
	}
	if c.names != nil && !c.noHeadings {
		t.rows = append(t.rows, c.names)
		order = append([]int{len(t.rows) - 1}, order...)
	}
	widths := t.widths()
	for _, row := range order {
		if !t.writeRow(t.rows[row], widths) {
			break
		}
	}
	return true
}

// settle finds the columns that the options mean.
func (t *columnTable) settle() bool {
	var ok bool
	var hidden, first []int
	for _, list := range []struct {
		id int
		to *[]bool
	}{{'R', &t.right}, {'T', &t.truncate}, {'W', &t.wrap}} {
		var which []int
		if which, ok = t.columns(list.id); !ok {
			return false
		}
		*list.to = make([]bool, t.count)
		for _, i := range which {
			(*list.to)[i] = true
		}
	}
	if hidden, ok = t.hidden(); !ok {
		return false
	}
	if first, ok = t.columns('O'); !ok {
		return false
	}
	left := make([]bool, t.count)
	for i := range left {
		left[i] = true
	}
	for _, i := range hidden {
		left[i] = false
	}
	for i := range t.count {
		first = append(first, i)
	}
	for _, i := range first {
		if left[i] {
			t.shown = append(t.shown, i)
			left[i] = false
		}
	}
	if _, tree := t.lists['r']; tree {
		return t.settleTree()
	}
	return true
}

// hidden reads -H, where "-" means all columns without a name.
func (t *columnTable) hidden() (which []int, ok bool) {
	if t.lists['H'] != "-" {
		return t.columns('H')
	}
	for i := len(t.names); i < t.count; i++ {
		which = append(which, i) // bounded: a number for a column, for which columnWeight is charged
	}
	return which, true
}

// columns returns those that an option lists. Numbers without a column are skipped.
func (t *columnTable) columns(option int) (which []int, ok bool) {
	list := t.lists[option]
	if list == "" {
		return nil, true
	}
	for name := range strings.SplitSeq(list, ",") {
		i, known := t.columnOf(name)
		if !known && option == 'R' && name == "0" {
			for i := range t.count {
				which = append(which, i) // bounded: a number for a column, for which columnWeight is charged
			}
			continue
		}
		if !known {
			t.p.Warn("undefined column name '%s'", name)
			return nil, false
		}
		if i >= 0 && i < t.count {
			which = append(which, i) // bounded: a number for a column, for which columnWeight is charged
		}
	}
	return which, true
}

// columnOf returns the column of a name or a number; it may be none of the table.
func (t *columnTable) columnOf(name string) (int, bool) {
	for i, n := range t.names {
		if n == name {
			return i, true
		}
	}
	if n, err := strconv.Atoi(name); err == nil && n >= 0 {
		return n - 1, name != "0" || t.lists['R'] != "0"
	}
	return 0, false
}

// cell returns the text of a cell; ok is false when the line has none.
func (t *columnTable) cell(row []string, i int) (text string, ok bool) {
	if i >= len(row) {
		return "", false
	}
	return row[i], true
}

// widths returns how wide the columns are. Those that may be narrower become so when the table is too wide.
func (t *columnTable) widths() []int {
	widths := make([]int, t.count)
	for _, row := range t.rows {
		for i, text := range row {
			widths[i] = max(widths[i], cells(text))
		}
	}
	over := -t.width - cells(t.between)
	for _, i := range t.shown {
		over += widths[i] + cells(t.between)
	}
	for reduced := true; over > 0 && reduced; {
		reduced = false
		for _, i := range t.shown {
			if (t.truncate[i] || t.wrap[i]) && widths[i] > 1 && over > 0 {
				widths[i]--
				over--
				reduced = true
			}
		}
		if t.p.Spend(1) != nil {
			break
		}
	}
	return widths
}

// writeRow writes a line of the table, which takes several when columns are wrapped.
func (t *columnTable) writeRow(row []string, widths []int) bool {
	rest := make([]string, t.count)
	copy(rest, row)
	for first, more := true, true; more; first = false {
		more = false
		for n, i := range t.shown {
			text := rest[i]
			rest[i] = ""
			if cells(text) > widths[i] {
				text, rest[i] = cutCells(text, widths[i])
				if !t.wrap[i] {
					rest[i] = ""
				}
			}
			more = more || rest[i] != ""
			if n > 0 {
				_, _ = t.out.WriteString(t.between)
			}
			t.pad(text, widths[i], t.right[i] && first, n == len(t.shown)-1)
		}
		if t.out.WriteByte('\n') != nil || t.p.Spend(1+len(t.shown)) != nil {
			return false
		}
	}
	return true
}

func (t *columnTable) pad(text string, width int, right, last bool) {
	pad := width - cells(text)
	if right {
		program.WriteRepeated(t.out, ' ', pad)
	}
	_, _ = t.out.WriteString(text)
	if !right && !last {
		program.WriteRepeated(t.out, ' ', pad)
	}
}

// cutCells divides a text after so many columns of a terminal.
func cutCells(text string, width int) (head, tail string) {
	n := 0
	for i, r := range text {
		if n += max(runewidth.Of(r), 0); n > width {
			if i == 0 {
				_, i = utf8.DecodeRuneInString(text)
			}
			return text[:i], text[i:]
		}
	}
	return text, ""
}
