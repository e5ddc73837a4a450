//go:build linux

package guard

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// fullSocket returns the address of a Unix socket whose queue takes no further connection.
func fullSocket(t *testing.T) []byte {
	t.Helper()
	name := filepath.Join(t.TempDir(), "s")
	listener := newSocket(t, 0)
	addr := append([]byte{unix.AF_UNIX, 0}, append([]byte(name), 0)...)
	must(t, unix.Bind(listener, &unix.SockaddrUnix{Name: name}))
	must(t, unix.Listen(listener, 1))
	for {
		err := rawConnect(newSocket(t, unix.SOCK_NONBLOCK), addr)
		if errors.Is(err, unix.EAGAIN) {
			return addr
		}
		must(t, err)
	}
}

// fullPort returns the address of a TCP port whose queue takes no further connection.
func fullPort(t *testing.T) []byte {
	t.Helper()
	listener := newPort(t, 0)
	must(t, unix.Bind(listener, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	must(t, unix.Listen(listener, 0))
	name, err := unix.Getsockname(listener)
	must(t, err)
	addr := inet(name.(*unix.SockaddrInet4).Port)
	must(t, rawConnect(newPort(t, 0), addr))
	for range 2 {
		if err := rawConnect(newPort(t, unix.SOCK_NONBLOCK), addr); err != nil && !errors.Is(err, unix.EINPROGRESS) {
			t.Fatal(err)
		}
	}
	return addr
}

func newSocket(t *testing.T, flags int) int {
	t.Helper()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|flags, 0)
	must(t, err)
	t.Cleanup(func() { _ = unix.Close(fd) })
	return fd
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func Test_Connects_That_Wait_Take_No_Threads(t *testing.T) {
	addr := fullSocket(t)
	const many = 300
	var s sockets
	var calls sync.WaitGroup
	errs := make(chan error, many)
	for range many {
		sock := newSocket(t, 0)
		calls.Go(func() { errs <- s.connect(sock, addr, func() bool { return true }) })
	}
	for s.pending() < many/2 { // each connect pauses between two attempts most of the time
		runtime.Gosched()
	}
	tasks, err := os.ReadDir("/proc/self/task")
	must(t, err)
	if len(tasks) > many/3 {
		t.Errorf("this process has %d threads for %d connects that wait", len(tasks), many)
	}
	s.abort()
	calls.Wait()
	for range many {
		if err := <-errs; !errors.Is(err, errAborted) {
			t.Fatalf("a connect ended with %v", err)
		}
	}
}

func Test_A_TCP_Connect_That_Waits_Ends_With_The_Guard(t *testing.T) {
	t.Parallel()
	addr := fullPort(t)
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	must(t, err)
	defer unix.Close(fd)
	var s sockets
	came := make(chan error, 1)
	go func() { came <- s.connect(fd, addr, func() bool { return true }) }()
	for s.pending() == 0 {
		runtime.Gosched()
	}
	s.abort()
	if err := <-came; !errors.Is(err, errAborted) {
		t.Errorf("got %v", err)
	}
	if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err != nil || flags&unix.O_NONBLOCK != 0 {
		t.Errorf("the target's flags are %#x, %v", flags, err)
	}
}

func Test_A_Connect_Ends_With_Its_Target(t *testing.T) {
	t.Parallel()
	var s sockets
	asked := 0
	err := s.connect(newSocket(t, 0), fullSocket(t), func() bool { asked++; return asked < 3 })
	if !errors.Is(err, errAborted) || asked != 3 {
		t.Errorf("got %v after %d questions", err, asked)
	}
}

func Test_A_Connect_Returns_What_The_Kernel_Says(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	must(t, err)
	port := listener.Addr().(*net.TCPAddr).Port
	var s sockets
	for _, flags := range []int{0, unix.SOCK_NONBLOCK} {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|flags, 0)
		must(t, err)
		err = s.connect(fd, inet(port), func() bool { return true })
		if flags == 0 && err != nil || err != nil && !errors.Is(err, unix.EINPROGRESS) {
			t.Errorf("flags %#x: %v", flags, err)
		}
		if got, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err != nil || got&unix.O_NONBLOCK != flags {
			t.Errorf("flags are %#x, %v; want %#x", got, err, flags)
		}
		must(t, unix.Close(fd))
	}
	must(t, listener.Close())
	// The port is bound and does not listen: no other process can get it, and no socket connects to itself there.
	bound, fd := newPort(t, 0), newPort(t, 0)
	must(t, unix.Bind(bound, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	name, err := unix.Getsockname(bound)
	must(t, err)
	if err := s.connect(fd, inet(name.(*unix.SockaddrInet4).Port), func() bool { return true }); !errors.Is(err, unix.ECONNREFUSED) {
		t.Errorf("a closed port: %v", err)
	}
	if err := s.connect(newSocket(t, unix.SOCK_NONBLOCK), fullSocket(t), nil); !errors.Is(err, unix.EAGAIN) {
		t.Errorf("a full queue and a non-blocking socket: %v", err)
	}
	limited := newSocket(t, 0)
	tv := unix.NsecToTimeval(1)
	tv.Usec = 1
	must(t, unix.SetsockoptTimeval(limited, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &tv))
	if err := s.connect(limited, fullSocket(t), func() bool { return true }); !errors.Is(err, unix.EAGAIN) {
		t.Errorf("a full queue and a time limit: %v", err)
	}
}

// newPort returns a TCP socket.
func newPort(t *testing.T, flags int) int {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|flags, 0)
	must(t, err)
	t.Cleanup(func() { _ = unix.Close(fd) })
	return fd
}

// inet is struct sockaddr_in of a port of 127.0.0.1.
func inet(port int) []byte {
	return []byte{unix.AF_INET, 0, byte(port >> 8), byte(port), 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}
}
