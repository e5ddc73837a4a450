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

// Names through which clients reach the first process of a pod.
const (
	// entranceSocket is the socket to which a join passes its standard streams. Its name is abstract and belongs to the
	// pod's network, so that other containers of the pod can connect to it and no process can remove it.
	entranceSocket = "@agent-sandbox-door"
	// ReadyPipe is the named pipe on which a join waits until the first process accepts connections.
	ReadyPipe = "/tmp/.agent-sandbox-ready"
)

// entrance is the socket at which the streams of clients arrive.
type entrance struct {
	socket *net.UnixListener
	ready  *os.File
	joined atomic.Bool // a client has joined
	alive  *os.File    // nil: no other container waits for the end of this process
}

// openEntrance creates the socket and the pipes, and wakes the processes that wait for them.
func openEntrance() (*entrance, error) {
	d := &entrance{}
	var err error
	if d.socket, err = net.ListenUnix("unix", &net.UnixAddr{Name: entranceSocket, Net: "unix"}); err != nil {
		return nil, err
	}
	if d.ready, err = NamedPipe(ReadyPipe, unix.O_RDONLY); err != nil {
		return nil, err
	}
	d.alive, err = NamedPipe(AliveRoot+AlivePipe, unix.O_RDWR) // this open does not block
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return d, err
}

// NamedPipe creates a named pipe unless it exists, and opens it.
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

// taking is a function that serves a client's stream.
type taking func(stream io.ReadWriteCloser) error

// admit accepts clients until the process ends.
func (d *entrance) admit(take taking) {
	for {
		conn, err := d.socket.AcceptUnix()
		if err != nil {
			return
		}
		go d.receive(conn, take)
	}
}

// receive receives the streams of a join, which waits until they are closed.
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
	_ = take(&joined{s, conn}) // the client notices the closed connection
}

// isOutside reports whether the client is in another container: a process of this container has a PID here (SO_PEERCRED
// in unix(7), pid_namespaces(7)). Only the first client is in this container, before any command runs. Commands must
// not join, because they could keep the sandbox running.
func isOutside(conn *net.UnixConn) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	var who *unix.Ucred
	cerr := raw.Control(func(fd uintptr) { who, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	return cerr == nil && err == nil && who.Pid == 0
}

// joined is the standard streams of a join, and the connection over which it has passed them.
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
		return process.Stdio{}, errors.Join(err, errors.New("the client passed no streams"))
	}
	return process.Stdio{In: os.NewFile(uintptr(fds[0]), "stdin"), Out: os.NewFile(uintptr(fds[1]), "stdout")}, nil
}
