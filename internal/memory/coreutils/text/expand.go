package text

import (
	"math"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func expandCommand() program.Description {
	return program.Description{
		Name: "expand", Usage: "[OPTION]... [FILE]...",
		Summary: "write blanks for the tabs of each FILE",
		Help: `With no FILE, or when FILE is -, read standard input.

  -i, --initial    only the tabs at the beginning of lines
  -t, --tabs=LIST  tab stops: one number for all, or places with commas between; the last
                     may be /N for multiples of N, +N for every N from there
      --help       show this help and exit
      --version    show the version and exit`,
		Run: runExpand,
	}
}

func unexpandCommand() program.Description {
	return program.Description{
		Name: "unexpand", Usage: "[OPTION]... [FILE]...",
		Summary: "write tabs for the blanks of each FILE",
		Help: `With no FILE, or when FILE is -, read standard input.

  -a, --all         all blanks, not only those at the beginning of lines
      --first-only  only those, also with -t
  -t, --tabs=LIST   tab stops, as expand has them; with -a
      --help        show this help and exit
      --version     show the version and exit`,
		Run: runUnexpand,
	}
}

const tabsFirstOnly = getopt.First

var expandOptions = getopt.WithDigits(getopt.Optional, []getopt.Option{
	{Short: 'i', Long: "initial"},
	{Short: 't', Long: "tabs", Arg: getopt.Required},
})

var unexpandOptions = getopt.WithDigits(getopt.None, []getopt.Option{
	{Short: 't', Long: "tabs", Arg: getopt.Required},
	{Short: 'a', Long: "all"},
	{Long: "first-only", ID: tabsFirstOnly},
	{Short: ','},
})

// tabStops are the columns at which tabs end.
type tabStops struct {
	list  []int
	every int // behind the list: multiples of that, or that far from the last; 0 for none
	from  int // what every counts from
}

// tabWeight is the memory for a byte of a list: a number for two bytes, twice because a list grows.
const tabWeight = 8

// parseTabs adds a list; fault is its error.
func (t *tabStops) parse(text string) (fault string) {
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		kind := byte(0)
		digits := part
		if part[0] == '/' || part[0] == '+' {
			kind, digits = part[0], part[1:]
		}
		if bad := strings.TrimLeft(digits, "0123456789"); bad != "" {
			if kind == 0 && (bad[0] == '/' || bad[0] == '+') {
				return "'" + bad[:1] + "' specifier not at start of number: " + quoting.Name(bad)
			}
			return "tab size contains invalid character(s): " + quoting.Name(bad)
		}
		n, err := strconv.Atoi(digits)
		if err != nil && digits != "" || n > math.MaxInt32 {
			return "tab stop is too large " + quoting.Name(digits)
		}
		if kind != 0 {
			if t.every != 0 {
				return "'" + string(kind) + "' specifier only allowed with the last value"
			}
			if t.every = n; kind == '+' && len(t.list) > 0 {
				t.from = t.list[len(t.list)-1]
			}
			continue
		}
		if t.every != 0 {
			return "'/' specifier only allowed with the last value"
		}
		if n == 0 {
			return "tab size cannot be 0"
		}
		if k := len(t.list); k > 0 && n <= t.list[k-1] {
			return "tab sizes must be ascending"
		}
		t.list = append(t.list, n) // bounded: add charges tabWeight
	}
	return ""
}

// settle draws conclusions when all lists are read.
func (t *tabStops) settle() {
	switch {
	case len(t.list) == 0 && t.every == 0:
		t.every = 8
	case len(t.list) == 1 && t.every == 0:
		t.every, t.list = t.list[0], nil
	}
}

// next returns the first stop behind column; ok is false when there is none.
func (t *tabStops) next(column int) (stop int, ok bool) {
	if t.every > 0 && len(t.list) == 0 {
		return column + t.every - column%t.every, true
	}
	for _, s := range t.list {
		if s > column {
			return s, true
		}
	}
	if t.every > 0 {
		return column + t.every - (column-t.from)%t.every, true
	}
	return column + 1, false
}

// tabs is a run of expand or unexpand.
type tabs struct {
	p     *shell.Proc
	out   *program.Output
	stops tabStops
	first bool // only at the beginning of lines
	old   string
	buf   []byte

	failed error // of the process, for which a tab was not written
}

