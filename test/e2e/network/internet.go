//go:build linux

package network

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// hosts has the addresses that the name server returns, except that of flipName.
var hosts = map[string][]string{
	"allowed.test":      {"93.184.216.10", "2606:2800:220:1::10"},
	"wild.allowed.test": {"93.184.216.11"},
	"denied.test":       {"93.184.216.12"},
	"six.test":          {"2606:2800:220:1::13"},
	"git.test":          {"93.184.216.14"},
	"npm.test":          {"93.184.216.15"},
	"pypi.test":         {"93.184.216.16"},
	"goproxy.test":      {"93.184.216.17"},
	"private.test":      {"10.20.30.40"},
	"rebind.test":       {"127.0.0.1"},
	"mapped.test":       {"::ffff:127.0.0.1"},
	"any.test":          {"0.0.0.0"},
	"meta.test":         {"169.254.169.254"},
	"own.test":          {hostIPv4},
	"half.test":         {"10.20.30.41", "93.184.216.18"},
	"api.anthropic.com": {"93.184.216.20"},
	"api.openai.com":    {"93.184.216.21"},
}

const resolver = "93.184.216.53"

// Internet has the servers and their records. It is safe for concurrent use, except Show.
type Internet struct {
	Dir      string // every user can read it; it is removed at the end
	CAFile   string // the authority of the servers, which programs in the namespaces trust
	PlainUID int    // the user ID of the SSH server's user "git"; never root

	setpriv   string
	authority *authority
	key       sshKeys
	listeners []net.Listener
	names     *nameServer
	done      sync.WaitGroup
	web       *http.Server
	webTLS    *http.Server

	shown []string

	mu       sync.Mutex
	visits   []Visit
	handlers map[string]http.Handler // by name of a host
}

// Visit is one connection that a server accepted.
type Visit struct {
	To   netip.AddrPort // the address that was reached
	Host bool           // the server is in the namespace of the tests
}

// plainUID is the user without privileges when the tests run as root.
const plainUID = 1000

func newInternet() (n *Internet, err error) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return nil, fmt.Errorf("make mounts private: %w", err)
	}
	n = &Internet{PlainUID: os.Getuid()}
	if n.PlainUID == 0 {
		n.PlainUID = plainUID
	}
	if n.setpriv, err = exec.LookPath("setpriv"); err != nil {
		return nil, err
	}
	// Not below /tmp, since a sandbox has its own.
	parent := "/srv"
	if os.Getuid() != 0 {
		if parent, err = os.UserHomeDir(); err != nil {
			return nil, err
		}
	}
	if n.Dir, err = os.MkdirTemp(parent, "agent-sandbox-network-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.close())
		}
	}()
	if err := os.Chmod(n.Dir, 0o755); err != nil {
		return nil, err
	}
	if n.authority, err = newAuthority(); err != nil {
		return nil, err
	}
	for _, f := range []func() error{n.files, n.repository, n.serve} {
		if err := f(); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// files mounts the network's files over the system's, in the namespaces of the tests.
func (n *Internet) files() error {
	n.CAFile = filepath.Join(n.Dir, "ca.pem")
	if err := os.WriteFile(n.CAFile, n.authority.pem, 0o644); err != nil {
		return err
	}
	home := filepath.Join(n.Dir, "git-home")
	for _, f := range []struct{ path, text string }{
		{"/etc/resolv.conf", "nameserver " + resolver + "\n"},
		{"/etc/ssl/certs/ca-certificates.crt", string(n.authority.pem)},
		{"/etc/passwd", fmt.Sprintf("git:x:%d:%d::%s:/bin/sh\n", n.PlainUID, n.PlainUID, home)},
	} {
		if err := n.cover(f.path, f.text); err != nil {
			return err
		}
	}
	return nil
}

// cover mounts a file with text over the file at path. Except for the resolver's
// configuration, it appends text to the old content.
func (n *Internet) cover(path, text string) error {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	if !strings.HasSuffix(path, "resolv.conf") {
		old, err := os.ReadFile(target)
		if err != nil {
			return err
		}
		text = strings.TrimRight(string(old), "\n") + "\n" + text
	}
	source := filepath.Join(n.Dir, filepath.Base(path))
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		return err
	}
	if err := unix.Mount(source, target, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount over %s: %w", target, err)
	}
	return nil
}

