// Package numbers holds the programs seq, numfmt and expr.
package numbers

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/cformat"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func seqCommand() program.Description {
	return program.Description{
		Name: "seq", Usage: "[OPTION]... LAST\n[OPTION]... FIRST LAST\n[OPTION]... FIRST INCREMENT LAST",
		Summary: "write the numbers from FIRST to LAST",
		Help: `FIRST and INCREMENT are 1 when they are not given.

  -f, --format=FORMAT     write numbers by a format of printf(3) for floating point
  -s, --separator=STRING  write STRING between numbers, not a newline
  -w, --equal-width       with zeros before, so that all are of one width
      --help              show this help and exit
      --version           show the version and exit`,
		Run: runSeq,
	}
}

var seqOptions = []getopt.Option{
	{Short: 'w', Long: "equal-width"},
	{Short: 'f', Long: "format", Arg: getopt.Required},
	{Short: 's', Long: "separator", Arg: getopt.Required},
}

// seqNumber is an operand.
type seqNumber struct {
	text   string
	exact  *big.Rat // nil for infinity, and what has no digits after a point
	float  float64
	frac   int // digits behind the point; -1 for hexadecimal ones
	width  int
	digits bool // nothing but digits
}

// seq is a run of seq.
type seq struct {
	p         *shell.Proc
	out       *program.Output
	separator string
	format    *floatFormat
	equal     bool
}

