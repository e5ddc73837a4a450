//go:build !linux

package persist

// Those of Darwin's <sys/fcntl.h>. Kept sandboxes need Linux; this builds.
const (
	setLock  = 90
	waitLock = 91
	askLock  = 92
)
