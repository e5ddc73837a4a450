package text

import (
	"bytes"
	"errors"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/internal/memory/regex"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func tacCommand() program.Description {
	return program.Description{
		Name: "tac", Usage: "[OPTION]... [FILE]...",
		Summary: "write the lines of each FILE, the last one first",
		Help: `With no FILE, or when FILE is -, read standard input.

  -b, --before            the separator stands before a line, not behind it
  -r, --regex             the separator is a regular expression
  -s, --separator=STRING  STRING is the separator, not a newline
      --help              show this help and exit
      --version           show the version and exit`,
		Run: runTac,
	}
}

var tacOptions = []getopt.Option{
	{Short: 'b', Long: "before"},
	{Short: 'r', Long: "regex"},
	{Short: 's', Long: "separator", Arg: getopt.Required},
}

// tac is a run of tac.
type tac struct {
	p         *shell.Proc
	out       *program.Output
	separator []byte
	re        *regex.Matcher
	before    bool
	starts    []int // where the expression matches, as far as it is not used
}

func runTac(p *shell.Proc) int {
	t := &tac{p: p, out: program.NewOutput(p), separator: newline}
	isRegex := false
	o := program.NewOptions(p, tacCommand, tacOptions)
	for o.Next() {
		switch o.ID {
		case 'b':
			t.before = true
		case 'r':
			isRegex = true
		case 's':
			t.separator = []byte(o.Value)
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	if isRegex {
		if len(t.separator) == 0 {
			p.Warn("separator cannot be empty")
			return 1
		}
		re, err := regex.Compile(string(t.separator), regex.Emacs|regex.Multiline)
		if err != nil {
			p.Warn("%s", program.RegexError(err))
			return 1
		}
		t.re = re.Matcher(p.Spend)
	} else if len(t.separator) == 0 {
		t.separator = []byte{0}
	}
	status := 0
	for _, name := range program.FilesOrStdin(o.Args()) {
		if err := p.Context().Err(); err != nil {
			return p.Status(err)
		}
		if !t.file(name) {
			status = 1
		}
	}
	return t.out.Close(status)
}

func (t *tac) file(name string) bool {
	in, err := program.OpenInput(t.p, name)
	if err != nil {
		_ = t.out.Flush()
		t.p.Errorf(err, "failed to open %s for reading", shell.Quote(name))
		return false
	}
	_ = in.Close()
	b, err := program.ReadInput(t.p, name)
	if err != nil {
		if name == "-" {
			name = "standard input"
		}
		if errors.Is(err, syscall.EISDIR) {
			err = syscall.EINVAL
		}
		_ = t.out.Flush()
		t.p.Warn("%s: read error: %s", shell.QuoteIfNeeded(name), shell.Strerror(err))
		return false
	}
	t.reverse(b)
	t.p.Release(len(b))
	return true
}

// reverse writes the parts of b from the end on.
func (t *tac) reverse(b []byte) {
	end := len(b)
	if t.re != nil {
		t.findStarts(b)
	}
	if t.before {
		for end > 0 && !t.out.HasFailed() {
			at, _ := t.lastSeparator(b, end)
			at = max(at, 0)
			_, _ = t.out.Write(b[at:end])
			end = at
		}
		return
	}
	at, n := t.lastSeparator(b, end)
	if at < 0 {
		_, _ = t.out.Write(b)
		return
	}
	_, _ = t.out.Write(b[at+n : end])
	t.rest(b, at, at+n)
}

// rest writes the parts that end with separators, the last of which is at at.
func (t *tac) rest(b []byte, at, end int) {
	for !t.out.HasFailed() {
		previous, width := t.lastSeparator(b, at)
		from := 0
		if previous >= 0 {
			from = previous + width
		}
		_, _ = t.out.Write(b[from:end])
		if previous < 0 {
			return
		}
		end, at = from, previous
	}
}

// lastSeparator returns where the last separator in b[:end] begins, and its length; -1 for none.
func (t *tac) lastSeparator(b []byte, end int) (at, n int) {
	if t.re == nil {
		return bytes.LastIndex(b[:end], t.separator), len(t.separator)
	}
	var caps [2]int
	for n := len(t.starts); n > 0; n-- {
		at = t.starts[n-1]
		t.starts = t.starts[:n-1]
		// A match that was found in the whole text may be shorter, or none, when the text stops at end.
		if at < end && t.re.Find(b[:end], at, caps[:]) && caps[0] == at && caps[1] > at {
			return at, caps[1] - at
		}
		if t.re.Err() != nil {
			return -1, 0
		}
	}
	return -1, 0
}

// findStarts notes where the expression matches.
func (t *tac) findStarts(b []byte) {
	t.starts = t.starts[:0]
	var caps [2]int
	for at := 0; at < len(b) && t.re.Find(b, at, caps[:]); at = caps[0] + 1 {
		if t.starts = append(t.starts, caps[0]); t.p.Reserve(8) != nil {
			return
		}
	}
}
