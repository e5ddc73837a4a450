//go:build linux

package attacker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// creators has the ways to create a file.
var creators = map[string]func(path string) error{
	"open": func(p string) error { return opened(unix.Open(p, unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o755)) },
	"open-x": func(p string) error {
		return opened(unix.Open(p, unix.O_CREAT|unix.O_EXCL|unix.O_RDWR|unix.O_CLOEXEC, 0o755))
	},
	"openat":  viaDirectory,
	"openat2": viaOpenat2,
	"creat": func(p string) error {
		b, err := unix.BytePtrFromString(p)
		if err != nil {
			return err
		}
		fd, _, errno := unix.Syscall(CreatCall, uintptr(unsafe.Pointer(b)), 0o755, 0)
		return opened(int(fd), errnoError(errno))
	},
	"mkdir": func(p string) error { return unix.Mkdir(p, 0o755) },
	"mkdirat": func(p string) error {
		return within(p, func(fd int, name string) error { return unix.Mkdirat(fd, name, 0o755) })
	},
	"mknod":     func(p string) error { return unix.Mknod(p, unix.S_IFREG|0o755, 0) },
	"fifo":      func(p string) error { return unix.Mkfifo(p, 0o755) },
	"symlink":   func(p string) error { return unix.Symlink("/nowhere", p) },
	"link":      func(p string) error { return from(p, false, unix.Link) },
	"rename":    func(p string) error { return from(p, false, unix.Rename) },
	"renamedir": func(p string) error { return from(p, true, unix.Rename) },
	"renameat2": func(p string) error {
		return from(p, false, func(a, b string) error {
			return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_NOREPLACE)
		})
	},
	"tmpfile": viaTmpfile,
	"bind":    viaBind,
	"cwd":     func(p string) error { return relativeTo("/proc/self/cwd/", p) },
	"root":    func(p string) error { return os.WriteFile("/proc/self/root"+p, []byte("x"), 0o755) },
	"thread":  func(p string) error { return relativeTo("/proc/thread-self/cwd/", p) },
	"procfd":  viaProcFd,
	"fchdir":  viaFchdir,
	"slashes": func(p string) error { return os.WriteFile("//"+strings.ReplaceAll(p, "/", "//./"), []byte("x"), 0o755) },
	"dotdot": func(p string) error {
		return os.WriteFile(filepath.Dir(p)+"/d1/../"+filepath.Base(p), []byte("x"), 0o755)
	},
	"alias":     viaAlias,
	"dangling":  viaDangling,
	"dangling2": viaDanglingChain,
	"case":      func(p string) error { return os.WriteFile(otherCase(p), []byte("x"), 0o755) },
	"long":      viaLongPath,
}

// attackCreate makes files by the method args[0]. It succeeds if the file exists afterwards; the
// results of the calls do not count.
func attackCreate(args []string) {
	_ = os.Mkdir("d1", 0o755)
	dir, lost := os.Getwd() // some methods change it
	for _, name := range args[1:] {
		path, err := filepath.Clean(name), lost
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if _, there := os.Lstat(path); there == nil {
			// The host checks whether the file has changed.
			_ = creators[args[0]](path)
			continue
		}
		if err == nil {
			_ = os.MkdirAll(filepath.Dir(path), 0o755)
			err = creators[args[0]](path)
		}
		if _, stat := os.Lstat(path); stat == nil {
			report(name+" exists", nil)
			continue
		}
		if _, stat := os.Lstat(otherCase(path)); args[0] == "case" && stat == nil {
			report(otherCase(name)+" exists", nil)
			continue
		}
		if err == nil {
			err = errors.New("no error, and no file")
		}
		report(name, err)
	}
}

func opened(fd int, err error) error {
	if err == nil {
		_, err = unix.Write(fd, []byte("x"))
		_ = unix.Close(fd)
	}
	return err
}

