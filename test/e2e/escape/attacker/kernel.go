//go:build linux

package attacker

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attackTerminal pushes characters into a terminal. It sets high bits of the request, because ioctl(2) takes 64 bits and the
// kernel uses only 32 of them.
func attackTerminal(args []string) {
	fd := 0
	if len(args) > 0 {
		var err error
		if fd, err = unix.Open(args[0], unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0); err != nil {
			report("open "+args[0], err)
			return
		}
	}
	for _, high := range []uintptr{0, 1 << 32, 0xffffffff << 32} {
		for _, c := range []byte("id\n") {
			_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSTI|high, uintptr(unsafe.Pointer(&c)))
			report(fmt.Sprintf("TIOCSTI with high bits %x", high>>32), errnoError(errno))
		}
		arg := [2]byte{3, 0} // TIOCL_PASTESEL
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), tiocLinux|high, uintptr(unsafe.Pointer(&arg)))
		// If the terminal is not a console the kernel answers ENOTTY, so it has executed the call.
		reached(fmt.Sprintf("TIOCLINUX with high bits %x", high>>32), errnoError(errno))
	}
}

const tiocLinux = 0x541c

func attackShm(args []string) {
	key, err := strconv.Atoi(args[0])
	if err != nil {
		report("key", err)
		return
	}
	id, err := unix.SysvShmGet(key, 0, 0)
	if report("System V shared memory of the host", err) {
		if data, err := unix.SysvShmAttach(id, 0, unix.SHM_RDONLY); err == nil {
			fmt.Printf("%.40s\n", data)
		}
	}
	_, _, errno := unix.Syscall(unix.SYS_MSGGET, uintptr(key), 0, 0)
	report("System V message queue of the host", errnoError(errno))
	_, _, errno = unix.Syscall(unix.SYS_SEMGET, uintptr(key), 0, 0)
	report("System V semaphores of the host", errnoError(errno))
}

func attackQueue(args []string) {
	name, err := unix.BytePtrFromString(args[0])
	if err != nil {
		report("name", err)
		return
	}
	fd, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(name)), unix.O_RDONLY|unix.O_CLOEXEC, 0, 0, 0, 0)
	if report("POSIX message queue of the host", errnoError(errno)) {
		_ = unix.Close(int(fd))
	}
}

func attackKeyring(args []string) {
	id, err := unix.KeyctlSearch(unix.KEY_SPEC_USER_KEYRING, "user", args[0], 0)
	if report("find a key in the user's keyring", err) {
		buf := make([]byte, 100)
		if n, err := unix.KeyctlBuffer(unix.KEYCTL_READ, id, buf, 0); err == nil {
			fmt.Printf("%s\n", buf[:min(n, len(buf))])
		}
	}
	id, err = unix.AddKey("user", "planted", []byte("x"), unix.KEY_SPEC_USER_KEYRING)
	if report("add a key to the user's keyring", err) {
		_, _ = unix.KeyctlInt(unix.KEYCTL_UNLINK, id, unix.KEY_SPEC_USER_KEYRING, 0, 0)
	}
	_, err = unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true)
	report("use the session keyring", err)
	_, err = unix.RequestKey("user", args[0], "", 0)
	report("request a key", err)
}

func attackKill(args []string) {
	for _, arg := range args {
		pid, err := strconv.Atoi(arg)
		if err != nil {
			report("pid", err)
			return
		}
		report("signal host process "+arg, unix.Kill(pid, 0))
		fd, err := unix.PidfdOpen(pid, 0)
		if report("pidfd of host process "+arg, err) {
			report("signal it", unix.PidfdSendSignal(fd, 0, nil, 0))
		}
	}
}

// attackCalls makes system calls with invalid arguments. Every answer except a refusal is a success: the filter has passed the
// call to the kernel.
func attackCalls(names []string) {
	bad := ^uintptr(0)
	for _, name := range names {
		nr, ok := CallNumbers[name]
		if !ok {
			report(name, errors.New("this architecture does not have it"))
			continue
		}
		// All arguments are invalid. For acct and kexec_load zero is not: it switches a feature off.
		_, _, errno := unix.Syscall6(nr, bad, bad, bad, bad, bad, bad)
		reached(name, errnoError(errno))
	}
}

