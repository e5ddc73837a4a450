//go:build linux

package guard

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// The kernel makes most refusals: a read-only mount, an empty directory, a network without routes. The functions below
// predict these refusals to report them. A path that changes meanwhile causes a wrong report. Only two things are refused
// here: a lost mount, and a FIFO on a read-only mount, which the kernel would open for writing.

// uninteresting are the sandbox's own directories, in which no rule refuses anything.
var uninteresting = []string{"/dev", "/proc", "/sys", "/run"}

// observeOpen reports an open of an existing file that a mount refuses, and refuses it if that mount is gone. Otherwise
// it returns errUntouched.
func (g *Guard) observeOpen(n notification, t target, call entryCall, how openHow) error {
	path, err := t.cString(n.args[call.path])
	if err != nil || !how.writes() && isBelowAny(path, uninteresting) {
		return errUntouched // a path for writing may lead out of them
	}
	e, err := t.entry(dirOf(n, call.dir), path)
	if err == nil && how.follows() {
		e, err = t.followLast(e)
	}
	defer func() { e.close() }()
	if err != nil {
		return errUntouched
	}
	if how.writes() {
		g.observeEntry(opOpen, how, e)
		if g.hasLostMount(e) || g.leadsToLostMount(t, e) || leadsToReadOnlyFIFO(t, e) {
			return unix.EROFS
		}
		return errUntouched
	}
	full := e.String()
	var st unix.Stat_t
	// On the host, check that there is a hidden file.
	if g.rules.access(full) == Exclude && !isBelowAny(full, uninteresting) && unix.Lstat(full, &st) == nil {
		g.refusals = append(g.refusals, Refusal{Kind: RefusedPath, Op: "read", Target: full})
	}
	return errUntouched
}

// hasLostMount reports whether e should be read-only by the rules, but no mount makes it so. If a process outside
// removes a name, or renames another one over it, the kernel removes the mounts on it in all namespaces
// (mount_namespaces(7)). If it moves a writable directory, the directory gets a path for which there are other rules.
// If commands can mount, only paths that lead to the same file in the view count.
func (g *Guard) hasLostMount(e entry) bool {
	full := e.String()
	if e.name == "" || !g.rules.readOnly(full) || !g.view.has(e.dir, e.path) {
		return false
	}
	if !g.rules.mounted[full] {
		return isWritableMount(e.dir)
	}
	pin, err := unix.Openat(e.dir, e.name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return true // without the entry there is no mount
	}
	defer unix.Close(pin)
	return isWritableMount(pin)
}

// leadsToLostMount is hasLostMount for the target of a link in proc(5) to one of the target's descriptors.
func (g *Guard) leadsToLostMount(t target, e entry) bool {
	if e.name == "" || !e.proc {
		return false
	}
	pin, err := t.magic(e)
	if err != nil {
		return false // no such link
	}
	defer unix.Close(pin)
	return g.hasLostMountAt(pin)
}

// hasLostMountAt is hasLostMount for the file of a descriptor.
func (g *Guard) hasLostMountAt(pin int) bool {
	path, err := os.Readlink(ownDescriptor(pin))
	return err == nil && strings.HasPrefix(path, "/") && g.rules.readOnly(path) && g.view.has(pin, path) && isWritableMount(pin)
}

// leadsToReadOnlyFIFO reports whether e, or the descriptor of the target to which the link e in proc(5) leads, is a FIFO on
// a read-only mount.
func leadsToReadOnlyFIFO(t target, e entry) bool {
	if e.name == "" {
		return false
	}
	pin, err := -1, error(nil)
	if e.proc {
		pin, err = t.magic(e)
	} else if e.look(); e.kind == unix.S_IFIFO {
		pin, err = unix.Openat(e.dir, e.name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	}
	if err != nil || pin < 0 {
		return false
	}
	defer unix.Close(pin)
	return isReadOnlyFIFO(pin)
}

// isReadOnlyFIFO reports whether a descriptor refers to a FIFO on a read-only mount. Such a mount does not stop an open for
// writing.
func isReadOnlyFIFO(fd int) bool {
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFIFO && !isWritableMount(fd)
}

func isWritableMount(fd int) bool {
	var system unix.Statfs_t
	return unix.Fstatfs(fd, &system) == nil && system.Flags&unix.ST_RDONLY == 0
}

// observeEntry reports a call that writes, creates or removes e if a mount refuses it and no rule of the guard does.
func (g *Guard) observeEntry(op entryOp, how openHow, e entry) {
	full := e.String()
	if e.name == "" || isBelowAny(full, uninteresting) {
		return
	}
	if g.rules.access(full) != ReadOnly {
		return
	}
	if g.rules.guarded(e.path, e.name) != nil {
		return // reported with the guard's own refusal
	}
	e.look()
	made := !e.exists
	switch {
	case op == opRemove, made:
		// Do not report it if the host's permissions refuse it, too: no policy changes them.
		if g.writable(e.path) {
			g.refusals = append(g.refusals, Refusal{Kind: RefusedPath, Op: op.String(), Target: full})
		}
	case op == opOpen && how.writes() && how&unix.O_EXCL == 0:
		if g.writable(full) && !isSpecial(e) {
			g.refusals = append(g.refusals, Refusal{Kind: RefusedPath, Op: "write", Target: full})
		}
	}
}

// isSpecial reports whether e is a socket or a device: nothing refuses to open it for writing because its mount is
// read-only.
func isSpecial(e entry) bool {
	var st unix.Stat_t
	if unix.Fstatat(e.dir, e.name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return false
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG, unix.S_IFDIR, unix.S_IFIFO:
		return false
	}
	return true
}

// writable reports whether path would be writable without the sandbox's mounts. Inside, the kernel returns EROFS only
// if the permissions allow the access.
func (g *Guard) writable(path string) bool {
	err := unix.Access(path, unix.W_OK)
	return err == nil || g.o.Rules.Inside && errors.Is(err, unix.EROFS)
}

func isBelowAny(path string, roots []string) bool {
	for _, root := range roots {
		if path == root || strings.HasPrefix(path, root+"/") {
			return true
		}
	}
	return false
}

// observeAddress reports an address to which the sandbox has no route.
func (g *Guard) observeAddress(addr []byte) {
	if a, ok := socketAddress(addr); ok {
		g.o.Refused(Refusal{Kind: RefusedAddress, Op: opConnect.String(), Target: a.String()})
	}
}

// socketAddress reads struct sockaddr_in and sockaddr_in6 (ip(7), ipv6(7)).
func socketAddress(addr []byte) (netip.AddrPort, bool) {
	const v4, v6 = 8, 24
	switch family := familyOf(addr); {
	case family == unix.AF_INET && len(addr) >= v4:
		ip, _ := netip.AddrFromSlice(addr[4:8])
		return netip.AddrPortFrom(ip, binary.BigEndian.Uint16(addr[2:])), true
	case family == unix.AF_INET6 && len(addr) >= v6:
		ip, _ := netip.AddrFromSlice(addr[8:24])
		return netip.AddrPortFrom(ip.Unmap(), binary.BigEndian.Uint16(addr[2:])), true
	}
	return netip.AddrPort{}, false
}

func familyOf(addr []byte) int {
	if len(addr) < 2 {
		return -1
	}
	return leFamily(addr)
}
