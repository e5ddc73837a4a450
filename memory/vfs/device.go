package vfs

import (
	"io"
	"syscall"
)

// device is one of the character devices that work by themselves.
type device uint8

const (
	noDevice device = iota
	null
	zero
	full
	random
)

// deviceOf returns the device with that number (devices.txt of Linux).
func deviceOf(rdev uint64) device {
	if Major(rdev) != 1 {
		return noDevice
	}
	switch Minor(rdev) {
	case 3:
		return null
	case 5:
		return zero
	case 7:
		return full
	case 8, 9:
		return random
	}
	return noDevice
}

func (d device) read(f *FS, p []byte) (int, error) {
	switch d {
	case null:
		return 0, io.EOF
	case random:
		f.random(p)
	default:
		clear(p)
	}
	return len(p), nil
}

func (d device) write(p []byte) (int, syscall.Errno) {
	if d == full && len(p) > 0 {
		return 0, syscall.ENOSPC
	}
	return len(p), 0
}
