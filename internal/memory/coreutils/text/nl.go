package text

import (
	"math"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/internal/memory/regex"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func nlCommand() program.Description {
	return program.Description{
		Name: "nl", Usage: "[OPTION]... [FILE]...",
		Summary: "write the lines of each FILE with their numbers",
		Help: `With no FILE, or when FILE is -, read standard input.

  -b, --body-numbering=STYLE     which lines of the body get a number
  -d, --section-delimiter=CC     CC begins lines that divide pages into parts
  -f, --footer-numbering=STYLE   which lines of the footer get one
  -h, --header-numbering=STYLE   which lines of the header
  -i, --line-increment=NUMBER    how much is added for each line
  -l, --join-blank-lines=NUMBER  that many empty lines count as one
  -n, --number-format=FORMAT     ln left, rn right, rz right with zeros
  -p, --no-renumber              go on counting on a new page
  -s, --number-separator=STRING  STRING stands behind the number, not TAB
  -v, --starting-line-number=NUMBER  the first number
  -w, --number-width=NUMBER      columns of the number
      --help                     show this help and exit
      --version                  show the version and exit

STYLE is a for all lines, t for those that are not empty (of the body, the default), n for
none (of the others), pBRE for those that match BRE. A line with CC three times (\: by
default) begins the header, twice the body, once the footer.`,
		Run: runNl,
	}
}

var nlOptions = []getopt.Option{
	{Short: 'h', Long: "header-numbering", Arg: getopt.Required},
	{Short: 'b', Long: "body-numbering", Arg: getopt.Required},
	{Short: 'f', Long: "footer-numbering", Arg: getopt.Required},
	{Short: 'v', Long: "starting-line-number", Arg: getopt.Required},
	{Short: 'i', Long: "line-increment", Arg: getopt.Required},
	{Short: 'p', Long: "no-renumber"},
	{Short: 'l', Long: "join-blank-lines", Arg: getopt.Required},
	{Short: 's', Long: "number-separator", Arg: getopt.Required},
	{Short: 'w', Long: "number-width", Arg: getopt.Required},
	{Short: 'n', Long: "number-format", Arg: getopt.Required},
	{Short: 'd', Long: "section-delimiter", Arg: getopt.Required},
}

// nlStyle says which lines get a number.
type nlStyle struct {
	kind byte // a, t, n, p
	re   *regex.Matcher
}

// nl is a run of nl.
type nl struct {
	p                   *shell.Proc
	out                 *program.Output
	styles              [3]nlStyle // header, body, footer
	part                int
	start, number, step int64
	overflow            bool
	keep                bool
	join, blank         int64
	separator, delim    string
	width               int
	format              string
	marks               [3]string
	none                string
	failed              bool
}

func runNl(p *shell.Proc) int {
	n := &nl{p: p, out: program.NewOutput(p), start: 1, step: 1, join: 1, separator: "\t", delim: `\:`, width: 6, format: "rn", part: 1}
	n.styles = [3]nlStyle{{kind: 'n'}, {kind: 't'}, {kind: 'n'}}
	o := program.NewOptions(p, nlCommand, nlOptions)
	for o.Next() {
		n.option(o)
	}
	if o.HasEnded() {
		return o.Status
	}
	n.settle()
	status, ended := program.EachLine(p, o.Args(), '\n', n.line)
	if ended != nil {
		return status
	}
	if n.failed {
		_ = n.out.Flush()
		p.Warn("line number overflow")
		return 1
	}
	return n.out.Close(status)
}

