package vfs_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// kernel does operations on a real directory, as the root of a thread of its own.
type kernel struct {
	dir     string // the real directory, as the other threads see it
	files   [slots]int
	noLinks bool // leave the number of links of directories out
}

// onKernel runs fn on a thread whose root is an empty directory. It needs root.
func onKernel(t *testing.T, fn func(k *kernel)) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("comparing with the kernel needs root: chroot and setfsuid")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		// Never unlocked: the thread, which has another root, ends with the goroutine.
		runtime.LockOSThread()
		done <- func() error {
			if err := syscall.Unshare(syscall.CLONE_FS); err != nil {
				return err
			}
			syscall.Umask(0)
			if err := syscall.Chroot(dir); err != nil {
				return err
			}
			if err := syscall.Chdir("/"); err != nil {
				return err
			}
			k := &kernel{dir: dir}
			for i := range k.files {
				k.files[i] = -1
			}
			fn(k)
			for _, fd := range k.files {
				_ = syscall.Close(fd)
			}
			return nil
		}()
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func raw(trap, a, b uintptr) {
	_, _, _ = syscall.RawSyscall(trap, a, b, 0)
}

// become sets the user and groups of this thread for the file system.
func (k *kernel) become(c vfs.Cred) {
	raw(syscall.SYS_SETFSUID, 0, 0)
	groups := append(slices.Clone(c.Groups), c.GID)
	raw(syscall.SYS_SETGROUPS, uintptr(len(groups)), uintptr(unsafe.Pointer(&groups[0])))
	raw(syscall.SYS_SETFSGID, uintptr(c.GID), 0)
	raw(syscall.SYS_SETFSUID, uintptr(c.UID), 0)
}

const (
	atFDCWD    = ^uintptr(99) // -100
	sysFaccess = 439          // faccessat2
	atEaccess  = 0x200
	utimeOmit  = 1<<30 - 2
)

func (k *kernel) do(o op) (string, syscall.Errno) {
	k.become(o.who)
	defer k.become(vfs.Cred{})
	switch o.kind {
	case "mkdir":
		return "", number(syscall.Mkdir(o.path, o.mode))
	case "mkfifo":
		return "", number(syscall.Mknod(o.path, syscall.S_IFIFO|o.mode, 0))
	case "mknod":
		return "", number(syscall.Mknod(o.path, syscall.S_IFCHR|o.mode, int(vfs.Device(1, 3))))
	case "mkreg":
		return "", number(syscall.Mknod(o.path, syscall.S_IFREG|o.mode, 0))
	case "symlink":
		return "", number(syscall.Symlink(o.path2, o.path))
	case "link":
		return "", number(syscall.Link(o.path, o.path2))
	case "rename":
		return "", number(syscall.Rename(o.path, o.path2))
	case "unlink":
		return "", number(syscall.Unlink(o.path))
	case "rmdir":
		return "", number(syscall.Rmdir(o.path))
	case "chmod":
		return "", number(syscall.Chmod(o.path, o.mode))
	case "chown":
		return "", number(syscall.Chown(o.path, int(int32(o.uid)), int(int32(o.gid))))
	case "lchown":
		return "", number(syscall.Lchown(o.path, int(int32(o.uid)), int(int32(o.gid))))
	case "truncate":
		return "", number(syscall.Truncate(o.path, o.n))
	case "utimes":
		ts := []syscall.Timespec{{Sec: o.n, Nsec: 7}, {Nsec: utimeOmit}}
		return "", number(syscall.UtimesNano(o.path, ts))
	case "access":
		p, err := syscall.BytePtrFromString(o.path)
		if err != nil {
			return "", number(err)
		}
		_, _, e := syscall.RawSyscall6(sysFaccess, atFDCWD, uintptr(unsafe.Pointer(p)), uintptr(o.mode&7), atEaccess, 0, 0)
		return "", e
	case "readlink":
		b := make([]byte, 8192)
		n, err := syscall.Readlink(o.path, b)
		if err != nil {
			return "", number(err)
		}
		return string(b[:n]), 0
	case "stat", "lstat":
		var st syscall.Stat_t
		err := syscall.Lstat(o.path, &st)
		if o.kind == "stat" {
			err = syscall.Stat(o.path, &st)
		}
		return k.stat(&st, err), number(err)
	case "readdir":
		fd, err := syscall.Open(o.path, syscall.O_RDONLY|syscall.O_DIRECTORY, 0)
		if err != nil {
			return "", number(err)
		}
		defer syscall.Close(fd)
		return strings.Join(names(fd), " "), 0
	}
	return k.doFile(o)
}