func within(p string, f func(fd int, name string) error) error {
	fd, err := unix.Open(filepath.Dir(p), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return f(fd, filepath.Base(p))
}

func viaDirectory(p string) error {
	return within(p, func(fd int, name string) error {
		return opened(unix.Openat(fd, name, unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o755))
	})
}

func viaOpenat2(p string) error {
	return within(p, func(fd int, name string) error {
		how := unix.OpenHow{Flags: unix.O_CREAT | unix.O_WRONLY | unix.O_CLOEXEC, Mode: 0o755}
		return opened(unix.Openat2(fd, name, &how))
	})
}

func from(p string, dir bool, move func(from, to string) error) error {
	source := fmt.Sprintf("source-%d", time.Now().UnixNano())
	var err error
	if dir {
		if err = os.Mkdir(source, 0o755); err == nil {
			err = os.WriteFile(source+"/settings.json", []byte("x"), 0o755)
		}
	} else {
		err = os.WriteFile(source, []byte("x"), 0o755)
	}
	if err != nil {
		return err
	}
	return move(source, p)
}

func viaTmpfile(p string) error {
	fd, err := unix.Open(filepath.Dir(p), unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o755)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Linkat(fd, "", unix.AT_FDCWD, p, unix.AT_EMPTY_PATH); err == nil {
		return nil
	}
	return unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, p, unix.AT_SYMLINK_FOLLOW)
}

// viaBind creates the name as a Unix socket.
func viaBind(p string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := os.Chdir(filepath.Dir(p)); err != nil {
		return err
	}
	return unix.Bind(fd, &unix.SockaddrUnix{Name: filepath.Base(p)})
}

func relativeTo(prefix, p string) error {
	wd, err := os.Getwd()
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(wd, p)
	if err != nil {
		return err
	}
	return os.WriteFile(prefix+rel, []byte("x"), 0o755)
}

func viaProcFd(p string) error {
	return within(p, func(fd int, name string) error {
		return os.WriteFile(fmt.Sprintf("/proc/self/fd/%d/%s", fd, name), []byte("x"), 0o755)
	})
}

func viaFchdir(p string) error {
	wd, err := os.Getwd()
	if err != nil {
		return err
	}
	defer os.Chdir(wd) //nolint:errcheck // the next attempt has an absolute path
	if err := os.Chdir(filepath.Dir(p)); err != nil {
		return err
	}
	return os.WriteFile(filepath.Base(p), []byte("x"), 0o755)
}

func viaAlias(p string) error {
	link := fmt.Sprintf("alias-%d", time.Now().UnixNano())
	if err := os.Symlink(filepath.Dir(p), link); err != nil {
		return err
	}
	return os.WriteFile(link+"/"+filepath.Base(p), []byte("x"), 0o755)
}

func viaDangling(p string) error {
	link := fmt.Sprintf("dangling-%d", time.Now().UnixNano())
	if err := os.Symlink(p, link); err != nil {
		return err
	}
	return opened(unix.Open(link, unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o755))
}

func viaDanglingChain(p string) error {
	link := fmt.Sprintf("chain-%d", time.Now().UnixNano())
	rel, err := filepath.Rel(filepath.Join(filepath.Dir(p), "d1"), p)
	if err != nil {
		return err
	}
	inner := filepath.Join(filepath.Dir(p), "d1", link)
	_ = os.Mkdir(filepath.Dir(inner), 0o755)
	if err := errors.Join(os.Symlink(rel, inner), os.Symlink("/proc/self/root"+inner, link)); err != nil {
		return err
	}
	return opened(unix.Open(link, unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o755))
}

func viaLongPath(p string) error {
	pad := strings.Repeat("./", (unix.PathMax-len(p)-2)/2)
	return os.WriteFile(filepath.Dir(p)+"/"+pad+filepath.Base(p), []byte("x"), 0o755)
}

func otherCase(p string) string {
	dir, base := filepath.Split(p)
	up := strings.ToUpper(base)
	if up == base {
		up = strings.ToLower(base)
	}
	return dir + up
}

// attackExchange swaps two names in one step.
func attackExchange(args []string) {
	err := unix.Renameat2(unix.AT_FDCWD, args[0], unix.AT_FDCWD, args[1], unix.RENAME_EXCHANGE)
	fmt.Println("exchange", args, err)
}

