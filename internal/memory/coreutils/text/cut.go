package text

import (
	"bytes"
	"math"
	"slices"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/fieldlist"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func cutCommand() program.Description {
	return program.Description{
		Name: "cut", Usage: "OPTION... [FILE]...",
		Summary: "write selected parts of the lines of each FILE",
		Help: `With no FILE, or when FILE is -, read standard input.

  -b, --bytes=LIST         select bytes
  -c, --characters=LIST    the same
  -d, --delimiter=DELIM    DELIM stands between fields, not TAB
  -f, --fields=LIST        select fields; lines without a delimiter are written as they
                             are, unless -s is given
  -n                       does nothing
      --complement         select what LIST does not
  -s, --only-delimited     leave out lines without a delimiter
      --output-delimiter=STRING  write STRING between fields
  -z, --zero-terminated    lines end in NUL, not in a newline
      --help               show this help and exit
      --version            show the version and exit

One of -b, -c and -f has to be given. LIST is ranges with commas between them: N, N-, N-M or -M,
counted from 1. What is selected is written in the order in which it is read, and once.`,
		Run: runCut,
	}
}

const (
	cutComplement = getopt.First + iota
	cutOutputDelimiter
)

var cutOptions = []getopt.Option{
	{Short: 'b', Long: "bytes", Arg: getopt.Required},
	{Short: 'c', Long: "characters", Arg: getopt.Required},
	{Short: 'f', Long: "fields", Arg: getopt.Required},
	{Short: 'd', Long: "delimiter", Arg: getopt.Required},
	{Short: 'n'},
	{Short: 's', Long: "only-delimited"},
	{Long: "output-delimiter", ID: cutOutputDelimiter, Arg: getopt.Required},
	{Long: "complement", ID: cutComplement},
	{Short: 'z', Long: "zero-terminated"},
}

// cut is a run of cut.
type cut struct {
	out        *program.Output
	spans      []fieldlist.Span
	fields     bool
	delim      byte
	eol        byte
	onlyDelim  bool
	between    string // of the output
	hasBetween bool
	complement bool
}

func runCut(p *shell.Proc) int {
	c := &cut{out: program.NewOutput(p), delim: '\t', eol: '\n'}
	var list string
	mode, delimited := 0, false
	o := program.NewOptions(p, cutCommand, cutOptions)
	for o.Next() {
		switch o.ID {
		case 'b', 'c', 'f':
			if mode != 0 {
				o.Reject("only one list may be specified")
				continue
			}
			mode, list = o.ID, o.Value
		case 'd':
			if len(o.Value) > 1 {
				o.Reject("the delimiter must be a single character")
				continue
			}
			delimited = true
			if c.delim = 0; o.Value != "" {
				c.delim = o.Value[0]
			}
		case 's':
			c.onlyDelim = true
		case cutOutputDelimiter:
			// An empty one is NUL, as GNU's reads it.
			if c.between, c.hasBetween = o.Value, true; o.Value == "" {
				c.between = "\x00"
			}
		case cutComplement:
			c.complement = true
		case 'z':
			c.eol = 0
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	c.fields = mode == 'f'
	fault := ""
	switch {
	case mode == 0:
		fault = "you must specify a list of bytes, characters, or fields"
	case !c.fields && delimited:
		fault = "an input delimiter may be specified only when operating on fields"
	case !c.fields && c.onlyDelim:
		fault = "suppressing non-delimited lines makes sense\n\tonly when operating on fields"
	default:
		if p.Reserve(fieldlist.Memory(list)) != nil {
			p.Warn("memory exhausted")
			return 1
		}
		c.spans, fault = fieldlist.Parse(list, c.fields)
	}
	if fault != "" {
		return program.UsageError(p, cutCommand, 1, "%s", fault)
	}
	c.settle()
	status, ended := program.EachLine(p, o.Args(), c.eol, c.line)
	if ended != nil {
		return status
	}
	return c.out.Close(status)
}

// settle sorts and joins the ranges, and turns them round for the complement.
func (c *cut) settle() {
	slices.SortFunc(c.spans, func(a, b fieldlist.Span) int { return a.Lo - b.Lo })
	joined := c.spans[:0]
	for _, s := range c.spans {
		if n := len(joined); n > 0 && s.Lo <= joined[n-1].Hi {
			joined[n-1].Hi = max(joined[n-1].Hi, s.Hi)
			continue
		}
		joined = append(joined, s)
	}
	c.spans = joined
	if c.complement {
		var rest []fieldlist.Span
		next := 1
		for _, s := range joined {
			if s.Lo > next {
				rest = append(rest, fieldlist.Span{Lo: next, Hi: s.Lo - 1})
			}
			if s.Hi == math.MaxInt {
				next = 0
				break
			}
			next = s.Hi + 1
		}
		if next > 0 {
			rest = append(rest, fieldlist.Span{Lo: next, Hi: math.MaxInt})
		}
		c.spans = rest
	}
	if c.fields && !c.hasBetween {
		c.between = string([]byte{c.delim})
	}
}

// line cuts one line. It returns false when the program should stop.
func (c *cut) line(line []byte) bool {
	line = program.WithoutEnd(line, c.eol)
	switch {
	case !c.fields:
		c.cutBytes(line)
	case c.delim == c.eol:
		c.cutFields(line)
	case bytes.IndexByte(line, c.delim) < 0:
		if c.onlyDelim {
			return true
		}
		_, _ = c.out.Write(line)
	default:
		c.cutFields(line)
	}
	return c.out.WriteByte(c.eol) == nil
}

func (c *cut) cutBytes(line []byte) {
	for i, s := range c.spans {
		if s.Lo > len(line) {
			return
		}
		if i > 0 {
			_, _ = c.out.WriteString(c.between)
		}
		_, _ = c.out.Write(line[s.Lo-1 : min(s.Hi, len(line))])
	}
}

func (c *cut) cutFields(line []byte) {
	field, at := 1, 0
	written := false
	for _, s := range c.spans {
		for field < s.Lo {
			n := bytes.IndexByte(line[at:], c.delim)
			if n < 0 {
				return
			}
			at += n + 1
			field++
		}
		if s.Hi == math.MaxInt && c.between == string(c.delim) {
			if written {
				_ = c.out.WriteByte(c.delim)
			}
			_, _ = c.out.Write(line[at:])
			return
		}
		for field <= s.Hi {
			if written {
				_, _ = c.out.WriteString(c.between)
			}
			written = true
			n := bytes.IndexByte(line[at:], c.delim)
			if n < 0 {
				_, _ = c.out.Write(line[at:])
				return
			}
			_, _ = c.out.Write(line[at : at+n])
			at += n + 1
			field++
		}
	}
}
