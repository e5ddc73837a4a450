package coreutils

import (
	"bytes"
	"math"
	"os"
	"strings"

	"github.com/seed434b0696/agent-sandbox/shell"
	"github.com/seed434b0696/agent-sandbox/shell/getopt"
	"github.com/seed434b0696/agent-sandbox/vfs"
)

func splitCommand() shell.Command {
	return shell.Command{
		Name: "split", Usage: "[OPTION]... [FILE [PREFIX]]",
		Summary: "divide FILE into PREFIXaa, PREFIXab and so on",
		Help: `With no FILE, or when FILE is -, read standard input. A piece has 1000 lines, PREFIX is x.

  -a, --suffix-length=N    letters of a name; 2 at first, and more when they do not suffice
      --additional-suffix=SUFFIX  SUFFIX stands behind each name
  -b, --bytes=SIZE         bytes of a piece
  -C, --line-bytes=SIZE    bytes of a piece at most, in whole lines
  -d                       digits instead of letters; --numeric-suffixes
  -x                       hexadecimal digits; --hex-suffixes
  -l, --lines=NUMBER       lines of a piece
  -t, --separator=SEP      lines end in SEP, not in a newline; \0 is NUL
      --verbose            say which files are made
      --help               show this help and exit
      --version            show the version and exit

SIZE may have a unit: b 512, kB 1000, K 1024, MB 1000*1000, M 1024*1024, and so on.`,
		Run: runSplit,
	}
}

const (
	splitAdditional = getopt.First + iota
	splitVerbose
)

var splitOptions = []getopt.Option{
	{Short: 'b', Long: "bytes", Arg: getopt.Required},
	{Short: 'l', Long: "lines", Arg: getopt.Required},
	{Short: 'C', Long: "line-bytes", Arg: getopt.Required},
	{Short: 'a', Long: "suffix-length", Arg: getopt.Required},
	{Long: "additional-suffix", ID: splitAdditional, Arg: getopt.Required},
	{Short: 'd'},
	{Long: "numeric-suffixes", ID: 'd'},
	{Short: 'x'},
	{Long: "hex-suffixes", ID: 'x'},
	{Short: 't', Long: "separator", Arg: getopt.Required},
	{Long: "verbose", ID: splitVerbose},
}

// split is a run of split.
type split struct {
	p          *shell.Proc
	kind       int // b, l, C
	size       int64
	digits     string
	length     int
	fixed      bool
	prefix     string
	additional string
	eol        byte
	verbose    bool

	suffix []int
	file   *vfs.File
	err    error
	fault  string
}

func runSplit(p *shell.Proc) int {
	s := &split{p: p, kind: 'l', size: 1000, digits: "abcdefghijklmnopqrstuvwxyz", length: 2, prefix: "x", eol: '\n'}
	ways := 0
	o := newOptions(p, splitCommand, splitOptions)
	for o.Next() {
		if s.option(o); o.ID == 'b' || o.ID == 'l' || o.ID == 'C' {
			if ways++; ways > 1 && !o.Ended() {
				o.Reject("cannot split in more than one way")
			}
		}
	}
	if o.Ended() {
		return o.Status
	}
	args := o.Args()
	if len(args) > 2 {
		return usageError(p, splitCommand, 1, "extra operand %s", quoteLocaleName(args[2]))
	}
	if len(args) == 2 {
		s.prefix = args[1]
	}
	name := filesOrStdin(args)[0]
	in, err := openInput(p, name)
	if err != nil {
		p.Errorf(err, "cannot open %s for reading", shell.Quote(name))
		return 1
	}
	defer in.Close()
	l := newLineReader(p, in, s.eol)
	s.suffix = make([]int, s.length)
	s.suffix[s.length-1] = -1
	s.copy(l)
	if s.file != nil {
		if err := s.file.Close(); s.err == nil {
			s.err = err
		}
	}
	switch {
	case l.spent:
		return p.Status(l.ended)
	case s.fault != "":
		p.Warn("%s", s.fault)
		return 1
	case s.err != nil:
		if status := p.Status(s.err); status != 1 {
			return status
		}
		p.Error(s.name(), s.err)
		return 1
	case l.err() != nil:
		p.Error(name, l.err())
		return 1
	}
	return 0
}

