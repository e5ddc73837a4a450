package checksum

import (
	"encoding/binary"
	"math/bits"
)

// sm3 is the hash of GB/T 32905.
type sm3 struct {
	h    [8]uint32
	n    uint64
	buf  [64]byte
	used int
}

func newSM3() *sm3 {
	s := &sm3{}
	s.Reset()
	return s
}

// Reset begins again.
func (s *sm3) Reset() {
	*s = sm3{h: [8]uint32{
		0x7380166f, 0x4914b2b9, 0x172442d7, 0xda8a0600, 0xa96f30bc, 0x163138aa, 0xe38dee4d, 0xb0fb0e4e,
	}}
}

// Size returns the bytes of the result.
func (s *sm3) Size() int { return 32 }

// BlockSize returns the bytes that are hashed at once.
func (s *sm3) BlockSize() int { return 64 }

// Write adds data; it never fails.
func (s *sm3) Write(p []byte) (int, error) {
	s.n += uint64(len(p))
	total := len(p)
	for len(p) > 0 {
		n := copy(s.buf[s.used:], p)
		s.used += n
		p = p[n:]
		if s.used == 64 {
			s.compress()
			s.used = 0
		}
	}
	return total, nil
}

// Sum appends the hash of the data so far.
func (s *sm3) Sum(in []byte) []byte {
	c := *s
	length := c.n * 8
	_, _ = c.Write([]byte{0x80})
	for c.used != 56 {
		_, _ = c.Write([]byte{0})
	}
	_, _ = c.Write(binary.BigEndian.AppendUint64(nil, length))
	for _, v := range c.h {
		in = binary.BigEndian.AppendUint32(in, v)
	}
	return in
}

func (s *sm3) compress() {
	var w [68]uint32
	for i := range 16 {
		w[i] = binary.BigEndian.Uint32(s.buf[4*i:])
	}
	for i := 16; i < 68; i++ {
		x := w[i-16] ^ w[i-9] ^ bits.RotateLeft32(w[i-3], 15)
		x ^= bits.RotateLeft32(x, 15) ^ bits.RotateLeft32(x, 23)
		w[i] = x ^ bits.RotateLeft32(w[i-13], 7) ^ w[i-6]
	}
	v := s.h
	for i := range 64 {
		t, ff, gg := uint32(0x79cc4519), v[0]^v[1]^v[2], v[4]^v[5]^v[6]
		if i >= 16 {
			t = 0x7a879d8a
			ff = v[0]&v[1] | v[0]&v[2] | v[1]&v[2]
			gg = v[4]&v[5] | ^v[4]&v[6]
		}
		a12 := bits.RotateLeft32(v[0], 12)
		ss1 := bits.RotateLeft32(a12+v[4]+bits.RotateLeft32(t, i%32), 7)
		tt1 := ff + v[3] + (ss1 ^ a12) + (w[i] ^ w[i+4])
		tt2 := gg + v[7] + ss1 + w[i]
		p0 := tt2 ^ bits.RotateLeft32(tt2, 9) ^ bits.RotateLeft32(tt2, 17)
		v = [8]uint32{tt1, v[0], bits.RotateLeft32(v[1], 9), v[2], p0, v[4], bits.RotateLeft32(v[5], 19), v[6]}
	}
	for i := range s.h {
		s.h[i] ^= v[i]
	}
}
