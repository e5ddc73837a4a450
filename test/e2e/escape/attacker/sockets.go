//go:build linux

package attacker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/test/e2e/escape/testnet"
)

// SocketTypes has the socket type of each kind of connection attempt.
var SocketTypes = map[string]int{
	"stream": unix.SOCK_STREAM, "seqpacket": unix.SOCK_SEQPACKET, "dgram": unix.SOCK_DGRAM,
	"sendto": unix.SOCK_DGRAM, "sendmsg": unix.SOCK_DGRAM, "sendmmsg": unix.SOCK_DGRAM,
}

// attackConnect connects to pairs of a type and an address. Abstract addresses begin with @.
func attackConnect(args []string) {
	for i := 0; i+1 < len(args); i += 2 {
		kind, addr := args[i], args[i+1]
		var err error
		switch kind {
		case "tcp", "udp":
			err = dial(kind, addr)
		case "nearby":
			err = nearby(addr)
		default:
			err = connectUnix(kind, addr)
		}
		report(kind+" "+addr, err)
	}
}

func dial(kind, addr string) error {
	c, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(context.Background(), kind, addr)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Write([]byte("attack\n"))
	return err
}

// sendFromPair sends from one end of a pair of datagram sockets to another socket.
func sendFromPair(addr string) error {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("socketpair: %w", err)
	}
	defer unix.Close(ends[0])
	defer unix.Close(ends[1])
	if err := unix.Sendto(ends[0], []byte("attack\n"), 0, &unix.SockaddrUnix{Name: addr}); err != nil {
		return err
	}
	if n, _, err := unix.Recvfrom(ends[1], make([]byte, 100), unix.MSG_DONTWAIT); err == nil && n > 0 {
		return errors.New("it went to the other end of the pair")
	}
	return nil
}

func connectUnix(kind, addr string) error {
	if kind == "pair" {
		return sendFromPair(addr)
	}
	fd, err := unix.Socket(unix.AF_UNIX, SocketTypes[kind]|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	defer unix.Close(fd)
	sa := &unix.SockaddrUnix{Name: addr}
	msg := []byte("attack\n")
	switch kind {
	case "sendto":
		return unix.Sendto(fd, msg, 0, sa)
	case "sendmsg":
		return unix.Sendmsg(fd, msg, nil, sa, 0)
	case "sendmmsg":
		return sendmmsg(fd, addr, msg)
	}
	if err := unix.Connect(fd, sa); err != nil {
		return err
	}
	_, err = unix.Write(fd, msg)
	return err
}

// nearby connects by a short relative name, from the directory of the socket.
func nearby(addr string) error {
	wd, err := os.Getwd()
	if err != nil {
		return err
	}
	defer os.Chdir(wd) //nolint:errcheck // the next attempt has an absolute path
	if err := os.Chdir(filepath.Dir(addr)); err != nil {
		return err
	}
	return connectUnix("stream", filepath.Base(addr))
}

func sendmmsg(fd int, addr string, msg []byte) error {
	raw := unix.RawSockaddrUnix{Family: unix.AF_UNIX}
	for i := range len(addr) {
		raw.Path[i] = int8(addr[i])
	}
	n := len(addr) + 3
	if strings.HasPrefix(addr, "@") {
		raw.Path[0], n = 0, len(addr)+2
	}
	iov := unix.Iovec{Base: &msg[0], Len: uint64(len(msg))}
	type mmsghdr struct {
		hdr unix.Msghdr
		n   uint32
		_   uint32
	}
	m := mmsghdr{hdr: unix.Msghdr{Name: (*byte)(unsafe.Pointer(&raw)), Namelen: uint32(n), Iov: &iov, Iovlen: 1}}
	_, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, uintptr(fd), uintptr(unsafe.Pointer(&m)), 1, 0, 0, 0)
	return errnoError(errno)
}

