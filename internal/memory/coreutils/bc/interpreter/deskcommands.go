package interpreter

import (
	"math/big"
	"slices"
	"strings"
)

// command runs the command c.
func (d *Desk) command(c byte) {
	switch c {
	case ' ', '\t', '\n', '\v', '\f':
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F', '.', '_':
		d.number(c)
	case '[':
		d.literal()
	case '#':
		d.restOfLine()
	case '+', '-', '*', '/', '%', '^':
		d.binary(c)
	case '~':
		d.divide()
	case '|':
		d.power()
	case 'v':
		d.root()
	case 'p', 'n', 'P', 'f':
		d.printing(c)
	case 'c', 'd', 'r', 'R', 'z':
		d.arrange(c)
	case 's', 'l', 'S', 'L', ':', ';':
		d.register(c)
	case 'k', 'i', 'o':
		d.set(c)
	case 'K':
		d.pushNumber(whole(int64(d.scale)))
	case 'I':
		d.pushNumber(whole(int64(d.ibase)))
	case 'O':
		d.pushNumber(whole(int64(d.obase)))
	case 'Z', 'X', 'a':
		d.about(c)
	case 'x', '?', 'q', 'Q', '<', '>', '=', '!':
		d.flow(c)
	default:
		if c > ' ' && c < 0x7f {
			d.complain("'%c' (%#o) unimplemented", c, c)
		} else {
			d.complain("%#o unimplemented", c)
		}
	}
}

func (d *Desk) restOfLine() string {
	var b strings.Builder
	for {
		c, ok := d.next()
		if !ok || c == '\n' {
			return b.String()
		}
		d.hold(2)
		b.WriteByte(c)
		d.spend(1)
	}
}

// binary replaces two numbers.
func (d *Desk) binary(op byte) {
	if !d.hasNumbers(2) {
		return
	}
	a, b := d.stack[len(d.stack)-2].num, d.stack[len(d.stack)-1].num
	v := Number{new(big.Int), 0}
	switch {
	case op == '/' && b.isZero():
		d.complain("divide by zero")
		return
	case op == '%' && b.isZero():
		d.complain("remainder by zero")
		return
	case op == '^' && a.isZero() && b.v.Sign() < 0:
	case op == '^':
		v = d.raised(a, b)
	default:
		v = d.arithmetic(op, a, b)
	}
	d.stack = d.stack[:len(d.stack)-2]
	d.pushNumber(v)
}

// raised returns a power. It reports a power that is too large, and returns 1 for it.
func (d *Desk) raised(a, b Number) Number {
	if _, ok := toBoundedInt(b, 1<<31-1); !ok {
		_ = d.h.Out.Flush()
		d.h.Tell("Runtime error: exponent too large in raise")
		return whole(1)
	}
	return d.arithmetic('^', a, b)
}

// divide replaces two numbers by their quotient and remainder.
func (d *Desk) divide() {
	if !d.hasNumbers(2) {
		return
	}
	if d.stack[len(d.stack)-1].num.isZero() {
		d.complain("divide by zero")
		return
	}
	b, a := d.pop().num, d.pop().num
	d.pushNumber(d.arithmetic('/', a, b))
	d.pushNumber(d.arithmetic('%', a, b))
}

// power replaces base, exponent and modulus.
func (d *Desk) power() {
	if !d.hasNumbers(3) {
		return
	}
	modulus, exponent, base := d.pop().num, d.pop().num, d.pop().num
	if modulus.isZero() || exponent.v.Sign() < 0 {
		if modulus.isZero() {
			d.complain("remainder by zero")
		}
		d.pushNumber(base)
		d.pushNumber(exponent)
		d.pushNumber(modulus)
		return
	}
	for _, x := range []struct {
		n    Number
		what string
	}{{base, "base"}, {exponent, "exponent"}, {modulus, "modulus"}} {
		if x.n.cmp(Number{x.n.integer(), 0}) != 0 {
			d.warn("non-zero scale in " + x.what)
		}
	}
	m, e, b := modulus.integer(), exponent.integer(), base.integer()
	if m.Sign() == 0 {
		d.complain("remainder by zero")
		d.pushNumber(whole(0))
		return
	}
	// The work is that of a product for each bit of the exponent.
	d.work(m.BitLen()/8 + 8)
	d.spend(1 + e.BitLen()*(1+(m.BitLen()>>10)*(m.BitLen()>>10)))
	v := new(big.Int).Exp(new(big.Int).Abs(b), e, new(big.Int).Abs(m))
	if b.Sign() < 0 && e.Bit(0) == 1 {
		v.Neg(v)
	}
	d.pushNumber(d.take(Number{v, 0}))
}

