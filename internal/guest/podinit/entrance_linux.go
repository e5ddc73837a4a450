package podinit

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/guest/process"
)

// Ways to the first process of a pod.
const (
	// entranceSocket is where a join hands over its standard streams. Its name is abstract: it belongs to the pod's network, so
	// that another container of the pod reaches it too, and nobody can take it away.
	entranceSocket = "@agent-sandbox-door"
	// ReadyPipe is what a join waits at until the first process is at the door.
	ReadyPipe = "/tmp/.agent-sandbox-ready"
)

// entrance is the socket at which the streams of clients arrive.
type entrance struct {
	socket *net.UnixListener
	ready  *os.File
	joined atomic.Bool // a client has
	alive  *os.File    // nil: no other container waits for our end
}

// openEntrance makes the socket and the pipes, and wakes the processes that wait for it.
func openEntrance() (*entrance, error) {
	d := &entrance{}
	var err error
	if d.socket, err = net.ListenUnix("unix", &net.UnixAddr{Name: entranceSocket, Net: "unix"}); err != nil {
		return nil, err
	}
	if d.ready, err = NamedPipe(ReadyPipe, unix.O_RDONLY); err != nil {
		return nil, err
	}
	d.alive, err = NamedPipe(AliveRoot+AlivePipe, unix.O_RDWR) // which does not block
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return d, err
}

// NamedPipe makes a named pipe unless it is there, and opens it.
func NamedPipe(name string, mode int) (*os.File, error) {
	if err := unix.Mkfifo(name, 0o600); err != nil && !errors.Is(err, unix.EEXIST) {
		return nil, &os.PathError{Op: "mkfifo", Path: name, Err: err}
	}
	fd, err := unix.Open(name, mode|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

// taking goes on with a stream.
type taking func(stream io.ReadWriteCloser) error

// admit takes streams, for good.
func (d *entrance) admit(take taking) {
	for {
		conn, err := d.socket.AcceptUnix()
		if err != nil {
			return
		}
		go d.receive(conn, take)
	}
}

// receive takes the streams of a join, which stays until they are closed.
func (d *entrance) receive(conn *net.UnixConn, take taking) {
	first := d.joined.CompareAndSwap(false, true)
	if first {
		_, _ = d.ready.Close(), os.Remove(ReadyPipe)
	}
	if !first && !isOutside(conn) {
		_ = conn.Close()
		return
	}
	s, err := receiveStreams(conn)
	if err != nil {
		_ = conn.Close()
		return
	}
	_ = take(&joined{s, conn}) // who joins sees its end
}

// isOutside reports whether who connects is in another container: a process of ours has a number here (SO_PEERCRED in unix(7),
// pid_namespaces(7)). The first that joins is in ours, before there is any command; commands may not, because the sandbox would live on for them.
func isOutside(conn *net.UnixConn) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	var who *unix.Ucred
	cerr := raw.Control(func(fd uintptr) { who, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	return cerr == nil && err == nil && who.Pid == 0
}

// joined are the standard streams of a process that waits until they are closed.
type joined struct {
	process.Stdio

	process *net.UnixConn
}

func (j *joined) Close() error { return errors.Join(j.Stdio.Close(), j.process.Close()) }

// receiveStreams reads two descriptors.
func receiveStreams(conn *net.UnixConn) (process.Stdio, error) {
	var one [1]byte
	oob := make([]byte, unix.CmsgSpace(2*4))
	_, n, _, _, err := conn.ReadMsgUnix(one[:], oob)
	if err != nil {
		return process.Stdio{}, err
	}
	var fds []int
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err == nil && len(messages) == 1 {
		fds, err = unix.ParseUnixRights(&messages[0])
	}
	if err == nil && len(fds) == 2 {
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			err = errors.Join(err, unix.SetNonblock(fd, true))
		}
	}
	if err != nil || len(fds) != 2 {
		for _, fd := range fds {
			_ = unix.Close(fd)
		}
		return process.Stdio{}, errors.Join(err, errors.New("no streams came"))
	}
	return process.Stdio{In: os.NewFile(uintptr(fds[0]), "stdin"), Out: os.NewFile(uintptr(fds[1]), "stdout")}, nil
}
