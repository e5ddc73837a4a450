//go:build linux

package main

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// memory holds the arguments of one call in memory.
type memory struct{ kept []any }

// text returns the address of a text that ends in NUL.
func (m *memory) text(s string) uintptr { return m.bytes(append([]byte(s), 0)) }

func (m *memory) bytes(b []byte) uintptr {
	m.kept = append(m.kept, b)
	return uintptr(unsafe.Pointer(unsafe.SliceData(b)))
}

func raw(number uintptr, args ...uintptr) (uintptr, syscall.Errno) {
	var a [6]uintptr
	copy(a[:], args)
	r, _, errno := unix.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	return r, errno
}

// do makes a call directly, without a C library or package os.
func (w *worker) do(c *preparedCall) syscall.Errno {
	m := &memory{}
	defer runtime.KeepAlive(m)
	path := uintptr(0)
	if c.path != nil {
		path = m.bytes(c.path)
	} else {
		path = m.text(w.expand(c.Path))
	}
	at, from, old := uintptr(w.descriptor(c.At)), uintptr(w.descriptor(c.From)), m.text(w.expand(c.Old))
	flags, mode := uintptr(c.Flags), uintptr(c.Mode)
	if number, ok := w.entryNumber(c.Name); ok {
		return w.makeEntry(c, m, number, at, from, path, old)
	}
	fd := uintptr(w.m.registers[c.Reg].Load())
	var errno syscall.Errno
	switch c.Name {
	case "bind", "connect":
		return w.socket(c)
	case "chdir":
		_, errno = raw(unix.SYS_CHDIR, path)
	case "fchdir":
		_, errno = raw(unix.SYS_FCHDIR, fd)
	case "chroot":
		_, errno = raw(unix.SYS_CHROOT, path)
	case "dup":
		var n uintptr
		if n, errno = raw(unix.SYS_FCNTL, fd, unix.F_DUPFD_CLOEXEC, 10); errno == 0 {
			w.set((c.Reg+1)%len(w.m.registers), n)
		}
	case "close":
		w.set(c.Reg, ^uintptr(0))
	case "truncate":
		_, errno = raw(unix.SYS_TRUNCATE, path, 1)
	case "ftruncate":
		_, errno = raw(unix.SYS_FTRUNCATE, fd, 1)
	case "write":
		text := w.expand(c.Old)
		_, errno = raw(unix.SYS_PWRITE64, fd, old, uintptr(len(text)), 0)
	case "copy_file_range":
		_, errno = raw(unix.SYS_COPY_FILE_RANGE, at, 0, fd, 0, 100, 0)
	case "fchmodat":
		_, errno = raw(unix.SYS_FCHMODAT, at, path, mode)
	case "fchownat":
		_, errno = raw(unix.SYS_FCHOWNAT, at, path, uintptr(unix.Getuid()), uintptr(unix.Getgid()), flags)
	case "utimensat":
		times := make([]byte, 32)
		_, errno = raw(unix.SYS_UTIMENSAT, at, path, m.bytes(times), 0)
	case "setxattr":
		_, errno = raw(unix.SYS_SETXATTR, path, m.text("user.x"), m.text("x"), 1, 0)
	case "flock":
		_, errno = raw(unix.SYS_FLOCK, fd, unix.LOCK_EX|unix.LOCK_NB)
	case "umask":
		_, errno = raw(unix.SYS_UMASK, mode&0o077)
	case "setflags":
		attr := [8]byte{0x20} // append only
		_, errno = raw(unix.SYS_IOCTL, fd, unix.FS_IOC_SETFLAGS, m.bytes(attr[:]))
	case "clonefile":
		_, errno = raw(unix.SYS_IOCTL, fd, unix.FICLONE, at)
	default:
		return w.system(c, m, at, path, old)
	}
	return errno
}

