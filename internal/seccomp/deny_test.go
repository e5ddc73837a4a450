//go:build linux

package seccomp

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const (
	retAllow  = uint32(unix.SECCOMP_RET_ALLOW)
	retKill   = uint32(unix.SECCOMP_RET_KILL_PROCESS)
	retNotify = uint32(unix.SECCOMP_RET_USER_NOTIF)
)

func retErrno(e unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(e) }

var bothArchs = []string{"amd64", "arm64"}

func denyFilter(t *testing.T, arch string, o DenyOptions) []unix.SockFilter {
	t.Helper()
	p, err := Deny(arch, o)
	if err != nil {
		t.Fatal(err)
	}
	return filterOf(t, p.Bytes())
}

// dataOf returns the data of the call name with args; false: arch has no such call.
func dataOf(t *testing.T, arch, name string, args ...uint64) (seccompData, bool) {
	t.Helper()
	table, err := callTableOf(arch)
	if err != nil {
		t.Fatal(err)
	}
	nr, ok, err := table.number(name)
	if err != nil {
		t.Fatal(err)
	}
	d := seccompData{nr: nr, arch: table.audit}
	copy(d.args[:], args)
	return d, ok
}

func Test_The_Deny_Program_Judges_Calls_By_Number(t *testing.T) {
	eperm, enosys := retErrno(unix.EPERM), retErrno(unix.ENOSYS)
	replies := map[string]uint32{}
	set := func(to uint32, names string) {
		for n := range strings.FieldsSeq(names) {
			replies[n] = to
		}
	}
	set(enosys, `io_uring_setup io_uring_enter io_uring_register openat2 clone3
		open_tree open_tree_attr move_mount fsopen fsconfig fsmount fspick mount_setattr
		modify_ldt nfsservctl lookup_dcookie uselib`)
	set(eperm, `add_key request_key keyctl pidfd_getfd kcmp bpf perf_event_open userfaultfd
		kexec_load kexec_file_load init_module finit_module delete_module open_by_handle_at setns
		swapon swapoff reboot acct quotactl quotactl_fd syslog vhangup fanotify_init
		sethostname setdomainname settimeofday clock_settime adjtimex clock_adjtime iopl ioperm
		ptrace process_vm_readv process_vm_writev mount umount2 pivot_root`)
	// With zero arguments these two calls are refused; the other checks allow theirs.
	set(retErrno(unix.EAFNOSUPPORT), "socket socketpair")

	tests := []struct {
		name    string
		options DenyOptions
		open    string
	}{
		{"strict", DenyOptions{}, ""},
		{"with debuggers", DenyOptions{Debuggers: true}, "ptrace process_vm_readv process_vm_writev"},
		{"with user namespaces", DenyOptions{Userns: true}, "mount umount2 pivot_root clone3"},
		{
			"with both",
			DenyOptions{Userns: true, Debuggers: true},
			"ptrace process_vm_readv process_vm_writev mount umount2 pivot_root clone3",
		},
	}
	for _, arch := range bothArchs {
		for _, tt := range tests {
			t.Run(arch+" "+tt.name, func(t *testing.T) {
				program, table := denyFilter(t, arch, tt.options), mustTable(t, arch)
				want := map[uint32]uint32{}
				for name, to := range replies {
					if nr, ok, err := table.number(name); err != nil {
						t.Fatal(err)
					} else if ok && !slices.Contains(strings.Fields(tt.open), name) {
						want[nr] = to
					}
				}
				for nr := range uint32(1200) {
					expect, listed := want[nr]
					if !listed {
						expect = retAllow
					}
					if nr > newestCall {
						expect = enosys
					}
					got, err := runBPF(program, seccompData{nr: nr, arch: table.audit})
					if err != nil || got != expect {
						t.Errorf("call %d: got %#x, %v, want %#x", nr, got, err, expect)
					}
				}
			})
		}
	}
}

