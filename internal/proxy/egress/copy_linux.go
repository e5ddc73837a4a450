package egress

import (
	"errors"
	"io"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// spliceFrom is the number of waiting bytes from which splice(2) is used. For fewer, its pipe
// and system calls cost more than copying.
const spliceFrom = 64 << 10

// tcpMover copies large pieces with splice(2), so that the bytes do not enter this process's
// memory. It holds neither a buffer nor a pipe while it waits.
type tcpMover struct {
	dst, src *net.TCPConn
	raw      syscall.RawConn // of src
	arrived  int             // bytes
}

func moverOf(dst, src net.Conn) mover {
	to, ok := dst.(*net.TCPConn)
	from, ok2 := src.(*net.TCPConn)
	if ok && ok2 {
		if raw, err := from.SyscallConn(); err == nil {
			return &tcpMover{dst: to, src: from, raw: raw}
		}
	}
	return &bufferedMover{dst: dst, src: src}
}

func (m *tcpMover) wait() error {
	var failed error
	err := m.raw.Read(func(fd uintptr) bool {
		m.arrived, failed = countReadable(int(fd))
		return !errors.Is(failed, unix.EAGAIN)
	})
	if err != nil {
		return err
	}
	return failed
}

// countReadable returns the number of bytes that can be read, EAGAIN if there are none yet,
// or io.EOF.
func countReadable(fd int) (int, error) {
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	if err != nil || n > 0 {
		return n, err
	}
	// The number is also 0 at the end of the stream and on an error.
	var one [1]byte
	for {
		n, _, err := unix.Recvfrom(fd, one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		switch {
		case errors.Is(err, unix.EINTR):
		case err == nil && n == 0:
			return 0, io.EOF
		default:
			return n, err
		}
	}
}

func (m *tcpMover) move() error {
	if m.arrived >= spliceFrom {
		_, err := io.CopyN(m.dst, m.src, int64(m.arrived))
		return err
	}
	buf := buffers.Get().(*[copyBuffer]byte) //nolint:forcetypeassert // nothing else is put there
	defer buffers.Put(buf)
	n, err := m.src.Read(buf[:])
	if err != nil {
		return err
	}
	_, err = m.dst.Write(buf[:n])
	return err
}
