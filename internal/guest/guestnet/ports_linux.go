package guestnet

import (
	"encoding/binary"
	"errors"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/guest/process"
)

// leavePorts starts the process that connects to published ports. It is a child of this process's
// parent, the sandbox's first process, because a command that waits for all of its children would wait
// for this one too. leavePorts returns when the command can no longer trace that process.
func leavePorts(host int) error {
	var ready [2]int
	if err := unix.Pipe2(ready[:], unix.O_CLOEXEC); err != nil {
		return err
	}
	defer unix.Close(ready[0])
	_, err := syscall.ForkExec(process.SelfExe, []string{layout.Program, "ports"}, &syscall.ProcAttr{
		Dir:   "/",
		Env:   portsEnv(),
		Files: []uintptr{uintptr(host), uintptr(ready[1])},
		// In its own session it receives neither the terminal's signals nor signals to the job.
		Sys: &syscall.SysProcAttr{Setsid: true, Cloneflags: unix.CLONE_PARENT},
	})
	_ = unix.Close(ready[1]) // so that the read below ends with the process
	if err != nil {
		return err
	}
	var told [1]byte
	if n, err := readOnce(ready[0], told[:]); err != nil || n != len(told) {
		return errors.Join(errors.New("the process for them ended before it began"), err)
	}
	return nil
}

// readOnce reads once and repeats a read that a signal interrupted.
func readOnce(fd int, data []byte) (int, error) {
	for {
		n, err := unix.Read(fd, data)
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// portsEnv limits Go's runtime: threads count against a limit, and the runtime would keep files of the
// cgroup open.
func portsEnv() []string { return []string{"GOMAXPROCS=1", "GODEBUG=containermaxprocs=0"} }

// ServePorts answers the host's requests on standard input until the host closes its end. It writes to standard
// output once, when no process inside can trace it any more.
func ServePorts(p process.Process) int {
	host := int(os.Stdin.Fd())
	if !isPacketSocket(host) {
		return p.Usage()
	}
	// The command has the same user and must not be able to trace this process.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return p.Fail(ExitNetwork, "ports: "+err.Error())
	}
	if err := closeInherited(); err != nil {
		return p.Fail(ExitNetwork, "ports: "+err.Error())
	}
	signal.Ignore(jobSignals...)
	if _, err := os.Stdout.Write([]byte{confirmed}); err != nil {
		return p.Fail(ExitNetwork, "ports: "+err.Error())
	}
	_ = os.Stdout.Close()
	for {
		var port [2]byte
		n, fds, err := receiveDescriptors(host, port[:], 0)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil, n != len(port), len(fds) != 1:
			return 0 // the host is gone; it sends nothing else
		}
		go answerPort(fds[0], binary.BigEndian.Uint16(port[:]))
	}
}

// jobSignals are the signals that a terminal, a shell or a command that ends all processes of its user sends. This
// process ignores them and ends with the sandbox.
var jobSignals = []os.Signal{
	unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU,
	unix.SIGPIPE, unix.SIGALRM, unix.SIGUSR1, unix.SIGUSR2,
}

// closeInherited closes the inherited descriptors other than the standard streams.
// It recognizes the Go runtime's own descriptors by their close-on-exec flag.
func closeInherited() error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= 2 {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	}
	return nil
}

// answerPort connects to a port of loopback and sends the connection to the host.
func answerPort(reply int, port uint16) {
	defer unix.Close(reply)
	fd, err := dialLoopback(port)
	var errno unix.Errno
	if err != nil && !errors.As(err, &errno) {
		errno = unix.EIO
	}
	_ = sendDescriptor(reply, binary.BigEndian.AppendUint16(nil, uint16(errno)), fd) // the host may have closed the socket
	if fd >= 0 {
		_ = unix.Close(fd)
	}
}

// dialLoopback connects to a server on 127.0.0.1 or, when there is none, ::1. On an
// error it returns -1.
func dialLoopback(port uint16) (int, error) {
	fd, err := dialTCP(unix.AF_INET, &unix.SockaddrInet4{Port: int(port), Addr: [4]byte{127, 0, 0, 1}})
	if err == nil {
		return fd, nil
	}
	fd, err6 := dialTCP(unix.AF_INET6, &unix.SockaddrInet6{Port: int(port), Addr: [16]byte{15: 1}})
	if err6 == nil {
		return fd, nil
	}
	return -1, err
}

// dialSeconds bounds the wait for a server whose queue is full.
const dialSeconds = 10

func dialTCP(family int, to unix.Sockaddr) (int, error) {
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.IPPROTO_TCP)
	if err != nil {
		return -1, err
	}
	err = unix.Connect(fd, to)
	if errors.Is(err, unix.EINPROGRESS) {
		err = awaitConnect(fd)
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func awaitConnect(fd int) error {
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
	for {
		n, err := unix.Poll(poll, dialSeconds*1000)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return err
		case n == 0:
			return unix.ETIMEDOUT
		}
		failed, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
		if err == nil && failed != 0 {
			err = unix.Errno(failed)
		}
		return err
	}
}
