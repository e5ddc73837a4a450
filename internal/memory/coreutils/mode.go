package coreutils

import (
	"io/fs"
)

// The bits of st_mode, as chmod(2) and stat(1) count them.
const (
	bitSetuid = 0o4000
	bitSetgid = 0o2000
	bitSticky = 0o1000
	bitsAll   = 0o7777
)

// modeBits returns the twelve bits of permission.
func modeBits(m fs.FileMode) uint32 {
	bits := uint32(m.Perm())
	if m&fs.ModeSetuid != 0 {
		bits |= bitSetuid
	}
	if m&fs.ModeSetgid != 0 {
		bits |= bitSetgid
	}
	if m&fs.ModeSticky != 0 {
		bits |= bitSticky
	}
	return bits
}

// bitsMode is modeBits backwards.
func bitsMode(bits uint32) fs.FileMode {
	m := fs.FileMode(bits & 0o777)
	if bits&bitSetuid != 0 {
		m |= fs.ModeSetuid
	}
	if bits&bitSetgid != 0 {
		m |= fs.ModeSetgid
	}
	if bits&bitSticky != 0 {
		m |= fs.ModeSticky
	}
	return m
}

// typeBits returns the bits of st_mode that say what a file is.
func typeBits(m fs.FileMode) uint32 {
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

// typeLetter is the first letter of ls -l's mode.
func typeLetter(m fs.FileMode) byte {
	return map[uint32]byte{
		0o040000: 'd', 0o120000: 'l', 0o010000: 'p', 0o140000: 's', 0o020000: 'c', 0o060000: 'b', 0o100000: '-',
	}[typeBits(m)]
}

// typeName is what stat(1) and file(1) call a type.
func typeName(m fs.FileMode, size int64) string {
	switch typeBits(m) {
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

// modeString is "-rwxr-xr-x".
func modeString(m fs.FileMode) string {
	b := []byte{typeLetter(m)}
	return string(append(b, permString(modeBits(m))...))
}

// permString is "rwxr-xr-x".
func permString(bits uint32) string {
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
	special(bitSetuid, 2, 's', 'S')
	special(bitSetgid, 5, 's', 'S')
	special(bitSticky, 8, 't', 'T')
	return string(b)
}