func runSeq(p *shell.Proc) int {
	s := &seq{p: p, out: program.NewOutput(p), separator: "\n"}
	format := ""
	o := program.NewOptions(p, seqCommand, seqOptions)
	o.Order = getopt.RequireOrder
	o.Parser = getopt.New(seqArgs(p.Args), seqOptions)
	o.Order = getopt.RequireOrder
	for o.Next() {
		switch o.ID {
		case 'w':
			s.equal = true
		case 'f':
			format = o.Value
			if format == "" {
				format = " "
			}
		case 's':
			s.separator = o.Value
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	if !program.CheckOperands(p, seqCommand, o.Args(), 1, 3) {
		return 1
	}
	if format != "" {
		fault := ""
		if s.format, fault = parseFloatFormat(strings.TrimPrefix(format, " ")); fault != "" {
			p.Warn("format %s %s", quoting.Name(strings.TrimPrefix(format, " ")), fault)
			return 1
		}
		if s.equal {
			return program.UsageError(p, seqCommand, 1, "format string may not be specified when printing equal width strings")
		}
	}
	return s.run(o.Args())
}

// seqArgs puts -- before the first operand, which may be a negative number.
func seqArgs(args []string) []string {
	for i := 1; i < len(args); i++ {
		a := args[i]
		if len(a) > 1 && a[0] == '-' && (a[1] == '.' || a[1] >= '0' && a[1] <= '9') {
			return append(append(append([]string(nil), args[:i]...), "--"), args[i:]...)
		}
		if a == "--" || a == "" || a[0] != '-' {
			break
		}
		if a == "-s" || a == "-f" || a == "--separator" || a == "--format" {
			i++
		}
	}
	return args
}

func (s *seq) run(args []string) int {
	numbers := make([]seqNumber, len(args))
	for i, a := range args {
		fault := ""
		if numbers[i], fault = parseSeqNumber(a); fault != "" {
			return program.UsageError(s.p, seqCommand, 1, "%s: %s", fault, quoting.Name(a))
		}
	}
	one, _ := parseSeqNumber("1")
	first, step, last := one, one, numbers[len(numbers)-1]
	if len(numbers) > 1 {
		first = numbers[0]
	}
	if len(numbers) > 2 {
		if step = numbers[1]; step.float == 0 {
			return program.UsageError(s.p, seqCommand, 1, "invalid Zero increment value: %s", quoting.Name(step.text))
		}
	}
	var wrote bool
	switch {
	case first.float == 0 && math.Signbit(first.float) && !s.equal:
		if s.format == nil {
			s.format = &floatFormat{verb: 'f', prec: max(first.frac, step.frac, 0)}
		}
		wrote = s.floats(first, step, last)
	case s.format == nil && first.frac == 0 && step.frac == 0 && first.exact != nil && step.exact != nil && s.whole(first, step, last, &wrote):
	case first.exact == nil || step.exact == nil || first.frac < 0 || step.frac < 0 || last.frac < 0:
		wrote = s.floats(first, step, last)
	default:
		wrote = s.decimals(first, step, last)
	}
	if wrote {
		_ = s.out.WriteByte('\n')
	}
	return s.out.Close(0)
}

// parseSeqNumber reads what strtold(3) reads.
func parseSeqNumber(text string) (n seqNumber, fault string) {
	trimmed := strings.TrimLeft(text, " \t\n\v\f\r")
	body := strings.TrimPrefix(trimmed, "+")
	f, err := strconv.ParseFloat(strings.TrimPrefix(trimmed, "+"), 64)
	lower := strings.ToLower(body)
	hexadecimal := strings.Contains(lower, "0x")
	if err != nil && hexadecimal && !strings.ContainsAny(lower, "p_") {
		f, err = strconv.ParseFloat(lower+"p0", 64)
	}
	if strings.Contains(body, "_") || err != nil && !strings.Contains(err.Error(), strconv.ErrRange.Error()) {
		return n, "invalid floating point argument"
	}
	n = seqNumber{text: text, float: f, width: len(body)}
	switch {
	case math.IsNaN(f):
		return n, "invalid 'not-a-number' argument"
	case math.IsInf(f, 0) && !strings.ContainsAny(lower, "0123456789"):
		return n, ""
	case hexadecimal:
		n.frac = -1
		return n, ""
	}
	mantissa, exponent, hasExponent := strings.Cut(lower, "e")
	whole, frac, hasPoint := strings.Cut(mantissa, ".")
	n.frac = len(frac)
	switch {
	case hasPoint && frac == "":
		n.width--
	case hasPoint && (whole == "" || whole == "-"):
		n.width++
	}
	if hasExponent {
		e, err := strconv.Atoi(exponent)
		if err != nil || e > 5000 || e < -5000 {
			n.frac = -1
			return n, ""
		}
		n.width -= len(exponent) + 1
		if e < 0 {
			n.frac -= e
			n.width -= e
		} else {
			n.width += max(0, e-n.frac)
			n.frac = max(0, n.frac-e)
		}
	}
	n.exact, _ = new(big.Rat).SetString(body)
	n.digits = strings.Trim(body, "0123456789") == ""
	return n, ""
}

// widths returns how wide all numbers are for -w; prec is the number of digits behind the point.
func seqWidth(first, last seqNumber, prec int) int {
	a, b := first.width+prec-first.frac, last.width+prec-last.frac
	if last.frac > 0 && prec == 0 {
		b--
	}
	if last.frac == 0 && prec > 0 {
		b++
	}
	if first.frac == 0 && prec > 0 {
		a++
	}
	return max(a, b)
}

// whole writes numbers that fit into a machine word.
func (s *seq) whole(first, step, last seqNumber, wrote *bool) bool {
	const least, most = -1 << 60, 1 << 60
	var a, d, z int64
	if !first.exact.Num().IsInt64() || !step.exact.Num().IsInt64() {
		return false
	}
	a, d = first.exact.Num().Int64(), step.exact.Num().Int64()
	switch {
	case last.exact != nil:
		q := new(big.Int)
		m := new(big.Int)
		q.DivMod(last.exact.Num(), last.exact.Denom(), m)
		if m.Sign() != 0 && d < 0 {
			q.Add(q, big.NewInt(1))
		}
		if !q.IsInt64() {
			return false
		}
		z = q.Int64()
	case math.IsInf(last.float, 1):
		z = most
	case math.IsInf(last.float, -1):
		z = least
	default:
		return false
	}
	if a < least || a > most || z < least || z > most || d < least || d > most {
		return false
	}
	width := 0
	if s.equal {
		width = seqWidth(first, last, 0)
	}
	if d == 1 && a >= 0 && width == 0 && len(s.separator) == 1 {
		*wrote = s.count(a, z)
		return true
	}
	var buf []byte
	for x := a; d > 0 && x <= z || d < 0 && x >= z; x += d {
		buf = buf[:0]
		if *wrote {
			buf = append(buf, s.separator...)
		}
		*wrote = true
		buf = appendZeroPadded(buf, x, width)
		if _, err := s.out.Write(buf); err != nil || !s.spend() {
			return true
		}
	}
	return true
}

// count writes the numbers from a to z, by adding one to the digits.
func (s *seq) count(a, z int64) (wrote bool) {
	if a > z {
		return false
	}
	digits := strconv.AppendInt(make([]byte, 0, 32), a, 10)
	end := s.separator[0]
	block := make([]byte, 0, program.BufferSize)
	for x := a; ; x++ {
		block = append(block, digits...)
		if x == z || len(block) > program.BufferSize-64 {
			if _, err := s.out.Write(block); err != nil || s.p.Spend(1+len(block)>>6) != nil || x == z {
				return true
			}
			block = block[:0]
		}
		block = append(block, end)
		i := len(digits) - 1
		for i >= 0 && digits[i] == '9' {
			digits[i] = '0'
			i--
		}
		if i < 0 {
			digits = append(digits, '0')
			digits[0] = '1'
		} else {
			digits[i]++
		}
	}
}

func (s *seq) spend() bool { return s.p.Spend(1) == nil }

func appendZeroPadded(b []byte, x int64, width int) []byte {
	from := len(b)
	b = strconv.AppendInt(b, x, 10)
	if missing := width - (len(b) - from); missing > 0 {
		text := string(b[from:])
		b = b[:from]
		if text[0] == '-' {
			b, text = append(b, '-'), text[1:]
		}
		b = append(append(b, strings.Repeat("0", min(missing, program.BufferSize))...), text...)
	}
	return b
}

// decimals writes numbers with a point, exactly.
func (s *seq) decimals(first, step, last seqNumber) (wrote bool) {
	prec := max(first.frac, step.frac)
	scale := max(prec, last.frac)
	unit := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))
	scaled := func(r *big.Rat) *big.Int { return new(big.Int).Set(new(big.Rat).Mul(r, unit).Num()) }
	x, d := scaled(first.exact), scaled(step.exact)
	var z *big.Int
	if last.exact != nil {
		z = scaled(last.exact)
	}
	width := 0
	if s.equal {
		width = seqWidth(first, last, prec)
	}
	up := d.Sign() > 0
	var buf []byte
	for {
		switch {
		case z == nil && math.IsInf(last.float, 1) != up, z != nil && up && x.Cmp(z) > 0, z != nil && !up && x.Cmp(z) < 0:
			return wrote
		}
		buf = buf[:0]
		if wrote {
			buf = append(buf, s.separator...)
		}
		wrote = true
		if s.format != nil {
			f, _ := new(big.Rat).SetFrac(x, unit.Num()).Float64()
			buf = s.format.append(buf, f)
		} else {
			buf = appendScaled(buf, x, scale, prec, width)
		}
		if _, err := s.out.Write(buf); err != nil || s.p.Spend(2+len(buf)>>6) != nil {
			return wrote
		}
		x.Add(x, d)
	}
}

