package dump

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func stringsCommand() program.Description {
	return program.Description{
		Name: "strings", Usage: "[OPTION]... [FILE]...",
		Summary: "write the printable strings in FILEs",
		Help: `  -a, -, --all               read whole files, as is always done here
  -d, --data                 the same
  -e, --encoding=ENC         s 7 bits, S 8 bits, b and l 16 bits, B and L 32 bits
                               (big- and little-endian)
  -f, --print-file-name      write the name of the file before each string
  -n, --bytes=NUMBER         write strings of at least NUMBER characters; 4
  -NUMBER                    the same
  -o                         the same as -t o
  -s, --output-separator=S   write S after each string instead of a newline
  -t, --radix={o,d,x}        write where each string begins
  -w, --include-all-whitespace  take all white space as part of strings
      --help                 show this help and exit
      --version              show the version and exit`,
		Run: runStrings,
	}
}

var stringsOptions = getopt.WithDigits(getopt.None, []getopt.Option{
	{Short: 'a', Long: "all"},
	{Short: 'd', Long: "data"},
	{Short: 'e', Long: "encoding", Arg: getopt.Required},
	{Short: 'f', Long: "print-file-name"},
	{Short: 'n', Long: "bytes", Arg: getopt.Required},
	{Short: 'o'},
	{Short: 's', Long: "output-separator", Arg: getopt.Required},
	{Short: 't', Long: "radix", Arg: getopt.Required},
	{Short: 'w', Long: "include-all-whitespace"},
	{Short: 'h', ID: getopt.Help},
	{Short: 'v', ID: getopt.Version},
	{Short: 'V', ID: getopt.Version},
})

// stringsJob holds the parsed command line of strings.
type stringsJob struct {
	p         *shell.Proc
	out       *program.Output
	least     int
	encoding  byte
	radix     byte // 0: no offsets
	names     bool
	space     bool
	separator string
}

func runStrings(p *shell.Proc) int {
	s := &stringsJob{p: p, least: 4, encoding: 's', separator: "\n"}
	o := program.NewOptions(p, stringsCommand, stringsOptions)
	digits := ""
	for o.Next() {
		s.option(o, &digits)
	}
	if o.HasEnded() {
		return o.Status
	}
	if digits != "" {
		s.least, _ = strconv.Atoi(digits)
	}
	if s.least < 1 {
		p.Warn("invalid minimum string length %d", s.least)
		return 1
	}
	s.out = program.NewOutput(p)
	status := 0
	names := o.Args()
	if len(names) == 0 {
		status = s.stream("{standard input}", p.Stdin)
	}
	for _, name := range names {
		if name == "-" {
			continue
		}
		status = max(status, s.file(name))
	}
	return s.out.Close(status)
}

func (s *stringsJob) option(o *program.Options, digits *string) {
	switch o.ID {
	case 'n':
		n, err := strconv.Atoi(o.Value)
		if err != nil {
			o.RejectQuietly("invalid integer argument %s", o.Value)
			return
		}
		s.least, *digits = n, ""
	case 'e':
		if len(o.Value) != 1 || !containsByte("sSblBL", o.Value[0]) {
			o.Reject("invalid encoding %s", shell.Quote(o.Value))
			return
		}
		s.encoding = o.Value[0]
	case 'f':
		s.names = true
	case 'o':
		s.radix = 'o'
	case 's':
		s.separator = o.Value
	case 't':
		if len(o.Value) != 1 || !containsByte("odx", o.Value[0]) {
			o.Reject("invalid radix %s", shell.Quote(o.Value))
			return
		}
		s.radix = o.Value[0]
	case 'w':
		s.space = true
	case 'a', 'd':
	default:
		*digits += string(rune(o.ID))
	}
}

func containsByte(s string, c byte) bool {
	for i := range len(s) {
		if s[i] == c {
			return true
		}
	}
	return false
}

func (s *stringsJob) file(name string) int {
	info, err := s.p.Stat(name)
	if err != nil {
		s.p.Warn("'%s': No such file", name)
		return 1
	}
	if info.IsDir() {
		s.p.Warn("Warning: '%s' is a directory", name)
		return 1
	}
	f, err := s.p.Open(name)
	if err != nil {
		s.p.Error(name, err)
		return 1
	}
	defer f.Close()
	return s.stream(name, f)
}

// unit returns the bytes of one character.
func (s *stringsJob) unit() int {
	switch s.encoding {
	case 'b', 'l':
		return 2
	case 'B', 'L':
		return 4
	}
	return 1
}

func (s *stringsJob) stream(name string, in io.Reader) int {
	r := bufio.NewReaderSize(in, program.BufferSize)
	unit := s.unit()
	var run []byte
	length, start := 0, int64(0)
	printing := false
	for at := int64(0); ; {
		if at&0xfff == 0 {
			if err := s.p.Spend(64); err != nil {
				return s.p.Status(err)
			}
		}
		word, err := r.Peek(unit)
		if err != nil {
			if printing {
				_, _ = s.out.WriteString(s.separator)
			}
			return 0
		}
		c := s.char(word)
		if c < 0 || !s.graphic(byte(c)) {
			if printing {
				_, _ = s.out.WriteString(s.separator)
			}
			run, length, printing = run[:0], 0, false
			// A character of several bytes may begin at each byte.
			step := 1
			if unit > 1 && c >= 0 {
				step = unit
			}
			_, _ = r.Discard(step)
			at += int64(step)
			continue
		}
		if length == 0 {
			start = at
		}
		length++
		if printing {
			_ = s.out.WriteByte(byte(c))
		} else if run = append(run, byte(c)); length >= s.least {
			s.head(name, start)
			_, _ = s.out.Write(run)
			printing = true
		}
		_, _ = r.Discard(unit)
		at += int64(unit)
		if s.out.HasFailed() {
			return 0
		}
	}
}

// char returns the character that the bytes are, -1 when it is none of one byte.
func (s *stringsJob) char(b []byte) int {
	v := 0
	switch s.encoding {
	case 'l', 'L':
		for _, v0 := range slices.Backward(b) {
			v = v<<8 | int(v0)
		}
	default:
		for _, c := range b {
			v = v<<8 | int(c)
		}
	}
	if v > 255 || v > 127 && s.encoding != 'S' {
		return -1
	}
	return v
}

func (s *stringsJob) graphic(c byte) bool {
	switch {
	case c == '\t' || c >= ' ' && c <= '~':
		return true
	case c >= '\n' && c <= '\r':
		return s.space
	}
	return c > 127 && s.encoding == 'S'
}

func (s *stringsJob) head(name string, start int64) {
	if s.names {
		_, _ = s.out.WriteString(name + ": ")
	}
	switch s.radix {
	case 'o':
		fmt.Fprintf(s.out, "%7o ", start)
	case 'd':
		fmt.Fprintf(s.out, "%7d ", start)
	case 'x':
		fmt.Fprintf(s.out, "%7x ", start)
	}
}
