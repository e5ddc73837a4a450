package interpreter

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/big"
)

// Host is the environment that a program runs in.
type Host struct {
	Out  *bufio.Writer
	Tell func(text string) // of messages
	// Spend takes fuel, and Take memory; their errors end the program.
	Spend   func(n int) error
	Take    func(n int) error
	Library bool
	Width   int // of lines; 0: without end
}

// Machine runs programs one after another.
type Machine struct{ machine }

type machine struct {
	h     *Host
	vars  map[string]Number
	arrs  map[string]*array
	funcs map[string]*function
	scale int
	ibase int
	obase int
	last  Number
	ret   Number
	depth int
	col   int
	lex   *lexer
	in    string // the function that runs
	plain bool   // messages do not say where
}

// array is sparse.
type array struct{ elems map[int]Number }

// runtimeError ends a line.
type runtimeError struct{ text string }

// stop ends the program.
type stop struct{ err error }

// errHalt says that the program asked to end.
var errHalt = errors.New("halt")

// New returns a machine.
func New(h *Host) *Machine {
	m := &Machine{machine{h: h, vars: map[string]Number{}, arrs: map[string]*array{}, funcs: map[string]*function{}, ibase: 10, obase: 10, last: whole(0)}}
	if h.Library {
		m.scale = 20
	}
	return m
}

// Run runs a program to its end. ended reports whether it asked bc to quit; the error is that of the host.
func (m *Machine) Run(name string, in io.ByteScanner) (ended bool, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *stop:
			if ended = true; !errors.Is(r.err, errHalt) {
				err = r.err
			}
		default:
			panic(r)
		}
	}()
	l := &lexer{in: in, name: name, line: 1, tell: func(text string) { m.syntax(text) }, hold: m.hold}
	m.lex = l
	p := &parser{lex: l}
	p.next()
	for {
		m.spend(1)
		list, fn, ok := m.parse(p)
		if l.quit {
			return true, nil
		}
		if ok {
			if fn != nil {
				m.funcs[fn.name] = fn // bounded: by the tokens of the program, which are charged
			}
			m.line(list)
		}
		if p.tok.kind == tokenEnd {
			return false, nil
		}
		if p.tok.kind == tokenNewline {
			p.next()
		}
	}
}

func (m *machine) syntax(text string) {
	_ = m.h.Out.Flush()
	m.h.Tell(fmt.Sprintf("%s %d: %s", m.lex.name, m.lex.line, text))
}

// parse reads a line; it reports an error and skips the rest of the line.
func (m *machine) parse(p *parser) (list []statement, fn *function, ok bool) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		e, isSyntax := r.(*syntaxError)
		if !isSyntax {
			panic(r)
		}
		if p.lex.quit {
			return
		}
		m.syntax(e.text)
		for p.tok.kind != tokenNewline && p.tok.kind != tokenEnd {
			p.next()
		}
	}()
	list, fn = p.line()
	return list, fn, true
}

// line runs the statements of a line, up to an error.
func (m *machine) line(list []statement) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		e, ok := r.(*runtimeError)
		if !ok {
			panic(r)
		}
		m.depth, m.in = 0, ""
		_ = m.h.Out.Flush()
		m.h.Tell("Runtime error (func=" + m.where() + e.text)
	}()
	for _, s := range list {
		if s.exec(m) != flowGo {
			return
		}
	}
}

func (m *machine) where() string {
	if m.in == "" {
		return "(main)): "
	}
	return m.in + "): "
}

func (m *machine) warn(text string) {
	_ = m.h.Out.Flush()
	if m.plain {
		m.h.Tell("Runtime warning: " + text)
		return
	}
	m.h.Tell("Runtime warning (func=" + m.where() + text)
}

func (m *machine) fail(format string, args ...any) {
	panic(&runtimeError{fmt.Sprintf(format, args...)})
}

func (m *machine) spend(n int) {
	if err := m.h.Spend(n); err != nil {
		panic(&stop{err})
	}
}

// hold counts n bytes of memory.
func (m *machine) hold(n int) {
	if err := m.h.Take(n); err != nil {
		panic(&stop{err})
	}
}

// work counts an operation on numbers of so many bytes.
func (m *machine) work(size int) { m.spend(1 + size*size>>14) }