// CallNumbers has, by name, the system calls that the attack "calls" can make on this architecture.
var CallNumbers = map[string]uintptr{
	"io_uring_setup": unix.SYS_IO_URING_SETUP, "io_uring_enter": unix.SYS_IO_URING_ENTER,
	"io_uring_register": unix.SYS_IO_URING_REGISTER,
	"bpf":               unix.SYS_BPF, "perf_event_open": unix.SYS_PERF_EVENT_OPEN, "userfaultfd": unix.SYS_USERFAULTFD,
	"keyctl": unix.SYS_KEYCTL, "add_key": unix.SYS_ADD_KEY, "request_key": unix.SYS_REQUEST_KEY,
	"ptrace": unix.SYS_PTRACE, "process_vm_readv": unix.SYS_PROCESS_VM_READV, "process_vm_writev": unix.SYS_PROCESS_VM_WRITEV,
	"pidfd_getfd": unix.SYS_PIDFD_GETFD, "kcmp": unix.SYS_KCMP,
	"kexec_load": unix.SYS_KEXEC_LOAD, "init_module": unix.SYS_INIT_MODULE, "finit_module": unix.SYS_FINIT_MODULE,
	"delete_module": unix.SYS_DELETE_MODULE, "mount": unix.SYS_MOUNT, "umount2": unix.SYS_UMOUNT2,
	"pivot_root": unix.SYS_PIVOT_ROOT, "chroot": unix.SYS_CHROOT, "open_tree": unix.SYS_OPEN_TREE,
	"move_mount": unix.SYS_MOVE_MOUNT, "fsopen": unix.SYS_FSOPEN, "fsconfig": unix.SYS_FSCONFIG,
	"fsmount": unix.SYS_FSMOUNT, "fspick": unix.SYS_FSPICK, "mount_setattr": unix.SYS_MOUNT_SETATTR,
	"open_by_handle_at": unix.SYS_OPEN_BY_HANDLE_AT, "setns": unix.SYS_SETNS, "clone3": unix.SYS_CLONE3,
	"swapon": unix.SYS_SWAPON, "acct": unix.SYS_ACCT, "syslog": unix.SYS_SYSLOG,
	"quotactl": unix.SYS_QUOTACTL, "fanotify_init": unix.SYS_FANOTIFY_INIT,
}

// attackTrace tries to trace a process that is not its child, and to read and write its memory.
func attackTrace(args []string) {
	pid, err := strconv.Atoi(args[0])
	if err != nil {
		report("pid", err)
		return
	}
	runtime.LockOSThread()
	err = unix.PtraceSeize(pid)
	if report("ptrace another process", err) {
		_ = unix.PtraceDetach(pid)
	}
	if err := unix.PtraceAttach(pid); report("attach to another process", err) {
		_ = unix.PtraceDetach(pid)
	}
	buf := make([]byte, 8)
	local := []unix.Iovec{{Base: &buf[0], Len: 8}}
	remote := []unix.RemoteIovec{{Base: firstMapping(pid), Len: 8}}
	_, err = unix.ProcessVMReadv(pid, local, remote, 0)
	report("read the memory of another process", err)
	var none byte
	_, _, errno := unix.Syscall6(unix.SYS_PROCESS_VM_WRITEV, uintptr(pid), uintptr(unsafe.Pointer(&local[0])), 0,
		uintptr(unsafe.Pointer(&none)), 0, 0)
	report("write the memory of another process", errnoError(errno))
}

func firstMapping(pid int) uintptr {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return 0x400000
	}
	start, _, _ := strings.Cut(string(maps), "-")
	addr, err := strconv.ParseUint(start, 16, 64)
	if err != nil {
		return 0x400000
	}
	return uintptr(addr)
}

