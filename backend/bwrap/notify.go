//go:build linux

package bwrap

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// notification is struct seccomp_notif of linux/seccomp.h.
type notification struct {
	id    uint64
	pid   uint32 // thread id in our pid namespace
	flags uint32
	nr    int32
	arch  uint32
	ip    uint64
	args  [6]uint64
}

// response is struct seccomp_notif_resp.
type response struct {
	id    uint64
	val   int64
	errno int32 // negative
	flags uint32
}

const syncWakeUp = 1 // SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP, Linux 6.6

// listener receives the system calls that a seccomp program reports
// (seccomp_unotify(2)).
type listener struct{ file *os.File }

// listen installs program on the calling OS thread and on what it starts. The
// goroutine must be locked to its thread and never unlocked, so that the thread,
// which can no longer be used for anything else, ends with the goroutine.
func listen(program []unix.SockFilter) (*listener, error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("no_new_privs: %w", err)
	}
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	const waitKillable = 1 << 5 // SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, Linux 5.19
	fd, err := seccompFilter(unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|waitKillable, &prog)
	if errors.Is(err, unix.EINVAL) {
		fd, err = seccompFilter(unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, &prog)
	}
	runtime.KeepAlive(program)
	if err != nil {
		return nil, err
	}
	l := &listener{os.NewFile(uintptr(fd), "seccomp listener")}
	// Best effort: it only saves a migration between processors.
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_SET_FLAGS, syncWakeUp)
	return l, nil
}

// canGuard reports whether this kernel can ask us about system calls, and why not.
func canGuard() error {
	action := uint32(unix.SECCOMP_RET_USER_NOTIF)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	if errno != 0 {
		return sandbox.Errorf(sandbox.Unavailable, "this kernel has no seccomp user notification, which protects names that do not exist yet: %w", errno).
			WithHint("Linux 5.6 or newer is needed, and an outer container must allow seccomp(2)")
	}
	return nil
}

func seccompFilter(flags uintptr, prog *unix.SockFprog) (int, error) {
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(prog)))
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

// receive takes one notification; ok is false when its caller is gone already.
func (l *listener) receive() (n notification, ok bool, err error) {
	err = l.ioctl(unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n))
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EINTR) {
		return n, false, nil
	}
	return n, err == nil, err
}

// valid reports whether the caller still waits, and so whether what was read
// through its pid was its own and not that of a process with a recycled pid.
func (l *listener) valid(id uint64) bool {
	return l.ioctl(unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&id)) == nil
}

// proceed lets the kernel execute the call.
func (l *listener) proceed(id uint64) {
	l.send(response{id: id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE})
}

// refuse makes the call fail.
func (l *listener) refuse(id uint64, errno unix.Errno) {
	l.send(response{id: id, errno: -int32(errno)})
}

// finish makes the call return 0.
func (l *listener) finish(id uint64) { l.send(response{id: id}) }

// send ignores ENOENT and the like: the caller was killed while it waited.
func (l *listener) send(r response) {
	_ = l.ioctl(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r))
}

func (l *listener) ioctl(request uintptr, arg unsafe.Pointer) error {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, l.file.Fd(), request, uintptr(arg))
	if errno != 0 {
		return errno
	}
	return nil
}

func (l *listener) close() error { return l.file.Close() }
