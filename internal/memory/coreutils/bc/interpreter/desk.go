package interpreter

import (
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
)

// Desk is the desk calculator dc: a stack, registers, and strings that are programs. It
// counts as Machine does.
type Desk struct {
	machine
	// Line reads a line of the input that programs may ask for; ok is false at its end.
	Line func() (line string, ok bool)
	// System runs a command.
	System func(command string)
	// Name is the program's name in messages.
	Name string

	stack     []deskValue
	registers map[byte]*deskRegister
	frames    []deskFrame
	pending   int64 // memory that was taken and not yet reported to Take
}

// deskValue is a number or a string.
type deskValue struct {
	num   Number
	text  string
	isStr bool
}

// deskRegister is a stack of values, each with an array of its own.
type deskRegister struct{ levels []deskLevel }

type deskLevel struct {
	value deskValue
	set   bool // the value; there may be an array alone
	array map[int]deskValue
}

// deskFrame is a string that runs, or the file. One that calls another as the last thing it does is
// replaced by it and counts as a level still, so that loops do not fill memory.
type deskFrame struct {
	in     io.ByteScanner
	text   string
	at     int
	levels int
}

// NewDesk returns a dc. Line is nil without an input, System is nil without a shell.
func NewDesk(h *Host) *Desk {
	return &Desk{machine: machine{h: h, plain: true, ibase: 10, obase: 10}, registers: map[byte]*deskRegister{}}
}

// errQuit ends the whole program.
var errQuit = errors.New("quit")

// Run runs a program to its end; the stack stays for the next one. ended reports whether the program asked dc to quit; the error
// is that of the host.
func (d *Desk) Run(in io.ByteScanner) (ended bool, err error) {
	return d.run(deskFrame{in: in, levels: 1})
}

// RunText is Run for an expression of the command line. The expression runs as a string, one level deeper than a file.
func (d *Desk) RunText(text string) (ended bool, err error) {
	return d.run(deskFrame{levels: 1}, deskFrame{text: text, levels: 1})
}

func (d *Desk) run(frames ...deskFrame) (ended bool, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *stop:
			if ended = true; !errors.Is(r.err, errQuit) {
				err = r.err
			}
		default:
			panic(r)
		}
	}()
	d.frames = append(d.frames[:0], frames...)
	for len(d.frames) > 0 {
		d.spend(1)
		c, ok := d.next()
		if !ok {
			d.frames = d.frames[:len(d.frames)-1]
			continue
		}
		d.step(c)
	}
	return false, nil
}

// next returns the next byte of the current frame.
func (d *Desk) next() (byte, bool) {
	f := &d.frames[len(d.frames)-1]
	if f.in == nil {
		if f.at == len(f.text) {
			return 0, false
		}
		f.at++
		return f.text[f.at-1], true
	}
	c, err := f.in.ReadByte()
	if err != nil && !errors.Is(err, io.EOF) {
		panic(&stop{err})
	}
	return c, err == nil
}

// back takes the last byte back.
func (d *Desk) back() {
	if f := &d.frames[len(d.frames)-1]; f.in == nil {
		f.at--
	} else {
		_ = f.in.UnreadByte()
	}
}

// call runs a string.
func (d *Desk) call(text string) {
	levels := 1
	if f := &d.frames[len(d.frames)-1]; f.in == nil && f.at == len(f.text) {
		levels += f.levels
		d.frames = d.frames[:len(d.frames)-1]
	}
	if len(d.frames) > maxCalls {
		d.complain("recursion too deep")
		d.frames = d.frames[:1]
		return
	}
	d.frames = append(d.frames, deskFrame{text: text, levels: levels})
}

// leave ends levels of strings. It returns false when there are fewer levels.
func (d *Desk) leave(levels int) bool {
	for levels > 0 && len(d.frames) > 1 {
		levels -= d.frames[len(d.frames)-1].levels
		d.frames = d.frames[:len(d.frames)-1]
	}
	return levels <= 0
}

