//go:build linux

package guard

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/seccomp"
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

// Listener receives the system calls that a seccomp program reports (seccomp_unotify(2)).
type Listener struct {
	file     *os.File
	deserted bool // no process is left that could make a call
}

// NewListener returns a listener that owns a descriptor which another process has sent.
func NewListener(fd int) *Listener {
	// Best effort: it only saves a migration between processors.
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_SET_FLAGS, syncWakeUp)
	return &Listener{file: os.NewFile(uintptr(fd), "seccomp listener")}
}

// Listen installs program on the calling OS thread and on the processes that it starts. The goroutine must be
// locked to its thread and never unlocked: the thread cannot be used for anything else, and ends with the
// goroutine.
func Listen(program seccomp.Program) (*Listener, error) { return listen(program.InstallListener) }

func listen(install func(flags uintptr) (int, error)) (*Listener, error) {
	const waitKillable = 1 << 5 // SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, Linux 5.19
	fd, err := install(waitKillable)
	if errors.Is(err, unix.EINVAL) {
		fd, err = install(0)
	}
	if err != nil {
		return nil, err
	}
	return NewListener(fd), nil
}

// poll returns the descriptor for poll(2); -1: no call can arrive. A nil listener has none.
func (l *Listener) poll() int32 {
	if l == nil || l.deserted {
		return -1
	}
	return int32(l.file.Fd())
}

// receive waits for one notification; ok is false if its caller is gone.
func (l *Listener) receive() (n notification, ok bool, err error) {
	ok, err = checkReceived(l.wait(unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)))
	return n, ok, err
}

// receiveReady is receive for a notification that poll(2) has reported.
func (l *Listener) receiveReady() (n notification, ok bool, err error) {
	ok, err = checkReceived(l.ioctl(unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)))
	return n, ok, err
}

func checkReceived(err error) (ok bool, _ error) {
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EINTR) {
		return false, nil
	}
	return err == nil, err
}

// valid reports whether the caller still waits. If so, data that was read through its PID was its own, and not
// that of a process with a reused PID.
func (l *Listener) valid(id uint64) bool {
	return l.ioctl(unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&id)) == nil
}

// proceed lets the kernel execute the call.
func (l *Listener) proceed(id uint64) {
	l.send(response{id: id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE})
}

// refuse makes the call fail.
func (l *Listener) refuse(id uint64, errno unix.Errno) {
	l.send(response{id: id, errno: -int32(errno)})
}

// finish makes the call return 0.
func (l *Listener) finish(id uint64) { l.send(response{id: id}) }

// send ignores errors such as ENOENT, which mean that the caller was killed while it waited.
func (l *Listener) send(r response) {
	_ = l.ioctl(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r))
}

// ioctl is for requests that do not block. It does not inform Go's scheduler of the call, so the thread keeps
// its processor.
func (l *Listener) ioctl(request uintptr, arg unsafe.Pointer) error {
	_, _, errno := unix.RawSyscall(unix.SYS_IOCTL, l.file.Fd(), request, uintptr(arg))
	if errno != 0 {
		return errno
	}
	return nil
}

// wait is ioctl for requests that can block.
func (l *Listener) wait(request uintptr, arg unsafe.Pointer) error {
	_, err := l.waitResult(request, arg)
	return err
}

// waitResult is wait for requests that return a number.
func (l *Listener) waitResult(request uintptr, arg unsafe.Pointer) (int, error) {
	r, _, errno := unix.Syscall(unix.SYS_IOCTL, l.file.Fd(), request, uintptr(arg))
	if errno != 0 {
		return -1, errno
	}
	return int(r), nil
}

// Close ends the listener: later calls that the program reports fail with ENOSYS.
func (l *Listener) Close() error { return l.file.Close() }
