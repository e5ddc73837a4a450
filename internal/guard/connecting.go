//go:build linux

package guard

import (
	"errors"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// checkWanted is the interval at which a waiting connect checks that its target is still alive.
	checkWanted = time.Second
	// The shortest and the longest pause between two attempts to connect to a Unix socket whose queue is full: the
	// kernel has no event for it.
	retryFirst, retryLast = time.Millisecond, 64 * time.Millisecond
)

// sockets makes the connections of targets. A waiting connection takes a goroutine and no thread, because commands can
// make any number of them. The zero value is ready for use.
type sockets struct {
	mu      sync.Mutex // also held while a shared description is non-blocking for a moment
	waiting map[*os.File]bool
	full    int // connects that wait for a place in the queue of a Unix socket
	aborted bool
}

// errAborted means that the command that waited for the connection is gone.
var errAborted = unix.ECONNABORTED

// connect is connect(2) on a copy of the target's descriptor, with the bytes of addr unchanged. If the target's socket
// is blocking, connect waits until wanted returns false.
func (s *sockets) connect(sock int, addr []byte, wanted func() bool) error {
	limit, begin := sendTimeout(sock), time.Now()
	for pause := retryFirst; ; pause = min(2*pause, retryLast) {
		wait, err := s.begin(sock, addr)
		switch {
		case wait != nil:
			return s.await(wait, addr, limit, wanted)
		case !errors.Is(err, errFull):
			return err
		case !wanted() || s.isAborted():
			return errAborted
		case limit > 0 && time.Since(begin) >= limit:
			return unix.EAGAIN
		}
		s.countFull(1)
		time.Sleep(pause) //nolint:forbidigo // the kernel has no event for it
		s.countFull(-1)
	}
}

// errFull means that the queue of a Unix socket is full, and the target would wait.
var errFull = errors.New("the queue is full")

// begin begins a connection. If the connection takes time, begin returns a copy of sock that Go's poller watches.
func (s *sockets) begin(sock int, addr []byte) (wait *os.File, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	flags, err := unix.FcntlInt(uintptr(sock), unix.F_GETFL, 0)
	if err != nil {
		return nil, errnoOf(err)
	}
	kind, err := unix.GetsockoptInt(sock, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil {
		return nil, errnoOf(err)
	}
	// Datagram sockets connect at once, and another thread may be receiving on one.
	if flags&unix.O_NONBLOCK != 0 || kind != unix.SOCK_STREAM && kind != unix.SOCK_SEQPACKET {
		return nil, rawConnect(sock, addr)
	}
	// The target shares this flag. Only another of its threads could see it, at this moment.
	if _, err := unix.FcntlInt(uintptr(sock), unix.F_SETFL, flags|unix.O_NONBLOCK); err != nil {
		return nil, errnoOf(err)
	}
	defer func() { _, _ = unix.FcntlInt(uintptr(sock), unix.F_SETFL, flags) }() // it was settable before
	err = rawConnect(sock, addr)
	switch {
	case errors.Is(err, unix.EAGAIN):
		return nil, errFull
	case !errors.Is(err, unix.EINPROGRESS) && !errors.Is(err, unix.EALREADY):
		return nil, err
	}
	if s.aborted {
		return nil, errAborted
	}
	again, err := unix.FcntlInt(uintptr(sock), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, errnoOf(err)
	}
	wait = os.NewFile(uintptr(again), "socket")
	if s.waiting == nil {
		s.waiting = map[*os.File]bool{}
	}
	s.waiting[wait] = true
	return wait, nil
}

// await waits for the end of a connection that has begun, and closes f.
func (s *sockets) await(f *os.File, addr []byte, limit time.Duration, wanted func() bool) error {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.waiting, f)
		_ = f.Close() // a copy
	}()
	raw, err := f.SyscallConn()
	if err != nil {
		return unix.EACCES
	}
	begin := time.Now()
	for {
		next := time.Now().Add(checkWanted)
		if end := begin.Add(limit); limit > 0 && end.Before(next) {
			next = end
		}
		if !wanted() || !s.setDeadline(f, next) {
			return errAborted
		}
		var result error
		err := raw.Write(func(fd uintptr) bool {
			result = s.again(int(fd), addr)
			return !errors.Is(result, unix.EALREADY) && !errors.Is(result, unix.EINPROGRESS)
		})
		switch {
		case err == nil:
			return result
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return unix.EACCES
		case limit > 0 && time.Since(begin) >= limit:
			return unix.EINPROGRESS // see SO_SNDTIMEO in socket(7)
		}
	}
}

// again is a further connect(2) during a connection, which returns its result.
func (s *sockets) again(sock int, addr []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	flags, err := unix.FcntlInt(uintptr(sock), unix.F_GETFL, 0)
	if err == nil {
		_, err = unix.FcntlInt(uintptr(sock), unix.F_SETFL, flags|unix.O_NONBLOCK)
	}
	if err != nil {
		return errnoOf(err)
	}
	defer func() { _, _ = unix.FcntlInt(uintptr(sock), unix.F_SETFL, flags) }() // it was settable before
	return rawConnect(sock, addr)
}

// sendTimeout returns the time that the target's connect may take; 0: any.
func sendTimeout(sock int) time.Duration {
	tv, err := unix.GetsockoptTimeval(sock, unix.SOL_SOCKET, unix.SO_SNDTIMEO)
	if err != nil {
		return 0
	}
	return time.Duration(tv.Nano())
}

// setDeadline limits the next wait on f; false: it was aborted.
func (s *sockets) setDeadline(f *os.File, at time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.aborted && f.SetWriteDeadline(at) == nil
}

func (s *sockets) isAborted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.aborted
}

func (s *sockets) countFull(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full += n
}

// pending returns the number of connects that wait.
func (s *sockets) pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting) + s.full
}

// abort ends every waiting connect, because the commands are gone.
func (s *sockets) abort() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.aborted = true
	for f := range s.waiting {
		_ = f.SetWriteDeadline(time.Now()) // await checks aborted next
	}
}
