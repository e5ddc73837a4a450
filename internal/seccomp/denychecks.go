//go:build linux

package seccomp

import "golang.org/x/sys/unix"

// setuidBit is S_ISUID and S_ISGID. A program with one of these bits in the work tree would give the rights of the user
// or the group to all other users of the host: root's rights if agent-sandbox runs as root. New directories still
// inherit S_ISGID.
const setuidBit = unix.S_ISUID | unix.S_ISGID

// tmpfileBit is __O_TMPFILE: O_TMPFILE without O_DIRECTORY.
const tmpfileBit = 0x400000

// refusedIoctls returns the refused requests. They are compared by their low 32 bits, because the kernel ignores the
// others (CVE-2019-10063).
func refusedIoctls() []uint32 {
	return []uint32{
		unix.TIOCSTI,   // types into the terminal that the caller's shell reads (CVE-2017-5226)
		unix.TIOCLINUX, // pastes a console's selection (CVE-2023-28100)
		unix.TIOCCONS,  // redirects the console's output
		unix.TIOCSETD,  // loads line disciplines, which are rarely tested kernel code
		// Subvolumes of btrfs are made by ioctl: a directory entry that the guard never sees.
		0x50009401, // BTRFS_IOC_SNAP_CREATE
		0x5000940e, // BTRFS_IOC_SUBVOL_CREATE
		0x50009417, // BTRFS_IOC_SNAP_CREATE_V2
		0x50009418, // BTRFS_IOC_SUBVOL_CREATE_V2
	}
}

func checkIoctl(p *bpfProgram) {
	p.load(argLow(1))
	p.oneOf(reply(unix.EPERM), toAllow, refusedIoctls()...)
}

// checkFcntl refuses leases: one on a file that the sandbox can only read makes an open by its owner on the host wait for up
// to /proc/sys/fs/lease-break-time seconds (fcntl(2), F_SETLEASE).
func checkFcntl(p *bpfProgram) {
	p.load(argLow(1))
	p.equal(unix.F_SETLEASE, reply(unix.EACCES), toAllow)
}

// checkPersonality allows bits that only change the result of uname(2). Other bits weaken the program's own memory
// protection (READ_IMPLIES_EXEC, MMAP_PAGE_ZERO).
func checkPersonality(p *bpfProgram, debuggers bool) {
	const (
		linux32      = 0x8
		uname26      = 0x20000
		noRandomize  = 0x40000
		onlyAsksBack = 0xffffffff
	)
	allowed := []uint32{0, linux32, uname26, uname26 | linux32, onlyAsksBack}
	if debuggers {
		allowed = append(allowed, noRandomize)
	}
	p.load(argLow(0))
	p.oneOf(toAllow, reply(unix.EPERM), allowed...)
}

// checkDumpable makes PR_SET_DUMPABLE of 0 succeed without an effect, except for programs in the first 4 GiB.
func checkDumpable(p *bpfProgram) {
	p.load(argLow(0))
	p.equal(unix.PR_SET_DUMPABLE, "dumpable", toAllow)
	p.label("dumpable")
	p.load(argLow(1))
	p.equal(0, "hides", toAllow)
	p.label("hides")
	p.load(callerHigh)
	p.equal(0, toAllow, reply(0))
}

// checkFlags refuses a first argument with any of flags. Flags above 32 bits do
// not exist in clone(2), and unshare(2) refuses them.
func checkFlags(flags uint32, refused bpfLabel) func(*bpfProgram) {
	return func(p *bpfProgram) {
		p.load(argLow(0))
		p.bits(flags, refused)
	}
}

// checkSocket allows Internet sockets of the common protocols, Unix
// streams, and the netlink family that lists network interfaces; offline, only Unix
// streams. It refuses sockets that bypass the network namespace (AF_VSOCK) or use kernel code
// that no command needs (AF_ALG, AF_PACKET, SCTP, ...).
func checkSocket(o DenyOptions) func(*bpfProgram) {
	return func(p *bpfProgram) {
		p.load(argLow(0))
		switch {
		case o.Offline && o.Loopback:
			p.equal(unix.AF_UNIX, "unix types", "")
			checkTCP(p)
		case o.Offline:
			p.equal(unix.AF_UNIX, "unix types", reply(unix.EAFNOSUPPORT))
		default:
			checkInternet(p)
		}
		p.label("unix types")
		checkUnixType(p, false)
	}
}

// checkTCP reports TCP sockets to the listening process and refuses all others.
func checkTCP(p *bpfProgram) {
	refused := reply(unix.EAFNOSUPPORT)
	p.oneOf("stream", refused, unix.AF_INET, unix.AF_INET6)
	p.label("stream")
	p.load(argLow(1))
	p.mask(0xf)
	p.equal(unix.SOCK_STREAM, "tcp", refused)
	p.label("tcp")
	p.load(argLow(2))
	p.oneOf(toAsk, refused, 0, unix.IPPROTO_TCP)
}