// attackSwap exchanges two names until its input ends.
func attackSwap(args []string) {
	fmt.Println("ready")
	var stop atomic.Bool
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 10)) // the host's line to begin
		_, _ = os.Stdin.Read(make([]byte, 10)) // the host's line to end
		stop.Store(true)
	}()
	for !stop.Load() {
		_ = unix.Renameat2(unix.AT_FDCWD, args[0], unix.AT_FDCWD, args[1], unix.RENAME_EXCHANGE)
	}
}

// attackRace creates files under a harmless name in memory that other threads keep replacing by
// a guarded one, so that the guard may check one name and the kernel may open the other.
func attackRace(args []string) {
	harmless := strings.Repeat("z", len(args[0]))
	name := append([]byte(harmless), 0)
	stop := startFlips(name, args[0], harmless, max(2, runtime.NumCPU()))
	end := time.Now().Add(3 * time.Second)
	var creates sync.WaitGroup
	for range 2 {
		creates.Go(func() {
			for time.Now().Before(end) {
				fd, _, errno := unix.Syscall6(unix.SYS_OPENAT, ^uintptr(99), uintptr(unsafe.Pointer(&name[0])),
					unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o755, 0, 0)
				if errno == 0 {
					_, _ = unix.Write(int(fd), []byte("raced\n"))
					_ = unix.Close(int(fd))
				}
				_ = unix.Unlink(harmless)
			}
		})
	}
	creates.Wait()
	stop()
	// Do not report OPEN: the host checks at the end which files exist.
	if _, err := os.Lstat(args[0]); err == nil {
		fmt.Println("raced", args[0])
	}
}

// attackRenames does the same with rename.
func attackRenames(args []string) {
	harmless := strings.Repeat("z", len(args[0]))
	name := append([]byte(harmless), 0)
	source := []byte("source\x00")
	stop := startFlips(name, args[0], harmless, max(2, runtime.NumCPU()))
	end := time.Now().Add(3 * time.Second)
	for time.Now().Before(end) {
		_ = os.WriteFile("source", []byte("raced\n"), 0o755)
		_, _, _ = unix.Syscall6(unix.SYS_RENAMEAT2, ^uintptr(99), uintptr(unsafe.Pointer(&source[0])),
			^uintptr(99), uintptr(unsafe.Pointer(&name[0])), 0, 0)
		_ = unix.Unlink(harmless)
	}
	stop()
}

// attackTmpfs looks for a private file system without a size limit, and fills it.
func attackTmpfs(args []string) {
	limit := int64(0)
	_, _ = fmt.Sscan(args[0], &limit)
	for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm", "/run", "/dev", "/"} {
		name := filepath.Join(dir, "fill")
		f, err := os.Create(name)
		if err != nil {
			continue
		}
		var n int64
		block := make([]byte, 1<<20)
		for n <= 2*limit && err == nil {
			var k int
			k, err = f.Write(block)
			n += int64(k)
		}
		_ = f.Close()
		_ = os.Remove(name)
		if n > limit+(1<<20) {
			report(fmt.Sprintf("%s took %d bytes", dir, n), nil)
		} else {
			fmt.Println("held", dir, n, err)
		}
	}
}

// attackTmpfile makes a file without a name and then links it to each name.
func attackTmpfile(args []string) {
	for _, name := range args {
		fd, err := unix.Open(filepath.Dir(name), unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o700)
		if err != nil {
			report("a file without a name for "+name, err)
			continue
		}
		_, _ = unix.Write(fd, []byte("planted\n"))
		errs := unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW)
		if errs != nil {
			errs = errors.Join(errs, unix.Linkat(fd, "", unix.AT_FDCWD, name, unix.AT_EMPTY_PATH))
		}
		if _, err := os.Lstat(name); err == nil {
			errs = nil
		} else if errs == nil {
			errs = err
		}
		report(name, errs)
		_ = unix.Close(fd)
	}
}
