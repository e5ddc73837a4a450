package diff

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/sizes"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

func cmpCommand() program.Description {
	return program.Description{
		Origin: "GNU diffutils 3.8", TryHelp: diffHint,
		Name: "cmp", Usage: "[OPTION]... FILE1 [FILE2 [SKIP1 [SKIP2]]]",
		Summary: "compare two files byte by byte",
		Help: `SKIP1 and SKIP2 are how many bytes of the files to pass over. If FILE2 is missing or a
file is -, standard input is read.

  -b, --print-bytes               write the bytes that differ
  -i, --ignore-initial=SKIP       pass over the first SKIP bytes of both files
  -i, --ignore-initial=SKIP1:SKIP2  pass over SKIP1 bytes of FILE1 and SKIP2 of FILE2
  -l, --verbose                   write the offset and the bytes of each difference
  -n, --bytes=LIMIT               compare at most LIMIT bytes
  -s, --quiet, --silent           write nothing
      --help                      show this help and exit
  -v, --version                   show the version and exit

SKIP and LIMIT may have suffixes: kB 1000, K 1024, MB, M and so on. The exit status is 0
when the files are the same, 1 when they differ, 2 when something is wrong.`,
		Run: runCmp,
	}
}

var cmpOptions = []getopt.Option{
	{Short: 'b', Long: "print-bytes"},
	{Long: "print-chars", ID: 'b'},
	{Short: 'i', Long: "ignore-initial", Arg: getopt.Required},
	{Short: 'l', Long: "verbose"},
	{Short: 'n', Long: "bytes", Arg: getopt.Required},
	{Short: 's', Long: "silent"},
	{Long: "quiet", ID: 's'},
	{Short: 'v', ID: getopt.Version},
	{Short: 'c', ID: 'b'},
}

// cmpJob holds the parsed command line of cmp.
type cmpJob struct {
	p       *shell.Proc
	out     *program.Output
	names   [2]string
	in      [2]io.ReadCloser
	r       [2]*bufio.Reader
	skip    [2]int64
	limit   int64 // -1: none
	bytes   bool
	verbose bool
	silent  bool
}

func runCmp(p *shell.Proc) int {
	c := &cmpJob{p: p, limit: -1}
	o := program.NewOptions(p, cmpCommand, cmpOptions)
	o.Wrong = 2
	for o.Next() {
		c.option(o)
	}
	if o.HasEnded() {
		return o.Status
	}
	if c.verbose && c.silent {
		return program.UsageError(p, cmpCommand, 2, "options -l and -s are incompatible")
	}
	if status := c.operands(o); status != 0 {
		return status
	}
	c.out = program.NewOutput(p)
	for i, name := range c.names {
		in, err := program.OpenInput(p, name)
		if err != nil {
			if !c.silent {
				p.Warn("%s: %s", name, shell.Strerror(err))
			}
			return 2
		}
		defer in.Close()
		c.in[i], c.r[i] = in, bufio.NewReaderSize(in, program.BufferSize)
	}
	return c.compare()
}

func (c *cmpJob) option(o *program.Options) {
	switch o.ID {
	case 'b':
		c.bytes = true
	case 'l':
		c.verbose = true
	case 's':
		c.silent = true
	case 'n':
		n, ok := cmpNumber(o.Value)
		if !ok {
			o.Reject("invalid --bytes value '%s'", o.Value)
			return
		}
		if c.limit < 0 || n < c.limit {
			c.limit = n
		}
	case 'i':
		first, second, both := strings.Cut(o.Value, ":")
		if !both {
			second = first
		}
		for i, s := range []string{first, second} {
			n, ok := cmpNumber(s)
			if !ok {
				o.Reject("invalid --ignore-initial value '%s'", o.Value)
				return
			}
			c.skip[i] = max(c.skip[i], n)
		}
	}
}

// cmpNumber reads a count with a suffix; one that is too large is as large as can be.
func cmpNumber(s string) (int64, bool) {
	n, msg := sizes.ParseBytes(s)
	if msg == "large" {
		return 1<<63 - 1, true
	}
	return n, msg == ""
}

func (c *cmpJob) operands(o *program.Options) int {
	args := o.Args()
	if len(args) == 0 {
		return program.UsageError(c.p, cmpCommand, 2, "missing operand after '%s'", c.p.Args[len(c.p.Args)-1])
	}
	c.names = [2]string{args[0], "-"}
	if len(args) > 1 {
		c.names[1] = args[1]
	}
	for i := 2; i < min(len(args), 4); i++ {
		n, ok := cmpNumber(args[i])
		if !ok {
			return program.UsageError(c.p, cmpCommand, 2, "invalid --ignore-initial value '%s'", args[i])
		}
		c.skip[i-2] = max(c.skip[i-2], n)
	}
	if len(args) > 4 {
		return program.UsageError(c.p, cmpCommand, 2, "extra operand '%s'", args[4])
	}
	return 0
}

