//go:build linux

package escape_test

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

// space is a thread with a network namespace of its own. Sockets that are made on it
// belong there, and programs that are started from it begin there.
type space struct {
	jobs chan func()
	tid  int
}

// newSpace unshares flags; see unshare(2).
func newSpace(flags int) (*space, error) {
	s := &space{jobs: make(chan func())}
	started := make(chan error)
	go s.run(flags, started)
	return s, <-started
}

// run never unlocks its thread, so that nothing else ever runs in its namespaces.
func (s *space) run(flags int, started chan<- error) {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		// The first thread stands for the whole process, which has to stay where it is.
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

// do calls f on the thread.
func (s *space) do(f func() error) error {
	done := make(chan error, 1)
	s.jobs <- func() { done <- f() }
	return <-done
}

// proc reads a file of the thread's in /proc.
func (s *space) proc(name string) (string, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/%s", s.tid, name))
	return string(data), err
}

// Addresses of the machine on the cable; all others are on the internet.
const (
	ownIPv4 = "93.184.215.1"
	ownIPv6 = "2606:2800:220:2::1"
)

// world is a machine and an internet, two network namespaces with a cable between
// them. Every address that is not the machine's is a server's, whatever kind of address
// it is, so that whoever reaches one is seen.
type world struct {
	machine, internet *space
	cable             int // a packet socket at the internet's end of the cable
	authority         *authority
	answers           *nameServer
	fixed             []string // sockets of its own on the machine; see sockets
	web               *website

	mu     sync.Mutex
	want   *online
	visits []visit
	marks  map[string]chan struct{}
}

// online says what a case may do on the world's network; all else is a failure.
type online struct {
	Good   []string // hosts that may be reached, at the addresses that they have
	Asks   []string // names that may be asked for beside them; with a dot in front: with all below
	Silent bool     // not a packet may leave the machine
	Naive  bool     // the control has a careless proxy; see naive
}

// worlds lends each case a world of its own, and makes no more of them than are in use at one time.
var worlds struct {
	sync.Mutex
	free      []*world
	authority *authority // of all of them
	err       error
}

// borrowWorld returns a world for the rest of a test. It takes root; the plain user's cases run in the same worlds.
func borrowWorld(t *testing.T) *world {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can make networks to test with")
	}
	worlds.Lock()
	defer worlds.Unlock()
	var w *world
	if n := len(worlds.free); n > 0 {
		w, worlds.free = worlds.free[n-1], worlds.free[:n-1]
	} else if worlds.err == nil {
		w, worlds.err = newWorld()
	}
	if worlds.err == nil {
		t.Cleanup(func() {
			worlds.Lock()
			defer worlds.Unlock()
			worlds.free = append(worlds.free, w)
		})
		return w
	}
	if slices.Contains(strings.Split(os.Getenv("SANDBOX_REQUIRE"), ","), "network") {
		t.Fatalf("required, and not available: %v", worlds.err)
	}
	t.Skipf("no network to test with: %v", worlds.err)
	return nil
}

// newWorld is called with worlds locked.
func newWorld() (*world, error) {
	w := &world{marks: map[string]chan struct{}{}, want: &online{}}
	var err error
	if worlds.authority == nil {
		if worlds.authority, err = newAuthority(filepath.Join(lab.base, "ca.pem")); err != nil {
			return nil, err
		}
	}
	w.authority = worlds.authority
	w.web = newWebsite(w)
	if w.machine, err = newSpace(unix.CLONE_FS | unix.CLONE_NEWNS | unix.CLONE_NEWNET); err != nil {
		return nil, fmt.Errorf("namespaces: %w", err)
	}
	if w.internet, err = newSpace(unix.CLONE_NEWNET); err != nil {
		return nil, fmt.Errorf("namespaces: %w", err)
	}
	if err := w.machine.do(w.layCable); err != nil {
		return nil, err
	}
	if err := w.internet.do(w.connectInternet); err != nil {
		return nil, err
	}
	if err := w.machine.do(w.connectMachine); err != nil {
		return nil, err
	}
	sockets, err := w.sockets(nil)
	for _, s := range sockets {
		w.fixed = append(w.fixed, s[:strings.LastIndexByte(s, ' ')])
	}
	return w, err
}

func (w *world) layCable() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return err
	}
	return ip(fmt.Sprintf("link add cable type veth peer name far netns %d", w.internet.tid))
}

func (w *world) connectInternet() error {
	if err := ip(
		"link set lo up",
		"addr add 93.184.215.2/24 dev far", "-6 addr add 2606:2800:220:2::2/64 dev far nodad", "link set far up",
		// All addresses are here, but the ones on the cable.
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
	return w.web.listen(false, "22", "53", "80", "443", "8080", "8443")
}

func (w *world) connectMachine() error {
	if err := ip(
		"link set lo up",
		"addr add "+ownIPv4+"/24 dev cable", "-6 addr add "+ownIPv6+"/64 dev cable nodad", "link set cable up",
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
		file := filepath.Join(lab.base, name)
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
	// A service of the machine's, on all of its addresses.
	return w.web.listen(true, "53", "80", "443", "7001")
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

// dial connects from the machine; addr has an address, not a name, for which other
// threads would be asked.
func (w *world) dial(addr string) (c net.Conn, err error) {
	err = w.machine.do(func() (err error) {
		c, err = (&net.Dialer{Timeout: dialPatience}).Dial("tcp", addr)
		return err
	})
	return c, err
}

// begin forgets what was before an attempt.
func (w *world) begin(want *online) error {
	if err := w.settle(); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.visits, w.want = nil, want
	w.answers.forget()
	w.packets()
	return nil
}

// settle waits until the servers have seen all that was sent to them before.
func (w *world) settle() error {
	for i, addr := range w.web.marks() {
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

func (w *world) dialMarked(addr string, done chan struct{}) (net.Conn, error) {
	w.mu.Lock()
	w.marks[addr] = done
	w.mu.Unlock()
	return w.dial(addr)
}

// judge says what an attempt of a host has done on the network that it must not.
func (w *world) judge(h *host) error {
	packets := w.packets()
	if err := w.settle(); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	for _, v := range w.visits {
		if !w.permitted(v) {
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
	mounts, err := w.machine.proc("mountinfo")
	if err == nil && strings.Contains(mounts, "/"+filepath.Base(h.base)) {
		err = errors.New("a mount is left")
	}
	return errors.Join(append(errs, err)...)
}

// seen returns the visits of the attempt.
func (w *world) seen() []visit {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.visits)
}

func (o *online) mayAsk(name string) bool {
	return slices.ContainsFunc(slices.Concat(o.Good, o.Asks), func(ok string) bool {
		return name == ok || strings.HasPrefix(ok, ".") && strings.HasSuffix(name, ok)
	})
}