// step runs one command. A failure is reported, and the program continues.
func (d *Desk) step(c byte) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *runtimeError:
			_ = d.h.Out.Flush()
			d.h.Tell("Runtime error: " + r.text)
		default:
			panic(r)
		}
	}()
	d.command(c)
}

func (d *Desk) complain(format string, args ...any) {
	_ = d.h.Out.Flush()
	d.h.Tell(d.Name + ": " + fmt.Sprintf(format, args...))
}

// push puts a value on the stack.
func (d *Desk) push(v deskValue) {
	d.hold(48)
	d.stack = append(d.stack, v)
}

// hold counts memory that stays.
func (d *Desk) hold(n int64) {
	if d.pending += n; d.pending < 4096 {
		return
	}
	if err := d.h.Take(int(d.pending)); err != nil {
		panic(&stop{err})
	}
	d.pending = 0
}

func (d *Desk) pushNumber(n Number) { d.push(deskValue{num: n}) }

func (d *Desk) pushText(s string) {
	d.hold(int64(len(s)))
	d.push(deskValue{text: s, isStr: true})
}

// hasValues reports whether there are n values; it complains if not.
func (d *Desk) hasValues(n int) bool {
	if len(d.stack) < n {
		d.complain("stack empty")
		return false
	}
	return true
}

// pop takes a value off the stack, which has one.
func (d *Desk) pop() deskValue {
	v := d.stack[len(d.stack)-1]
	d.stack = d.stack[:len(d.stack)-1]
	return v
}

// hasNumbers reports whether the upper n values are numbers; it complains if not.
func (d *Desk) hasNumbers(n int) bool {
	if !d.hasValues(n) {
		return false
	}
	for _, v := range d.stack[len(d.stack)-n:] {
		if v.isStr {
			d.complain("non-numeric value")
			return false
		}
	}
	return true
}

// show writes a value.
func (d *Desk) showValue(v deskValue) {
	if v.isStr {
		d.put(v.text)
		return
	}
	d.col = 0
	d.show(v.num)
}

// number reads a number that begins with c.
func (d *Desk) number(c byte) {
	var b strings.Builder
	negative, point, ok := false, false, true
	if c == '_' {
		negative = true
		c, ok = d.next()
	}
	for ; ok; c, ok = d.next() {
		if c == '.' && !point {
			point = true
		} else if (c < '0' || c > '9') && (c < 'A' || c > 'F') {
			d.back()
			break
		}
		b.WriteByte(c)
		d.spend(1)
	}
	n := d.value(b.String())
	if negative {
		n = n.neg()
	}
	d.pushNumber(d.take(n))
}

// value returns the number that digits stand for. A digit that is too large for the base has its own value.
func (d *Desk) value(text string) Number {
	whole, frac, _ := strings.Cut(text, ".")
	large := false
	for i := range len(text) {
		large = large || text[i] != '.' && digit(text[i]) >= d.ibase
	}
	if !large {
		d.work(len(text) / 2)
		if len(text) == 0 || text == "." {
			return Number{new(big.Int), 0}
		}
		return parseNumber(text, d.ibase)
	}
	v, base := new(big.Int), big.NewInt(int64(d.ibase))
	for _, digits := range []string{whole, frac} {
		for i := range len(digits) {
			d.spend(1 + v.BitLen()>>12)
			v.Add(v.Mul(v, base), big.NewInt(int64(digit(digits[i]))))
		}
	}
	if frac == "" {
		return Number{v, 0}
	}
	den := new(big.Int).Exp(base, big.NewInt(int64(len(frac))), nil)
	return Number{v, 0}.div(Number{den, 0}, len(frac))
}

// literal reads a string behind its bracket.
func (d *Desk) literal() {
	var b strings.Builder
	for depth := 1; ; {
		c, ok := d.next()
		if !ok {
			break
		}
		if c == '[' {
			depth++
		} else if c == ']' {
			if depth--; depth == 0 {
				break
			}
		}
		if b.WriteByte(c); b.Len()&1023 == 0 {
			d.spend(16)
			d.hold(1024)
		}
	}
	d.pushText(b.String())
}
