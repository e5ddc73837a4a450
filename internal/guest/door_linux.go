package guest

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Ways to the first process of a pod.
const (
	// doorSocket is where a join hands over its standard streams. Its name is abstract: it belongs to the pod's network, so
	// that another container of the pod reaches it too, and nobody can take it away.
	doorSocket = "@agent-sandbox-door"
	// ReadyPipe is what a join waits at until the first process is at the door.
	ReadyPipe = "/tmp/.agent-sandbox-ready"
)

// door is where those who join arrive.
type door struct {
	socket *net.UnixListener
	ready  *os.File
	joined atomic.Bool // somebody has
	alive  *os.File    // nil: nobody waits for our end
}

// openDoor makes the ways, and lets those go on who wait.
func openDoor() (*door, error) {
	d := &door{}
	var err error
	if d.socket, err = net.ListenUnix("unix", &net.UnixAddr{Name: doorSocket, Net: "unix"}); err != nil {
		return nil, err
	}
	if d.ready, err = namedPipe(ReadyPipe, unix.O_RDONLY); err != nil {
		return nil, err
	}
	d.alive, err = namedPipe(AliveRoot+AlivePipe, unix.O_RDWR) // which waits for nobody
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return d, err
}

// namedPipe makes a named pipe unless it is there, and opens it.
func namedPipe(name string, mode int) (*os.File, error) {
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
func (d *door) admit(take taking) {
	for {
		conn, err := d.socket.AcceptUnix()
		if err != nil {
			return
		}
		go d.receive(conn, take)
	}
}

// receive takes the streams of a join, which stays until they are closed.
func (d *door) receive(conn *net.UnixConn, take taking) {
	first := d.joined.CompareAndSwap(false, true)
	if first {
		_, _ = d.ready.Close(), os.Remove(ReadyPipe)
	}
	if !first && !outside(conn) {
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

// outside reports whether who connects is in another container: a process of ours has a number here (SO_PEERCRED in unix(7),
// pid_namespaces(7)). The first that joins is in ours, before there is any command; commands may not, lest they look like somebody
// for whom the sandbox has to live on.
func outside(conn *net.UnixConn) bool {
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
	stdio

	process *net.UnixConn
}

func (j *joined) Close() error { return errors.Join(j.stdio.Close(), j.process.Close()) }

// receiveStreams reads two descriptors.
func receiveStreams(conn *net.UnixConn) (stdio, error) {
	var one [1]byte
	oob := make([]byte, unix.CmsgSpace(2*4))
	_, n, _, _, err := conn.ReadMsgUnix(one[:], oob)
	if err != nil {
		return stdio{}, err
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
		return stdio{}, errors.Join(err, errors.New("no streams came"))
	}
	return stdio{os.NewFile(uintptr(fds[0]), "stdin"), os.NewFile(uintptr(fds[1]), "stdout")}, nil
}
