//go:build !linux

package persist

// Those of Darwin's <sys/fcntl.h>. Persistent sandboxes need Linux; elsewhere this only has to compile.
const (
	setLock  = 90
	waitLock = 91
	askLock  = 92
)