// Show makes a directory of this user readable for all users, in Dir under the name. A
// second call with the same name returns the same directory.
func (n *Internet) Show(dir, name string) (string, error) {
	target := filepath.Join(n.Dir, name)
	if slices.Contains(n.shown, target) {
		return target, nil
	}
	if err := os.Mkdir(target, 0o755); err != nil {
		return "", err
	}
	if err := unix.Mount(dir, target, "", unix.MS_BIND, ""); err != nil {
		return "", fmt.Errorf("mount %s: %w", dir, err)
	}
	n.shown = append(n.shown, target)
	// The mount is read-only, so that neither the tests nor close can change dir.
	return target, unix.MountSetattr(unix.AT_FDCWD, target, 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

// Handle makes h answer the requests to a host, and the previous handler again after end.
func (n *Internet) Handle(host string, h http.Handler) (end func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	before := n.handlers[host]
	n.handlers[host] = h
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.handlers[host] = before
	}
}

// handler returns the handler of a host, or nil.
func (n *Internet) handler(host string) http.Handler {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.handlers[host]
}

// serve starts all servers, and one on the host's side that no test may reach.
func (n *Internet) serve() error {
	n.web = &http.Server{Handler: n.site(), ReadHeaderTimeout: time.Minute}
	n.webTLS = &http.Server{Handler: n.web.Handler, ReadHeaderTimeout: time.Minute, TLSConfig: n.authority.config()}
	var ssh net.Listener
	var web, webTLS []net.Listener
	err := elsewhere(func() (err error) {
		if n.names, err = newNameServer(resolver); err != nil {
			return err
		}
		if ssh, err = n.listen(":22", false); err != nil {
			return err
		}
		for _, l := range []struct {
			addr string
			to   *[]net.Listener
		}{{":80", &web}, {":8080", &web}, {":443", &webTLS}, {":8443", &webTLS}} {
			got, err := n.listen(l.addr, false)
			if err != nil {
				return err
			}
			*l.to = append(*l.to, got)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := plugIn(); err != nil {
		return err
	}
	for _, addr := range []string{":80", ":443", ":3128"} {
		l, err := n.listen(addr, true)
		if err != nil {
			return err
		}
		web = append(web, l)
	}
	n.done.Go(n.names.serve)
	n.done.Go(func() { n.serveSSH(ssh) })
	for _, l := range web {
		n.done.Go(func() { _ = n.web.Serve(l) }) // until close
	}
	for _, l := range webTLS {
		n.done.Go(func() { _ = n.webTLS.ServeTLS(l, "", "") }) // until close
	}
	return nil
}

func (n *Internet) listen(addr string, host bool) (net.Listener, error) {
	l, err := net.Listen("tcp", addr) //nolint:noctx // as long as the tests
	if err != nil {
		return nil, err
	}
	n.listeners = append(n.listeners, l)
	return &seen{Listener: l, internet: n, host: host}, nil
}

// seen records each connection before a server handles it.
type seen struct {
	net.Listener

	internet *Internet
	host     bool
}

// Accept records the connection that it returns.
func (s *seen) Accept() (net.Conn, error) {
	c, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	to, err := netip.ParseAddrPort(c.LocalAddr().String())
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	s.internet.mu.Lock()
	defer s.internet.mu.Unlock()
	s.internet.visits = append(s.internet.visits, Visit{To: netip.AddrPortFrom(to.Addr().Unmap(), to.Port()), Host: s.host})
	return c, nil
}

// Take returns the connections since the last call.
func (n *Internet) Take() []Visit {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := n.visits
	n.visits = nil
	return out
}

// Names returns the names that the name server was asked for since the last call.
func (n *Internet) Names() []string { return n.names.take() }

// Is reports whether a visit was to an address of one of the hosts.
func (v Visit) Is(names ...string) bool {
	for _, h := range names {
		for _, a := range hosts[h] {
			if netip.MustParseAddr(a).Unmap() == v.To.Addr() {
				return true
			}
		}
	}
	return false
}

func (n *Internet) close() error {
	for _, l := range n.listeners {
		_ = l.Close()
	}
	for _, s := range []*http.Server{n.web, n.webTLS} {
		if s != nil {
			_ = s.Close()
		}
	}
	if n.names != nil {
		n.names.close()
	}
	n.done.Wait()
	for _, dir := range n.shown {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			return fmt.Errorf("unmount %s: %w", dir, err) // removing Dir would also remove the content of the mounts
		}
	}
	return os.RemoveAll(n.Dir)
}
