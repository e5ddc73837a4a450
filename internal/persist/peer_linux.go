package persist

import (
	"fmt"
	"net"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// isSameUser reports whether the other end is a process of this process's user, or of
// root.
func isSameUser(conn *net.UnixConn) bool {
	cred, err := peerOf(conn)
	return err == nil && (int(cred.Uid) == os.Getuid() || cred.Uid == 0)
}

// peerPID returns the process that listens or has connected at the other end; 0: unknown.
func peerPID(conn net.Conn) int {
	if c, ok := conn.(*net.UnixConn); ok {
		if cred, err := peerOf(c); err == nil {
			return int(cred.Pid)
		}
	}
	return 0
}

func peerOf(conn *net.UnixConn) (cred *unix.Ucred, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	cerr := raw.Control(func(fd uintptr) { cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if cerr != nil {
		return nil, cerr
	}
	return cred, err
}

// isSuspended reports whether a signal such as SIGSTOP has suspended a process.
func isSuspended(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	// The name of the program, in parentheses, may have any bytes; see proc_pid_stat(5).
	_, rest, _ := strings.Cut(string(data[strings.LastIndexByte(string(data), ')')+1:]), " ")
	return err == nil && strings.HasPrefix(rest, "T")
}
