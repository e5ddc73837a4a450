package text

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func shufCommand() program.Description {
	return program.Description{
		Name: "shuf", Usage: "[OPTION]... [FILE]\n-e [OPTION]... [ARG]...\n-i LO-HI [OPTION]...",
		Summary: "write lines in an order that chance decides",
		Help: `With no FILE, or when FILE is -, read standard input.

  -e, --echo               the operands are the lines
  -i, --input-range=LO-HI  the numbers from LO to HI are the lines
  -n, --head-count=COUNT   at most COUNT lines
  -o, --output=FILE        write to FILE
      --random-source=FILE  chance is the bytes of FILE
  -r, --repeat             a line may come again
  -z, --zero-terminated    lines end in NUL, not in a newline
      --help               show this help and exit
      --version            show the version and exit`,
		Run: runShuf,
	}
}

const shufSource = getopt.First

var shufOptions = []getopt.Option{
	{Short: 'e', Long: "echo"},
	{Short: 'i', Long: "input-range", Arg: getopt.Required},
	{Short: 'n', Long: "head-count", Arg: getopt.Required},
	{Short: 'o', Long: "output", Arg: getopt.Required},
	{Long: "random-source", ID: shufSource, Arg: getopt.Required},
	{Short: 'r', Long: "repeat"},
	{Short: 'z', Long: "zero-terminated"},
}

// shuf is a run of shuf.
type shuf struct {
	p              *shell.Proc
	echo, isRange  bool
	low, high      uint64
	count          uint64
	repeat         bool
	output, source string
	eol            byte
	rand           *rand.Rand
	lines          [][]byte
}

func runShuf(p *shell.Proc) int {
	s := &shuf{p: p, count: math.MaxUint64, eol: '\n'}
	o := program.NewOptions(p, shufCommand, shufOptions)
	for o.Next() {
		s.option(o)
	}
	if o.HasEnded() {
		return o.Status
	}
	args := o.Args()
	switch {
	case s.echo && s.isRange:
		return program.UsageError(p, shufCommand, 1, "cannot combine -e and -i options")
	case s.isRange && len(args) > 0:
		return program.UsageError(p, shufCommand, 1, "extra operand %s", quoting.Name(args[0]))
	case !s.echo && len(args) > 1:
		return program.UsageError(p, shufCommand, 1, "extra operand %s", quoting.Name(args[1]))
	}
	if !s.chance() || !s.read(args) {
		return 1
	}
	return s.write()
}

func (s *shuf) option(o *program.Options) {
	switch o.ID {
	case 'e':
		s.echo = true
	case 'i':
		s.setRange(o)
	case 'n':
		n, err := strconv.ParseUint(o.Value, 10, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			o.RejectQuietly("invalid line count: %s", quoting.Name(o.Value))
			return
		}
		s.count = min(s.count, n)
	case 'o':
		if s.output != "" && s.output != o.Value {
			o.RejectQuietly("multiple output files specified")
			return
		}
		s.output = o.Value
	case shufSource:
		if s.source != "" && s.source != o.Value {
			o.RejectQuietly("multiple random sources specified")
			return
		}
		s.source = o.Value
	case 'r':
		s.repeat = true
	case 'z':
		s.eol = 0
	}
}

func (s *shuf) setRange(o *program.Options) {
	if s.isRange {
		o.RejectQuietly("multiple -i options specified")
		return
	}
	low, high, ok := strings.Cut(o.Value, "-")
	a, err := strconv.ParseUint(low, 10, 64)
	b, err2 := strconv.ParseUint(high, 10, 64)
	if !ok || err != nil || err2 != nil || a > b && a != b+1 {
		o.RejectQuietly("invalid input range: %s", quoting.Name(o.Value))
		return
	}
	s.isRange, s.low, s.high = true, a, b
}

// chance makes the source of random numbers.
func (s *shuf) chance() bool {
	s.rand = s.p.Rand()
	if s.source == "" {
		return true
	}
	f, err := s.p.Open(s.source)
	if err != nil {
		s.p.Warn("%s: %s", shell.QuoteIfNeeded(s.source), shell.Strerror(err))
		return false
	}
	defer f.Close()
	// The content of the file determines the order, but not the same one as GNU shuf.
	seed := make([]byte, 32)
	n, err := io.ReadFull(f, seed)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) || n == 0 {
		s.p.Warn("%s: end of file", shell.QuoteIfNeeded(s.source))
		return false
	}
	s.rand = rand.New(rand.NewChaCha8([32]byte(seed))) //nolint:gosec // The caller chooses what it shuffles by.
	return true
}

// read takes in the lines; a range has none that have to be held.
func (s *shuf) read(args []string) bool {
	switch {
	case s.isRange:
		return true
	case s.echo:
		for _, a := range args {
			s.lines = append(s.lines, []byte(a))
		}
		return true
	}
	name := program.FilesOrStdin(args)[0]
	b, err := program.ReadInput(s.p, name)
	if err != nil {
		switch {
		case s.p.Context().Err() != nil:
		case name == "-" || errors.Is(err, syscall.EISDIR):
			s.p.Errorf(err, "read error")
		default:
			s.p.Error(name, err)
		}
		return false
	}
	for len(b) > 0 {
		line, rest, _ := bytes.Cut(b, []byte{s.eol})
		s.lines = append(s.lines, line)
		b = rest
	}
	if err := s.p.Reserve(24 * len(s.lines)); err != nil {
		s.p.Warn("memory exhausted")
		return false
	}
	return true
}

func (s *shuf) write() int {
	out := program.NewOutput(s.p)
	if s.output != "" {
		f, err := s.p.OpenFile(s.output, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
		if err != nil {
			s.p.Error(s.output, err)
			return 1
		}
		defer f.Close()
		out.Reset(f)
	}
	n := uint64(len(s.lines))
	if s.isRange {
		n = s.high - s.low + 1
	}
	if s.repeat {
		if n == 0 && s.count > 0 {
			s.p.Warn("no lines to repeat")
			return 1
		}
		for i := uint64(0); i < s.count && s.put(out, s.rand.Uint64N(n)); i++ {
			continue
		}
	} else if !s.permute(out, n) {
		return 1
	}
	if err := s.p.Context().Err(); err != nil {
		return s.p.Status(err)
	}
	return out.Close(0)
}

// permute writes each line once. Only what has been moved is held, so that a few numbers of a
// long range cost little.
func (s *shuf) permute(out *program.Output, n uint64) bool {
	moved := map[uint64]uint64{}
	at := func(i uint64) uint64 {
		if v, ok := moved[i]; ok {
			return v
		}
		return i
	}
	for i := uint64(0); i < n && i < s.count; i++ {
		j := i + s.rand.Uint64N(n-i)
		value := at(j)
		if j != i {
			moved[j] = at(i)
			if err := s.p.Reserve(48); err != nil {
				s.p.Warn("memory exhausted")
				return false
			}
		}
		delete(moved, i)
		if !s.put(out, value) {
			break
		}
	}
	return true
}

func (s *shuf) put(out *program.Output, i uint64) bool {
	if s.isRange {
		_, _ = out.WriteString(strconv.FormatUint(s.low+i, 10))
	} else {
		_, _ = out.Write(s.lines[i])
	}
	return out.WriteByte(s.eol) == nil && s.p.Spend(1) == nil
}