func (c *cmpJob) compare() int {
	same := c.sameFile()
	if same && c.skip[0] == c.skip[1] {
		return 0
	}
	for i, r := range c.r {
		if f, ok := c.in[i].(*vfs.File); ok && c.skip[i] > 0 {
			if _, err := f.Seek(c.skip[i], io.SeekCurrent); err == nil {
				continue
			}
		}
		_, _ = io.CopyN(io.Discard, r, c.skip[i])
	}
	at, lines, found := int64(0), int64(1), false
	last := byte('\n')
	width := c.offsetWidth()
	for c.limit < 0 || at < c.limit {
		a, errA := c.r[0].ReadByte()
		b, errB := c.r[1].ReadByte()
		for i, err := range []error{errA, errB} {
			if err != nil && !program.IsEnd(err) {
				c.p.Warn("%s: %s", c.names[i], shell.Strerror(err))
				return 2
			}
		}
		if errA != nil || errB != nil {
			if errA != nil && errB != nil {
				break
			}
			which := 0
			if errA == nil {
				which = 1
			}
			return c.eof(which, at, lines, last)
		}
		if at++; at&0xfff == 0 {
			if err := c.p.Spend(64); err != nil {
				return c.p.Status(err)
			}
		}
		if a != b {
			found = true
			if c.silent {
				return 1
			}
			if !c.verbose {
				c.difference(at, lines, a, b)
				return c.out.Close(1)
			}
			c.each(width, at, a, b)
		}
		if last = a; a == '\n' {
			lines++
		}
		if c.out.HasFailed() {
			break
		}
	}
	if found {
		return c.out.Close(1)
	}
	return c.out.Close(0)
}

func (c *cmpJob) sameFile() bool {
	if c.names[0] == c.names[1] {
		return true
	}
	var info [2]vfs.Info
	for i, name := range c.names {
		if name == "-" {
			name = "/dev/stdin"
		}
		var err error
		if info[i], err = c.p.Stat(name); err != nil {
			return false
		}
	}
	return info[0].Ino == info[1].Ino && info[0].Mode == info[1].Mode && info[0].Mode.IsRegular() && c.names[0] != "-" && c.names[1] != "-"
}

// offsetWidth is the width of the offsets of -l: that of the smaller size.
func (c *cmpJob) offsetWidth() int {
	least := int64(1<<63 - 1)
	if c.limit >= 0 {
		least = c.limit
	}
	for i, in := range c.in {
		f, ok := in.(*vfs.File)
		if !ok {
			f, ok = c.stdin(i)
		}
		if !ok {
			continue
		}
		if info, err := f.Stat(); err == nil && info.Mode.IsRegular() {
			least = min(least, max(info.Size-c.skip[i], 0))
		}
	}
	return len(strconv.FormatInt(least, 10))
}

func (c *cmpJob) stdin(i int) (*vfs.File, bool) {
	if c.names[i] != "-" {
		return nil, false
	}
	f, ok := c.p.Stdin.(*vfs.File)
	return f, ok
}

func (c *cmpJob) difference(at, lines int64, a, b byte) {
	if c.bytes {
		fmt.Fprintf(c.out, "%s %s differ: byte %d, line %d is %3o %s %3o %s\n",
			c.names[0], c.names[1], at, lines, a, visibleByte(a), b, visibleByte(b))
		return
	}
	fmt.Fprintf(c.out, "%s %s differ: char %d, line %d\n", c.names[0], c.names[1], at, lines)
}

func (c *cmpJob) each(width int, at int64, a, b byte) {
	if c.bytes {
		fmt.Fprintf(c.out, "%*d %3o %-4s %3o %s\n", width, at, a, visibleByte(a), b, visibleByte(b))
		return
	}
	fmt.Fprintf(c.out, "%*d %3o %3o\n", width, at, a, b)
}

func (c *cmpJob) eof(which int, at, lines int64, last byte) int {
	_ = c.out.Flush()
	if c.silent {
		return 1
	}
	name := c.names[which]
	switch {
	case at == 0:
		fmt.Fprintf(c.p.Stderr, "cmp: EOF on %s which is empty\n", name)
	case c.verbose:
		fmt.Fprintf(c.p.Stderr, "cmp: EOF on %s after byte %d\n", name, at)
	case last == '\n':
		fmt.Fprintf(c.p.Stderr, "cmp: EOF on %s after byte %d, line %d\n", name, at, lines-1)
	default:
		fmt.Fprintf(c.p.Stderr, "cmp: EOF on %s after byte %d, in line %d\n", name, at, lines)
	}
	return 1
}

// visibleByte shows a byte as cat -t does.
func visibleByte(c byte) string {
	s := ""
	if c >= 128 {
		s = "M-"
		c -= 128
	}
	switch {
	case c < ' ':
		return s + "^" + string(rune(c+64))
	case c == 127:
		return s + "^?"
	}
	return s + string(rune(c))
}
