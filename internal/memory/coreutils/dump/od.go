// Package dump holds the programs that write bytes as text and back: od, hexdump, xxd, strings and the base
// encodings.
package dump

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/sizes"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func odCommand() program.Description {
	return program.Description{
		Name: "od", Usage: "[OPTION]... [FILE]...\n[-abcdfilosx]... [FILE] [[+]OFFSET[.][b]]\n--traditional [OPTION]... [FILE] [[+]OFFSET[.][b] [+][LABEL][.][b]]",
		Summary: "write the bytes of FILEs in octal or other formats",
		Help: `With no FILE, or when FILE is -, read standard input. Several FILEs are read as one.

  -A, --address-radix=RADIX  base of the offsets: d, o, x or n for none
      --endian={big|little}  order of the bytes of a number
  -j, --skip-bytes=BYTES     skip BYTES bytes first
  -N, --read-bytes=BYTES     read at most BYTES bytes
  -S, --strings[=BYTES]      write strings of at least BYTES graphic characters; 3
  -t, --format=TYPE          select formats
  -v, --output-duplicates    write lines that repeat the one before, too
  -w, --width[=BYTES]        write BYTES bytes on a line; 32 when BYTES is missing
      --traditional          take the third form of operands
      --help                 show this help and exit
      --version              show the version and exit

Formats of old: -a is -t a, -b is -t o1, -c is -t c, -d is -t u2, -f is -t fF, -i is
-t dI, -l is -t dL, -o is -t o2, -s is -t d2, -x is -t x2.

TYPE is one or more of: a named character; c character or escape; d[SIZE] signed; f[SIZE]
floating point; o[SIZE] octal; u[SIZE] unsigned; x[SIZE] hexadecimal. SIZE is a number, or
C, S, I, L for integers and F, D, L for floats. A z behind a type shows the characters
at the end of the line.

BYTES is hexadecimal with 0x, and may have a suffix: b 512, KB 1000, K 1024, MB, M and so on.`,
		Run: runOD,
	}
}

const (
	odEndian = getopt.First + iota
	odTraditional
)

var odOptions = []getopt.Option{
	{Short: 'A', Long: "address-radix", Arg: getopt.Required},
	{Short: 'j', Long: "skip-bytes", Arg: getopt.Required},
	{Short: 'N', Long: "read-bytes", Arg: getopt.Required},
	{Short: 'S', Arg: getopt.Required},
	{Long: "strings", Arg: getopt.Optional, ID: 'S'},
	{Short: 't', Long: "format", Arg: getopt.Required},
	{Short: 'v', Long: "output-duplicates"},
	{Short: 'w', Long: "width", Arg: getopt.Optional},
	{Long: "endian", Arg: getopt.Required, ID: odEndian},
	{Long: "traditional", ID: odTraditional},
	{Short: 'a'},
	{Short: 'b'},
	{Short: 'c'},
	{Short: 'd'},
	{Short: 'f'},
	{Short: 'h'},
	{Short: 'i'},
	{Short: 'l'},
	{Short: 'o'},
	{Short: 's'},
	{Short: 'x'},
	{Short: 'e'},
	{Short: 'B'},
	{Short: 'D'},
	{Short: 'F'},
	{Short: 'H'},
	{Short: 'I'},
	{Short: 'L'},
	{Short: 'O'},
	{Short: 'X'},
}

// odOld are the types of the traditional option letters.
var odOld = map[int]string{
	'a': "a", 'b': "o1", 'c': "c", 'd': "u2", 'f': "fF", 'e': "fD", 'F': "fD", 'h': "x2", 'x': "x2", 'H': "x4",
	'X': "x4", 'i': "dI", 'I': "dL", 'L': "dL", 'l': "dL", 'o': "o2", 'B': "o2", 'O': "o4", 's': "d2", 'D': "u4",
}

// odDump holds the parsed command line of od.
// odFormatMemory is about how many bytes a format takes in a list that grows.
const odFormatMemory = 512