func (t *tabs) add(o *program.Options, text string) {
	if o.Proc.Reserve(tabWeight*len(text)) != nil {
		o.RejectQuietly("memory exhausted")
		return
	}
	if fault := t.stops.parse(text); fault != "" {
		o.RejectQuietly("%s", fault)
	}
}

func runExpand(p *shell.Proc) int {
	t := &tabs{p: p, out: program.NewOutput(p)}
	o := program.NewOptions(p, expandCommand, expandOptions)
	for o.Next() {
		switch {
		case o.ID == 'i':
			t.first = true
		case o.ID == 't':
			t.add(o, o.Value)
		case ascii.IsDigit(o.ID):
			t.add(o, string(rune(o.ID))+o.Value)
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	t.stops.settle()
	return t.files(o.Args(), t.expand)
}

func runUnexpand(p *shell.Proc) int {
	t := &tabs{p: p, out: program.NewOutput(p), first: true}
	always := false
	o := program.NewOptions(p, unexpandCommand, unexpandOptions)
	for o.Next() {
		switch {
		case o.ID == 'a':
			t.first = false
		case o.ID == tabsFirstOnly:
			always = true
		case o.ID == 't':
			t.first = false
			t.add(o, o.Value)
		case o.ID == ',' || ascii.IsDigit(o.ID):
			t.old += string(rune(o.ID))
		}
	}
	if !o.HasEnded() && t.old != "" {
		t.add(o, t.old)
	}
	if o.HasEnded() {
		return o.Status
	}
	t.first = t.first || always
	t.stops.settle()
	return t.files(o.Args(), t.unexpand)
}

func (t *tabs) files(names []string, convert func(line []byte) bool) int {
	status, ended := program.EachLine(t.p, names, '\n', convert)
	if ended != nil {
		return status
	}
	if t.failed != nil {
		return t.p.Status(t.failed)
	}
	return t.out.Close(status)
}

// expand writes a line. What a tab stands for may be longer than the memory, so that it is never held.
func (t *tabs) expand(line []byte) bool {
	out, column, convert := t.out, 0, true
	for _, c := range line {
		if convert {
			switch c {
			case '\t':
				stop, _ := t.stops.next(column)
				if t.p.Spend(len(t.stops.list)>>6) != nil || !program.WriteRepeated(out, ' ', stop-column) {
					t.failed = t.p.Spend(program.BufferSize) // nil when the write failed
					return false
				}
				column = stop
				continue
			case '\b':
				column = max(column-1, 0)
			default:
				column++
			}
			convert = !t.first || c == ' '
		}
		_ = out.WriteByte(c)
	}
	return !out.HasFailed()
}

func (t *tabs) unexpand(line []byte) bool {
	u := unexpander{tabs: t, out: t.buf[:0], convert: true, afterBlank: true}
	for _, c := range line {
		if !u.convert {
			u.out = append(u.out, c)
			continue
		}
		u.char(c)
	}
	u.flush()
	t.buf = u.out
	_, err := t.out.Write(u.out)
	return err == nil
}

// unexpander converts a line.
type unexpander struct {
	*tabs
	out        []byte
	held       []byte // blanks that may become tabs
	column     int
	convert    bool
	afterBlank bool
	single     bool // one held blank is right before a stop, and stays one
}

func (u *unexpander) char(c byte) {
	blank := c == ' ' || c == '\t'
	switch {
	case blank:
		stop, ok := u.stops.next(u.column)
		if !ok {
			u.convert = false
			break
		}
		if c == '\t' {
			u.column = stop
			if len(u.held) > 0 {
				u.held[0] = '\t'
			}
		} else {
			u.column++
			if !u.afterBlank || u.column != stop {
				u.single = u.single || u.column == stop
				u.held = append(u.held, c)
				u.afterBlank = true
				return
			}
			if c = '\t'; len(u.held) > 0 {
				u.held[0] = '\t'
			}
		}
		if u.single {
			u.held = u.held[:min(1, len(u.held))]
		} else {
			u.held = u.held[:0]
		}
	case c == '\b':
		u.column = max(u.column-1, 0)
	default:
		u.column++
	}
	u.flush()
	u.afterBlank = blank
	u.convert = u.convert && (!u.first || blank)
	u.out = append(u.out, c)
}

func (u *unexpander) flush() {
	if len(u.held) == 0 {
		return
	}
	if len(u.held) > 1 && u.single {
		u.held[0] = '\t'
	}
	u.out = append(u.out, u.held...)
	u.held, u.single = u.held[:0], false
}
