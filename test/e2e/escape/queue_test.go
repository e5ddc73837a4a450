//go:build linux

package escape_test

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// makeQueue makes a POSIX message queue that a user may read.
func makeQueue(name string, uid int) error {
	p, err := unix.BytePtrFromString(name)
	if err != nil {
		return err
	}
	fd, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(p)), unix.O_CREAT|unix.O_EXCL|unix.O_RDWR|unix.O_CLOEXEC, 0o600, 0, 0, 0)
	if errno != 0 {
		return os.NewSyscallError("mq_open", errno)
	}
	defer unix.Close(int(fd))
	return unix.Fchown(int(fd), uid, uid)
}

func dropQueue(name string) {
	if p, err := unix.BytePtrFromString(name); err == nil {
		_, _, _ = unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(p)), 0, 0)
	}
}