type odDump struct {
	p           *shell.Proc
	radix       byte
	skip        int64
	limit       int64 // -1: none
	strings     int64 // least length; -1: no strings
	formats     []odFormat
	all         bool
	width       int64
	widthGiven  bool
	modern      bool
	traditional bool
	big         bool
	label       int64
	hasLabel    bool

	out  *program.Output
	line int // bytes of a line
}

func runOD(p *shell.Proc) int {
	d := &odDump{p: p, radix: 'o', limit: -1, strings: -1}
	o := program.NewOptions(p, odCommand, odOptions)
	for o.Next() {
		d.option(o)
	}
	if o.HasEnded() {
		return o.Status
	}
	names := o.Args()
	if !d.operands(&names) {
		return 1
	}
	if d.strings >= 0 && len(d.formats) > 0 {
		p.Warn("no type may be specified when dumping strings")
		return 1
	}
	in := program.NewInputFiles(p, names)
	defer in.Close()
	d.out = program.NewOutput(p)
	if d.strings < 0 {
		d.layout()
	}
	if in.None() {
		return in.Status()
	}
	if !in.Skip(d.skip) {
		if in.Ended == nil {
			p.Warn("cannot skip past end of combined input")
			in.Failed = true
		}
		return d.out.Close(max(in.Status(), 1))
	}
	var src io.Reader = in
	if d.limit >= 0 {
		src = io.LimitReader(in, d.limit)
	}
	var exhausted error
	if d.strings >= 0 {
		exhausted = d.dumpStrings(bufio.NewReader(src))
	} else if exhausted = d.p.Reserve(2 * d.line); exhausted == nil {
		d.dump(src)
	}
	if exhausted != nil {
		d.p.Warn("memory exhausted")
		in.Failed = true
	}
	return d.out.Close(in.Status())
}

func (d *odDump) option(o *program.Options) {
	number := func() int64 {
		n, err := sizes.ParseBytes(o.Value)
		if err == "" {
			return n
		}
		name := "-" + string(rune(o.ID))
		if o.Long != "" {
			name = "--" + o.Long
		}
		switch err {
		case "suffix":
			o.RejectQuietly("invalid suffix in %s argument '%s'", name, o.Value)
		case "large":
			o.RejectQuietly("%s argument '%s' too large", name, o.Value)
		default:
			o.RejectQuietly("invalid %s argument '%s'", name, o.Value)
		}
		return 0
	}
	switch o.ID {
	case 'A':
		d.modern = true
		if o.Value == "" || !strings.Contains("doxn", o.Value[:1]) {
			o.RejectQuietly("invalid output address radix '%c'; it must be one character from [doxn]", firstByte(o.Value))
			return
		}
		d.radix = o.Value[0]
	case 'j':
		d.modern, d.skip = true, number()
	case 'N':
		d.modern, d.limit = true, number()
	case 'S':
		d.modern, d.strings = true, 3
		if o.HasValue {
			d.strings = number()
		}
	case 't':
		d.modern = true
		d.addFormats(o, o.Value)
	case 'v':
		d.modern, d.all = true, true
	case 'w':
		d.modern, d.widthGiven, d.width = true, true, 32
		if o.HasValue {
			d.width = number()
		}
	case odEndian:
		d.endian(o)
	case odTraditional:
		d.traditional = true
	default:
		d.addFormats(o, odOld[o.ID])
	}
}

func firstByte(s string) byte {
	if s == "" {
		return 0
	}
	return s[0]
}

func (d *odDump) endian(o *program.Options) {
	switch {
	case o.Value != "" && strings.HasPrefix("big", o.Value):
		d.big = true
	case o.Value != "" && strings.HasPrefix("little", o.Value):
		d.big = false
	default:
		o.Reject("invalid argument %s for '--endian'\nValid arguments are:\n  - 'little'\n  - 'big'", shell.Quote(o.Value))
	}
}

func (d *odDump) addFormats(o *program.Options, types string) {
	if strings.HasPrefix(types, "-") || types == "" {
		if types == "" {
			return
		}
	}
	rest := types
	for rest != "" {
		f, n, msg := parseODFormat(rest, d.big)
		if msg != "" {
			if strings.HasPrefix(msg, "invalid character") {
				msg += " '" + types + "'"
			} else {
				msg = strings.Replace(msg, "%", types, 1)
			}
			o.RejectQuietly("%s", msg)
			return
		}
		if d.p.Reserve(odFormatMemory) != nil {
			o.RejectQuietly("memory exhausted")
			return
		}
		d.formats = append(d.formats, f)
		rest = rest[n:]
	}
}

