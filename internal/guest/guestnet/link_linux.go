package guestnet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

const (
	listenerTimeout = time.Minute      // for a sandbox to be built and to send its listener
	dialTimeout     = 30 * time.Second // longer than dialSeconds, after which the guest gives up
	maxDials        = 64               // connections being made at one time; each needs three descriptors of this process
)

// ProxyLink is the host's end of "init --net". Through it the guest sends the listening socket on which
// commands reach the proxy. The host treats every message as hostile.
type ProxyLink struct{ end *linkEnd }

// NewProxyLink makes the connection. The program that runs "init" must inherit child. The caller must
// close its copy of child once that program runs; otherwise the link does not notice the end of the
// sandbox.
func NewProxyLink() (l *ProxyLink, child *os.File, err error) {
	end, child, err := newLinkEnd("net")
	if err != nil {
		return nil, nil, err
	}
	return &ProxyLink{end}, child, nil
}

// Listener waits for the sandbox's listening socket, until ctx ends or for a minute. Its address is
// [ProxyAddr] inside the sandbox. The caller closes it. Errors have code Unavailable, or Denied for
// another socket than the requested one.
func (l *ProxyLink) Listener(ctx context.Context) (net.Listener, error) {
	ctx, cancel := context.WithTimeout(ctx, listenerTimeout)
	defer cancel()
	var kind [1]byte
	n, fd, err := l.end.receive(ctx, kind[:])
	if err != nil {
		return nil, sandbox.Errorf(sandbox.Unavailable, "the sandbox did not hand over its network: %w", err)
	}
	f := os.NewFile(uintptr(fd), "listener")
	defer f.Close()
	switch {
	case fd < 0, n != 1, kind[0] != handOver:
		err = errors.New("the message is another one")
	default:
		err = l.end.checkTCP(fd, true, unix.AF_INET)
	}
	if err == nil {
		err = checkName(unix.Getsockname, fd, ProxyPort)
	}
	if err != nil {
		return nil, sandbox.Errorf(sandbox.Denied, "the sandbox passed an unexpected listener: %w", err)
	}
	got, err := net.FileListener(f)
	if err != nil {
		return nil, err
	}
	tcp, ok := got.(*net.TCPListener)
	if !ok {
		_ = got.Close()
		return nil, sandbox.Errorf(sandbox.Denied, "the sandbox passed an unexpected listener: %T", got)
	}
	return foreignListener{tcp}, nil
}

// Confirm lets the command start. The caller must serve the listener first.
func (l *ProxyLink) Confirm(ctx context.Context) error {
	return l.end.send(ctx, []byte{confirmed}, -1)
}

// Close ends the connection. A sandbox that has not been confirmed then ends instead of
// starting its command. It does not close the listener.
func (l *ProxyLink) Close() error { return l.end.file.Close() }

// PortLink is the host's end of "init --ports". It connects to servers on the sandbox's loopback. The
// host sends the guest only the numbers of the ports. It is safe for concurrent use.
type PortLink struct {
	end   *linkEnd
	slots chan struct{} // one for each connection being made
	turn  chan struct{} // held while sending, which sets deadlines on the shared end
}

// NewPortLink makes the connection. child is as for [NewProxyLink].
func NewPortLink() (l *PortLink, child *os.File, err error) {
	end, child, err := newLinkEnd("ports")
	if err != nil {
		return nil, nil, err
	}
	return &PortLink{end: end, slots: make(chan struct{}, maxDials), turn: make(chan struct{}, 1)}, child, nil
}

// Dial connects to a server on 127.0.0.1, or else ::1, inside the sandbox, until ctx ends or
// for half a minute. A refusal wraps the errno, syscall.ECONNREFUSED when no process listens.
func (l *PortLink) Dial(ctx context.Context, port uint16) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	fd, err := l.dial(ctx, port)
	if err != nil {
		return nil, fmt.Errorf("connect to port %d inside: %w", port, err)
	}
	f := os.NewFile(uintptr(fd), "connection")
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		_ = c.Close()
		return nil, sandbox.Errorf(sandbox.Denied, "the sandbox gave a %T for a connection", c)
	}
	return foreignConn{tcp}, nil
}

func (l *PortLink) dial(ctx context.Context, port uint16) (int, error) {
	if err := ctx.Err(); err != nil { // select chooses any ready case.
		return -1, err
	}
	select {
	case l.slots <- struct{}{}:
	case <-ctx.Done():
		return -1, ctx.Err()
	}
	defer func() { <-l.slots }()
	// Each request has its own answer socket, so that answers can arrive in any order.
	answer, theirs, err := newLinkEnd("answer")
	if err != nil {
		return -1, err
	}
	defer answer.file.Close()
	err = l.request(ctx, port, theirs)
	_ = theirs.Close()
	if err != nil {
		return -1, err
	}
	var text [2]byte
	n, fd, err := answer.receive(ctx, text[:])
	errno := unix.Errno(binary.BigEndian.Uint16(text[:]))
	switch {
	case err != nil:
	case n != len(text), (errno == 0) != (fd >= 0):
		err = sandbox.Errorf(sandbox.Denied, "the sandbox sent another message than an answer")
	case errno != 0:
		return -1, errno
	default:
		if err = l.end.checkTCP(fd, false, unix.AF_INET, unix.AF_INET6); err == nil {
			err = checkName(unix.Getpeername, fd, port)
		}
		if err == nil {
			return fd, nil
		}
		err = sandbox.Errorf(sandbox.Denied, "the sandbox passed an unexpected connection: %w", err)
	}
	if fd >= 0 {
		_ = unix.Close(fd)
	}
	return -1, err
}

func (l *PortLink) request(ctx context.Context, port uint16, answer *os.File) error {
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-l.turn }()
	return l.end.send(ctx, binary.BigEndian.AppendUint16(nil, port), int(answer.Fd()))
}

