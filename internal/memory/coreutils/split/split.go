// Package split holds the programs split and csplit.
package split

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func splitCommand() program.Description {
	return program.Description{
		Name: "split", Usage: "[OPTION]... [FILE [PREFIX]]",
		Summary: "divide FILE into PREFIXaa, PREFIXab and so on",
		Help: `With no FILE, or when FILE is -, read standard input. A piece has 1000 lines, PREFIX is x.

  -a, --suffix-length=N    letters of a name; 2 at first, and more when they do not suffice
      --additional-suffix=SUFFIX  SUFFIX stands behind each name
  -b, --bytes=SIZE         bytes of a piece
  -C, --line-bytes=SIZE    bytes of a piece at most, in whole lines
  -d                       digits instead of letters
      --numeric-suffixes[=FROM]  the same, from FROM on
  -x                       hexadecimal digits
      --hex-suffixes[=FROM]  the same, from FROM on
  -e, --elide-empty-files  no empty pieces with -n
      --filter=COMMAND     each piece is the input of COMMAND, which has its name in $FILE
  -l, --lines=NUMBER       lines of a piece; -NUMBER
  -n, --number=CHUNKS      how many pieces, see below
  -t, --separator=SEP      lines end in SEP, not in a newline; \0 is NUL
  -u, --unbuffered         with -n r/...: write each line at once
      --verbose            say which files are made
      --help               show this help and exit
      --version            show the version and exit

SIZE may have a unit: b 512, kB 1000, K 1024, MB 1000*1000, M 1024*1024, and so on.

CHUNKS is N for pieces of one size, l/N for the same in whole lines, r/N for lines in turn.
K/N, l/K/N and r/K/N write the K-th piece alone, to standard output.`,
		Run: runSplit,
	}
}

const (
	splitAdditional = getopt.First + iota
	splitVerbose
	splitFilter
	splitBlockSize
)

var splitOptions = getopt.WithDigits(getopt.None, []getopt.Option{
	{Short: 'b', Long: "bytes", Arg: getopt.Required},
	{Short: 'l', Long: "lines", Arg: getopt.Required},
	{Short: 'C', Long: "line-bytes", Arg: getopt.Required},
	{Short: 'n', Long: "number", Arg: getopt.Required},
	{Short: 'a', Long: "suffix-length", Arg: getopt.Required},
	{Long: "additional-suffix", ID: splitAdditional, Arg: getopt.Required},
	{Short: 'd'},
	{Long: "numeric-suffixes", ID: 'd', Arg: getopt.Optional},
	{Short: 'x'},
	{Long: "hex-suffixes", ID: 'x', Arg: getopt.Optional},
	{Short: 'e', Long: "elide-empty-files"},
	{Long: "filter", ID: splitFilter, Arg: getopt.Required},
	{Short: 't', Long: "separator", Arg: getopt.Required},
	{Short: 'u', Long: "unbuffered"},
	{Long: "verbose", ID: splitVerbose},
	{Long: "-io-blksize", ID: splitBlockSize, Arg: getopt.Required},
})

// split is a run of split.
type split struct {
	p     *shell.Proc
	out   *splitPieces
	kind  int // b, l, C, n, or 0 for -NUMBER; -1: not said
	size  int64
	parts splitParts
	eol   byte

	old      uint64 // of -NUMBER
	oldIndex int    // of the word that held its last digit
}

func runSplit(p *shell.Proc) int {
	s := &split{p: p, kind: -1, eol: '\n', out: newSplitPieces(p)}
	o := program.NewOptions(p, splitCommand, splitOptions)
	for o.Next() {
		s.option(o)
	}
	if !o.HasEnded() {
		s.settle(o)
	}
	if o.HasEnded() {
		return o.Status
	}
	args := o.Args()
	if len(args) > 2 {
		return program.UsageError(p, splitCommand, 1, "extra operand %s", quoting.Name(args[2]))
	}
	if len(args) == 2 {
		s.out.prefix = args[1]
	}
	name := program.FilesOrStdin(args)[0]
	in, err := program.OpenInput(p, name)
	if err != nil {
		p.Errorf(err, "cannot open %s for reading", shell.Quote(name))
		return 1
	}
	defer in.Close()
	s.out.knowInput(name)
	if s.kind == 'n' {
		return s.parts.run(s, name, in)
	}
	l := program.NewLineReader(p, in, s.eol)
	return s.status(name, l, s.copy(l))
}

// status ends the last piece, reports errors, and returns the exit status.
func (s *split) status(name string, l *program.LineReader, err error) int {
	if e := s.out.close(); err == nil {
		err = e
	}
	switch {
	case l.Spent:
		return s.p.Status(l.Ended)
	case err != nil:
		return s.out.fail(err)
	case l.Err() != nil:
		s.p.Error(name, l.Err())
		return 1
	}
	return 0
}

