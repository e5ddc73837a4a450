//go:build memory || agent

package run

import "golang.org/x/sys/unix"

// The requests of ioctl(2) that read and set the mode of a terminal.
const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS
)
