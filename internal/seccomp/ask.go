//go:build linux

package seccomp

import "golang.org/x/sys/unix"

// AskOptions chooses the calls that are reported besides new names and connections.
type AskOptions struct {
	Removals bool // also unlink, unlinkat and rmdir
	Binds    bool // also bind, which creates the file of a Unix socket, and getsockname and getpeername, which return its path
	Writes   bool // also opens of existing files for writing
	Reads    bool // also all other opens
	Tuning   bool // also changes of limits and scheduling, except those of the caller by the ID 0
	// Refused are the options of Deny with Reported, which leave calls to this program; nil: none are left.
	Refused *DenyOptions
}

// tuning returns rules that report calls with the ID of a process; the ID may be that of any thread.
func tuning() []callRule {
	first := func(p *bpfProgram) {
		p.load(argLow(0))
		p.equal(0, toAllow, toAsk)
	}
	kind := func(process uint32) func(*bpfProgram) { // the first argument is the kind of the ID in the second one
		return func(p *bpfProgram) {
			p.load(argLow(0))
			p.equal(process, "", toAsk)
			p.load(argLow(1))
			p.equal(0, toAllow, toAsk)
		}
	}
	const ioprioProcess = 1
	return []callRule{
		{calls: "prlimit64 sched_setparam sched_setscheduler sched_setattr sched_setaffinity", check: first},
		{calls: "setpriority", check: kind(unix.PRIO_PROCESS)},
		{calls: "ioprio_set", check: kind(ioprioProcess)},
	}
}

// Ask makes the program that reports to the guard each call that may create, move or (if asked) remove or
// open a directory entry, and connect. It allows all other calls, also those of other architectures,
// which [Deny] kills. arch is "amd64" or "arm64".
//
// It also reports umask, whose argument is a number: the guard needs to know when a umask changes. And it
// reports execve, which the guard always lets through. When the guard's process is dead, the kernel fails
// execve, and no new program runs: without that, a bubblewrap between two of its own steps would start
// the command unguarded. It does not report calls from code in the first 4 GiB. The guard's own fork, a
// statically linked program, is loaded there; it holds the listener open itself and would wait for an
// answer forever. Position-independent programs such as bubblewrap are loaded above.
func Ask(arch string, o AskOptions) (Program, error) {
	table, err := callTableOf(arch)
	if err != nil {
		return nil, err
	}
	opens := func(calls string, arg int) callRule {
		if o.Reads {
			return callRule{calls: calls, to: toAsk}
		}
		bits := uint32(unix.O_CREAT)
		if o.Writes {
			bits |= unix.O_ACCMODE | unix.O_TRUNC
		}
		return callRule{calls: calls, check: func(p *bpfProgram) {
			p.load(argLow(arg))
			p.bits(bits, toAsk)
		}}
	}
	rules := []callRule{
		opens("open", 1),
		opens("openat", 2),
		{calls: "creat openat2", to: toAsk},
		{calls: "mkdir mkdirat mknod mknodat symlink symlinkat link linkat", to: toAsk},
		{calls: "rename renameat renameat2", to: toAsk},
		{calls: "connect umask", to: toAsk},
		{calls: "execve execveat", check: func(p *bpfProgram) {
			p.load(callerHigh)
			p.equal(0, toAllow, toAsk)
		}},
	}
	if o.Removals {
		rules = append(rules, callRule{calls: "unlink unlinkat rmdir", to: toAsk})
	}
	if o.Binds {
		rules = append(rules, callRule{calls: "bind getsockname getpeername", to: toAsk})
	}
	if o.Tuning {
		rules = append(rules, tuning()...)
	}
	if o.Refused != nil {
		rules = append(rules, permittable(*o.Refused, toAsk)...)
		rules = append(rules, callRule{calls: "socketpair", check: askDatagramPair})
	}
	return filterPlan{
		table:   table,
		rules:   rules,
		foreign: unix.SECCOMP_RET_ALLOW,
		newer:   toAllow,
		replies: map[bpfLabel]uint32{
			toAllow: unix.SECCOMP_RET_ALLOW,
			toAsk:   unix.SECCOMP_RET_USER_NOTIF,
		},
	}.assemble()
}
