//go:build linux

package seccomp

import "golang.org/x/sys/unix"

// AskOptions chooses the calls that are reported besides new names and connections.
type AskOptions struct {
	Removals bool // also unlink, unlinkat and rmdir
	Binds    bool // also bind, which makes the name of a Unix socket, and getsockname and getpeername, which return it
	Writes   bool // also opens for writing of what exists
	Reads    bool // also all other opens
	Tuning   bool // also changes of limits and scheduling, but for those of the caller by the ID 0
}

// tuning reports calls that name a process, whose ID may be that of any thread.
func tuning() []callRule {
	first := func(p *bpfProgram) {
		p.load(argLow(0))
		p.equal(0, toAllow, toAsk)
	}
	kind := func(process uint32) func(*bpfProgram) { // the first argument says what kind of ID the second one is
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

// Ask makes the program that reports to the guard each call
// that may create, move or (if asked) remove or open a directory entry, and connect. It
// lets everything else through, calls of other architectures too: [Deny]
// ends those. arch is "amd64" or "arm64".
//
// It also reports umask, whose argument is a number: the guard needs to know when a umask changes. And it
// reports execve, which the guard always lets through. When the guard's process is
// dead, the kernel fails execve, and no new program runs: without that, a bubblewrap
// between two of its own steps would start the command unguarded. Calls from the first 4 GiB
// are not reported: bubblewrap lies above, as all position-independent programs do, and the
// guard's own fork, a statically linked program, lies there. The fork holds the listener open
// itself and would wait for an answer for ever.
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
