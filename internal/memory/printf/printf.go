// Package printf is the formatting of printf and echo -e, as bash does it.
package printf

import (
	"math"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/char"
	"github.com/seed434b0696/agent-sandbox/internal/memory/quote"
)

// Budget limits the memory and fuel of printf.
type Budget interface {
	// Hold counts n more bytes before they are made, or fewer when n is negative. False: give up.
	Hold(n int) bool
	// Spend takes n units of work. False: give up.
	Spend(n int) bool
}

// Host is the shell in which printf runs.
type Host interface {
	// Warn writes a message of printf.
	Warn(format string, args ...any)
	Budget
	// Locale returns the locale of arguments.
	Locale() char.Locale
	// Time formats a time for %(format)T: -1 is now, -2 the start of the shell, others are seconds since 1970.
	Time(format string, seconds int64) string
	// Assign sets a variable for %n; an invalid name is ignored.
	Assign(name, value string)
}

// Append appends the arguments, formatted, to dst. The format is used again until there are no arguments left. The
// status is 1 when an argument or the format was wrong, about which the host was warned.
func Append(dst []byte, h Host, format string, args []string) (out []byte, status int) {
	p := &printer{host: h, format: format, args: args, out: dst}
	p.run()
	return p.out, p.status
}

// printer is a running printf.
type printer struct {
	host     Host
	format   string
	args     []string
	next     int
	out      []byte
	status   int
	stop     bool
	counted  int // bytes of out that the host has counted
	unsigned bool
}

// run uses the format again until the arguments are used up.
func (p *printer) run() {
	for {
		before := p.next
		p.once()
		if p.stop || p.next >= len(p.args) || p.next == before {
			return
		}
		if !p.host.Spend(len(p.format) >> 6) {
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
			p.write(string(out))
			p.stop = p.stop || stop
			i += 1 + n
		case '%':
			n := p.directive(f[i+1:])
			i += 1 + n
		default:
			n := strings.IndexAny(f[i:], `\%`)
			if n < 0 {
				n = len(f) - i
			}
			p.write(f[i : i+n])
			i += n
		}
	}
}

// grow makes room for n more bytes. The host counts large buffers before they are allocated; false stops the printer.
func (p *printer) grow(n int) bool {
	if n <= cap(p.out)-len(p.out) {
		return true
	}
	size := max(len(p.out)+n, 2*cap(p.out))
	if more := size - p.counted; more > freeBytes {
		if !p.host.Hold(more) {
			p.stop = true
			return false
		}
		p.counted = size
	}
	p.out = append(make([]byte, 0, size), p.out...)
	return true
}

// write appends a text.
func (p *printer) write(s string) {
	if p.grow(len(s)) {
		p.out = append(p.out, s...)
	}
}

// freeBytes is how many bytes the host does not count.
const freeBytes = 1 << 12

// borrow counts n bytes of texts that a conversion makes on its way, until giveBack; false stops the printer.
func (p *printer) borrow(n int) bool {
	if n <= 4*freeBytes {
		return true
	}
	p.stop = p.stop || !p.host.Hold(n) || !p.host.Spend(n>>8)
	return !p.stop
}

func (p *printer) giveBack(n int) {
	if n > 4*freeBytes {
		p.host.Hold(-n)
	}
}

// spec is a conversion without its letter.
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

// directive formats the conversion behind a % and returns its length.
func (p *printer) directive(f string) int {
	if strings.HasPrefix(f, "%") {
		p.write("%")
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
	w := max(s.width, s.prec)
	if w > maxWidth {
		p.complain("`%s': width or precision too large; expected at most %d", "%"+f[:i], maxWidth)
		p.stop = true
		return len(f)
	}
	if !p.borrow(4 * w) {
		return len(f)
	}
	defer p.giveBack(4 * w)
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
	if !p.convert(s, c) {
		p.complain("`%c': invalid format character", rune(c))
		p.stop = true
	}
	return i + 1
}

func (p *printer) complain(format string, args ...any) {
	p.host.Warn(format, args...)
	p.status = 1
}

// maxWidth is the largest width and precision, as in C. A field that the memory has no room for is an error.
const maxWidth = math.MaxInt32

// widths reads the width and precision.
func (p *printer) widths(s *spec, f string) int {
	number := func(f string) (n, used int) {
		if strings.HasPrefix(f, "*") {
			a, _ := p.arg()
			v := p.integer(a)
			return int(max(min(v, maxWidth+1), -maxWidth-1)), 1
		}
		for used < len(f) && f[used] >= '0' && f[used] <= '9' {
			n = min(n*10+int(f[used]-'0'), maxWidth+1)
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
		if !p.borrow(4 * len(a)) {
			return true
		}
		out, stop := p.decodeB(a)
		p.text(s, string(out))
		p.stop = p.stop || stop
		p.giveBack(4 * len(a))
	case 'q', 'Q':
		a, _ := p.arg()
		if c == 'Q' && s.prec >= 0 && s.prec < len(a) {
			a, s.prec = a[:s.prec], -1
		}
		n := quotedWeight * len(a)
		if !p.borrow(n) {
			return true
		}
		p.text(s, quote.Backslashes(p.host.Locale(), a))
		p.giveBack(n)
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
		p.host.Assign(a, strconv.Itoa(len(p.out)))
	default:
		return false
	}
	return true
}

// quotedWeight is how many bytes of memory a byte takes while it is quoted: up to four, twice.
const quotedWeight = 8

// text writes a string; width and precision count bytes, as in C.
func (p *printer) text(s spec, a string) {
	if s.prec >= 0 && s.prec < len(a) {
		a = a[:s.prec]
	}
	p.pad(s, a)
}

func (p *printer) pad(s spec, a string) {
	fill := s.width - len(a)
	if !p.grow(max(s.width, len(a))) {
		return
	}
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

// time writes %(format)T; without an argument the time is now.
func (p *printer) time(s spec, format string) {
	n := int64(-1)
	if a, ok := p.arg(); ok {
		n = p.integer(a)
	}
	if format == "" {
		format = "%X"
	}
	text := p.host.Time(format, n)
	if len(text) >= maxTimeText { // bash writes nothing when its buffer is too small.
		text = ""
	}
	p.text(s, text)
}

// maxTimeText is the size of bash's buffer for the text of %(format)T.
const maxTimeText = 128