func mustTable(t *testing.T, arch string) callTable {
	t.Helper()
	table, err := callTableOf(arch)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func Test_Deny_Program_Ends_Foreign_Calls(t *testing.T) {
	audits := map[string]uint32{
		"i386": unix.AUDIT_ARCH_I386, "x86-64": unix.AUDIT_ARCH_X86_64, "arm": unix.AUDIT_ARCH_ARM,
		"arm64": unix.AUDIT_ARCH_AARCH64, "zero": 0, "riscv64": unix.AUDIT_ARCH_RISCV64,
	}
	for _, arch := range bothArchs {
		program, native := denyFilter(t, arch, DenyOptions{Userns: true, Debuggers: true}), mustTable(t, arch).audit
		for name, audit := range audits {
			if audit == native {
				continue
			}
			t.Run(arch+" kills "+name, func(t *testing.T) {
				for _, nr := range []uint32{0, 1, 11, 60, 221, 425, 0x40000000, 0xffffffff} {
					if got, err := runBPF(program, seccompData{nr: nr, arch: audit}); err != nil || got != retKill {
						t.Errorf("call %d: got %#x, %v", nr, got, err)
					}
				}
			})
		}
		t.Run(arch+" has no numbers beyond its own", func(t *testing.T) {
			for _, nr := range []uint32{newestCall + 1, 512, 521, 547, 0x40000000, 0x40000000 + 39, 0x40000000 + 547, 0x7fffffff, 0x80000000, 0xffffffff} {
				got, err := runBPF(program, seccompData{nr: nr, arch: native})
				if err != nil || got != retErrno(unix.ENOSYS) {
					t.Errorf("call %#x: got %#x, %v", nr, got, err)
				}
			}
		})
	}
}

// high is a set bit that the kernel drops from an int argument.
const high = 1 << 40

func Test_The_Deny_Program_Judges_Calls_By_Arguments(t *testing.T) {
	var (
		eperm, eacces   = retErrno(unix.EPERM), retErrno(unix.EACCES)
		noFamily        = retErrno(unix.EAFNOSUPPORT)
		noProto, noType = retErrno(unix.EPROTONOSUPPORT), retErrno(unix.ESOCKTNOSUPPORT)
		stream, dgram   = uint64(unix.SOCK_STREAM), uint64(unix.SOCK_DGRAM)
		userns, both    = DenyOptions{Userns: true}, DenyOptions{Userns: true, Debuggers: true}
		debug, strict   = DenyOptions{Debuggers: true}, DenyOptions{}
		cloexec         = uint64(unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK)
		offline         = DenyOptions{Offline: true, Debuggers: true}
		loopback        = DenyOptions{Offline: true, Loopback: true}
	)
	tests := []struct {
		name string
		call string
		args []uint64
		o    DenyOptions
		want uint32
	}{
		{"a unix stream", "socket", []uint64{unix.AF_UNIX, stream}, strict, retAllow},
		{"a unix stream with flags", "socket", []uint64{unix.AF_UNIX, stream | cloexec}, strict, retAllow},
		{"a unix seqpacket", "socket", []uint64{unix.AF_UNIX, unix.SOCK_SEQPACKET | cloexec}, strict, retAllow},
		{"a unix datagram", "socket", []uint64{unix.AF_UNIX, dgram}, strict, eacces},
		{"a unix datagram with flags", "socket", []uint64{unix.AF_UNIX, dgram | cloexec}, strict, eacces},
		{"a unix datagram with high bits", "socket", []uint64{unix.AF_UNIX | high, dgram | high}, both, eacces},
		{"a unix raw socket, which is a datagram", "socket", []uint64{unix.AF_UNIX, unix.SOCK_RAW}, strict, eacces},
		{"an execution", "execve", []uint64{1, 1, 1}, strict, retAllow},
		{"an execution where there is none", "execve", []uint64{1, 1, 1}, DenyOptions{NoExec: true}, eperm},
		{"an execution by descriptor where there is none", "execveat", []uint64{3, 1, 1, 1, 0}, DenyOptions{NoExec: true}, eperm},
		{"tcp", "socket", []uint64{unix.AF_INET, stream | cloexec, 0}, strict, retAllow},
		{"tcp over 6 by number", "socket", []uint64{unix.AF_INET6, stream, unix.IPPROTO_TCP}, strict, retAllow},
		{"mptcp", "socket", []uint64{unix.AF_INET, stream, unix.IPPROTO_MPTCP}, strict, retAllow},
		{"udp", "socket", []uint64{unix.AF_INET, dgram | cloexec, unix.IPPROTO_UDP}, strict, retAllow},
		{"unprivileged ping", "socket", []uint64{unix.AF_INET6, dgram, unix.IPPROTO_ICMPV6}, strict, retAllow},
		{"a raw ip socket", "socket", []uint64{unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP}, both, eperm},
		{"SOCK_PACKET, which is AF_PACKET", "socket", []uint64{unix.AF_INET, unix.SOCK_PACKET, 0}, strict, noType},
		{"sctp", "socket", []uint64{unix.AF_INET, stream, unix.IPPROTO_SCTP}, strict, noProto},
		{"dccp", "socket", []uint64{unix.AF_INET6, unix.SOCK_DCCP, 0}, strict, noType},
		{"netlink route", "socket", []uint64{unix.AF_NETLINK, unix.SOCK_RAW | cloexec, unix.NETLINK_ROUTE}, strict, retAllow},
		{"netlink netfilter", "socket", []uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER}, both, noProto},
		{"netlink uevents", "socket", []uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT}, strict, noProto},
		{"a unix stream offline", "socket", []uint64{unix.AF_UNIX | high, stream | cloexec}, offline, retAllow},
		{"a unix datagram offline", "socket", []uint64{unix.AF_UNIX, dgram}, offline, eacces},
		{"tcp offline", "socket", []uint64{unix.AF_INET, stream | cloexec, 0}, offline, noFamily},
		{"udp over 6 offline", "socket", []uint64{unix.AF_INET6 | high, dgram, 0}, offline, noFamily},
		{"netlink route offline", "socket", []uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE}, offline, noFamily},
		{"vsock offline", "socket", []uint64{unix.AF_VSOCK, stream}, offline, noFamily},
		{"a pair of streams offline", "socketpair", []uint64{unix.AF_UNIX, stream}, offline, retAllow},
		{"a unix stream with a loopback", "socket", []uint64{unix.AF_UNIX | high, stream | cloexec}, loopback, retAllow},
		{"a unix datagram with a loopback", "socket", []uint64{unix.AF_UNIX, dgram}, loopback, eacces},
		{"tcp with a loopback", "socket", []uint64{unix.AF_INET | high, stream | cloexec | high, 0}, loopback, retNotify},
		{"tcp over 6 by number with a loopback", "socket", []uint64{unix.AF_INET6, stream, unix.IPPROTO_TCP}, loopback, retNotify},
		{"mptcp with a loopback", "socket", []uint64{unix.AF_INET, stream, unix.IPPROTO_MPTCP}, loopback, noFamily},
		{"udp with a loopback", "socket", []uint64{unix.AF_INET, dgram | cloexec, 0}, loopback, noFamily},
		{"netlink route with a loopback", "socket", []uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE}, loopback, noFamily},
		{"connect with a loopback", "connect", []uint64{3}, loopback, retNotify},
		{"bind with a loopback", "bind", []uint64{3}, loopback, retNotify},
		{"no delay with a loopback", "setsockopt", []uint64{3, unix.IPPROTO_TCP, unix.TCP_NODELAY}, loopback, retErrno(0)},
		{"keep alive with a loopback", "setsockopt", []uint64{3, unix.SOL_SOCKET, unix.SO_KEEPALIVE}, loopback, retAllow},
		{"connect offline", "connect", []uint64{3}, offline, retAllow},
		{"a loopback without the option Offline", "socket", []uint64{unix.AF_INET, stream, 0}, DenyOptions{Loopback: true}, retAllow},
		{"vsock", "socket", []uint64{unix.AF_VSOCK, stream}, both, noFamily},
		{"alg", "socket", []uint64{unix.AF_ALG, unix.SOCK_SEQPACKET}, both, noFamily},
		{"packet", "socket", []uint64{unix.AF_PACKET, unix.SOCK_RAW, 0x300}, both, noFamily},
		{"bluetooth", "socket", []uint64{unix.AF_BLUETOOTH, unix.SOCK_RAW, 1}, both, noFamily},
		{"xdp", "socket", []uint64{unix.AF_XDP, unix.SOCK_RAW, 0}, both, noFamily},
		{"a pair of streams", "socketpair", []uint64{unix.AF_UNIX, stream | cloexec}, strict, retAllow},
		{"a pair of seqpackets", "socketpair", []uint64{unix.AF_UNIX, unix.SOCK_SEQPACKET}, strict, retAllow},
		{"a pair of datagrams", "socketpair", []uint64{unix.AF_UNIX, dgram | cloexec}, strict, eacces},
		{"a pair of another family", "socketpair", []uint64{unix.AF_TIPC, stream}, strict, noFamily},
		{"TIOCSTI", "ioctl", []uint64{0, 0x5412}, both, eperm},
		{"TIOCSTI with high bits", "ioctl", []uint64{0, 0x5412 | high}, strict, eperm},
		{"TIOCSTI with the sign bit", "ioctl", []uint64{0, 0xffffffff00005412}, strict, eperm},
		{"TIOCLINUX", "ioctl", []uint64{0, 0x541c}, strict, eperm},
		{"TIOCCONS", "ioctl", []uint64{0, 0x541d}, strict, eperm},
		{"a line discipline", "ioctl", []uint64{0, 0x5423}, strict, eperm},
		{"a btrfs subvolume", "ioctl", []uint64{3, 0x5000940e}, strict, eperm},
		{"a lease", "fcntl", []uint64{3, unix.F_SETLEASE}, both, eacces},
		{"a lease with high bits", "fcntl", []uint64{3, unix.F_SETLEASE | high}, strict, eacces},
		{"asking about a lease", "fcntl", []uint64{3, unix.F_GETLEASE}, strict, retAllow},
		{"a lock", "fcntl", []uint64{3, unix.F_SETLK}, strict, retAllow},
		{"window size", "ioctl", []uint64{0, unix.TIOCGWINSZ}, strict, retAllow},
		{"controlling terminal", "ioctl", []uint64{0, unix.TIOCSCTTY}, strict, retAllow},
		{"copy on write", "ioctl", []uint64{3, unix.FICLONE}, strict, retAllow},
		{"fork", "clone", []uint64{unix.CLONE_CHILD_CLEARTID | unix.CLONE_CHILD_SETTID | 17}, strict, retAllow},
		{"a thread", "clone", []uint64{0x3d0f00}, strict, retAllow},
		{"clone with a user namespace", "clone", []uint64{unix.CLONE_NEWUSER | 17}, debug, eperm},
		{"clone with a network namespace", "clone", []uint64{unix.CLONE_NEWNET | 17}, strict, eperm},
		{"clone with a user namespace, allowed", "clone", []uint64{unix.CLONE_NEWUSER | 17}, userns, retAllow},
		{"unshare of file descriptors", "unshare", []uint64{unix.CLONE_FILES | unix.CLONE_FS}, strict, retAllow},
		{"unshare of users", "unshare", []uint64{unix.CLONE_NEWUSER}, strict, eperm},
		{"unshare of mounts", "unshare", []uint64{unix.CLONE_NEWNS | high}, strict, eperm},
		{"unshare of time", "unshare", []uint64{unix.CLONE_NEWTIME}, strict, eperm},
		{"unshare of users, allowed", "unshare", []uint64{unix.CLONE_NEWUSER}, userns, retAllow},
		{"asking for the personality", "personality", []uint64{0xffffffff}, strict, retAllow},
		{"linux32", "personality", []uint64{8}, strict, retAllow},
		{"executable memory everywhere", "personality", []uint64{0x400000}, both, eperm},
		{"no randomization", "personality", []uint64{0x40000}, strict, eperm},
		{"no randomization under a debugger", "personality", []uint64{0x40000}, debug, retAllow},
		{"asking for the core limit", "prlimit64", []uint64{0, unix.RLIMIT_CORE, 0, 0x7f0000001000}, strict, retAllow},
		{"setting the core limit", "prlimit64", []uint64{0, unix.RLIMIT_CORE, 0x7f0000001000, 0}, strict, retErrno(0)},
		{"setting it by an address with a zero low word", "prlimit64", []uint64{0, unix.RLIMIT_CORE, 0x7f00000000, 0}, strict, retErrno(0)},
		{"exchanging the core limit", "prlimit64", []uint64{0, unix.RLIMIT_CORE, 0x1000, 0x7f00000000}, strict, eperm},
		{"the core limit with high bits", "prlimit64", []uint64{0, unix.RLIMIT_CORE | high, 0x1000, 0}, strict, retErrno(0)},
		{"setting another limit", "prlimit64", []uint64{0, unix.RLIMIT_NOFILE, 0x1000, 0x1000}, strict, retAllow},
		{"the core limit by setrlimit", "setrlimit", []uint64{unix.RLIMIT_CORE, 0x1000}, strict, retErrno(0)},
		{"another limit by setrlimit", "setrlimit", []uint64{unix.RLIMIT_AS, 0x1000}, strict, retAllow},
		{"hiding one's memory", "prctl", []uint64{unix.PR_SET_DUMPABLE, 0}, strict, retAllow},
		{"hiding one's memory from a guard inside", "prctl", []uint64{unix.PR_SET_DUMPABLE, 0}, DenyOptions{Dumpable: true}, retErrno(0)},
		{"showing one's memory", "prctl", []uint64{unix.PR_SET_DUMPABLE, 1}, DenyOptions{Dumpable: true}, retAllow},
		{"another prctl", "prctl", []uint64{unix.PR_SET_NAME, 0}, DenyOptions{Dumpable: true}, retAllow},
		{"an ordinary mode", "fchmod", []uint64{3, 0o1777}, strict, retAllow},
		{"set-group-ID by fchmod", "fchmod", []uint64{3, 0o2775}, strict, eperm},
		{"set-user-ID by chmod", "chmod", []uint64{0, 0o4755}, strict, eperm},
		{"set-user-ID by fchmod", "fchmod", []uint64{3, 0o6755}, both, eperm},
		{"set-user-ID by fchmodat", "fchmodat", []uint64{3, 0, 0o4755}, strict, eperm},
		{"set-user-ID by fchmodat2", "fchmodat2", []uint64{3, 0, 0o4755, 0}, strict, eperm},
		{"set-user-ID by creat", "creat", []uint64{0, 0o4755}, strict, eperm},
		{"set-user-ID by mknod", "mknodat", []uint64{3, 0, 0o104755, 0}, strict, eperm},
		{"set-user-ID by open", "open", []uint64{0, unix.O_CREAT | unix.O_WRONLY, 0o4755}, strict, eperm},
		{"set-user-ID by openat", "openat", []uint64{3, 0, unix.O_CREAT, 0o4755}, strict, eperm},
		{"set-user-ID by O_TMPFILE", "openat", []uint64{3, 0, unix.O_TMPFILE | unix.O_RDWR, 0o4755}, strict, eperm},
		{"open that makes a file", "openat", []uint64{3, 0, unix.O_CREAT, 0o644}, strict, retAllow},
		{"open of a file, whose mode is garbage", "openat", []uint64{3, 0, unix.O_RDONLY | unix.O_DIRECTORY, 0o4755}, strict, retAllow},
	}
	for _, arch := range bothArchs {
		for _, tt := range tests {
			t.Run(arch+" "+tt.name, func(t *testing.T) {
				d, ok := dataOf(t, arch, tt.call, tt.args...)
				if !ok {
					return // this architecture has no such call, as the table test checks
				}
				d.ip = 1 << 46
				if got, err := runBPF(denyFilter(t, arch, tt.o), d); err != nil || got != tt.want {
					t.Errorf("got %#x, %v, want %#x", got, err, tt.want)
				}
			})
		}
	}
}

