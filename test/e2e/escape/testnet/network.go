//go:build linux

// Package testnet builds networks on which the escape tests attack: a machine and an internet, each a network namespace, with
// a cable between them. Servers of the tests answer at every address of the internet and record each request.
package testnet

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// Space is a thread with its own network namespace. Sockets that Do creates belong to that namespace, and programs that it
// starts run there.
type Space struct {
	jobs chan func()
	tid  int
}

// newSpace unshares flags; see unshare(2).
func newSpace(flags int) (*Space, error) {
	s := &Space{jobs: make(chan func())}
	started := make(chan error)
	go s.run(flags, started)
	return s, <-started
}

// run never unlocks its thread, so that no other goroutine runs in its namespaces.
func (s *Space) run(flags int, started chan<- error) {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		// The first thread's namespaces are those of the process, which must not change.
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.run(flags, started)
		}()
		<-done
		runtime.UnlockOSThread()
		return
	}
	s.tid = unix.Gettid()
	err := unix.Unshare(flags)
	started <- err
	for err == nil {
		(<-s.jobs)()
	}
}

// Do calls f on the thread and returns its error.
func (s *Space) Do(f func() error) error {
	done := make(chan error, 1)
	s.jobs <- func() { done <- f() }
	return <-done
}

// proc reads a file of the thread below /proc.
func (s *Space) proc(name string) (string, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/%s", s.tid, name))
	return string(data), err
}

// Addresses of the machine on the cable; all other addresses are on the internet.
const (
	OwnIPv4 = "93.184.215.1"
	OwnIPv6 = "2606:2800:220:2::1"
)

// Network is a machine and an internet, two network namespaces with a cable between them. A server answers at every address
// except the machine's, and records each visit. The methods are safe for concurrent use, except Begin.
type Network struct {
	dir               string // the directory of its files
	Machine, Internet *Space
	cable             int // a packet socket at the internet's end of the cable
	Authority         *Authority
	answers           *nameServer
	fixed             []string // sockets of its own on the machine; see sockets
	Web               *Website

	mu     sync.Mutex
	want   *Limits
	visits []Visit
	marks  map[string]chan struct{}
}

// Limits describes the allowed traffic of a case; all other traffic is a failure.
type Limits struct {
	Good   []string // hosts that may be reached, at the addresses that they have
	Asks   []string // further names that may be resolved; with a leading dot: with all subdomains
	Silent bool     // no packet may leave the machine
	Naive  bool     // the control has a careless proxy; see StartNaiveProxy
}

// networks has the networks that no case uses at the moment. Borrow creates one if all are in use.
var networks struct {
	sync.Mutex
	free      []*Network
	Authority *Authority // of all networks
	err       error
}

// AuthorityFile has the certificate that signs for all servers, in the directory that the first call of Borrow names.
const AuthorityFile = "ca.pem"

// Borrow returns a network for the rest of a test. The first call writes the files of all networks into dir, which every user
// must be able to read. Without root it skips the test; if the network cannot be built it skips the test too, or fails it if
// required. Attempts of a plain user run in the same networks.
func Borrow(t *testing.T, dir string, required bool) *Network {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can make networks to test with")
	}
	networks.Lock()
	defer networks.Unlock()
	var w *Network
	if n := len(networks.free); n > 0 {
		w, networks.free = networks.free[n-1], networks.free[:n-1]
	} else if networks.err == nil {
		w, networks.err = newNetwork(dir)
	}
	if networks.err == nil {
		t.Cleanup(func() {
			networks.Lock()
			defer networks.Unlock()
			networks.free = append(networks.free, w)
		})
		return w
	}
	if required {
		t.Fatalf("required, and not available: %v", networks.err)
	}
	t.Skipf("no network to test with: %v", networks.err)
	return nil
}

// newNetwork requires that the caller has locked networks.
func newNetwork(dir string) (*Network, error) {
	w := &Network{dir: dir, marks: map[string]chan struct{}{}, want: &Limits{}}
	var err error
	if networks.Authority == nil {
		if networks.Authority, err = newAuthority(filepath.Join(dir, AuthorityFile)); err != nil {
			return nil, err
		}
	}
	w.Authority = networks.Authority
	w.Web = newWebsite(w)
	if w.Machine, err = newSpace(unix.CLONE_FS | unix.CLONE_NEWNS | unix.CLONE_NEWNET); err != nil {
		return nil, fmt.Errorf("namespaces: %w", err)
	}
	if w.Internet, err = newSpace(unix.CLONE_NEWNET); err != nil {
		return nil, fmt.Errorf("namespaces: %w", err)
	}
	if err := w.Machine.Do(w.layCable); err != nil {
		return nil, err
	}
	if err := w.Internet.Do(w.connectInternet); err != nil {
		return nil, err
	}
	if err := w.Machine.Do(w.connectMachine); err != nil {
		return nil, err
	}
	sockets, err := w.Sockets(nil)
	for _, s := range sockets {
		w.fixed = append(w.fixed, s[:strings.LastIndexByte(s, ' ')])
	}
	return w, err
}

func (w *Network) layCable() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return err
	}
	return ip(fmt.Sprintf("link add cable type veth peer name far netns %d", w.Internet.tid))
}

