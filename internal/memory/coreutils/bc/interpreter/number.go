package interpreter

import "math/big"

// Number is v / 10^scale.
type Number struct {
	v     *big.Int
	scale int
}

func whole(n int64) Number { return Number{big.NewInt(n), 0} }

// powerOfTen returns 10^n.
func powerOfTen(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

func (a Number) isZero() bool { return a.v.Sign() == 0 }

// rescale returns a with another scale; digits too many are cut off.
func (a Number) rescale(scale int) Number {
	switch {
	case scale == a.scale:
		return a
	case scale > a.scale:
		return Number{new(big.Int).Mul(a.v, powerOfTen(scale-a.scale)), scale}
	}
	return Number{new(big.Int).Quo(a.v, powerOfTen(a.scale-scale)), scale}
}

// align returns both with the larger scale.
func align(a, b Number) (x, y Number) {
	scale := max(a.scale, b.scale)
	return a.rescale(scale), b.rescale(scale)
}

func (a Number) cmp(b Number) int {
	x, y := align(a, b)
	return x.v.Cmp(y.v)
}

func (a Number) add(b Number) Number {
	x, y := align(a, b)
	return Number{new(big.Int).Add(x.v, y.v), x.scale}
}

func (a Number) sub(b Number) Number {
	x, y := align(a, b)
	return Number{new(big.Int).Sub(x.v, y.v), x.scale}
}

func (a Number) neg() Number { return Number{new(big.Int).Neg(a.v), a.scale} }

func (a Number) mul(b Number, scale int) Number {
	p := Number{new(big.Int).Mul(a.v, b.v), a.scale + b.scale}
	return p.rescale(min(p.scale, max(scale, a.scale, b.scale)))
}

// div divides; b is not zero.
func (a Number) div(b Number, scale int) Number {
	v := new(big.Int).Set(a.v)
	if shift := scale + b.scale - a.scale; shift >= 0 {
		v.Mul(v, powerOfTen(shift))
		return Number{v.Quo(v, b.v), scale}
	}
	d := new(big.Int).Mul(b.v, powerOfTen(a.scale-scale-b.scale))
	return Number{v.Quo(v, d), scale}
}

// mod returns the remainder of a division with the scale; b is not zero.
func (a Number) mod(b Number, scale int) Number {
	q := a.div(b, scale)
	p := Number{new(big.Int).Mul(q.v, b.v), q.scale + b.scale}
	return a.sub(p).rescale(max(scale+b.scale, a.scale))
}

// integer returns a without its fraction.
func (a Number) integer() *big.Int { return a.rescale(0).v }

// size is about how many bytes the number takes.
func (a Number) size() int { return a.v.BitLen()/8 + 8 }

// sqrt returns the root; a is not negative.
func (a Number) sqrt(scale int) Number {
	scale = max(scale, a.scale)
	v := a.rescale(2 * scale)
	return Number{new(big.Int).Sqrt(v.v), scale}
}

// length returns the number of significant digits.
func (a Number) length() int {
	if a.isZero() {
		return max(a.scale, 1)
	}
	return max(len(new(big.Int).Abs(a.v).String()), a.scale)
}
