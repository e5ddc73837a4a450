//go:build linux

package attacker

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/test/e2e/escape/testnet"
)

// attackTakeover tries to listen on the proxy's port, instead of the proxy or beside it.
func attackTakeover([]string) {
	for _, addr := range []string{"127.0.0.1", "0.0.0.0", "::ffff:127.0.0.1", "::"} {
		for name, options := range map[string][]int{"": nil, "SO_REUSEADDR": {unix.SO_REUSEADDR}, "SO_REUSEPORT": {unix.SO_REUSEPORT, unix.SO_REUSEADDR}} {
			report(strings.TrimSpace("listen on "+addr+" "+name), listenOn(netip.MustParseAddr(addr), options))
		}
	}
	c, err := net.Dial("tcp", testnet.ProxyAddr) //nolint:noctx // refused or not, it is quick
	if err == nil {
		// A process with a descriptor of the listener could accept instead of the proxy.
		_ = c.Close()
	}
	listeners, _ := filepath.Glob("/proc/[0-9]*/fd/[0-9]*")
	inodes := listening(3128)
	for _, l := range listeners {
		if to, err := os.Readlink(l); err == nil && inodes[to] {
			report("a descriptor of the proxy's listener: "+l, nil)
		}
	}
}

func listenOn(addr netip.Addr, options []int) error {
	family := unix.AF_INET
	var sa unix.Sockaddr = &unix.SockaddrInet4{Port: 3128, Addr: [4]byte(addr.AsSlice()[addr.BitLen()/8-4:])}
	if addr.Is6() {
		family, sa = unix.AF_INET6, &unix.SockaddrInet6{Port: 3128, Addr: addr.As16()}
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for _, o := range options {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, o, 1); err != nil {
			return err
		}
	}
	if family == unix.AF_INET6 {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 0); err != nil {
			return err
		}
	}
	if err := unix.Bind(fd, sa); err != nil {
		return err
	}
	return unix.Listen(fd, 1)
}

// listening finds the sockets that listen on a port, by the link targets of descriptors.
func listening(port int) map[string]bool {
	out := map[string]bool{}
	for _, file := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for line := range bytes.Lines(data) {
			f := strings.Fields(string(line))
			if len(f) > 9 && f[3] == "0A" && strings.HasSuffix(f[1], fmt.Sprintf(":%04X", port)) {
				out["socket:["+f[9]+"]"] = true
			}
		}
	}
	return out
}

// attackServe answers on ports of all addresses until it reads a line.
func attackServe(args []string) {
	for _, port := range args {
		l, err := net.Listen("tcp", ":"+port) //nolint:noctx // as long as the attack
		if err != nil {
			fmt.Println("BROKEN", err)
			return
		}
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					_, _ = io.WriteString(c, "inside "+port+"\n")
					_, _ = io.Copy(io.Discard, c)
					_ = c.Close()
				}()
			}
		}()
	}
	waitForGo()
}

// waitForGo prints "ready" and waits for a line from the host.
func waitForGo() {
	fmt.Println("ready")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
}

// attackPublisher tries to take the connection through which the host reaches published ports.
func attackPublisher([]string) {
	found := false
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		args, err := os.ReadFile(dir + "/cmdline")
		if err != nil || !bytes.Contains(args, []byte("\x00ports\x00")) {
			continue
		}
		found = true
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		for _, name := range []string{"mem", "fd/0", "environ", "cwd", "root", "maps", "syscall"} {
			f, err := os.Open(filepath.Join(dir, name))
			if err == nil {
				_, err = f.Read(make([]byte, 1))
				_ = f.Close()
			}
			report("read "+name+" of it", err)
		}
		pidfd, err := unix.PidfdOpen(pid, 0)
		if err == nil {
			_, err = unix.PidfdGetfd(pidfd, 0, 0)
		}
		report("take its descriptor", err)
		if err = unix.PtraceSeize(pid); report("trace it", err) {
			_ = unix.PtraceDetach(pid)
		}
		word := []byte{0}
		local := []unix.Iovec{{Base: &word[0], Len: 1}}
		_, err = unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: 0x400000, Len: 1}}, 0)
		report("read its memory", err)
	}
	if !found {
		fmt.Println("BROKEN no process of that name")
	}
}

// attackHold holds a tunnel and listening ports open until it is killed.
func attackHold(args []string) {
	c, err := net.Dial("tcp", testnet.ProxyAddr) //nolint:noctx // refused or not, it is quick
	if err == nil {
		_, err = (&Probe{Via: "connect", To: args[0]}).open(c)
	}
	if err != nil {
		fmt.Println("BROKEN", err)
		return
	}
	attackServe(args[1:])
	select {}
}