func (w *Network) connectInternet() error {
	if err := ip(
		"link set lo up",
		"addr add 93.184.215.2/24 dev far", "-6 addr add 2606:2800:220:2::2/64 dev far nodad", "link set far up",
		// All addresses are local here, except those on the cable.
		"route add local default dev lo table main", "-6 route add local default dev lo table main",
	); err != nil {
		return err
	}
	far, err := net.InterfaceByName("far")
	if err != nil {
		return err
	}
	const all = 0x0300 // ETH_P_ALL in network order
	if w.cable, err = unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, all); err != nil {
		return err
	}
	if err := unix.Bind(w.cable, &unix.SockaddrLinklayer{Protocol: all, Ifindex: far.Index}); err != nil {
		return err
	}
	return w.Web.listen(false, "22", "53", "80", "443", "8080", "8443")
}

func (w *Network) connectMachine() error {
	if err := ip(
		"link set lo up",
		"addr add "+OwnIPv4+"/24 dev cable", "-6 addr add "+OwnIPv6+"/64 dev cable nodad", "link set cable up",
		"route add default via 93.184.215.2", "-6 route add default via 2606:2800:220:2::2",
	); err != nil {
		return err
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ping_group_range", []byte("0 2147483647"), 0); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"resolv.conf": "nameserver 127.0.0.1\noptions timeout:2 attempts:1\n", "hosts": "127.0.0.1 localhost\n", "nsswitch.conf": "hosts: files dns\n",
	} {
		file := filepath.Join(w.dir, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
		if err := unix.Mount(file, "/etc/"+name, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("mount over /etc/%s: %w", name, err)
		}
	}
	var err error
	if w.answers, err = newNameServer("127.0.0.1:53"); err != nil {
		return err
	}
	// A service of the machine, on all of its addresses.
	return w.Web.listen(true, "53", "80", "443", "7001")
}

func ip(lines ...string) error {
	for _, line := range lines {
		out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput() //nolint:noctx // as long as the tests
		if err != nil {
			return fmt.Errorf("ip %s: %w: %s", line, err, out)
		}
	}
	return nil
}

// Dial connects from the machine. addr must contain an address, because other threads would resolve a name.
func (w *Network) Dial(addr string) (c net.Conn, err error) {
	err = w.Machine.Do(func() (err error) {
		c, err = (&net.Dialer{Timeout: DialTimeout}).Dial("tcp", addr)
		return err
	})
	return c, err
}

// Begin forgets all visits, and sets the limits of the next attempt.
func (w *Network) Begin(want *Limits) error {
	if err := w.Settle(); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.visits, w.want = nil, want
	w.answers.forget()
	w.packets()
	return nil
}

// Settle waits until the servers have handled everything that was sent before the call.
func (w *Network) Settle() error {
	for i, addr := range w.Web.marks() {
		done := make(chan struct{})
		c, err := w.dialMarked(addr, done)
		if err != nil {
			return fmt.Errorf("server %d of the test network: %w", i, err)
		}
		<-done
		_ = c.Close()
	}
	return nil
}

func (w *Network) dialMarked(addr string, done chan struct{}) (net.Conn, error) {
	w.mu.Lock()
	w.marks[addr] = done
	w.mu.Unlock()
	return w.Dial(addr)
}

// Sockets lists the sockets of the machine's network that accept connections, except those of the test network
// itself, and the Unix sockets that ignored accepts by name; nil ignores none.
func (w *Network) Sockets(ignored func(name string) bool) ([]string, error) {
	var out []string
	for _, file := range []string{"net/tcp", "net/tcp6", "net/udp", "net/udp6", "net/unix", "net/raw"} {
		text, err := w.Machine.proc(file)
		if err != nil {
			return nil, err
		}
		for i, line := range slices.Collect(strings.Lines(text)) {
			f := strings.Fields(line)
			const listen = "0A"
			switch {
			case i == 0, strings.HasPrefix(file, "net/tcp") && f[3] != listen, file == "net/unix" && len(f) < 8:
				continue // neither connections, which end later, nor sockets without a name
			}
			other := file == "net/unix" && ignored != nil && ignored(f[len(f)-1])
			if name := file + " " + f[1]; !other && (file == "net/unix" || !slices.Contains(w.fixed, name)) {
				out = append(out, name+" "+f[len(f)-1])
			}
		}
	}
	return out, nil
}

// Judge returns an error that lists an attempt's traffic beyond its limits. A mount of the machine counts as left behind if
// its path contains "/" and dir.
func (w *Network) Judge(dir string) error {
	packets := w.packets()
	if err := w.Settle(); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	for _, v := range w.visits {
		if !w.isPermitted(v) {
			errs = append(errs, fmt.Errorf("this was reached: %s", v))
		}
	}
	for _, name := range w.answers.take() {
		if !w.want.mayAsk(name) {
			errs = append(errs, fmt.Errorf("this name was asked for: %q", name))
		}
	}
	if len(packets) > 0 && w.want.Silent {
		errs = append(errs, fmt.Errorf("these packets left the machine: %q", packets))
	}
	mounts, err := w.Machine.proc("mountinfo")
	if err == nil && strings.Contains(mounts, "/"+dir) {
		err = errors.New("a mount is left")
	}
	return errors.Join(append(errs, err)...)
}

// Visits returns the visits since Begin.
func (w *Network) Visits() []Visit {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.visits)
}

func (o *Limits) mayAsk(name string) bool {
	return slices.ContainsFunc(slices.Concat(o.Good, o.Asks), func(ok string) bool {
		return name == ok || strings.HasPrefix(ok, ".") && strings.HasSuffix(name, ok)
	})
}
