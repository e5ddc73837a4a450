package interpreter

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// formatted compiles the arguments of printf and sprintf.
func (c *compiler) formatted(args []node, pos int) textCode {
	codes := make([]valueCode, len(args)-1)
	for i, a := range args[1:] {
		codes[i] = c.value(a)
	}
	format := c.text(args[0])
	return func(m *machine) string {
		f := format(m)
		if len(codes) == 0 && strings.IndexByte(f, '%') < 0 {
			return f
		}
		var few [8]value
		list := few[:0]
		for _, a := range codes {
			list = append(list, a(m))
		}
		return m.sprintf(f, list, pos)
	}
}

// directive is a conversion of a format.
type directive struct {
	minus, plus, blank, alt, zero bool
	width, prec                   int // prec -1: none
	verb                          byte
}

// maxWidth bounds widths and precisions in a format.
const maxWidth = 64 << 20

// formatter writes values as a format says.
type formatter struct {
	m      *machine
	format string
	args   []value
	at     int // the next argument
	pos    int
	out    []byte
}

// sprintf writes args as format says.
func (m *machine) sprintf(format string, args []value, pos int) string {
	f := formatter{m: m, format: format, args: args, pos: pos}
	for i := 0; i < len(format); {
		n := strings.IndexByte(format[i:], '%')
		if n < 0 {
			f.write(format[i:])
			break
		}
		f.write(format[i : i+n])
		i = f.directive(i + n)
	}
	m.taken(len(f.out))
	return string(f.out)
}

// room makes room for n more bytes, which count before they are made.
func (f *formatter) room(n int) {
	if n <= cap(f.out)-len(f.out) {
		return
	}
	size := max(len(f.out)+n, 2*cap(f.out), 64)
	if size > 1024 {
		f.m.grow(size)
		f.m.spend(size >> 6)
	}
	f.out = append(make([]byte, 0, size), f.out...)
}

// write appends a text.
func (f *formatter) write(s string) {
	f.room(len(s))
	f.out = append(f.out, s...)
}

// next returns the next argument; end is where in the format it is asked for.
func (f *formatter) next(end int) value {
	if f.at < len(f.args) {
		f.at++
		return f.args[f.at-1]
	}
	if f.pos < 0 {
		return value{}
	}
	f.m.fatalAt(f.pos, "fatal: not enough arguments to satisfy format string\n\t`%s'\n\t%*s^ ran out for this one", f.format, end, "")
	return value{}
}

// directive writes the conversion at i and returns where the text goes on.
func (f *formatter) directive(i int) int {
	begin := i
	i++
	d := directive{prec: -1}
	if n, k := digits(f.format[i:]); k > 0 && strings.HasPrefix(f.format[i+k:], "$") {
		if n < 1 || n > len(f.args) {
			f.m.fatalAt(f.pos, "fatal: arg count with `$' must be > 0 and <= %d", len(f.args))
		}
		f.at = n - 1
		i += k + 1
	}
	i = f.flags(&d, i)
	if i < len(f.format) && f.format[i] == '*' {
		v := f.next(i)
		if d.width = int(clampInt(v.number())); d.width < 0 {
			d.minus, d.width = true, -d.width
		}
		i++
	} else {
		var k int
		d.width, k = digits(f.format[i:])
		i += k
	}
	if i < len(f.format) && f.format[i] == '.' {
		i++
		if i < len(f.format) && f.format[i] == '*' {
			v := f.next(i)
			d.prec = int(max(clampInt(v.number()), -1))
			i++
		} else {
			var k int
			d.prec, k = digits(f.format[i:])
			i += k
		}
	}
	for i < len(f.format) && strings.IndexByte("hlLqjzt", f.format[i]) >= 0 {
		i++
	}
	if d.width > maxWidth || d.prec > maxWidth {
		f.m.fatalAt(f.pos, "fatal: format asks for more than %d characters", maxWidth)
	}
	if n := max(d.prec, 0); n > 1024 {
		f.m.grow(4 * n) // The digits, and texts on the way to them.
		f.m.spend(n >> 4)
	}
	if i >= len(f.format) {
		f.write(f.format[begin:])
		return i
	}
	d.verb = f.format[i]
	if d.verb == '%' {
		f.write("%")
		return i + 1
	}
	if strings.IndexByte("diouxXeEfFgGaAcs", d.verb) < 0 {
		f.write(f.format[begin : i+1])
		return i + 1
	}
	v := f.next(i)
	f.convert(&d, &v)
	return i + 1
}