func (n *nl) option(o *program.Options) {
	number := func(to *int64, what string, least, most int64) {
		if v, ok := program.LimitedNumber(o, o.Value, what, program.NoUnits, least, most); ok {
			*to = v
		}
	}
	switch o.ID {
	case 'h', 'b', 'f':
		n.style(o, strings.IndexByte("hbf", byte(o.ID)), [3]string{"header", "body", "footer"})
	case 'v':
		number(&n.start, "invalid starting line number", math.MinInt64, math.MaxInt64)
	case 'i':
		number(&n.step, "invalid line number increment", math.MinInt64, math.MaxInt64)
	case 'l':
		number(&n.join, "invalid line number of blank lines", 1, math.MaxInt64)
	case 'w':
		width := int64(n.width)
		number(&width, "invalid line number field width", 1, math.MaxInt32)
		n.width = int(min(width, program.BufferSize))
	case 'p':
		n.keep = true
	case 's':
		n.separator = o.Value
	case 'n':
		if n.format = o.Value; o.Value != "ln" && o.Value != "rn" && o.Value != "rz" {
			o.Reject("invalid line numbering format: %s", quoting.Name(o.Value))
		}
	case 'd':
		if n.delim = o.Value; len(o.Value) == 1 {
			n.delim += ":"
		}
	}
}

func (n *nl) style(o *program.Options, part int, names [3]string) {
	if o.Value != "" {
		switch kind := o.Value[0]; kind {
		case 'a', 't', 'n':
			n.styles[part] = nlStyle{kind: kind}
			return
		case 'p':
			flags := regex.Expr
			if program.IsByteLocale(n.p) {
				flags |= regex.Bytes
			}
			re, err := regex.Compile(o.Value[1:], flags)
			if err != nil {
				o.RejectQuietly("%s", program.RegexError(err))
				return
			}
			n.styles[part] = nlStyle{kind, re.Matcher(n.p.Spend)}
			return
		}
	}
	o.Reject("invalid %s numbering style: %s", names[part], quoting.Name(o.Value))
}

func (n *nl) settle() {
	n.number = n.start
	for i := range n.marks {
		n.marks[i] = strings.Repeat(n.delim, 3-i)
	}
	n.none = strings.Repeat(" ", n.width+len(n.separator)) + "\n" // bounded: BufferSize, and an argument
}

func (n *nl) line(line []byte) bool {
	body := program.WithoutEnd(line, '\n')
	if n.delim != "" && len(body) >= len(n.delim) {
		for i, mark := range n.marks {
			if string(body) == mark {
				if n.part = i; !n.keep {
					n.number, n.overflow = n.start, false
				}
				return n.out.WriteByte('\n') == nil
			}
		}
	}
	if !n.selects(body) {
		_, _ = n.out.WriteString(n.none[:len(n.none)-1])
	} else if !n.writeNumber() {
		return false
	}
	_, _ = n.out.Write(body)
	return n.out.WriteByte('\n') == nil
}

func (n *nl) selects(body []byte) bool {
	switch s := &n.styles[n.part]; s.kind {
	case 'a':
		if n.join > 1 {
			if len(body) > 0 {
				n.blank = 0
				return true
			}
			if n.blank++; n.blank == n.join {
				n.blank = 0
				return true
			}
			return false
		}
		return true
	case 't':
		return len(body) > 0
	case 'p':
		return s.re.Match(body)
	}
	return false
}

func (n *nl) writeNumber() bool {
	if n.overflow {
		n.failed = true
		return false
	}
	var room [32]byte
	digits := strconv.AppendInt(room[:0], n.number, 10)
	missing := n.width - len(digits)
	switch {
	case missing <= 0:
		_, _ = n.out.Write(digits)
	case n.format == "ln":
		_, _ = n.out.Write(digits)
		program.WriteRepeated(n.out, ' ', missing)
	case n.format == "rz":
		if digits[0] == '-' {
			_ = n.out.WriteByte('-')
			digits = digits[1:]
		}
		program.WriteRepeated(n.out, '0', missing)
		_, _ = n.out.Write(digits)
	default:
		program.WriteRepeated(n.out, ' ', missing)
		_, _ = n.out.Write(digits)
	}
	_, _ = n.out.WriteString(n.separator)
	next := n.number + n.step
	n.overflow = n.step > 0 && next < n.number || n.step < 0 && next > n.number
	n.number = next
	return true
}
