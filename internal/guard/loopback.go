//go:build linux

package guard

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/seccomp"
)

// Loopback emulates TCP for programs where the seccomp program refuses all Internet sockets. A program that creates a
// TCP socket gets one end of a pair of Unix sockets. When it connects that socket to a loopback address with a
// listener of [Loopback.Listen], the listener accepts the other end. All other addresses are refused, and programs
// inside cannot listen. The socket has the operations of a Unix socket; options of TCP do nothing. It is safe for
// concurrent use.
type Loopback struct {
	listener *Listener
	spare    map[uint64]int // ends that are not connected yet, by the inode of the other end; used by serve alone
	sweepAt  int            // the number of spare ends from which sweep removes those with a closed other end

	mu    sync.Mutex
	ports map[uint16]*loopbackPort
}

// Bounds of the descriptors that programs inside can make this process hold.
const (
	maxSpare   = 4096
	firstSweep = 64
	maxBacklog = 1024 // connections of one port that wait to be accepted
)

// NewLoopback installs the seccomp program of o, which must be offline, on all threads of this process and its later
// children, and answers from a goroutine that ends with the process. This process must not create a TCP socket itself:
// all its threads could block, the answering one included. After an error nothing is installed; the error names the
// feature that the kernel lacks.
func NewLoopback(o seccomp.DenyOptions) (*Loopback, error) {
	if err := availableToRead(); err != nil {
		return nil, err
	}
	o.Loopback, o.Dumpable = true, true
	program, err := seccomp.Deny(runtime.GOARCH, o)
	if err != nil {
		return nil, err
	}
	listener, err := listen(program.InstallListenerEverywhere)
	if err != nil {
		return nil, err
	}
	l := &Loopback{listener: listener, spare: map[uint64]int{}, sweepAt: firstSweep, ports: map[uint16]*loopbackPort{}}
	go l.serve()
	return l, nil
}

// serve ends with the process, or when the kernel takes no answers any more: then the calls fail.
func (l *Loopback) serve() {
	defer l.listener.Close()
	for {
		n, ok, err := l.listener.receive()
		switch {
		case err != nil:
			return
		case ok:
			l.answer(n)
		}
	}
}

func (l *Loopback) answer(n notification) {
	var err error
	switch n.nr {
	case unix.SYS_SOCKET:
		err = l.give(n)
	case unix.SYS_CONNECT:
		err = l.connect(n)
	case unix.SYS_BIND:
		if _, ours := l.ours(n); ours {
			err = unix.EADDRNOTAVAIL
		}
	}
	var errno unix.Errno
	switch {
	case err == nil:
		l.listener.proceed(n.id)
	case errors.Is(err, errAnswered):
	case errors.Is(err, errPerformed):
		l.listener.finish(n.id)
	case errors.As(err, &errno):
		l.listener.refuse(n.id, errno)
	default:
		l.listener.refuse(n.id, unix.EACCES)
	}
}

// give creates the result of socket(2). It never lets the call proceed: the kernel would create a real socket.
func (l *Loopback) give(n notification) error {
	l.sweep()
	if len(l.spare) >= maxSpare {
		return unix.EMFILE
	}
	flags := int(uint32(n.args[1])) & (unix.SOCK_NONBLOCK | unix.SOCK_CLOEXEC)
	// Each description has its own flags: O_NONBLOCK of this end has no effect on the program's end.
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return errnoOf(err)
	}
	defer unix.Close(pair[0])
	var st unix.Stat_t
	err = unix.Fstat(pair[0], &st)
	if err == nil {
		err = unix.SetNonblock(pair[0], flags&unix.SOCK_NONBLOCK != 0)
	}
	if err == nil {
		err = l.listener.give(n.id, pair[0], flags&unix.SOCK_CLOEXEC)
	}
	if !errors.Is(err, errAnswered) {
		_ = unix.Close(pair[1])
		return errors.Join(err, unix.EAFNOSUPPORT) // never nil
	}
	l.spare[st.Ino] = pair[1]
	return err
}

