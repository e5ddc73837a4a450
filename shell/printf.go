package shell

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// printf formats its arguments.
func (sh *interp) printf(args []string) int {
	list, rest, st := sh.flags2(args, "v:")
	if st >= 0 {
		return st
	}
	name := ""
	for _, f := range list {
		name = f.arg
		if base, _, _ := splitSubscript(name); !isName(base) {
			sh.fail("`%s': not a valid identifier", name)
			return 2
		}
	}
	if len(rest) == 0 {
		return sh.usage(sh.usageOf(), "")
	}
	p := &printer{sh: sh, format: rest[0], args: rest[1:], out: sh.scratch[:0]}
	p.run()
	if name == "" {
		if st := sh.out(p.out); st != 0 {
			return st
		}
		if cap(p.out) <= 1<<16 {
			sh.scratch = p.out
		}
		return p.status
	}
	if len(p.out) > 1<<12 && !sh.hold(len(p.out)) {
		return sh.status
	}
	s := string(p.out)
	if i := strings.IndexByte(s, 0); i >= 0 {
		s = s[:i]
	}
	if !sh.assignNamed(name, s) {
		return 1
	}
	return p.status
}

// printer is a printf under way.
type printer struct {
	sh       *interp
	format   string
	args     []string
	next     int
	out      []byte
	status   int
	stop     bool
	told     int // of out's memory
	unsigned bool
}

// run uses the format again until the arguments are used up.
func (p *printer) run() {
	for {
		before := p.next
		p.once()
		if n := cap(p.out); n > p.told+1<<12 {
			p.stop = p.stop || !p.sh.hold(n-p.told)
			p.told = n
		}
		if p.stop || p.next >= len(p.args) || p.next == before {
			return
		}
		if !p.sh.spend(len(p.format) >> 6) {
			return
		}
	}
}

func (p *printer) once() {
	f := p.format
	for i := 0; i < len(f) && !p.stop; {
		switch f[i] {
		case '\\':
			n, out, stop := p.escape(f[i+1:], false)
			p.out = append(p.out, out...)
			p.stop = stop
			i += 1 + n
		case '%':
			n := p.directive(f[i+1:])
			i += 1 + n
		default:
			p.out = append(p.out, f[i])
			i++
		}
	}
}

// spec is a directive without its letter.
type spec struct {
	minus, plus, space, zero, alt, quote bool
	width, prec                          int // prec -1: none
}

// arg returns the next argument; ok is false when there is none.
func (p *printer) arg() (string, bool) {
	if p.next >= len(p.args) {
		return "", false
	}
	p.next++
	return p.args[p.next-1], true
}

// directive formats what stands behind a % and returns how long it is.
func (p *printer) directive(f string) int {
	if strings.HasPrefix(f, "%") {
		p.out = append(p.out, '%')
		return 1
	}
	s := spec{prec: -1}
	i := 0
flags:
	for ; i < len(f); i++ {
		switch f[i] {
		case '-':
			s.minus = true
		case '+':
			s.plus = true
		case ' ':
			s.space = true
		case '0':
			s.zero = true
		case '#':
			s.alt = true
		case '\'':
			s.quote = true
		default:
			break flags
		}
	}
	i += p.widths(&s, f[i:])
	for i < len(f) && strings.IndexByte("hlLjztq", f[i]) >= 0 && (f[i] != 'q') {
		i++
	}
	if i >= len(f) {
		p.complain("`%s': missing format character", "%"+f[:i])
		p.stop = true
		return len(f)
	}
	c := f[i]
	if c == '(' {
		if end := strings.IndexByte(f[i:], ')'); end > 0 && i+end+1 < len(f) && f[i+end+1] == 'T' {
			p.time(s, f[i+1:i+end])
			return i + end + 2
		}
		p.complain("`%c': invalid format character", '(')
		p.stop = true
		return len(f)
	}
	if w := max(s.width, s.prec); w > 1<<12 && (!p.sh.room(len(p.out)+4*w) || !p.sh.spend(w>>6)) {
		p.stop = true
		return len(f)
	}
	if !p.convert(s, c) {
		p.complain("`%c': invalid format character", rune(c))
		p.stop = true
	}
	return i + 1
}

