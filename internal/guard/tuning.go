//go:build linux

package guard

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Kinds of IDs that ioprio_set(2) takes.
const (
	ioprioProcess = 1
	ioprioGroup   = 2
)

// tunes reports whether a call changes the limits or the scheduling of a process (tuning), and whether this is
// the guard's process (own). The guard and the commands may share a user, and such a call could stop the guard,
// slow it down or leave it without descriptors. The kernel executes all other calls. Their arguments are not in
// memory, so no thread can change them after the check.
func (g *Guard) tunes(n notification) (tuning, own bool) {
	first, second := int(int32(n.args[0])), int(int32(n.args[1]))
	const newLimit = 2
	switch n.nr {
	case unix.SYS_PRLIMIT64:
		return true, n.args[newLimit] != 0 && isOwnThread(first)
	case unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETATTR, unix.SYS_SCHED_SETAFFINITY:
		return true, isOwnThread(first)
	case unix.SYS_SETPRIORITY:
		return true, isOwnSet(int(n.pid), second, first == unix.PRIO_PROCESS, first == unix.PRIO_PGRP)
	case unix.SYS_IOPRIO_SET:
		return true, isOwnSet(int(n.pid), second, first == ioprioProcess, first == ioprioGroup)
	}
	return false, false
}

// isOwnSet reports whether the ID of a process, a process group or else a user includes this process. The ID 0
// stands for that of the caller.
func isOwnSet(caller, id int, process, group bool) bool {
	switch {
	case process:
		return isOwnThread(id)
	case !group:
		return true
	case id != 0:
		return id == unix.Getpgrp()
	}
	its, err := unix.Getpgid(caller)
	return err != nil || its == unix.Getpgrp()
}

// isOwnThread reports whether this process has a thread of that ID.
func isOwnThread(id int) bool {
	if id == os.Getpid() {
		return true
	}
	var st unix.Stat_t
	err := unix.Stat("/proc/self/task/"+strconv.Itoa(id), &st)
	return err == nil
}
