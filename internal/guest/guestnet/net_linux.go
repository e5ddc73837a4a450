package guestnet

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// proxyBacklog is the number of connections that wait while the proxy is at its limit. The
// kernel lowers it to net.core.somaxconn.
const proxyBacklog = 4096

// Network describes the network that "init" prepares before it executes the command.
type Network struct {
	Net, Ports int // inherited descriptors; -1: none
}

// Prepare prepares the network, and closes the inherited descriptors of the connections. It returns an error
// instead of a partial network, because a command without its network would report misleading errors.
func (n Network) Prepare() error {
	for _, fd := range []int{n.Net, n.Ports} {
		if fd < 0 {
			continue
		}
		// This comes first, so that no child process inherits the descriptor.
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC); err != nil {
			return fmt.Errorf("descriptor %d: %w", fd, err)
		}
		if !isPacketSocket(fd) {
			return fmt.Errorf("descriptor %d is not a connection to the host", fd)
		}
	}
	if n.Ports >= 0 {
		if err := leavePorts(n.Ports); err != nil {
			return fmt.Errorf("published ports: %w", err)
		}
		_ = unix.Close(n.Ports) // the child has its own
	}
	if n.Net < 0 {
		return nil
	}
	defer unix.Close(n.Net)
	return giveListener(n.Net)
}

func isPacketSocket(fd int) bool {
	return hasSocketOption(fd, unix.SO_DOMAIN, unix.AF_UNIX) && hasSocketOption(fd, unix.SO_TYPE, unix.SOCK_SEQPACKET)
}

// hasSocketOption reports whether an option of the level SOL_SOCKET has the value.
func hasSocketOption(fd, option, value int) bool {
	got, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, option)
	return err == nil && got == value
}

// giveListener creates the proxy's listening socket, sends it to the host and waits until the host serves
// it. Afterwards only the host has the socket, so the network ends with the host's process.
func giveListener(host int) error {
	fd, err := listenProxy()
	if err != nil {
		return fmt.Errorf("listen on %s: %w", ProxyAddr, err)
	}
	err = sendDescriptor(host, []byte{handOver}, fd)
	_ = unix.Close(fd)
	if err != nil {
		return fmt.Errorf("hand over the network: %w", err)
	}
	var answer [1]byte
	n, err := receive(host, answer[:])
	switch {
	case err != nil:
		return fmt.Errorf("wait for the network: %w", err)
	case n != 1 || answer[0] != confirmed:
		return errors.New("the host ended the network before it began")
	}
	return nil
}

func listenProxy() (int, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
	if err != nil {
		return -1, err
	}
	err = unix.Bind(fd, &unix.SockaddrInet4{Port: ProxyPort, Addr: [4]byte{127, 0, 0, 1}})
	if err == nil {
		err = unix.Listen(fd, proxyBacklog)
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// sendDescriptor sends data, and with it fd unless that is negative.
func sendDescriptor(to int, data []byte, fd int) error {
	var rights []byte
	if fd >= 0 {
		rights = unix.UnixRights(fd)
	}
	for {
		err := unix.Sendmsg(to, data, rights, nil, unix.MSG_NOSIGNAL)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func receive(from int, data []byte) (int, error) {
	for {
		n, _, err := unix.Recvfrom(from, data, 0)
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// receiveDescriptors receives one message with its descriptors, which the caller closes, even after an
// error. The kernel drops more than two descriptors.
func receiveDescriptors(from int, data []byte, flags int) (n int, fds []int, err error) {
	oob := make([]byte, unix.CmsgSpace(4))
	n, oobn, got, _, err := unix.Recvmsg(from, data, oob, flags|unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return 0, nil, err
	}
	messages, err := unix.ParseSocketControlMessage(oob[:oobn])
	if err != nil {
		return 0, nil, err
	}
	for i := range messages {
		rights, err := unix.ParseUnixRights(&messages[i])
		if err == nil {
			fds = append(fds, rights...)
		}
	}
	if got&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0 {
		return 0, fds, errors.New("a message is longer than it may be")
	}
	return n, fds, nil
}
