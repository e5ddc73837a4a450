//go:build linux

package guard

import (
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Available returns nil when this kernel can report system calls to a process (seccomp_unotify(2)), else an Unavailable error.
func Available() error {
	action := uint32(unix.SECCOMP_RET_USER_NOTIF)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	if errno != 0 {
		return sandbox.Errorf(sandbox.Unavailable, "this kernel has no seccomp user notification, which protects names that do not exist yet: %w", errno).
			WithHint("Linux 5.6 or newer is needed, and an outer container must allow seccomp(2)")
	}
	return nil
}

// AvailableInside returns nil if a guard can run in the same container as the commands that it guards, as the same user
// and without privileges. The seccomp profile of a container may refuse system calls that the guard needs. The error is
// Unavailable.
func AvailableInside() error {
	if err := availableToRead(); err != nil {
		return err
	}
	for _, try := range []struct {
		call string
		do   func() error
	}{
		{"process_vm_readv", tryReading}, {"pidfd_getfd", tryDescriptor}, {"openat2", tryOpening},
	} {
		if err := try.do(); err != nil {
			return sandbox.Errorf(sandbox.Unavailable, "the guard inside needs %s(2): %w", try.call, err).
				WithHint("Linux 5.6 or newer is needed, and a seccomp profile of the container that allows the call")
		}
	}
	return nil
}

// availableToRead returns nil if a process that answers system calls may read their arguments.
func availableToRead() error {
	if err := Available(); err != nil {
		return err
	}
	if mode, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope"); err == nil && strings.TrimSpace(string(mode)) > "1" {
		return sandbox.Errorf(sandbox.Unavailable, "the guard inside may not look at commands: kernel.yama.ptrace_scope is %s", strings.TrimSpace(string(mode))).
			WithHint("sudo sysctl kernel.yama.ptrace_scope=1")
	}
	return nil
}

func tryReading() error {
	own := new(byte)
	_, err := target{tid: os.Getpid()}.read(uint64(uintptr(unsafe.Pointer(own))), make([]byte, 1))
	return err
}

func tryDescriptor() error {
	self, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return err
	}
	defer unix.Close(self)
	fd, err := unix.PidfdGetfd(self, self, 0)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

func tryOpening() error {
	fd, err := unix.Openat2(unix.AT_FDCWD, "/", &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT})
	if err != nil {
		return err
	}
	return unix.Close(fd)
}