func (p *printer) complain(format string, args ...any) {
	p.sh.fail(format, args...)
	p.status = 1
}

// maxWidth bounds fields.
const maxWidth = 1 << 20

// widths reads the width and precision.
func (p *printer) widths(s *spec, f string) int {
	number := func(f string) (n, used int) {
		if strings.HasPrefix(f, "*") {
			a, _ := p.arg()
			v := p.integer(a)
			return int(max(min(v, maxWidth), -maxWidth)), 1
		}
		for used < len(f) && f[used] >= '0' && f[used] <= '9' {
			n = min(n*10+int(f[used]-'0'), maxWidth)
			used++
		}
		return n, used
	}
	w, i := number(f)
	if w < 0 {
		s.minus, w = true, -w
	}
	s.width = w
	if i < len(f) && f[i] == '.' {
		prec, used := number(f[i+1:])
		if prec < 0 {
			prec = -1
		}
		s.prec = prec
		i += 1 + used
	}
	return i
}

// convert formats one argument; false: no such letter.
func (p *printer) convert(s spec, c byte) bool {
	switch c {
	case 's':
		a, _ := p.arg()
		p.text(s, a)
	case 'b':
		a, _ := p.arg()
		out, stop := p.decodeB(a)
		p.text(s, string(out))
		p.stop = stop
	case 'q', 'Q':
		a, ok := p.arg()
		if c == 'Q' && s.prec >= 0 && s.prec < len(a) {
			a, s.prec = a[:s.prec], -1
		}
		_ = ok
		p.text(s, quotePrintf(a))
	case 'c':
		a, _ := p.arg()
		if a == "" {
			p.pad(s, "\x00")
			return true
		}
		a = a[:1]
		s.prec = -1
		p.text(s, a)
	case 'd', 'i':
		a, _ := p.arg()
		n := p.integer(a)
		p.number(s, c, n)
	case 'o', 'u', 'x', 'X':
		a, _ := p.arg()
		p.unsigned = true
		n := p.integer(a)
		p.unsigned = false
		p.number(s, c, n)
	case 'e', 'E', 'f', 'F', 'g', 'G', 'a', 'A':
		a, _ := p.arg()
		p.float(s, c, p.floating(a))
	case 'n':
		a, _ := p.arg()
		if isName(a) {
			p.sh.assignNamed(a, itoa(len(p.out)))
		}
	default:
		return false
	}
	return true
}

// text writes a string; width and precision count bytes, as in C.
func (p *printer) text(s spec, a string) {
	if s.prec >= 0 && s.prec < len(a) {
		a = a[:s.prec]
	}
	p.pad(s, a)
}

func (p *printer) pad(s spec, a string) {
	fill := s.width - len(a)
	if !s.minus {
		for range max(fill, 0) {
			p.out = append(p.out, ' ')
		}
	}
	p.out = append(p.out, a...)
	if s.minus {
		for range max(fill, 0) {
			p.out = append(p.out, ' ')
		}
	}
}

// integer understands C's constants and 'c for the code of a character.
func (p *printer) integer(a string) int64 {
	if a == "" {
		return 0
	}
	if a[0] == '\'' || a[0] == '"' {
		return p.sh.charCode(a[1:])
	}
	s := strings.TrimLeft(a, " \t\n")
	neg := false
	if s != "" && (s[0] == '-' || s[0] == '+') {
		neg, s = s[0] == '-', s[1:]
	}
	base := uint64(10)
	digits := s
	switch {
	case strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X"):
		base, digits = 16, s[2:]
	case len(s) > 1 && s[0] == '0':
		base, digits = 8, s[1:]
	}
	v, n, over := uint64(0), 0, false
	for n < len(digits) {
		d := digitValue(digits[n]|0x20, 36)
		if digits[n] >= '0' && digits[n] <= '9' {
			d = uint64(digits[n] - '0')
		}
		if d >= base {
			break
		}
		if v > (math.MaxUint64-d)/base {
			over = true
		}
		v = v*base + d
		n++
	}
	if n < len(digits) || len(digits) == 0 {
		p.invalid(a)
	}
	switch {
	case p.unsigned:
		if over {
			p.complainRange(a)
			return -1
		}
		if neg {
			v = -v
		}
		return int64(v)
	case over || v > 1<<63 && neg:
		p.complainRange(a)
		if neg {
			return math.MinInt64
		}
		return math.MaxInt64
	case neg:
		return -int64(v)
	}
	if v > math.MaxInt64 {
		p.complainRange(a)
		return math.MaxInt64
	}
	return int64(v)
}