func (f *formatter) flags(d *directive, i int) int {
	for ; i < len(f.format); i++ {
		switch f.format[i] {
		case '-':
			d.minus = true
		case '+':
			d.plus = true
		case ' ':
			d.blank = true
		case '#':
			d.alt = true
		case '0':
			d.zero = true
		case '\'':
		default:
			return i
		}
	}
	return i
}

// digits reads a number that s begins with.
func digits(s string) (n, width int) {
	for width < len(s) && isDigit(s[width]) {
		n = min(n*10+int(s[width]-'0'), maxWidth+1)
		width++
	}
	return n, width
}

func (f *formatter) convert(d *directive, v *value) {
	m := f.m
	switch d.verb {
	case 's':
		s := v.s
		if v.k == number {
			s = m.numberText(v.n, m.convfmt)
		}
		if d.prec >= 0 {
			s = s[:m.offset(s, d.prec)]
		}
		f.pad(d, "", s, false)
	case 'c':
		f.pad(d, "", f.character(v), false)
	case 'd', 'i', 'u', 'o', 'x', 'X':
		f.integer(d, v.number())
	default:
		n := v.number()
		if math.IsNaN(n) || math.IsInf(n, 0) {
			f.special(d, n)
			return
		}
		sign := d.sign(math.Signbit(n))
		f.pad(d, sign, m.o.Float(math.Abs(n), d.verb, d.prec, d.alt), d.zero)
	}
}

// special writes NaN and infinity.
func (f *formatter) special(d *directive, n float64) {
	s := specialNumber(n)
	f.pad(d, s[:1], s[1:], false)
}

func (d *directive) sign(negative bool) string {
	switch {
	case negative:
		return "-"
	case d.plus:
		return "+"
	case d.blank:
		return " "
	}
	return ""
}

// character is %c: the character of a number, or the first of a text.
func (f *formatter) character(v *value) string {
	if n, ok := v.numeric(); ok && v.k != unset && (v.k == number || v.k == input) {
		if f.m.o.Bytes || n < 0 || n > utf8.MaxRune {
			return string([]byte{byte(int64(n))})
		}
		if n >= 0xd800 && n < 0xe000 {
			return string([]byte{byte(int64(n))})
		}
		return string(rune(n))
	}
	if v.s == "" {
		return "\x00"
	}
	return v.s[:f.m.offset(v.s, 1)]
}

func (f *formatter) integer(d *directive, n float64) {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		f.special(d, n)
		return
	}
	n = math.Trunc(n)
	neg := n < 0
	var s, sign string
	a := math.Abs(n)
	switch {
	case neg && d.verb != 'd' && d.verb != 'i' && a <= 1<<63:
		// The others know no sign.
		s = strconv.FormatUint(-uint64(a), d.base())
	case a >= 1<<64:
		s = strconv.FormatFloat(a, 'f', 0, 64)
	default:
		s = strconv.FormatUint(uint64(a), d.base())
	}
	if d.verb == 'X' {
		s = strings.ToUpper(s)
	}
	if d.prec >= 0 {
		if len(s) < d.prec {
			s = strings.Repeat("0", d.prec-len(s)) + s // bounded: directive has charged for the precision
		}
		if d.prec == 0 && n == 0 {
			s = ""
		}
	}
	switch d.verb {
	case 'd', 'i':
		sign = d.sign(neg)
	case 'o':
		if d.alt && !strings.HasPrefix(s, "0") {
			s = "0" + s
		}
	case 'x', 'X':
		if d.alt && n != 0 {
			sign = "0" + string(d.verb)
		}
	}
	f.pad(d, sign, s, d.zero && d.prec < 0)
}

func (d *directive) base() int {
	switch d.verb {
	case 'o':
		return 8
	case 'x', 'X':
		return 16
	}
	return 10
}

// pad writes a sign and a text in the width.
func (f *formatter) pad(d *directive, sign, s string, zeros bool) {
	fill := d.width - len(sign)
	if fill > 0 {
		fill -= f.m.length(s)
	}
	f.room(len(sign) + len(s) + max(fill, 0))
	switch {
	case fill <= 0:
		f.out = append(append(f.out, sign...), s...)
	case d.minus:
		f.out = append(append(f.out, sign...), s...)
		f.fill(' ', fill)
	case zeros:
		f.out = append(f.out, sign...)
		f.fill('0', fill)
		f.out = append(f.out, s...)
	default:
		f.fill(' ', fill)
		f.out = append(append(f.out, sign...), s...)
	}
}

func (f *formatter) fill(c byte, n int) {
	for range n {
		f.out = append(f.out, c) // bounded: pad has charged for the width
	}
}
