package shell

import (
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
		p.text(s, p.sh.quotePrintf(a))
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

// maxTimeText is how long bash's text of %(...)T may get.
const maxTimeText = 128

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
