package dump

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"
)

// baseCoding turns groups of bytes into characters and back.
type baseCoding struct {
	in, out  int    // bytes of a group, and its characters
	alphabet string // without the padding
	padded   bool
	whole    bool // input has to be whole groups

	encode func(dst, src []byte) []byte
	// one decodes a whole group. With false it returns the bytes before the first invalid character.
	one func(group []byte) ([]byte, bool)
}

var baseCodings = map[string]*baseCoding{
	"base64":    base64Coding(base64.StdEncoding, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"),
	"base64url": base64Coding(base64.URLEncoding, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
	"base32":    base32Coding(base32.StdEncoding, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
	"base32hex": base32Coding(base32.HexEncoding, "0123456789ABCDEFGHIJKLMNOPQRSTUV"),
	"base16":    {in: 1, out: 2, alphabet: "0123456789ABCDEF", encode: encodeBase16, one: decodeBase16},
	"base2msbf": {in: 1, out: 8, alphabet: "01", encode: encodeBits(true), one: decodeBits(true)},
	"base2lsbf": {in: 1, out: 8, alphabet: "01", encode: encodeBits(false), one: decodeBits(false)},
	"z85":       {in: 4, out: 5, alphabet: z85Alphabet, whole: true, encode: encodeZ85, one: decodeZ85},
}

func (c *baseCoding) member(ch byte) bool {
	return strings.IndexByte(c.alphabet, ch) >= 0 || c.padded && ch == '='
}

func (c *baseCoding) decode(group []byte) ([]byte, bool) { return c.one(group) }

// decodeEnd decodes the rest at the end: less than a group, which is never valid, but
// GNU writes its bytes.
func (c *baseCoding) decodeEnd(group []byte) []byte {
	if !c.padded {
		return nil
	}
	data, _ := c.one(append(slices.Clip(group), strings.Repeat("=", c.out-len(group))...)) // bounded: by the few bytes of a group
	return data
}

func base64Coding(enc *base64.Encoding, alphabet string) *baseCoding {
	return &baseCoding{
		in: 3, out: 4, alphabet: alphabet, padded: true,
		encode: enc.AppendEncode,
		one: func(group []byte) ([]byte, bool) {
			return decodePadded(group, alphabet, 6)
		},
	}
}

func base32Coding(enc *base32.Encoding, alphabet string) *baseCoding {
	return &baseCoding{
		in: 5, out: 8, alphabet: alphabet, padded: true,
		encode: enc.AppendEncode,
		one: func(group []byte) ([]byte, bool) {
			return decodePadded(group, alphabet, 5)
		},
	}
}

// decodePadded reads characters of bits bits each, up to the padding, whose number
// has to fit whole bytes.
func decodePadded(group []byte, alphabet string, bits int) ([]byte, bool) {
	var acc uint64
	have := 0
	var data []byte
	chars := 0
	for ; chars < len(group) && group[chars] != '='; chars++ {
		v := strings.IndexByte(alphabet, group[chars])
		if v < 0 {
			return data, false
		}
		acc = acc<<bits | uint64(v)
		if have += bits; have >= 8 {
			have -= 8
			data = append(data, byte(acc>>have))
		}
	}
	for _, ch := range group[chars:] {
		if ch != '=' {
			return data, false
		}
	}
	whole := chars == len(group)
	fits := chars > 0 && have < bits
	return data, whole || fits
}

func encodeBase16(dst, src []byte) []byte {
	const digits = "0123456789ABCDEF"
	for _, c := range src {
		dst = append(dst, digits[c>>4], digits[c&15])
	}
	return dst
}

func decodeBase16(group []byte) ([]byte, bool) {
	hi, lo := strings.IndexByte("0123456789ABCDEF", group[0]), strings.IndexByte("0123456789ABCDEF", group[1])
	if hi < 0 || lo < 0 {
		return nil, false
	}
	return []byte{byte(hi<<4 | lo)}, true
}

func encodeBits(msb bool) func(dst, src []byte) []byte {
	return func(dst, src []byte) []byte {
		for _, c := range src {
			for i := range 8 {
				if msb {
					i = 7 - i
				}
				dst = append(dst, '0'+c>>i&1)
			}
		}
		return dst
	}
}

func decodeBits(msb bool) func(group []byte) ([]byte, bool) {
	return func(group []byte) ([]byte, bool) {
		var c byte
		for i, ch := range group {
			if ch != '0' && ch != '1' {
				return nil, false
			}
			if msb {
				i = 7 - i
			}
			c |= (ch - '0') << i
		}
		return []byte{c}, true
	}
}

const z85Alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"

func encodeZ85(dst, src []byte) []byte {
	for ; len(src) >= 4; src = src[4:] {
		v := binary.BigEndian.Uint32(src)
		var group [5]byte
		for i := 4; i >= 0; i-- {
			group[i] = z85Alphabet[v%85]
			v /= 85
		}
		dst = append(dst, group[:]...)
	}
	return dst
}

func decodeZ85(group []byte) ([]byte, bool) {
	var v uint64
	for _, ch := range group {
		k := strings.IndexByte(z85Alphabet, ch)
		if k < 0 {
			return nil, false
		}
		v = v*85 + uint64(k)
	}
	if v > 1<<32-1 {
		return nil, false
	}
	return binary.BigEndian.AppendUint32(nil, uint32(v)), true
}