// sweep closes ends whose other end is closed.
func (l *Loopback) sweep() {
	if len(l.spare) < l.sweepAt {
		return
	}
	for ino, fd := range l.spare {
		fds := []unix.PollFd{{Fd: int32(fd)}}
		if got, err := unix.Poll(fds, 0); err == nil && got > 0 && fds[0].Revents&unix.POLLHUP != 0 {
			_ = unix.Close(fd)
			delete(l.spare, ino)
		}
	}
	l.sweepAt = max(firstSweep, 2*len(l.spare))
}

// ours returns the inode of a call's socket if give created it and it is not connected yet.
func (l *Loopback) ours(n notification) (ino uint64, ours bool) {
	name, err := os.Readlink(target{tid: int(n.pid)}.proc(int(int32(n.args[0]))))
	if err != nil {
		return 0, false // the kernel reports the error: it is not an Internet socket in any case
	}
	text, isSocket := strings.CutPrefix(name, "socket:[")
	ino, err = strconv.ParseUint(strings.TrimSuffix(text, "]"), 10, 64)
	if !isSocket || err != nil {
		return 0, false
	}
	_, ours = l.spare[ino]
	return ino, ours
}

// connect passes the other end to the listener.
func (l *Loopback) connect(n notification) error {
	ino, ours := l.ours(n)
	if !ours {
		return nil
	}
	if uint32(n.args[2]) > sockaddrMax {
		return unix.EINVAL
	}
	addr := make([]byte, uint32(n.args[2]))
	if err := (target{tid: int(n.pid)}).peek(n.args[1], addr); err != nil {
		return err
	}
	if !l.listener.valid(n.id) { // the memory may have belonged to another process
		return errAnswered
	}
	to, ok := socketAddress(addr)
	switch {
	case !ok:
		return unix.EAFNOSUPPORT
	case !to.Addr().IsLoopback() && !to.Addr().IsUnspecified(): // the kernel takes the latter for the host itself, ip(7)
		return unix.ENETUNREACH
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.ports[to.Port()]
	if at == nil {
		return unix.ECONNREFUSED
	}
	select {
	case at.accepted <- l.spare[ino]:
		delete(l.spare, ino)
		return errPerformed
	default:
		return unix.ECONNREFUSED
	}
}

// peek reads memory without process_vm_readv(2), which the seccomp program refuses.
func (t target) peek(addr uint64, buf []byte) error {
	if int64(addr) < 0 {
		return unix.EFAULT
	}
	fd, err := unix.Open("/proc/"+strconv.Itoa(t.tid)+"/mem", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return errnoOf(err)
	}
	defer unix.Close(fd)
	if got, err := unix.Pread(fd, buf, int64(addr)); err != nil || got < len(buf) {
		return unix.EFAULT
	}
	return nil
}

// Listen listens on a port of the loopback's addresses; what is accepted is a *net.UnixConn. The error is
// [unix.EADDRINUSE] when the port has a listener already.
func (l *Loopback) Listen(port uint16) (net.Listener, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ports[port] != nil {
		return nil, fmt.Errorf("port %d: %w", port, unix.EADDRINUSE)
	}
	at := &loopbackPort{of: l, port: port, accepted: make(chan int, maxBacklog), closed: make(chan struct{})}
	l.ports[port] = at
	return at, nil
}

// loopbackPort is a listener.
type loopbackPort struct {
	of       *Loopback
	port     uint16
	accepted chan int
	closed   chan struct{}
	once     sync.Once
}

// Accept returns the next connection; net.ErrClosed after Close.
func (at *loopbackPort) Accept() (net.Conn, error) {
	select {
	case <-at.closed:
		return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: at.Addr(), Err: net.ErrClosed}
	default:
	}
	select {
	case fd := <-at.accepted:
		end := os.NewFile(uintptr(fd), at.Addr().String())
		defer end.Close() // it is copied
		return net.FileConn(end)
	case <-at.closed:
		return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: at.Addr(), Err: net.ErrClosed}
	}
}

// Close stops listening and closes the connections that were not accepted.
func (at *loopbackPort) Close() error {
	at.once.Do(func() {
		at.of.mu.Lock() // connect adds nothing to accepted afterwards
		delete(at.of.ports, at.port)
		at.of.mu.Unlock()
		close(at.closed)
		for {
			select {
			case fd := <-at.accepted:
				_ = unix.Close(fd)
			default:
				return
			}
		}
	})
	return nil
}

// Addr is 127.0.0.1 and the port.
func (at *loopbackPort) Addr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(at.port)}
}