// invalid tells what kind of number the argument is not.
func (p *printer) invalid(a string) {
	kind := ""
	switch {
	case len(a) > 1 && a[0] == '0' && a[1] >= '0' && a[1] <= '9':
		kind = "octal "
	case strings.HasPrefix(a, "0x"):
		kind = "hex "
	}
	p.complain("%s: invalid %snumber", a, kind)
}

func (p *printer) complainRange(a string) {
	p.sh.fail("warning: %s: Numerical result out of range", a)
}

func (sh *interp) charCode(s string) int64 {
	if s == "" {
		return 0
	}
	r, _ := decodeRune(s)
	if r < 0 || sh.bytewise() {
		return int64(s[0])
	}
	return int64(r)
}

// number writes an integer.
func (p *printer) number(s spec, c byte, n int64) {
	var digits, prefix string
	switch c {
	case 'd', 'i':
		digits = strconv.FormatInt(n, 10)
		if n < 0 {
			prefix, digits = "-", digits[1:]
		} else if s.plus {
			prefix = "+"
		} else if s.space {
			prefix = " "
		}
	case 'u':
		digits = strconv.FormatUint(uint64(n), 10)
	case 'o':
		digits = strconv.FormatUint(uint64(n), 8)
		if s.alt && digits[0] != '0' {
			digits = "0" + digits
		}
	default:
		digits = strconv.FormatUint(uint64(n), 16)
		if s.alt && n != 0 {
			prefix = "0x"
		}
		if c == 'X' {
			digits, prefix = strings.ToUpper(digits), strings.ToUpper(prefix)
		}
	}
	if s.prec >= 0 {
		s.zero = false
		if s.prec == 0 && n == 0 {
			digits = ""
		}
		digits = strings.Repeat("0", max(0, s.prec-len(digits))) + digits
	}
	if s.zero && !s.minus {
		digits = strings.Repeat("0", max(0, s.width-len(prefix)-len(digits))) + digits
	}
	p.pad(s, prefix+digits)
}

// floating understands C's constants.
func (p *printer) floating(a string) float64 {
	if a == "" {
		return 0
	}
	if a[0] == '\'' || a[0] == '"' {
		return float64(p.sh.charCode(a[1:]))
	}
	s := strings.TrimLeft(a, " \t\n")
	if v, err := strconv.ParseFloat(s, 64); err == nil && !strings.ContainsAny(s, "_pP") {
		return v
	}
	// The longest beginning that is a number counts.
	for n := len(s); n > 0; n-- {
		text := s[:n]
		if strings.HasPrefix(strings.TrimLeft(text, "+-"), "0x") && !strings.ContainsAny(text, "pP") {
			text += "p0"
		}
		if v, err := strconv.ParseFloat(text, 64); err == nil && !strings.Contains(text, "_") {
			if n < len(s) {
				p.invalid(a)
			}
			return v
		}
	}
	p.invalid(a)
	return 0
}

