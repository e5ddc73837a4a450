package coreutils

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/shell"
	"github.com/seed434b0696/agent-sandbox/shell/getopt"
)

func columnCommand() shell.Command {
	return shell.Command{
		Name: "column", Usage: "[OPTION]... [FILE]...",
		Summary: "write lines in columns, or their fields as a table",
		Help: `With no FILE, or when FILE is -, read standard input.

  -t, --table                   a table of the fields of each line
  -N, --table-columns=NAMES     names above the columns, with commas between
  -d, --table-noheadings        do not write them
  -R, --table-right=COLUMNS     these columns are aligned to the right
  -l, --table-columns-limit=N   at most N columns; the last one has the rest
  -s, --separator=CHARS         each of CHARS ends a field, not blanks
  -o, --output-separator=TEXT   TEXT stands between columns, not two blanks
  -L, --keep-empty-lines        empty lines count
  -c, --output-width=WIDTH      columns of the output
  -x, --fillrows                fill rows before columns
  -h, --help                    show this help and exit
  -V, --version                 show the version and exit`,
		Run: runColumn,
	}
}

var columnOptions = []getopt.Option{
	{Short: 't', Long: "table"},
	{Short: 'N', Long: "table-columns", Arg: getopt.Required},
	{Short: 'd', Long: "table-noheadings"},
	{Short: 'R', Long: "table-right", Arg: getopt.Required},
	{Short: 'l', Long: "table-columns-limit", Arg: getopt.Required},
	{Short: 's', Long: "separator", Arg: getopt.Required},
	{Short: 'o', Long: "output-separator", Arg: getopt.Required},
	{Short: 'L', Long: "keep-empty-lines"},
	{Short: 'e'},
	{Short: 'c', Long: "output-width", Arg: getopt.Required},
	{Short: 'x', Long: "fillrows"},
	{Short: 'h', Long: "help", ID: getopt.Help},
	{Short: 'V', Long: "version", ID: getopt.Version},
}

// column is a run of column.
type column struct {
	p          *shell.Proc
	out        *output
	table      bool
	names      []string
	noHeadings bool
	right      string
	limit      int
	separators string
	greedy     bool // runs of separators count as one
	between    string
	keepEmpty  bool
	width      int
	rows       bool
	lines      []string
}

func runColumn(p *shell.Proc) int {
	c := &column{p: p, out: newOutput(p), separators: "\t ", greedy: true, between: "  ", width: columns(p)}
	o := newOptions(p, columnCommand, columnOptions)
	for o.Next() {
		c.option(o)
	}
	if o.Ended() {
		return o.Status
	}
	full := false
	status, ended := eachLineOf(p, o.Args(), '\n', func(p *shell.Proc, name string, err error) {
		p.Warn("%s: %s", name, shell.Strerror(err))
	}, func(line []byte) bool {
		text := string(withoutEnd(line, '\n'))
		if strings.Trim(text, " \t") == "" {
			if !c.keepEmpty {
				return true
			}
			text = ""
		}
		c.lines = append(c.lines, text)
		full = p.Reserve(len(text)+64) != nil
		return !full
	})
	switch {
	case ended != nil:
		return status
	case full:
		p.Warn("memory exhausted")
		return 1
	case c.table:
		if len(c.lines) > 0 {
			status = 0 // Enough could be read.
		}
		c.writeTable()
	default:
		c.writeColumns()
	}
	return c.out.Close(status)
}

func (c *column) option(o *options) {
	switch o.ID {
	case 't':
		c.table = true
	case 'N':
		c.names = strings.Split(o.Value, ",")
	case 'd':
		c.noHeadings = true
	case 'R':
		c.right = o.Value
	case 'l':
		n, err := strconv.Atoi(o.Value)
		if err != nil || n <= 0 {
			o.RejectQuietly("invalid columns limit argument: %s", quoteLocaleName(o.Value))
			return
		}
		c.limit = n
	case 's':
		c.separators, c.greedy = o.Value, false
	case 'o':
		c.between = o.Value
	case 'L':
		c.keepEmpty = true
	case 'c':
		if o.Value == "unlimited" {
			c.width = 1 << 30
			return
		}
		n, err := strconv.Atoi(o.Value)
		if err != nil || n < 0 {
			o.RejectQuietly("invalid columns argument: %s", quoteLocaleName(o.Value))
			return
		}
		c.width = n
	case 'x':
		c.rows = true
	}
}

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

// cells is how many columns of a terminal a text takes.
func cells(s string) int {
	n := 0
	for _, r := range s {
		n += max(runeWidth(r), 0)
	}
	return n
}

func (c *column) writeTable() {
	var rows [][]string
	if c.names != nil && !c.noHeadings && len(c.lines) > 0 {
		rows = append(rows, c.names)
	}
	count := len(c.names)
	for _, line := range c.lines {
		fields := c.fields(line)
		rows = append(rows, fields)
		count = max(count, len(fields))
	}
	widths := make([]int, count)
	for _, row := range rows {
		for i, text := range row {
			widths[i] = max(widths[i], cells(text))
		}
	}
	right := c.rightColumns(count)
	for _, row := range rows {
		for i := range count {
			text := ""
			if i < len(row) {
				text = row[i]
			}
			if i > 0 {
				_, _ = c.out.WriteString(c.between)
			}
			pad := widths[i] - cells(text)
			last := i == count-1
			if right[i] {
				writeRepeated(c.out, ' ', pad)
			}
			_, _ = c.out.WriteString(text)
			if !right[i] && !last {
				writeRepeated(c.out, ' ', pad)
			}
		}
		if c.out.WriteByte('\n') != nil || c.p.Spend(1+count) != nil {
			return
		}
	}
}

// rightColumns says which columns are aligned to the right.
func (c *column) rightColumns(count int) []bool {
	right := make([]bool, count)
	for name := range strings.SplitSeq(c.right, ",") {
		n, err := strconv.Atoi(name)
		for i := range right {
			if err == nil && i == n-1 || name == "0" || i < len(c.names) && c.names[i] == name && name != "" {
				right[i] = true
			}
		}
	}
	return right
}

// writeColumns fills the width with lines beside each other.
func (c *column) writeColumns() {
	widest := 0
	for _, l := range c.lines {
		widest = max(widest, cells(l))
	}
	if widest >= c.width {
		for _, l := range c.lines {
			_, _ = c.out.WriteString(l + "\n")
		}
		return
	}
	step := (widest + 8) &^ 7
	count := max(c.width/step, 1)
	rows := (len(c.lines) + count - 1) / count
	for r := range rows {
		at, end := 0, step
		for i := r; i < len(c.lines); i += rows {
			index := i
			if c.rows {
				if index = r*count + (i-r)/rows; index >= len(c.lines) || (i-r)/rows >= count {
					break
				}
			}
			_, _ = c.out.WriteString(c.lines[index])
			at += cells(c.lines[index])
			more := i+rows < len(c.lines)
			if c.rows {
				more = (i-r)/rows+1 < count && index+1 < len(c.lines)
			}
			for more && (at+8)&^7 <= end {
				_ = c.out.WriteByte('\t')
				at = (at + 8) &^ 7
			}
			end += step
		}
		if c.out.WriteByte('\n') != nil || c.p.Spend(1+count) != nil {
			return
		}
	}
}