// operands takes a traditional offset and label from the operands.
func (d *odDump) operands(names *[]string) bool {
	args := *names
	if d.modern && !d.traditional {
		return true
	}
	take := func(n int) { *names = args[:len(args)-n] }
	old := func(s string) (int64, bool) { return odOffset(s) }
	switch len(args) {
	case 1:
		if d.traditional || args[0] != "" && args[0][0] == '+' {
			if n, ok := old(args[0]); ok {
				d.skip = n
				take(1)
			}
		}
	case 2:
		if d.traditional || args[1] != "" && (args[1][0] == '+' || ascii.IsDigit(args[1][0])) {
			if n, ok := old(args[1]); ok {
				first, firstOK := old(args[0])
				if d.traditional && firstOK {
					d.skip, d.label, d.hasLabel = first, n, true
					take(2)
				} else {
					d.skip = n
					take(1)
				}
			}
		}
	case 3:
		if d.traditional {
			o1, ok1 := old(args[1])
			o2, ok2 := old(args[2])
			if ok1 && ok2 {
				d.skip, d.label, d.hasLabel = o1, o2, true
				take(2)
			}
		}
	}
	if d.traditional && len(*names) > 1 {
		program.UsageError(d.p, odCommand, 1, "extra operand %s\nod: compatibility mode supports at most one file", shell.Quote((*names)[1]))
		return false
	}
	return true
}

// odOffset reads a traditional offset: octal, hexadecimal with 0x, in blocks with b.
func odOffset(s string) (int64, bool) {
	s = strings.TrimPrefix(s, "+")
	if s == "" || !ascii.IsDigit(s[0]) {
		return 0, false
	}
	mult := int64(1)
	if strings.HasSuffix(s, "b") && !strings.HasPrefix(strings.ToLower(s), "0x") {
		s, mult = s[:len(s)-1], 512
	} else if strings.HasSuffix(s, "B") {
		s, mult = s[:len(s)-1], 1024
	}
	base := 8
	if strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X") {
		s, base = s[2:], 16
	}
	n, err := strconv.ParseInt(s, base, 64)
	return n * mult, err == nil
}

// layout decides how many bytes are on a line and how wide the columns are.
func (d *odDump) layout() {
	if len(d.formats) == 0 {
		f, _, _ := parseODFormat("o2", d.big)
		d.formats = []odFormat{f}
	}
	block := 1
	for _, f := range d.formats {
		block = lcm(block, f.size)
	}
	d.line = 16 - 16%block
	if d.line == 0 {
		d.line = block
	}
	if d.widthGiven {
		if d.width == 0 || d.width%int64(block) != 0 {
			d.p.Warn("warning: invalid width %d; using %d instead", d.width, block)
			d.line = block
		} else {
			d.line = int(min(d.width, 1<<24))
		}
	}
	widest := 0
	for _, f := range d.formats {
		widest = max(widest, (f.width+1)*(d.line/f.size))
	}
	for i := range d.formats {
		f := &d.formats[i]
		f.pad = widest - f.width*(d.line/f.size)
	}
}

func lcm(a, b int) int {
	x, y := a, b
	for y != 0 { // bounded: Euclid's algorithm
		x, y = y, x%y
	}
	return a / x * b
}

func (d *odDump) dump(in io.Reader) {
	offset := d.skip
	block, last := make([]byte, d.line), make([]byte, d.line)
	repeated, first := false, true
	for !d.out.HasFailed() {
		n, err := io.ReadFull(in, block)
		if d.p.Spend(1+n>>4) != nil {
			break
		}
		if n == d.line {
			if !d.all && !first && bytes.Equal(block, last) {
				if !repeated {
					_, _ = d.out.WriteString("*\n")
				}
				repeated = true
			} else {
				repeated = false
				d.block(offset, block, n)
			}
			first = false
			copy(last, block)
		} else if n > 0 {
			clear(block[n:])
			d.block(offset, block, n)
		}
		offset += int64(n)
		if err != nil {
			break
		}
	}
	if d.radix != 'n' || d.hasLabel {
		d.address(offset)
		_ = d.out.WriteByte('\n')
	}
}