// makeEntry makes the calls that create and remove directory entries.
func (w *worker) makeEntry(c *preparedCall, m *memory, number, at, from, path, old uintptr) syscall.Errno {
	flags, mode := uintptr(c.Flags), uintptr(c.Mode)
	var fd uintptr
	var errno syscall.Errno
	switch c.Name {
	case "openat":
		fd, errno = raw(number, at, path, flags, mode)
	case "open":
		fd, errno = raw(number, path, flags, mode)
	case "creat":
		fd, errno = raw(number, path, mode)
	case "openat2":
		how := unix.OpenHow{Flags: c.Flags, Mode: c.Mode & 0o777}
		m.kept = append(m.kept, &how)
		fd, errno = raw(number, at, path, uintptr(unsafe.Pointer(&how)), unix.SizeofOpenHow)
	case "mkdirat", "fchmodat":
		_, errno = raw(number, at, path, mode)
	case "mkdir":
		_, errno = raw(number, path, mode)
	case "mknodat":
		_, errno = raw(number, at, path, mode, uintptr(unix.Mkdev(1, 3)))
	case "mknod":
		_, errno = raw(number, path, mode, uintptr(unix.Mkdev(1, 3)))
	case "symlinkat":
		_, errno = raw(number, old, at, path)
	case "symlink", "link", "rename":
		_, errno = raw(number, old, path)
	case "linkat", "renameat2":
		_, errno = raw(number, from, old, at, path, flags)
	case "renameat":
		_, errno = raw(number, from, old, at, path)
	case "unlinkat":
		_, errno = raw(number, at, path, flags)
	default: // unlink, rmdir
		_, errno = raw(number, path)
	}
	if errno == 0 && (c.Name == "openat" || c.Name == "open" || c.Name == "creat" || c.Name == "openat2") {
		w.set(c.Reg, fd)
	}
	return errno
}

// entryNumber returns the number of a call that makes or removes entries.
func (w *worker) entryNumber(name string) (uintptr, bool) {
	if number, ok := oldCalls[name]; ok {
		return number, true
	}
	number, ok := map[string]uintptr{
		"openat": unix.SYS_OPENAT, "openat2": unix.SYS_OPENAT2, "mkdirat": unix.SYS_MKDIRAT, "mknodat": unix.SYS_MKNODAT, "symlinkat": unix.SYS_SYMLINKAT,
		"linkat": unix.SYS_LINKAT, "renameat2": unix.SYS_RENAMEAT2, "renameat": unix.SYS_RENAMEAT, "unlinkat": unix.SYS_UNLINKAT,
	}[name]
	return number, ok
}

// socket makes a Unix socket and binds or connects it.
func (w *worker) socket(c *preparedCall) syscall.Errno {
	fd, errno := raw(unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if errno != 0 {
		return errno
	}
	defer func() { _ = unix.Close(int(fd)) }()
	var address [110]byte
	address[0] = unix.AF_UNIX
	copied := copy(address[2:109], w.expand(c.Path))
	number := uintptr(unix.SYS_BIND)
	if c.Name == "connect" {
		number = unix.SYS_CONNECT
	}
	buffer := address[:2+copied+1]
	if c.address != nil && len(c.address) <= len(address) {
		buffer = c.address // the other thread changes this address
	}
	m := &memory{}
	defer runtime.KeepAlive(m)
	_, errno = raw(number, fd, m.bytes(buffer), uintptr(len(buffer)))
	return errno
}

// system makes the calls that no command needs.
func (w *worker) system(c *preparedCall, m *memory, at, path, old uintptr) syscall.Errno {
	flags, reg := uintptr(c.Flags), uintptr(w.m.registers[c.Reg].Load())
	var fd uintptr
	var errno syscall.Errno
	switch c.Name {
	case "mount":
		kind := uintptr(0)
		if c.Flags&unix.MS_BIND == 0 {
			kind = m.text("tmpfs")
		}
		_, errno = raw(unix.SYS_MOUNT, old, path, kind, flags, 0)
	case "umount2":
		_, errno = raw(unix.SYS_UMOUNT2, path, flags)
	case "pivot_root":
		_, errno = raw(unix.SYS_PIVOT_ROOT, path, old)
	case "unshare":
		_, errno = raw(unix.SYS_UNSHARE, flags)
	case "setns":
		_, errno = raw(unix.SYS_SETNS, reg, 0)
	case "io_uring_setup":
		params := make([]byte, 120)
		if fd, errno = raw(unix.SYS_IO_URING_SETUP, 4, m.bytes(params)); errno == 0 {
			w.set(c.Reg, fd)
		}
	case "open_tree":
		if fd, errno = raw(unix.SYS_OPEN_TREE, at, path, flags); errno == 0 {
			w.set(c.Reg, fd)
		}
	case "fsopen":
		if fd, errno = raw(unix.SYS_FSOPEN, m.text("tmpfs"), 0); errno == 0 {
			w.set(c.Reg, fd)
		}
	case "open_by_handle_at":
		handle, _, err := unix.NameToHandleAt(int(at), w.expand(c.Path), 0)
		if err != nil {
			return errnoOf(err)
		}
		n, err := unix.OpenByHandleAt(int(reg), handle, unix.O_RDWR)
		if err != nil {
			return errnoOf(err)
		}
		w.set(c.Reg, uintptr(n))
	default:
		panic("unknown call " + c.Name)
	}
	return errno
}
