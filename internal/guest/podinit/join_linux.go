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

// Join hands its standard streams to the first process of a pod, and stays until that has closed them. It compares itself
// first with the size and the sum of what was sent. The first that joins, in the container of the first process, waits for that;
// with --wake it tells a shell that waits there to become the guest.
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
	// No process inside may trace it: it is less restricted than commands.
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
	if err != nil {
		return p.Fail(process.ExitRefused, err.Error())
	}
	_, _ = io.Copy(io.Discard, conn) // until it is closed
	return 0
}

// awaitEntrance returns when the first process has opened its door.
func awaitEntrance() (*net.UnixConn, error) {
	for {
		conn, err := dialEntrance()
		if !errors.Is(err, unix.ECONNREFUSED) {
			return conn, err
		}
		made := unix.Mkfifo(ReadyPipe, 0o600)
		if conn, err = dialEntrance(); err == nil { // it has opened it meanwhile, and may have removed the pipe
			if made == nil {
				_ = os.Remove(ReadyPipe)
			}
			return conn, nil
		}
		// It has not yet; the next open returns when it does.
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

// Attend is the first process of the container from which a pod is joined later, where an image brings the guest: it ends when the
// pod's supervisor does.
func Attend(p process.Process, args []string) int {
	if len(args) != 0 {
		return p.Usage()
	}
	signal.Ignore(syscall.SIGCHLD) // the kernel reaps what is left to it
	if err := outlive(AliveRoot + AlivePipe); err != nil {
		return p.Fail(process.ExitRefused, err.Error())
	}
	return 0
}

// outlive returns when who has the other end of a named pipe has opened it, and ended.
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

// Install copies this program to where pods have it, from an image that has it.
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
