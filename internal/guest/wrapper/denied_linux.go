package wrapper

import (
	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/guard"
)

// reportDenied reports a refused command to the host: the guard sees the connect(2) and its address. The call itself fails,
// because no socket listens there.
func reportDenied(command, what string) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	_ = unix.Connect(fd, &unix.SockaddrUnix{Name: "@" + guard.DeniedName(command, what)})
}