// float writes a floating-point number.
func (p *printer) float(s spec, c byte, v float64) {
	prec := s.prec
	verb := c
	switch c {
	case 'F':
		verb = 'f'
	case 'a', 'A':
		verb = 'x'
		if c == 'A' {
			verb = 'X'
		}
	}
	if prec < 0 && verb != 'x' && verb != 'X' {
		prec = 6
	}
	prec = min(prec, 1000)
	if (verb == 'g' || verb == 'G') && prec == 0 {
		prec = 1
	}
	text := formatFloat(v, verb, prec, s.alt)
	if s.alt && prec == 0 && (verb == 'f' || verb == 'e' || verb == 'E') && !math.IsInf(v, 0) && !math.IsNaN(v) {
		if i := strings.IndexAny(text, "eE"); i >= 0 {
			text = text[:i] + "." + text[i:]
		} else {
			text += "."
		}
	}
	if c == 'F' || c >= 'A' && c <= 'Z' {
		text = strings.ToUpper(text)
	}
	prefix := ""
	switch {
	case strings.HasPrefix(text, "-"):
		prefix, text = "-", text[1:]
	case s.plus:
		prefix = "+"
	case s.space:
		prefix = " "
	}
	if s.zero && !s.minus && !math.IsInf(v, 0) && !math.IsNaN(v) {
		text = strings.Repeat("0", max(0, s.width-len(prefix)-len(text))) + text
	}
	p.pad(s, prefix+text)
}

// maxTimeText is how long bash's text of %(...)T may get.
const maxTimeText = 128

// formatFloat formats as C does, which drops zeros behind the point under %g.
func formatFloat(v float64, verb byte, prec int, alt bool) string {
	switch {
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	case math.IsNaN(v):
		return "nan"
	}
	if verb != 'g' && verb != 'G' {
		if prec < 0 && v != 0 { // %a as C prints a long double: four bits before the point.
			frac, exp := math.Frexp(math.Abs(v))
			digits := strings.TrimRight(strconv.FormatUint(uint64(math.Ldexp(frac, 64)), 16), "0")
			if digits = digits[:1] + "." + digits[1:]; len(digits) == 2 {
				digits = digits[:1]
			}
			sign := ""
			if math.Signbit(v) {
				sign = "-"
			}
			return fmt.Sprintf("%s0x%sp%+d", sign, digits, exp-4)
		}
		s := strconv.FormatFloat(v, verb, prec, 64)
		if verb == 'x' || verb == 'X' {
			return hexFloat(s)
		}
		return s
	}
	exp := 0
	if v != 0 {
		e := strconv.FormatFloat(v, 'e', prec-1, 64)
		i := strings.IndexByte(e, 'e')
		exp, _ = strconv.Atoi(e[i+1:])
	}
	var s string
	if exp < -4 || exp >= prec {
		s = strconv.FormatFloat(v, 'e', prec-1, 64)
		if !alt {
			i := strings.IndexByte(s, 'e')
			s = trimZeros(s[:i]) + s[i:]
		}
	} else {
		s = strconv.FormatFloat(v, 'f', max(prec-1-exp, 0), 64)
		if !alt {
			s = trimZeros(s)
		}
	}
	return s
}

func trimZeros(s string) string {
	if strings.IndexByte(s, '.') < 0 {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// hexFloat writes the exponent of a hexadecimal number as C does: without a zero before it.
func hexFloat(s string) string {
	i := strings.IndexAny(s, "pP")
	if i < 0 {
		return s
	}
	exp := s[i+2:]
	if len(exp) > 1 && exp[0] == '0' {
		exp = exp[1:]
	}
	return s[:i+2] + exp
}

// time writes %(format)T: -1 and nothing are now, -2 is when the shell began.
func (p *printer) time(s spec, format string) {
	a, have := p.arg()
	t := p.sh.m.now()
	if have {
		n := p.integer(a)
		switch n {
		case -1:
		case -2:
			t = time.Unix(p.sh.start, 0)
		default:
			t = time.Unix(n, 0)
		}
	}
	if format == "" {
		format = "%X"
	}
	text := strftime(format, p.sh.local(t))
	if len(text) >= maxTimeText { // What does not fit into bash's buffer comes to nothing.
		text = ""
	}
	p.text(s, text)
}

// quotePrintf quotes as %q does: backslashes, or $'...' when there is something unprintable.
func quotePrintf(s string) string {
	if s == "" {
		return "''"
	}
	if needsANSI(s) {
		return quoteANSI(s)
	}
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if strings.IndexByte(" \t\n'\"\\|&;()<>!{}*[?]^$`,", c) >= 0 || i == 0 && (c == '#' || c == '~') || i > 0 && c == '~' && (s[i-1] == ':' || s[i-1] == '=') {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}