// odFuel is the number of fields of a line that are written between two looks at the time: a line can be as long as the memory.
const odFuel = 1 << 12

// block writes one line for each format; n bytes of b are real.
func (d *odDump) block(offset int64, b []byte, n int) {
	for i := range d.formats {
		f := &d.formats[i]
		if i == 0 {
			d.address(offset)
		} else if d.radix != 'n' {
			_, _ = d.out.WriteString(strings.Repeat(" ", d.addressWidth())) // bounded: by the digits of an address
		}
		fields := len(b) / f.size
		blank := (len(b) - n) / f.size
		left := f.pad
		for k := fields; k > blank; k-- {
			if k%odFuel == 0 && d.p.Spend(odFuel>>4) != nil {
				return
			}
			next := f.pad * (k - 1) / fields
			at := (fields - k) * f.size
			f.write(d.out, b[at:at+f.size], left-next+f.width)
			left = next
		}
		if f.text {
			for k := blank; k > 0; k-- {
				if k%odFuel == 0 && d.p.Spend(odFuel>>4) != nil {
					return
				}
				next := f.pad * (k - 1) / fields
				_, _ = d.out.WriteString(strings.Repeat(" ", left-next+f.width)) // bounded: by the width of a field and its share of the padding
				left = next
			}
			_, _ = d.out.WriteString("  >")
			for i, c := range b[:n] {
				if i%odFuel == 0 && d.p.Spend(odFuel>>8) != nil {
					return
				}
				if c < ' ' || c > '~' {
					c = '.'
				}
				_ = d.out.WriteByte(c)
			}
			_ = d.out.WriteByte('<')
		}
		_ = d.out.WriteByte('\n')
	}
}

func (d *odDump) addressWidth() int {
	switch d.radix {
	case 'n':
		return 0
	case 'x':
		return 6
	}
	return 7
}

func (d *odDump) address(offset int64) {
	if d.radix != 'n' {
		_, _ = d.out.WriteString(d.number(offset))
	}
	if d.hasLabel {
		s := d.number(offset - d.skip + d.label)
		if d.radix != 'n' {
			_ = d.out.WriteByte(' ')
		}
		_, _ = d.out.WriteString("(" + s + ")")
	}
}

func (d *odDump) number(n int64) string {
	base := map[byte]int{'d': 10, 'x': 16}[d.radix]
	if base == 0 {
		base = 8
	}
	s := strconv.FormatInt(n, base)
	if w := max(d.addressWidth(), 6); len(s) < w {
		s = strings.Repeat("0", w-len(s)) + s // bounded: by the digits of an address
	}
	return s
}

// dumpStrings writes the strings of at least d.strings graphic characters that a NUL ends. It returns an error when the machine
// has no memory for a string.
func (d *odDump) dumpStrings(in *bufio.Reader) error {
	var run []byte
	offset := d.skip
	for !d.out.HasFailed() {
		c, err := in.ReadByte()
		if err != nil {
			// Text that the end of the input cuts off is not a string, unless the limit cut it.
			if d.limit >= 0 && offset-d.skip == d.limit && int64(len(run)) >= d.strings && len(run) > 0 {
				d.found(offset-int64(len(run)), run)
			}
			return nil
		}
		offset++
		switch {
		case c == 0:
			if int64(len(run)) >= d.strings {
				d.found(offset-1-int64(len(run)), run)
			}
			run = run[:0]
		case c >= ' ' && c <= '~':
			if run, err = program.GrowBuffer(d.p, run, 1); err != nil {
				return err
			}
			run = append(run, c)
		default:
			run = run[:0]
		}
	}
	return nil
}

func (d *odDump) found(at int64, run []byte) {
	if d.radix != 'n' {
		_, _ = d.out.WriteString(d.number(at) + " ")
	}
	_, _ = d.out.Write(run)
	_ = d.out.WriteByte('\n')
}