// Close ends the connection and with it the process inside. Existing connections stay open.
func (l *PortLink) Close() error { return l.end.file.Close() }

// linkEnd is our end of a SOCK_SEQPACKET pair.
type linkEnd struct{ file *os.File }

func newLinkEnd(name string) (ours *linkEnd, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("socket pair: %w", err)
	}
	// Only this end: the flag would be shared if one end were inherited twice.
	if err := unix.SetNonblock(fds[0], true); err != nil {
		_, _ = unix.Close(fds[0]), unix.Close(fds[1])
		return nil, nil, err
	}
	return &linkEnd{os.NewFile(uintptr(fds[0]), name)}, os.NewFile(uintptr(fds[1]), name), nil
}

// during calls f with the descriptor each time that it is ready, until f is done or ctx ends.
func (e *linkEnd) during(ctx context.Context, read bool, f func(fd int) (done bool)) error {
	conn, err := e.file.SyscallConn()
	if err != nil {
		return err
	}
	wait, deadline := conn.Write, e.file.SetWriteDeadline
	if read {
		wait, deadline = conn.Read, e.file.SetReadDeadline
	}
	if err := deadline(time.Time{}); err != nil {
		return err
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		_ = deadline(time.Unix(1, 0))
	})
	err = wait(func(fd uintptr) bool { return f(int(fd)) })
	if !stop() {
		<-ended // otherwise it would interrupt the next caller
		if err != nil {
			err = ctx.Err()
		}
	}
	return err
}

func (e *linkEnd) send(ctx context.Context, data []byte, fd int) error {
	var failed error
	err := e.during(ctx, false, func(own int) bool {
		failed = sendDescriptor(own, data, fd)
		return !errors.Is(failed, unix.EAGAIN)
	})
	return errors.Join(err, failed)
}

// receive returns one message and the descriptor in it, or -1. If there are several descriptors, it
// closes them and returns an error.
func (e *linkEnd) receive(ctx context.Context, data []byte) (n, fd int, err error) {
	var fds []int
	var failed error
	err = e.during(ctx, true, func(own int) bool {
		n, fds, failed = receiveDescriptors(own, data, 0)
		return !errors.Is(failed, unix.EAGAIN) && !errors.Is(failed, unix.EINTR)
	})
	switch {
	case err != nil:
		return 0, -1, err
	case failed == nil && len(fds) > 1:
		failed = errors.New("more than one descriptor came with a message")
	case failed == nil && n == 0:
		failed = errors.New("it ended")
	}
	if failed != nil {
		for _, f := range fds {
			closeForeign(f)
		}
		return 0, -1, failed
	}
	if len(fds) == 0 {
		return n, -1, nil
	}
	noLinger(fds[0])
	return n, fds[0], nil
}

// checkTCP requires a TCP socket of another network namespace: the proxy and
// the published ports must never be served on the host's network.
func (e *linkEnd) checkTCP(fd int, listening bool, families ...int) error {
	family, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return err
	}
	accepts := 0
	if listening {
		accepts = 1
	}
	if !slices.Contains(families, family) || !hasSocketOption(fd, unix.SO_TYPE, unix.SOCK_STREAM) ||
		!hasSocketOption(fd, unix.SO_PROTOCOL, unix.IPPROTO_TCP) || !hasSocketOption(fd, unix.SO_ACCEPTCONN, accepts) {
		return errors.New("a socket of another kind")
	}
	theirs, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_NETNS_COOKIE)
	if err != nil {
		return fmt.Errorf("network namespace of a socket (Linux 5.14 or later): %w", err)
	}
	conn, err := e.file.SyscallConn()
	if err != nil {
		return err
	}
	var ours uint64
	var failed error
	if err := conn.Control(func(own uintptr) {
		ours, failed = unix.GetsockoptUint64(int(own), unix.SOL_SOCKET, unix.SO_NETNS_COOKIE)
	}); err != nil || failed != nil {
		return errors.Join(err, failed)
	}
	if ours == theirs {
		return errors.New("a socket of the host's network")
	}
	return nil
}

// checkName requires that a socket's address has this port on loopback.
func checkName(name func(int) (unix.Sockaddr, error), fd int, port uint16) error {
	got, err := name(fd)
	if err != nil {
		return err
	}
	switch a := got.(type) {
	case *unix.SockaddrInet4:
		if a.Port == int(port) && a.Addr == [4]byte{127, 0, 0, 1} {
			return nil
		}
	case *unix.SockaddrInet6:
		if a.Port == int(port) && a.Addr == [16]byte{15: 1} {
			return nil
		}
	}
	return errors.New("a socket with another address")
}

// noLinger makes close(2) return at once. Otherwise the process that made the socket could use
// SO_LINGER, which connections inherit from their listener, to block close(2) in this process.
func noLinger(fd int) {
	_ = unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{}) // not every descriptor is a socket
}

func closeForeign(fd int) {
	noLinger(fd)
	_ = unix.Close(fd)
}

// foreignListener and foreignConn are sockets that a process in the sandbox made. It may hold a copy and
// set it to blocking: shutdown(2) wakes a thread that then hangs in accept(2), read(2) or write(2).
type foreignListener struct{ *net.TCPListener }

// Close may be called more than once.
func (l foreignListener) Close() error {
	shutDown(l.SyscallConn())
	return l.TCPListener.Close()
}

type foreignConn struct{ *net.TCPConn }

// Close may be called more than once.
func (c foreignConn) Close() error {
	shutDown(c.SyscallConn())
	return c.TCPConn.Close()
}

func shutDown(conn syscall.RawConn, err error) {
	if err == nil {
		_ = conn.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_RDWR) }) // it may be closed
	}
}
