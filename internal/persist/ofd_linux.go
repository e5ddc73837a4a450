package persist

import "golang.org/x/sys/unix"

const (
	setLock  = unix.F_OFD_SETLK
	waitLock = unix.F_OFD_SETLKW
	askLock  = unix.F_OFD_GETLK
)
