//go:build linux

package seccomp

import (
	"golang.org/x/sys/unix"
)

// namespaceFlags are the flags of clone(2) and unshare(2) that make namespaces.
const namespaceFlags = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// Deny makes the program for every command. arch is "amd64" or "arm64".
//
//   - A call of another architecture (i386's int 0x80 on x86-64, 32-bit ARM) kills
//     the process: its numbers mean other calls, which these rules do not cover.
//   - A number above the newest known one is ENOSYS, the answer of an older
//     kernel, so programs fall back to older calls. That covers calls that this table
//     does not judge (CVE-2021-41133), x32 (bit 30), and x86-64's numbers 512 to 547, which older
//     kernels also run without that bit.
//   - Calls that have an older sibling to fall back to are ENOSYS, others EPERM.
func Deny(arch string, o DenyOptions) (Program, error) {
	table, err := callTableOf(arch)
	if err != nil {
		return nil, err
	}
	return filterPlan{
		table:   table,
		rules:   denyRules(o),
		foreign: unix.SECCOMP_RET_KILL_PROCESS,
		newer:   reply(unix.ENOSYS),
		replies: denyReplies(),
	}.assemble()
}

func denyReplies() map[bpfLabel]uint32 {
	replies := map[bpfLabel]uint32{toAllow: unix.SECCOMP_RET_ALLOW, toAsk: unix.SECCOMP_RET_USER_NOTIF}
	for _, e := range []unix.Errno{
		0, unix.EPERM, unix.EACCES, unix.ENOSYS,
		unix.EAFNOSUPPORT, unix.EPROTONOSUPPORT, unix.ESOCKTNOSUPPORT,
	} {
		replies[reply(e)] = unix.SECCOMP_RET_ERRNO | uint32(e)
	}
	return replies
}

func denyRules(o DenyOptions) []callRule {
	eperm, enosys := reply(unix.EPERM), reply(unix.ENOSYS)
	rules := []callRule{
		// These would make sockets and files without the checks of this program and of the guard.
		{calls: "io_uring_setup io_uring_enter io_uring_register", to: enosys},
		// The flags are in memory, where another thread could change them after a check.
		{calls: "openat2", to: enosys},
		// Keyrings belong to the user, not to a namespace.
		{calls: "add_key request_key keyctl", to: eperm},
		{calls: "pidfd_getfd kcmp", to: eperm},
		{calls: "bpf perf_event_open userfaultfd", to: eperm},
		{calls: "kexec_load kexec_file_load init_module finit_module delete_module", to: eperm},
		// Opens files by inode number, also those without a path.
		{calls: "open_by_handle_at", to: eperm},
		{calls: "open_tree open_tree_attr move_mount fsopen fsconfig fsmount fspick mount_setattr", to: enosys},
		{calls: "setns", to: eperm},
		{calls: "swapon swapoff reboot acct quotactl quotactl_fd syslog vhangup fanotify_init", to: eperm},
		{calls: "sethostname setdomainname settimeofday clock_settime adjtimex clock_adjtime", to: eperm},
		{calls: "iopl ioperm", to: eperm},
		{calls: "modify_ldt nfsservctl lookup_dcookie uselib", to: enosys},
		{calls: "personality", check: func(p *bpfProgram) { checkPersonality(p, o.Debuggers) }},
		{calls: "ioctl", check: checkIoctl},
		{calls: "fcntl", check: checkFcntl},
		{calls: "socket", check: checkSocket(o)},
		{calls: "socketpair", check: checkSocketpair(o.Reported)},
		{calls: "setrlimit", check: checkSetrlimit},
		{calls: "prlimit64", check: checkPrlimit},
		{calls: "open", check: checkOpenMode(1)},
		{calls: "openat", check: checkOpenMode(2)},
		{calls: "chmod fchmod creat mknod", check: checkMode(1)},
		{calls: "fchmodat fchmodat2 mknodat", check: checkMode(2)},
	}
	if !o.Reported {
		rules = append(rules, permittable(o, eperm)...)
	}
	if o.NoExec {
		rules = append(rules, callRule{calls: "execve execveat", to: eperm})
	}
	if o.Offline && o.Loopback {
		rules = append(rules,
			callRule{calls: "connect bind", to: toAsk},
			callRule{calls: "setsockopt", check: checkTCPOption},
		)
	}
	if o.Dumpable {
		rules = append(rules, callRule{calls: "prctl", check: checkDumpable})
	}
	if !o.Userns {
		// The flags are in memory; the C libraries fall back to clone.
		rules = append(rules, callRule{calls: "clone3", to: enosys})
	}
	return rules
}

// permittable returns the rules of the calls that a policy can permit. Calls that o does not permit go to refused.
func permittable(o DenyOptions, refused bpfLabel) []callRule {
	var rules []callRule
	if !o.Debuggers {
		rules = append(rules, callRule{calls: "ptrace process_vm_readv process_vm_writev", to: refused})
	}
	if !o.Userns {
		rules = append(rules,
			callRule{calls: "mount umount2 pivot_root", to: refused},
			callRule{calls: "clone", check: checkFlags(namespaceFlags, refused)},
			callRule{calls: "unshare", check: checkFlags(namespaceFlags|unix.CLONE_NEWTIME, refused)},
		)
	}
	return rules
}
