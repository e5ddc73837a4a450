package podinit

import (
	"errors"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/guest/process"
)

// Join passes its standard streams to the first process of a pod, and waits until that process has closed them. It
// first compares its own size and hash with the arguments. The first client runs in the container of the first process
// and waits until that process accepts connections. With --wake it signals the shell that waits in that container to
// execute the guest.
//
//	join SIZE SHA256 [--wait|--wake]
func Join(p process.Process, args []string) int {
	wait := ""
	if len(args) == 3 {
		wait = args[2]
	}
	if len(args) < 2 || len(args) > 3 || wait != "" && wait != "--wait" && wait != "--wake" {
		return p.Usage()
	}
	// Deny other processes to trace it, because it is less restricted than commands.
	err := os.NewSyscallError("prctl", unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0))
	if err == nil {
		err = process.VerifySelf(args[0], args[1])
	}
	if err == nil && wait == "--wake" {
		err = os.NewSyscallError("signal the first process", unix.Kill(1, unix.SIGTERM))
	}
	var conn *net.UnixConn
	switch {
	case err != nil:
	case wait == "":
		conn, err = dialEntrance()
	default:
		conn, err = awaitEntrance()
	}
	if err == nil {
		_, _, err = conn.WriteMsgUnix([]byte{0}, unix.UnixRights(0, 1), nil)
	}
	if wait == "" && errors.Is(err, unix.ECONNREFUSED) {
		return p.Fail(ExitUnstarted, err.Error())
	}
	if err != nil {
		return p.Fail(process.ExitRefused, err.Error())
	}
	_, _ = io.Copy(io.Discard, conn) // until it is closed
	return 0
}

// awaitEntrance waits until the first process accepts connections.
func awaitEntrance() (*net.UnixConn, error) {
	for {
		conn, err := dialEntrance()
		if !errors.Is(err, unix.ECONNREFUSED) {
			return conn, err
		}
		made := unix.Mkfifo(ReadyPipe, 0o600)
		if conn, err = dialEntrance(); err == nil { // the first process accepts connections by now, and may have removed the pipe
			if made == nil {
				_ = os.Remove(ReadyPipe)
			}
			return conn, nil
		}
		// The first process does not accept yet; the next open returns when it does.
		fd, err := unix.Open(ReadyPipe, unix.O_WRONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
		switch {
		case err == nil:
			_ = unix.Close(fd)
		case !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.ENOENT):
			return nil, &os.PathError{Op: "open", Path: ReadyPipe, Err: err}
		}
	}
}

func dialEntrance() (*net.UnixConn, error) {
	return net.DialUnix("unix", nil, &net.UnixAddr{Name: entranceSocket, Net: "unix"})
}

// Attend is the first process of the extra container through which later clients join a pod with a guest image. It ends
// with the pod's supervisor.
func Attend(p process.Process, args []string) int {
	if len(args) != 0 {
		return p.Usage()
	}
	signal.Ignore(syscall.SIGCHLD) // the kernel reaps orphans
	if err := outlive(AliveRoot + AlivePipe); err != nil {
		return p.Fail(process.ExitRefused, err.Error())
	}
	return 0
}

// outlive waits until the process at the other end of a named pipe has opened it and ended.
func outlive(name string) error {
	if err := unix.Mkfifo(name, 0o600); err != nil && !errors.Is(err, unix.EEXIST) {
		return &os.PathError{Op: "mkfifo", Path: name, Err: err}
	}
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(io.Discard, f)
	return err
}

// Install copies this program from a guest image to its path in pods.
func Install(p process.Process, args []string) int {
	if len(args) != 0 {
		return p.Usage()
	}
	err := installSelf()
	if err != nil {
		return p.Fail(process.ExitRefused, err.Error())
	}
	return 0
}

func installSelf() error {
	from, err := os.Open(process.SelfExe)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(layout.Program, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Chmod(0o555), to.Close())
}