func (d *Desk) root() {
	if !d.hasValues(1) {
		return
	}
	v := d.pop()
	switch {
	case v.isStr:
		d.complain("square root of nonnumeric attempted")
	case v.num.v.Sign() < 0:
		d.complain("square root of negative number")
	default:
		d.work(v.num.size() + d.scale)
		d.pushNumber(d.take(v.num.sqrt(d.scale)))
	}
}

func (d *Desk) printing(c byte) {
	if c == 'f' {
		for _, v := range slices.Backward(d.stack) {
			d.spend(1)
			d.showValue(v)
			d.put("\n")
		}
		return
	}
	if !d.hasValues(1) {
		return
	}
	v := d.stack[len(d.stack)-1]
	switch c {
	case 'p':
		d.showValue(v)
		d.put("\n")
	case 'n':
		d.pop()
		d.showValue(v)
	case 'P':
		if d.pop(); v.isStr {
			d.put(v.text)
			return
		}
		b := v.num.integer().Bytes()
		if len(b) == 0 {
			b = []byte{0}
		}
		d.put(string(b))
	}
}

func (d *Desk) arrange(c byte) {
	n := len(d.stack)
	switch c {
	case 'c':
		d.stack = d.stack[:0]
	case 'z':
		d.pushNumber(whole(int64(n)))
	case 'd':
		if d.hasValues(1) {
			d.push(d.stack[n-1])
		}
	case 'r':
		if n > 1 {
			d.stack[n-1], d.stack[n-2] = d.stack[n-2], d.stack[n-1]
		}
	case 'R':
		d.rotate()
	}
}

// rotate turns the upper values around.
func (d *Desk) rotate() {
	if !d.hasValues(1) {
		return
	}
	v := d.pop()
	if v.isStr {
		return
	}
	n, ok := toBoundedInt(v.num, 1<<31-1)
	if !ok {
		n = len(d.stack) * v.num.v.Sign()
	}
	down := n < 0
	if down {
		n = -n
	}
	top := d.stack[len(d.stack)-min(n, len(d.stack)):]
	if len(top) < 2 {
		return
	}
	d.spend(1 + len(top)>>4)
	if down {
		first := top[len(top)-1]
		copy(top[1:], top)
		top[0] = first
		return
	}
	last := top[0]
	copy(top, top[1:])
	top[len(top)-1] = last
}

// set sets a parameter.
func (d *Desk) set(c byte) {
	if !d.hasValues(1) {
		return
	}
	v := d.pop()
	n, ok := 0, false
	if !v.isStr {
		n, ok = toBoundedInt(v.num, 1<<31-1)
	}
	switch {
	case c == 'i' && (!ok || n < 2 || n > 16):
		d.complain("input base must be a number between 2 and 16 (inclusive)")
	case c == 'i':
		d.ibase = n
	case c == 'o' && (!ok || n < 2):
		d.complain("output base must be a number greater than 1")
	case c == 'o':
		d.obase = n
	case !ok || n < 0 || v.num.v.Sign() < 0:
		d.complain("scale must be a nonnegative number")
	case n > maxScale:
		d.complain("scale must be at most %d", maxScale)
	default:
		d.scale = n
	}
}

// about replaces a value by one of its properties.
func (d *Desk) about(c byte) {
	if !d.hasValues(1) {
		return
	}
	v := d.pop()
	switch {
	case c == 'a' && v.isStr:
		if v.text == "" {
			v.text = "\x00"
		}
		d.pushText(v.text[:1])
	case c == 'a':
		low := new(big.Int).And(v.num.integer(), big.NewInt(0xff))
		d.pushText(string([]byte{byte(low.Int64())}))
	case c == 'X' && v.isStr:
		d.pushNumber(whole(0))
	case c == 'X':
		d.pushNumber(whole(int64(v.num.scale)))
	case v.isStr:
		d.pushNumber(whole(int64(len(v.text))))
	case v.num.isZero():
		d.pushNumber(whole(1))
	default:
		d.work(v.num.size())
		d.pushNumber(whole(int64(len(new(big.Int).Abs(v.num.v).String()))))
	}
}
