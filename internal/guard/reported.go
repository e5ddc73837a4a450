//go:build linux

package guard

import (
	"encoding/binary"
	"strconv"

	"golang.org/x/sys/unix"
)

// refusedCall returns the name of a call that is reported only to be refused; "": it is none. The seccomp program has looked at
// the arguments.
func refusedCall(n notification) string {
	switch n.nr {
	case unix.SYS_PTRACE:
		return "ptrace"
	case unix.SYS_PROCESS_VM_READV:
		return "process_vm_readv"
	case unix.SYS_PROCESS_VM_WRITEV:
		return "process_vm_writev"
	case unix.SYS_MOUNT:
		return "mount"
	case unix.SYS_UMOUNT2:
		return "umount2"
	case unix.SYS_PIVOT_ROOT:
		return "pivot_root"
	case unix.SYS_CLONE:
		return nameNamespaces("clone", n)
	case unix.SYS_UNSHARE:
		return nameNamespaces("unshare", n)
	}
	return ""
}

func nameNamespaces(call string, n notification) string {
	if isPermittable(n) {
		return call
	}
	return call + " without CLONE_NEWUSER"
}

// isPermittable reports whether a flag of the command line permits a call for which refusedCall returns a name. No flag permits
// mounts and other namespaces than a user namespace, and what commands do in that is not refused. The host permits them to root alone.
func isPermittable(n notification) bool {
	switch n.nr {
	case unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT:
		return false
	case unix.SYS_CLONE, unix.SYS_UNSHARE:
		return n.args[0]&unix.CLONE_NEWUSER != 0
	}
	return true
}

// pair makes a pair of datagram sockets (socketpair(2)) of sockets that keep the bounds of messages, too, and cannot send to
// another socket: a datagram socket could send to every socket of the host that has a path. The other differences are that the end
// of one socket is the end of messages for the other, and what SO_TYPE says (unix(7)).
func (g *Guard) pair(n notification, t target) error {
	if protocol := uint32(n.args[2]); protocol != 0 && protocol != unix.AF_UNIX {
		return unix.EPROTONOSUPPORT
	}
	flags := int(uint32(n.args[1])) &^ 0xf
	if flags&^(unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC) != 0 {
		return unix.EINVAL
	}
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|flags&unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return errnoOf(err)
	}
	defer unix.Close(ends[0])
	defer unix.Close(ends[1])
	// The descriptor refers to the memory of one process, even if another process gets its PID.
	memory, err := unix.Open("/proc/"+strconv.Itoa(t.tid)+"/mem", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return unix.EACCES
	}
	defer unix.Close(memory)
	if !g.listener.valid(n.id) {
		return unix.ESRCH
	}
	// The kernel, too, writes before it gives the descriptors: nothing is given where nothing can be written.
	numbers := make([]byte, 8)
	if got, err := unix.Pwrite(memory, numbers, int64(n.args[3])); err != nil || got < len(numbers) {
		return unix.EFAULT
	}
	for i, end := range ends {
		number, err := g.listener.copyDescriptor(n.id, end, flags&unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		binary.NativeEndian.PutUint32(numbers[4*i:], uint32(number))
	}
	if got, err := unix.Pwrite(memory, numbers, int64(n.args[3])); err != nil || got < len(numbers) {
		return unix.EFAULT // another thread has unmapped it meanwhile
	}
	return errPerformed
}
