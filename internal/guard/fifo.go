//go:build linux

package guard

import (
	"errors"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// maxFIFOs bounds the opens that wait for the other end of a FIFO: each takes a thread, and commands decide how many wait.
const maxFIFOs = 64

// fifos opens FIFOs for targets, which may have to wait. The zero value is ready for use.
type fifos struct {
	mu      sync.Mutex
	waiting int
	running sync.WaitGroup
	aborted chan struct{} // closed when no target is left; nil before the first open
}

// fifo is one open that waits.
type fifo struct {
	pin    int           // its path
	opened chan struct{} // closed when the open has returned
}

// open opens the FIFO at pin in a goroutine, with the credentials c of the target, and takes over pin.
func (s *fifos) open(g *Guard, n notification, t target, c credentials, flags, pin int) error {
	// Whoever waits has to be woken when the target dies, which takes both permissions.
	err := unix.Faccessat2(unix.AT_FDCWD, ownDescriptor(pin), unix.R_OK|unix.W_OK, unix.AT_EACCESS)
	if err == nil {
		err = s.reserve()
	}
	if err != nil {
		_ = unix.Close(pin)
		return errnoOf(err)
	}
	f := &fifo{pin: pin, opened: make(chan struct{})}
	go func() {
		defer s.release()
		defer unix.Close(pin)
		var woken sync.WaitGroup
		woken.Go(func() { f.watch(t, s.aborted) })
		fd, err := f.wait(g, c, flags)
		close(f.opened)
		woken.Wait()
		g.giveFIFO(n, fd, flags, err)
	}()
	return errAnswered
}

// wait opens the FIFO, with the credentials c.
func (f *fifo) wait(g *Guard, c credentials, flags int) (fd int, err error) {
	err = g.callers.runAside(c, func() (err error) {
		for {
			fd, err = unix.Open(ownDescriptor(f.pin), flags|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
			if !errors.Is(err, unix.EINTR) {
				return errnoOf(err)
			}
		}
	})
	return fd, err
}

// giveFIFO answers the target.
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

// abort ends every open that waits: the commands that waited are gone.
func (s *fifos) abort() {
	s.mu.Lock()
	if s.aborted == nil {
		s.aborted = make(chan struct{})
	}
	close(s.aborted)
	s.mu.Unlock()
	s.running.Wait()
}

// watch wakes the open when the target dies, or when all have.
func (f *fifo) watch(t target, aborted <-chan struct{}) {
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
	select {
	case <-died:
		f.wake()
	case <-aborted:
		f.wake()
	case <-f.opened:
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

// wake makes an open that waits return, by being the other end for a moment. The owner of a FIFO can have taken away the
// permission meanwhile.
func (f *fifo) wake() {
	path := ownDescriptor(f.pin)
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.EACCES) && unix.Chmod(path, 0o600) == nil {
		fd, err = unix.Open(path, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	}
	if err == nil {
		<-f.opened
		_ = unix.Close(fd)
	}
}
