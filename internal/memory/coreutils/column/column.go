// Package column holds the program column, as util-linux has it.
package column

import (
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func columnCommand() program.Description {
	return program.Description{
		Origin: "util-linux 2.38.1",
		Name:   "column", Usage: "[OPTION]... [FILE]...",
		Summary: "write lines in columns, or their fields as a table",
		Help: `With no FILE, or when FILE is -, read standard input.

  -t, --table                   a table of the fields of each line
  -N, --table-columns=NAMES     names above the columns, with commas between
  -d, --table-noheadings        do not write them
  -n, --table-name=NAME         of the table, in JSON
  -R, --table-right=COLUMNS     these columns are aligned to the right
  -H, --table-hide=COLUMNS      these are not written
  -O, --table-order=COLUMNS     these come first
  -T, --table-truncate=COLUMNS  these are cut off when the table is too wide
  -W, --table-wrap=COLUMNS      these go on in further lines then
  -J, --json                    the table in JSON; needs -N
  -r, --tree=COLUMN             draw this column as a tree
  -i, --tree-id=COLUMN          by which a line is known in it
  -p, --tree-parent=COLUMN      that names the line above
  -l, --table-columns-limit=N   at most N columns; the last one has the rest
  -s, --separator=CHARS         each of CHARS ends a field, not blanks
  -o, --output-separator=TEXT   TEXT stands between columns, not two blanks
  -L, --keep-empty-lines        empty lines count
  -c, --output-width=WIDTH      columns of the output
  -x, --fillrows                fill rows before columns

COLUMNS are numbers or names, with commas between.
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
	{Short: 'n', Long: "table-name", Arg: getopt.Required},
	{Short: 'H', Long: "table-hide", Arg: getopt.Required},
	{Short: 'O', Long: "table-order", Arg: getopt.Required},
	{Short: 'T', Long: "table-truncate", Arg: getopt.Required},
	{Short: 'W', Long: "table-wrap", Arg: getopt.Required},
	{Short: 'J', Long: "json"},
	{Short: 'r', Long: "tree", Arg: getopt.Required},
	{Short: 'i', Long: "tree-id", Arg: getopt.Required},
	{Short: 'p', Long: "tree-parent", Arg: getopt.Required},
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
	out        *program.Output
	table      bool
	names      []string
	noHeadings bool
	lists      map[int]string // of columns, by their options
	json       bool
	title      string
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
	c := &column{p: p, out: program.NewOutput(p), separators: "\t ", greedy: true, between: "  ", width: program.TerminalWidth(p), title: "table", lists: map[int]string{}}
	o := program.NewOptions(p, columnCommand, columnOptions)
	for o.Next() {
		c.option(o)
	}
	if !o.HasEnded() {
		c.settle(o)
	}
	if o.HasEnded() {
		return o.Status
	}
	full := false
	status, ended := program.EachLineOf(p, o.Args(), '\n', func(p *shell.Proc, name string, err error) {
		p.Warn("%s: %s", name, shell.Strerror(err))
	}, func(line []byte) bool {
		text := string(program.WithoutEnd(line, '\n'))
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
		if !c.writeTable() {
			return c.out.Close(1)
		}
	default:
		c.writeColumns()
	}
	return c.out.Close(status)
}

func (c *column) option(o *program.Options) {
	switch o.ID {
	case 't':
		c.table = true
	case 'N':
		var err error
		if c.names, err = program.Split(c.p, o.Value, ","); err != nil {
			o.RejectQuietly("memory exhausted")
		}
		c.lists['N'] = o.Value
	case 'd':
		c.noHeadings = true
	case 'R', 'H', 'O', 'T', 'W', 'r', 'i', 'p':
		c.lists[o.ID] = o.Value
		c.table = c.table || o.ID == 'r'
	case 'n':
		c.title = o.Value
		c.lists['n'] = o.Value
	case 'J':
		c.json, c.table = true, true
	case 'l':
		n, err := strconv.Atoi(o.Value)
		if err != nil || n <= 0 {
			o.RejectQuietly("invalid columns limit argument: %s", quoting.Name(o.Value))
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
			o.RejectQuietly("invalid columns argument: %s", quoting.Name(o.Value))
			return
		}
		c.width = n
	case 'x':
		c.rows = true
	}
}

// settle checks which options go together.
func (c *column) settle(o *program.Options) {
	if !c.table {
		for _, id := range "NRHOTWn" {
			if _, ok := c.lists[int(id)]; ok {
				o.RejectQuietly("option --table required for all --table-*")
				return
			}
		}
	}
	_, tree := c.lists['r']
	_, id := c.lists['i']
	_, parent := c.lists['p']
	switch {
	case c.json && c.names == nil:
		o.RejectQuietly("option --table-columns required for --json")
	case tree && (!id || !parent):
		o.RejectQuietly("options --tree-id and --tree-parent are required for tree formatting")
	}
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
