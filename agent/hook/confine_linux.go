package hook

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes are those of a worker: it ends with us, and what a terminal sends to us does not reach it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// bound lets this process have so many bytes of memory that it can write to, and leave no core.
func bound(bytes int64) error {
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return err
	}
	return unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: uint64(bytes), Max: uint64(bytes)})
}