func (s *split) option(o *program.Options) {
	switch o.ID {
	case 'b', 'C', 'l', 'n':
		s.way(o)
	case 'a':
		if n, ok := program.UnsignedNumber(o, o.Value, "invalid suffix length", program.NoUnits, 0, math.MaxInt32); ok {
			s.out.length, s.out.fixed = int(min(n, 255)), n > 0
		}
	case splitAdditional:
		if s.out.additional = o.Value; strings.Contains(o.Value, "/") {
			o.Reject("invalid suffix %s, contains directory separator", quoting.Name(o.Value))
		}
	case 'd':
		s.suffixes(o, "0123456789", "numerical")
	case 'x':
		s.suffixes(o, "0123456789abcdef", "hexadecimal")
	case 'e':
		s.parts.elide = true
	case 'u':
		s.parts.unbuffered = true
	case splitFilter:
		s.out.filter, s.out.filters = o.Value, true
	case 't':
		s.separator(o)
	case splitVerbose:
		s.out.verbose = true
	case splitBlockSize:
		program.UnsignedNumber(o, o.Value, "invalid IO block size", "b", 1, math.MaxInt64)
	default:
		s.oldDigit(o)
	}
}

// way takes the option that says how to divide; there is one only.
func (s *split) way(o *program.Options) {
	if s.kind >= 0 {
		o.Reject("cannot split in more than one way")
		return
	}
	s.kind = o.ID
	switch o.ID {
	case 'n':
		s.parts.parse(o)
	case 'l':
		s.size, _ = program.UnsignedNumber(o, o.Value, "invalid number of lines", "b", 1, math.MaxInt64)
	default:
		s.size, _ = program.UnsignedNumber(o, o.Value, "invalid number of bytes", "b", 1, math.MaxInt64)
	}
}

// oldDigit takes a digit of -NUMBER. Those of one word make one number.
func (s *split) oldDigit(o *program.Options) {
	if s.kind > 0 {
		o.Reject("cannot split in more than one way")
		return
	}
	if s.kind < 0 || s.oldIndex != o.Index {
		s.old = 0
	}
	s.kind, s.oldIndex = 0, o.Index
	digit := uint64(o.ID - '0')
	if s.old > (math.MaxUint64-digit)/10 {
		o.RejectQuietly("line count option -%d%d... is too large", s.old, digit)
		return
	}
	s.old = s.old*10 + digit
}

// suffixes takes other digits for the names, and what they begin with.
func (s *split) suffixes(o *program.Options, digits, kind string) {
	s.out.digits = digits
	if o.Value == "" {
		return
	}
	if strings.Trim(o.Value, digits) != "" {
		o.Reject("%s: invalid start value for %s suffix", quoting.Name(o.Value), kind)
		return
	}
	s.out.from = strings.TrimLeft(o.Value, "0")
	s.out.begins = true
}

func (s *split) separator(o *program.Options) {
	switch {
	case o.Value == "":
		o.RejectQuietly("empty record separator")
	case o.Value == `\0`:
		s.eol = 0
	case len(o.Value) > 1:
		o.RejectQuietly("multi-character separator %s", quoting.Name(o.Value))
	default:
		s.eol = o.Value[0]
	}
}

// settle checks what can be checked only when all options are known.
func (s *split) settle(o *program.Options) {
	switch s.kind {
	case -1:
		s.kind, s.size = 'l', 1000
	case 0:
		s.kind, s.size = 'l', int64(min(s.old, math.MaxInt64))
		if s.old == 0 {
			o.Reject("invalid number of lines: %s", quoting.Name(strconv.FormatUint(s.old, 10)))
			return
		}
	}
	if s.out.filters && s.parts.only > 0 {
		o.Reject("--filter does not process a chunk extracted to stdout")
		return
	}
	s.out.settle(o, s.parts.count, s.parts.only > 0)
}

// copy divides what l reads.
func (s *split) copy(l *program.LineReader) error {
	if s.kind == 'C' {
		return s.copyLines(l)
	}
	left := int64(0)
	for {
		b, ok := l.Bytes()
		if !ok {
			return nil
		}
		for len(b) > 0 {
			if left == 0 {
				if err := s.out.next(); err != nil {
					return err
				}
				left = s.size
			}
			n := s.part(b, &left)
			if err := s.out.write(b[:n]); err != nil {
				return err
			}
			b = b[n:]
		}
	}
}

// part returns how much of b goes into the current piece.
func (s *split) part(b []byte, left *int64) int {
	if s.kind == 'b' {
		n := min(int64(len(b)), *left)
		*left -= n
		return int(n)
	}
	n := 0
	for *left > 0 {
		i := bytes.IndexByte(b[n:], s.eol)
		if i < 0 {
			return len(b)
		}
		n += i + 1
		*left--
	}
	return n
}

// copyLines keeps lines whole as far as they fit into a piece.
func (s *split) copyLines(l *program.LineReader) error {
	left := int64(0)
	for {
		line, ok := l.Next()
		if !ok {
			return nil
		}
		if int64(len(line)) > left && left < s.size {
			left = 0
		}
		for len(line) > 0 {
			if left == 0 {
				if err := s.out.next(); err != nil {
					return err
				}
				left = s.size
			}
			n := min(int64(len(line)), left)
			if err := s.out.write(line[:n]); err != nil {
				return err
			}
			left -= n
			line = line[n:]
		}
	}
}
