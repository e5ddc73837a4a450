package firewall

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// runInside runs fn in a network namespace and returns the error of fn. It refuses the namespace of this
// process: for a container with the host's network, fn would close the host's network.
func runInside(netns *os.File, fn func() error) error {
	if err := checkNamespace(netns); err != nil {
		return err
	}
	err := runOnThread(func() error {
		if err := unix.Setns(int(netns.Fd()), unix.CLONE_NEWNET); err != nil {
			return refusalError("enter the network namespace", err)
		}
		return fn()
	})
	runtime.KeepAlive(netns)
	return err
}

// runOnThread runs fn on a thread that ends with it, so fn may change the thread's namespaces. It is never
// the first thread, which cannot end, and which /proc/self shows to every process.
func runOnThread(fn func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			defer runtime.UnlockOSThread()
			done <- runOnThread(fn) // on another thread, because this goroutine holds the first one
			return
		}
		done <- fn() // never unlocked
	}()
	return <-done
}

func checkNamespace(netns *os.File) error {
	if netns == nil {
		return sandbox.Errorf(sandbox.Invalid, "no network namespace is given")
	}
	theirs, err := netns.Stat()
	if err != nil {
		return sandbox.Errorf(sandbox.Invalid, "network namespace: %w", err)
	}
	ours, err := os.Stat("/proc/thread-self/ns/net")
	if err != nil {
		return sandbox.Errorf(sandbox.Unavailable, "network namespace: %w", err)
	}
	if os.SameFile(theirs, ours) {
		return sandbox.Errorf(sandbox.Invalid, "the network namespace is our own").
			WithHint("give the container a network of its own")
	}
	return nil
}

// refusalError returns the error for an operation that the kernel refused. Its hint names the alternative
// without privileges.
func refusalError(what string, err error) error {
	e := sandbox.Errorf(sandbox.Unavailable, "firewall: %s: %w", what, err)
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return e.WithHint("a firewall needs root (CAP_SYS_ADMIN and CAP_NET_ADMIN); the allow-list (--allow HOST) needs none")
	case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.EPROTONOSUPPORT), errors.Is(err, unix.ENOENT):
		return e.WithHint("load the kernel module nf_tables (modprobe nf_tables nft_reject_inet nft_ct), or use the allow-list (--allow HOST)")
	}
	return e
}

// links are the interfaces of the namespace that the thread is in.
type links struct {
	names []string // without loopback
	ipv6  bool     // it has an address with more than link-local scope
}

func readLinks() (links, error) {
	var l links
	list, err := net.Interfaces()
	if err != nil {
		return l, refusalError("list its interfaces", err)
	}
	for _, i := range list {
		if i.Flags&net.FlagLoopback == 0 {
			l.names = append(l.names, i.Name)
		}
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return l, refusalError("list its addresses", err)
	}
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Is6() && p.Addr().IsGlobalUnicast() {
			l.ipv6 = true
		}
	}
	return l, nil
}
