package interpreter

import "math/big"

// library computes a function of -l; not ok when there is none of that name.
func (m *machine) library(x *callNode) (Number, bool) {
	args := 1
	switch x.name {
	case "s", "c", "a", "l", "e":
	case "j":
		args = 2
	default:
		return Number{}, false
	}
	if len(x.args) != args {
		m.fail("Parameter number mismatch")
	}
	var v [2]Number
	for i, a := range x.args {
		if a.array != "" {
			m.fail("Parameter type mismatch, parameter x.")
		}
		v[i] = a.x.eval(m)
	}
	if m.scale > maxLibraryScale {
		m.fail("scale too large for the library")
	}
	m.spend(16 + m.scale*m.scale>>8)
	switch x.name {
	case "e":
		return m.exp(v[0]), true
	case "l":
		return m.log(v[0]), true
	case "a":
		return m.atan(v[0]), true
	case "s":
		return m.sine(v[0], false), true
	case "c":
		return m.sine(v[0], true), true
	}
	return m.bessel(v[0], v[1]), true
}

const maxLibraryScale = 10000

// fixed computes with numbers of a number of bits behind the point.
type fixed struct {
	bits uint
	one  *big.Int
}

func newFixed(bits uint) *fixed { return &fixed{bits, new(big.Int).Lsh(big.NewInt(1), bits)} }

// bitsFor returns the bits for decimal digits.
func bitsFor(digits int) uint { return uint(digits)*3322/1000 + 64 }

func (f *fixed) from(n Number) *big.Int {
	v := new(big.Int).Lsh(n.v, f.bits)
	return v.Quo(v, powerOfTen(n.scale))
}

func (f *fixed) mul(a, b *big.Int) *big.Int {
	p := new(big.Int).Mul(a, b)
	return p.Rsh(p, f.bits)
}

func (f *fixed) div(a, b *big.Int) *big.Int {
	p := new(big.Int).Lsh(a, f.bits)
	return p.Quo(p, b)
}

// number returns v with a scale; digits behind it are cut off.
func (f *fixed) number(v *big.Int, scale int) Number {
	neg := v.Sign() < 0
	p := new(big.Int).Mul(new(big.Int).Abs(v), powerOfTen(scale))
	p.Rsh(p, f.bits)
	if neg {
		p.Neg(p)
	}
	return Number{p, scale}
}

// series adds up terms until they are nothing: next makes the n-th of the one before.
func (m *machine) series(first *big.Int, next func(term *big.Int, n int64) *big.Int) *big.Int {
	sum, term := new(big.Int).Set(first), new(big.Int).Set(first)
	for n := int64(1); ; n++ {
		m.spend(1 + term.BitLen()>>10)
		term = next(term, n)
		if term.Sign() == 0 || term.IsInt64() && (term.Int64() == -1) {
			return sum
		}
		sum.Add(sum, term)
	}
}

// maxPower is the largest argument of e that is computed.
const maxPower = 1_000_000

func (m *machine) exp(x Number) Number {
	n, ok := toBoundedInt(x, maxPower)
	if !ok {
		if x.v.Sign() < 0 {
			return Number{new(big.Int), m.scale}
		}
		m.fail("Out of memory for malloc.")
	}
	// The result has about n*log10(e) digits before the point.
	f := newFixed(bitsFor(m.scale+20) + uint(max(n, 0))*3/2 + 64)
	m.spend(int(f.bits) >> 5)
	v := f.from(x)
	// e^x = (e^(x/2^k))^(2^k), with additional bits for the loss by squaring.
	k := uint(max(v.BitLen()-int(f.bits), 0)) + 8
	w := newFixed(f.bits + 2*k + 32)
	v.Lsh(v, w.bits-f.bits)
	v.Rsh(v, k)
	sum := m.series(w.one, func(t *big.Int, n int64) *big.Int {
		t = w.mul(t, v)
		return t.Quo(t, big.NewInt(n))
	})
	for range k {
		m.spend(1 + sum.BitLen()>>8)
		sum = w.mul(sum, sum)
	}
	return w.number(sum, m.scale)
}

func (m *machine) log(x Number) Number {
	if x.v.Sign() <= 0 {
		// As GNU's library: the largest negative number that the scale can express.
		n := new(big.Int).Sub(big.NewInt(1), powerOfTen(m.scale))
		return Number{n.Mul(n, powerOfTen(m.scale)), m.scale}
	}
	f := newFixed(bitsFor(m.scale+20) + uint(x.v.BitLen()) + uint(x.scale)*4)
	v := f.from(x)
	// ln x = k ln 2 + ln m, with 1 <= m < 2.
	k := v.BitLen() - 1 - int(f.bits)
	if k > 0 {
		v.Rsh(v, uint(k))
	} else {
		v.Lsh(v, uint(-k))
	}
	r := m.logNear(f, v)
	if k != 0 {
		two := m.logNear(f, new(big.Int).Lsh(f.one, 1))
		r.Add(r, two.Mul(two, big.NewInt(int64(k))))
	}
	if r.Sign() == 0 {
		return Number{new(big.Int), 0}
	}
	return f.number(r, m.scale)
}

