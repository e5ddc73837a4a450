//go:build linux

package guard

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// bind binds the target's socket on behalf of the target. It uses a copy of the address and of the descriptor, so that
// later changes by the target have no effect. It does so for every socket: if the kernel continued the call for an
// Internet socket, another thread could put a Unix socket at its number.
func (g *Guard) bind(n notification, t target) error {
	sock, err := t.descriptor(int(int32(n.args[0])))
	if err != nil {
		return err
	}
	defer unix.Close(sock)
	domain, err := unix.GetsockoptInt(sock, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return errnoOf(err)
	}
	length := uint32(n.args[2])
	if length > sockaddrMax {
		return unix.EINVAL
	}
	addr := make([]byte, length)
	if got, err := t.read(n.args[1], addr); err != nil || got < len(addr) {
		return unix.EFAULT
	}
	if (domain == unix.AF_INET || domain == unix.AF_INET6) && !g.mayReserve(t, addr) {
		return unix.EACCES
	}
	c, err := t.credentials(&g.statuses)
	if err != nil {
		return err
	}
	path := false
	err = g.callers.run(c, func() error {
		if path = domain == unix.AF_UNIX && familyOf(addr) == unix.AF_UNIX && len(addr) > 2 && addr[2] != 0; path {
			return g.bindPath(n, t, c, sock, addr)
		}
		if !g.listener.valid(n.id) {
			return unix.ESRCH // the call was canceled, or the memory belonged to another process
		}
		return markPerformed(rawBind(sock, addr)) // creates no file
	})
	if path && errors.Is(err, errPerformed) {
		g.callers.restore() // the commands may not ask what made asks
		g.made.add(sock)
	}
	return err
}

// bindPath creates the file of a socket, with the credentials c of the target.
func (g *Guard) bindPath(n notification, t target, c credentials, sock int, addr []byte) error {
	if len(addr) > 2+sunPathMax {
		return unix.EINVAL
	}
	path := string(addr[2:])
	if end := bytes.IndexByte(addr[2:], 0); end >= 0 { // without a NUL the kernel takes what the length says (unix(7))
		path = path[:end]
	}
	e, err := t.entry(unix.AT_FDCWD, path)
	if err != nil {
		return err
	}
	defer e.close()
	g.observeEntry(opBind, 0, e)
	unlock, err := g.lockPart(opBind, e)
	if err != nil {
		return err
	}
	defer unlock()
	e.look()
	if err := g.decideEntry(opBind, e); err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Fstat(sock, &st); err != nil {
		return errnoOf(err)
	}
	if !g.listener.valid(n.id) {
		return unix.ESRCH
	}
	modes := st.Mode & 0o777 // the file gets those of the socket
	return markPerformed(g.masked(c, modes, e, func(mode uint32) error {
		if mode != modes {
			if err := unix.Fchmod(sock, mode); err != nil {
				return err
			}
			defer func() { _ = unix.Fchmod(sock, modes) }() // it could be set before
		}
		return g.bound.bind(sock, path, e, g.ownFS)
	}))
}

// sunPathMax is the size of sun_path in struct sockaddr_un (unix(7)).
const sunPathMax = 108

// mayReserve reports whether the capabilities of the target allow it to bind an Internet socket to an address. The
// kernel would check this process, which may own the target's user namespace and then has all capabilities over its
// network namespace.
func (g *Guard) mayReserve(t target, addr []byte) bool {
	const reserved = 1024 // lower ports are reserved (ip(7)); a network namespace of the sandbox starts with this limit
	if g.o.Rules.Inside || g.o.Rules.Abstract {
		return true // this process has no more capabilities over the network than the target
	}
	const port = 2 // both families have it here, and bind(2) takes AF_UNSPEC for AF_INET
	if len(addr) < port+2 {
		return true // the kernel refuses it
	}
	number := binary.BigEndian.Uint16(addr[port:])
	return number == 0 || number >= reserved || t.has(unix.CAP_NET_BIND_SERVICE)
}

// boundNames are the paths of bound sockets as the targets have given them. The kernel stores the path that bind(2)
// receives, and this process cannot pass the target's path: the target has another root, and directories on the path
// can change. Only Serve uses it.
type boundNames struct {
	names []boundName
	next  int // the next name to replace
}

// boundName is the path that a target has given, and the path that the kernel has stored instead.
type boundName struct{ given, made string }