// attackPidfd takes a descriptor out of another process.
func attackPidfd(args []string) {
	pid, err := strconv.Atoi(args[0])
	if err != nil {
		report("pid", err)
		return
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		report("take a descriptor of another process", err)
		return
	}
	_, err = unix.PidfdGetfd(fd, 0, 0)
	report("take a descriptor of another process", err)
}

// attackStatus compares this process's filter, privileges and capabilities in proc(5) with the promised ones.
func attackStatus([]string) {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		report("read /proc/self/status", nil)
		return
	}
	want := map[string]string{
		"Seccomp": "2", "NoNewPrivs": "1", "CapInh": "0000000000000000", "CapPrm": "0000000000000000",
		"CapEff": "0000000000000000", "CapBnd": "0000000000000000", "CapAmb": "0000000000000000",
	}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if w, ok := want[name]; ok {
			if value = strings.TrimSpace(value); value != w {
				report(name+" is "+value, nil)
			}
			delete(want, name)
		}
	}
	if len(want) > 0 {
		report(fmt.Sprintf("status lacks %v", want), nil)
	}
}

// attackForeign runs programs that make system calls with another architecture's numbers, which a filter that does not check the
// architecture would permit.
func attackForeign(args []string) {
	for _, name := range args {
		report("a system call by the numbers of "+name, RunForeign("/tmp", name))
	}
}

// RunForeign runs a program in dir that makes system calls with the numbers of i386, as a 64-bit or as a 32-bit program
// (i386-elf), or of x32. It returns the error of the program, or an error if this machine has no such numbers.
func RunForeign(dir, kind string) error {
	file := filepath.Join(dir, fmt.Sprintf("foreign-%s-%d", kind, os.Getpid()))
	if err := os.WriteFile(file, foreignProgram(kind), 0o755); err != nil {
		return err
	}
	defer func() { _ = os.Remove(file) }()
	cmd := exec.Command(file) //nolint:noctx // ends by itself or by the filter
	return cmd.Run()
}

// foreignProgram returns an ELF program that calls getpid(2) and exits with 0 if the
// result is above 0.
func foreignProgram(kind string) []byte {
	// mov eax, NR; int 0x80 or syscall; neg eax; sbb ebx, ebx; inc ebx (0 for a pid);
	// test sign; exit by the same instruction.
	code := map[string][]byte{
		// getpid is 20, exit is 1
		"i386": {
			0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0x31, 0xdb, 0x85, 0xc0, 0x7f, 0x02, 0xb3, 0x01,
			0xb8, 1, 0, 0, 0, 0xcd, 0x80, 0xf4,
		},
		// getpid is 39, exit is 60; with bit 30 set they are those of x32
		"x32": {
			0xb8, 39, 0, 0, 0x40, 0x0f, 0x05, 0x31, 0xff, 0x85, 0xc0, 0x7f, 0x03, 0x40, 0xb7, 0x01,
			0xb8, 60, 0, 0, 0, 0x0f, 0x05, 0xf4,
		},
	}
	// The same instructions in a 64-bit program, and in a 32-bit one.
	if kind == "i386-elf" {
		return elf32(code["i386"])
	}
	return elf64(code[kind])
}

func elf64(code []byte) []byte {
	const base, head = 0x400000, 64 + 56
	var b bytes.Buffer
	b.WriteString("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	write(&b, uint16(2), uint16(62), uint32(1), uint64(base+head), uint64(64), uint64(0), uint32(0),
		uint16(64), uint16(56), uint16(1), uint16(0), uint16(0), uint16(0))
	size := uint64(head + len(code))
	write(&b, uint32(1), uint32(5), uint64(0), uint64(base), uint64(base), size, size, uint64(0x1000))
	b.Write(code)
	return b.Bytes()
}

func elf32(code []byte) []byte {
	const base, head = 0x8048000, 52 + 32
	var b bytes.Buffer
	b.WriteString("\x7fELF\x01\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	write(&b, uint16(2), uint16(3), uint32(1), uint32(base+head), uint32(52), uint32(0), uint32(0),
		uint16(52), uint16(32), uint16(1), uint16(0), uint16(0), uint16(0))
	size := uint32(head + len(code))
	write(&b, uint32(1), uint32(0), uint32(base), uint32(base), size, size, uint32(5), uint32(0x1000))
	b.Write(code)
	return b.Bytes()
}

