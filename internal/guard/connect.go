//go:build linux

package guard

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sockaddrMax is the size of struct sockaddr_storage.
const sockaddrMax = 128

// connect makes a connection on the target's behalf. It uses a copy of the address and of the
// descriptor, so that later changes by the target have no effect. A read-only mount does not stop
// connect(2) (unix(7)).
func (g *Guard) connect(n notification, t target) {
	err := g.connectFor(n, t)
	if !g.listener.valid(n.id) {
		return
	}
	var errno unix.Errno
	switch {
	case err == nil:
		g.listener.finish(n.id)
	case errors.As(err, &errno):
		g.listener.refuse(n.id, errno)
	default:
		g.listener.refuse(n.id, unix.EACCES)
	}
}

func (g *Guard) connectFor(n notification, t target) error {
	length := n.args[2]
	if int32(length) < 0 || uint32(length) > sockaddrMax {
		return unix.EINVAL
	}
	addr := make([]byte, uint32(length))
	if got, err := t.read(n.args[1], addr); err != nil || got < len(addr) {
		return unix.EFAULT
	}
	sock, err := t.descriptor(int(int32(n.args[0])))
	if err != nil {
		return err
	}
	defer unix.Close(sock)
	wanted := func() bool { return g.listener.valid(n.id) }
	domain, err := unix.GetsockoptInt(sock, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return errnoOf(err)
	}
	if to, ok := g.redirected(sock, domain, addr); ok {
		return g.redirect(sock, domain, to, wanted)
	}
	if domain != unix.AF_UNIX || len(addr) < 2 || leFamily(addr) != unix.AF_UNIX {
		err := g.sockets.connect(sock, addr, wanted)
		if errors.Is(err, unix.ENETUNREACH) || errors.Is(err, unix.EHOSTUNREACH) {
			g.observeAddress(addr)
		}
		return err
	}
	return g.connectUnix(sock, addr, t, wanted)
}

// connectUnix connects to a Unix socket if the socket is the sandbox's own or a rule allows it.
func (g *Guard) connectUnix(sock int, addr []byte, t target, wanted func() bool) error {
	name := addr[2:]
	if len(name) == 0 || name[0] == 0 {
		return g.connectAbstract(sock, addr, wanted)
	}
	if i := bytes.IndexByte(name, 0); i >= 0 {
		name = name[:i]
	}
	e, err := t.entry(unix.AT_FDCWD, string(name))
	if err != nil {
		return err
	}
	defer func() { e.close() }()
	if e, err = t.followLast(e); err != nil {
		return err
	}
	if e.name == "" {
		return unix.ECONNREFUSED
	}
	fd, err := unix.Openat(e.dir, e.name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return errnoOf(err)
	}
	defer unix.Close(fd)
	if path := e.String(); !g.made.has(fd) && (!g.rules.sockets[path] && !g.rules.ownSocket(path) || !g.view.has(fd, path) && !g.view.permits(fd, path)) {
		return g.deny(opConnect, path, unix.EACCES)
	}
	// The path leads through the descriptor, so that the kernel connects to the checked socket.
	path := "/proc/self/fd/" + strconv.Itoa(fd)
	return g.sockets.connect(sock, append(append(slices.Clone(addr[:2]), path...), 0), wanted)
}

// connectAbstract handles abstract names. They belong to a network namespace: the sandbox's own
// one has no sockets of the host, so all names are allowed there.
func (g *Guard) connectAbstract(sock int, addr []byte, wanted func() bool) error {
	if len(addr) > 2 {
		if command, what, ok := parseDenied(string(addr[3:])); ok {
			g.o.Refused(Refusal{Kind: RefusedCommand, Op: "run", Target: what, Command: command})
		}
	}
	if g.o.Rules.Abstract && len(addr) > 2 {
		name := "@" + string(addr[3:])
		if !g.rules.sockets[name] {
			return g.deny(opConnect, name, unix.EACCES)
		}
	}
	return g.sockets.connect(sock, addr, wanted)
}

// descriptor returns a copy of the target's descriptor (pidfd_getfd(2)).
func (t target) descriptor(fd int) (int, error) {
	pidfd, err := t.pidfd(0)
	if err != nil {
		return -1, errnoOf(err)
	}
	defer unix.Close(pidfd)
	got, err := unix.PidfdGetfd(pidfd, fd, 0)
	return got, errnoOf(err)
}

// pidfd opens the target, or before Linux 6.9 its whole process.
func (t target) pidfd(flags int) (int, error) {
	pidfd, err := unix.PidfdOpen(t.tid, flags|unix.PIDFD_THREAD)
	if errors.Is(err, unix.EINVAL) {
		var tgid int
		if tgid, err = t.process(); err == nil {
			pidfd, err = unix.PidfdOpen(tgid, flags)
		}
	}
	return pidfd, err
}

// process returns the PID of the thread's process.
func (t target) process() (int, error) {
	text, err := t.status("Tgid")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(text)
}

// has reports whether a capability of the thread is effective in its user namespace.
func (t target) has(capability int) bool {
	text, err := t.status("CapEff")
	if err != nil {
		return false
	}
	all, err := strconv.ParseUint(text, 16, 64)
	return err == nil && all>>capability&1 != 0
}

// status returns one value of the thread's status file (proc_pid_status(5)).
func (t target) status(name string) (string, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", t.tid))
	if err != nil {
		return "", unix.ESRCH
	}
	for line := range bytes.Lines(data) {
		if rest, ok := bytes.CutPrefix(line, []byte(name+":")); ok {
			return string(bytes.TrimSpace(rest)), nil
		}
	}
	return "", unix.ESRCH
}

// rawConnect is connect(2) with the bytes as they are.
func rawConnect(sock int, addr []byte) error {
	var p unsafe.Pointer
	if len(addr) > 0 {
		p = unsafe.Pointer(&addr[0])
	}
	_, _, errno := unix.Syscall(unix.SYS_CONNECT, uintptr(sock), uintptr(p), uintptr(len(addr)))
	if errno != 0 {
		return errno
	}
	return nil
}

func leFamily(addr []byte) int { return int(uint16(addr[0]) | uint16(addr[1])<<8) }