// maxBound bounds the names, because commands can create any number. When the oldest name was replaced, getsockname(2)
// of its socket returns the path that the kernel has stored.
const maxBound = 4096

// bind binds sock to e, for which the target has given a path. It creates the file in the directory of e and nowhere
// else.
func (s *boundNames) bind(sock int, given string, e entry, ownFS bool) error {
	at := ownDescriptor(e.dir) + "/"
	if ownFS {
		if err := unix.Fchdir(e.dir); err != nil {
			return err
		}
		defer func() { _ = unix.Chdir("/") }() // where the thread always is
		at = "./"
	}
	made := at + s.mark() + e.component()
	if len(made) > sunPathMax || ownFS && given == e.component() {
		made = strings.TrimPrefix(at, "./") + e.component()
	}
	if len(made) > sunPathMax {
		return unix.ENAMETOOLONG
	}
	err := rawBind(sock, append([]byte{unix.AF_UNIX, 0}, made...))
	if err == nil && given != made {
		s.remember(boundName{given, made})
	}
	return err
}

// mark returns a path without meaning that differs from those of the other names: the bits of a number, lowest first.
func (s *boundNames) mark() string {
	var b strings.Builder
	for bits := s.next + 1; bits > 0; bits >>= 1 {
		if bits&1 != 0 {
			b.WriteByte('.')
		}
		b.WriteByte('/')
	}
	return b.String()
}

func (s *boundNames) remember(n boundName) {
	if s.next == len(s.names) {
		s.names = append(s.names, n)
	} else {
		s.names[s.next] = n
	}
	s.next = (s.next + 1) % maxBound
}

// given returns the path that a target has given for the path that the kernel has stored.
func (s *boundNames) given(made string) (string, bool) {
	for _, n := range s.names {
		if n.made == made {
			return n.given, true
		}
	}
	return "", false
}

// name answers getsockname(2) or getpeername(2) if the kernel has stored another path of the socket than the target has
// given. It returns errUntouched if the kernel's answer is correct; the kernel then continues the call.
func (g *Guard) name(n notification, t target, of func(sock int) (unix.Sockaddr, error)) error {
	if len(g.bound.names) == 0 {
		return errUntouched
	}
	sock, err := t.descriptor(int(int32(n.args[0])))
	if err != nil {
		return errUntouched
	}
	defer unix.Close(sock)
	a, err := of(sock)
	if err != nil {
		return errUntouched
	}
	path, ok := a.(*unix.SockaddrUnix)
	if !ok {
		return errUntouched
	}
	given, ok := g.bound.given(path.Name)
	if !ok {
		return errUntouched
	}
	// The descriptor refers to the memory of one process, even if another process gets its PID.
	memory, err := unix.Open("/proc/"+strconv.Itoa(t.tid)+"/mem", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return errUntouched
	}
	defer unix.Close(memory)
	if !g.listener.valid(n.id) {
		return unix.ESRCH
	}
	return markPerformed(writeName(memory, n.args[1], n.args[2], given))
}

// writeName writes the address of a Unix socket and its size to memory as getsockname(2) does.
func writeName(memory int, at, sizeAt uint64, path string) error {
	size := make([]byte, 4)
	if got, err := unix.Pread(memory, size, int64(sizeAt)); err != nil || got < len(size) {
		return unix.EFAULT
	}
	room := int32(binary.NativeEndian.Uint32(size))
	if room < 0 {
		return unix.EINVAL
	}
	addr := append(append([]byte{unix.AF_UNIX, 0}, path...), 0)
	binary.NativeEndian.PutUint32(size, uint32(len(addr)))
	addr = addr[:min(len(addr), int(room))]
	if got, err := unix.Pwrite(memory, addr, int64(at)); len(addr) > 0 && (err != nil || got < len(addr)) {
		return unix.EFAULT
	}
	if got, err := unix.Pwrite(memory, size, int64(sizeAt)); err != nil || got < len(size) {
		return unix.EFAULT
	}
	return nil
}

// rawBind is bind(2) with the bytes as they are.
func rawBind(sock int, addr []byte) error {
	_, _, errno := unix.Syscall(unix.SYS_BIND, uintptr(sock), uintptr(unsafe.Pointer(unsafe.SliceData(addr))), uintptr(len(addr)))
	if errno != 0 {
		return errno
	}
	return nil
}