// take counts a number that was made, and the work for it.
func (m *machine) take(n Number) Number {
	size := n.size()
	m.spend(1 + size>>5)
	if size > 256 {
		if err := m.h.Take(size); err != nil {
			panic(&stop{err})
		}
	}
	if size > maxNumber {
		m.fail("Out of memory for malloc.")
	}
	return n
}

// maxNumber bounds the bytes of a number.
const maxNumber = 16 << 20

// put writes text, and counts columns for the wrapping of numbers.
func (m *machine) put(s string) {
	if _, err := m.h.Out.WriteString(s); err != nil {
		panic(&stop{err})
	}
	for i := range len(s) {
		if m.col++; s[i] == '\n' {
			m.col = 0
		}
	}
}

// show writes a number; long ones are wrapped.
func (m *machine) show(n Number) {
	m.work(n.size())
	for _, c := range appendNumber(nil, n, m.obase) {
		if m.h.Width > 0 && m.col >= m.h.Width-2 {
			m.put("\\\n")
		}
		m.put(string(rune(c)))
	}
	m.last = n
}

// toBoundedInt returns a number as an int of at most limit; ok is false for any other number.
func toBoundedInt(n Number, limit int64) (int, bool) {
	i := n.integer()
	if !i.IsInt64() || i.Int64() > limit || i.Int64() < -limit {
		return 0, false
	}
	return int(i.Int64()), true
}

// maxScale bounds the digits behind the point, so that a single operation stays short.
const maxScale = 100_000

// setOwn assigns to scale, ibase, obase or last.
func (m *machine) setOwn(name string, n Number) {
	v, ok := toBoundedInt(n, 1<<31-1)
	switch name {
	case "last":
		m.last = n
	case "scale":
		switch {
		case ok && v < 0 || !ok && n.v.Sign() < 0:
			m.warn("negative scale, set to 0")
			v = 0
		case !ok || v > maxScale:
			m.warn(fmt.Sprintf("scale too large, set to %d", maxScale))
			v = maxScale
		}
		m.scale = v
	case "ibase":
		switch {
		case ok && v < 2 || !ok && n.v.Sign() < 0:
			m.warn("ibase too small, set to 2")
			v = 2
		case !ok || v > 16:
			m.warn("ibase too large, set to 16")
			v = 16
		}
		m.ibase = v
	case "obase":
		switch {
		case ok && v < 2 || !ok && n.v.Sign() < 0:
			m.warn("obase too small, set to 2")
			v = 2
		case !ok:
			m.warn("obase too large, set to 2147483647")
			v = 1<<31 - 1
		}
		m.obase = v
	}
}

func (m *machine) own(name string) Number {
	switch name {
	case "scale":
		return whole(int64(m.scale))
	case "ibase":
		return whole(int64(m.ibase))
	case "obase":
		return whole(int64(m.obase))
	}
	return m.last
}

// exponent raises a to a whole power.
func (m *machine) exponent(a, b Number) Number {
	if b.scale > 0 && b.cmp(Number{b.integer(), 0}) != 0 {
		m.warn("non-zero scale in exponent")
	}
	n, ok := toBoundedInt(b, 1<<31-1)
	if !ok {
		m.fail("exponent too large in raise")
	}
	if n == 0 {
		return whole(1)
	}
	neg := n < 0
	if neg {
		n = -n
	}
	if bits := a.v.BitLen(); bits > 1 && int64(bits-1)*int64(n)/8 > maxNumber {
		m.fail("Out of memory for malloc.")
	}
	scale := m.scale
	if !neg {
		scale = min(a.scale*n, max(m.scale, a.scale))
	}
	if int64(a.scale)*int64(n) > maxNumber {
		m.fail("Out of memory for malloc.")
	}
	size := a.scale * n / 2
	if bits := a.v.BitLen(); bits > 1 {
		size += bits * n / 8
	}
	m.work(size)
	p := Number{new(big.Int).Exp(a.v, big.NewInt(int64(n)), nil), a.scale * n}
	if neg {
		if p.isZero() {
			m.fail("Divide by zero")
		}
		return whole(1).div(p, scale)
	}
	return p.rescale(scale)
}