func Test_The_Guest_May_Hide_Its_Memory(t *testing.T) {
	for _, arch := range bothArchs {
		d, _ := dataOf(t, arch, "prctl", unix.PR_SET_DUMPABLE, 0)
		d.ip = 0x400000
		if got, err := runBPF(denyFilter(t, arch, DenyOptions{Dumpable: true}), d); err != nil || got != retAllow {
			t.Errorf("%s: got %#x, %v", arch, got, err)
		}
	}
}

func Test_Guard_Program_Asks_About_New_Names(t *testing.T) {
	always := strings.Fields(`creat openat2 mkdir mkdirat mknod mknodat symlink symlinkat
		link linkat rename renameat renameat2 connect umask`)
	tests := []struct {
		name string
		o    AskOptions
		also string
	}{
		{"by itself", AskOptions{}, ""},
		{"with removals", AskOptions{Removals: true}, "unlink unlinkat rmdir"},
		{"with binds", AskOptions{Binds: true}, "bind getsockname getpeername"},
		{"with tuning", AskOptions{Tuning: true}, "ioprio_set"}, // of the kind 0, which does not exist
		{"with both", AskOptions{Removals: true, Binds: true}, "unlink unlinkat rmdir bind getsockname getpeername"},
	}
	for _, arch := range bothArchs {
		for _, tt := range tests {
			t.Run(arch+" "+tt.name, func(t *testing.T) {
				program, err := Ask(arch, tt.o)
				if err != nil {
					t.Fatal(err)
				}
				table, asked := mustTable(t, arch), map[uint32]bool{}
				for _, name := range append(slices.Clone(always), strings.Fields(tt.also)...) {
					if nr, ok, err := table.number(name); err != nil {
						t.Fatal(err)
					} else if ok {
						asked[nr] = true
					}
				}
				for nr := range uint32(1200) {
					want := retAllow
					if asked[nr] {
						want = retNotify
					}
					if got, err := runBPF(program, seccompData{nr: nr, arch: table.audit}); err != nil || got != want {
						t.Errorf("call %d: got %#x, %v, want %#x", nr, got, err, want)
					}
					if got, err := runBPF(program, seccompData{nr: nr, arch: unix.AUDIT_ARCH_I386}); err != nil || got != retAllow {
						t.Errorf("foreign call %d: got %#x, %v, want it let through", nr, got, err)
					}
				}
			})
		}
	}
}

