package dump

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

func xxdCommand() program.Description {
	return program.Description{
		Name: "xxd", Usage: "[OPTION]... [INFILE [OUTFILE]]\n-r [-s [-]OFFSET] [-c COLS] [-p] [INFILE [OUTFILE]]",
		Summary: "write a hex dump, or turn one back into bytes",
		Help: `  -a        write one * for lines of zeros
  -b        write bits instead of hex
  -C        write names of -i in capitals
  -c COLS   bytes of a line; 16, with -i 12, with -p 30
  -d        write offsets in decimal
  -E        take the text as EBCDIC
  -e        write groups in little-endian order
  -g BYTES  bytes of a group; 2, with -e 4, with -b 1
  -h        show this help and exit
  -i        write a C array
  -l LEN    stop after LEN bytes
  -n NAME   name of the array of -i
  -o OFF    add OFF to the offsets that are shown
  -p, -ps   write plain hex without offsets and text
  -r        turn a dump back into bytes; a longer OUTFILE is not cut
  -s [+][-]SEEK  begin at SEEK, from the end when negative
  -u        write hex in upper case
  -v        show the version and exit`,
		Run: runXXD,
	}
}

type xxdStyle uint8

const (
	xxdNormal xxdStyle = iota
	xxdPlain
	xxdArray
	xxdBits
	xxdLittle
)

// xxdJob holds the parsed command line of xxd.
// xxdLine is about how many bytes of memory a byte of a line takes, with its digits.
const xxdLine = 16

type xxdJob struct {
	p                    *shell.Proc
	style                xxdStyle
	cols, group          int
	colsGiven            bool
	length               int64 // -1: all
	shown                int64 // added to offsets
	seek                 int64
	seekRelative         bool
	skip, reverse        bool
	upper, capital       bool
	decimal, ebcdic      bool
	name                 string
	digits               string
	out                  *bufio.Writer
	held                 string // the second line of zeros
	zeros                int
	names                []string
	wantHelp, wantVerson bool
}

func runXXD(p *shell.Proc) int {
	x := &xxdJob{p: p, group: -1, length: -1, digits: "0123456789abcdef"}
	if !x.options() || len(x.names) > 2 {
		fmt.Fprint(p.Stderr, xxdCommand().HelpText(p.Name()))
		return 1
	}
	switch {
	case x.wantHelp:
		fmt.Fprint(p.Stderr, xxdCommand().HelpText(p.Name()))
		return 1
	case x.wantVerson:
		fmt.Fprintln(p.Stderr, "xxd 2022-01-14 (agent-sandbox)")
		return 0
	}
	if status := x.defaults(); status != 0 {
		return status
	}
	in, err := program.OpenInput(p, x.infile())
	if err != nil {
		p.Error(x.infile(), err)
		return 2
	}
	defer in.Close()
	dst, file, err := x.outfile()
	if err != nil {
		p.Error(x.names[1], err)
		return 3
	}
	if file != nil {
		defer file.Close()
	}
	x.out = bufio.NewWriterSize(dst, program.BufferSize)
	if x.reverse {
		if x.style != xxdNormal && x.style != xxdPlain {
			p.Warn("sorry, cannot revert this type of hexdump")
			return 255
		}
		return x.revert(in, file)
	}
	return x.dump(in)
}

func (x *xxdJob) infile() string {
	if len(x.names) == 0 {
		return "-"
	}
	return x.names[0]
}

