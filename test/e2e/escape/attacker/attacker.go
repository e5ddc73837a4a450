//go:build linux

// Package attacker is the program that makes attempts inside a sandbox. The binary of the escape tests runs it under
// another name. The tests and the attacker share the description of the probes of the proxy.
package attacker

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Name is the file name under which a binary that calls Main is the attacker.
const Name = "attacker"

// Main makes the attempt args[0] with the rest of args. It prints a line that begins with OPEN
// for each success, with "held" and the reason for each refusal, and "tried" at the end. It
// returns the exit status.
func Main(args []string) int {
	modes := map[string]func(args []string){
		"create":    attackCreate,
		"exchange":  attackExchange,
		"race":      attackRace,
		"renames":   attackRenames,
		"swap":      attackSwap,
		"timed":     attackTimed,
		"flips":     attackFlips,
		"swings":    attackSwings,
		"moves":     attackMoves,
		"connect":   attackConnect,
		"scm":       attackDescriptor,
		"flip":      attackFlip,
		"families":  attackFamilies,
		"fds":       attackFds,
		"readfd":    attackReadFd,
		"terminal":  attackTerminal,
		"shm":       attackShm,
		"queue":     attackQueue,
		"keyring":   attackKeyring,
		"kill":      attackKill,
		"calls":     attackCalls,
		"trace":     attackTrace,
		"pidfd":     attackPidfd,
		"status":    attackStatus,
		"foreign":   attackForeign,
		"userns":    attackUserns,
		"leave":     attackLeave,
		"memfd":     attackMemfd,
		"tmpfs":     attackTmpfs,
		"fork":      attackFork,
		"interface": attackInterfaces,
		"devices":   attackDevices,
		"openers":   attackOpenForWriting,
		"lease":     attackLease,
		"fifos":     attackFIFOs,
		"tmpfile":   attackTmpfile,
		"sigqueue":  attackSigqueue,
		"setuid":    attackSetuid,
		"sleep":     attackSleep,
		"probe":     attackProbe,
		"direct":    attackDirect,
		"follow":    attackFollow,
		"coalesce":  attackCoalesce,
		"takeover":  attackTakeover,
		"publisher": attackPublisher,
		"serve":     attackServe,
		"send":      attackSend,
		"hold":      attackHold,
		"patience":  attackPatience,
		"join":      attackJoin,
	}
	mode, ok := modes[args[0]]
	if !ok {
		fmt.Fprintln(os.Stderr, "unknown attack:", args[0])
		return 2
	}
	mode(args[1:])
	fmt.Println("tried")
	return 0
}

// attackSleep waits until it is killed.
func attackSleep([]string) {
	for {
		_, _ = unix.Poll(nil, -1) // without cgo, an empty select would be reported as a deadlock
	}
}

// report prints the result of a step, and reports whether it succeeded.
func report(what string, err error) bool {
	if err == nil {
		fmt.Println("OPEN", what)
		return true
	}
	fmt.Println("held", what+":", err)
	return false
}

// isRefused reports whether a call was refused before the kernel read its arguments.
func isRefused(err error) bool {
	return errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EACCES)
}

// reached reports a call with invalid arguments. Any answer except a refusal shows that the kernel executed the
// call.
func reached(what string, err error) {
	if err != nil && isRefused(err) {
		report(what, err)
		return
	}
	if err != nil {
		what += " (" + err.Error() + ")"
	}
	report(what, nil)
}

func attackFds([]string) {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		report("list descriptors", err)
		return
	}
	for _, e := range entries {
		to, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err != nil || e.Name() <= "2" && len(e.Name()) == 1 || isOwnDescriptor(to) {
			continue
		}
		report("inherited descriptor "+e.Name()+" is "+to, nil)
	}
}

// isOwnDescriptor reports whether this process opened the file itself: the Go runtime for polling
// and for the processor limit, and attackFds for /proc.
func isOwnDescriptor(to string) bool {
	return strings.HasPrefix(to, "anon_inode:") || strings.HasPrefix(to, "/proc/") || strings.HasPrefix(to, "/sys/fs/cgroup/")
}

// attackReadFd reads from descriptors by number, and files below them.
func attackReadFd(args []string) {
	for fd := 3; fd < 40; fd++ {
		if to, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)); err == nil && isOwnDescriptor(to) {
			continue
		}
		buf := make([]byte, 100)
		if n, err := unix.Pread(fd, buf, 0); err == nil && n > 0 {
			report(fmt.Sprintf("read %q from descriptor %d", buf[:n], fd), nil)
		}
		for _, name := range args {
			below, err := unix.Openat(fd, name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				continue
			}
			n, _ := unix.Read(below, buf)
			report(fmt.Sprintf("read %q from %s below descriptor %d", buf[:n], name, fd), nil)
		}
	}
}

func attackOpenForWriting(args []string) {
	for _, name := range args {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if report("open "+name+" for writing", err) {
			_ = f.Close()
		}
	}
}