func Test_Guard_Program_Reads_Open_Flags(t *testing.T) {
	tests := []struct {
		name  string
		flags uint64
		want  uint32
	}{
		{"reading", unix.O_RDONLY | unix.O_CLOEXEC, retAllow},
		{"writing", unix.O_WRONLY | unix.O_TRUNC, retAllow},
		{"a file without a name", unix.O_TMPFILE | unix.O_RDWR, retAllow},
		{"creating", unix.O_WRONLY | unix.O_CREAT, retNotify},
		{"creating only", unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL, retNotify},
		{"creating with high bits", unix.O_CREAT | high, retNotify},
		{"high bits", high, retAllow},
	}
	for _, arch := range bothArchs {
		program, err := Ask(arch, AskOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range tests {
			t.Run(arch+" "+tt.name, func(t *testing.T) {
				for name, args := range map[string][]uint64{"open": {0, tt.flags}, "openat": {0, 0, tt.flags}} {
					d, ok := dataOf(t, arch, name, args...)
					if !ok {
						continue
					}
					if got, err := runBPF(program, d); err != nil || got != tt.want {
						t.Errorf("%s: got %#x, %v, want %#x", name, got, err, tt.want)
					}
				}
			})
		}
	}
}

// Calls that Deny leaves to the other program are reported by it, and no call is allowed that Deny alone refuses.
func Test_Both_Programs_Together_Allow_No_More_Than_Deny_Alone(t *testing.T) {
	const datagram = unix.SOCK_DGRAM | unix.SOCK_CLOEXEC
	arguments := [][6]uint64{
		{},
		{unix.CLONE_NEWUSER},
		{unix.CLONE_NEWTIME},
		{unix.CLONE_VM | unix.CLONE_NEWNET},
		{unix.CLONE_VM},
		{unix.AF_UNIX, datagram},
		{unix.AF_UNIX, unix.SOCK_STREAM},
		{unix.AF_UNIX, unix.SOCK_RAW},
		{unix.AF_INET, datagram},
	}
	for _, arch := range bothArchs {
		for _, o := range []DenyOptions{{}, {Userns: true}, {Debuggers: true}, {Userns: true, Debuggers: true}} {
			t.Run(fmt.Sprintf("%s %+v", arch, o), func(t *testing.T) {
				alone, audit := denyFilter(t, arch, o), mustTable(t, arch).audit
				o.Reported = true
				deny := denyFilter(t, arch, o)
				ask, err := Ask(arch, AskOptions{Refused: &o})
				if err != nil {
					t.Fatal(err)
				}
				reported := 0
				for nr := range uint32(1200) {
					for _, args := range arguments {
						d := seccompData{nr: nr, arch: audit, args: args}
						want, err1 := runBPF(alone, d)
						got, err2 := runBPF(deny, d)
						asked, err3 := runBPF(ask, d)
						if err := errors.Join(err1, err2, err3); err != nil {
							t.Fatal(err)
						}
						if got == want {
							continue
						}
						if reported++; got != retAllow || asked != unix.SECCOMP_RET_USER_NOTIF {
							t.Errorf("call %d %v: %#x and %#x, alone %#x", nr, args, got, asked, want)
						}
					}
				}
				if reported == 0 {
					t.Error("no call is left to the other program")
				}
			})
		}
	}
}

func Test_Programs_Stay_Small(t *testing.T) {
	for _, arch := range bothArchs {
		for _, o := range []DenyOptions{{}, {Userns: true, Debuggers: true}} {
			t.Run(fmt.Sprintf("%s %+v", arch, o), func(t *testing.T) {
				guard, err := Ask(arch, AskOptions{Removals: true, Binds: true, Refused: &o})
				if err != nil {
					t.Fatal(err)
				}
				deny := len(denyFilter(t, arch, o))
				t.Logf("deny %d, guard %d instructions", deny, len(guard))
				if deny > 400 || len(guard) > 100 {
					t.Errorf("deny %d, guard %d instructions", deny, len(guard))
				}
			})
		}
	}
}

func Test_Unknown_Architecture_Is_An_Error(t *testing.T) {
	if _, err := Deny("riscv64", DenyOptions{}); err == nil {
		t.Error("Deny made a program for an architecture it has no table of")
	}
	if _, err := Ask("386", AskOptions{}); err == nil {
		t.Error("Ask made a program for an architecture it has no table of")
	}
}
