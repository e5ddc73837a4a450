// Package random generates the numbers of the variable RANDOM.
package random

// Generator is bash's generator: a seed gives the same numbers as there. It is not fit for keys.
type Generator struct {
	seed uint32
	last uint32
}

// New returns a generator that begins at the seed.
func New(seed uint32) *Generator { return &Generator{seed: seed} }

// Next returns a number below 32768 that differs from the one before.
func (g *Generator) Next() int {
	n := g.step()
	for n == g.last { // bounded: a step differs from the one before
		n = g.step()
	}
	g.last = n
	return int(n)
}

func (g *Generator) step() uint32 {
	ret := g.seed
	if ret == 0 {
		ret = 123459876
	}
	h := int64(ret / 127773)
	l := int64(ret) - 127773*h
	t := 16807*l - 2836*h
	if t < 0 {
		t += 0x7fffffff
	}
	g.seed = uint32(t)
	return (g.seed>>16 ^ g.seed&65535) & 32767
}