// attackDescriptor takes a directory descriptor from a host service and reads a
// file below it.
func attackDescriptor(args []string) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.Connect(fd, &unix.SockaddrUnix{Name: args[0]})
	}
	if err != nil {
		report("take a descriptor", err)
		return
	}
	oob := make([]byte, 64)
	_, n, _, _, err := unix.Recvmsg(fd, make([]byte, 8), oob, 0)
	if err != nil {
		report("take a descriptor", err)
		return
	}
	msgs, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(msgs) == 0 {
		report("take a descriptor", errors.Join(err, errors.New("no message")))
		return
	}
	fds, err := unix.ParseUnixRights(&msgs[0])
	if err == nil {
		var below int
		below, err = unix.Openat(fds[0], args[1], unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err == nil {
			buf := make([]byte, 100)
			k, _ := unix.Read(below, buf)
			fmt.Printf("%s\n", buf[:k])
		}
	}
	report("read "+args[1]+" through a descriptor", err)
}

// attackFlip connects while another thread changes the address between one that
// is allowed (args[0]) and one that is not (args[1]), of the same length.
func attackFlip(args []string) {
	raw := unix.RawSockaddrUnix{Family: unix.AF_UNIX}
	path := (*[108]byte)(unsafe.Pointer(&raw.Path))
	good, bad := args[0], args[1]
	copy(path[:], good)
	stop := startFlips(path[:], bad, good, 1)
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
		// Non-blocking, so that it does not wait if the host does not accept.
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			break
		}
		_, _, _ = unix.Syscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&raw)), uintptr(3+len(good)))
		_ = unix.Close(fd)
	}
	stop()
}

// attackFamilies opens sockets of families that reach outside a network namespace or into the kernel.
func attackFamilies(args []string) {
	families := map[string][2]int{
		"vsock": {unix.AF_VSOCK, unix.SOCK_STREAM}, "alg": {unix.AF_ALG, unix.SOCK_SEQPACKET},
		"packet": {unix.AF_PACKET, unix.SOCK_RAW}, "raw": {unix.AF_INET, unix.SOCK_RAW},
		"xdp": {unix.AF_XDP, unix.SOCK_RAW}, "key": {unix.AF_KEY, unix.SOCK_RAW},
		"bluetooth": {unix.AF_BLUETOOTH, unix.SOCK_RAW}, "can": {unix.AF_CAN, unix.SOCK_RAW},
		"tipc": {unix.AF_TIPC, unix.SOCK_SEQPACKET}, "rds": {unix.AF_RDS, unix.SOCK_SEQPACKET},
		"smc": {unix.AF_SMC, unix.SOCK_STREAM}, "nfc": {unix.AF_NFC, unix.SOCK_SEQPACKET},
	}
	for _, name := range args {
		f := families[name]
		protocol := 0
		if name == "raw" {
			protocol = unix.IPPROTO_ICMP
		}
		for _, high := range []uintptr{0, 1 << 32} {
			fd, _, errno := unix.Syscall(unix.SYS_SOCKET, uintptr(f[0])|high, uintptr(f[1]|unix.SOCK_CLOEXEC), uintptr(protocol))
			if report(fmt.Sprintf("a socket of family %s (high bits %v)", name, high != 0), errnoError(errno)) {
				_ = unix.Close(int(fd))
			}
		}
		fds, err := unix.Socketpair(f[0], f[1]|unix.SOCK_CLOEXEC, 0)
		if report("a pair of sockets of family "+name, err) {
			_, _ = unix.Close(fds[0]), unix.Close(fds[1])
		}
	}
}

func attackInterfaces([]string) {
	all, err := net.Interfaces()
	if err != nil {
		report("list interfaces", err)
		return
	}
	for _, i := range all {
		if i.Name != "lo" {
			report("interface "+i.Name, nil)
		}
	}
}

// attackJoin passes streams to a guest's socket, as a client does, and succeeds if the guest answers.
func attackJoin(args []string) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: args[0], Net: "unix"})
	if err != nil {
		fmt.Println("BROKEN cannot connect:", err)
		return
	}
	defer conn.Close()
	in, _, err := os.Pipe()
	if err != nil {
		report("pipe", err)
		return
	}
	answer, out, err := os.Pipe()
	if err == nil {
		_, _, err = conn.WriteMsgUnix([]byte{0}, unix.UnixRights(int(in.Fd()), int(out.Fd())), nil)
	}
	if err != nil {
		report("hand over streams", err)
		return
	}
	_ = out.Close()
	_ = answer.SetReadDeadline(time.Now().Add(testnet.DialTimeout))
	line, err := bufio.NewReader(answer).ReadString('\n')
	report(fmt.Sprintf("the guest says %q", line), err)
}
