package guestnet

import (
	"bufio"
	"errors"
	"io"
	"net/netip"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/guest/process"
)

// connectBuffer is the memory of each direction of a tunnel.
const connectBuffer = 256 << 10

// Connect opens a tunnel to HOST PORT through the sandbox's proxy and connects it with the
// standard streams, as ssh_config(5) requires of a ProxyCommand. It ends when both directions
// have ended.
func Connect(p process.Process, args []string) int {
	if len(args) != 2 {
		return p.Usage()
	}
	target, err := connectTarget(args[0], args[1])
	if err != nil {
		return p.Fail(process.ExitUsage, "connect: "+err.Error())
	}
	addr, auth, err := connectProxy(p.Env)
	if err != nil {
		return p.Fail(process.ExitRefused, "connect: "+err.Error())
	}
	fd, err := dialProxy(addr)
	if err != nil {
		return p.Fail(process.ExitRefused, "connect: the proxy at "+addr.String()+": "+err.Error())
	}
	sock := os.NewFile(uintptr(fd), "proxy")
	if _, err = sock.Write(connectRequest(target, auth)); err != nil {
		return p.Fail(process.ExitRefused, "connect: the proxy: "+err.Error())
	}
	br := bufio.NewReader(sock)
	if err := connectAnswer(br); err != nil {
		if r, ok := errors.AsType[*proxyRefusal](err); ok {
			_, _ = os.Stderr.WriteString("agent-sandbox: " + target + ": " + r.Error() + "\n") // an error has no consequence
			return process.ExitRefused
		}
		return p.Fail(process.ExitRefused, "connect: "+err.Error())
	}
	if err := tunnel(fd, sock, br); err != nil {
		return p.Fail(process.ExitRefused, "connect: "+err.Error())
	}
	return 0
}

// tunnel copies in both directions. It passes on the end of each direction separately, and
// returns when no more bytes can arrive from the proxy.
func tunnel(fd int, sock *os.File, br *bufio.Reader) error {
	var up sync.WaitGroup
	up.Go(func() {
		_ = copyPlain(sock, os.Stdin)       // a server that reads no more may still answer
		_ = unix.Shutdown(fd, unix.SHUT_WR) // the other end may have closed
	})
	// The bytes read together with the answer are the beginning of the server's stream.
	if ahead, err := br.Peek(br.Buffered()); err == nil {
		if _, err := os.Stdout.Write(ahead); err != nil {
			return err
		}
	}
	if err := copyPlain(os.Stdout, sock); err != nil {
		return err
	}
	if err := os.Stdout.Close(); err != nil {
		return err
	}
	up.Wait()
	return nil
}

// copyPlain copies without the optimizations of package os, which are for other kinds of files.
func copyPlain(dst io.Writer, src io.Reader) error {
	_, err := io.CopyBuffer(struct{ io.Writer }{dst}, struct{ io.Reader }{src}, make([]byte, connectBuffer))
	return err
}

func dialProxy(addr netip.AddrPort) (int, error) {
	if addr.Addr().Is4() {
		return dialBlocking(unix.AF_INET, &unix.SockaddrInet4{Port: int(addr.Port()), Addr: addr.Addr().As4()})
	}
	return dialBlocking(unix.AF_INET6, &unix.SockaddrInet6{Port: int(addr.Port()), Addr: addr.Addr().As16()})
}

// dialBlocking returns a blocking socket: each direction has its own thread.
func dialBlocking(family int, to unix.Sockaddr) (int, error) {
	fd, err := dialTCP(family, to)
	if err == nil {
		err = unix.SetNonblock(fd, false)
	}
	if err == nil {
		err = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1) // ssh sends single keys
	}
	if err != nil && fd >= 0 {
		_ = unix.Close(fd)
	}
	return fd, err
}