// appendScaled appends x, which counts units of 10^-scale, with prec digits behind the point.
func appendScaled(b []byte, x *big.Int, scale, prec, width int) []byte {
	text := new(big.Int).Abs(x).String()
	if len(text) <= scale {
		text = strings.Repeat("0", scale-len(text)+1) + text // bounded: by the digits of an argument
	}
	whole, frac := text[:len(text)-scale], text[len(text)-scale:len(text)-scale+prec]
	text = whole
	if prec > 0 {
		text += "." + frac
	}
	if x.Sign() < 0 {
		b = append(b, '-')
		width--
	}
	if missing := width - len(text); missing > 0 {
		b = append(b, strings.Repeat("0", min(missing, program.BufferSize))...)
	}
	return append(b, text...)
}

// floats writes what is not given in decimal digits.
func (s *seq) floats(first, step, last seqNumber) (wrote bool) {
	format := s.format
	if format == nil {
		format = &floatFormat{verb: 'g', prec: 6}
	}
	var buf []byte
	for i := 0.0; ; i++ {
		x := first.float // which may be -0
		if i > 0 {
			x += i * step.float
		}
		if step.float > 0 && x > last.float || step.float < 0 && x < last.float {
			return wrote
		}
		buf = buf[:0]
		if wrote {
			buf = append(buf, s.separator...)
		}
		wrote = true
		buf = format.append(buf, x)
		if _, err := s.out.Write(buf); err != nil || !s.spend() {
			return wrote
		}
	}
}

