//go:build linux

package bwrap

import (
	"encoding/binary"
	"net/netip"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/policy"
)

// Most refusals are the kernel's: a read-only mount, a directory that is empty, a
// network without a way out. What follows foresees them, only to tell people. It
// decides nothing, and a path that changes meanwhile makes a wrong line in a list.

// uninteresting are trees that belong to the sandbox: nothing in them is refused for a
// rule's sake.
var uninteresting = []string{"/dev", "/proc", "/sys", "/run"}

// observeOpen is told of an open of what exists.
func (g *guard) observeOpen(n notification, t target, call entryCall, how openHow) {
	path, err := t.cString(n.args[call.path])
	if err != nil || belowAny(path, uninteresting) {
		return
	}
	e, err := t.entry(dirOf(n, call.dir), path)
	if err == nil && how.follows() {
		e, err = t.followLast(e)
	}
	defer func() { e.close() }()
	if err != nil {
		return
	}
	if how.writes() {
		g.observeEntry(opOpen, how, e)
		return
	}
	full := e.String()
	access, _ := g.plan.Access(full)
	var st unix.Stat_t
	// Only the host knows whether anything is hidden there.
	if access == policy.Exclude && !belowAny(full, uninteresting) && unix.Lstat(full, &st) == nil {
		g.report.path("read", full)
	}
}

// observeEntry is told of a call that writes e, or makes it, when no rule of the guard
// forbids that.
func (g *guard) observeEntry(op entryOp, how openHow, e entry) {
	full := e.String()
	if e.name == "" || belowAny(full, uninteresting) {
		return
	}
	if access, _ := g.plan.Access(full); access != policy.ReadOnly {
		return
	}
	if g.rules.guarded(e.path, e.name) != nil {
		return // told when it is refused
	}
	made := !existsAt(e.dir, e.name)
	switch {
	case op == opRemove, made:
		// The host's own permissions refuse it, too, and no policy changes that.
		if unix.Access(e.path, unix.W_OK) == nil {
			g.report.path(op.String(), full)
		}
	case op == opOpen && how.writes() && how&unix.O_EXCL == 0:
		if unix.Access(full, unix.W_OK) == nil {
			g.report.path("write", full)
		}
	}
}

func belowAny(path string, roots []string) bool {
	for _, root := range roots {
		if path == root || strings.HasPrefix(path, root+"/") {
			return true
		}
	}
	return false
}

// observeAddress is told of an address that the sandbox has no route to.
func (g *guard) observeAddress(addr []byte) {
	if a, ok := socketAddress(addr); ok {
		g.report.address(a.String())
	}
}

// socketAddress reads struct sockaddr_in and sockaddr_in6 (ip(7), ipv6(7)).
func socketAddress(addr []byte) (netip.AddrPort, bool) {
	const v4, v6 = 8, 24
	switch family := leFamilyOf(addr); {
	case family == unix.AF_INET && len(addr) >= v4:
		ip, _ := netip.AddrFromSlice(addr[4:8])
		return netip.AddrPortFrom(ip, binary.BigEndian.Uint16(addr[2:])), true
	case family == unix.AF_INET6 && len(addr) >= v6:
		ip, _ := netip.AddrFromSlice(addr[8:24])
		return netip.AddrPortFrom(ip.Unmap(), binary.BigEndian.Uint16(addr[2:])), true
	}
	return netip.AddrPort{}, false
}

func leFamilyOf(addr []byte) int {
	if len(addr) < 2 {
		return -1
	}
	return leFamily(addr)
}
