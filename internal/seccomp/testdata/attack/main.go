// Command attack tries system calls that a sandbox refuses and prints, as JSON,
// what the kernel answered to each: an error name, or "ok".
package main

import (
	"encoding/json"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

type attempt struct {
	name string
	call func() unix.Errno
}

func raw(nr uintptr, args ...uintptr) func() unix.Errno {
	return func() unix.Errno {
		var a [6]uintptr
		copy(a[:], args)
		_, _, errno := unix.Syscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5])
		return errno
	}
}

func socket(domain, typ, proto uintptr) func() unix.Errno {
	return raw(unix.SYS_SOCKET, domain, typ, proto)
}

func pair(typ uintptr) func() unix.Errno {
	var fds [2]int32
	return raw(unix.SYS_SOCKETPAIR, unix.AF_UNIX, typ, 0, uintptr(unsafe.Pointer(&fds)))
}

func coreLimit() unix.Errno {
	want := unix.Rlimit{}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &want); err != nil {
		return err.(unix.Errno)
	}
	var got unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &got); err != nil {
		return err.(unix.Errno)
	}
	if got != want {
		return unix.EALREADY // claimed success, changed nothing
	}
	return 0
}

func withFile(f func(fd int) error) func() unix.Errno {
	return func() unix.Errno {
		file, err := os.CreateTemp("", "attack")
		if err != nil {
			return unix.EIO
		}
		defer file.Close()
		defer os.Remove(file.Name())
		if err := f(int(file.Fd())); err != nil {
			return err.(unix.Errno)
		}
		return 0
	}
}

func attempts() []attempt {
	const sti = 0x5412
	var params [120]byte
	one := uintptr(unsafe.Pointer(&params))
	root := uintptr(unsafe.Pointer(&[]byte("/\x00")[0]))
	tmpfs := uintptr(unsafe.Pointer(&[]byte("tmpfs\x00")[0]))
	list := []attempt{
		{"io_uring", raw(unix.SYS_IO_URING_SETUP, 1, one)},
		{"keyctl", raw(unix.SYS_KEYCTL, 0, ^uintptr(2), 0)},
		{"add_key", raw(unix.SYS_ADD_KEY)},
		{"ptrace", raw(unix.SYS_PTRACE, unix.PTRACE_PEEKDATA, ^uintptr(0))},
		{"process_vm_readv", raw(unix.SYS_PROCESS_VM_READV, 1)},
		{"bpf", raw(unix.SYS_BPF, 99)},
		{"perf_event_open", raw(unix.SYS_PERF_EVENT_OPEN)},
		{"userfaultfd", raw(unix.SYS_USERFAULTFD, 0xffff)},
		{"pidfd_getfd", raw(unix.SYS_PIDFD_GETFD, ^uintptr(0))},
		{"open_by_handle_at", raw(unix.SYS_OPEN_BY_HANDLE_AT)},
		{"openat2", raw(unix.SYS_OPENAT2)},
		{"unshare user", raw(unix.SYS_UNSHARE, unix.CLONE_NEWUSER)},
		{"clone user", raw(unix.SYS_CLONE, unix.CLONE_NEWUSER|unix.CLONE_FS)},
		{"clone3", raw(unix.SYS_CLONE3)},
		{"setns", raw(unix.SYS_SETNS, ^uintptr(0))},
		{"mount", raw(unix.SYS_MOUNT, 0, 0, 0, ^uintptr(0))},
		{"umount", raw(unix.SYS_UMOUNT2, 0)},
		{"open_tree", raw(unix.SYS_OPEN_TREE, ^uintptr(0), root)},
		{"fsopen", raw(unix.SYS_FSOPEN, tmpfs)},
		{"mount_setattr", raw(unix.SYS_MOUNT_SETATTR)},
		{"kexec_load", raw(unix.SYS_KEXEC_LOAD, 0, 99)},
		{"personality", raw(unix.SYS_PERSONALITY, 0x400000)},
		{"vsock", socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0)},
		{"alg", socket(unix.AF_ALG, unix.SOCK_SEQPACKET, 0)},
		{"packet", socket(unix.AF_PACKET, unix.SOCK_RAW, 0)},
		{"unix datagram", socket(unix.AF_UNIX, unix.SOCK_DGRAM, 0)},
		{"unix datagram pair", pair(unix.SOCK_DGRAM)},
		{"netlink netfilter", socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER)},
		{"TIOCSTI", raw(unix.SYS_IOCTL, 0, sti, one)},
		{"TIOCSTI high bits", raw(unix.SYS_IOCTL, 0, sti|1<<32, one)},
		{"core limit", coreLimit},
		{"set-user-ID", withFile(func(fd int) error { return unix.Fchmod(fd, 0o4755) })},
		{"unknown call", raw(4000)},
		{"unix stream", socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)},
		{"unix stream pair", pair(unix.SOCK_STREAM | unix.SOCK_CLOEXEC)},
		{"netlink route", socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE)},
		{"tcp", socket(unix.AF_INET, unix.SOCK_STREAM, 0)},
		{"chmod", withFile(func(fd int) error { return unix.Fchmod(fd, 0o755) })},
		{"unshare files", raw(unix.SYS_UNSHARE, unix.CLONE_FILES)},
	}
	return append(list, archAttempts()...)
}

func main() {
	if len(os.Args) > 1 {
		foreign()
		return
	}
	out := map[string]string{}
	for _, a := range attempts() {
		out[a.name] = "ok"
		if errno := a.call(); errno != 0 {
			out[a.name] = unix.ErrnoName(errno)
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		os.Exit(1)
	}
}