func write(b *bytes.Buffer, values ...any) {
	for _, v := range values {
		_ = binary.Write(b, binary.LittleEndian, v)
	}
}

// attackUserns creates user namespaces with clone(2), unshare(2) and unshare(1), and enters the namespaces in args.
func attackUserns(args []string) {
	for _, flags := range []uintptr{0, unix.CLONE_NEWNS, unix.CLONE_NEWNET, unix.CLONE_NEWPID} {
		cmd := exec.Command("/bin/true") //nolint:noctx // ends by itself
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER | flags}
		report(fmt.Sprintf("clone with a user namespace and %x", flags), cmd.Run())
	}
	cmd := exec.Command("/bin/true") //nolint:noctx // ends by itself
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWUSER}
	report("unshare a user namespace", cmd.Run())
	cmd = exec.Command("/usr/bin/unshare", "-r", "true") //nolint:noctx // ends by itself
	report("unshare -r", cmd.Run())
	for _, ns := range args {
		fd, err := unix.Open(ns, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err == nil {
			reached("enter "+ns, unix.Setns(fd, 0))
		}
	}
}

// attackLeave leaves the mounts of the sandbox, with a descriptor of args[0], for a file system on args[1]. Then it removes the
// other arguments, and renames those that are directories; a slash at the end marks an empty one. In the new mount namespace
// none of the names is a mount point, so the kernel itself would not refuse.
func attackLeave(args []string) {
	dir, err := unix.Open(args[0], unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err == nil {
		err = unix.Mount("none", args[1], "tmpfs", 0, "")
	}
	if err == nil {
		err = os.Mkdir(args[1]+"/old", 0o755)
	}
	if err == nil {
		err = unix.PivotRoot(args[1], args[1]+"/old")
	}
	if err == nil {
		err = unix.Unmount("/old", unix.MNT_DETACH)
	}
	if err != nil {
		fmt.Println("BROKEN leave the mounts:", err)
		return
	}
	for _, name := range args[2:] {
		empty := strings.HasSuffix(name, "/")
		err := unix.Unlinkat(dir, strings.TrimSuffix(name, "/"), 0)
		if empty {
			err = unix.Unlinkat(dir, name, unix.AT_REMOVEDIR)
		} else if errors.Is(err, unix.EISDIR) {
			err = unix.Renameat(dir, name, dir, name+".moved")
		}
		report("remove "+name, err)
	}
}

// attackMemfd runs this program from memory, with args.
func attackMemfd(args []string) {
	data, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		report("read a program", err)
		return
	}
	fd, err := unix.MemfdCreate("attacker", 0)
	if err != nil {
		fmt.Println("held memfd", err)
		return
	}
	if _, err := unix.Write(fd, data); err != nil {
		fmt.Println("held memfd", err)
		return
	}
	cmd := exec.Command(fmt.Sprintf("/proc/self/fd/%d", fd)) //nolint:noctx // ends by itself
	cmd.Args = append([]string{Name}, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		fmt.Println("held memfd", err)
	}
}

// attackFork starts processes, and succeeds with more than args[0] at one time.
func attackFork(args []string) {
	limit, err := strconv.Atoi(args[0])
	if err != nil {
		report("limit", err)
		return
	}
	var children []*exec.Cmd
	for range 4 * limit {
		cmd := exec.Command("/bin/sleep", "1000") //nolint:noctx // killed below
		if err = cmd.Start(); err != nil {
			break
		}
		children = append(children, cmd)
	}
	for _, c := range children {
		_ = c.Process.Kill()
	}
	for _, c := range children {
		_ = c.Wait()
	}
	if len(children) > limit {
		report(fmt.Sprintf("%d processes at one time, the limit is %d", len(children), limit), nil)
		return
	}
	fmt.Println("held", len(children), "processes:", err)
}
