//go:build linux

package testnet

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/netip"
	"os/exec"
	"strconv"
	"strings"
	"sync"
)

// naiveProxy is a careless proxy for the controls, at the address of the sandbox's proxy. It connects to every host, reads
// names up to a NUL as C does, ignores what stands before an @, resolves with libc, and forwards requests unchanged.
type naiveProxy struct {
	network *Network
	conns   sync.WaitGroup
}

// StartNaiveProxy starts the careless proxy of the controls on the machine. end stops it.
func StartNaiveProxy(w *Network) (end func(), err error) {
	var l net.Listener
	err = w.Machine.Do(func() (err error) {
		l, err = net.Listen("tcp", ProxyAddr) //nolint:noctx // as long as a case
		return err
	})
	if err != nil {
		return nil, err
	}
	n := &naiveProxy{network: w}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			n.conns.Go(func() {
				defer c.Close()
				n.serve(c, bufio.NewReader(c))
			})
		}
	}()
	return func() { _ = l.Close() }, nil
}

func (n *naiveProxy) serve(c net.Conn, br *bufio.Reader) {
	first, err := br.Peek(1)
	if err != nil {
		return
	}
	switch first[0] {
	case 4:
		n.socks4(c, br)
	case 5:
		n.socks5(c, br)
	default:
		n.http(c, br)
	}
}

func (n *naiveProxy) http(c net.Conn, br *bufio.Reader) {
	var head []byte
	for {
		line, err := br.ReadBytes('\n')
		head = append(head, line...)
		if err != nil {
			return
		}
		if len(bytes.TrimRight(line, "\r\n")) == 0 && len(head) > 2 {
			break
		}
	}
	method, rest, _ := strings.Cut(string(head), " ")
	target, _, _ := strings.Cut(rest, " HTTP/")
	if method == "CONNECT" {
		n.splice(c, br, target, "443", nil, "HTTP/1.1 200 OK\r\n\r\n")
		return
	}
	_, authority, _ := strings.Cut(target, "://")
	if i := strings.IndexAny(authority, "/?#\\"); i >= 0 {
		authority = authority[:i]
	}
	// Send the request to the server as if there were no proxy.
	head = bytes.Replace(head, []byte(" http://"+authority), []byte(" "), 1)
	head = bytes.Replace(head, []byte("  "), []byte(" / "), 1)
	n.splice(c, br, authority, "80", head, "")
}

func (n *naiveProxy) socks5(c net.Conn, br *bufio.Reader) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(br, head); err != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, br, int64(head[1]))
	_, _ = c.Write([]byte{5, 0})
	request := make([]byte, 4)
	if _, err := io.ReadFull(br, request); err != nil {
		return
	}
	size := map[byte]int{1: 4, 4: 16}[request[3]]
	if request[3] == 3 {
		b, _ := br.ReadByte()
		size = int(b)
	}
	rest := make([]byte, size+2)
	if _, err := io.ReadFull(br, rest); err != nil {
		return
	}
	host, port := string(rest[:size]), strconv.Itoa(int(rest[size])<<8|int(rest[size+1]))
	if addr, ok := netip.AddrFromSlice(rest[:size]); ok && request[3] != 3 {
		host = addr.String()
	}
	host, _, _ = strings.Cut(host, "\x00")
	const done = "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"
	if request[1] != 1 {
		_, _ = io.WriteString(c, done)
		return
	}
	n.splice(c, br, net.JoinHostPort(host, port), port, nil, done)
}

func (n *naiveProxy) socks4(c net.Conn, br *bufio.Reader) {
	request := make([]byte, 8)
	if _, err := io.ReadFull(br, request); err != nil {
		return
	}
	_, _ = br.ReadBytes(0)
	host := netip.AddrFrom4([4]byte(request[4:])).String()
	if strings.HasPrefix(host, "0.0.0.") {
		name, _ := br.ReadString(0)
		host = strings.TrimSuffix(name, "\x00")
	}
	port := strconv.Itoa(int(request[2])<<8 | int(request[3]))
	n.splice(c, br, net.JoinHostPort(host, port), port, nil, "\x00\x5a\x00\x00\x00\x00\x00\x00")
}

// splice connects to authority, sends head to it and done to the client, and copies both ways.
func (n *naiveProxy) splice(c net.Conn, br *bufio.Reader, authority, port string, head []byte, done string) {
	authority, _, _ = strings.Cut(authority[strings.LastIndex(authority, "@")+1:], "\x00")
	host := authority
	if h, p, err := net.SplitHostPort(authority); err == nil {
		number, _ := strconv.Atoi(p)
		host, port = h, strconv.Itoa(number&0xffff)
	}
	addr, err := n.resolve(strings.Trim(host, "[]"))
	if err != nil {
		return
	}
	server, err := n.network.Dial(net.JoinHostPort(addr, port))
	if err != nil {
		return
	}
	defer server.Close()
	if _, err := server.Write(head); err != nil {
		return
	}
	if _, err := io.WriteString(c, done); err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(server, br)
		_ = server.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(c, server)
}

// resolve resolves a name with libc, on the machine.
func (n *naiveProxy) resolve(host string) (addr string, err error) {
	err = n.network.Machine.Do(func() error {
		out, err := exec.Command("getent", "ahosts", host).Output() //nolint:noctx // as long as a case
		addr, _, _ = strings.Cut(string(out), " ")
		if addr == "::" {
			addr = "::1" // as connect(2) does
		}
		if addr == "" {
			err = errors.Join(err, errors.New("no address"))
		}
		return err
	})
	return addr, err
}