// logNear is the logarithm of a number from 1 to 2: 2 artanh((v-1)/(v+1)).
func (m *machine) logNear(f *fixed, v *big.Int) *big.Int {
	y := f.div(new(big.Int).Sub(v, f.one), new(big.Int).Add(v, f.one))
	square := f.mul(y, y)
	power := new(big.Int).Set(y)
	sum := new(big.Int).Set(y)
	for n := int64(3); power.Sign() != 0; n += 2 {
		m.spend(1 + power.BitLen()>>10)
		power = f.mul(power, square)
		sum.Add(sum, new(big.Int).Quo(power, big.NewInt(n)))
	}
	return sum.Lsh(sum, 1)
}

func (m *machine) atan(x Number) Number {
	f := newFixed(bitsFor(m.scale+20) + uint(x.v.BitLen()))
	return f.number(m.arctan(f, f.from(x)), m.scale)
}

// arctan halves the angle until the series is short.
func (m *machine) arctan(f *fixed, v *big.Int) *big.Int {
	const halvings = 6
	for range halvings {
		m.spend(1 + v.BitLen()>>8)
		// tan(t/2) = v / (1 + sqrt(1 + v^2))
		root := f.mul(v, v)
		root.Add(root, f.one).Lsh(root, f.bits)
		root.Sqrt(root)
		v = f.div(v, root.Add(root, f.one))
	}
	square := f.mul(v, v)
	power, sum := new(big.Int).Set(v), new(big.Int).Set(v)
	for n := int64(3); power.Sign() != 0 && power.BitLen() > 1; n += 2 {
		m.spend(1 + power.BitLen()>>10)
		power = f.mul(power, square)
		power.Neg(power)
		sum.Add(sum, new(big.Int).Quo(power, big.NewInt(n)))
	}
	return sum.Lsh(sum, halvings)
}

// sine is the sine, or the cosine.
func (m *machine) sine(x Number, cosine bool) Number {
	if x.isZero() && !cosine {
		return whole(0)
	}
	f := newFixed(bitsFor(m.scale+20) + 2*uint(x.v.BitLen()))
	v := f.from(x)
	pi := m.arctan(f, f.one)
	pi.Lsh(pi, 2)
	turn := new(big.Int).Lsh(pi, 1)
	v.Rem(v, turn)
	square := f.mul(v, v)
	first, from := v, int64(1)
	if cosine {
		first, from = f.one, 0
	}
	sum, term := new(big.Int).Set(first), new(big.Int).Set(first)
	for n := from; term.BitLen() > 1; n += 2 {
		m.spend(1 + term.BitLen()>>10)
		term = f.mul(term, square)
		term.Quo(term, big.NewInt((n+1)*(n+2)))
		term.Neg(term)
		sum.Add(sum, term)
	}
	// GNU's library has so many digits before it cuts off, which shows near 1.
	guard := m.scale*11/10 + 2
	half := new(big.Int).Quo(f.one, powerOfTen(guard))
	half.Rsh(half, 1)
	if sum.Sign() < 0 {
		half.Neg(half)
	}
	return f.number(sum.Add(sum, half), guard).rescale(m.scale)
}

// bessel is the Bessel function of a whole order.
func (m *machine) bessel(order, x Number) Number {
	n, ok := toBoundedInt(order, 100_000)
	size, fits := toBoundedInt(x, 10_000)
	if !ok || !fits {
		m.fail("argument of j too large")
	}
	neg := n < 0 && n&1 != 0
	if n < 0 {
		n = -n
	}
	f := newFixed(bitsFor(m.scale+20) + uint(max(size, -size))*3 + uint(x.v.BitLen()))
	half := f.from(x)
	half.Rsh(half, 1)
	term := new(big.Int).Set(f.one)
	for i := range n {
		m.spend(1 + term.BitLen()>>10)
		term = f.mul(term, half)
		term.Quo(term, big.NewInt(int64(i+1)))
	}
	square := f.mul(half, half)
	sum := new(big.Int).Set(term)
	for i := int64(1); term.BitLen() > 1; i++ {
		m.spend(1 + term.BitLen()>>10)
		term = f.mul(term, square)
		term.Quo(term, new(big.Int).Mul(big.NewInt(i), big.NewInt(i+int64(n))))
		term.Neg(term)
		sum.Add(sum, term)
	}
	if neg {
		sum.Neg(sum)
	}
	return f.number(sum, m.scale)
}