// floatFormat is a format of printf with one directive for a floating point number.
type floatFormat struct {
	before, after string
	flags         string
	width, prec   int
	verb          byte
	left, zero    bool
}

// parseFloatFormat reads a format; fault is its error.
func parseFloatFormat(text string) (f *floatFormat, fault string) {
	f = &floatFormat{prec: -1}
	literal := func(i int) (string, int) {
		var b strings.Builder
		for ; i < len(text); i++ {
			if text[i] == '%' {
				if i+1 < len(text) && text[i+1] == '%' {
					i++
				} else {
					break
				}
			}
			b.WriteByte(text[i])
		}
		return b.String(), i
	}
	var i int
	if f.before, i = literal(0); i == len(text) {
		return nil, "has no % directive"
	}
	i++
	from := i
	for i < len(text) && strings.IndexByte("-+#0 '", text[i]) >= 0 {
		i++
	}
	f.flags = text[from:i]
	f.left, f.zero = strings.Contains(f.flags, "-"), strings.Contains(f.flags, "0")
	number := func() int {
		n := 0
		for i < len(text) && ascii.IsDigit(text[i]) {
			n = min(n*10+int(text[i]-'0'), program.BufferSize)
			i++
		}
		return n
	}
	f.width = number()
	if i < len(text) && text[i] == '.' {
		i++
		f.prec = number()
	}
	if i < len(text) && text[i] == 'L' {
		i++
	}
	switch {
	case i == len(text):
		return nil, "ends in %"
	case strings.IndexByte("efgaEFGA", text[i]) < 0:
		return nil, "has unknown %" + text[i:i+1] + " directive"
	}
	f.verb = text[i]
	if f.after, i = literal(i + 1); i < len(text) {
		return nil, "has too many % directives"
	}
	return f, ""
}

func (f *floatFormat) append(b []byte, x float64) []byte {
	text := cformat.Float(x, f.verb, f.prec, strings.Contains(f.flags, "#"))
	switch {
	case strings.HasPrefix(text, "-"):
	case strings.Contains(f.flags, "+"):
		text = "+" + text
	case strings.Contains(f.flags, " "):
		text = " " + text
	}
	b = append(b, f.before...)
	missing := f.width - len(text)
	switch {
	case missing <= 0:
		b = append(b, text...)
	case f.left:
		b = append(append(b, text...), strings.Repeat(" ", missing)...) // bounded: by program.BufferSize
	case f.zero && !math.IsInf(x, 0):
		sign := 0
		if strings.IndexByte("+- ", text[0]) >= 0 {
			sign = 1
		}
		b = append(append(append(b, text[:sign]...), strings.Repeat("0", missing)...), text[sign:]...) // bounded: by program.BufferSize
	default:
		b = append(append(b, strings.Repeat(" ", missing)...), text...) // bounded: by program.BufferSize
	}
	return append(b, f.after...)
}