// checkTCPOption lets options of TCP, IP and IPv6 succeed without an effect: Unix sockets do not have them, and a
// program that disables Nagle's algorithm may end on an error.
func checkTCPOption(p *bpfProgram) {
	p.load(argLow(1))
	p.oneOf(reply(0), toAllow, unix.IPPROTO_TCP, unix.IPPROTO_IP, unix.IPPROTO_IPV6)
}

func checkInternet(p *bpfProgram) {
	p.equal(unix.AF_UNIX, "unix types", "")
	p.equal(unix.AF_INET, "inet types", "")
	p.equal(unix.AF_INET6, "inet types", "")
	p.equal(unix.AF_NETLINK, "netlink", reply(unix.EAFNOSUPPORT))

	p.label("netlink")
	p.load(argLow(2))
	p.equal(unix.NETLINK_ROUTE, toAllow, reply(unix.EPROTONOSUPPORT))

	p.label("inet types")
	p.load(argLow(1))
	p.mask(0xf) // SOCK_NONBLOCK and SOCK_CLOEXEC are higher bits
	p.equal(unix.SOCK_STREAM, "inet protocols", "")
	p.equal(unix.SOCK_DGRAM, "inet protocols", "")
	p.equal(unix.SOCK_RAW, reply(unix.EPERM), reply(unix.ESOCKTNOSUPPORT))

	p.label("inet protocols")
	p.load(argLow(2))
	p.oneOf(toAllow, reply(unix.EPROTONOSUPPORT), 0,
		unix.IPPROTO_TCP, unix.IPPROTO_UDP, unix.IPPROTO_UDPLITE, unix.IPPROTO_MPTCP,
		unix.IPPROTO_ICMP, unix.IPPROTO_ICMPV6)
}

// checkSocketpair refuses pairs of datagram sockets, or leaves them to the program of [Ask].
func checkSocketpair(reported bool) func(*bpfProgram) {
	return func(p *bpfProgram) {
		p.load(argLow(0))
		p.equal(unix.AF_UNIX, "pair types", reply(unix.EAFNOSUPPORT))
		p.label("pair types")
		checkUnixType(p, reported)
	}
}

// askDatagramPair reports pairs of datagram sockets.
func askDatagramPair(p *bpfProgram) {
	p.load(argLow(0))
	p.equal(unix.AF_UNIX, "unix pair", toAllow)
	p.label("unix pair")
	p.load(argLow(1))
	p.mask(0xf)
	p.equal(unix.SOCK_DGRAM, toAsk, toAllow)
}

// checkUnixType refuses datagram sockets: with sendto they can send to any path, without a connect that the guard
// answers. So can the ends of a pair.
func checkUnixType(p *bpfProgram, datagrams bool) {
	p.load(argLow(1))
	p.mask(0xf)
	if datagrams {
		p.equal(unix.SOCK_DGRAM, toAllow, "")
	}
	p.oneOf(toAllow, reply(unix.EACCES), unix.SOCK_STREAM, unix.SOCK_SEQPACKET)
}

// checkSetrlimit ignores changes of RLIMIT_CORE and reports success, so that it stays at the 1 that the driver sets:
// "ulimit -c 0" is common, and would enable the host's core handler again.
func checkSetrlimit(p *bpfProgram) {
	p.load(argLow(0))
	p.equal(unix.RLIMIT_CORE, reply(0), toAllow)
}

// checkPrlimit does the same for prlimit(2): reading is allowed, setting has no effect, and both at once is refused
// because the call could not return the old value.
func checkPrlimit(p *bpfProgram) {
	p.load(argLow(1))
	p.equal(unix.RLIMIT_CORE, "core limit", toAllow)
	p.label("core limit")
	p.load(argLow(2))
	p.equal(0, "", "sets core limit")
	p.load(argHigh(2))
	p.equal(0, toAllow, "sets core limit")
	p.label("sets core limit")
	p.load(argLow(3))
	p.equal(0, "", reply(unix.EPERM))
	p.load(argHigh(3))
	p.equal(0, reply(0), reply(unix.EPERM))
}

// checkMode refuses a mode argument with the set-user-ID bit.
func checkMode(arg int) func(*bpfProgram) {
	return func(p *bpfProgram) {
		p.load(argLow(arg))
		p.bits(setuidBit, reply(unix.EPERM))
	}
}

// checkOpenMode does so for open, whose mode follows the flags and counts only
// when a file is made.
func checkOpenMode(flags int) func(*bpfProgram) {
	return func(p *bpfProgram) {
		makes := bpfLabel("mode after argument " + string(rune('0'+flags)))
		p.load(argLow(flags))
		p.bits(unix.O_CREAT|tmpfileBit, makes)
		p.label(makes)
		p.load(argLow(flags + 1))
		p.bits(setuidBit, reply(unix.EPERM))
	}
}
