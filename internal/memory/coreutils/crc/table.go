// Package crc has the table of the 32-bit CRC that bzip2 and cksum use: the polynomial of Ethernet, the highest bit first.
// hash/crc32 has the lowest bit first.
package crc

import "sync"

// polynomial is that of Ethernet without its highest term.
const polynomial = 0x04c11db7

// Table returns the remainder of each byte. Callers do not change it.
var Table = sync.OnceValue(func() *[256]uint32 { //nolint:gochecknoglobals // Computed once; a constant.
	var t [256]uint32
	for i := range t {
		c := uint32(i) << 24
		for range 8 {
			if c&(1<<31) != 0 {
				c = c<<1 ^ polynomial
			} else {
				c <<= 1
			}
		}
		t[i] = c
	}
	return &t
})
