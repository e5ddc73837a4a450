package guest

import (
	"runtime"
	"syscall"
	"unsafe"
)

// kernelSignals is the number of signals of the kernel, whose signal set is 8 bytes.
const (
	kernelSignals = 64
	sigsetSize    = 8
)

// defaultSignals gives every signal its default action and unblocks all, for the program
// that this thread is about to execute. Package os/signal cannot do that: it does not
// change signals that were ignored when the process started.
func defaultSignals() error {
	runtime.LockOSThread() // the program gets the mask of the thread that calls execve(2)
	// struct sigaction of the kernel: handler, flags, restorer, mask; SIG_DFL is zero.
	var action [4]uint64
	for sig := uintptr(1); sig <= kernelSignals; sig++ {
		if s := syscall.Signal(sig); s == syscall.SIGKILL || s == syscall.SIGSTOP {
			continue
		}
		_, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, sig,
			uintptr(unsafe.Pointer(&action)), 0, sigsetSize, 0, 0)
		if errno != 0 {
			return errno
		}
	}
	const setMask = 2 // SIG_SETMASK
	var none uint64
	_, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, setMask,
		uintptr(unsafe.Pointer(&none)), 0, sigsetSize, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
