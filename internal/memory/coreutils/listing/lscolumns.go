package listing

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
)

// put writes text and counts it.
func (l *lsLister) put(s string) {
	l.offset.at += len(s)
	_, _ = l.out.WriteString(s) // The first error stays in l.out.
}

func (l *lsLister) indent() {
	if l.dired {
		l.put("  ")
	}
}

// write lists files in the format that is asked for.
func (l *lsLister) write(files []*lsFile) {
	switch l.format {
	case formatLong:
		for _, f := range files {
			l.writeLong(f)
			l.put(string(l.eol))
		}
	case formatColumns, formatAcross:
		if l.width == 0 {
			l.writeRow(files, "  ")
			return
		}
		l.writeColumns(files)
	case formatCommas:
		l.writeRow(files, ", ")
	default:
		for _, f := range files {
			l.writeEntry(f)
			l.put(string(l.eol))
		}
	}
}

// putFront writes the inode and the blocks before a name.
func (l *lsLister) putFront(f *lsFile) {
	padded := l.format != formatCommas
	if l.inode {
		width := 0
		if padded {
			width = l.widths.inode
		}
		l.put(program.PadLeft(l.inodeOf(f), width) + " ")
	}
	if l.blocks {
		width := 0
		if padded {
			width = l.widths.blocks
		}
		l.put(program.PadLeft(l.blocksOf(f), width) + " ")
	}
}

// writeEntry writes a name with its inode, size and mark, outside of the long format.
func (l *lsLister) writeEntry(f *lsFile) {
	l.putFront(f)
	if l.context {
		l.put("? ")
	}
	l.putName(f)
	if l.indicator != indicateNone {
		l.put(indicate(l.indicator, f.mode, f.known))
	}
}

// entryWidth returns the width of what writeEntry prints.
func (l *lsLister) entryWidth(f *lsFile) int {
	n := f.width
	if l.format == formatCommas {
		if l.inode {
			n += len(l.inodeOf(f)) + 1
		}
		if l.blocks {
			n += len(l.blocksOf(f)) + 1
		}
	} else {
		if l.inode {
			n += l.widths.inode + 1
		}
		if l.blocks {
			n += l.widths.blocks + 1
		}
	}
	if l.context {
		n += 2
	}
	if l.indicator != indicateNone {
		n += len(indicate(l.indicator, f.mode, f.known))
	}
	return n
}

// writeRow writes names behind each other, with breaks where the line is full.
func (l *lsLister) writeRow(files []*lsFile, separator string) {
	pos := 0
	for i, f := range files {
		width := 0
		if l.width > 0 {
			width = l.entryWidth(f)
		}
		if i > 0 {
			if l.width == 0 || pos+width+2 < l.width {
				l.put(separator)
				pos += 2
			} else {
				l.put(separator[:1] + string(l.eol))
				pos = 0
			}
		}
		l.writeEntry(f)
		pos += width
	}
	if len(files) > 0 {
		l.put(string(l.eol))
	}
}

// leastColumn is the width of the narrowest column: a letter and two spaces.
const leastColumn = 3

// arrange finds the largest number of columns that fit, and their widths.
func (l *lsLister) arrange(files []*lsFile) []int {
	most := min(len(files), max(1, (l.width+leastColumn-1)/leastColumn))
	widths := make([]int, len(files))
	for i, f := range files {
		widths[i] = l.entryWidth(f)
	}
	for n := most; n > 1; n-- {
		if cols, ok := l.fit(widths, n); ok {
			return cols
		}
	}
	return []int{0}
}

// fit returns the widths of n columns if they fit into the line.
func (l *lsLister) fit(widths []int, n int) ([]int, bool) {
	cols := make([]int, n) // bounded: by the width of the line
	total := n * leastColumn
	for i := range cols {
		cols[i] = leastColumn
	}
	rows := (len(widths) + n - 1) / n
	for i, w := range widths {
		at := i % n
		if l.format == formatColumns {
			at = i / rows
		}
		if at != n-1 {
			w += 2
		}
		if cols[at] < w {
			total += w - cols[at]
			cols[at] = w
		}
		if total >= l.width {
			return nil, false
		}
	}
	return cols, true
}

// writeColumns writes names in columns, down or across.
func (l *lsLister) writeColumns(files []*lsFile) {
	if len(files) == 0 {
		return
	}
	cols := l.arrange(files)
	rows := (len(files) + len(cols) - 1) / len(cols)
	for row := range rows {
		pos := 0
		for col := range cols {
			i := row*len(cols) + col
			next := i + 1
			if l.format == formatColumns {
				i = col*rows + row
				next = i + rows
			}
			if i >= len(files) {
				break
			}
			l.writeEntry(files[i])
			if next < len(files) && col+1 < len(cols) {
				l.moveTo(pos+l.entryWidth(files[i]), pos+cols[col])
			}
			pos += cols[col]
		}
		l.put(string(l.eol))
	}
}

// moveTo fills from one column to another, with tabs where they are shorter.
func (l *lsLister) moveTo(from, to int) {
	for from < to {
		if l.tab != 0 && to/l.tab > (from+1)/l.tab {
			l.put("\t")
			from += l.tab - from%l.tab
		} else {
			l.put(" ")
			from++
		}
	}
}

// lsOffsets are the positions that --dired prints.
type lsOffsets struct {
	at    int
	names []int
	dirs  []int
}

func (o *lsOffsets) name(start int) { o.names = append(o.names, start, o.at) }

func (o *lsOffsets) dir(start int) { o.dirs = append(o.dirs, start, o.at) }

// end writes what comes behind everything.
func (l *lsLister) end() {
	if l.color && !l.colors.hasPlainReset() {
		l.put(l.colors.of("lc") + l.colors.of("rs") + l.colors.of("rc"))
	}
	if !l.dired {
		return
	}
	list := func(name string, at []int) {
		if len(at) == 0 {
			return
		}
		l.put("//" + name + "//")
		for _, n := range at {
			l.put(fmt.Sprintf(" %d", n))
		}
		l.put("\n")
	}
	list("DIRED", l.offset.names)
	list("SUBDIRED", l.offset.dirs)
	style := "literal"
	for _, w := range quoting.Styles {
		if w.Value == l.quoting {
			style = w.Name
		}
	}
	l.put("//DIRED-OPTIONS// --quoting-style=" + style + "\n")
}

// putName writes a file's name in its colour.
func (l *lsLister) putName(f *lsFile) {
	color := ""
	if l.colors != nil {
		color = l.colors.ofFile(f)
	}
	if l.hyperlink {
		l.putLink(f.path)
	}
	l.putColored(f.shown, color)
	if l.hyperlink {
		l.put("\033]8;;\a")
	}
}

// putColored writes text between the start and the end of a colour.
func (l *lsLister) putColored(text, color string) {
	if color == "" {
		l.put(text)
		return
	}
	if !l.color {
		l.color = true
		l.put(l.colors.end())
	}
	l.put(l.colors.of("lc") + color + l.colors.of("rc") + text + l.colors.end())
	if width := utf8.RuneCountInString(text); l.width > 0 && (width-1)/l.width > 0 {
		l.put(l.colors.of("cl"))
	}
}

// putLink starts a link of the terminal to a file.
func (l *lsLister) putLink(path string) {
	full, err := l.proc.Realpath(path)
	if err != nil {
		full = l.proc.Abs(path)
	}
	var b strings.Builder
	for _, c := range []byte(full) {
		if c == '/' || c == '~' || c == '.' || c == '-' || c == '_' || ascii.IsDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'z' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	l.put("\033]8;;file://" + program.Hostname(l.proc) + b.String() + "\a")
}
