package persist

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// isSameUser reports whether the other end is a process of this process's user, or of
// root.
func isSameUser(conn *net.UnixConn) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	var cred *unix.Ucred
	_ = raw.Control(func(fd uintptr) { cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	return err == nil && cred != nil && (int(cred.Uid) == os.Getuid() || cred.Uid == 0)
}