// attackFIFOs writes to FIFOs on every way that leads to a descriptor for writing.
func attackFIFOs(args []string) {
	for _, name := range args {
		reader, err := unix.Open(name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err != nil {
			reader = -1
		}
		own := fmt.Sprintf("/proc/self/fd/%d", reader)
		for _, way := range []struct {
			path  string
			flags int
		}{
			{name, unix.O_WRONLY},
			{name, unix.O_RDWR},
			{name, unix.O_WRONLY | unix.O_CREAT},
			{name, unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC},
			{name, unix.O_WRONLY | unix.O_NOFOLLOW},
			{own, unix.O_WRONLY},
			{own, unix.O_RDWR | unix.O_CREAT},
		} {
			fd, err := unix.Open(way.path, way.flags|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o600)
			if err == nil {
				_, err = unix.Write(fd, []byte("planted\n"))
				_ = unix.Close(fd)
			}
			report(fmt.Sprintf("write to %s with flags %#x", way.path, way.flags), err)
		}
		if reader >= 0 {
			_ = unix.Close(reader)
		}
	}
}

// attackLease takes leases on files; a process that opens such a file for writing then waits for the lease.
func attackLease(args []string) {
	for _, name := range args {
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
		if report("lease on "+name, err) {
			_, _ = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
		}
		_ = f.Close()
	}
}

// attackSigqueue sends a process signals that do not look like those of kill(2).
func attackSigqueue(args []string) {
	pid, err := strconv.Atoi(args[0])
	if err != nil {
		return
	}
	for _, s := range []unix.Signal{unix.SIGILL, unix.SIGTRAP, unix.SIGBUS, unix.SIGFPE, unix.SIGSEGV, unix.SIGSTKFLT, unix.SIGSYS, unix.SIGABRT} {
		const queued = -1 // SI_QUEUE
		info := [32]int32{int32(s), 0, queued}
		_, _, _ = unix.Syscall(unix.SYS_RT_SIGQUEUEINFO, uintptr(pid), uintptr(s), uintptr(unsafe.Pointer(&info)))
	}
}

func attackDevices([]string) {
	for _, dir := range []string{"/dev", "/dev/mapper"} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			info, err := e.Info()
			// The control must not open every device: a watchdog would start to count, a tape would rewind. Only disks and
			// these devices of the kernel are harmless to open.
			window := slices.Contains([]string{"mem", "kmem", "port", "kmsg", "kvm", "fuse", "vsock"}, e.Name())
			if err != nil || info.Mode()&os.ModeDevice == 0 || info.Mode()&os.ModeCharDevice != 0 && !window {
				continue
			}
			fd, err := unix.Open(dir+"/"+e.Name(), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
			if report("open the device "+e.Name(), err) {
				_ = unix.Close(fd)
			}
		}
	}
	// Creating the node is refused, or the node cannot be opened on this mount.
	for name, dev := range map[string]uint64{"mem": unix.Mkdev(1, 1), "kmsg": unix.Mkdev(1, 11), "disk": unix.Mkdev(254, 0)} {
		node := "node-" + name
		if err := unix.Mknod(node, unix.S_IFCHR|0o666, int(dev)); !report("make the device node "+name, err) {
			continue
		}
		_ = os.Remove(node)
	}
}

func attackSetuid(args []string) {
	for _, name := range args {
		report("chmod u+s "+name, unix.Chmod(name, 0o4755))
		report("fchmodat g+s "+name, unix.Fchmodat(unix.AT_FDCWD, name, 0o2755, 0))
		fd, err := unix.Open(name+".new", unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o4755)
		if err == nil {
			var st unix.Stat_t
			_ = unix.Fstat(fd, &st)
			if st.Mode&(unix.S_ISUID|unix.S_ISGID) != 0 {
				report("create a file with the setuid bit", nil)
			}
			reportBit(fd)
		}
		if err := unix.Mknod(name+".node", unix.S_IFREG|0o6755, 0); err == nil {
			var st unix.Stat_t
			if unix.Stat(name+".node", &st) == nil && st.Mode&(unix.S_ISUID|unix.S_ISGID) != 0 {
				report("mknod with the setuid bit", nil)
			}
		}
		cap3 := []byte{0, 0, 0, 3, 255, 255, 255, 255, 0, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0}
		report("set file capabilities on "+name, unix.Setxattr(name, "security.capability", cap3, 0))
	}
}

func reportBit(fd int) {
	report("fchmod u+s", unix.Fchmod(fd, 0o4755))
	empty := byte(0)
	_, _, errno := unix.Syscall6(unix.SYS_FCHMODAT2, uintptr(fd), uintptr(unsafe.Pointer(&empty)), 0o4755, unix.AT_EMPTY_PATH, 0, 0)
	report("fchmodat2 u+s", errnoError(errno))
	_ = unix.Close(fd)
}

func errnoError(e unix.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}