func (x *xxdJob) outfile() (io.Writer, *vfs.File, error) {
	if len(x.names) < 2 || x.names[1] == "-" {
		return x.p.Stdout, nil, nil
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if x.reverse {
		flags = os.O_WRONLY | os.O_CREATE
	}
	f, err := x.p.OpenFile(x.names[1], flags, 0o666)
	return f, f, err
}

// options reads the arguments; xxd does not use getopt: a letter may be followed by the
// rest of its name.
func (x *xxdJob) options() bool {
	args := x.p.Args[1:]
	for len(args) > 0 {
		arg := args[0]
		if len(arg) > 2 && strings.HasPrefix(arg, "--") {
			arg = arg[1:]
		}
		if arg == "--" {
			args = args[1:]
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			break
		}
		used, ok := x.option(arg, args[1:])
		if !ok {
			return false
		}
		args = args[1+used:]
	}
	x.names = args
	return true
}

// option takes one argument and says how many of the following ones it used.
func (x *xxdJob) option(arg string, rest []string) (used int, ok bool) {
	switch arg[1] {
	case 'a':
		x.skip = !x.skip
	case 'b':
		x.style = xxdBits
	case 'e':
		x.style = xxdLittle
	case 'u':
		x.upper = true
	case 'p':
		x.style = xxdPlain
	case 'i':
		x.style = xxdArray
	case 'C':
		x.capital = true
	case 'd':
		x.decimal = true
	case 'r':
		x.reverse = true
	case 'E':
		x.ebcdic = true
	case 'v':
		x.wantVerson = true
	case 'h':
		x.wantHelp = true
	case 'c', 'g', 'l', 'n', 'o', 's':
		return x.valued(arg, rest)
	default:
		return 0, false
	}
	return 0, true
}

// xxdLong are the names that stand for a letter; the value then is the next argument.
var xxdLong = map[byte]string{'c': "ols", 'g': "roup", 'l': "en", 'n': "ame", 'o': "ffset", 's': "kip"}

func (x *xxdJob) valued(arg string, rest []string) (used int, ok bool) {
	if arg[1] == 'c' && strings.HasPrefix(arg[2:], "apitalize") {
		x.capital = true
		return 0, true
	}
	value := arg[2:]
	if value == "" || strings.HasPrefix(value, xxdLong[arg[1]]) || arg[1] == 's' && strings.HasPrefix(value, "eek") {
		if len(rest) == 0 {
			return 0, false
		}
		value, used = rest[0], 1
	}
	switch arg[1] {
	case 'c':
		x.cols, x.colsGiven = int(xxdNumber(value)), true
	case 'g':
		x.group = int(xxdNumber(value))
	case 'l':
		x.length = xxdNumber(value)
	case 'n':
		x.name = value
	case 'o':
		x.shown = xxdNumber(value)
	case 's':
		if strings.HasPrefix(value, "+") {
			x.seekRelative = true
			value = value[1:]
		}
		x.seek = xxdNumber(value)
	}
	return used, true
}

// xxdNumber reads what strtol(3) does: the number at the front, 0 when there is none.
func xxdNumber(s string) int64 {
	sign := int64(1)
	if strings.HasPrefix(s, "-") {
		sign, s = -1, s[1:]
	} else {
		s = strings.TrimPrefix(s, "+")
	}
	base := 10
	switch {
	case strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X"):
		base, s = 16, s[2:]
	case strings.HasPrefix(s, "0"):
		base = 8
	}
	end := 0
	for end < len(s) && ascii.DigitValue(s[end]) < base {
		end++
	}
	n, _ := strconv.ParseInt(s[:end], base, 64)
	return sign * n
}

func (x *xxdJob) defaults() int {
	if !x.colsGiven || x.cols == 0 && x.style != xxdPlain {
		x.cols = map[xxdStyle]int{xxdPlain: 30, xxdArray: 12, xxdBits: 6}[x.style]
		if x.cols == 0 {
			x.cols = 16
		}
	}
	if x.group < 0 {
		x.group = map[xxdStyle]int{xxdBits: 1, xxdNormal: 2, xxdPlain: 0, xxdArray: 0, xxdLittle: 4}[x.style]
	}
	if x.style != xxdPlain && x.cols < 1 || (x.style == xxdNormal || x.style == xxdBits || x.style == xxdLittle) && x.cols > 256 {
		x.p.Warn("invalid number of columns (max. 256).")
		return 1
	}
	if x.group < 1 || x.group > x.cols {
		x.group = max(x.cols, 1)
	} else if x.style == xxdLittle && x.group&(x.group-1) != 0 {
		x.p.Warn("number of octets per group must be a power of 2 with -e.")
		return 1
	}
	if x.upper {
		x.digits = "0123456789ABCDEF"
	}
	return 0
}

// begin moves to where the dump begins and returns that offset.
func (x *xxdJob) begin(in io.Reader) (int64, bool) {
	if x.seek == 0 {
		return 0, true
	}
	if f, ok := in.(*vfs.File); ok {
		whence := io.SeekStart
		if x.seek < 0 {
			whence = io.SeekEnd
		}
		if at, err := f.Seek(x.seek, whence); err == nil {
			return at, true
		}
	}
	if x.seek < 0 {
		x.p.Warn("sorry cannot seek.")
		return 0, false
	}
	n, err := io.CopyN(io.Discard, in, x.seek)
	if err != nil {
		x.p.Warn("sorry cannot seek.")
		return n, false
	}
	return x.seek, true
}

func (x *xxdJob) dump(in io.Reader) int {
	at, ok := x.begin(in)
	if !ok {
		return 4
	}
	if x.length >= 0 {
		in = io.LimitReader(in, x.length)
	}
	r := bufio.NewReaderSize(in, program.BufferSize)
	switch x.style { //nolint:exhaustive // The others are lines.
	case xxdArray:
		return x.array(r)
	case xxdPlain:
		return x.plain(r)
	}
	if x.p.Reserve(xxdLine*x.cols) != nil {
		x.p.Warn("memory exhausted")
		return 1
	}
	line := make([]byte, x.cols)
	for {
		n, err := io.ReadFull(r, line)
		if e := x.p.Spend(1); e != nil {
			return x.p.Status(e)
		}
		if n == x.cols && x.skip {
			x.maybeZero(x.line(at, line), len(bytes.Trim(line, "\x00")) > 0)
		} else if n > 0 {
			x.maybeZero(x.line(at, line[:n]), true)
		} else if x.skip {
			x.flushZeros()
		}
		at += int64(n)
		if err != nil {
			return x.close()
		}
	}
}

func (x *xxdJob) close() int {
	if err := x.out.Flush(); err != nil {
		return x.p.WriteFailed(err)
	}
	return 0
}

// maybeZero writes a line, but only the first of several of zeros and a star for the others.
func (x *xxdJob) maybeZero(line string, nonzero bool) {
	if nonzero {
		x.releaseZeros()
		_, _ = x.out.WriteString(line)
		return
	}
	switch x.zeros++; x.zeros {
	case 1:
		_, _ = x.out.WriteString(line)
	default:
		x.held = line
	}
}

// releaseZeros writes the placeholder for the lines that were held back.
func (x *xxdJob) releaseZeros() {
	switch {
	case x.zeros == 2:
		_, _ = x.out.WriteString(x.held)
	case x.zeros > 2:
		_, _ = x.out.WriteString("*\n")
	}
	x.zeros = 0
}

// flushZeros ends a dump whose last lines are zeros: the very last one is shown.
func (x *xxdJob) flushZeros() {
	if x.zeros < 2 {
		return
	}
	last := x.held
	if x.zeros > 2 {
		_, _ = x.out.WriteString("*\n")
	}
	_, _ = x.out.WriteString(last)
	x.zeros = 0
}

// line shows the bytes b at offset at.
func (x *xxdJob) line(at int64, b []byte) string {
	verb := "%08x:"
	if x.decimal {
		verb = "%08d:"
	}
	s := fmt.Appendf(nil, verb, at+x.shown)
	unit := 2
	if x.style == xxdBits {
		unit = 8
	}
	width := unit*x.group + 1
	text := len(s) + 3 + (width*x.cols-1)/x.group
	// bounded: run has charged for a line
	l := append(s, bytes.Repeat([]byte(" "), text-len(s))...)
	for i, c := range b {
		k := i
		if x.style == xxdLittle {
			k = i ^ (x.group - 1)
		}
		pos := len(s) + 1 + k/x.group*width + k%x.group*unit
		for pos+unit > len(l) {
			l = append(l, ' ')
		}
		if x.style == xxdBits {
			for bit := range 8 {
				l[pos+bit] = '0' + c>>(7-bit)&1
			}
		} else {
			l[pos], l[pos+1] = x.digits[c>>4], x.digits[c&15]
		}
		// A last group that is cut reaches into the text, as in the original.
		for text+i >= len(l) {
			l = append(l, ' ')
		}
		l[text+i] = x.visible(c)
	}
	return string(append(l[:text+len(b)], '\n'))
}

func (x *xxdJob) visible(c byte) byte {
	if x.ebcdic {
		if c < 64 {
			return '.'
		}
		c = ebcdicTable[c-64]
	}
	if c > 31 && c < 127 {
		return c
	}
	return '.'
}

// ebcdicTable gives the ASCII character of EBCDIC codes from 64 on, 0 for none.
const ebcdicTable = " \x00\x00\x00\x00\x00\x00\x00\x00\x00\x00.<(+|" +
	"&\x00\x00\x00\x00\x00\x00\x00\x00\x00!$*);~" +
	"-/\x00\x00\x00\x00\x00\x00\x00\x00\x00,%_>?" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00`:#@'=\"" +
	"\x00abcdefghi\x00\x00\x00\x00\x00\x00" +
	"\x00jklmnopqr^\x00\x00\x00\x00\x00" +
	"\x00\x00stuvwxyz\x00\x00\x00[\x00\x00" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00]\x00\x00" +
	"{ABCDEFGHI\x00\x00\x00\x00\x00\x00" +
	"}JKLMNOPQR\x00\x00\x00\x00\x00\x00" +
	"\\\x00STUVWXYZ\x00\x00\x00\x00\x00\x00" +
	"0123456789\x00\x00\x00\x00\x00\x00"

func (x *xxdJob) plain(r *bufio.Reader) int {
	n := 0
	for {
		c, err := r.ReadByte()
		if err != nil {
			break
		}
		if n&1023 == 0 {
			if e := x.p.Spend(16); e != nil {
				return x.p.Status(e)
			}
		}
		_ = x.out.WriteByte(x.digits[c>>4])
		_ = x.out.WriteByte(x.digits[c&15])
		if n++; x.cols > 0 && n%x.cols == 0 {
			_ = x.out.WriteByte('\n')
		}
	}
	if x.cols == 0 && n > 0 || x.cols > 0 && n%x.cols != 0 {
		_ = x.out.WriteByte('\n')
	}
	return x.close()
}

func (x *xxdJob) array(r *bufio.Reader) int {
	name := x.name
	if name == "" && x.infile() != "-" {
		name = x.infile()
	}
	ident := x.identifier(name)
	if name != "" {
		fmt.Fprintf(x.out, "unsigned char %s[] = {\n", ident)
	}
	prefix := "0x"
	if x.upper {
		prefix = "0X"
	}
	n := 0
	for ; ; n++ {
		c, err := r.ReadByte()
		if err != nil {
			break
		}
		if e := x.p.Spend(1); e != nil {
			return x.p.Status(e)
		}
		sep := ", "
		if n == 0 {
			sep = "  "
		} else if n%x.cols == 0 {
			sep = ",\n  "
		}
		_, _ = x.out.WriteString(sep + prefix)
		_ = x.out.WriteByte(x.digits[c>>4])
		_ = x.out.WriteByte(x.digits[c&15])
	}
	if n > 0 {
		_ = x.out.WriteByte('\n')
	}
	if name != "" {
		length := "_len"
		if x.capital {
			length = "_LEN"
		}
		fmt.Fprintf(x.out, "};\nunsigned int %s%s = %d;\n", ident, length, n)
	}
	return x.close()
}

func (x *xxdJob) identifier(name string) string {
	var b strings.Builder
	if name != "" && ascii.IsDigit(name[0]) {
		b.WriteString("__")
	}
	for _, c := range []byte(name) {
		switch {
		case ascii.DigitValue(c) == 99:
			c = '_'
		case x.capital && c >= 'a' && c <= 'z':
			c -= 32
		}
		b.WriteByte(c)
	}
	return b.String()
}
