//go:build unix

package transfer

import "syscall"

// Flags of open(2).
const (
	nonblock      = syscall.O_NONBLOCK // the open of a named pipe does not wait for a writer
	noFollow      = syscall.O_NOFOLLOW
	onlyDirectory = syscall.O_DIRECTORY
)
