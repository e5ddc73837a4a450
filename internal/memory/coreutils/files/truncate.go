package files

import (
	"errors"
	"math"
	"os"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filesystem"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/sizes"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func truncateCommand() program.Description {
	return program.Description{
		Name: "truncate", Usage: "OPTION... FILE...",
		Summary: "cut files or make them longer",
		Help: `  -c, --no-create       make no files
  -o, --io-blocks       SIZE is in blocks
  -r, --reference=FILE  as long as FILE
  -s, --size=SIZE       SIZE may have a unit (K, MB, ...) and a sign before it:
                        + more, - less, < at most, > at least, / down or % up to a multiple`,
		Run: runTruncate,
	}
}

var truncateOptions = []getopt.Option{
	{Short: 'c', Long: "no-create"},
	{Short: 'o', Long: "io-blocks"},
	{Short: 'r', Long: "reference", Arg: getopt.Required},
	{Short: 's', Long: "size", Arg: getopt.Required},
}

// truncation holds the parsed options of truncate.
type truncation struct {
	proc      *shell.Proc
	noCreate  bool
	blocks    bool
	reference string
	sized     bool
	mode      byte // one of + - < > / % or 0
	size      int64
}

func runTruncate(p *shell.Proc) int {
	o := program.NewOptions(p, truncateCommand, truncateOptions)
	t := truncation{proc: p}
	referenced := false
	for o.Next() {
		switch o.ID {
		case 'c':
			t.noCreate = true
		case 'o':
			t.blocks = true
		case 'r':
			t.reference, referenced = o.Value, true
		case 's':
			t.parse(o)
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	switch {
	case !referenced && !t.sized:
		return program.UsageError(p, truncateCommand, 1, "you must specify either %s or %s", "'--size'", "'--reference'")
	case referenced && t.sized && t.mode == 0:
		return program.UsageError(p, truncateCommand, 1, "you must specify a relative %s with %s", "'--size'", "'--reference'")
	case t.blocks && !t.sized:
		return program.UsageError(p, truncateCommand, 1, "%s was specified but %s was not", "'--io-blocks'", "'--size'")
	case len(o.Args()) == 0:
		return program.UsageError(p, truncateCommand, 1, "missing file operand")
	}
	base := int64(-1)
	if referenced {
		info, err := p.Stat(t.reference)
		if err != nil {
			p.Errorf(err, "cannot stat %s", shell.Quote(t.reference))
			return 1
		}
		if base = info.Size; !t.sized {
			t.size = base
		}
	}
	status := 0
	for _, name := range o.Args() {
		if !t.cut(name, base) {
			status = 1
		}
	}
	return status
}

func (t *truncation) parse(o *program.Options) {
	s := strings.TrimLeft(o.Value, " \t\n\v\f\r")
	if s != "" && strings.IndexByte("<>/%", s[0]) >= 0 {
		t.mode = s[0]
		s = strings.TrimLeft(s[1:], " \t\n\v\f\r")
	}
	negative := false
	if s != "" && (s[0] == '+' || s[0] == '-') {
		if t.mode != 0 {
			o.Reject("multiple relative modifiers specified")
			return
		}
		t.mode, negative = s[0], s[0] == '-'
		s = s[1:]
	}
	n, _, err := sizes.Parse(s, "")
	switch {
	case errors.Is(err, sizes.ErrSizeTooLarge):
		o.Proc.Warn("Invalid number: %s: %s", quoting.Name(o.Value), "Value too large for defined data type")
		o.End(1)
		return
	case err != nil:
		o.RejectQuietly("Invalid number: %s", quoting.Name(o.Value))
		return
	case n == 0 && (t.mode == '/' || t.mode == '%'):
		o.RejectQuietly("division by zero")
		return
	}
	if negative {
		n = -n
	}
	t.size, t.sized = n, true
}

func (t *truncation) cut(name string, base int64) bool {
	flag := os.O_WRONLY | syscall.O_NONBLOCK
	if !t.noCreate {
		flag |= os.O_CREATE
	}
	f, err := t.proc.OpenFile(name, flag, 0o666)
	if err != nil {
		if t.noCreate && shell.Errno(err) == syscall.ENOENT {
			return true
		}
		t.proc.Errorf(err, "cannot open %s for writing", shell.Quote(name))
		return false
	}
	defer f.Close()
	now := base
	if t.mode != 0 && base < 0 || t.blocks {
		info, err := f.Stat()
		if err != nil {
			t.proc.Errorf(err, "cannot fstat %s", shell.Quote(name))
			return false
		}
		if base < 0 {
			now = info.Size
		}
	}
	size, ok := t.target(now)
	if !ok {
		t.proc.Warn("overflow extending size of file %s", shell.Quote(name))
		return false
	}
	if err := f.Truncate(size); err != nil {
		t.proc.Errorf(err, "failed to truncate %s at %d bytes", shell.Quote(name), size)
		return false
	}
	return true
}

// target returns how long a file of n bytes becomes.
func (t *truncation) target(n int64) (int64, bool) {
	size := t.size
	if t.blocks {
		if size > math.MaxInt64/filesystem.BlockSize || size < math.MinInt64/filesystem.BlockSize {
			return 0, false
		}
		size *= filesystem.BlockSize
	}
	switch t.mode {
	case '+', '-':
		if size > 0 && n > math.MaxInt64-size {
			return 0, false
		}
		return max(0, n+size), true
	case '<':
		return min(n, size), true
	case '>':
		return max(n, size), true
	case '/':
		return n / size * size, true
	case '%':
		up := sizes.CeilDiv(n, size)
		if up > math.MaxInt64/size {
			return 0, false
		}
		return up * size, true
	}
	return size, true
}
