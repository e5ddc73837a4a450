//go:build linux

package guard

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// maxFIFOs bounds the opens that wait for the other end of a FIFO: each takes a thread, and commands can start any number.
	maxFIFOs = 256
	// checkSignals is the interval at which such an open checks whether its target has a signal: there is no event for
	// it.
	checkSignals = 20 * time.Millisecond
	// resend is the time after which a signal is sent again: the first one may arrive before the open that it should
	// interrupt.
	resend = time.Millisecond
	// restart is ERESTARTSYS of the kernel: with a signal pending, the call fails with EINTR or begins again, as sigaction(2)
	// says for that signal.
	restart = unix.Errno(512)
	// interruption is the signal that interrupts an open. The runtime's handler ignores it.
	interruption = unix.Signal(62)
)

// fifos opens FIFOs for targets, which may have to wait for the other end. The zero value is ready for use.
type fifos struct {
	mu      sync.Mutex
	waiting int
	running sync.WaitGroup
	aborted chan struct{} // closed when no target is left; nil before the first open
}

// fifo is one open that waits.
type fifo struct {
	pin    int           // its path
	thread atomic.Int64  // thread ID of the open; 0: not started
	over   atomic.Bool   // do not open again
	opened chan struct{} // closed when the open has returned
}

// open opens the FIFO at pin in a goroutine, with the credentials c of the target, and takes over pin.
func (s *fifos) open(g *Guard, n notification, t target, c credentials, flags, pin int) error {
	err := interruptible()
	if err == nil {
		err = s.reserve()
	}
	if err != nil {
		_ = unix.Close(pin)
		return err
	}
	f := &fifo{pin: pin, opened: make(chan struct{})}
	go func() {
		defer s.release()
		defer unix.Close(pin)
		var watching sync.WaitGroup
		watching.Go(func() { f.watch(g, n, t, s.aborted) })
		fd, err := f.wait(g, c, flags)
		close(f.opened)
		watching.Wait()
		g.giveFIFO(n, fd, flags, err)
	}()
	return errAnswered
}

// wait opens the FIFO, with the credentials c. The error is restart when it was interrupted.
func (f *fifo) wait(g *Guard, c credentials, flags int) (fd int, err error) {
	err = g.callers.runAside(c, func() (err error) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		f.thread.Store(int64(unix.Gettid()))
		for !f.over.Load() {
			fd, err = unix.Open(ownDescriptor(f.pin), flags|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
			if !errors.Is(err, unix.EINTR) {
				return errnoOf(err)
			}
		}
		return restart
	})
	return fd, err
}

// giveFIFO answers the target's call.
func (g *Guard) giveFIFO(n notification, fd, flags int, err error) {
	if err == nil {
		defer unix.Close(fd)
		err = g.listener.give(n.id, fd, flags&unix.O_CLOEXEC)
	}
	var errno unix.Errno
	switch {
	case errors.Is(err, errAnswered):
	case errors.As(err, &errno):
		g.listener.refuse(n.id, errno)
	default:
		g.listener.refuse(n.id, unix.EACCES)
	}
}

// reserve counts one more open that waits. The error is ENFILE when there are too many.
func (s *fifos) reserve() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.aborted == nil {
		s.aborted = make(chan struct{})
	}
	if s.waiting >= maxFIFOs {
		return unix.ENFILE
	}
	s.waiting++
	s.running.Add(1)
	return nil
}

func (s *fifos) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting--
	s.running.Done()
}

// abort ends every waiting open, because the commands are gone.
func (s *fifos) abort() {
	s.mu.Lock()
	if s.aborted == nil {
		s.aborted = make(chan struct{})
	}
	close(s.aborted)
	s.mu.Unlock()
	s.running.Wait()
}

// watch interrupts the open when the target dies or has a signal, or when all targets are gone.
func (f *fifo) watch(g *Guard, n notification, t target, aborted <-chan struct{}) {
	died := make(chan struct{})
	pidfd, err := t.pidfd(unix.PIDFD_NONBLOCK)
	if err != nil {
		close(died)
	} else {
		file := os.NewFile(uintptr(pidfd), "pidfd") // nonblocking, so Go's poller watches it
		var watching sync.WaitGroup
		defer watching.Wait()
		defer func() { _ = file.SetReadDeadline(time.Now()) }() // it ends the read
		watching.Go(func() {
			defer file.Close()
			if awaitEnd(file) {
				close(died)
			}
		})
	}
	look := time.NewTicker(checkSignals)
	defer look.Stop()
	for {
		select {
		case <-died:
			f.interrupt()
			return
		case <-aborted:
			f.interrupt()
			return
		case <-look.C:
			// Before Linux 5.19 a signal ends the call by itself.
			if t.hasSignal() || !g.listener.valid(n.id) {
				f.interrupt()
				return
			}
		case <-f.opened:
			return
		}
	}
}

// awaitEnd reports whether the process of a pidfd has ended, or false when a deadline comes first.
func awaitEnd(pidfd *os.File) bool {
	raw, err := pidfd.SyscallConn()
	if err != nil {
		return true
	}
	err = raw.Read(func(fd uintptr) bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n > 0 || err != nil && !errors.Is(err, unix.EINTR)
	})
	return err == nil
}

// interrupt ends the open with a signal. Opening the other end for a moment would wake every other process that waits
// for it, too.
func (f *fifo) interrupt() {
	f.over.Store(true)
	again := time.NewTicker(resend)
	defer again.Stop()
	for {
		if thread := f.thread.Load(); thread != 0 {
			_ = unix.Tgkill(unix.Getpid(), int(thread), interruption) // it may have ended
		}
		select {
		case <-f.opened:
			return
		case <-again.C:
		}
	}
}

// hasSignal reports whether the target has a pending signal that it does not block. The kernel drops signals that the
// target ignores.
func (t target) hasSignal() bool {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(t.tid) + "/status")
	if err != nil {
		return true
	}
	masks := map[string]uint64{"SigPnd": 0, "ShdPnd": 0, "SigBlk": 0}
	for line := range bytes.Lines(data) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		if _, ok := masks[string(name)]; ok {
			if masks[string(name)], err = strconv.ParseUint(string(bytes.TrimSpace(value)), 16, 64); err != nil {
				return true
			}
		}
	}
	return (masks["SigPnd"]|masks["ShdPnd"])&^masks["SigBlk"] != 0
}

// interruptible makes the signal interrupt system calls, which begin again after all signals that the runtime handles. It
// returns EACCES when the runtime does not handle this one.
var interruptible = sync.OnceValue(func() error { //nolint:gochecknoglobals // a handler is the process's
	var action struct {
		handler  uintptr
		flags    uint64
		restorer uintptr
		mask     uint64
	}
	const setSize, restarts = unsafe.Sizeof(action.mask), 0x10000000 // SA_RESTART
	number, data := uintptr(interruption), uintptr(unsafe.Pointer(&action))
	if _, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, number, 0, data, setSize, 0, 0); errno != 0 {
		return unix.EACCES
	}
	if action.handler <= 1 { // SIG_DFL or SIG_IGN
		return unix.EACCES
	}
	action.flags &^= restarts
	if _, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, number, data, 0, setSize, 0, 0); errno != 0 {
		return unix.EACCES
	}
	return nil
})