func (s *split) option(o *options) {
	size := func(what string) {
		if n, ok := limitedNumber(o, o.Value, what, "b", 1, math.MaxInt64); ok {
			s.kind, s.size = o.ID, n
		}
	}
	switch o.ID {
	case 'b', 'C':
		size("invalid number of bytes")
	case 'l':
		size("invalid number of lines")
	case 'a':
		if n, ok := limitedNumber(o, o.Value, "invalid suffix length", noUnits, 0, math.MaxInt32); ok && n > 0 {
			s.length, s.fixed = int(min(n, 255)), true
		}
	case splitAdditional:
		if s.additional = o.Value; strings.Contains(o.Value, "/") {
			o.Reject("invalid suffix %s, contains directory separator", quoteLocaleName(o.Value))
		}
	case 'd':
		s.digits = "0123456789"
	case 'x':
		s.digits = "0123456789abcdef"
	case 't':
		switch {
		case o.Value == "":
			o.RejectQuietly("empty record separator")
		case o.Value == `\0`:
			s.eol = 0
		case len(o.Value) > 1:
			o.RejectQuietly("multi-character separator %s", quoteLocaleName(o.Value))
		default:
			s.eol = o.Value[0]
		}
	case splitVerbose:
		s.verbose = true
	}
}

// name is that of the file in hand.
func (s *split) name() string {
	var b strings.Builder
	b.WriteString(s.prefix)
	for _, d := range s.suffix {
		b.WriteByte(s.digits[max(d, 0)])
	}
	return b.String() + s.additional
}

// next begins the next file.
func (s *split) next() bool {
	if s.file != nil {
		if s.err = s.file.Close(); s.err != nil {
			return false
		}
		s.file = nil
	}
	i := len(s.suffix) - 1
	for ; i >= 0; i-- {
		if s.suffix[i]++; s.suffix[i] < len(s.digits) {
			break
		}
		s.suffix[i] = 0
	}
	// Before the last names of a length are used up, names become longer: yz, zaaa.
	if !s.fixed && i == 0 && s.suffix[0] == len(s.digits)-1 {
		s.prefix += s.digits[len(s.digits)-1:]
		s.suffix = make([]int, len(s.suffix)+1)
	}
	if i < 0 {
		s.fault = "output file suffixes exhausted"
		return false
	}
	if s.verbose {
		if _, s.err = s.p.Stdout.Write([]byte("creating file " + shell.Quote(s.name()) + "\n")); s.err != nil {
			return false
		}
	}
	s.file, s.err = s.p.OpenFile(s.name(), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	return s.err == nil
}

func (s *split) write(b []byte) bool {
	_, s.err = s.file.Write(b)
	return s.err == nil
}

// copy divides what l reads.
func (s *split) copy(l *lineReader) {
	left := int64(0)
	if s.kind == 'C' {
		s.copyLines(l)
		return
	}
	for {
		b, ok := l.bytes()
		if !ok {
			return
		}
		for len(b) > 0 {
			if left == 0 {
				if !s.next() {
					return
				}
				left = s.size
			}
			n := s.part(b, &left)
			if !s.write(b[:n]) {
				return
			}
			b = b[n:]
		}
	}
}

// part returns how much of b goes into the file in hand.
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
func (s *split) copyLines(l *lineReader) {
	left := int64(0)
	for {
		line, ok := l.next()
		if !ok {
			return
		}
		if int64(len(line)) > left && left < s.size {
			left = 0
		}
		for len(line) > 0 {
			if left == 0 {
				if !s.next() {
					return
				}
				left = s.size
			}
			n := min(int64(len(line)), left)
			if !s.write(line[:n]) {
				return
			}
			left -= n
			line = line[n:]
		}
	}
}