func (k *kernel) stat(st *syscall.Stat_t, err error) string {
	if err != nil {
		return ""
	}
	size, links := st.Size, st.Nlink
	if st.Mode&syscall.S_IFMT == syscall.S_IFDIR {
		size = 0
		if k.noLinks {
			links = 0
		}
	}
	return fmt.Sprintf("%o %d %d:%d %d %d", st.Mode, links, st.Uid, st.Gid, size, st.Rdev)
}

// names lists a directory by getdents64(2): os.File wants a poller that the thread's root has not.
func names(fd int) []string {
	var list []string
	buf := make([]byte, 1<<16)
	for {
		n, err := syscall.ReadDirent(fd, buf)
		if err != nil || n <= 0 {
			break
		}
		for b := buf[:n]; len(b) > 0; {
			l := binary.NativeEndian.Uint16(b[16:])
			name := string(b[19:l])
			if i := strings.IndexByte(name, 0); i >= 0 {
				name = name[:i]
			}
			if name != "." && name != ".." {
				list = append(list, name+":"+strconv.Itoa(int(b[18])))
			}
			b = b[l:]
		}
	}
	slices.Sort(list)
	return list
}

func (k *kernel) doFile(o op) (string, syscall.Errno) {
	fd := &k.files[o.slot]
	if o.kind == "open" {
		n, err := syscall.Open(o.path, o.flag|syscall.O_NONBLOCK|syscall.O_CLOEXEC, o.mode)
		if err != nil {
			return "", number(err)
		}
		if *fd >= 0 {
			_ = syscall.Close(*fd)
		}
		*fd = n
		return "", 0
	}
	if *fd < 0 {
		return "", syscall.EBADF
	}
	buf := make([]byte, o.n)
	switch o.kind {
	case "close":
		err := syscall.Close(*fd)
		*fd = -1
		return "", number(err)
	case "read":
		n, err := syscall.Read(*fd, buf)
		return string(buf[:max(n, 0)]), number(err)
	case "pread":
		n, err := syscall.Pread(*fd, buf, o.off)
		return string(buf[:max(n, 0)]), number(err)
	case "write":
		n, err := syscall.Write(*fd, o.data())
		return fmt.Sprint(max(n, 0)), number(err)
	case "pwrite":
		n, err := syscall.Pwrite(*fd, o.data(), o.off)
		return fmt.Sprint(max(n, 0)), number(err)
	case "seek":
		at, err := syscall.Seek(*fd, o.off, int(o.mode%3))
		return fmt.Sprint(max(at, 0)), number(err)
	case "ftruncate":
		return "", number(syscall.Ftruncate(*fd, o.n))
	case "fstat":
		var st syscall.Stat_t
		err := syscall.Fstat(*fd, &st)
		return k.stat(&st, err), number(err)
	}
	return "", syscall.ENOSYS
}

// tree describes all there is, with the content of files and the times in ns.
func (k *kernel) tree() map[string]node {
	all := map[string]node{}
	var walk func(path string)
	walk = func(path string) {
		var st syscall.Stat_t
		if err := syscall.Lstat(path, &st); err != nil {
			all[path] = node{text: err.Error()}
			return
		}
		n := node{text: k.stat(&st, nil), ino: st.Ino, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano()}
		switch st.Mode & syscall.S_IFMT {
		case syscall.S_IFREG:
			fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_NOATIME, 0)
			if err == nil {
				buf := make([]byte, st.Size)
				_, err = syscall.Pread(fd, buf, 0)
				_ = syscall.Close(fd)
				n.text += fmt.Sprintf(" %x", sum(buf))
			}
			if err != nil {
				n.text += err.Error()
			}
		case syscall.S_IFLNK:
			buf := make([]byte, 8192)
			l, _ := syscall.Readlink(path, buf)
			n.text += " -> " + string(buf[:l])
		case syscall.S_IFDIR:
			fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_NOATIME, 0)
			if err != nil {
				n.text += err.Error()
				break
			}
			list := names(fd)
			_ = syscall.Close(fd)
			for _, name := range list {
				walk(strings.TrimSuffix(path, "/") + "/" + name[:strings.LastIndexByte(name, ':')])
			}
		}
		all[path] = n
	}
	walk("/")
	return all
}
