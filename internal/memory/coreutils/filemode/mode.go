// Package filemode reads, changes and writes the modes of files as chmod and ls do.
package filemode

import (
	"io/fs"
)

// Octal writes the twelve bits of permission as four octal digits.
func Octal(bits uint32) string {
	const digits = "01234567"
	return string([]byte{digits[bits>>9&7], digits[bits>>6&7], digits[bits>>3&7], digits[bits&7]})
}

// The bits of st_mode, as chmod(2) and stat(1) count them.
const (
	SetuidBit = 0o4000
	SetgidBit = 0o2000
	StickyBit = 0o1000
	AllBits   = 0o7777
)

// Bits returns the twelve bits of permission.
func Bits(m fs.FileMode) uint32 {
	bits := uint32(m.Perm())
	if m&fs.ModeSetuid != 0 {
		bits |= SetuidBit
	}
	if m&fs.ModeSetgid != 0 {
		bits |= SetgidBit
	}
	if m&fs.ModeSticky != 0 {
		bits |= StickyBit
	}
	return bits
}

// FromBits returns the mode with the twelve bits of permission; it is the reverse of Bits.
func FromBits(bits uint32) fs.FileMode {
	m := fs.FileMode(bits & 0o777)
	if bits&SetuidBit != 0 {
		m |= fs.ModeSetuid
	}
	if bits&SetgidBit != 0 {
		m |= fs.ModeSetgid
	}
	if bits&StickyBit != 0 {
		m |= fs.ModeSticky
	}
	return m
}

// TypeBits returns the bits of st_mode that say what a file is.
func TypeBits(m fs.FileMode) uint32 {
	switch {
	case m.IsDir():
		return 0o040000
	case m&fs.ModeSymlink != 0:
		return 0o120000
	case m&fs.ModeNamedPipe != 0:
		return 0o010000
	case m&fs.ModeSocket != 0:
		return 0o140000
	case m&fs.ModeCharDevice != 0:
		return 0o020000
	case m&fs.ModeDevice != 0:
		return 0o060000
	}
	return 0o100000
}

// TypeLetter is the first letter of ls -l's mode.
func TypeLetter(m fs.FileMode) byte {
	return map[uint32]byte{
		0o040000: 'd', 0o120000: 'l', 0o010000: 'p', 0o140000: 's', 0o020000: 'c', 0o060000: 'b', 0o100000: '-',
	}[TypeBits(m)]
}

// TypeName returns the name of a type in stat(1) and file(1).
func TypeName(m fs.FileMode, size int64) string {
	switch TypeBits(m) {
	case 0o040000:
		return "directory"
	case 0o120000:
		return "symbolic link"
	case 0o010000:
		return "fifo"
	case 0o140000:
		return "socket"
	case 0o020000:
		return "character special file"
	case 0o060000:
		return "block special file"
	}
	if size == 0 {
		return "regular empty file"
	}
	return "regular file"
}

// String is "-rwxr-xr-x".
func String(m fs.FileMode) string {
	b := []byte{TypeLetter(m)}
	return string(append(b, PermString(Bits(m))...))
}

// PermString is "rwxr-xr-x".
func PermString(bits uint32) string {
	b := []byte("rwxrwxrwx")
	for i := range b {
		if bits&(0o400>>i) == 0 {
			b[i] = '-'
		}
	}
	special := func(bit uint32, at int, set, unset byte) {
		switch {
		case bits&bit == 0:
		case b[at] == 'x':
			b[at] = set
		default:
			b[at] = unset
		}
	}
	special(SetuidBit, 2, 's', 'S')
	special(SetgidBit, 5, 's', 'S')
	special(StickyBit, 8, 't', 'T')
	return string(b)
}
